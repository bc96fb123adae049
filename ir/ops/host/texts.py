"""Host steps on tensors of texts: split, join, compare with patterns, count words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...families import NUMBER, expect
from ...host import HostOp, one_of
from ...op import Array, register
from ...types.dims import Dim
from ...types.dtypes import DType, bool_, f32, i64, string
from ...types.shapes import broadcast
from ...types.tensor import TensorSpec, spec_of_array


def expect_text(*specs: TensorSpec) -> None:
    """Raise `TypeError` unless the elements are texts."""
    for spec in specs:
        if not spec.dtype.is_text:
            raise TypeError(f"element type {spec.dtype}, expected {string}")


def each(function: Callable[..., Any], dtype: DType, *xs: Array) -> Array:
    """Return what a function gives for each element of arrays, broadcast."""
    spread = np.broadcast_arrays(*xs)
    made = np.empty(spread[0].shape, dtype.numpy)
    for place in np.ndindex(made.shape):
        made[place] = function(*(x[place] for x in spread))
    return made


@register
class TextConcat(HostOp):
    """Two texts behind each other, element by element."""

    name = "gv.text_concat"

    @classmethod
    def infer(cls, a: TensorSpec, b: TensorSpec) -> Sequence[TensorSpec]:
        """Return the shape that both broadcast to."""
        expect_text(a, b)
        return (TensorSpec(string, broadcast(a.dims, b.dims)),)

    @classmethod
    def evaluate(cls, a: Array, b: Array) -> Sequence[Array]:
        """Join."""
        return (each(lambda x, y: f"{x}{y}", string, a, b),)


@register
class TextMatch(HostOp):
    """Whether a regular expression describes the whole of each text."""

    name = "gv.text_match"

    @classmethod
    def infer(cls, x: TensorSpec, *, pattern: str) -> Sequence[TensorSpec]:
        """Return flags, or raise `TypeError` for a pattern that is none."""
        expect_text(x)
        compiled(pattern)
        return (x.with_dtype(bool_),)

    @classmethod
    def evaluate(cls, x: Array, *, pattern: str) -> Sequence[Array]:
        """Match."""
        found = compiled(pattern)
        return (each(lambda text: found.fullmatch(text) is not None, bool_, x),)


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern that can be matched, or raise `TypeError`."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise TypeError(f"pattern {pattern!r} is no regular expression: {error}") from error


@register
class TextSplit(HostOp):
    """The parts of each text on a new last axis, filled up with empty texts; and their number.

    Without a delimiter any white space parts. At most `limit` times if that is not negative.
    """

    name = "gv.text_split"

    @classmethod
    def infer(
        cls, x: TensorSpec, *, sizes: tuple[Dim, ...], delimiter: str = "", limit: int = -1
    ) -> Sequence[TensorSpec]:
        """Return the parts, and the counts."""
        expect_text(x)
        return (x.with_shape((*x.dims, one_of(sizes))), x.with_dtype(i64))

    @classmethod
    def evaluate(
        cls, x: Array, *, sizes: Any = (), delimiter: str = "", limit: int = -1
    ) -> Sequence[Array]:
        """Split."""
        parts = [text.split(delimiter or None, limit) for text in x.ravel()]
        table = filled_up(parts, "")
        counts = np.array([len(words) for words in parts], np.int64)
        return (table.reshape(*x.shape, table.shape[1]), counts.reshape(x.shape))


@register
class TextWords(HostOp):
    """The parts of each text that a pattern describes, on a new last axis, filled up with a text.

    Parts of fewer than `least` characters are left out; with `mark`, one part stands before all
    others and one behind them.
    """

    name = "gv.text_words"

    @classmethod
    def infer(
        cls, x: TensorSpec, *, sizes: tuple[Dim, ...], pattern: str, least: int = 1,
        fill: str = "", mark: bool = False,
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return the parts, or raise `TypeError` for a pattern that is none."""
        expect_text(x)
        compiled(pattern)
        if least < 1:
            raise TypeError(f"parts of at least {least} characters, expected 1 or more")
        return (x.with_shape((*x.dims, one_of(sizes))),)

    @classmethod
    def evaluate(
        cls, x: Array, *, pattern: str, sizes: Any = (), least: int = 1, fill: str = "",
        mark: bool = False,
    ) -> Sequence[Array]:  # fmt: skip
        """Find them."""
        found = compiled(pattern)
        rows = [
            [word for word in (match.group() for match in found.finditer(text))
             if len(word) >= least]
            for text in x.ravel()
        ]  # fmt: skip
        if mark:
            rows = [[START, *words, END] for words in rows]
        table = filled_up(rows, fill)
        return (table.reshape(*x.shape, table.shape[1]),)


