"""The committed coefficients of the device math are those that the tool prints."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mpmath")

from mpmath import mp

from gravure.codegen.llvm.math import tables
from gravure.tools.accuracy.fit_polynomials import (
    CONSTANTS,
    LOOKUPS,
    POLYNOMIALS,
    SINGLE,
    Fit,
    Grid,
    extremes,
    table,
)

TABLES = Path(tables.__file__).read_text()


def test_the_best_line_of_a_square_is_as_far_from_it_in_three_places():
    known, error = Grid(Fit(lambda x: x * x, -1, 1, 2)).rounded(single=False)
    np.testing.assert_allclose(known, [0.5, 0.0], atol=1e-4)
    assert error == pytest.approx(0.5, abs=1e-4)


def test_the_greatest_of_each_run_of_a_sign_are_kept_without_the_smaller_end():
    error = np.array([0.5, 2.0, -1.0, -3.0, 4.0, 0.0, -0.25])
    assert extremes(error, 4) == [1, 3, 4, 6]
    assert extremes(error, 3) == [1, 3, 4]
    assert extremes(-error[::-1], 3) == [2, 3, 5]


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_those_of_the_table(name):
    text, constants = CONSTANTS[name]
    assert table(name, text, {key: ("", values) for key, values in constants.items()}) in TABLES


@pytest.mark.parametrize("name", ["SIN", "ERF", "LOG_ERFC", "CUBE_ROOT", "LOG", "EXP2_NEAR"])
def test_polynomials_of_floats_are_those_of_the_table(name):
    text, fits = POLYNOMIALS[name]
    values, error = Grid(fits[SINGLE]).rounded(single=True)
    rows = {SINGLE: (f"greatest error 2^{float(mp.log(error, 2)):.1f}", values)}
    assert table(name, text, rows).partition("\n}")[0] in TABLES


def test_a_lookup_is_the_column_of_the_table():
    wanted = LOOKUPS["TANH_LOOKUPS"][1][16]
    key, low, high = wanted.intervals()[7]
    values, _ = wanted.column(low, high)
    assert [row[key] for row in tables.TANH_LOOKUPS[16].rows] == values
