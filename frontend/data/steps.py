"""What is done to elements one by one: mapping, choosing, counting, repeating, keeping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np

from ...ir.op import Array
from ..values.run_errors import FailedPreconditionError, InvalidArgumentError, OpError
from .batches import Pile
from .order import Shuffled, least
from .slabs import Slabs
from .stages import (
    INFINITE,
    UNKNOWN,
    Apply,
    Element,
    Rows,
    Run,
    Stage,
    State,
    Stream,
    Write,
    integer,
    known,
)


class Mapped(Stream):
    """What a function gives for each element."""

    METHOD = "map"
    ONE_FOR_EACH = True

    def __init__(self, run: Run, stage: Stage, function: Write) -> None:
        super().__init__(run, stage)
        self.function = function
        self.slabs: Slabs | None = None

    def write_rows(self, count: int) -> None:
        """Let results be written where their batch will be."""
        self.slabs = Slabs(count, self.run.memory(self.stage))

    def rows_of_next(self) -> Rows:
        """Return where the results for the next element go."""
        return () if self.slabs is None else self.slabs.next()

    def learn(self, made: Element) -> Element:
        """Return an element; note what elements are like."""
        if self.slabs is not None:
            self.slabs.learn(made)
        return made

    def __next__(self) -> Element:
        return self.learn(self.function(self.take(), self.rows_of_next()))


class Chosen(Stream):
    """The elements of which a function says that they are wanted."""

    METHOD = "filter"

    def __init__(self, run: Run, stage: Stage, function: Apply) -> None:
        super().__init__(run, stage)
        self.function = function

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows."""
        return UNKNOWN

    def __next__(self) -> Element:
        while True:
            element = self.take()
            if self.function(element)[0]:
                return element


class ChosenWhile(Stream):
    """The elements up to the first one that a function does not want."""

    METHOD = "take_while"

    KEEPS = ("ended",)

    def __init__(self, run: Run, stage: Stage, function: Apply) -> None:
        super().__init__(run, stage)
        self.function, self.ended = function, False

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows."""
        return UNKNOWN

    def __next__(self) -> Element:
        if not self.ended:
            element = self.take()
            if self.function(element)[0]:
                return element
            self.ended = True
        raise StopIteration


class Scanned(Stream):
    """What a function gives for a state and each element, with the next state before it."""

    METHOD = "scan"
    ONE_FOR_EACH = True

    KEEPS = ("state",)

    def __init__(self, run: Run, stage: Stage, function: Apply, **initial: object) -> None:
        super().__init__(run, stage)
        self.function, self.state = function, tuple(np.asarray(x) for x in initial.values())

    def __next__(self) -> Element:
        made = self.function((*self.state, *self.take()))
        size = len(self.state)
        self.state = made[:size]
        return made[size:]


class Counting(Stream):
    """What counts elements down."""

    KEEPS = ("left",)

    def __init__(self, run: Run, stage: Stage, count: object) -> None:
        super().__init__(run, stage)
        self.left = integer(count)


class Limited(Counting):
    """The first elements, so many; all for a negative number."""

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the smaller one of both."""
        most = known(options["count"])
        if most is None:
            return UNKNOWN
        return inputs[0] if most < 0 else 0 if not most else least([inputs[0], most])

    def __next__(self) -> Element:
        if not self.left:
            raise StopIteration
        made = self.take()
        self.left -= 1
        return made


class Skipped(Counting):
    """What is left without the first elements; nothing for a negative number."""

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the rest."""
        less = known(options["count"])
        if less is None:
            return UNKNOWN
        return 0 if less < 0 else inputs[0] if inputs[0] < 0 else max(0, inputs[0] - less)

    def __next__(self) -> Element:
        left = self.left
        if left < 0:
            raise StopIteration
        for _ in range(left):
            self.take()  # who goes on behind an error has as many left out anew, as in TensorFlow
        self.left = 0
        return self.take()


class Sharded(Stream):
    """Every n-th element, from the one of a number on.

    A state is that behind a round of elements, one of each shard: so any number of shards goes on
    from that of any shard of another number, and all elements come once.
    """

    def __init__(self, run: Run, stage: Stage, shards: object, index: object) -> None:
        super().__init__(run, stage)
        self.shards, self.index, self.at = integer(shards), integer(index), 0

    @classmethod
    def check(cls, options: Mapping[str, object]) -> None:
        """Refuse shards that are none of so many."""
        shards, index = known(options["shards"]), known(options["index"])
        if shards is not None and shards < 1:
            raise InvalidArgumentError(
                f"Number of shards must be greater than zero (currently num_shards = {shards})"
            )
        if shards is not None and index is not None and not 0 <= index < shards:
            raise InvalidArgumentError(
                f"Index must be between 0 and {shards - 1} (currently index = {index})"
            )

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the share."""
        shards, index = known(options["shards"]), known(options["index"])
        if inputs[0] < 0 or shards is None or index is None:
            return inputs[0] if inputs[0] < 0 else UNKNOWN
        return inputs[0] // shards + (index < inputs[0] % shards)

    def __next__(self) -> Element:
        while True:
            element = self.take()
            self.at += 1
            if (self.at - 1) % self.shards == self.index:
                return element

    def save(self) -> State:
        """Return what it takes to go on, behind the round of elements that has begun."""
        with suppress(StopIteration):
            while self.at > 0 and self.at % self.shards:
                self.take()
                self.at += 1
        return {**super().save(), "share": [self.index, self.shards]}

    def restore(self, state: State) -> None:
        """Go on from a state, with the first element of a round."""
        super().restore(state)
        self.at = 0
        index, shards = map(int, state["share"])
        if (index, shards) != (self.index, self.shards):
            self.moved = f"shard {index} of {shards} in shard {self.index} of {self.shards}"


