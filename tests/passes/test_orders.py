"""Axes of a reshape that belong together, and elements that count up."""

import numpy as np
import pytest

from gravure.ir import Dim
from gravure.ir.scalar_math import UnknownStepError
from gravure.ir.types.dims import symbol
from gravure.ir.types.indices import Token, of
from gravure.passes.analysis.orders import is_plain, segments
from gravure.passes.analysis.positions import counted

N = symbol("N")


@pytest.mark.parametrize(
    ("source", "target", "wanted"),
    [
        ((2, 6, 5), (2, 2, 3, 5, 1), [([0], [0]), ([1], [1, 2]), ([2], [3, 4])]),
        ((N * 4, 5), (N, 4, 5), [([0], [0, 1]), ([1], [2])]),
        ((4, N, 5), (N * 4, 5), [([0, 1], [0]), ([2], [1])]),
        ((N, 6), (6, N), None),
        ((N + 1, 2), (2, N + 1), None),
    ],
)
def test_runs_of_axes_hold_as_many_elements(
    source: tuple[Dim, ...],
    target: tuple[Dim, ...],
    wanted: list[tuple[list[int], list[int]]] | None,
) -> None:
    assert segments(source, target) == wanted


def test_only_the_order_as_it_is_changes_nothing() -> None:
    assert is_plain((0, 1, 2))
    assert is_plain(())
    assert not is_plain((1, 0))
    assert not is_plain((0, 2, 1))


def test_numbers_that_count_up_along_one_axis_are_its_place() -> None:
    row, column = (of(Token(extent)) for extent in (1, 4))
    assert counted(np.arange(3, 7).reshape(1, 4), (row, column)) == column + 3
    row, column = (of(Token(extent)) for extent in (4, 1))
    assert counted(np.arange(-1, 3).reshape(4, 1), (row, column)) == row + -1
    for known in (np.arange(4.0), np.array([0, 1, 3, 4]), np.arange(4).reshape(2, 2)):
        with pytest.raises(UnknownStepError, match="numbers that do not count up"):
            counted(known, (row, column))
