"""The few best of columns that lie side by side, which are found as many at once as fit vectors."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.ir.ops.sort import first_of

KINDS = {
    np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE, np.float16: TensorProto.FLOAT16,
    np.int64: TensorProto.INT64, np.int32: TensorProto.INT32, np.uint8: TensorProto.UINT8,
}  # fmt: skip
SHAPES = [
    ((30, 7), 0, 5),
    ((40, 4), 0, 16),
    ((5, 60, 9), 1, 7),
    ((3, 2, 33), 1, 1),
    ((9, 70), 0, 9),
]


def best(kind: type, shape: tuple[int | str, ...], axis: int, k: int, *, largest: bool) -> bytes:
    info = helper.make_tensor_value_info
    node = helper.make_node("TopK", ["x", "k"], ["y", "i"], axis=axis, largest=int(largest))
    graph = helper.make_graph(
        [node], "g", [info("x", KINDS[kind], shape)],
        [info("y", KINDS[kind], None), info("i", TensorProto.INT64, None)],
        [numpy_helper.from_array(np.array([k]), "k")],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 24)]
    made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    return made


def elements(kind: type, shape: tuple[int, ...]) -> np.ndarray:
    """Return elements of which many are equal, and some are not numbers."""
    random = np.random.default_rng(sum(shape))
    x = random.integers(0, 12, shape).astype(kind)
    if np.issubdtype(kind, np.floating):
        x[random.random(shape) < 0.1] = np.nan
        x[random.random(shape) < 0.1] = -np.inf
    return x


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize(("shape", "axis", "k"), SHAPES)
def test_the_best_of_columns_of_all_kinds(
    kind: type, shape: tuple[int, ...], axis: int, k: int, *, largest: bool
) -> None:
    x = elements(kind, shape)
    values, places = gv.compile(best(kind, shape, axis, k, largest=largest))(x)
    wanted = first_of(x, k, axis, largest=largest)
    np.testing.assert_array_equal(places, wanted)
    np.testing.assert_array_equal(values, np.take_along_axis(x, wanted, axis))


@pytest.mark.parametrize("largest", [False, True])
def test_the_best_of_columns_of_open_sizes(*, largest: bool) -> None:
    made = gv.compile(
        best(np.float32, ("n", "m"), 0, 3, largest=largest), dims={"n": (3, 99), "m": (1, 99)}
    )
    for shape in ((3, 1), (40, 3), (99, 99), (50, 16)):
        x = elements(np.float32, shape)
        values, places = made(x)
        wanted = first_of(x, 3, 0, largest=largest)
        np.testing.assert_array_equal(places, wanted)
        np.testing.assert_array_equal(values, np.take_along_axis(x, wanted, 0))
