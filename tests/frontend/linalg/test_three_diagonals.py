"""Systems of three diagonals, row by row: the bits are those of numpy's steps for a batch."""

import numpy as np
import pytest

from gravure.frontend.tf.linalg import three_diagonals
from gravure.frontend.tf.linalg.three_diagonals import solved

RANDOM = np.random.default_rng(4)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("pivots", [True, False])
@pytest.mark.parametrize("shape", [(3, 1), (3, 2), (3, 7), (4, 3, 40), (2, 3, 3, 5)])
def test_floats_are_solved_as_any_numbers_are(
    shape: tuple[int, ...], pivots: bool, kind: str
) -> None:
    three = RANDOM.normal(size=shape).astype(kind)
    right = RANDOM.normal(size=(shape[-1], 2)).astype(kind)
    found = solved(three, right, pivots)
    assert found.tobytes() == three_diagonals._of_all(three, right, pivots).tobytes()


@pytest.mark.parametrize("kind", ["float32", "float64", "complex128"])
def test_what_has_no_pivot_is_nan_alone(kind: str) -> None:
    three = np.array([np.ones((3, 4)), [[1, 1, 1, 1], [4, 4, 4, 4], [1, 1, 1, 1]]], kind)
    three[0, 1] = three[0, 2] = 0
    with np.errstate(all="ignore"):
        found = solved(three, np.ones((4, 1), kind), True)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


def test_the_written_function_is_the_compiled_one() -> None:
    four, made = RANDOM.normal(size=(2, 4, 6)), RANDOM.normal(size=(2, 6, 3))
    given, right, singular = four.copy(), made.copy(), np.empty(2, np.bool_)
    three_diagonals._solve(four, made, 6, True, 0, singular)
    other = np.empty(2, np.bool_)
    flat = [x.reshape(-1) for x in (given, right)]
    three_diagonals._solve.function(*flat, 6, True, 0, other)
    np.testing.assert_array_equal(made, right)
    np.testing.assert_array_equal(singular, other)


@pytest.mark.parametrize("rows", [0, 3])
def test_nothing_is_solved_where_nothing_is_asked(rows: int) -> None:
    assert solved(np.ones((3, rows)), np.ones((rows, 0)), True).shape == (rows, 0)
