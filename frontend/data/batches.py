"""Several elements that become one: batches, padded batches, windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.op import Array
from ..values.run_errors import DataLossError, InvalidArgumentError, OpError, UnimplementedError
from .slabs import BIG, Slabs
from .sources import Listed
from .stages import UNKNOWN, Element, Given, Run, Stage, State, Stream, integer, known, part


class Batched(Stream):
    """So many elements stacked; what is left at the end is a smaller batch, or left out."""

    def __init__(self, run: Run, stage: Stage, size: object, whole: object) -> None:
        super().__init__(run, stage)
        self.size, self.whole = integer(size), bool(np.asarray(whole))
        self.announce()

    @classmethod
    def check(cls, options: Mapping[str, object]) -> None:
        """Refuse batches of nothing."""
        size = known(options["size"])
        if size is not None and size <= 0:
            raise InvalidArgumentError(f"Batch size must be greater than zero, got {size}.")

    def announce(self) -> None:
        """Say what becomes of the elements."""
        assert self.upstream is not None, "it reads a stream"
        self.upstream.write_rows(self.size)

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the quotient."""
        size = known(options["size"])
        if inputs[0] < 0 or size is None or size <= 0:
            return inputs[0] if inputs[0] < 0 else UNKNOWN
        return inputs[0] // size if known(options["whole"]) else -(-inputs[0] // size)

    def collected(self) -> list[Element]:
        """Return the elements of the next batch, or end."""
        rows: list[Element] = []
        take = self.take
        try:
            while len(rows) < self.size:
                rows.append(take())
        except StopIteration:
            if not rows or self.whole:
                raise StopIteration from None
        return rows

    def __next__(self) -> Element:
        assert self.upstream is not None, "it reads a stream"
        arrays = self.upstream.rows(self.size)
        if arrays is not None:
            count = len(arrays[0]) if arrays else 0
            if not count or (self.whole and count < self.size):
                raise StopIteration
            return tuple(arrays)
        rows = self.collected()
        return tuple([stacked(column, i) for i, column in enumerate(zip(*rows, strict=True))])