class Distinct(Stream):
    """Each element the first time that it comes."""

    KEEPS = ("seen",)

    def __init__(self, run: Run, stage: Stage) -> None:
        super().__init__(run, stage)
        self.seen: list[Element] = []
        self.keys: set[object] = set()

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows."""
        return UNKNOWN

    def __next__(self) -> Element:
        while True:
            element = self.take()
            key = self.key(element)
            if key not in self.keys:
                self.keys.add(key)
                self.seen.append(element)
                return element

    @staticmethod
    def key(element: Element) -> object:
        """Return what equal elements have in common."""
        return tuple(
            (x.shape, tuple(x.ravel().tolist()) if x.dtype.kind == "O" else x.tobytes())
            for x in element
        )

    def restore(self, state: State) -> None:
        """Go on."""
        super().restore(state)
        self.keys = {self.key(element) for element in self.seen}


class Unfailing(Stream):
    """The elements that can be had: those whose computation fails are left out."""

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows."""
        return UNKNOWN

    def __next__(self) -> Element:
        while True:
            try:
                return self.take()
            except OpError:
                continue


class Repeated(Stream):
    """The elements again and again, so often; without end for a negative number."""

    KEEPS = ("turn", "empty", "filled")

    def __init__(self, run: Run, stage: Stage, count: object) -> None:
        super().__init__(run, stage)
        self.turns, self.turn, self.empty = integer(count), 0, True
        self.filled = False
        """Whether there was an element in any turn."""
        self.is_shuffled = issubclass(stage.inputs[0].kind, Shuffled)
        if not self.turns:
            self.upstream = None

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the product."""
        turns = known(options["count"])
        if turns == 0 or inputs[0] == 0:
            return 0
        if turns is None or inputs[0] == UNKNOWN:
            return UNKNOWN if turns is None or turns > 0 else INFINITE
        return INFINITE if turns < 0 or inputs[0] < 0 else turns * inputs[0]

    def __next__(self) -> Element:
        while self.upstream is not None:
            try:
                made = self.upstream.__next__()
            except StopIteration:
                self._next_turn()
            else:
                self.empty = False
                return made
        raise StopIteration

    def rows(self, count: int) -> Sequence[Array] | None:
        """Return rows of several turns, if those of one can be had."""
        found: list[Sequence[Array]] = []
        while count and self.upstream is not None:
            made = self.upstream.rows(count)
            if made is None:
                return None
            size = len(made[0]) if made else 0
            count -= size
            if size:
                self.empty = False
                found.append(made)
            else:
                self._next_turn()
        return (
            found[0]
            if len(found) == 1
            else [np.concatenate(parts) for parts in zip(*found, strict=True)]
        )

    def _next_turn(self) -> None:
        """Begin again, unless it was the last turn, or there is nothing to repeat for ever."""
        self.turn += 1
        self.filled = self.filled or not self.empty
        is_over = self.empty and not (self.filled and self.is_shuffled)
        over = self.turn == self.turns or (self.turns < 0 and is_over)
        self.upstream, self.empty = None, True
        before = self.stage.inputs[0]
        if not over:
            self.upstream = self.run.open(before)
        elif self.turns > 0 and not issubclass(before.kind, Shuffled):
            self.run.open(before)  # as TensorFlow does: the next epoch's shuffles draw behind it


class Zipped(Stream):
    """The elements of several stages side by side, to the end of the shortest."""

    KEEPS = ("ended",)
    TAKES = ("streams",)

    def __init__(self, run: Run, stage: Stage) -> None:
        self.run, self.stage, self.ended = run, stage, False
        self.streams = [run.open(each) for each in stage.inputs]

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the smallest."""
        return least(inputs)

    def __next__(self) -> Element:
        if self.ended:
            raise StopIteration
        made: list[object] = []
        stopped: OpError | StopIteration | None = None
        for stream in self.streams:
            try:
                made += stream.__next__()
            except (OpError, StopIteration) as error:  # the others go on, to stay side by side
                stopped = stopped or error
        if stopped is not None:
            self.ended = isinstance(stopped, StopIteration)
            raise stopped
        return tuple(made)


