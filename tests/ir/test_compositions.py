"""Compositions do what their numpy namesakes do, on arrays and with symbols."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint

from gravure.ir import Call, EagerEmit, GraphEmit, spec
from gravure.ir.compose import functions as compositions
from gravure.ir.compose.functions import spec_of_value
from gravure.ir.compose.maker import Maker, Named
from gravure.ir.gradient.tape import gradient_through_decomposition
from gravure.ir.op import REGISTRY
from gravure.ir.types import dims, dtypes

EMIT = EagerEmit()
X = np.arange(24.0).reshape(2, 3, 4)
N = dims.symbol("N")

ON_ARRAYS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "squeeze": (lambda x: compositions.squeeze(EMIT, x[:, :1], (1,)), X[:, 0]),
    "unsqueeze": (lambda x: compositions.unsqueeze(EMIT, x, (0, 3)), X[None, :, :, None]),
    "flatten": (lambda x: compositions.flatten(EMIT, x, 1), X.reshape(2, 12)),
    "move_axis": (lambda x: compositions.move_axis(EMIT, x, 0, 2), np.moveaxis(X, 0, 2)),
    "cut": (lambda x: compositions.cut(EMIT, x, 2, 1, 4, 2), X[:, :, 1:4:2]),
    "flip": (lambda x: compositions.flip(EMIT, x, (0, 2)), np.flip(X, (0, 2))),
    "split": (lambda x: compositions.split(EMIT, x, 2, (1, 3))[1], X[:, :, 1:]),
    "stack": (lambda x: compositions.stack(EMIT, (x, x), 1), np.stack((X, X), 1)),
    "tile": (lambda x: compositions.tile(EMIT, x, (2, 1, 3)), np.tile(X, (2, 1, 3))),
    "repeat": (lambda x: compositions.repeat(EMIT, x, (1, 2, 1)), np.repeat(X, 2, 1)),
    "roll": (lambda x: compositions.roll(EMIT, x, 2, 5), np.roll(X, 5, 2)),
    "triu": (lambda x: compositions.triangle(EMIT, x, 1, upper=True), np.triu(X, 1)),
    "tril": (lambda x: compositions.triangle(EMIT, x, -1, upper=False), np.tril(X, -1)),
}


@pytest.mark.parametrize("name", ON_ARRAYS)
def test_composition_is_its_numpy_namesake(name: str) -> None:
    function, wanted = ON_ARRAYS[name]
    np.testing.assert_array_equal(function(X), wanted)


def test_channels_change_places() -> None:
    image = np.arange(120).reshape(2, 3, 4, 5)
    last = compositions.channels_last(EMIT, image)
    assert last.shape == (2, 4, 5, 3)
    np.testing.assert_array_equal(compositions.channels_first(EMIT, last), image)


@pytest.mark.parametrize("columns_first", [False, True])
def test_depth_to_space_spreads_channels_over_blocks(*, columns_first: bool) -> None:
    image = np.arange(16).reshape(1, 8, 1, 2)
    made = compositions.depth_to_space(EMIT, image, 2, columns_first=columns_first)
    assert made.shape == (1, 2, 2, 4)
    channels = [0, 1, 2, 3] if columns_first else [0, 2, 4, 6]
    np.testing.assert_array_equal(made[0, 0, :, :2].ravel(), image[0, channels, 0, 0])


def test_space_to_depth_is_undone_by_depth_to_space() -> None:
    image = np.arange(96).reshape(2, 3, 4, 4)
    made = compositions.space_to_depth(EMIT, image, 2)
    assert made.shape == (2, 12, 2, 2)
    np.testing.assert_array_equal(compositions.depth_to_space(EMIT, made, 2), image)


def test_symbols_pass_through() -> None:
    block = Block(arg_types=[spec(dtypes.f32, N, 4).type])
    emit, x = GraphEmit(InsertPoint.at_end(block)), block.args[0]
    assert spec_of_value(compositions.flip(emit, x, (0,))).dims == (N, 4)
    assert spec_of_value(compositions.tile(emit, x, (3, 1))).dims == (N * 3, 4)
    assert spec_of_value(compositions.dilate(emit, x, 0, 2)).dims == (N * 2, 4)
    parts = compositions.split(emit, x, 0, (1, N - 1))
    assert [spec_of_value(p).dims for p in parts] == [(1, 4), (N - 1, 4)]


def test_refused() -> None:
    with pytest.raises(TypeError, match="axis 1 has 3 elements, expected 1"):
        compositions.squeeze(EMIT, X, (1,))
    with pytest.raises(TypeError, match=r"axes \(1, 1\), expected distinct ones below 5"):
        compositions.unsqueeze(EMIT, X, (1, 1))
    with pytest.raises(TypeError, match="parts of 5 elements in all, expected 4"):
        compositions.split(EMIT, X, 2, (2, 3))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        Maker(EMIT).nonsense(X)


def test_gradient_through_a_decomposition_skips_what_has_no_smooth_path() -> None:
    x, shape = np.arange(4.0).reshape(1, 4), {"shape": (1, 6), "mode": "linear"}
    op = REGISTRY["gv.resize"]
    attributes = op.complete(shape)
    specs = [spec_of_value(x)]
    call = Call(op, (x,), (), attributes, specs, EMIT, tuple(op.infer(*specs, **attributes)))
    (grad,) = gradient_through_decomposition(call, np.ones((1, 6)))
    np.testing.assert_allclose(grad.sum(), 6)


def test_makers_name_operations_that_there_are():
    named = {name for name, value in vars(Maker).items() if isinstance(value, Named)}
    assert named
    assert {f"gv.{name}" for name in named} <= REGISTRY.keys()
