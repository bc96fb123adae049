"""`Loops`: builds one kernel function of the `loops` level.

Pure operations are put into the outermost loop in which their operands exist, and equal
ones are made once: a template writes index arithmetic where it is used, and gets it
hoisted. `lo`, `hi` (the range of parallel units of this call) and `slot` are always the last
arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ....ir.dialects import kernel as gvk
from ....ir.interpret.launch import DEMANDS, ROUNDS, SCRATCH, SYMBOLS, UNITS
from ....ir.types.dims import Dim, DimExpr, bounds, evaluate, parse
from ....ir.types.dtypes import DType
from ....passes.bounds.prover import Prover

Index: TypeAlias = "SSAValue | int"
Rows: TypeAlias = Mapping[str, Attribute]
"""Properties of an operation by name."""
INDEX = IndexType()
DYNAMIC = -9223372036854775808


@lru_cache(maxsize=64)
def storage(dtype: DType) -> Attribute:
    """Return the signless IR element type that a dtype is stored as."""
    if dtype.kind == "n":
        return IntegerType(8)
    return IntegerType(dtype.bits) if dtype.kind == "u" else dtype.element


@lru_cache(maxsize=64)
def buffer_type(dtype: DType) -> Attribute:
    """Return the flat memref type of a buffer."""
    return MemRefType(storage(dtype), [DYNAMIC], NoneAttr(), NoneAttr())


@lru_cache(maxsize=1024)
def vector_type(element: Attribute, lanes: int) -> Attribute:
    """Return the vector type, or the element type for zero lanes."""
    return VectorType(element, [lanes]) if lanes else element


@lru_cache(maxsize=4096)
def _constant_attribute(value: Any, kind: Attribute, text: str = "") -> Attribute:
    # The text tells -0.0 from 0.0, which are equal keys.
    element = kind.element_type if isinstance(kind, VectorType) else kind
    if isinstance(element, IndexType | IntegerType):
        scalar: Attribute = IntegerAttr(value, element)
    else:
        scalar = FloatAttr(value, cast(AnyFloat, element))
    if not isinstance(kind, VectorType):
        return scalar
    lanes = kind.get_shape()[0]
    made: Attribute = DenseIntOrFPElementsAttr.from_list(cast(Any, kind), [value] * lanes)
    return made


@lru_cache(maxsize=64)
def predicate(number: int) -> Rows:
    """Return the properties of a comparison."""
    return {"predicate": IntegerAttr(number, 64)}


@lru_cache(maxsize=64)
def float_predicate(number: int) -> Rows:
    """Return the properties of a comparison of floats."""
    return {"predicate": IntegerAttr(number, 64), "fastmath": arith.FastMathFlagsAttr("none")}


@dataclass
class Scope:
    """A block that is being filled, and the pure values made in it so far."""

    block: Block
    known: dict[Any, SSAValue] = field(default_factory=dict)


class Loops:
    """A kernel function under construction."""

    def __init__(
        self,
        name: str,
        buffers: Sequence[DType],
        symbols: Sequence[str],
        *,
        fine: bool = False,
        fuses: bool = False,
    ) -> None:
        self.fine = fine
        self.fuses = fuses
        """Whether the machine multiplies and adds with one rounding."""
        """Whether units are as small as they can be: each has a thread of its own."""
        kinds = [buffer_type(d) for d in buffers] + [INDEX] * (len(symbols) + 3)
        self.body = Block(arg_types=kinds)
        self.function = FuncOp(name, FunctionType.from_lists(kinds, []), Region(self.body))
        count = len(buffers)
        self.buffers: list[SSAValue] = list(self.body.args[:count])
        self.dtypes = list(buffers)
        self.symbols = dict(zip(symbols, self.body.args[count : count + len(symbols)], strict=True))
        self.lo, self.hi, self.slot = self.body.args[-3:]
        self.function.attributes[SYMBOLS] = ArrayAttr([StringAttr(s) for s in symbols])
        self.scopes = [Scope(self.body)]
        self.depth: dict[SSAValue, int] = {}
        self.scratch_bytes = 0
        self.guarded = 0
        """The innermost open block that only runs on a condition: loads stay inside of it."""
        self.numbers: dict[SSAValue, int] = {}
        """Index values that are known numbers."""
        self._demanded: Prover | None = None
        """Knows what every launch finds of the sizes."""
        self.streams = False
        """Whether whole vectors of results are written past the caches."""

    # -- placing operations ---------------------------------------------------------------

    def pure(
        self, op: type[Operation], operands: Sequence[SSAValue], kind: Attribute,
        properties: Rows | None = None, least: int = 0,
    ) -> SSAValue:  # fmt: skip
        """Return the value of a pure operation, made once and as far out as possible.

        `least` is the number of the outermost open block that it may stand in.
        """
        depth, known = least, self.depth
        for operand in operands:
            depth = max(depth, known.get(operand, 0))
        scope = self.scopes[depth]
        # By identity: hashing attributes would take most of the time. What is compared lives as
        # long as the operation that was made of it; equal attributes are made once (`predicate`).
        key = (
            op,
            *map(id, operands),
            id(kind),
            *map(id, properties.values() if properties else ()),
        )
        found = scope.known.get(key)
        if found is None:
            rows = dict(properties) if properties else {}
            made = op.create(operands=operands, result_types=[kind], properties=rows)
            scope.block.add_op(made)
            found = scope.known[key] = made.results[0]
            self.depth[found] = depth
        return found

    def here(self, op: Operation) -> Sequence[SSAValue]:
        """Append an operation with effects where we are; return its results."""
        self.scopes[-1].block.add_op(op)
        for result in op.results:
            self.depth[result] = len(self.scopes) - 1
        return op.results

    @contextmanager
    def loop(
        self, low: Index, high: Index, step: Index = 1, carried: Sequence[SSAValue] = ()
    ) -> Iterator[LoopBody]:
        """Open `scf.for`; carried values are `.values`, go on by `.carry`, end as `.results`.

        What is read in a loop without turns is not read before it: memory may have no elements.
        """
        bounds = [self.index(low), self.index(high), self.index(step)]
        block = Block(arg_types=[INDEX, *(v.type for v in carried)])
        depth, outside = len(self.scopes), self.guarded
        self.depth.update((v, depth) for v in block.args)
        self.scopes.append(Scope(block))
        first, end = self.known(low), self.known(high)
        if isinstance(first, int) and isinstance(end, int) and end <= first:
            self.guarded = depth
        body = LoopBody(block.args[0], list(block.args[1:]))
        yield body
        assert len(body.carried) == len(carried), "a loop must carry what it was given"
        block.add_op(scf.YieldOp.create(operands=body.carried))
        self.scopes.pop()
        self.guarded = outside
        loop = scf.ForOp.create(
            operands=[*bounds, *carried],
            result_types=[v.type for v in carried],
            regions=[Region(block)],
        )
        body.results = list(self.here(loop))

    @contextmanager
    def repeat(self, carried: Sequence[SSAValue]) -> Iterator[RepeatBody]:
        """Open `scf.while` whose body runs at least once, and again while a condition holds."""
        kinds = [v.type for v in carried]
        block, rest = Block(arg_types=kinds), Block(arg_types=kinds)
        self.depth.update((v, len(self.scopes)) for v in block.args)
        self.scopes.append(Scope(block))
        body = RepeatBody(list(block.args))
        yield body
        assert len(body.carried) == len(carried) + 1, "a loop must carry what it was given"
        block.add_op(scf.ConditionOp(body.carried[0], *body.carried[1:]))
        rest.add_op(scf.YieldOp.create(operands=list(rest.args)))
        self.scopes.pop()
        loop = scf.WhileOp(carried, kinds, Region(block), Region(rest))
        body.results = list(self.here(loop))

    @contextmanager
    def when(self, condition: SSAValue) -> Iterator[None]:
        """Open `scf.if` without results."""
        block, outside = Block(), self.guarded
        self.scopes.append(Scope(block))
        self.guarded = len(self.scopes) - 1
        yield
        block.add_op(scf.YieldOp.create())
        self.scopes.pop()
        self.guarded = outside
        empty = Region()
        self.here(scf.IfOp.create(operands=[condition], regions=[Region(block), empty]))

    def either(
        self, condition: SSAValue, make: Callable[[], Sequence[SSAValue]],
        other: Callable[[], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:  # fmt: skip
        """Return what `make` builds where a condition holds, else what `other` builds."""
        block, rest, outside = Block(), Block(), self.guarded
        self.scopes.append(Scope(block))
        self.guarded = len(self.scopes) - 1
        made = make()
        block.add_op(scf.YieldOp.create(operands=[*made]))
        self.scopes.pop()
        self.guarded = outside
        self.scopes.append(Scope(rest))
        rest.add_op(scf.YieldOp.create(operands=[*other()]))
        self.scopes.pop()
        kinds, regions = [value.type for value in made], [Region(block), Region(rest)]
        return self.here(scf.IfOp.create(operands=[condition], result_types=kinds, regions=regions))

    def scratch(self, dtype: DType, count: int) -> tuple[SSAValue, Index]:
        """Return a buffer that each slot has for itself, and where this slot's part starts.

        It has elements even if none are asked for: a launch passes it where it has a size.
        """
        assert self.scratch_bytes == 0, "a kernel has one scratch buffer"
        at = len(self.buffers)
        buffer = self.body.insert_arg(buffer_type(dtype), at)
        buffer.name_hint = "scratch"
        self.buffers.append(buffer)
        self.scratch_bytes = -(-max(1, count) * dtype.size // 64) * 64
        return buffer, self.multiply(self.slot, self.scratch_bytes // dtype.size)

    def rounds(self, count: Dim) -> SSAValue:
        """Have all units run `count` times, one time after the other; return the round's number."""
        number = self.body.insert_arg(INDEX, len(self.body.args) - 3)
        self.function.attributes[ROUNDS] = StringAttr(str(count))
        return number

    def finish(self, units: Dim) -> FuncOp:
        """Close the function and write its parallel extent and scratch need."""
        assert len(self.scopes) == 1, "a loop is still open"
        self.body.add_op(ReturnOp())
        self.function.attributes[UNITS] = StringAttr(str(units))
        self.function.attributes[SCRATCH] = StringAttr(str(self.scratch_bytes))
        kinds = [argument.type for argument in self.body.args]
        self.function.function_type = FunctionType.from_lists(kinds, [])
        return self.function

    # -- index arithmetic -----------------------------------------------------------------

    def index(self, value: Index | Dim) -> SSAValue:
        """Return an index value for a number, a symbolic dimension or a value."""
        if isinstance(value, SSAValue):
            return value
        if isinstance(value, DimExpr):
            return self.dimension(value)
        made = self.constant(value, INDEX)
        self.numbers[made] = value
        return made

    def known(self, value: Index) -> Index:
        """Return a number for a value that is a constant."""
        return self.numbers.get(value, value) if isinstance(value, SSAValue) else value

    def constant(self, value: Any, kind: Attribute) -> SSAValue:
        """Return a constant of any scalar or vector type."""
        plain = _plain(value)
        attribute = _constant_attribute(plain, kind, "" if plain else str(plain))
        return self.pure(arith.ConstantOp, (), kind, {"value": attribute})

    def dimension(self, dim: DimExpr) -> SSAValue:
        """Return the value of a symbolic dimension."""
        total: Index = 0
        for monomial, coefficient in dim.terms:
            term: Index = coefficient
            for atom in monomial:
                term = self.multiply(term, self._atom(atom))
            total = self.add(total, term)
        return self.index(total)

    def _atom(self, atom: Any) -> SSAValue:
        if not atom.op:
            return self.symbols[atom.name]
        dims = [parse(text) for text in atom.args]
        a, b = map(self.index, dims)
        if atom.op in ("//", "%") and bounds(dims[0], {})[0] < 0:  # down, as dimensions are
            down = self.pure(arith.FloorDivSIOp, (a, b), INDEX)
            return down if atom.op == "//" else self.index(self.subtract(a, self.multiply(down, b)))
        rules = {
            "//": arith.DivUIOp,
            "%": arith.RemUIOp,
            "max": arith.MaxSIOp,
            "min": arith.MinSIOp,
        }
        return self.pure(rules[atom.op], (a, b), INDEX)

    def add(self, a: Index, b: Index) -> Index:
        """Return a + b."""
        a, b = self.known(a), self.known(b)
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if isinstance(a, int):
            a, b = b, a
        if isinstance(b, int) and b == 0:
            return a
        return self.pure(arith.AddiOp, (self.index(a), self.index(b)), INDEX, NO_OVERFLOW)

    def subtract(self, a: Index, b: Index) -> Index:
        """Return a - b."""
        a, b = self.known(a), self.known(b)
        if isinstance(b, int):
            return self.add(a, -b)
        return self.pure(arith.SubiOp, (self.index(a), b), INDEX, NO_OVERFLOW)

    def multiply(self, a: Index, b: Index | Dim) -> Index:
        """Return a * b."""
        if isinstance(b, DimExpr):
            b = self.dimension(b)
        a, b = self.known(a), self.known(b)
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if isinstance(a, int):
            a, b = b, a
        if isinstance(b, int) and b in (0, 1):
            return a if b else 0
        return self.pure(arith.MuliOp, (self.index(a), self.index(b)), INDEX, NO_OVERFLOW)

    def divide(self, a: Index, b: Index | Dim) -> Index:
        """Return a // b for a >= 0 and b > 0."""
        return self._unsigned(arith.DivUIOp, a, b, lambda x, y: x // y, 1)

    def remainder(self, a: Index, b: Index | Dim) -> Index:
        """Return a % b for a >= 0 and b > 0."""
        return 0 if b == 1 else self._unsigned(arith.RemUIOp, a, b, lambda x, y: x % y, None)

    def _unsigned(self, op: type[Operation], a: Index, b: Any, fold: Any, unit: Any) -> Index:
        if isinstance(b, DimExpr):
            b = self.dimension(b)
        a, b = self.known(a), self.known(b)
        if isinstance(a, int) and isinstance(b, int):
            return int(fold(a, b))
        if isinstance(b, int) and b == unit:
            return a
        return self.pure(op, (self.index(a), self.index(b)), INDEX)

    def minimum(self, a: Index, b: Index) -> Index:
        """Return the smaller."""
        a, b = self.known(a), self.known(b)
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return self.pure(arith.MinSIOp, (self.index(a), self.index(b)), INDEX)

    def maximum(self, a: Index, b: Index) -> Index:
        """Return the larger."""
        a, b = self.known(a), self.known(b)
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return self.pure(arith.MaxSIOp, (self.index(a), self.index(b)), INDEX)

    def compare(self, relation: str, a: Index, b: Index) -> SSAValue:
        """Return the truth of a signed comparison of two indices (`eq ne slt sle sgt sge`)."""
        rows = predicate(_PREDICATES[relation])
        return self.pure(arith.CmpiOp, (self.index(a), self.index(b)), i1, rows)

    def is_filled(self, extent: Dim) -> bool:
        """Say whether there is at least one element along an axis in every launch."""
        if self._demanded is None:
            self._demanded = Prover()
            demands = self.function.attributes.get(DEMANDS)
            for each in demands.data if isinstance(demands, ArrayAttr) else ():
                assert isinstance(each, StringAttr), f"{DEMANDS} is {demands}"
                self._demanded.suppose(self._demanded.dim(parse(each.data)))
        return self._demanded.holds(self._demanded.dim(extent) - 1)

    # -- memory ---------------------------------------------------------------------------

    def address(self, buffer: SSAValue) -> SSAValue:
        """Return where a buffer begins, in bytes."""
        return self.here(memref.ExtractAlignedPointerAsIndexOp.get(buffer))[0]

    def lie_apart(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Return whether two buffers begin at different places."""
        return self.compare("ne", self.address(a), self.address(b))

    def load(self, buffer: SSAValue, offset: Index, lanes: int, mask: SSAValue | None = None,
             *, constant: bool = True) -> SSAValue:  # fmt: skip
        """Return one element (zero lanes) or a vector of neighbours.

        A `constant` load may be moved out of loops: nothing writes what it reads. Where a loop has
        no turns, the place may be past an end: that is not shown, so it is looked at, and sizes for
        which it is so get a model of their own.
        """
        at = self.index(offset)
        element = buffer.type.element_type  # type: ignore[attr-defined]
        if not lanes:
            return self._place(memref.LoadOp, (buffer, at), element, constant)
        kind = vector_type(element, lanes)
        if mask is None:
            return self._place(vector.LoadOp, (buffer, at), kind, constant)
        zero = self.constant(0, kind)
        return self._place(vector.MaskedLoadOp, (buffer, at, mask, zero), kind, constant)

    def _place(
        self, op: type[Operation], operands: Sequence[SSAValue], kind: Attribute, constant: bool
    ) -> SSAValue:
        if constant:
            return self.pure(op, operands, kind, least=self.guarded)
        return self.here(op.create(operands=operands, result_types=[kind]))[0]

    def store(
        self, value: SSAValue, buffer: SSAValue, offset: Index, mask: SSAValue | None = None,
        *, nontemporal: bool = False,
    ) -> None:  # fmt: skip
        """Write one element or a vector of neighbours."""
        at = self.index(offset)
        if not isinstance(value.type, VectorType):
            self.here(memref.StoreOp.create(operands=[value, buffer, at]))
        elif mask is None:
            flag = {"nontemporal": IntegerAttr(-1, i1)} if nontemporal else {}
            self.here(vector.StoreOp.create(operands=[value, buffer, at], properties=flag))
        else:
            self.here(vector.MaskedStoreOp.create(operands=[buffer, at, mask, value]))

    def gather(
        self, buffer: SSAValue, base: Index, offsets: SSAValue, mask: SSAValue | None = None,
        *, constant: bool = True,
    ) -> SSAValue:  # fmt: skip
        """Return the elements at `base + offsets`; see `load` for `constant`."""
        lanes = offsets.type.get_shape()[0]  # type: ignore[attr-defined]
        kind = vector_type(buffer.type.element_type, lanes)  # type: ignore[attr-defined]
        operands = [buffer, self.index(base), offsets]
        if mask is not None:
            operands += [mask, self.constant(0, kind)]
        return self._place(gvk.Gather, operands, kind, constant)

    def scatter(
        self, value: SSAValue, buffer: SSAValue, base: Index, offsets: SSAValue,
        mask: SSAValue | None = None,
    ) -> None:  # fmt: skip
        """Write lanes to `base + offsets`."""
        self.here(gvk.Scatter(value, buffer, self.index(base), offsets, mask))

    def alloca(self, dtype: DType, count: int) -> SSAValue:
        """Return scratch on the stack, made once at the top of the function."""
        made = memref.AllocaOp.get(storage(dtype), None, [count])
        first = self.body.first_op
        if first is None:
            self.body.add_op(made)
        else:
            self.body.insert_op_before(made, first)
        self.depth[made.results[0]] = 0
        return made.results[0]

    # -- vectors --------------------------------------------------------------------------

    def broadcast(self, value: SSAValue, lanes: int) -> SSAValue:
        """Return a vector with the scalar in every lane."""
        return self.pure(vector.BroadcastOp, (value,), vector_type(value.type, lanes))

    def shuffle(self, a: SSAValue, b: SSAValue, lanes: Sequence[int]) -> SSAValue:
        """Return lanes of two vectors of the same type: those of `b` come behind those of `a`."""
        mask = {"mask": DenseArrayBase.from_list(i64, list(lanes))}
        assert isinstance(a.type, VectorType), f"{a.type} has no lanes"
        kind = vector_type(a.type.element_type, len(lanes))
        return self.pure(vector.ShuffleOp, (a, b), kind, mask)

    def step(self, lanes: int) -> SSAValue:
        """Return the index vector 0, 1, 2, ..."""
        return self.pure(gvk.Step, (), vector_type(INDEX, lanes))

    def mask(self, count: Index, lanes: int) -> SSAValue:
        """Return the mask of the first `count` lanes."""
        return self.pure(vector.CreateMaskOp, (self.index(count),), vector_type(i1, lanes))


@dataclass
class LoopBody:
    """An open loop: its index, its carried values, and after it is closed its results."""

    index: SSAValue
    values: list[SSAValue]
    carried: list[SSAValue] = field(default_factory=list)
    results: list[SSAValue] = field(default_factory=list)

    def carry(self, *values: SSAValue) -> None:
        """Say what the next iteration gets."""
        self.carried = list(values)


@dataclass
class RepeatBody:
    """An open loop without an index: its carried values, and after it is closed its results."""

    values: list[SSAValue]
    carried: list[SSAValue] = field(default_factory=list)
    results: list[SSAValue] = field(default_factory=list)

    def carry(self, condition: SSAValue, *values: SSAValue) -> None:
        """Say whether there is a next iteration, and what it (or who comes after) gets."""
        self.carried = [condition, *values]


_PREDICATES = {"eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5, "ult": 6, "uge": 9}
NO_OVERFLOW: Rows = {"overflowFlags": arith.IntegerOverflowAttr("none")}
"""What integer operations carry that promise nothing about overflow."""


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def extent_of(dim: Dim, values: dict[str, int]) -> int:
    """Return the value of an extent for given symbol values."""
    return evaluate(dim, values)
