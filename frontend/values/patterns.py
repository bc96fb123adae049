r"""Patterns as TensorFlow takes them, in RE2's syntax, as patterns of Python's.

RE2 sees characters of UTF-8; bytes that are none stand here for themselves (`surrogateescape`) and
fit nothing. Otherwise than in Python `\d`, `\s`, `\w` and `\b` are of ASCII, `$` is the end and
nothing before it, flags may stand anywhere and hold to the end of their group, and there are
`[[:alpha:]]`, `\pL`, `\z`, `\Q...\E` and `(?U)`, but nothing that looks around.
"""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from ...ir.op import Array

TOP = sys.maxunicode
STRANGE = (0xDC80, 0xDCFF)
"""What stands for bytes that are no characters."""
Ranges = list[tuple[int, int]]
"""Characters, from the first to the last of each range."""


def _of(text: str) -> Ranges:
    return [(ord(x), ord(x)) for x in text]


DIGITS, LOWER, UPPER = (48, 57), (97, 122), (65, 90)
NAMED: dict[str, Ranges] = {
    "alnum": [DIGITS, UPPER, LOWER],
    "alpha": [UPPER, LOWER],
    "ascii": [(0, 127)],
    "blank": _of("\t "),
    "cntrl": [(0, 31), (127, 127)],
    "digit": [DIGITS],
    "graph": [(33, 126)],
    "lower": [LOWER],
    "print": [(32, 126)],
    "punct": _of(string.punctuation),
    "space": _of("\t\n\v\f\r "),
    "upper": [UPPER],
    "word": [DIGITS, UPPER, LOWER, (95, 95)],
    "xdigit": [DIGITS, (65, 70), (97, 102)],
}
SHORT: dict[str, Ranges] = {"d": [DIGITS], "s": _of("\t\n\f\r "), "w": NAMED["word"]}
CONTROLS = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
BOUNDS = {"b": r"(?a:\b)", "B": r"(?a:\B)", "A": r"\A", "z": r"\Z"}


class PatternError(ValueError):
    """What is given is no pattern."""


