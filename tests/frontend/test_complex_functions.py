"""Complex numbers in functions: compiled by their parts, with eager code's bits."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.models import pieces
from gravure.ir.types.numerics import complex_multiply

Function = Callable[..., Any]


def drawn(count: int, dtype: Any = np.complex64) -> tf.Tensor:
    rng = np.random.default_rng(count)
    return tf.constant((rng.normal(size=count) + 1j * rng.normal(size=count)).astype(dtype))


ELEMENTWISE: dict[str, Function] = {
    "product": lambda z, w: z * w,
    "product of what goes backwards": lambda z, w: tf.reverse(z, [0]) * w,
    "product with a number": lambda z, w: z * (1 + 2j),
    "quotient": lambda z, w: z / w,
    "power": lambda z, w: z**w,
    "size": lambda z, w: tf.abs(z),
    "choice": lambda z, w: tf.where(tf.abs(z) < 1.0, z * w + w, z),
    "conjugate": lambda z, w: tf.math.conj(z) * w,
    "angle": lambda z, w: tf.math.angle(z),
    "parts": lambda z, w: tf.complex(tf.math.real(z), tf.math.imag(w)),
    "conversion": lambda z, w: tf.cast(z, tf.complex128) + tf.cast(tf.math.real(w), tf.complex128),
    "comparison": lambda z, w: tf.equal(z, w) | tf.not_equal(z, z),
    "directions": lambda z, w: tf.sign(z) + tf.math.reciprocal(w),
    "functions": lambda z, w: tf.exp(z) + tf.sin(w) * tf.cos(z) - tf.sqrt(w),
    "hyperbolic": lambda z, w: tf.tanh(z) + tf.sinh(w) * tf.cosh(z),
    "logarithms": lambda z, w: tf.math.log(z) + tf.math.log1p(w) - tf.math.expm1(z),
    "sigmoid": lambda z, w: tf.sigmoid(z) + tf.math.rsqrt(w),
}
MOVES: dict[str, Function] = {
    "arguments": lambda z, w: (z, w, z),
    "constants": lambda z, w: tf.ones_like(z) + tf.zeros_like(w),
    "pad": lambda z, w: tf.pad(z, [[1, 2]], constant_values=1),
    "concat": lambda z, w: tf.concat([z, w], 0)[3:60:2],
    "gather": lambda z, w: tf.gather(z, [3, 1, 2]),
    "roll": lambda z, w: tf.roll(z, 3, 0),
    "tile": lambda z, w: tf.tile(tf.stack([z, w]), [2, 1]),
    "transpose": lambda z, w: tf.transpose(tf.reshape(z, [5, 10]), conjugate=True),
    "adjoint": lambda z, w: tf.linalg.adjoint(tf.reshape(z, [5, 10])),
    "scatter": lambda z, w: tf.tensor_scatter_nd_add(z, [[1], [3]], w[:2]),
    "diagonal": lambda z, w: tf.linalg.diag(z),
    "branch": lambda z, w: tf.cond(tf.reduce_sum(tf.abs(z)) > 3, lambda: z + w, lambda: z * w),
    "loop": lambda z, w: tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * w + 1), [0, z])[
        1
    ],
}
SUMS: dict[str, Function] = {
    "sum": lambda z, w: tf.reduce_sum(z * w),
    "mean": lambda z, w: tf.reduce_mean(z),
    "running sum": lambda z, w: tf.cumsum(z),
    "matrices": lambda z, w: tf.matmul(
        tf.reshape(z, [5, 10]), tf.reshape(w, [5, 10]), adjoint_b=True
    ),
    "norm": lambda z, w: tf.norm(z),
    "transform": lambda z, w: tf.signal.ifft(tf.signal.fft(z) * w),
    "segments": lambda z, w: tf.math.segment_sum(z, [i // 5 for i in range(50)]),
}


@pytest.fixture
def stepped(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return the programs with host steps that are made meanwhile."""
    found: list[object] = []
    made = pieces.SteppedModel.__init__

    def noted(self: Any, program: Any, *given: Any, **more: Any) -> None:
        found.append(program)
        made(self, program, *given, **more)

    monkeypatch.setattr(pieces.SteppedModel, "__init__", noted)
    return found


