"""The table of errors has what the docstring of Winograd's operation promises."""

from __future__ import annotations

from gravure.tools.accuracy.winograd_errors import errors


def test_small_tiles_are_as_near_as_the_direct_sum() -> None:
    found = errors(32, 1)
    direct, small, large = (found[form] for form in ("direct", "F(2x2,3x3)", "F(4x4,3x3)"))
    assert direct is not None
    assert small is not None
    assert large is not None
    assert small[1] < 2 * direct[1]
    assert direct[1] < large[1] < 1e-5
