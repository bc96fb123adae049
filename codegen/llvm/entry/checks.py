"""The functions by which an artefact looks at its arguments, and learns the dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....lazy import cached_property
from ....runtime.artifact import (
    DTYPE_CODES,
    DTYPES,
    Description,
    DimInfo,
    SizeDemand,
    TensorInfo,
    bindings,
)
from .routine import Routine
from .status import DTYPE, POINTER, RANGE, RANK, SHAPE, SIZES, argument_number, status

DATA, SHAPE_AT, RANK_AT, DTYPE_AT, TENSOR_SIZE = 0, 8, 16, 20, 24
"""The layout of a `gravure_tensor`."""


@dataclass(frozen=True)
class RunSlots:
    """Where a run keeps what it knows: 8 bytes each, in one piece on the stack.

    First what comes from the context, then the addresses of inputs, outputs and raw weights, then
    the dimensions, then the counters of loops.
    """

    model: Description
    counters: tuple[str, ...] = ()

    PARALLEL_FOR, POOL, THREADS, WORKSPACE, WEIGHTS, FIRST = range(0, 48, 8)

    @cached_property
    def bases(self) -> dict[str, int]:
        """Return the offset of the first address of each kind."""
        model = self.model
        outputs = self.FIRST + 8 * len(model.inputs)
        raw = outputs + 8 * len(model.outputs)
        fixed = {"workspace": self.WORKSPACE, "weights": self.WEIGHTS}
        return {"input": self.FIRST, "output": outputs, "raw": raw, **fixed}

    @cached_property
    def symbols(self) -> dict[str, int]:
        """Return the offset of every dimension and counter."""
        first = self.bases["raw"] + 8 * self.given
        names = (*(dim.name for dim in self.model.dims), *self.counters)
        return {name: first + 8 * number for number, name in enumerate(names)}

    @property
    def slots(self) -> int:
        """Return how many numbers there are."""
        return (self.bases["raw"] // 8) + self.given + len(self.symbols)

    @cached_property
    def given(self) -> int:
        """Return how many raw weights there are."""
        return sum(len(each.names) for each in self.model.raw)

    def load(self, routine: Routine, name: str) -> str:
        """Load a dimension or a counter."""
        return routine.load("i64", "%frame", self.symbols[name])

    def routine(self) -> Routine:
        """Return a new function that finds symbols in its argument `%frame`."""
        return Routine(self.load)


def require_sizes(routine: Routine, demand: SizeDemand, wrong: int) -> None:
    """Return a status unless a demand holds."""
    small, large = routine.extent(demand.small), routine.extent(demand.large)
    routine.require(routine.value(f"icmp sle i64 {small}, {large}"), wrong)


class Checks:
    """The functions that look at the arguments of one model."""

    def __init__(self, model: Description, frame: RunSlots) -> None:
        self.model = model
        self.frame = frame
        self.tag = model.tag
        self.bindings = bindings(model.inputs, model.dims)
        self.places = {
            (place.input, place.axis): dim
            for dim in model.dims
            for place in [self.bindings[dim.name]]
        }
        """Which dimension gets its value from which axis of which input."""

    def functions(self) -> Iterator[tuple[Routine, str]]:
        """Give every function, with its head."""
        later = [
            (number, tensor)
            for number, tensor in enumerate(self.model.inputs)
            if any(isinstance(size, str) and not size.isidentifier() for size in tensor.shape)
        ]
        for number, tensor in enumerate(self.model.inputs):
            yield self.tensor("input", number, tensor), self.head(f"input{number}")
        for number, tensor in later:
            routine = self.frame.routine()
            self.sizes(routine, tensor, status(SHAPE, number))
            yield routine, self.head(f"sizes{number}")
        for number, tensor in enumerate(self.model.outputs):
            yield self.tensor("output", number, tensor), self.head(f"output{number}")
        yield self.all("input", later), self.head("inputs")
        yield self.all("output", []), self.head("outputs")

    def head(self, name: str) -> str:
        """Return the head of an internal function of a tensor (or of all) and the frame."""
        return f"internal i32 @{self.tag}.{name}(ptr %tensor, ptr %frame)"

    def all(self, kind: str, later: Sequence[tuple[int, TensorInfo]]) -> Routine:
        """Look at all inputs, or all outputs, one after the other."""
        routine = self.frame.routine()
        tensors = self.model.inputs if kind == "input" else self.model.outputs
        if tensors and self.model.checks:
            wrong = status(POINTER, argument_number(self.model, kind))
            routine.require_aligned("%tensor", 8, wrong, null=False)
        for number in range(len(tensors)):
            address = routine.address("%tensor", TENSOR_SIZE * number)
            routine.require_call(f"@{self.tag}.{kind}{number}(ptr {address}, ptr %frame)")
        for number, _ in later if self.model.checks else ():
            address = routine.address("%tensor", TENSOR_SIZE * number)
            routine.require_call(f"@{self.tag}.sizes{number}(ptr {address}, ptr %frame)")
        for number, demand in enumerate(self.model.demands if kind == "input" else ()):
            require_sizes(routine, demand, status(SIZES, number))
        return routine

    def tensor(self, kind: str, number: int, tensor: TensorInfo) -> Routine:
        """Look at one tensor, and keep its address and the dimensions it is the first to have."""
        routine = self.frame.routine()
        argument = argument_number(self.model, kind, number)
        if self.model.checks:
            dtype = routine.load("i32", "%tensor", DTYPE_AT)
            right = routine.value(f"icmp eq i32 {dtype}, {DTYPE_CODES[tensor.dtype]}")
            routine.require(right, status(DTYPE, argument))
            rank = routine.load("i32", "%tensor", RANK_AT)
            right = routine.value(f"icmp eq i32 {rank}, {len(tensor.shape)}")
            routine.require(right, status(RANK, argument))
        data = routine.load("ptr", "%tensor", DATA)
        if self.model.checks:
            size = DTYPES[tensor.dtype]
            alignment = size if size < 16 else size // 2  # a complex number is two
            empty = self.may_be_empty(tensor)
            routine.require_aligned(data, alignment, status(POINTER, argument), null=empty)
        routine.store("ptr", data, "%frame", self.frame.bases[kind] + 8 * number)
        if kind == "input":
            self.bind(routine, tensor, argument)
        elif self.model.checks:
            self.sizes(routine, tensor, status(SHAPE, argument))
        return routine

    def may_be_empty(self, tensor: TensorInfo) -> bool:
        """Say whether a tensor may have no elements, and then no address."""
        low = {dim.name: dim.low for dim in self.model.dims}
        return 0 in [low.get(str(size), size) for size in tensor.shape] or any(
            isinstance(size, str) and size not in low for size in tensor.shape
        )

    def bind(self, routine: Routine, tensor: TensorInfo, argument: int) -> None:
        """Compare the numbers in an input's shape, and give symbols their values."""
        if tensor.is_static and not self.model.checks:
            return
        shape = self.shape(routine, tensor, argument)
        for axis, size in enumerate(tensor.shape):
            dim = self.places.get((argument, axis))
            is_compared = dim is None and (isinstance(size, int) or size in self.bindings)
            if dim is None and not (is_compared and self.model.checks):
                continue
            found = routine.load("i64", shape, 8 * axis)
            if dim is not None:
                self.give(routine, dim, found, status(RANGE, argument))
            else:
                right = routine.value(f"icmp eq i64 {found}, {routine.extent(size)}")
                routine.require(right, status(SHAPE, argument))
        if tensor.is_static:
            self.leave(routine)

    def give(self, routine: Routine, dim: DimInfo, found: str, wrong: int) -> None:
        """Give a symbol the value that follows from a size, if it is in its range."""
        place = self.bindings[dim.name]
        value = found if place.offset == 0 else routine.value(f"sub i64 {found}, {place.offset}")
        if place.factor != 1:
            value = routine.value(f"sdiv i64 {value}, {place.factor}")
        if self.model.checks:
            above = routine.value(f"sub i64 {value}, {dim.low}")
            right = routine.value(f"icmp ule i64 {above}, {dim.high - dim.low}")
            routine.require(right, wrong)
        routine.store("i64", value, "%frame", self.frame.symbols[dim.name])

    def sizes(self, routine: Routine, tensor: TensorInfo, wrong: int) -> None:
        """Compare a shape with the declared one, when all dimensions have their values."""
        shape = self.shape(routine, tensor, wrong >> 8)
        for axis, size in enumerate(tensor.shape):
            found = routine.load("i64", shape, 8 * axis)
            right = routine.value(f"icmp eq i64 {found}, {routine.extent(size)}")
            routine.require(right, wrong)
        if tensor.is_static:
            self.leave(routine)

    def shape(self, routine: Routine, tensor: TensorInfo, argument: int) -> str:
        """Load the address of a shape; a static one may be left out, and is then as declared."""
        shape = routine.load("ptr", "%tensor", SHAPE_AT)
        if not tensor.is_static:
            routine.require_aligned(shape, 8, status(POINTER, argument), null=False)
            return shape
        given = routine.fresh_label()
        none = routine.value(f"icmp eq ptr {shape}, null")
        routine.line(f"br i1 {none}, label %done, label %{given}")
        routine.label(given)
        routine.require_aligned(shape, 8, status(POINTER, argument), null=True)
        return shape

    @staticmethod
    def leave(routine: Routine) -> None:
        """End the part that is left out when a static shape is not given."""
        routine.line("br label %done")
        routine.label("done")
