"""Groups of texts that follow one another in rows, written one behind the other."""

from __future__ import annotations

from ....codegen.serial.function import I64s, U8s, serial
from ...values.text_loops import lay


@serial
def group(
    every: U8s, begins: I64s, sizes: I64s, splits: I64s, signs: I64s, widths: I64s, pads: I64s,
    short: int, made: U8s, groups: I64s,
) -> int:  # fmt: skip
    """Write groups of texts of each row, or measure them where there is no room; return their end.

    `signs` are where a separator and what stands before and behind a row begin, and their sizes.
    A row of too few texts is one group with so many more at its ends, if that is 0 or more.
    """
    count, at = 0, 0
    for row in range(len(splits) - 1):
        first, low, size = count, splits[row], splits[row + 1] - splits[row]
        for k in range(len(widths)):
            for start in range(size + 2 * pads[k] - widths[k] + 1):
                place = low - pads[k] + start
                end = _join(every, begins, sizes, low, size, place, widths[k], signs, made, at)
                groups[count] = end - at
                count, at = count + 1, end
        if count == first and short >= 0 and size > 0:
            width = size + 2 * short
            end = _join(every, begins, sizes, low, size, low - short, width, signs, made, at)
            groups[count] = end - at
            count, at = count + 1, end
    return at


def _join(
    every: U8s, begins: I64s, sizes: I64s, low: int, size: int, place: int, width: int,
    signs: I64s, made: U8s, at: int,
) -> int:  # fmt: skip
    """Write some texts of a row that follow one another."""
    for i in range(place, place + width):
        if i > place:
            at = _put(every, signs[0], signs[1], made, at)
        if i < low:
            at = _put(every, signs[2], signs[3], made, at)
        elif i >= low + size:
            at = _put(every, signs[4], signs[5], made, at)
        else:
            at = _put(every, begins[i], sizes[i], made, at)
    return at


def _put(every: U8s, begin: int, size: int, made: U8s, at: int) -> int:
    return lay(every, begin, size, made, at) if len(made) else at + size