class OneOfTwo(Stream):
    """The elements of the stage that is read now, the first one of two or the second one."""

    KEEPS = ("second",)

    def __init__(self, run: Run, stage: Stage) -> None:
        super().__init__(run, stage)
        self.second = False

    def __next__(self) -> Element:
        return self.take()

    def reopened(self, name: str) -> Stream:
        """Open the stage that is read now."""
        return self.run.open(self.stage.inputs[int(self.second)])

    def restore(self, state: State) -> None:
        """Go on in the stage that was read then, which may not be the one that is open."""
        if state["second"] != self.second:
            self.upstream = None
        super().restore(state)


class Joined(OneOfTwo):
    """The elements of one stage, then those of another."""

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the sum."""
        if INFINITE in inputs:
            return INFINITE
        return UNKNOWN if UNKNOWN in inputs else sum(inputs)

    def __next__(self) -> Element:
        if not self.second:
            try:
                return self.take()
            except StopIteration:
                self.second = True
                self.upstream = self.reopened("upstream")
        return self.take()


class Counted(Stream):
    """The same elements; that there are so many is stated, and checked."""

    KEEPS = ("seen",)

    def __init__(self, run: Run, stage: Stage, count: object) -> None:
        super().__init__(run, stage)
        self.stated, self.seen = integer(count), 0

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return what is stated."""
        stated = known(options["count"])
        return UNKNOWN if stated is None else stated

    def __next__(self) -> Element:
        try:
            made = self.take()
        except StopIteration:
            if self.stated not in (INFINITE, UNKNOWN, self.seen):
                raise self._wrong(f"{self.seen}") from None
            raise
        self.seen += 1
        if 0 <= self.stated < self.seen:
            raise self._wrong(f"at least {self.seen}")
        return made

    def _wrong(self, found: str) -> FailedPreconditionError:
        return FailedPreconditionError(
            f"Input dataset was expected to contain {self.stated} elements but contained {found}."
        )


class Kept(Stream):
    """The elements of the first time, kept in memory; a time that is cut short keeps nothing.

    Where it is known how many there are, the last one ends that time, even if nobody asks on.
    """

    KEEPS = ("at",)

    def __init__(self, run: Run, stage: Stage) -> None:
        self.run, self.stage, self.at = run, stage, 0
        self.memory = run.memory(stage)
        self.found: list[Element] = self.memory.get("elements", [])
        self.whole = stage.inputs[0].count
        is_kept = "elements" in self.memory
        self.upstream = None if is_kept else run.open(stage.inputs[0])

    def __next__(self) -> Element:
        if self.upstream is None:
            if self.at >= len(self.found):
                raise StopIteration
            self.at += 1
            return self.found[self.at - 1]
        try:
            made = self.take()
        except StopIteration:
            self.memory["elements"] = self.found
            self.upstream, self.at = None, len(self.found)
            raise
        self.found.append(made)
        if len(self.found) == self.whole:
            self.memory["elements"] = self.found
        return made

    def save(self) -> State:
        """Return what is kept too."""
        return {**super().save(), "found": list(self.found)}

    def restore(self, state: State) -> None:
        """Go on."""
        self.found = list(state["found"])
        super().restore(state)
        if self.upstream is None:
            self.memory["elements"] = self.found


def rows_of(array: Array) -> Array | None:
    """Return what has rows: an array, or those of a value; None if it has as many as others."""
    if array.dtype.kind != "O" or array.ndim or not isinstance(array[()], Pile):
        return array
    rows = array[()].rows()
    if rows is None:
        return None
    made = np.empty(len(rows), object)
    made[:] = rows
    return made


class Unstacked(Stream):
    """The rows of each element, one by one."""

    KEEPS = ("rest", "at")

    def __init__(self, run: Run, stage: Stage, height: int | None = None) -> None:
        super().__init__(run, stage)
        self.rest: Element = ()
        self.at = 0

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the product, if all elements have as many rows."""
        rows = options.get("height")
        if inputs[0] < 0 or rows is None:
            return INFINITE if inputs[0] == INFINITE and rows else UNKNOWN
        return inputs[0] * integer(rows)

    def __next__(self) -> Element:
        while not self.rest or self.at >= len(self.rest[0]):
            element = self.take()
            found = [rows_of(x) for x in element]
            heights = {len(x) for x in found if x is not None}
            if len(heights) != 1:
                raise InvalidArgumentError(
                    f"Input element must have the same batch size in each component, got {heights}"
                )
            height = heights.pop()
            whole = zip(element, found, strict=True)
            self.rest = tuple(
                [np.broadcast_to(x, height) if rows is None else rows for x, rows in whole]
            )
            self.at = 0
        self.at += 1
        return tuple([x[self.at - 1, ...] for x in self.rest])
