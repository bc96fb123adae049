"""Many texts as one row of bytes: what is done to all of them is done by few steps of numpy.

"ab", "", "cde"     ->     bytes "abcde", sizes 2, 0, 3
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import starmap
from typing import overload

import numpy as np

from ...ir.op import Array
from ...ir.types.dtypes import DType, bool_
from ...ir.types.tensor import TensorSpec
from ...lazy import cached_property
from .dtypes import DTypeLike
from .text_loops import (
    CONTINUES,
    code,
    count_characters,
    decode,
    different,
    fit,
    lay_all,
    lay_chosen,
    lay_either,
    lay_groups,
    lay_runs,
    replace,
    strip,
)

TEXT = DType("string", np.dtype(object), bool_.element, "s", 15)
"""The element type of text, which the IR does not have: such values are only passed on."""
FEW = 64
"""So few texts are faster one by one."""
SELDOM = (b"\xff", b"\xfe", b"\0", b"\1")
"""Bytes that texts seldom have; the first two none of UTF-8."""
BYTES_KEPT = np.array([(1 << 8 * i) - 1 for i in range(9)], np.uint64)
"""By how many bytes of a word are meant: those."""


class Texts:
    """Texts one behind the other: all their bytes, and the size of each."""

    def __init__(self, every: Array, sizes: Array) -> None:
        self.every, self.sizes = every, sizes

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Texts:
        """Return texts as one row."""
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls(np.frombuffer(b"".join(texts), np.uint8), sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def ends(self) -> Array:
        """Return where each text ends."""
        return np.cumsum(self.sizes)

    @cached_property
    def begins(self) -> Array:
        """Return where each text begins."""
        return np.asarray(self.ends - self.sizes)

    def separate(self) -> Array:
        """Return each as an object of its own.

        Where there is a byte that none of them has, they are laid with it between them and split.
        """
        every, made = self.every.tobytes(), np.empty(len(self), object)
        sign = next((x for x in SELDOM if x not in every), None) if len(self) >= FEW else None
        if sign is not None:
            made[:] = in_a_row([self, sign], len(self)).every.tobytes().split(sign)[:-1]
            return made
        places = starmap(slice, zip(self.begins.tolist(), self.ends.tolist(), strict=True))
        made[:] = [*map(every.__getitem__, places)]
        return made

    def parts(self, begins: Array, sizes: Array) -> Texts:
        """Return so many bytes from each of some places on, as texts."""
        made = np.empty(int(sizes.sum()), np.uint8)
        places = [np.ascontiguousarray(x, np.int64) for x in (begins, sizes)]
        lay_all(np.ascontiguousarray(self.every), *places, made)
        return Texts(made, places[1])

    def changed(self, function: Callable[[bytes], bytes]) -> Texts:
        """Return what a function makes of all bytes, of which each stays one."""
        return Texts(np.frombuffer(function(self.every.tobytes()), np.uint8), self.sizes)

    def owners(self, places: Array) -> Array:
        """Return which text each of some rising places is in."""
        if len(places) == len(self) and bool(
            ((self.begins <= places) & (places < self.ends)).all()
        ):
            return np.arange(len(self))  # one in each, as often: then nothing is to be looked for
        return np.searchsorted(self.ends, places, side="right")

    @cached_property
    def is_white(self) -> Array:
        """Return which bytes are white space."""
        return np.asarray((self.every == 32) | ((self.every >= 9) & (self.every <= 13)))

    def stripped(self) -> Texts:
        """Return the texts without the white space at both ends."""
        begins, sizes = np.empty(len(self), np.int64), np.array(self.sizes, np.int64)
        every = np.ascontiguousarray(self.every)
        left = strip(every, begins, sizes)
        return self if left == len(every) else self.parts(begins, sizes)

    def grouped(self, count: int, sign: bytes) -> Texts:
        """Return each so many texts as one, with a sign between them."""
        begins, sizes, every = _beside([self, sign], len(self))
        sizes[count - 1 :: count, 1] = 0
        return _laid(every, begins, sizes, 2 * count)

    def in_runs(self, order: Array, counts: Array, sign: bytes) -> Texts:
        """Return texts by their numbers, each so many as one, with a sign between them."""
        begins, sizes, runs = self.begins[order], self.sizes[order], counts.astype(np.int64)
        signs = len(sign) * int(np.maximum(counts - 1, 0).sum())
        made = np.empty(int(sizes.sum()) + signs, np.uint8)
        source = np.concatenate([self.every, np.frombuffer(sign, np.uint8)])
        lay_runs(source, begins, sizes, runs, len(sign), made)
        return Texts(made, runs)

    def different(self) -> tuple[Texts, Array]:
        """Return the different texts in the order they come, and which one each is."""
        count = len(self)
        table = np.full(1 << (2 * count).bit_length(), -1, np.int32)
        first, places = np.empty(count, np.int64), np.empty(count, np.int32)
        found = different(self.every, self.begins, self.sizes, table, first, places)
        return self.taken(first[:found]), places

    def are(self, others: Texts) -> Array:
        """Say of each text whether it is the other one of its place, or the only other one."""
        mine, theirs = self.numbers, others.numbers
        if mine is not None and theirs is not None:
            return np.asarray(mine == theirs)
        found = np.array(self.sizes == others.sizes)
        some = np.flatnonzero(found & (self.sizes > 0))
        if len(some):
            others = others if len(others) == len(self) else others.taken(np.zeros(len(self), int))
            one, other = self.taken(some), others.taken(some)
            found[some] = np.logical_and.reduceat(one.every == other.every, one.begins)
        return found

    def taken(self, order: Array) -> Texts:
        """Return texts by their numbers."""
        order = np.ascontiguousarray(order, np.int64)
        sizes = np.ascontiguousarray(self.sizes, np.int64)
        made = np.empty(int(sizes.take(order).sum()), np.uint8)
        widths = np.empty(len(order), np.int64)
        begins = np.ascontiguousarray(self.begins, np.int64)
        lay_chosen(np.ascontiguousarray(self.every), begins, sizes, order, widths, made)
        return Texts(made, widths)

    def where(self, holds: Array, others: Texts) -> Texts:
        """Return the texts where something holds, elsewhere the others of the same places."""
        made = np.empty(len(self.every) + len(others.every), np.uint8)
        flags, sizes = np.ascontiguousarray(holds, np.bool_), np.array(self.sizes, np.int64)
        one, other = (np.ascontiguousarray(x.every) for x in (self, others))
        theirs = np.ascontiguousarray(others.sizes, np.int64)
        return Texts(made[: lay_either(flags, one, sizes, other, theirs, made)], sizes)

    def in_base64(self, *, pad: bool) -> Texts:
        """Return base 64 of the web's alphabet: three bytes are four signs."""
        room = np.empty(4 * int(((self.sizes + 2) // 3).sum()), np.uint8)
        widths = np.empty(len(self), np.int64)
        end = code(self.every, self.sizes, OF_THE_WEB, int(pad), room, widths)
        return Texts(room[:end], widths)

    def of_base64(self) -> Texts | None:
        """Return what base 64 of the web's alphabet stands for; None: some are no such texts."""
        made, widths = np.empty(len(self.every), np.uint8), np.empty(len(self), np.int64)
        end = decode(self.every, self.sizes, VALUES, made, widths)
        return None if end < 0 else Texts(made[:end], widths)

    @cached_property
    def numbers(self) -> Array | None:
        """Return a number for each text, equal for equal ones; None: some are too long for it."""
        if not len(self) or self.sizes.max() > 8 or not self.every.all():
            return None
        room = np.zeros(len(self.every) + 8, np.uint8)
        room[:-8] = self.every
        at_any = np.ndarray(len(self.every) + 1, "<u8", room, strides=(1,))
        return np.asarray(at_any[self.begins] & BYTES_KEPT[self.sizes])

    def words(self) -> tuple[Texts, Array]:
        """Return what white space parts, and how many parts each text has."""
        every = self.every
        inside = ~self.is_white
        begins, ends = inside.copy(), inside.copy()
        borders = self.ends[(self.ends > 0) & (self.ends < len(every))]
        begins[1:] &= ~inside[:-1]
        ends[:-1] &= ~inside[1:]
        begins[borders] = inside[borders]
        ends[borders - 1] = inside[borders - 1]
        first = np.flatnonzero(begins)
        made = Texts(every[inside], np.flatnonzero(ends) + 1 - first)
        return made, np.diff(np.searchsorted(first, self.ends), prepend=0)

    def between(self, sign: int) -> tuple[Texts, Array]:
        """Return what a byte parts, and how many parts each text has: one more than of that."""
        is_sign = self.every == sign
        signs = np.flatnonzero(is_sign)
        before = np.searchsorted(signs, self.ends)
        counts = np.diff(before, prepend=0) + 1
        last = np.cumsum(counts) - 1
        is_last = np.zeros(len(signs) + len(self), bool)
        is_last[last] = True
        ends = np.empty(len(is_last), np.int64)
        ends[is_last], ends[~is_last] = self.ends, signs
        begins = np.concatenate([[0], ends[:-1] + ~is_last[:-1]])[: len(ends)]
        return Texts(self.every[~is_sign], ends - begins), counts

    def replaced(self, kinds: Array, new: bytes, most: int) -> Texts:
        """Return texts in which something stands in place of bytes, by the kind of each of these.

        What kinds and `most` mean, `text_loops.replace` says.
        """
        sizes, count = self.sizes.astype(np.int64), int(np.count_nonzero(kinds[self.every]))
        made = np.empty(len(self.every) + count * len(new), np.uint8)
        end = replace(self.every, sizes, kinds, np.frombuffer(new, np.uint8), most, made)
        return Texts(made[:end], sizes)

    def fit(self, table: Array, fits: Array) -> Array:
        """Say of each text whether it leads to a state that fits, as `text_loops.fit` says."""
        made = np.empty(len(self), np.bool_)
        fit(self.every, self.sizes, table, fits, made)
        return made

    def with_signs(self, others: bytes = b"") -> tuple[bytes, bytes] | None:
        """Return all bytes with a sign behind each text that no text has, nor others; and that.

        It is a character of UTF-8. None: there is no such sign.
        """
        every = self.every.tobytes()
        sign = next((x for x in SELDOM[2:] if x not in every and x not in others), None)
        return None if sign is None else (in_a_row([self, sign], len(self)).every.tobytes(), sign)

    @classmethod
    def of_signs(cls, every: bytes, sign: bytes) -> Texts:
        """Return the texts that each have a sign behind them."""
        row = np.frombuffer(every, np.uint8)
        is_sign = row == sign[0]
        return cls(row[~is_sign], np.diff(np.flatnonzero(is_sign), prepend=-1) - 1)

    def characters(self) -> Array:
        """Return how many characters each text has."""
        if not len(self.every) or self.every.max() < CONTINUES:
            return self.sizes
        made = np.empty(len(self), np.int64)
        count_characters(self.every, self.sizes, made)
        return made


class Text:
    """Text as a value of a rule: an array of objects, or a row of bytes. Each is made at need."""

    def __init__(self, texts: Array | Texts, dims: Sequence[int] | None = None) -> None:
        self._made = texts
        shape = (len(texts),) if isinstance(texts, Texts) else texts.shape
        self.dims: tuple[int, ...] = shape if dims is None else tuple(dims)

    @cached_property
    def array(self) -> Array:
        """Return the texts as objects."""
        made = self._made
        return made.separate().reshape(self.dims) if isinstance(made, Texts) else made

    @cached_property
    def row(self) -> Texts:
        """Return the texts one behind the other."""
        made = self._made
        return made if isinstance(made, Texts) else Texts.of(made.ravel().tolist())

    dtype = np.dtype(object)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape, by the name that arrays have for it."""
        return self.dims

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""
        return TensorSpec(TEXT, self.dims)

    @property
    def is_long(self) -> bool:
        """Say whether there are so many texts that a row of bytes pays."""
        dims = self.dims
        return (dims[0] if len(dims) == 1 else math.prod(dims)) >= FEW

    def reshaped(self, dims: Sequence[int]) -> Text:
        """Return the same texts in another shape."""
        return Text(self.row, dims) if self.is_long else Text(self.array.reshape(dims).copy())

    def with_row(self, row: Texts) -> Text:
        """Return other texts of the same shape."""
        return Text(row, self.dims)

    def __array__(self, dtype: DTypeLike | None = None, copy: object = None) -> Array:
        """Return the array."""
        return self.array


OF_THE_WEB = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8
)
"""The signs of base 64."""
VALUES = np.full(256, 255, np.uint8)
"""What each of them stands for, by its byte."""
VALUES[OF_THE_WEB] = np.arange(64)


def _beside(parts: Sequence[Texts | bytes], count: int) -> tuple[Array, Array, Array]:
    """Return where the texts of each place begin, their sizes, and the bytes that they are in."""
    begins, sizes = np.empty((2, count, len(parts)), np.int64)
    at, sources = 0, []
    for column, x in enumerate(parts):
        if isinstance(x, bytes):
            begins[:, column], sizes[:, column] = at, len(x)
            sources.append(np.frombuffer(x, np.uint8))
        else:
            begins[:, column], sizes[:, column] = x.begins + at, x.sizes
            sources.append(x.every)
        at += len(sources[-1])
    return begins, sizes, np.concatenate(sources)


def _laid(every: Array, begins: Array, sizes: Array, count: int) -> Texts:
    """Return parts of some bytes, each so many as one text."""
    made, widths = np.empty(int(sizes.sum()), np.uint8), np.empty(sizes.size // count, np.int64)
    lay_groups(every, begins, sizes, count, made, widths)
    return Texts(made, widths)


@overload
def as_objects(value: Array | Text) -> Array: ...
@overload
def as_objects(value: object) -> object: ...
def as_objects(value: object) -> object:
    """Return texts as an array of objects, for what does not know of rows of bytes."""
    return value.array if isinstance(value, Text) else value


def made_text(value: Array | Text) -> Text:
    """Return an array of texts as texts, what is so already as it is."""
    return value if isinstance(value, Text) else Text(value)


def as_kept(value: object) -> Array | Text:
    """Return a value as steps hand it on: many texts as they are, all else as an array."""
    return value if isinstance(value, Text) and value.is_long else np.asarray(value)


def behind_each_other(rows: Sequence[Texts]) -> Texts:
    """Return the texts of several rows as those of one."""
    if len(rows) == 1:
        return rows[0]
    every, sizes = ([getattr(x, name) for x in rows] for name in ("every", "sizes"))
    return Texts(np.concatenate(every), np.concatenate(sizes))


def in_a_row(parts: Sequence[Texts | bytes], count: int) -> Texts:
    """Return the texts of each place behind each other; a single one stands at every place."""
    begins, sizes, every = _beside(parts, count)
    return _laid(every, begins, sizes, len(parts))