START, END = "\x02", "\x03"
"""What stands before the words of a text, and behind them."""


def filled_up(rows: Sequence[Sequence[str]], fill: str) -> Array:
    """Return rows of texts as a table, with a text where a row is shorter than the longest."""
    most = max(map(len, rows), default=0)
    table = np.full((len(rows), most), fill, object)
    for place, words in zip(table, rows, strict=True):
        place[: len(words)] = words
    return table


CASES: Mapping[str, Callable[[str], str]] = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}


@register
class TextNormalize(HostOp):
    """Texts in one case, without those to be left out.

    The operand is a vector, or one row. If no text is left, the result is an empty one. No text is
    taken apart: one that has a word to be left out beside others stays, and so does an empty one.
    """

    name = "gv.text_normalize"

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        sizes: tuple[Dim, ...],
        case: str = "NONE",
        stopwords: tuple[str, ...] = (),
        exact: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return another number of texts; `exact` tells those of two cases apart."""
        expect_text(x)
        if case not in CASES:
            raise TypeError(f"case {case!r}, expected one of {', '.join(CASES)}")
        if x.rank not in (1, 2) or (x.rank == 2 and x.dims[0] != 1):
            raise TypeError(f"{x}, expected a vector or one row")
        return (x.with_shape((*x.dims[:-1], one_of(sizes))),)

    @classmethod
    def evaluate(
        cls, x: Array, *, sizes: Any = (), case: str = "NONE", stopwords: Any = (),
        exact: bool = False,
    ) -> Sequence[Array]:  # fmt: skip
        """Leave texts out, change the case."""
        change = CASES[case]
        alike = str if exact else str.upper if case == "UPPER" else str.lower
        out = set(map(alike, stopwords))
        found = [change(text) for text in x.ravel() if alike(text) not in out] or [""]
        made = np.array(found, object)
        return (made.reshape(*x.shape[:-1], len(found)),)


@register
class TextOfNumbers(HostOp):
    """Each number as a text."""

    name = "gv.text_of_numbers"

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return texts."""
        return (x.with_dtype(string),)

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Write the shortest text that reads back as the number."""
        return (each(spelled, string, x),)


def spelled(number: Any) -> str:
    """Return a number as a text: integers in digits, floats as short as they read back."""
    if isinstance(number, bool | np.bool_):
        return "1" if number else "0"
    if isinstance(number, np.integer):
        return str(int(number))
    if not np.isfinite(number):
        return {True: "NaN"}.get(bool(np.isnan(number)), "INF" if number > 0 else "-INF")
    text = str(number)
    return text.removesuffix(".0")


@register
class NumbersOfText(HostOp):
    """Each text as a number."""

    name = "gv.numbers_of_text"

    @classmethod
    def infer(cls, x: TensorSpec, *, dtype: DType) -> Sequence[TensorSpec]:
        """Return numbers."""
        expect_text(x)
        expect(TensorSpec(dtype, ()), NUMBER)
        return (x.with_dtype(dtype),)

    @classmethod
    def evaluate(cls, x: Array, *, dtype: DType) -> Sequence[Array]:
        """Read each text, or raise `ValueError`."""
        read: Callable[[str], Any] = int if dtype.is_integer else float
        wide = each(read, string, x)
        return (wide.astype(np.float64 if dtype.is_float else np.int64).astype(dtype.numpy),)


@register
class Lookup(HostOp):
    """For each element the value that stands beside its key, or a default."""

    name = "gv.lookup"

    @classmethod
    def infer(
        cls, x: TensorSpec, *, keys: Array, values: Array, default: Array
    ) -> Sequence[TensorSpec]:
        """Return the values' element type."""
        if keys.shape != values.shape or keys.ndim != 1:
            raise TypeError(f"{keys.size} keys for {values.size} values")
        if (keys.dtype == object) != x.dtype.is_text:
            raise TypeError(f"elements of type {x.dtype}, keys are {keys.dtype}")
        if values.dtype == object:
            return (x.with_dtype(string),)
        return (x.with_dtype(spec_of_array(values).dtype),)

    @classmethod
    def evaluate(cls, x: Array, *, keys: Array, values: Array, default: Array) -> Sequence[Array]:
        """Look up; a NaN is found as a key."""
        return cls.ready(keys=keys, values=values, default=default)(x)

    @classmethod
    def ready(cls, **attributes: Any) -> Callable[..., Sequence[Array]]:
        """Return what looks up, with a table that is made once."""
        keys, values, default = (attributes[name] for name in ("keys", "values", "default"))
        dense = in_a_row(keys, values, default)
        names = [*map(_key, keys.tolist())] if keys.dtype.kind == "f" else keys.tolist()
        table = dict(zip(names, values, strict=True))
        other = default.reshape(-1)[0]

        def found(x: Array) -> Sequence[Array]:
            if dense is not None and x.size > FEW:
                return (dense(x),)
            plain = x.ravel().tolist()
            asked = [*map(_key, plain)] if x.dtype.kind == "f" else plain
            made = np.empty(x.size, values.dtype)
            made[:] = [table.get(each, other) for each in asked]
            return (made.reshape(x.shape),)

        return found


