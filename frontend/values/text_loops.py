"""What goes through the bytes of many texts, one behind the other."""

from __future__ import annotations

from ...codegen.serial.function import (
    F64s,
    Flags,
    I32s,
    I64s,
    U8s,
    U64s,
    Word,
    little,
    put_little,
    serial,
)

FACTOR, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
WORD = 8
"""So many bytes are copied at once."""
ZERO, POINT, EQUALS, MINUS, PLUS = b"0.=-+"
BEGINS, CONTINUES = 0b11000000, 0b10000000
"""The first two bits of a byte of UTF-8, and what they are if it is not its character's first."""


def lay(source: U8s, begin: int, size: int, target: U8s, at: int) -> int:
    """Copy bytes, and return where they end: what is behind them is to be written later."""
    i = 0
    while i < size:
        if begin + i + WORD <= len(source) and at + i + WORD <= len(target):
            put_little(target, at + i, WORD, little(source, begin + i, WORD))
            i += WORD
        else:
            target[at + i] = source[begin + i]
            i += 1
    return at + size


@serial
def lay_all(source: U8s, begins: I64s, sizes: I64s, target: U8s) -> int:
    """Lay parts of some bytes one behind the other."""
    at = 0
    for i in range(len(begins)):
        at = lay(source, begins[i], sizes[i], target, at)
    return at


@serial
def strip(every: U8s, begins: I64s, sizes: I64s) -> int:
    """Leave the white space at both ends of texts out; return how many bytes are left."""
    at, left = 0, 0
    for i in range(len(sizes)):
        begin, end = at, at + sizes[i]
        at = end
        while begin < end and _is_white(every, begin):
            begin += 1
        while begin < end and _is_white(every, end - 1):
            end -= 1
        begins[i], sizes[i] = begin, end - begin
        left += end - begin
    return left


def _is_white(every: U8s, at: int) -> bool:
    x = int(every[at])
    return x == 32 or (x >= 9 and x <= 13)


@serial
def lay_chosen(
    source: U8s, begins: I64s, sizes: I64s, order: I64s, widths: I64s, target: U8s
) -> int:
    """Lay parts of some bytes one behind the other, by their numbers."""
    at = 0
    for i in range(len(order)):
        widths[i] = sizes[order[i]]
        at = lay(source, begins[order[i]], widths[i], target, at)
    return at


@serial
def lay_either(holds: Flags, one: U8s, sizes: I64s, other: U8s, others: I64s, target: U8s) -> int:
    """Lay each text or, where it does not hold, the other one of its place; return where they end.

    Both lie one behind the other; the target has room for all of them. The sizes become those of
    what is laid.
    """
    at, here, there = 0, 0, 0
    for i in range(len(sizes)):
        size = sizes[i]
        if holds[i]:
            at = lay(one, here, size, target, at)
        else:
            sizes[i] = others[i]
            at = lay(other, there, sizes[i], target, at)
        here += size
        there += others[i]
    return at


@serial
def lay_groups(
    source: U8s, begins: I64s, sizes: I64s, count: int, target: U8s, widths: I64s
) -> int:
    """Lay parts of some bytes one behind the other, each so many as one; return where they end."""
    at = 0
    for i in range(len(widths)):
        start = at
        for k in range(i * count, (i + 1) * count):
            at = lay(source, begins[k], sizes[k], target, at)
        widths[i] = at - start
    return at


@serial
def different(every: U8s, begins: I64s, sizes: I64s, table: I32s, first: I64s, places: I32s) -> int:
    """Say which different text each is; return how many, of which the first ones are noted.

    The table has room for twice as many, and no entries.
    """
    count = 0
    for i in range(len(sizes)):
        at = int(_mixed(every, begins[i], sizes[i]) >> 32) & len(table) - 1
        while table[at] >= 0 and not _are(every, begins, sizes, first[table[at]], i):
            at = at + 1 & len(table) - 1
        if table[at] < 0:
            table[at], first[count] = count, i
            count += 1
        places[i] = table[at]
    return count


