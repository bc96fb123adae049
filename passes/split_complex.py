"""Take complex tensors apart: what is computed is real, part by part.

    %0 = gv.mul %x, %y : complex        %p = gv.pairs %x        (the same memory, as pairs)
                                  =>    %a, %b = the two columns of %p, as for %y %c, %d
                                        %r = %a * %c - %b * %d     %i = %a * %d + %b * %c
                                        %0 = gv.of_pairs (gv.concat %r, %i)

Two f32 are a word: `gv.words %x` are taken apart and put together by shifts, all in one loop.

    %0 = gv.sum %x : complex      =>    %p = gv.pairs %x   %s = gv.sum %p   %0 = gv.of_pairs %s

Of numbers in memory both parts are added up as they lie there.

What a function is given, a weight, and what a host step gives are memory in which the parts of a
number lie side by side; so is what a function or a host step gets. Operations say what they are by
parts (`Op.by_parts`), or are the same for both (`PARTWISE`, and those that move elements); choices
and loops carry the parts. Stands before all passes that look at what is computed; a program without
complex tensors stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ..ir import SOURCE, GraphEmit, Op, Program, erase, operations, replace_uses
from ..ir.compose.complex import Complex
from ..ir.compose.functions import cut
from ..ir.compose.maker import Maker
from ..ir.host import is_host
from ..ir.ops.complex import Memory
from ..ir.ops.control.control import If, While
from ..ir.ops.reduce import Fold
from ..ir.ops.structure import Weight, Yield
from ..ir.program import functions
from ..ir.types.dtypes import PARTS, c64, f32, i32, i64
from ..ir.types.shapes import normalize_axes
from ..ir.types.tensor import spec_of
from ..ir.types.values import is_complex
from .base import Pass

Value: TypeAlias = "SSAValue | Complex"


@dataclass(frozen=True)
class SplitComplex(Pass):
    """Take complex tensors apart."""

    LEVEL = "graph"
    NUMERICS = "approximate"

    def apply(self, program: Program) -> None:
        """Rewrite each function that has some."""
        for function in functions(program.module):
            block = function.body.block
            if has_complex(block):
                TakenApart().block(block)
                self.count("functions")


def has_complex(block: Block) -> bool:
    """Say whether an argument or a result in a block, or inside its operations, is complex."""
    if any(is_complex(x.type) for x in block.args):
        return True
    return any(is_complex(x.type) for op in block.walk() for x in op.results)


@dataclass
class TakenApart:
    """The parts of complex values, as far as blocks were walked."""

    parts: dict[SSAValue, Complex] = field(default_factory=dict)
    """The parts of values that are complex no more: those of operations that are gone."""
    memory: dict[SSAValue, Complex] = field(default_factory=dict)
    """The parts of values that lie in memory."""

    def block(self, block: Block) -> None:
        """Take the values of a block apart; its arguments and what it yields stay what they are."""
        gone = [op for op in operations(block) if self.visit(op)]
        for op in reversed(gone):
            erase(op)

    def visit(self, op: Operation) -> bool:
        """Take one operation apart; say whether others stand for it."""
        types = [x.type for x in (*op.operands, *op.results)]
        if isinstance(op, If | While) and not is_host(op):
            inside = any(has_complex(region.block) for region in op.regions)
            if inside:
                self.control(op)
            return inside
        for region in op.regions:
            for inner in region.blocks:
                self.block(inner)
        if not any(map(is_complex, types)):
            return False
        if isinstance(op, Weight | Memory):
            return False
        if not isinstance(op, Op) or isinstance(op, Yield) or is_host(op):
            self.gather(op)
            return False
        self.compute(op)
        return True

    def compute(self, op: Op) -> None:
        """Make the results of an operation of the parts of its operands."""
        make = Maker(GraphEmit.before(op))
        if isinstance(op, Fold) and op.PARTWISE and op.operands[0] not in self.parts:
            replace_uses(op.results[0], as_pairs(op, make))
            return
        given = [self.taken(x, op) for x in op.operands]
        made = computed(op, make, given)
        for old, new in zip(op.results, made, strict=True):
            if isinstance(new, Complex):
                self.parts[old] = new
            else:
                replace_uses(old, new)

    def taken(self, value: SSAValue, before: Operation) -> Value:
        """Return a value; a complex one as its parts, to compute with before an operation."""
        if not is_complex(value.type):
            return value
        found = self.parts.get(value) or self.memory.get(value)
        if found is None:
            found = self.memory[value] = self.read(value, before)
        return replace(found, make=Maker(GraphEmit.before(before)))

    def read(self, value: SSAValue, before: Operation) -> Complex:
        """Return the parts of what lies in memory."""
        make, spec = (
            Maker(GraphEmit(_behind(value), before.attributes.get(SOURCE))),
            spec_of(value.type),
        )
        if spec.dtype == c64:
            return of_words(make, make.words(value))
        pairs, rank = make.pairs(value), spec.rank
        both = [cut(make.emit, pairs, rank, i, i + 1) for i in range(2)]
        return Complex(make, *(make.reshape(x, shape=spec.dims) for x in both))

    def gather(self, op: Operation) -> None:
        """Give an operation complex tensors that lie in memory, each result one of its own."""
        seen: set[SSAValue] = set()
        for index, value in enumerate(op.operands):
            if not is_complex(value.type):
                continue
            is_last = not isinstance(op, Op) or isinstance(op, Yield)
            if value in self.parts or (is_last and (value in seen or not _is_made(value))):
                op.operands[index] = self.written(self.taken(value, op), op)
            seen.add(value)

    def written(self, parts: Value, before: Operation) -> SSAValue:
        """Put parts side by side."""
        assert isinstance(parts, Complex), "complex values have parts"
        make, spec = Maker(GraphEmit.before(before)), spec_of(parts.real.type)
        if spec.dtype == f32:
            word: SSAValue = make.of_words(as_words(make, parts))
            return word
        deep = [make.reshape(x, shape=(*spec.dims, 1)) for x in (parts.real, parts.imag)]
        made: SSAValue = make.of_pairs(make.concat(*deep, axis=spec.rank))
        return made

    def control(self, op: If | While) -> None:
        """Carry the parts of what a choice or a loop is given, and gives."""
        given = self.flat(op.operands, op)
        carried = len(self.flat(op.operands[: op.carried], op)) if isinstance(op, While) else 0
        blocks = [region.detach_block(region.block) for region in op.regions]
        for block in blocks:
            self.inside(block)
        made: If | While
        if isinstance(op, If):
            made = If.make_from(given[0], given[1:], *blocks)
        else:
            made = While.make_from(given[:carried], given[carried:], *blocks)
        made.attributes.update(op.attributes)
        GraphEmit.before(op).insert(made)
        results = iter(made.results)
        for old in op.results:
            if is_complex(old.type):
                make = Maker(GraphEmit.before(op))
                self.parts[old] = Complex(make, next(results), next(results))
            else:
                replace_uses(old, next(results))

    def inside(self, block: Block) -> None:
        """Let a region take and yield parts."""
        for argument in list(block.args):
            if is_complex(argument.type):
                spec = spec_of(argument.type)
                kind = spec.with_dtype(PARTS[spec.dtype]).type
                both = [block.insert_arg(kind, argument.index) for _ in range(2)]
                self.parts[argument] = Complex(Maker(GraphEmit.at_end(block)), *both)
        *ops, last = operations(block)
        gone = [op for op in ops if self.visit(op)]
        last.operands = self.flat(last.operands, last)
        for op in reversed(gone):
            erase(op)
        for argument in reversed(block.args):
            if is_complex(argument.type):
                block.erase_arg(argument)

    def flat(self, values: Iterable[SSAValue], before: Operation) -> list[SSAValue]:
        """Return values, each complex one as two."""
        found: list[SSAValue] = []
        for value in values:
            taken = self.taken(value, before)
            found += [taken.real, taken.imag] if isinstance(taken, Complex) else [taken]
        return found


def _behind(value: SSAValue) -> InsertPoint:
    """Return the place right behind where a value is made."""
    owner = value.owner
    return InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)


def _is_made(value: SSAValue) -> bool:
    """Say whether a value is memory of its own: no argument, no weight."""
    return isinstance(value.owner, Operation) and not isinstance(value.owner, Weight)


def of_words(make: Maker, word: SSAValue) -> Complex:
    """Return the two f32 of words."""
    upper = make.shift_right(word, make.number(32, i64))
    halves = (make.cast(x, dtype=i32) for x in (word, upper))
    return Complex(make, *(make.bitcast(x, dtype=f32) for x in halves))


def as_words(make: Maker, parts: Complex) -> SSAValue:
    """Return two f32 as words."""
    halves = [make.bitcast(x, dtype=i32) for x in (parts.real, parts.imag)]
    low, high = (make.cast(x, dtype=i64) for x in halves)
    low = make.bitwise_and(low, make.number((1 << 32) - 1, i64))
    made: SSAValue = make.bitwise_or(low, make.shift_left(high, make.number(32, i64)))
    return made


def as_pairs(op: Fold, make: Maker) -> SSAValue:
    """Return what elements along axes come to that lie in memory: those of both parts at once."""
    x, attributes = op.operands[0], op.plain_attributes()
    axes = normalize_axes(attributes["axes"], spec_of(x.type).rank)
    made = make.emit(type(op), make.pairs(x), **{**attributes, "axes": tuple(axes)})
    whole: SSAValue = make.of_pairs(made)
    return whole


def computed(op: Op, make: Maker, given: Sequence[Value]) -> Sequence[Value]:
    """Return the results of an operation, complex ones as their parts."""
    attributes = op.plain_attributes()
    if op.COMPLEX is None and not op.has("by_parts"):
        return each_part(op, make, given, attributes)
    made = op.by_parts(make, *given, **attributes)
    return made if isinstance(made, tuple) else (made,)


def each_part(
    op: Op, make: Maker, given: Sequence[Value], attributes: Mapping[str, object]
) -> Sequence[Value]:
    """Return what an operation makes of the real parts, and of the imaginary ones."""
    sides = [
        [getattr(x, side) if isinstance(x, Complex) else x for x in given]
        for side in ("real", "imag")
    ]
    both = [make.emit(type(op), *side, **attributes) for side in sides]
    rows = [x if isinstance(x, tuple) else (x,) for x in both]
    return [
        Complex(make, *pair) if is_complex(old.type) else pair[0]
        for old, pair in zip(op.results, zip(*rows, strict=True), strict=True)
    ]
