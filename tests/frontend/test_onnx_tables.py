"""Operators of the standard that look things up, count them, or spread them."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from gravure.frontend.onnx.rules.layout import _spread
from gravure.ir.op import REGISTRY
from gravure.ir.ops.host.texts import grams, seen
from gravure.ir.types.dims import symbol
from gravure.ir.types.dtypes import f32, i64, string
from gravure.ir.types.tensor import TensorSpec

Make = Callable[..., onnx.ModelProto]
POOL = [2, 5, 4, 5, 6, 7, 8, 6, 7, 2, 3, 5, 4]


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("lengths", [(1, 1), (2, 2), (1, 2), (1, 3), (3, 3)])
@pytest.mark.parametrize("skips", [0, 1, 5])
def test_sequences_of_numbers_are_counted(
    mode: str, lengths: tuple[int, int], skips: int, model: Make, same_as_onnxruntime: Make
) -> None:
    made = model(
        [helper.make_node(
            "TfIdfVectorizer", ["x"], ["y"], mode=mode, min_gram_length=lengths[0],
            max_gram_length=lengths[1], max_skip_count=skips, ngram_counts=[0, 3, 7],
            ngram_indexes=[3, 1, 2, 0, 4, 6, 5], pool_int64s=POOL,
            weights=[0.5, 1.5, 2.5, 3.0, 4.0, 5.0, 6.0],
        )],
        {"x": ("i64", [2, 7])},
        ["y"],
    )  # fmt: skip
    rows = np.array([[2, 5, 6, 7, 8, 6, 7], [3, 5, 2, 2, 4, 5, 4]])
    same_as_onnxruntime(made, rows)


def test_a_pool_is_cut_into_sequences_and_rows_are_with_gaps() -> None:
    assert [*grams("abcdefg", [0, 3])] == [("a",), ("b",), ("c",), ("d", "e"), ("f", "g")]
    assert [*seen("abcd", (1, 2), 1)] == [
        ("a",), ("b",), ("c",), ("d",), ("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("b", "d"),
    ]  # fmt: skip
    assert [*seen("abcde", (3, 3), 1)] == [
        ("a", "b", "c"), ("b", "c", "d"), ("c", "d", "e"), ("a", "c", "e"),
    ]  # fmt: skip


def test_texts_and_numbers_are_looked_up_and_a_nan_is_a_key() -> None:
    op = REGISTRY["gv.lookup"]
    keys, values = np.array(["a", "b"], object), np.array([3, 5])
    kept = {"keys": keys, "values": values, "default": np.array([-1])}
    assert op.infer(TensorSpec(string, (2, 3)), **kept) == (TensorSpec(i64, (2, 3)),)
    (found,) = op.evaluate(np.array([["b", "c", "a"]], object), **kept)
    assert found.tolist() == [[5, -1, 3]]
    numbers = {**kept, "keys": np.array([1.5, np.nan], np.float32)}
    (found,) = op.evaluate(np.array([np.nan, 1.5, 0.0], np.float32), **numbers)
    assert found.tolist() == [5, 3, -1]
    with pytest.raises(TypeError, match="elements of type f32, keys are object"):
        op.infer(TensorSpec(f32, (2,)), **kept)
    for wrong in (np.array(["a"], object), np.array([["a"], ["b"]], object)):
        with pytest.raises(TypeError, match=r"keys for 2 values"):
            op.infer(TensorSpec(string, (2,)), **{**kept, "keys": wrong})
    square = {**kept, "keys": keys.reshape(2, 1), "values": values.reshape(2, 1)}
    with pytest.raises(TypeError, match=r"2 keys for 2 values"):
        op.infer(TensorSpec(string, (2,)), **square)


def test_what_is_known_of_a_size_that_is_broadcast() -> None:
    n = symbol("N")
    assert [_spread(1, 5), _spread(1, n), _spread(1, None)] == [5, n, None]
    assert [_spread(n, 5), _spread(n, 1), _spread(4, None)] == [5, n, 4]
    assert [_spread(n, None), _spread(n, symbol("M"))] == [None, None]