@serial
def enter(every: U8s, sizes: I64s, entries: U64s, table: I32s) -> int:
    """Enter texts that differ in a table of no entries with room for twice as many.

    An entry is where a text begins and its mark; the last one is where the texts end.
    """
    begin = 0
    for i in range(len(sizes)):
        mark = _mixed(every, begin, sizes[i])
        at = int(mark >> 32) & len(table) - 1
        while table[at] >= 0:
            at = at + 1 & len(table) - 1
        table[at], entries[2 * i], entries[2 * i + 1] = i, begin, mark
        begin += sizes[i]
    entries[2 * len(sizes)] = begin
    return begin


@serial
def look_up(known: U8s, entries: U64s, table: I32s, every: U8s, sizes: I64s, places: I64s) -> int:
    """Say which text of a table each of some others is, one more than there are if it is none.

    Return how many are none.
    """
    start, missing = 0, 0
    for i in range(len(sizes)):
        size = sizes[i]
        mark = _mixed(every, start, size)
        at = int(mark >> 32) & len(table) - 1
        while table[at] >= 0 and not (
            entries[2 * table[at] + 1] == mark
            and _is_known(known, entries, table[at], every, start, size)
        ):
            at = at + 1 & len(table) - 1
        places[i] = table[at] if table[at] >= 0 else len(entries) // 2
        missing += 1 if table[at] < 0 else 0
        start += size
    return missing


def _is_known(known: U8s, entries: U64s, place: int, every: U8s, start: int, size: int) -> bool:
    """Say whether a text is that of a place in a table, which has the same mark."""
    begin, end = int(entries[2 * place]), int(entries[2 * place + 2])
    if end - begin != size:
        return False
    return size <= WORD or _same(known, begin, size, every, start, size)


@serial
def enter_numbers(numbers: I64s, table: I32s) -> int:
    """Enter numbers that differ in a table of no entries with room for twice as many."""
    for i in range(len(numbers)):
        at = int(_scattered(numbers[i])) & len(table) - 1
        while table[at] >= 0:
            at = at + 1 & len(table) - 1
        table[at] = i
    return len(numbers)


@serial
def look_numbers_up(known: I64s, table: I32s, numbers: I64s, places: I64s) -> int:
    """Say which number of a table each of some others is, as `look_up` does of texts."""
    missing = 0
    for i in range(len(numbers)):
        at = int(_scattered(numbers[i])) & len(table) - 1
        while table[at] >= 0 and known[table[at]] != numbers[i]:
            at = at + 1 & len(table) - 1
        places[i] = table[at] if table[at] >= 0 else len(known)
        missing += 1 if table[at] < 0 else 0
    return missing


def _scattered(number: int) -> Word:
    """Return a number that is far from that for the next one."""
    made: Word = number
    made = made * FACTOR & MASK
    return made >> 32


def _mixed(every: U8s, begin: int, size: int) -> Word:
    """Return a number for a text that others seldom have, and no other of its size up to a word."""
    made: Word = size
    for at in range(0, size, WORD):
        made = (made ^ _word(every, begin + at, size - at)) * FACTOR & MASK
        made ^= made >> 32
    return made * FACTOR & MASK


def _word(every: U8s, at: int, left: int) -> Word:
    """Return the next bytes as a number, eight at most."""
    made: Word = 0
    if at + WORD <= len(every):
        made = little(every, at, WORD)
        return made & MASK >> 8 * (WORD - min(left, WORD))
    for i in range(min(left, WORD)):
        made |= int(every[at + i]) << 8 * i
    return made


def _are(every: U8s, begins: I64s, sizes: I64s, one: int, other: int) -> bool:
    """Say whether two texts are the same."""
    return _same(every, begins[one], sizes[one], every, begins[other], sizes[other])


def _same(every: U8s, a: int, size: int, others: U8s, b: int, width: int) -> bool:
    """Say whether two texts of two rows are the same."""
    if width != size:
        return False
    at = 0
    while at < size and _word(every, a + at, size - at) == _word(others, b + at, size - at):
        at += WORD
    return bool(at >= size)