class Rebatched(Batched):
    """Batches of several sizes, one after the other and then again."""

    KEEPS = ("turn",)

    def __init__(self, run: Run, stage: Stage, size: object, whole: object, **like: object) -> None:
        self.sizes, self.turn = np.ravel(np.asarray(size)).tolist(), 0
        self.like = [np.asarray(each) for each in like.values()]
        """Batches of no rows, as they are before there was another one."""
        super().__init__(run, stage, self.sizes[0], whole)

    @classmethod
    def check(cls, options: Mapping[str, object]) -> None:
        """Refuse batches of nothing."""
        if isinstance(options["size"], Given):
            return  # only a run says what they are
        sizes = np.ravel(np.asarray(options["size"])).tolist()
        if not sizes or min(sizes) < 0 or not any(sizes):
            raise InvalidArgumentError(f"Batch sizes must be greater than zero, got {sizes}.")

    def announce(self) -> None:
        """Say nothing: batches are of several sizes."""

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows, unless there is no end."""
        return inputs[0] if inputs[0] <= 0 else UNKNOWN

    def __next__(self) -> Element:
        self.size = self.sizes[self.turn % len(self.sizes)]
        if self.size:
            found = super().__next__()
            self.like = [x[:0] if x.ndim else x for x in found]
        else:
            found = tuple(self.like)  # nothing is read for it, not even the end
        self.turn += 1
        return found


class Pile:
    """A value that is one part of an element, of which several become one."""

    @classmethod
    def piled(cls, piles: Sequence[object]) -> object:
        """Return several along a new first axis."""
        raise NotImplementedError

    def rows(self) -> Sequence[object] | None:
        """Return the parts along the first axis; None: each is the value itself."""
        raise NotImplementedError

    def arrays(self) -> Sequence[Array]:
        """Return the arrays that it is made of."""
        raise NotImplementedError

    @classmethod
    def of(cls, arrays: Sequence[Array]) -> Pile:
        """Return the value that is made of arrays."""
        raise NotImplementedError


class StageRows(Pile):
    """Pipelines in rows, or in rows of rows."""

    def __init__(self, inner: Sequence[object]) -> None:
        self.inner = inner

    @classmethod
    def piled(cls, piles: Sequence[object]) -> StageRows:
        """Return several along a new first axis."""
        return cls(list(piles))

    def rows(self) -> Sequence[object]:
        """Return pipelines, or rows of them."""
        return self.inner

    def arrays(self) -> Sequence[Array]:
        """Return them as parts of elements."""
        return [part(each) for each in self.inner]

    @classmethod
    def of(cls, arrays: Sequence[Array]) -> StageRows:
        """Return the rows of parts of elements."""
        return cls([each.item() for each in arrays])


def stacked(column: Sequence[Array], number: int) -> Array:
    """Return arrays of one shape along a new first axis."""
    first = column[0]
    shape = first.shape
    if first.dtype.kind == "O" and not shape and isinstance(first[()], Pile | Stage):
        kind = StageRows if isinstance(first[()], Stage) else type(first[()])
        made: Array = part(kind.piled([x[()] for x in column]))
        return made
    if first.nbytes >= BIG and (whole := Slabs.whole(column)) is not None:
        return whole
    made = np.empty((len(column), *shape), first.dtype)
    for i, x in enumerate(column):
        if x.shape != shape:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {number}. First element "
                f"had shape {list(shape)} and element {i} had shape {list(x.shape)}."
            )
        made[i] = x if shape else x[()]
    return made


class Padded(Batched):
    """Elements stacked that are filled up to one shape: -1 is the largest extent of the batch."""

    def __init__(
        self,
        run: Run,
        stage: Stage,
        size: object,
        whole: object,
        shapes: Sequence[object],
        **values: object,
    ) -> None:
        super().__init__(run, stage, size, whole)
        self.shapes = [tuple(np.asarray(s).ravel().tolist()) for s in shapes]
        self.values = [np.asarray(v) for v in values.values()]

    def announce(self) -> None:
        """Say nothing: elements are copied into what is larger."""

    def __next__(self) -> Element:
        columns = zip(*self.collected(), strict=True)
        return tuple(
            [
                padded(column, shape, value, i)
                for i, (column, shape, value) in enumerate(
                    zip(columns, self.shapes, self.values, strict=True)
                )
            ]
        )


def padded(column: Sequence[Array], shape: Sequence[int], value: Array, number: int) -> Array:
    """Return arrays along a new first axis, each filled up with a value."""
    extents = []
    for axis, wanted in enumerate(shape):
        most = max(x.shape[axis] if x.ndim == len(shape) else 0 for x in column)
        if 0 <= wanted < most:
            raise DataLossError(
                "Attempted to pad to a smaller size than the input element: component "
                f"{number} has extent {most} along axis {axis}, expected at most {wanted}"
            )
        extents.append(most if wanted < 0 else wanted)
    made = np.empty((len(column), *extents), column[0].dtype)
    made[...] = value
    for i, x in enumerate(column):
        if x.ndim != len(shape):
            raise InvalidArgumentError(
                "All elements in a batch must have the same rank as the padded shape for component"
                f"{number}: expected rank {len(shape)} but got element with rank {x.ndim}"
            )
        inside: tuple[slice, ...] = tuple([slice(extent) for extent in x.shape])
        made[i, ...][inside] = x if x.ndim else x[()]
    return made


class Windowed(Stream):
    """Elements that follow one another, as pipelines: one for each part of an element."""

    KEEPS = ("buffer", "ended", "skip")

    def __init__(self, run: Run, stage: Stage, **options: object) -> None:
        super().__init__(run, stage)
        self.size, self.shift, self.stride = (
            integer(options[name]) for name in ("size", "shift", "stride")
        )
        self.whole = bool(np.asarray(options["whole"]))
        self.buffer: list[Element | OpError] = []
        """Elements to come, and what was raised in their place."""
        self.ended, self.skip = False, 0

    @classmethod
    def check(cls, options: Mapping[str, object]) -> None:
        """Refuse windows of nothing, and steps that do not go on."""
        for name in ("size", "shift", "stride"):
            number = known(options[name])
            if number is not None and number <= 0:
                raise InvalidArgumentError(f"Window {name} must be greater than zero.")

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return how many windows begin at an element, or are whole."""
        size, shift, stride = (known(options[n]) for n in ("size", "shift", "stride"))
        if inputs[0] < 0 or size is None or not shift or stride is None:
            return inputs[0] if inputs[0] < 0 else UNKNOWN
        count = inputs[0]
        if known(options["whole"]):
            count -= (size - 1) * stride
        return max(0, -(-count // shift))

    def __next__(self) -> Element:
        span = (self.size - 1) * self.stride + 1
        buffer = self.buffer
        while not self.ended and len(buffer) < span:
            try:
                element: Element | OpError = self.take()
            except StopIteration:
                self.ended = True
                break
            except OpError as error:
                element = error
            if self.skip:
                self.skip -= 1
            else:
                buffer.append(element)
        if not buffer or (self.whole and len(buffer) < span):
            raise StopIteration
        found = buffer[: span : self.stride]
        self.skip = max(0, self.shift - len(buffer))
        del buffer[: self.shift]
        whole = [each for each in found if not isinstance(each, OpError)]
        if len(whole) < len(found):
            raise next(each for each in found if isinstance(each, OpError))
        columns = zip(*whole, strict=True)
        return tuple(
            [part(Stage(Listed, (), {"elements": [(x,) for x in column]})) for column in columns]
        )

    def save(self) -> State:
        """Return what waits, too: elements, which errors are not."""
        failed = [each for each in self.buffer if isinstance(each, OpError)]
        if failed:
            raise UnimplementedError(f"the state of a window that waits with an error: {failed[0]}")
        return super().save()