def others(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return all characters that are not in ranges."""
    made, at = [], 0
    for first, last in sorted([*ranges, STRANGE]):
        if first > at:
            made.append((at, first - 1))
        at = max(at, last + 1)
    return [*made, (at, TOP)] if at <= TOP else made


@cache
def _kinds() -> Sequence[str]:
    return [unicodedata.category(chr(i)) for i in range(TOP + 1)]


@cache
def of_kind(name: str) -> tuple[tuple[int, int], ...]:
    """Return the characters of a kind by Unicode, as `L` and `Lu` are."""
    if name == "Any":
        return ((0, TOP),)
    made: Ranges = []
    for i, kind in enumerate(_kinds()):
        if kind.startswith(name):
            if made and made[-1][1] == i - 1:
                made[-1] = (made[-1][0], i)
            else:
                made.append((i, i))
    if not name or not made:
        raise PatternError(f"invalid character class range: \\p{{{name}}}")
    return tuple(made)


def _spelt(character: int) -> str:
    """Return a character as patterns that are written into files have it."""
    return re.escape(chr(character)) if character < 128 else f"\\U{character:08x}"


def _class(ranges: Ranges, *, negated: bool, folds: bool = False) -> str:
    """Return a class of Python's; of one that is negated, what is in it may be of either case."""
    if negated and folds:
        return f"[^{_spelt_ranges([*ranges, STRANGE])}]"
    if negated:
        ranges = others(ranges)
    return f"[{_spelt_ranges(ranges)}]" if ranges else r"(?!)"


def _spelt_ranges(ranges: Ranges) -> str:
    return "".join(_spelt(a) + ("" if a == b else "-" + _spelt(b)) for a, b in ranges)


@dataclass(frozen=True)
class Flags:
    """What holds from a place on to the end of its group."""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


@dataclass
class OpenGroup:
    """A group that is open: its flags before it, and where one of its own made a group of ours."""

    flags: Flags
    opened: int = 0


@dataclass
class PatternReader:
    """Reads a pattern from its first character on, and writes Python's."""

    given: str
    at: int = 0
    flags: Flags = field(default_factory=Flags)
    groups: list[OpenGroup] = field(default_factory=lambda: [OpenGroup(Flags())])
    made: list[str] = field(default_factory=list)

    def take(self, text: str) -> bool:
        """Go on behind a text if it comes next."""
        found = self.given.startswith(text, self.at)
        self.at += len(text) * found
        return found

    def next(self) -> str:
        """Return the next character."""
        if self.at >= len(self.given):
            raise PatternError("trailing \\ or missing argument")
        self.at += 1
        return self.given[self.at - 1]

    def until(self, end: str, what: str) -> str:
        """Return what stands before an end, and go on behind it."""
        stop = self.given.find(end, self.at)
        if stop < 0:
            raise PatternError(f"missing {end}: {what}")
        found, self.at = self.given[self.at : stop], stop + len(end)
        return found

    def fits(self, pattern: str) -> re.Match[str] | None:
        """Go on behind what fits, if it comes next."""
        found = re.compile(pattern).match(self.given, self.at)
        self.at = found.end() if found else self.at
        return found

    def number(self, mark: str) -> int | None:
        """Return the character of an escape that means one."""
        if mark in CONTROLS:
            return CONTROLS[mark]
        if mark == "x":
            found = self.fits(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})")
            if found is None or int(found[1] or found[2], 16) > TOP:
                raise PatternError("invalid escape sequence: \\x")
            return int(found[1] or found[2], 16)
        if mark == "0" or (mark in "1234567" and self.fits(r"(?=[0-7])")):
            more = self.fits("[0-7]{0,2}")
            return int(mark + (more[0] if more else ""), 8)
        return None if mark.isalnum() else ord(mark)

    def several(self, mark: str) -> Ranges | None:
        """Return the characters of an escape that means some."""
        if mark.lower() in SHORT:
            found = SHORT[mark.lower()]
            return others(found) if mark.isupper() else found
        if mark not in "pP":
            return None
        name = self.until("}", "\\p") if self.take("{") else self.next()
        kind = of_kind(name.removeprefix("^"))
        return others(kind) if (mark == "P") != name.startswith("^") else [*kind]

    def one_of(self) -> str:
        """Return a class, whose bracket is behind."""
        negated, found = self.take("^"), []
        start = self.at
        while self.at == start or not self.take("]"):
            if named := self.fits(r"\[:(\^?)(\w+):\]"):
                if named[2] not in NAMED:
                    raise PatternError(f"invalid character class range: {named[0]}")
                found += others(NAMED[named[2]]) if named[1] else NAMED[named[2]]
                continue
            first = self.within()
            if isinstance(first, list):
                found += first
                continue
            last = first
            if self.fits(r"-(?!\])"):
                given = self.within()
                if isinstance(given, list) or given < first:
                    raise PatternError(
                        f"invalid character class range: {self.given[start : self.at]}"
                    )
                last = given
            found.append((first, last))
        return _class(found, negated=negated, folds=self.flags.i)

    def within(self) -> int | Ranges:
        """Return the next character of a class, or what an escape means."""
        if self.at >= len(self.given):
            raise PatternError(f"missing ]: {self.given}")
        mark = self.next()
        if mark != "\\":
            return ord(mark)
        mark = self.next()
        found = self.several(mark)
        if found is not None:
            return found
        one = self.number(mark)
        if one is None:
            raise PatternError(f"invalid escape sequence: \\{mark}")
        return one

    def escape(self) -> None:
        """Write what an escape means, whose backslash is behind."""
        mark = self.next()
        if mark in BOUNDS:
            self.made.append(BOUNDS[mark])
        elif mark == "Q":
            stop = self.given.find("\\E", self.at)
            stop = len(self.given) if stop < 0 else stop
            self.made += map(re.escape, self.given[self.at : stop])
            self.at = stop
            self.take("\\E")
        elif (some := self.several(mark)) is not None:
            self.made.append(_class(some, negated=False))
        elif (one := self.number(mark)) is not None:
            self.made.append(_spelt(one))
        else:
            raise PatternError(f"invalid escape sequence: \\{mark}")

    def open(self) -> None:
        """Write the beginning of a group, or take its flags for the rest of the one around it."""
        outer = self.flags
        if not self.take("?"):
            self.made.append("(")
        elif named := self.fits(r"P<([A-Za-z0-9_]+)>"):
            self.made.append(f"(?P<{named[1]}>")
        else:
            given = self.fits("([imsU]*)(-[imsU]+)?([:)])")
            if given is None:
                raise PatternError(f"invalid perl operator: (?{self.given[self.at : self.at + 1]}")
            on = dict.fromkeys(given[1], True) | dict.fromkeys((given[2] or "-")[1:], False)
            self.flags = replace(self.flags, **on)
            if given[3] == ")":
                self.made.append(self.beginning())
                self.groups[-1].opened += 1
                return
            self.made.append(self.beginning())
        self.groups.append(OpenGroup(outer))

    def beginning(self) -> str:
        """Return the beginning of a group of ours that has the flags."""
        return "(?i:" if self.flags.i else "(?-i:"

    def close(self) -> None:
        """Write the end of a group."""
        if len(self.groups) == 1:
            raise PatternError(f"unexpected ): {self.given}")
        group = self.groups.pop()
        self.made.append(")" * (group.opened + 1))
        self.flags = group.flags

    def repeat(self, mark: str) -> None:
        """Write how often something is repeated, as few times as fit where that is asked for."""
        if self.take("+"):
            raise PatternError(f"bad repetition operator: {mark}+")
        few = self.take("?") != self.flags.U
        self.made.append(mark + "?" * few)

    def step(self) -> None:
        """Go on by one part of the pattern."""
        mark = self.next()
        if mark == "{" and (found := self.fits(r"\d+(,\d*)?\}")):
            if max(int(x) for x in re.findall(r"\d+", found[0])) > 1000:
                raise PatternError(f"bad repetition operator: {{{found[0]}")
            self.repeat("{" + found[0])
        elif mark in "*+?":
            self.repeat(mark)
        elif mark in STEPS:
            STEPS[mark](self)
        else:
            self.made.append(re.escape(mark))


