"""Quotients and functions of complex numbers have the same bits wherever they are computed."""

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.eager.complex_parts import of_pairs
from gravure.ir.types import numerics
from gravure.ir.types.numerics import complex_divide

pytestmark = pytest.mark.filterwarnings("error")
ENDS = [0.0, -0.0, 1.0, -2.5, 1e30, -1e-30, 3e38, np.inf, -np.inf, np.nan]
TYPES = ["complex64", "complex128"]
DIVIDENDS = [3 + 4j, -1e-3 + 7j, 2.5 - 1e5j, 1, 1e30 + 1e30j, complex(np.inf, 1), 1 + 1j, 0]
DIVISORS = [1 - 2j, 0.3 + 1e-2j, -7.25 + 3.5j, 3, 1e30 - 2e30j, 2 + 1j, 0, 1 - 1j]
TENSORFLOWS = {
    "complex64": [
        -1 + 2j, 0.77358478307724 + 23.307544708251953j, -5400.47265625 + 11185.9794921875j,
        0.3333333432674408, -0.20000000298023224 + 0.6000000238418579j,
    ],
    "complex128": [
        -1 + 2j, 0.7735849056603774 + 23.307547169811325j, -5400.472516875604 + 11185.978784956606j,
        0.3333333333333333, -0.2 + 0.6000000000000001j,
    ],
}  # fmt: skip
"""The first quotients of those, as a vector of TensorFlow 2.21's has them."""


def same(a: object, b: object) -> bool:
    """Say whether all parts have the same bits, or are both NaN."""
    x, y = (np.asarray(z).ravel().view(f"f{np.asarray(z).itemsize // 2}") for z in (a, b))
    return bool(((x == y) & (np.signbit(x) == np.signbit(y)) | np.isnan(x) & np.isnan(y)).all())


@pytest.mark.parametrize("kind", TYPES)
def test_quotients_are_tensorflows_to_the_last_bit(kind: str) -> None:
    x, y = np.array(DIVIDENDS, kind), np.array(DIVISORS, kind)
    found = (tf.constant(x) / tf.constant(y)).numpy()
    assert found[:5].tolist() == TENSORFLOWS[kind]
    assert found[5] == complex(np.inf, -np.inf)
    assert np.isnan([found[6].real, found[6].imag]).all()
    assert found[7] == 0


@pytest.mark.parametrize("kind", TYPES)
def test_quotients_have_the_same_bits_on_each_path(kind: str) -> None:
    numbers = [complex(a, b) for a in ENDS for b in ENDS]
    with np.errstate(all="ignore"):
        x, y = (z.ravel().astype(kind) for z in np.meshgrid(numbers, numbers))
        random = np.random.default_rng(0).normal(size=(4, len(x)))
        pairs = [(x, y), (random[0] + 1j * random[1], random[2] + 1j * random[3])]
        for a, b in [(a.astype(kind), b.astype(kind)) for a, b in pairs]:
            wanted = complex_divide(a, b)
            assert same(of_pairs("gv.div")(a, b), wanted)
            assert same(tf.constant(a) / tf.constant(b), wanted)
            assert same(tf.function(tf.divide)(tf.constant(a), tf.constant(b)), wanted)
            assert same(tf.math.reciprocal(b), complex_divide(np.ones((), kind), b))


def test_functions_divide_complex_numbers_as_eager_code_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The host went through them by numpy's steps: nine times as long."""
    x = np.random.default_rng(0).normal(size=(2, 500, 600)).view(np.complex128)
    staged = tf.function(tf.divide)
    for _ in range(5):  # it is carried out one by one at first
        found = staged(tf.constant(x[0]), tf.constant(x[1]))
    assert same(found, complex_divide(x[0], x[1]))

    def refuse(x: object, y: object) -> None:
        raise AssertionError("numpy's steps")

    monkeypatch.setattr(numerics, "complex_divide", refuse)
    assert same(staged(tf.constant(x[0]), tf.constant(x[1])), found)


@pytest.mark.parametrize("kind", TYPES)
def test_compiled_quotients_broadcast_and_may_be_none(kind: str) -> None:
    random = np.random.default_rng(0)
    x = (random.normal(size=(3, 1, 5)) + 1j).astype(kind)
    y = (random.normal(size=(4, 1)) + 2j).astype(kind)
    divide = of_pairs("gv.div")
    for a, b in ((x, y), (x[..., ::2], y), (x[0, 0, 0], y.T), (x[:, :, :0], y), (x[0, 0, 0],) * 2):
        found, wanted = divide(a, b), complex_divide(a, b)
        assert found.shape == wanted.shape
        assert same(found, wanted)