def both(function: Function, *given: Any) -> tuple[list[Any], list[Any]]:
    """Return what it gives at once, and compiled."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is not converted")
        staged = tf.function(function)
        for _ in range(3):
            made = staged(*given)
        at_once = function(*given)
    return [[x.numpy() for x in tf.nest.flatten(each)] for each in (at_once, made)]  # type: ignore[return-value]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", [*ELEMENTWISE, *MOVES])
def test_elements_have_the_same_bits(name: str, dtype: Any, stepped: list[object]) -> None:
    function = ELEMENTWISE.get(name) or MOVES[name]
    for a, b in zip(*both(function, drawn(50, dtype), drawn(50, dtype) + 1), strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()
    assert not stepped


@pytest.mark.parametrize("name", SUMS)
def test_sums_are_compiled(name: str, stepped: list[object]) -> None:
    for a, b in zip(*both(SUMS[name], drawn(50), drawn(50) + 1), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
    assert not stepped


def test_sizes_may_be_open(stepped: list[object]) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.complex64)])
    def function(z: Any) -> Any:
        return z * tf.math.conj(z) + tf.exp(z), tf.reduce_sum(tf.abs(z))

    for count in (3, 50, 1, 1000):
        z = drawn(count)
        for _ in range(3):
            made = function(z)
        wanted = function.python_function(z)
        assert made[0].numpy().tobytes() == wanted[0].numpy().tobytes()
        np.testing.assert_allclose(made[1], wanted[1], rtol=1e-5)
    assert not stepped


def test_variables_are_written_in_compiled_code(stepped: list[object]) -> None:
    v = tf.Variable(np.array([1 + 1j, 2 - 1j], np.complex64))

    @tf.function
    def step(z: Any) -> Any:
        v.assign(v * z)
        v.assign_add(z * tf.ones_like(v))
        return tf.abs(v)

    wanted = v.numpy()
    z = np.complex64(0.5 + 0.25j)
    for _ in range(5):
        step(tf.constant(z))
        wanted = wanted * z + z
    np.testing.assert_allclose(v.numpy(), wanted, rtol=1e-6)
    assert not stepped


def test_steps_of_the_host_get_and_give_complex_numbers() -> None:
    @tf.function
    def function(z: Any) -> Any:
        w = tf.numpy_function(lambda a: a * 2, [z * z], tf.complex64)
        return tf.math.conj(tf.ensure_shape(w, z.shape)) + z

    z = drawn(6)
    for _ in range(3):
        made = function(z)
    np.testing.assert_allclose(made, np.conj(2 * z.numpy() ** 2) + z.numpy(), rtol=1e-5)


GRADIENTS: dict[str, Function] = {
    "product": lambda z, w: z * z * w,
    "quotient": lambda z, w: w / z,
    "functions": lambda z, w: tf.exp(z) * tf.sin(w) + tf.sqrt(z) - tf.tanh(w),
    "logarithms": lambda z, w: tf.math.log(z) + tf.math.log1p(w),
    "power": lambda z, w: z ** (2 + 0.5j),
    "matrices": lambda z, w: tf.matmul(tf.reshape(z, [2, 3]), tf.reshape(w, [3, 2])),
    "moves": lambda z, w: tf.concat([z[::2], tf.roll(w, 1, 0)], 0) * tf.math.conj(w[:1]),
    "transform": lambda z, w: tf.signal.fft(z) * w,
    "parts": lambda z, w: tf.complex(tf.math.imag(z), tf.math.real(w) * 2.0),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("inside", ["", "loop", "branch"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_differences(name: str, inside: str) -> None:
    function = GRADIENTS[name]

    def value(z: Any, w: Any) -> Any:
        return tf.reduce_sum(tf.abs(function(z, w)) ** 2)

    def loss(z: Any, w: Any) -> Any:
        if inside == "loop":
            add = lambda i, a: (i + 1, a + value(z, w))  # noqa: E731
            return tf.while_loop(lambda i, a: i < 2, add, [0, tf.constant(0.0, tf.float64)])[1]
        if inside == "branch":
            return tf.cond(tf.abs(z[0]) > 0, lambda: value(z, w) * 2.0, lambda: value(w, z))
        return value(z, w) * 2.0

    @tf.function(autograph=False)
    def gradients(z: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([z, w])
            y = loss(z, w)
        return tape.gradient(y, [z, w], unconnected_gradients="zero")

    z, w = drawn(6, np.complex128), drawn(7, np.complex128)[:6] + 2
    for _ in range(3):
        made = [g.numpy() for g in gradients(z, w)]
    for which, unit, at in itertools.product((0, 1), (1, 1j), (0, 3)):
        wanted = difference(loss, [z.numpy(), w.numpy()], which, at, unit)
        found = made[which][at].real if unit == 1 else made[which][at].imag
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def difference(
    loss: Function, given: list[Any], which: int, at: int, unit: complex, step: float = 1e-6
) -> float:
    """Return by how much a loss grows along a part of one number."""
    found = []
    for sign in (1, -1):
        moved = [x.copy() for x in given]
        moved[which][at] += sign * unit * step
        found.append(float(loss(*map(tf.constant, moved))))
    return (found[0] - found[1]) / (2 * step)


def test_a_size_of_0_has_no_direction() -> None:
    @tf.function
    def function(z: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(z)
            size = tf.abs(z)
        return tape.gradient(size, z)

    z = tf.constant([0, 3 + 4j], tf.complex64)
    for _ in range(3):
        made = function(z)
    np.testing.assert_allclose(made, [0, 0.6 + 0.8j], rtol=1e-6)


def test_the_argument_of_a_real_number_is_a_half_turn_or_none() -> None:
    """That of -0 was pi, that of what is no number was none, and there was a gradient of 0."""
    x = tf.constant([1.0, -1.0, 0.0, -0.0, np.nan, -np.inf, np.inf])
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.math.angle(x)
    assert made.numpy().tolist() == [0, np.float32(np.pi), 0, 0, 0, np.float32(np.pi), 0]
    assert tape.gradient(made, x) is None
    with pytest.raises(TypeError, match=r"3\.14.* of dtype int32"):
        tf.math.angle(tf.constant([1, -1]))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_products_and_opposites_have_the_same_bits_of_few_many_and_one(dtype: Any) -> None:
    random = np.random.default_rng(4)
    parts = random.normal(size=(2, 90, 61, 2))
    parts[:, 3, :4] = [[0.0, -0.0], [np.inf, 1.0], [np.nan, 2.0], [1e30, -1e30]]
    z, w = (part.view(np.complex128)[..., 0].astype(dtype) for part in parts)
    one = np.array(0.3 - 1.7j, dtype)
    with np.errstate(all="ignore"):
        pairs = [(z, w), (z, one), (one, z), (z, w[:1]), (z[:, ::2], w[:, ::2]), (one, one[None])]
        for _ in range(3):
            for x, y in pairs:
                made = (tf.constant(x) * tf.constant(y)).numpy()
                wanted = complex_multiply(x, y)
                assert made.shape == wanted.shape
                np.testing.assert_array_equal(made, wanted)
            for x in (z, z.T, one, z[:0]):
                made = (-tf.constant(x)).numpy()
                assert made.tobytes() == np.negative(x).tobytes()
                assert made.shape == x.shape