FEW = 8
"""So many elements are looked up one by one."""
SPARSE = 4
"""Numbers between the least key and the largest for each key, at the most, for a list of all."""


def in_a_row(keys: Array, values: Array, default: Array) -> Callable[[Array], Array] | None:
    """Return what takes values by their places, where keys are numbers close to each other."""
    if keys.dtype.kind != "i" or keys.size == 0:
        return None
    low, high = int(keys.min()) - 1, int(keys.max()) + 1
    if high - low > SPARSE * keys.size + SPARSE or low < -(1 << 62) or high > 1 << 62:
        return None
    row = np.full(high - low + 1, default.reshape(-1)[0], values.dtype)
    for key, value in zip(keys.tolist(), values, strict=True):
        row[key - low] = value

    def taken(x: Array) -> Array:
        inside: Array = np.minimum(np.maximum(x.astype(np.int64, copy=False), low), high)
        return row.take(inside - low)

    return taken


def _key(value: float) -> Any:
    return "nan" if np.isnan(value) else value


@register
class CountGrams(HostOp):
    """How often each of some sequences of words stands in a row, also with gaps.

    `pool` holds the sequences of one word, of two, and so on, one behind the other;
    `counts` says where those of each length begin. `places` is where in the result each sequence
    is counted. Modes: `TF` (counts), `IDF` (the weight where it occurs), `TFIDF` (both).
    """

    name = "gv.count_grams"

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        pool: Array,
        counts: tuple[int, ...],
        places: tuple[int, ...],
        lengths: tuple[int, int],
        skips: int,
        mode: str,
        weights: Array,
    ) -> Sequence[TensorSpec]:
        """Return one row of counts for each row of words."""
        if mode not in ("TF", "IDF", "TFIDF"):
            raise TypeError(f"mode {mode!r}, expected TF, IDF or TFIDF")
        if x.rank > 2 or (pool.dtype == object) != x.dtype.is_text:
            raise TypeError(f"{x} for sequences of {pool.dtype}")
        return (TensorSpec(f32, (*x.dims[:-1], max(places, default=-1) + 1)),)

    @classmethod
    def evaluate(
        cls, x: Array, *, pool: Array, counts: Any, places: Any, lengths: Any, skips: int,
        mode: str, weights: Array,
    ) -> Sequence[Array]:  # fmt: skip
        """Look at every place with every gap."""
        known = dict(zip(grams(pool.tolist(), counts), places, strict=False))
        rows = x.reshape(-1, x.shape[-1]) if x.ndim else x.reshape(1, 1)
        made = np.zeros((len(rows), max(places, default=-1) + 1), np.float32)
        for row, words in zip(made, rows.tolist(), strict=True):
            for gram in seen(words, lengths, skips):
                if gram in known:
                    row[known[gram]] += 1
        if mode == "IDF":
            made = (made > 0).astype(np.float32)
        if mode != "TF" and weights.size:
            scale = np.ones(made.shape[-1], np.float32)
            scale[np.asarray(places, np.int64)] = weights
            made = made * scale
        return (made.reshape(*x.shape[:-1], made.shape[-1]),)


def grams(pool: Sequence[Any], counts: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Give the sequences in a pool, those of one word first."""
    for length, (start, end) in enumerate(zip(counts, (*counts[1:], len(pool)), strict=True), 1):
        for at in range(start, end - length + 1, length):
            yield tuple(pool[at : at + length])


def seen(words: Sequence[Any], lengths: Sequence[int], skips: int) -> Iterator[tuple[Any, ...]]:
    """Give all sequences of some lengths with gaps of up to `skips`; single words only once."""
    shortest, longest = lengths
    for length in range(shortest, longest + 1):
        for gap in range(1, 2 if length == 1 else skips + 2):
            for start in range(len(words) - gap * (length - 1)):
                yield tuple(words[start : start + gap * (length - 1) + 1 : gap])
