"""Division by a known number is rounded as division is."""

import numpy as np
import pytest

from gravure.codegen.kernels.builder.quotient import parts_of
from gravure.ir.interpret.loop_values import fused_multiply_add

RANDOM = np.random.default_rng(0)
DIVISORS = [0.058338720351457596, 1 / 3, 255.0, -0.7, 1.9999999, 1.0000001, 6 / 255, 4.0]


@pytest.mark.parametrize("divisor", [*DIVISORS, *RANDOM.random(24)])
def test_quotients_are_rounded_once(divisor: float) -> None:
    number = np.float32(divisor)
    parts = parts_of(float(number))
    if parts is None:
        return
    high, low = (np.float32(part) for part in parts)
    x = RANDOM.standard_normal(1 << 16).astype(np.float32) * np.float32(100)
    middles = (RANDOM.integers(-300, 300, 1 << 12) + 0.5).astype(np.float32) * number
    x = np.concatenate([x, middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf)])
    found = fused_multiply_add(x, high, x * low) if low else x * high
    np.testing.assert_array_equal(found, x / number)


def test_most_numbers_are_divided_by_so() -> None:
    drawn = RANDOM.random(200).astype(np.float32) + np.float32(0.01)
    assert sum(parts_of(float(each)) is not None for each in drawn) > 100


@pytest.mark.parametrize("divisor", [0.0, np.inf, np.nan, 1e-30])
def test_what_is_out_of_range_is_divided_by(divisor: float) -> None:
    assert parts_of(divisor) is None
