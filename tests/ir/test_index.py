"""What the generic tests cannot show of indexing, sorting and recurrent layers."""

from typing import Any

import numpy as np
import pytest

from gravure.ir import REGISTRY, DType, spec
from gravure.ir.types import dims, dtypes

N = dims.symbol("N")
F32, I64 = dtypes.f32, dtypes.i64


def infer(name: str, operands: list[tuple[DType, Any]], **attributes: Any) -> Any:
    op = REGISTRY[f"gv.{name}"]
    specs = [spec(dtype, *shape) for dtype, shape in operands]
    return op.infer(*specs, **op.complete(attributes))


def run(name: str, *operands: Any, **attributes: Any) -> Any:
    op = REGISTRY[f"gv.{name}"]
    results = op.evaluate(*map(np.asarray, operands), **op.complete(attributes))
    return [r.tolist() for r in results]


def test_symbols_pass_through() -> None:
    (made,) = infer("gather", [(F32, (N, 8)), (I64, (2, N))], axis=0)
    assert made.dims == (2, N, 8)
    (made,) = infer("scatter_nd", [(F32, (N, 8)), (I64, (N, 1)), (F32, (N, 8))])
    assert made.dims == (N, 8)
    values, indices = infer("top_k", [(F32, (2, N))], k=N, axis=1)
    assert values == spec(F32, 2, N)
    assert indices == spec(I64, 2, N)


def test_indices_count_from_the_end_and_are_clamped() -> None:
    x = [10, 11, 12]
    assert run("gather", x, [-1, -3, -9, 3, 99], axis=0) == [[12, 10, 10, 12, 12]]
    assert run("gather_elements", x, [-4, 7], axis=0) == [[10, 12]]
    assert run("gather_nd", x, [[-1], [5]]) == [[12, 12]]
    assert run("scatter_elements", x, [9, -9], [1, 2], axis=0) == [[2, 11, 1]]
    assert run("scatter_nd", x, [[9], [-9]], [1, 2]) == [[2, 11, 1]]
    unsigned = np.array([2**64 - 1, 1], np.uint64)
    assert run("gather", x, unsigned, axis=0) == [[12, 11]]


def test_the_last_of_equal_indices_wins_and_sums_take_all() -> None:
    assert run("scatter_elements", [0, 0], [1, 1, 1], [5, 6, 7], axis=0) == [[0, 7]]
    added = run("scatter_nd", [1, 1], [[1], [1]], [5, 6], reduction="add")
    assert added == [[1, 12]]