def _either(reader: PatternReader) -> None:
    """End one choice and begin the next one, which flags hold for too."""
    opened = reader.groups[-1].opened
    reader.made.append(")" * opened + "|" + reader.beginning() * opened)


STEPS: dict[str, Callable[[PatternReader], None]] = {
    "\\": PatternReader.escape,
    "[": lambda reader: reader.made.append(reader.one_of()),
    "(": PatternReader.open,
    ")": PatternReader.close,
    "|": _either,
    ".": lambda reader: reader.made.append(
        _class([] if reader.flags.s else _of("\n"), negated=True)
    ),
    "^": lambda reader: reader.made.append("(?m:^)" if reader.flags.m else r"\A"),
    "$": lambda reader: reader.made.append("(?m:$)" if reader.flags.m else r"\Z"),
}


@cache
def pattern_of(given: bytes) -> re.Pattern[str]:
    """Return a pattern of RE2's as one of Python's, for text that is decoded as said above."""
    reader = PatternReader(given.decode("utf-8", "surrogateescape"))
    while reader.at < len(reader.given):
        reader.step()
    if len(reader.groups) > 1:
        raise PatternError(f"missing ): {reader.given}")
    try:
        return re.compile("".join(reader.made) + ")" * reader.groups[0].opened)
    except re.error as error:
        raise PatternError(str(error)) from None


def decoded(text: bytes) -> str:
    """Return a text as patterns see it."""
    return text.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Return the bytes of a text."""
    return text.encode("utf-8", "surrogateescape")


ONE_OF = re.compile(r"(\[(?:[^\]\\]|\\.)*\])(\+?)", re.DOTALL)
PLAIN = re.compile(r"(?:\\[^A-Za-z0-9]|[^()\[\]{}?*+|^$\\.])+", re.DOTALL)
ASCII = 128


def one_of(pattern: re.Pattern[str]) -> tuple[list[bool], bool] | None:
    """Return which of ASCII's characters a pattern of one fits, and whether it takes all in a row.

    None: it is another pattern.
    """
    found = ONE_OF.fullmatch(pattern.pattern)
    if found is None:
        return None
    return fitting(found[1]), bool(found[2])


def fitting(spelt: str) -> list[bool]:
    """Return which of ASCII's characters fit one character of a pattern."""
    each = re.compile(spelt)
    return [each.fullmatch(chr(i)) is not None for i in range(ASCII)]


def only_text(pattern: re.Pattern[str]) -> str | None:
    """Return the one text that a pattern fits, None if it is no pattern of that kind."""
    if not PLAIN.fullmatch(pattern.pattern):
        return None
    return re.sub(r"\\(.)", r"\1", pattern.pattern, flags=re.DOTALL)


