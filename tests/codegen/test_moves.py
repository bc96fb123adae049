"""Moves upon moves: whatever is tiled, turned, padded and cut is read where it lies.

The loops are run by the interpreter, which knows where each buffer ends; some are compiled too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from gravure.codegen.compile import lower_kernels
from gravure.ir import REGISTRY, GraphEmit, Program, TensorSpec, interpret, spec_of
from gravure.ir.interpret.planned import interpret_planned
from gravure.ir.program import finish, new_function, set_ranges
from gravure.ir.types import dims
from gravure.ir.types.dtypes import f32
from gravure.passes.manager import run
from gravure.passes.pipelines import LEVELS
from gravure.passes.require_sizes import required
from gravure.target import Target

Array = np.ndarray[Any, Any]
Draw: TypeAlias = Sequence[int]
"""Numbers that a move is chosen by; any are good."""
Sizes: TypeAlias = dict[str, int]


@dataclass
class Moves:
    """A graph that grows by one move after the other of its last value."""

    emit: GraphEmit
    value: SSAValue
    numbers: list[int] = field(default_factory=list)

    @property
    def shape(self) -> tuple[dims.Dim, ...]:
        return spec_of(self.value.type).dims

    def next(self, below: int) -> int:
        """Take the next number."""
        return self.numbers.pop() % below if self.numbers else 0

    def axis(self) -> int:
        return self.next(len(self.shape))

    def put(self, name: str, *more: SSAValue, **attributes: Any) -> None:
        self.value = self.emit(REGISTRY[f"gv.{name}"], self.value, *more, **attributes)

    def grow(self, draw: Draw) -> None:
        """Append the move that the numbers say."""
        rules = (self.tile, self.tile, self.backwards, self.backwards, self.cut, self.transpose,
                 self.merge, self.part, self.pad, self.mirror, self.concat, self.pick, self.flat,
                 self.double)  # fmt: skip
        self.numbers = list(draw[1:])
        if len(self.shape) > 0:
            rules[draw[0] % len(rules)]()

    def tile(self) -> None:
        """Repeat an axis, by broadcasting a new one before it."""
        axis, times = self.axis(), 1 + self.next(3)
        before, extent, behind = self.shape[:axis], self.shape[axis], self.shape[axis + 1 :]
        self.put("reshape", shape=(*before, 1, extent, *behind))
        self.put("broadcast_to", shape=(*before, times, extent, *behind))
        self.put("reshape", shape=(*before, extent * times, *behind))

    def sliced(self, axis: int, start: dims.Dim, stop: dims.Dim, step: int) -> None:
        rank = len(self.shape)
        rows: list[list[Any]] = [[0] * rank, list(self.shape), [1] * rank]
        for row, number in zip(rows, (start, stop, step), strict=True):
            row[axis] = number
        starts, stops, steps = map(tuple, rows)
        self.put("slice", starts=starts, stops=stops, steps=steps)

    def backwards(self) -> None:
        """Walk an axis, or part of it, from the end."""
        axis = self.axis()
        extent, step = self.shape[axis], max(1, self.next(6) - 2)
        if isinstance(extent, int) and extent > 1:
            start = extent - 1 - max(0, self.next(2 * extent) - extent)
            self.sliced(axis, start, 0 if self.next(4) == 3 else -(extent + 1), -step)
        elif extent != 0:
            self.sliced(axis, extent - 1, (extent + 1) * -1, -step)

    def cut(self) -> None:
        """Take part of an axis; of an open one, all but the first."""
        axis = self.axis()
        extent, step = self.shape[axis], 1 + self.next(3)
        if isinstance(extent, int):
            start = self.next(extent + 1)
            self.sliced(axis, start, start + self.next(extent - start + 1), step)
        else:
            self.sliced(axis, 1, extent, step)

    def transpose(self) -> None:
        rest, order = list(range(len(self.shape))), []
        while rest:
            order.append(rest.pop(self.next(len(rest))))
        self.put("transpose", order=tuple(order))

    def merge(self) -> None:
        """Make two axes one."""
        if len(self.shape) > 1:
            at = self.next(len(self.shape) - 1)
            merged = self.shape[at] * self.shape[at + 1]
            self.put("reshape", shape=(*self.shape[:at], merged, *self.shape[at + 2 :]))

    def part(self) -> None:
        """Make one axis two."""
        axis = self.axis()
        inner = (2, 3, 4, 6, dims.symbol("N"), dims.symbol("M"))[self.next(6)]
        extent = self.shape[axis]
        if extent != 0 and dims.remainder(extent, inner) == 0:
            outer = dims.floor_divide(extent, inner)
            self.put("reshape", shape=(*self.shape[:axis], outer, inner, *self.shape[axis + 1 :]))

    def flat(self) -> None:
        """Make all axes one, or turn the shape around in memory."""
        shape = self.shape
        if len(shape) == 1 or self.next(2):
            self.put("reshape", shape=(dims.product(shape),))
        else:
            self.put("reshape", shape=tuple(reversed(shape)))

    def pad(self) -> None:
        """Put numbers around an axis."""
        axis, pads = self.axis(), [(0, 0)] * len(self.shape)
        pads[axis] = (self.next(3), self.next(3))
        self.put("pad", pads=tuple(pads), value=0.5)

    def mirror(self) -> None:
        """Put an axis's own elements around it."""
        axis, pads = self.axis(), [(0, 0)] * len(self.shape)
        extent = self.shape[axis]
        if isinstance(extent, int) and extent < 2:
            return
        pads[axis] = (self.next(2), self.next(2))
        self.put("pad", pads=tuple(pads), mode=("edge", "reflect", "wrap")[self.next(3)])

    def concat(self) -> None:
        self.put("concat", self.value, axis=self.axis())

    def pick(self) -> None:
        """Gather at places of which some are outside."""
        axis = self.axis()
        if self.shape[axis] != 0:
            places = np.array([self.next(9) - 4 for _ in range(1 + self.next(4))], np.int64)
            self.put("gather", self.emit(REGISTRY["gv.constant"], value=places), axis=axis)

    def double(self) -> None:
        """Add the value to itself, walked backwards along an axis."""
        before = self.value
        axis = self.axis()
        extent = self.shape[axis]
        if extent != 0:
            self.sliced(axis, extent - 1, (extent + 1) * -1, -1)
            self.put("add", before)