@serial
def code(every: U8s, sizes: I64s, signs: U8s, pads: int, made: U8s, widths: I64s) -> int:
    """Write texts in base 64, filled up or not; return how many bytes that takes."""
    begin, at = 0, 0
    for i in range(len(sizes)):
        start, end = at, begin + sizes[i]
        while begin + 3 <= end:
            one, two, three = int(every[begin]), int(every[begin + 1]), int(every[begin + 2])
            made[at], made[at + 1] = signs[one >> 2], signs[(one & 3) << 4 | two >> 4]
            made[at + 2], made[at + 3] = signs[(two & 15) << 2 | three >> 6], signs[three & 63]
            begin, at = begin + 3, at + 4
        if begin < end:
            one, two = int(every[begin]), int(every[begin + 1]) if begin + 2 == end else 0
            made[at], made[at + 1] = signs[one >> 2], signs[(one & 3) << 4 | two >> 4]
            at += 2
            if begin + 2 == end:
                made[at] = signs[(two & 15) << 2]
                at += 1
            for _ in range(4 - (at - start) % 4 if pads else 0):
                made[at] = EQUALS
                at += 1
        begin, widths[i] = end, at - start
    return at


@serial
def decode(every: U8s, sizes: I64s, values: U8s, made: U8s, widths: I64s) -> int:
    """Read texts of base 64, filled up or not; return where they end, -1 if some are none.

    `values` is what each byte stands for, more than 63 for those that stand for nothing.
    """
    begin, at = 0, 0
    for i in range(len(sizes)):
        start, end = at, begin + sizes[i]
        last = end
        while last > begin and every[last - 1] == EQUALS:
            last -= 1
        if (last - begin) % 4 == 1 or (last < end and ((end - begin) % 4 or end - last > 2)):
            return -1
        bits, held = 0, 0
        for place in range(begin, last):
            value = int(values[every[place]])
            if value > 63:
                return -1
            held, bits = (held << 6 | value) & 0xFFFF, bits + 6
            if bits >= 8:
                bits -= 8
                made[at] = held >> bits & 255
                at += 1
        begin, widths[i] = end, at - start
    return at


@serial
def read_whole(every: U8s, sizes: I64s, most: int, made: I64s) -> int:
    """Read whole numbers of few digits; say whether there is nothing else."""
    at = 0
    for i in range(len(sizes)):
        whole, end = 0, at + sizes[i]
        is_negative = at < end and every[at] == MINUS
        if is_negative or (at < end and every[at] == PLUS):
            at += 1
        if at == end or end - at > most:
            return 0
        while at < end:
            digit = int(every[at]) - ZERO
            if digit < 0 or digit > 9:
                return 0
            whole = whole * 10 + digit
            at += 1
        made[i] = -whole if is_negative else whole
    return 1


@serial
def count_characters(every: U8s, sizes: I64s, made: I64s) -> int:
    """Count the bytes of each text that begin a character."""
    at = 0
    for i in range(len(sizes)):
        count = 0
        for place in range(at, at + sizes[i]):
            count += 1 if int(every[place]) & BEGINS != CONTINUES else 0
        made[i] = count
        at += sizes[i]
    return at


def _character(every: U8s, at: int, end: int, number: int) -> int:
    """Return where a character begins, the end for one more than there are; -1: there are fewer."""
    left = number
    while at < end:
        if int(every[at]) & BEGINS != CONTINUES:
            if left == 0:
                return at
            left -= 1
        at += 1
    return at if left == 0 else -1


@serial
def part_of_characters(
    every: U8s, sizes: I64s, places: I64s, counts: I64s, made: U8s, widths: I64s
) -> int:
    """Cut so many characters out of each text, as `part` does bytes; of fewer than none, none."""
    begin, at = 0, 0
    for i in range(len(sizes)):
        end = begin + sizes[i]
        start = places[i] if len(places) > 1 else places[0]
        count = counts[i] if len(counts) > 1 else counts[0]
        if start < 0:
            for place in range(begin, end):
                start += 1 if int(every[place]) & BEGINS != CONTINUES else 0
        first = _character(every, begin, end, start) if start >= 0 else -1
        if first < 0:
            return i - len(sizes)
        last = _character(every, first, end, max(count, 0))
        last = end if last < 0 else last
        at = lay(every, first, last - first, made, at)
        widths[i] = last - first
        begin = end
    return at