MOST_STATES = 200
"""A pattern of more takes more time to prepare than it saves."""
PIECE = re.compile(r"(\[(?:[^\]\\]|\\.)*\]|\\[^A-Za-z0-9]|[^()\[\]{}?*+|^$\\.])", re.DOTALL)
GROUP = re.compile(r"\((\?P<\w+>|\?-i:|(?!\?))")
REPEAT = re.compile(r"(?:([*+?])|\{(\d+)(,?)(\d*)\})\??")
TIMES: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class ManyStatesError(ValueError):
    """A pattern is none that a table of states is made of."""


class PatternSteps:
    """What a pattern reads, as steps from place to place, of which some read nothing.

    Each step reads one of some of ASCII's characters.
    """

    def __init__(self, given: str) -> None:
        self.given, self.at = given, 0
        self.reads: list[list[tuple[frozenset[int], int]]] = []
        self.skips: list[list[int]] = []
        self.first, self.last = self.either()
        if self.at < len(given):
            raise ManyStatesError

    def place(self) -> int:
        """Return a new place."""
        if len(self.reads) > 2 * MOST_STATES:
            raise ManyStatesError
        self.reads.append([])
        self.skips.append([])
        return len(self.reads) - 1

    def either(self) -> tuple[int, int]:
        """Read choices up to the end of their group, and return where they begin and end."""
        first, last = self.place(), self.place()
        while True:
            begin, end = self.in_turn()
            self.skips[first].append(begin)
            self.skips[end].append(last)
            if self.given[self.at : self.at + 1] != "|":
                return first, last
            self.at += 1

    def in_turn(self) -> tuple[int, int]:
        """Read what follows one another."""
        first = last = self.place()
        while self.given[self.at : self.at + 1] not in ("", "|", ")"):
            begin, end = self.repeated()
            self.skips[last].append(begin)
            last = end
        return first, last

    def repeated(self) -> tuple[int, int]:
        """Read a piece and how often it is taken: each time it is read anew."""
        start = self.at
        begin, end = self.piece()
        found = REPEAT.match(self.given, self.at)
        if found is None:
            return begin, end
        least, most = TIMES[found[1]] if found[1] else (int(found[2]), int(found[4] or found[2]))
        most = None if found[3] and not found[4] else most
        first = last = self.place()
        for number in range(max(least, 1) if most is None else most):
            self.at = start
            begin, end = self.piece()
            self.skips[last].append(begin)
            if number >= least:
                self.skips[last].append(end)
            last = end
        if most is None:
            self.skips[last].append(begin)
        self.at = found.end()
        return first, last

    def piece(self) -> tuple[int, int]:
        """Read one character of some, or a group."""
        if found := PIECE.match(self.given, self.at):
            self.at = found.end()
            first, last = self.place(), self.place()
            fits = frozenset(i for i, fits in enumerate(fitting(found[1])) if fits)
            self.reads[first].append((fits, last))
            return first, last
        opened = GROUP.match(self.given, self.at)
        if opened is None:
            raise ManyStatesError
        self.at = opened.end()
        made = self.either()
        self.at += 1
        return made

    def reached(self, places: Iterable[int]) -> frozenset[int]:
        """Return what is reached from places without reading."""
        found, left = set[int](), [*places]
        while left:
            place = left.pop()
            if place not in found:
                found.add(place)
                left += self.skips[place]
        return frozenset(found)


@cache
def states_of(pattern: re.Pattern[str]) -> tuple[Array, Array] | None:
    """Return a table of the next state by state and character of ASCII, and which states fit.

    State 0 is that nothing fits any more, 1 is the first. None: there are too many states, or the
    pattern looks at what is around a place.
    """
    given = pattern.pattern.removeprefix(r"\A").removesuffix(r"\Z")
    try:
        steps = PatternSteps(given)
    except ManyStatesError:
        return None
    known = {frozenset[int](): 0, steps.reached([steps.first]): 1}
    table, fits = list[int](), list[bool]()
    for places in (every := [*known]):
        reads = [step for place in places for step in steps.reads[place]]
        for i in range(ASCII):
            found = steps.reached(place for some, place in reads if i in some)
            if found not in known:
                known[found] = len(known)
                every.append(found)
            table.append(known[found])
        fits.append(steps.last in places)
        if len(known) > MOST_STATES:
            return None
    return np.array(table, np.int32), np.array(fits)


def takes_some(pattern: re.Pattern[str]) -> bool:
    """Say whether it is sure that a pattern fits no place between characters."""
    places = (r"\A", r"\Z", r"\b", r"\B", "(?m:")
    return not any(x in pattern.pattern for x in places) and pattern.fullmatch("") is None
