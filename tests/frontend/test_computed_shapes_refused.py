"""What a computed shape cannot be is told by node, shape found and what was expected."""

from collections.abc import Callable

import numpy as np
import pytest
from onnx import ModelProto, helper

import gravure as gv
from gravure.errors import RuntimeInputError

Make = Callable[..., ModelProto]
SIZES = {"a": (0, 8), "b": (0, 8)}
KEEPS, IS = "0 keeps a size", "0 is a size"


def compiled(model: Make, count: int, allowzero: int) -> Callable[..., np.ndarray]:
    node = helper.make_node("Reshape", ["x", "s"], ["y"], name="here", allowzero=allowzero)
    inputs = {"x": ("f32", ["a", "b"]), "s": ("i64", [count])}
    return gv.compile(model([node], inputs, ["y"], opset=18), dims=SIZES)


@pytest.mark.parametrize(
    ("found", "shape", "allowzero", "expected"),
    [
        ((2, 3), (0, 4), 0, "6 elements, expected 8"),
        ((2, 3), (3, 0), 0, "6 elements, expected 9"),
        ((2, 3), (0, 4, -1), 0, "6 elements, expected a multiple of 8"),
        ((2, 3), (1, 2, 0), 0, "size 2 of 2, expected one that there is"),
        ((0, 3), (0, -1), 0, "any size would do for -1, expected one that is given"),
        ((0, 3), (4, 4), 0, "0 elements, expected 16"),
        ((2, 3), (-1, -1), 0, "expected sizes, and -1 once at the most"),
        ((2, 3), (-2, 3), 0, "expected sizes, and -1 once at the most"),
        ((2, 3), (0, 3), 1, "6 elements, expected 0"),
        ((2, 3), (0, 0), 1, "6 elements, expected 0"),
        ((2, 3), (0, -1), 1, "any size would do for -1, expected one that is given"),
        ((0, 3), (4, 4), 1, "0 elements, expected 16"),
        ((2, 3), (-2, 3), 1, "expected sizes, and -1 once at the most"),
    ],
)
def test_a_computed_shape_is_refused(
    model: Make, found: tuple[int, ...], shape: tuple[int, ...], allowzero: int, expected: str
) -> None:
    run = compiled(model, len(shape), allowzero)
    with pytest.raises(RuntimeInputError) as refused:
        run(np.ones(found, np.float32), np.array(shape))
    rule = IS if allowzero else KEEPS
    told = f"a tensor of shape {[*found]} as {[*shape]}, where {rule}: {expected}"
    assert str(refused.value) == f"node 'here' (gv.reshape_to): {told}"


@pytest.mark.parametrize(
    ("found", "shape", "allowzero", "expected"),
    [
        ((2, 3), (0, -1), 0, (2, 3)),
        ((2, 3), (-1, 0), 0, (2, 3)),
        ((2, 3), (0, 0, 1), 0, None),
        ((0, 3), (0, 5), 0, (0, 5)),
        ((0, 3), (0, 5), 1, (0, 5)),
        ((0, 3), (4, 0), 1, (4, 0)),
        ((0, 3), (4, -1), 0, (4, 0)),
        ((2, 3), (6,), 1, (6,)),
    ],
)
def test_a_computed_shape_is_taken(
    model: Make,
    found: tuple[int, ...],
    shape: tuple[int, ...],
    allowzero: int,
    expected: tuple[int, ...] | None,
) -> None:
    x = np.arange(np.prod(found), dtype=np.float32).reshape(found)
    made = compiled(model, len(shape), allowzero)(x, np.array(shape))
    assert made.shape == (expected or (2, 3, 1))
    np.testing.assert_array_equal(made.ravel(), x.ravel())