@serial
def replace(every: U8s, sizes: I64s, kinds: U8s, new: U8s, most: int, made: U8s) -> int:
    """Replace bytes of some kind, each or all in a row; sizes become those of what is made.

    A byte of kind 0 stays, one of kind 2 goes with those of that kind behind it. In each text it
    is done so often, if `most` is not 0.
    """
    begin, at = 0, 0
    for i in range(len(sizes)):
        start, end, left = at, begin + sizes[i], most
        while begin < end:
            kind = int(kinds[every[begin]])
            if kind == 0 or (most > 0 and left == 0):
                made[at] = every[begin]
                at, begin = at + 1, begin + 1
            else:
                for place in range(len(new)):
                    made[at + place] = new[place]
                at, begin, left = at + len(new), begin + 1, left - 1
                while kind == 2 and begin < end and kinds[every[begin]] == 2:
                    begin += 1
        sizes[i] = at - start
    return at


@serial
def lay_runs(source: U8s, begins: I64s, sizes: I64s, runs: I64s, signs: int, target: U8s) -> int:
    """Lay parts of some bytes one behind the other, with a sign between those of a run.

    The last `signs` bytes are the sign; how many a run has becomes how many bytes it takes.
    """
    at, k = 0, 0
    for i in range(len(runs)):
        start = at
        for number in range(runs[i]):
            if number > 0:
                at = lay(source, len(source) - signs, signs, target, at)
            at = lay(source, begins[k], sizes[k], target, at)
            k += 1
        runs[i] = at - start
    return at


@serial
def read(every: U8s, sizes: I64s, tens: F64s, made: F64s) -> int:
    """Read digits, with a point and a sign or without; say whether there is no more than that."""
    at = 0
    for i in range(len(sizes)):
        whole, digits, behind, end = 0, 0, -1, at + sizes[i]
        if sizes[i] >= len(tens):
            return 0
        sign = 1.0
        if at < end and every[at] == MINUS:
            sign = -1.0
            at += 1
        while at < end:
            digit = int(every[at]) - ZERO
            if 0 <= digit <= 9:
                whole = whole * 10 + digit
                digits += 1
                if behind >= 0:
                    behind += 1
            elif digit == POINT - ZERO and behind < 0:
                behind = 0
            else:
                return 0
            at += 1
        if digits == 0:
            return 0
        made[i] = sign * (whole / tens[max(behind, 0)])
    return 1


@serial
def spell(numbers: U64s, negative: Flags, behind: int, made: U8s, sizes: I64s) -> int:
    """Write numbers, of which so many digits stand behind a point; return where they end."""
    at = 0
    for i in range(len(numbers)):
        start, left, count = at, numbers[i], 1
        rest: Word = left // 10
        while rest > 0:
            rest //= 10
            count += 1
        count = max(count, behind + 1)
        if negative[i]:
            made[at] = MINUS
            at += 1
        end = at + count + (1 if behind else 0)
        for place in range(count):
            if behind and place == behind:
                made[end - 1 - place] = POINT
            above: Word = left // 10
            made[end - 1 - place - (1 if behind and place >= behind else 0)] = (
                left - above * 10 + ZERO
            )
            left = above
        at = end
        sizes[i] = at - start
    return at


@serial
def part(every: U8s, sizes: I64s, places: I64s, counts: I64s, made: U8s, widths: I64s) -> int:
    """Cut so many bytes out of each text from a place on, which may be counted from its end.

    Of fewer than none all that follow are meant. Return where the parts end, or for the first
    text that has no such place its number, less all there are.
    """
    begin, at = 0, 0
    for i in range(len(sizes)):
        start = places[i] if len(places) > 1 else places[0]
        count = counts[i] if len(counts) > 1 else counts[0]
        if start < -sizes[i] or start > sizes[i]:
            return i - len(sizes)
        start += sizes[i] if start < 0 else 0
        left = sizes[i] - start
        count = left if count < 0 or count > left else count
        at = lay(every, begin + start, count, made, at)
        widths[i] = count
        begin += sizes[i]
    return at


@serial
def fit(every: U8s, sizes: I64s, table: I32s, fits: Flags, made: Flags) -> int:
    """Say which texts lead from state 1 to a state that fits, by a table of 128 each; 0 is none."""
    start = 0
    for i in range(len(sizes)):
        state, place, end = 1, start, start + sizes[i]
        start = end
        while place < end and state > 0:
            state = table[state * 128 + every[place]]
            place += 1
        made[i] = fits[state]
    return start
