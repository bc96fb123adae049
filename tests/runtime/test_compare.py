"""How far arrays are apart: absolute, relative, in ulps."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gravure.runtime.compare import Tolerance, compare, ulps_between

EXACT = Tolerance(0.0, 0.0)
NAN, INF = float("nan"), float("inf")


def f32(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, np.float32)


def test_equal_arrays_are_close_whatever_is_in_them() -> None:
    found = compare(f32(1, NAN, INF, -INF, -0.0), f32(1, NAN, INF, -INF, 0.0), EXACT)
    assert found.is_close
    assert (found.absolute, found.ulps, found.wrong, found.size) == (0.0, 0, 0, 5)


@pytest.mark.parametrize(("found", "wanted"), [(NAN, 1.0), (1.0, NAN), (INF, -INF), (INF, 1e30)])
def test_what_is_not_finite_is_only_close_to_itself(found: float, wanted: float) -> None:
    outcome = compare(f32(1, found), f32(1, wanted), Tolerance(1e9, 1e9))
    assert outcome.wrong == (0 if np.isfinite(found) and np.isfinite(wanted) else 1)
    assert outcome.worst == (1,)


def test_worst_element_is_named() -> None:
    found = compare(f32(1.0, 2.5, 3.1), f32(1.0, 2.0, 3.0), Tolerance(0.01, 0.0))
    assert (found.wrong, found.worst, found.found, found.wanted) == (2, (1,), "2.5", "2.0")
    assert found.absolute == 0.5
    assert found.relative == 0.25


def test_tolerances_add_and_ulps_are_enough() -> None:
    near = np.nextafter(f32(100.0), f32(200.0))
    assert not compare(near, f32(100.0), EXACT).is_close
    assert compare(near, f32(100.0), Tolerance(0.0, 0.0, ulps=1)).is_close
    assert compare(f32(100.9), f32(100.0), Tolerance(0.005, 0.5)).is_close


def test_complex_numbers_have_no_ulps_and_are_compared_without() -> None:
    found, wanted = np.array([1 + 2j, 3 - 1j]), np.array([1 + 2j, 3 - 1.1j])
    assert ulps_between(found, wanted) is None
    assert compare(found[:1], wanted[:1], Tolerance(0.0, 0.0, ulps=2)).is_close
    assert compare(found, wanted, Tolerance(0.0, 0.0, ulps=2)).wrong == 1
    assert compare(found, wanted, Tolerance(0.0, 0.2, ulps=2)).is_close


def test_ulps_count_over_zero_and_in_every_width() -> None:
    assert ulps_between(f32(-1e-45), f32(1e-45)).tolist() == [2]  # type: ignore[union-attr]
    halves = np.array([1.0, 1.5], ml_dtypes.bfloat16)
    assert ulps_between(halves[:1], halves[1:]).tolist() == [64]  # type: ignore[union-attr]
    far = ulps_between(np.array([1e308]), np.array([-1e308]))
    assert far is not None
    assert far[0] > 1 << 62
    assert ulps_between(np.array([3], np.int8), np.array([-128], np.int8)).tolist() == [131]  # type: ignore[union-attr]
    assert ulps_between(np.ones(1, np.complex64), np.ones(1, np.complex64)) is None


def test_other_shape_or_type_is_a_reason() -> None:
    assert compare(f32(1), f32(1, 1), EXACT).reason == "found float32[1], expected float32[2]"
    assert not compare(f32(1), np.ones(1), EXACT).is_close
    assert compare(f32(), f32(), EXACT).is_close


def test_figures_are_json() -> None:
    found = compare(f32(NAN), f32(1), EXACT).as_json()
    assert found["absolute"] == "nan"
    assert found["worst"] == [0]