def graph(shape: tuple[dims.Dim, ...], moves: Sequence[Draw], last: str = "") -> Program:
    """Return a program that makes these moves."""
    function = new_function("main", [("x", TensorSpec(f32, shape))])
    block = function.body.block
    made = Moves(GraphEmit.at_end(block), block.args[0])
    for draw in moves:
        made.grow(draw)
    if last == "sum" and made.shape:
        made.put("sum", axes=(made.axis(),), keepdims=False)
    elif last == "cumsum" and made.shape:
        made.put("cumsum", axis=made.axis())
    finish(function, [made.value], ["y"])
    module = ModuleOp([function])
    set_ranges(module, {"N": (1, 7), "M": (1, 7)})
    return Program(module, {})


def numbers(program: Program, sizes: Sizes) -> Array:
    spec = spec_of(program.main.function_type.inputs.data[0])
    shape = [dims.evaluate(d, sizes) for d in spec.dims]
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


DRAWS = st.lists(st.lists(st.integers(0, 13), min_size=9, max_size=9), min_size=2, max_size=6)
FIXED = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple)
OPEN = st.sampled_from([("N", 2), (3, "M"), ("N", "M"), ("N", 4, "M"), ("M",), (2, "N", 3)]).map(
    lambda row: tuple(dims.symbol(d) if isinstance(d, str) else d for d in row)
)
LAST = st.sampled_from(["", "", "sum", "cumsum"])
SIZES = st.fixed_dictionaries({"N": st.integers(1, 6), "M": st.integers(1, 6)})


def check(shape: tuple[dims.Dim, ...], draws: Sequence[Draw], last: str, sizes: Sizes) -> None:
    """Compare the loops, whose accesses the interpreter checks, with the graph."""
    program = graph(shape, draws, last)
    x = numbers(program, sizes)
    run(LEVELS["O0"], program)
    for demand in required(program.module):
        assume(dims.evaluate(demand.spare, sizes) >= 0)
    wanted = interpret(graph(shape, draws, last), [x])
    lower_kernels(program, Target.parse("x86-64-v3"))
    (got,), (want,) = interpret_planned(program, [x]), wanted
    np.testing.assert_allclose(got, want, rtol=1e-5)


TURNED_TILE = [[0, *[0] * 6, 1, 1], [2, *[0] * 7, 1]]
"""Columns tiled and then walked backwards."""


@settings(max_examples=60)
@example((3, 2), TURNED_TILE, "")
@given(FIXED, DRAWS, LAST)
def test_moves_of_fixed_sizes(shape: tuple[int, ...], draws: list[Draw], last: str) -> None:
    check(shape, draws, last, {})


@settings(max_examples=60)
@example((dims.symbol("N"), 2), TURNED_TILE, "", {"N": 3, "M": 1})
@given(OPEN, DRAWS, LAST, SIZES)
def test_moves_of_open_sizes(
    shape: tuple[dims.Dim, ...], draws: list[Draw], last: str, sizes: Sizes
) -> None:
    check(shape, draws, last, sizes)
