"""Transforms by mixed radix beside numpy's."""

import numpy as np
import pytest

from gravure.ir.compose.fourier import factors, transform
from gravure.ir.op import EagerEmit


@pytest.mark.parametrize(
    "count", [1, 2, 3, 4, 5, 7, 10, 12, 15, 16, 30, 49, 77, 100, 127, 128, 1018]
)
@pytest.mark.parametrize("inverse", [False, True])
def test_a_transform_of_any_length(count: int, *, inverse: bool) -> None:
    random = np.random.default_rng(count)
    x = random.standard_normal((2, 3, count)) + 1j * random.standard_normal((2, 3, count))
    found = transform(EagerEmit(), x.real.copy(), x.imag.copy(), inverse=inverse)
    wanted = np.fft.ifft(x) * count if inverse else np.fft.fft(x)
    np.testing.assert_allclose(found[0], wanted.real, rtol=1e-12, atol=1e-12 * count)
    np.testing.assert_allclose(found[1], wanted.imag, rtol=1e-12, atol=1e-12 * count)


def test_factors_are_small_where_they_can_be() -> None:
    assert [factors(n) for n in (1, 2, 8, 10, 64, 360)] == [
        [], [2], [2, 4], [2, 5], [4, 4, 4], [2, 4, 3, 3, 5]]  # fmt: skip


@pytest.mark.parametrize("count", [1, 5, 7, 30, 77, 509, 4099])
@pytest.mark.parametrize("inverse", [False, True])
def test_a_transform_of_real_numbers(count: int, *, inverse: bool) -> None:
    x = np.random.default_rng(count).standard_normal((2, count))
    found = transform(EagerEmit(), x, None, inverse=inverse)
    wanted = np.fft.ifft(x) * count if inverse else np.fft.fft(x)
    np.testing.assert_allclose(found[0], wanted.real, rtol=1e-12, atol=1e-12 * count)
    np.testing.assert_allclose(found[1], wanted.imag, rtol=1e-12, atol=1e-12 * count)


def test_a_large_prime_is_refused() -> None:
    with pytest.raises(TypeError, match="8209 points"):
        transform(EagerEmit(), np.zeros(8209), np.zeros(8209), inverse=False)
