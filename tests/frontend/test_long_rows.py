"""Few numbers that come again and again are put into long rows: the results are the same."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf
from gravure.codegen import single
from gravure.frontend.eager import kernels
from gravure.frontend.eager.long_rows import in_long_rows, repeated
from gravure.ir.types import numerics
from gravure.ir.types.shapes import few_axes

SHAPES = [
    ((30, 75, 8), (8,)),
    ((30, 75, 8), (1, 1, 8)),
    ((4099, 5), (5,)),
    ((3000, 4, 2), (4, 1)),
    ((3000, 4, 2), (4, 2)),
    ((3000, 1, 8), (1, 1, 8)),
]
PERMUTATIONS = [(0, 1, 2), (0, 2, 1), (2, 0, 1), (2, 1, 0)]
FUNCTIONS: list[Callable[..., tf.Tensor]] = [
    operator.add, operator.sub, operator.truediv, tf.maximum, operator.lt,
]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.complex64])
def test_results_are_those_of_short_rows(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: type
) -> None:
    random = np.random.default_rng(0)
    large, small = (random.integers(1, 90, shape).astype(dtype) / dtype(4) for shape in shapes)
    large, small = (z.astype(dtype) for z in (large, small))
    for function in (np.add, np.subtract, np.equal):
        made = repeated(function, large, small)
        assert made is not None
        wanted = function(large, small)
        assert made.shape == wanted.shape
        assert made.strides == wanted.strides
        assert made.tobytes() == wanted.tobytes()
        turned = in_long_rows(function)(small, large)
        assert turned.tobytes() == function(small, large).tobytes()


@pytest.mark.parametrize("order", PERMUTATIONS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_axes_may_lie_in_another_order(
    function: Callable[..., tf.Tensor], order: tuple[int, ...]
) -> None:
    random = np.random.default_rng(1)
    x = tf.transpose(tf.constant(random.random((30, 75, 8), np.float32)), order)
    numbers = tf.constant(random.random(8, np.float32))
    along = tf.reshape(numbers, [8 if axis == 2 else 1 for axis in order])
    for _ in range(3):
        made = function(x, along).numpy()
    whole = function(tf.constant(x.numpy()), tf.broadcast_to(along, x.shape)).numpy()
    assert made.dtype == whole.dtype
    assert made.tobytes() == whole.tobytes()


def test_what_does_not_come_again_is_left_alone() -> None:
    calls: list[tuple[tuple[int, ...], ...]] = []

    def noted(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        calls.append((x.shape, y.shape))
        return np.add(x, y)

    large = np.ones((200, 100, 8))
    for small in (np.ones((100, 8)), np.ones((200, 1, 1)), np.ones(1), np.ones((3, 1, 1, 8))):
        in_long_rows(noted)(large, small)
        assert calls[-1] == (large.shape, small.shape)
    in_long_rows(noted)(large[:, ::2], np.ones(8))
    assert calls[-1] == ((200, 50, 8), (8,))
    in_long_rows(noted)(large, np.ones(8))
    assert calls[-1] == ((80, 2000), (2000,))
    with pytest.raises(ValueError, match="broadcast"):
        in_long_rows(noted)(large, np.ones(7))
    with pytest.raises(ValueError, match="broadcast"):
        in_long_rows(noted)(large, np.ones((1, 0, 8)))


def test_channels_beyond_all_are_not_looked_for() -> None:
    x = tf.constant(np.random.default_rng(0).random((2, 4, 4, 3), np.float32))
    found = [tf.nn.lrn(x, radius).numpy() for radius in (2, 5, 50)]
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.nn.lrn(x, 10**6)  # which would take as many steps
    assert tape.gradient(made, x).shape == x.shape


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
@pytest.mark.parametrize("name", ["negative", "abs"])
def test_signs_of_narrow_floats_are_bits_as_in_functions(
    name: str, dtype: tf.DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    quiet = 0x7E00 if dtype == tf.float16 else 0x7FC0
    limit = 0x7C00 if dtype == tf.float16 else 0x7F80
    every = np.where(bits & 0x7FFF > limit, bits | quiet, bits).view(dtype.as_numpy_dtype)
    function = getattr(tf.math, name)
    staged = tf.function(function)
    compiled = [staged(every).numpy() for _ in range(3)][-1]
    widened: list[object] = []
    monkeypatch.setattr(numerics, "widen", lambda x: widened.append(x) or x)
    for x in (every, every[::-3], every[5:6], every[:0], every[7]):
        made = function(tf.constant(x)).numpy()
        wanted = -x.astype(np.float32) if name == "negative" else abs(x.astype(np.float32))
        np.testing.assert_array_equal(made.astype(np.float32), wanted)
    assert function(tf.constant(every)).numpy().tobytes() == compiled.tobytes()
    assert not widened


BROADCAST = [
    ((700, 3, 80), (700, 1, 80)),
    ((9000, 16), (9000, 1)),
    ((4, 33, 33, 40), (33, 1, 40)),
    ((40000, 1), (1, 8)),
]


@pytest.mark.parametrize("shapes", BROADCAST)
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "float16", "bfloat16"])
def test_short_rows_are_gone_through_by_compiled_code_of_the_same_bits(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(3)
    x, y = (tf.cast(tf.constant(random.integers(1, 90, shape)), dtype) for shape in shapes)
    whole = [tf.constant(tf.broadcast_to(z, np.broadcast_shapes(*shapes)).numpy()) for z in (x, y)]
    made: list[object] = []
    spread = single.Broadcasting.made

    def counted(self: single.Broadcasting, *given: Any) -> Any:
        made.append(found := spread(self, *given))
        return found

    monkeypatch.setattr(single.Broadcasting, "WORTH", 0)
    monkeypatch.setattr(single.Broadcasting, "made", counted)
    for function in FUNCTIONS:
        if function is operator.truediv and "int" in dtype:
            continue
        found, wanted = function(x, y), function(*whole)
        assert found.numpy().tobytes() == wanted.numpy().tobytes()
        turned, wanted = function(y, x), function(*whole[::-1])
        assert turned.numpy().tobytes() == wanted.numpy().tobytes()
    assert made
    assert None not in made


def test_axes_that_broadcast_alike_are_one() -> None:
    assert few_axes((2, 3, 4), [(2, 3, 4), (3, 4)]) == [(2, 12), (1, 12)]
    assert few_axes((5, 1, 6), [(5, 1, 6), ()]) == [(30,), (1,)]
    assert few_axes((5, 6), [(5, 1), (1, 6)]) == [(5, 1), (1, 6)]


def test_floats_of_16_bits_are_computed_by_compiled_code_once_they_come_often() -> None:
    calls: list[str] = []

    def told(name: str) -> Callable[..., Any]:
        return lambda x: calls.append(name) or x

    kernel = kernels.by_need(told("numpy"), lambda: told("compiled"), many=kernels.SOME)
    for _ in range(kernels.OFTEN + 1):
        kernel(np.ones(3, np.float16))
    assert calls == ["numpy"] * kernels.OFTEN + ["compiled"]
