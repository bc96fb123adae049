"""Sorting whole rows: merging, without branches.

    for i along the axis                   keys[i] = (bits of x[i] in order) << 32 | i
    for every 8 keys                       sort them in registers by a network
    for width = 8, 16, 32, ...             merge neighbours, from both ends at once
      for pair of stretches of `width`     so that neither end can be missed
        for step in 0..width               front = min(left, right); back = max(left, right)
    for i in 0..k                          place[i] = low half of keys[i]; value = x[place]

A key has the place in it, so that no two are equal and the order is stable; of elements of 64 bits
places are beside the keys, and are moved with them. Rows are filled up with the largest key to a
power of two; stretches that consist of those only are left out.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from ...ir.types.dtypes import i64
from .builder.elements import Element
from .builder.keys import KeyOrdering
from .builder.loops import Index, storage
from .map import fitting_lanes, walk_vectors

SHORTEST, LONGEST = 16, 1 << 20
"""Shorter rows are not worth the code, longer ones not the memory."""

BLOCK = 8
NETWORK = (
    (0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (1, 2), (5, 6), (0, 4),
    (1, 5), (2, 6), (3, 7), (2, 4), (3, 5), (1, 2), (3, 4), (5, 6),
)  # fmt: skip
"""Pairs to put in order one after the other, which sorts a block."""


Key: TypeAlias = tuple[SSAValue, ...]
"""A key with the place in it, or a key and the place."""


class MergeSort(KeyOrdering):
    """Builds one kernel."""

    def along(self) -> None:
        """Sort along the axis, wherever it is."""
        self.find_base()
        self.length = int(self.spec.dims[self.axis])  # type: ignore[arg-type]
        blocks = -(-self.length // BLOCK)
        self.passes = (blocks - 1).bit_length()
        self.filled = BLOCK << self.passes
        size = 2 * self.filled
        self.apart = (0, size) if self.is_wide else (0,)
        """Where the parts of a key are, from its own place on."""
        self.scratch, self.first = self.loops.scratch(i64, size * len(self.apart))
        self.fill()
        self.sort_blocks()
        self.write(self.merge_all())

    # -- keys -----------------------------------------------------------------------------

    def fill(self) -> None:
        """Write the keys of a row, and the largest one behind them in both halves of scratch."""
        loops, group = self.loops, self.axis_group
        if self.is_innermost:
            lanes = fitting_lanes(self.length, self.most)
            self.space.vector, self.space.lanes, self.lanes = group, lanes, lanes
        walk_vectors(loops, self.reader, group, (0, self.length), self.fill_vector)
        self.space.vector, self.space.lanes, self.lanes = None, 0, 0
        largest = loops.constant(i64.maximum, storage(i64))
        with loops.loop(self.length, self.filled) as one:
            at = loops.add(self.first, one.index)
            key = (largest, self.math.from_index(one.index, i64, 0).value)[: len(self.apart)]
            self.store_key(key, at)
            self.store_key(key, loops.add(at, self.filled))

    def fill_vector(self) -> None:
        """Write one vector of keys."""
        math, loops, lanes = self.math, self.loops, self.lanes
        assert self.axis_group.value is not None, "the axis is walked"
        at = loops.index(self.axis_group.value)
        key = self.key(self.element(at))
        start = loops.add(self.first, at)
        place = math.from_index(at, i64, 0)
        if lanes:
            place = math.add(place, math.from_index(loops.step(lanes), i64, lanes))
        parts = [key, place] if self.is_wide else [self.with_place(key, place)]
        for part, apart in zip(parts, self.apart, strict=True):
            loops.store(part.value, self.scratch, loops.add(start, apart), self.reader.mask)

    # -- sorting --------------------------------------------------------------------------

    def load(self, at: Index) -> Key:
        """Return a key."""
        loops = self.loops
        return tuple(
            loops.load(self.scratch, loops.add(at, apart), 0, constant=False)
            for apart in self.apart
        )

    def store_key(self, key: Key, at: Index) -> None:
        """Write a key."""
        for part, apart in zip(key, self.apart, strict=True):
            self.loops.store(part, self.scratch, self.loops.add(at, apart))

    def ordered(self, a: Key, b: Key) -> tuple[Key, Key]:
        """Return two keys in order."""
        if not self.is_wide:
            pair = a[0], b[0]
            made = [self.loops.pure(op, pair, a[0].type) for op in (arith.MinSIOp, arith.MaxSIOp)]
            return (made[0],), (made[1],)
        is_less = self.is_less(a, b)

        def chosen(one: Key, other: Key) -> Key:
            pairs = zip(one, other, strict=True)
            return tuple(self.loops.pure(arith.SelectOp, (is_less, x, y), x.type) for x, y in pairs)

        return chosen(a, b), chosen(b, a)

    def is_less(self, a: Key, b: Key) -> SSAValue:
        """Say whether the first of two keys is not the larger one; no two are equal."""
        math = self.math
        pairs = [(Element(x, i64, 0), Element(y, i64, 0)) for x, y in zip(a, b, strict=True)]
        if not self.is_wide:
            return math.compare("le", *pairs[0]).value
        same = math.bitwise_and(math.compare("eq", *pairs[0]), math.compare("lt", *pairs[1]))
        return math.bitwise_or(math.compare("lt", *pairs[0]), same).value

    def sort_blocks(self) -> None:
        """Sort every block in registers."""
        loops = self.loops
        with loops.loop(0, -(-self.length // BLOCK)) as one:
            start = loops.add(self.first, loops.multiply(one.index, BLOCK))
            keys = [self.load(loops.add(start, i)) for i in range(BLOCK)]
            for a, b in NETWORK:
                keys[a], keys[b] = self.ordered(keys[a], keys[b])
            for i, key in enumerate(keys):
                self.store_key(key, loops.add(start, i))

    def merge_all(self) -> Index:
        """Merge until there is one stretch; return where it is."""
        loops = self.loops
        start = [BLOCK, self.first, loops.add(self.first, self.filled)]
        carried = [loops.index(value) for value in start]
        with loops.loop(0, self.passes, 1, carried) as one:
            width, source, target = one.values
            double = loops.index(loops.multiply(width, 2))
            some = loops.divide(loops.subtract(loops.add(double, self.length), 1), double)
            with loops.loop(0, loops.minimum(some, loops.divide(self.filled, double))) as pair:
                first = loops.multiply(pair.index, double)
                self.merge(loops.add(source, first), loops.add(target, first), width)
            one.carry(double, target, source)
        return one.results[1]

    def merge(self, source: Index, target: Index, width: Index) -> None:
        """Merge two neighbouring stretches, the front half and the back half of them at once."""
        loops = self.loops
        middle = loops.add(source, width)
        last = loops.subtract(loops.add(middle, width), 1)
        end = loops.subtract(loops.add(target, loops.multiply(width, 2)), 1)
        carried = [loops.index(v) for v in (source, middle, loops.subtract(middle, 1), last)]
        with loops.loop(0, width, 1, carried) as step:
            left, right, left_end, right_end = step.values
            a, b = self.load(left), self.load(right)
            self.store_key(self.ordered(a, b)[0], loops.add(target, step.index))
            taken = self.is_first(a, b)
            c, d = self.load(left_end), self.load(right_end)
            back = loops.subtract(end, step.index)
            self.store_key(self.ordered(c, d)[1], back)
            kept = self.is_first(c, d)
            step.carry(
                loops.index(loops.add(left, taken)),
                loops.index(loops.add(right, loops.subtract(1, taken))),
                loops.index(loops.subtract(left_end, loops.subtract(1, kept))),
                loops.index(loops.subtract(right_end, kept)),
            )

    def is_first(self, a: Key, b: Key) -> SSAValue:
        """Return 1 where the first of two keys is not the larger one, else 0."""
        wide = self.loops.pure(arith.ExtUIOp, (self.is_less(a, b),), storage(i64))
        return self.loops.pure(arith.IndexCastOp, (wide,), IndexType())

    # -- results --------------------------------------------------------------------------

    def write(self, sorted_at: Index) -> None:
        """Write the best elements, read again so that they are exact, and their places."""
        loops = self.loops
        with loops.loop(0, int(self.k)) as one:  # type: ignore[arg-type]
            found = Element(self.load(loops.add(sorted_at, one.index))[-1], i64, 0)
            self.put_again(one.index, found if self.is_wide else self.place_in(found))
