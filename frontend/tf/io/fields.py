"""Lines of text cut into fields, one line behind the other."""

from __future__ import annotations

from ....codegen.serial.function import I64s, U8s, serial

QUOTE, LINE, RETURN = b'"\n\r'


@serial
def cut_fields(
    every: U8s, sizes: I64s, delimiter: int, has_quotes: int, missing: U8s, columns: I64s,
    is_whole: int, made: U8s, begins: I64s, widths: I64s,
) -> int:  # fmt: skip
    """Cut lines into the fields of columns; say whether each line has them, and is plain.

    `columns` says which column each field is, -1 for one that is not wanted. A line that is taken
    whole has no others. Of fields that are as `missing` nothing is left. Where the fields of a
    column are in `made` stands in a row of `begins` and `widths`.
    """
    start, at = 0, 0
    for i in range(len(sizes)):
        place, end, number = start, start + sizes[i], 0
        start = end
        while place < end and (is_whole or number < len(columns)):
            if every[place] == LINE or every[place] == RETURN:
                place += 1
                continue
            first = at
            if has_quotes:
                place, at = _of_quotes(every, place, end, delimiter, made, at)
            else:
                place, at = _until(every, place, end, delimiter, made, at)
            if place < 0:
                return 0
            if number < len(columns) and columns[number] >= 0:
                k = columns[number] * len(sizes) + i
                begins[k] = first
                widths[k] = 0 if _is(made, first, at, missing) else at - first
            number, place = number + 1, place + 1
        if sizes[i] > 0 and place == end and every[end - 1] == delimiter:
            if number < len(columns) and columns[number] >= 0:
                begins[columns[number] * len(sizes) + i] = at
                widths[columns[number] * len(sizes) + i] = 0
            number += 1
        if number < len(columns) or (is_whole and number > len(columns)):
            return 0
    return 1


def _of_quotes(
    every: U8s, place: int, end: int, delimiter: int, made: U8s, at: int
) -> tuple[int, int]:
    """Copy a field that may be between quotes; return both ends, -1 if a quote is out of place."""
    if every[place] != QUOTE:
        first = at
        place, at = _until(every, place, end, delimiter, made, at)
        for i in range(first, at):
            if made[i] == QUOTE:
                return -1, at
        return place, at
    place += 1
    while place < end:
        if every[place] == QUOTE:
            place += 1
            if place == end or every[place] != QUOTE:
                return place if place == end or every[place] == delimiter else -1, at
        made[at] = every[place]
        at, place = at + 1, place + 1
    return -1, at


def _until(every: U8s, place: int, end: int, delimiter: int, made: U8s, at: int) -> tuple[int, int]:
    """Copy what stands before a delimiter or the end; return both ends, -1 at an end of a line."""
    while place < end and every[place] != delimiter:
        if every[place] == LINE or every[place] == RETURN:
            return -1, at
        made[at] = every[place]
        at, place = at + 1, place + 1
    return place, at


def _is(made: U8s, first: int, end: int, text: U8s) -> bool:
    """Say whether some bytes are a text."""
    at = 0
    while at < len(text) and first + at < end and made[first + at] == text[at]:
        at += 1
    return bool(at == len(text) and first + at == end)