def test_one_hot_of_an_index_out_of_range_is_off() -> None:
    assert run("one_hot", [3, -4, -1], depth=3, axis=1, dtype=dtypes.i64) == [
        [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    ]


def test_the_first_of_equal_elements_comes_first() -> None:
    assert run("top_k", [1, 3, 3, 1], k=3, axis=0) == [[3, 3, 1], [1, 2, 0]]
    assert run("top_k", [1, 3, 3, 1], k=3, axis=0, largest=False) == [[1, 1, 3], [0, 3, 1]]


def test_a_nan_counts_as_largest() -> None:
    x = [1.0, np.nan, np.inf]
    assert run("argsort", x, axis=0) == [[0, 2, 1]]
    assert run("argsort", x, axis=0, descending=True) == [[1, 2, 0]]


def test_the_lowest_integer_sorts() -> None:
    x = np.array([0, -128, 127], np.int8)
    assert run("sort", x, axis=0, descending=True) == [[127, 0, -128]]


@pytest.mark.parametrize(
    ("name", "operands", "attributes", "message"),
    [
        ("gather", [(F32, (3,)), (F32, (2,))], {"axis": 0}, "f32, expected an integer"),
        ("gather", [(F32, (3,)), (I64, (2,))], {"axis": 1}, "axis 1, expected 0 to 0"),
        ("gather", [(F32, (0,)), (I64, (2,))], {"axis": 0}, "axis 0 is empty, .*2 indices"),
        ("gather_elements", [(F32, (3, 2)), (I64, (3,))], {"axis": 0}, "rank 1, expected 2"),
        ("gather_elements", [(F32, (3, 2)), (I64, (3, 3))], {"axis": 0}, "at most 2"),
        ("gather_nd", [(F32, (3, 2)), (I64, (4, 3))], {}, "length 3 .*at most rank 2"),
        ("gather_nd", [(F32, (3, 2)), (I64, (4, N))], {}, "expected vectors of a known length"),
        ("gather_nd", [(F32, (3, 2)), (I64, (4, 1))], {"batch_dims": 1}, "first 1 axes"),
        (
            "scatter_elements", [(F32, (3,)), (I64, (2,)), (F32, (3,))], {"axis": 0},
            "expected the shape of the indices",
        ),
        ("scatter_nd", [(F32, (3,)), (I64, (2, 1)), (F32, (3,))], {}, r"expected f32\[2\]"),
        (
            "scatter_nd", [(F32, (3,)), (I64, (2, 1)), (F32, (2,))], {"reduction": "mean"},
            "reduction 'mean', expected none, add",
        ),
        (
            "scatter_nd", [(dtypes.bool_, (3,)), (I64, (2, 1)), (dtypes.bool_, (2,))],
            {"reduction": "add"}, "of bool, expected numbers",
        ),
        ("one_hot", [(F32, (3,))], {"depth": 2, "axis": 0, "dtype": F32}, "expected an integer"),
        ("one_hot", [(I64, (3,))], {"depth": -1, "axis": 0, "dtype": F32}, "at least 0"),
        ("top_k", [(F32, (3,))], {"k": 4, "axis": 0}, "k 4, expected 0 to 3"),
        ("sort", [(dtypes.bool_, (3,))], {"axis": 0}, "element type bool"),
        ("softmax", [(F32, (3,))], {"axis": -1}, "axis -1, expected 0 to 0"),
        ("layer_norm", [(F32, (3, 4)), (F32, (5,)), (F32, (4,))], {"axis": 1, "epsilon": 0.1},
         "do not broadcast"),
        ("batch_norm", [(F32, (3, 4)), *[(F32, (3,))] * 4], {"epsilon": 0.1}, "expected 4"),
        ("group_norm", [(F32, (3, 4)), *[(F32, (4,))] * 2], {"groups": 3, "epsilon": 0.1},
         "4 channels, expected a multiple of the 3 groups"),
        ("resize", [(F32, (3,))], {"shape": (2,), "mode": "area"}, "mode 'area', expected one of"),
        ("resize", [(F32, (0,))], {"shape": (2,)}, "axis 0 is empty"),
        ("resize", [(dtypes.i32, (3,))], {"shape": (2,), "mode": "linear"}, "expected a float"),
        ("resize", [(F32, (3,))], {"shape": (2, 2)}, "2 extents and 0 scales, expected 1"),
    ],
)  # fmt: skip
def test_refused(name: str, operands: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        infer(name, operands, **attributes)


def test_recurrent_layers_name_the_operand_that_does_not_fit() -> None:
    shapes = [(3, 2, 4), (1, 20, 4), (1, 20, 5), (1, 40), (1, 2, 5), (1, 2, 6)]
    with pytest.raises(TypeError, match=r"operand c0 f32\[1,2,6\], expected f32\[1,2,5\]"):
        infer("lstm", [(F32, s) for s in shapes])
    with pytest.raises(TypeError, match="direction 'backward', expected one of forward"):
        infer("lstm", [(F32, s) for s in shapes], direction="backward")
    with pytest.raises(TypeError, match=r"operand w f32\[1,20,4\], expected f32\[1,15,4\]"):
        infer("gru", [(F32, s) for s in shapes[:5]])


def test_recurrent_layers_keep_symbols() -> None:
    shapes = [(N, 2, 4), (1, 15, 4), (1, 15, 5), (1, 30), (1, 2, 5)]
    every, last = infer("gru", [(F32, s) for s in shapes])
    assert (every.dims, last.dims) == ((N, 1, 2, 5), (1, 2, 5))


@pytest.mark.parametrize(
    ("first", "last", "step", "wanted"),
    [
        (3, -4, -1, [13, 12, 11]),
        (3, -5, -1, [13, 12, 11, 10]),
        (0, -4, 1, []),
        (0, -5, 1, []),
        (-4, -1, 2, [10, 12]),
    ],
)
def test_slices_that_are_computed_stop_where_those_of_numpy_do(
    first: int, last: int, step: int, wanted: list[int]
) -> None:
    x = np.arange(10, 14)
    bounds = [np.array([bound]) for bound in (first, last, step)]
    (made,) = REGISTRY["gv.slice_by"].evaluate(x, *bounds, axes=(0,), sizes=(len(wanted),))
    assert made.tolist() == wanted


def test_whole_numbers_are_counted_beyond_what_floats_hold() -> None:
    ends = [np.array(x, np.int64) for x in (-1, 1 << 62, 1 << 61)]
    assert run("range_of", *ends, sizes=()) == [[-1, (1 << 61) - 1, (1 << 62) - 1]]
    floats = [np.array(x, np.float32) for x in (0.5, 2.5, 0.75)]
    assert run("range_of", *floats, sizes=()) == [[0.5, 1.25, 2.0]]


def test_random_words_come_one_a_block_too() -> None:
    one, _, _, _ = infer("random_bits", [(dtypes.u32, (6,))], shape=(3,), per=1)
    assert one == spec(dtypes.u32, 3)
    with pytest.raises(TypeError, match="0 elements a block, 1 apart, expected at least one"):
        infer("random_bits", [(dtypes.u32, (6,))], shape=(3,), per=0)
    with pytest.raises(TypeError, match="1 elements a block, 0 apart, expected at least one"):
        infer("random_bits", [(dtypes.u32, (6,))], shape=(3,), per=1, stride=0)
