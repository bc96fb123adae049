"""Emit accesses that are looked at in the run: those outside of their buffers touch other memory.

    inside = 0 <= %at and %at + lanes <= size
    load from  select inside, %x, spare                  what lies outside is not read or written
    store 3, %at  at  select inside, spare, %fault       and is told to whoever ran the kernel

A kernel with such accesses has two more slots in its context: where it tells of them, and what
it writes there first, which is its number in the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, StringAttr, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ....ir.dialects.kernel import CHECKED
from ....ir.interpret.launch import SCRATCH, SIZES, kernel_symbols
from ....ir.types.dims import Atom, Dim, DimExpr, parse
from ....passes.bounds.walks import WALKS, Amount, Walk, walks_of
from ..text.build import Shape
from .emitter import Emit, Emitter

SPARE = 1024
"""Bytes that are touched instead: the largest vector, and more."""


class Ends:
    """Knows where the buffers of one kernel end."""

    def __init__(self, e: Emitter, function: FuncOp) -> None:
        self.e, text = e, e.text
        args = list(function.body.block.args)
        buffers = [each for each in args if isinstance(each.type, MemRefType)]
        names = [e.names[each] for each in args[len(buffers) : -3]]
        self.symbols = dict(zip(kernel_symbols(function), names, strict=False))
        rows = function.attributes[SIZES]
        assert isinstance(rows, ArrayAttr), f"{SIZES} is {rows}"
        self.places: dict[SSAValue, tuple[str, str]] = {}
        for buffer, row in zip(buffers, rows.data, strict=False):
            assert isinstance(row, StringAttr), f"{SIZES} is {rows}"
            self.places[buffer] = "0", self.extent(parse(row.data))
        for buffer in buffers[len(rows.data) :]:
            each = function.attributes[SCRATCH]
            assert isinstance(each, StringAttr), f"{SCRATCH} is {each}"
            part = int(each.data) * 8 // e.stored(buffer).bits
            self.places[buffer] = text.value(f"mul i64 {e.names[args[-1]]}, {part}"), str(part)

    def extent(self, dim: Dim) -> str:
        """Return the value of a size."""
        if not isinstance(dim, DimExpr):
            return str(dim)
        total = "0"
        for monomial, coefficient in dim.terms:
            term = str(coefficient)
            for each in monomial:
                term = self.value(f"mul i64 {term}, {self.factor(each)}")
            total = self.value(f"add i64 {total}, {term}")
        return total

    def factor(self, atom: Atom) -> str:
        """Return the value of a symbol, or of a function of sizes."""
        if not atom.op:
            return self.symbols[atom.name]
        a, b = (self.extent(parse(each)) for each in atom.args)
        if atom.op in ("//", "%"):  # down, as dimensions are
            left = self.value(f"srem i64 {a}, {b}")
            below = self.value(f"icmp slt i64 {left}, 0")
            more = self.value(f"select i1 {below}, i64 {b}, i64 0")
            positive = self.value(f"add i64 {left}, {more}")
            whole = self.value(f"sub i64 {a}, {positive}")
            return positive if atom.op == "%" else self.value(f"sdiv i64 {whole}, {b}")
        way = "slt" if atom.op == "min" else "sgt"
        first = self.value(f"icmp {way} i64 {a}, {b}")
        return self.value(f"select i1 {first}, i64 {a}, i64 {b}")

    def value(self, instruction: str) -> str:
        """Append an instruction and return its value."""
        return self.e.text.value(instruction)

    def place(self, buffer: SSAValue) -> tuple[str, str]:
        """Return where the part of a buffer begins that may be touched, and how long it is."""
        found = self.places.get(buffer)
        if found is None:
            kind = buffer.type
            assert isinstance(kind, MemRefType), f"{kind} is no memory"
            found = self.places[buffer] = "0", str(kind.get_shape()[0])
        return found

    # -- whether an access is inside ------------------------------------------------------

    def inside(self, buffer: SSAValue, first: str, last: str) -> str:
        """Return whether elements from one place to another are in a buffer."""
        begin, size = self.place(buffer)
        low = self.value(f"icmp sge i64 {first}, {begin}")
        end = self.value(f"add i64 {begin}, {size}")
        high = self.value(f"icmp slt i64 {last}, {end}")
        return self.value(f"and i1 {low}, {high}")

    def lanes_inside(self, buffer: SSAValue, at: str, offsets: str, mask: str, count: int) -> str:
        """Return whether the lanes that a mask has are in a buffer."""
        kind, truth = Shape("i64", count), Shape("i1", count)
        begin, size = self.place(buffer)
        from_here = self.value(f"sub i64 {at}, {begin}")
        place = self.value(f"add {kind.name} {self.spread(from_here, count)}, {offsets}")
        wide = self.spread(size, count)
        outside = self.value(f"icmp uge {kind.name} {place}, {wide}")
        wrong = self.value(f"and {truth.name} {mask}, {outside}") if mask else outside
        name = f"@llvm.vector.reduce.or.v{count}i1"
        self.e.text.declare(f"declare i1 {name}({truth.name})")
        some = self.value(f"call i1 {name}({truth.name} {wrong})")
        return self.value(f"xor i1 {some}, true")

    def spread(self, value: str, count: int) -> str:
        """Return a vector of one number."""
        kind = f"<{count} x i64>"
        one = self.value(f"insertelement {kind} poison, i64 {value}, i64 0")
        return self.value(
            f"shufflevector {kind} {one}, {kind} poison, <{count} x i32> zeroinitializer"
        )


class Checks(Ends):
    """Looks at the accesses of one kernel; what is outside touches other memory, and is told."""

    def __init__(self, e: Emitter, function: FuncOp) -> None:
        super().__init__(e, function)
        text, count = e.text, len(function.body.block.args) - 3
        self.spare = text.fresh()
        e.allocas.append(f"  {self.spare} = alloca [{SPARE} x i8], align 64")
        told = [text.value(f"getelementptr i64, ptr %ctx, i64 {count + i}") for i in range(2)]
        self.fault = text.value(f"load ptr, ptr {told[0]}, align 8")
        self.number = text.value(f"load i64, ptr {told[1]}, align 8")

    def tell(self, inside: str, number: int, at: str) -> None:
        """Tell of an access if it is outside."""
        where = self.value(f"select i1 {inside}, ptr {self.spare}, ptr {self.fault}")
        for offset, told in enumerate((self.number, at, str(number))):
            place = self.value(f"getelementptr i64, ptr {where}, i64 {offset}")
            self.e.text.line(f"store i64 {told}, ptr {place}, align 8")

    # -- operations -----------------------------------------------------------------------

    def emit(self, op: Operation, emit: Emit) -> None:
        """Emit an access, if it is inside; touch something else instead of what is outside."""
        mark = op.attributes[CHECKED]
        assert isinstance(mark, IntegerAttr), f"{CHECKED} is {mark}"
        if op.name in WALKS:
            self.walk(op, emit, mark.value.data)
            return
        buffer, at, inside, offsets = OPERATIONS[op.name](self, op)
        names, saved = self.e.names, dict[SSAValue, str]()
        place = names[at]
        self.tell(inside, mark.value.data, place)
        instead = {
            buffer: f"select i1 {inside}, ptr {names[buffer]}, ptr {self.spare}",
            at: f"select i1 {inside}, i64 {place}, i64 0",
        }
        if offsets is not None:
            kind = self.e.shape(offsets).name
            instead[offsets] = (
                f"select i1 {inside}, {kind} {names[offsets]}, {kind} zeroinitializer"
            )
        for value, chosen in instead.items():
            saved[value] = names[value]
            names[value] = self.value(chosen)
        emit(self.e, op)
        names.update(saved)

    def walk(self, op: Operation, emit: Emit, number: int) -> None:
        """Emit what walks buffers where all of its steps are inside."""
        all_inside = "true"
        for each in walks_of(op):
            first, last, some = self.reach(each)
            inside = self.inside(each.buffer, first, last)
            fine = self.value(f"select i1 {some}, i1 {inside}, i1 true")
            self.tell(fine, number, last)
            all_inside = self.value(f"and i1 {all_inside}, {fine}")
        text = self.e.text
        here, end = text.fresh_label(), text.fresh_label()
        text.line(f"br i1 {all_inside}, label %{here}, label %{end}")
        text.label(here)
        emit(self.e, op)
        text.line(f"br label %{end}")
        text.label(end)

    def reach(self, walk: Walk) -> tuple[str, str, str]:
        """Return the first and the last element of a walk, and whether there is any."""
        first = last = self.e.names[walk.offset]
        some = "true"
        for often, far in walk.steps:
            count, distance = self.amount(often), self.amount(far)
            more = self.value(f"icmp sgt i64 {count}, 0")
            some = self.value(f"and i1 {some}, {more}")
            turns = self.value(f"sub i64 {count}, 1")
            length = self.value(f"mul i64 {turns}, {distance}")
            back = self.value(f"icmp slt i64 {length}, 0")
            down = self.value(f"select i1 {back}, i64 {length}, i64 0")
            up = self.value(f"sub i64 {length}, {down}")
            first = self.value(f"add i64 {first}, {down}")
            last = self.value(f"add i64 {last}, {up}")
        return first, self.value(f"add i64 {last}, {walk.length - 1}"), some

    def amount(self, amount: Amount) -> str:
        """Return an amount."""
        if amount.value is None:
            return str(amount.factor)
        value = self.e.names[amount.value]
        if amount.most is not None:
            less = self.value(f"icmp slt i64 {value}, {amount.most}")
            value = self.value(f"select i1 {less}, i64 {value}, i64 {amount.most}")
        return self.value(f"mul i64 {value}, {amount.factor}")


Looked = tuple[SSAValue, SSAValue, str, SSAValue | None]
"""The buffer, the place, whether it is inside, and the offsets of lanes from there."""


def _steps(count: int) -> str:
    return f"<{', '.join(f'i64 {each}' for each in range(count))}>"


def _neighbours(checks: Ends, buffer: SSAValue, at: SSAValue, kind: object) -> Looked:
    lanes = int(kind.get_shape()[0]) if isinstance(kind, VectorType) else 1
    first = checks.e.names[at]
    last = checks.value(f"add i64 {first}, {lanes - 1}")
    return buffer, at, checks.inside(buffer, first, last), None


def _load(checks: Ends, op: Operation) -> Looked:
    return _neighbours(checks, op.operands[0], op.operands[1], op.results[0].type)


def _store(checks: Ends, op: Operation) -> Looked:
    return _neighbours(checks, op.operands[1], op.operands[2], op.operands[0].type)


def _masked(checks: Ends, op: Operation) -> Looked:
    buffer, at, mask = op.operands[:3]
    names, count = checks.e.names, checks.e.shape(mask).lanes
    fine = checks.lanes_inside(buffer, names[at], _steps(count), names[mask], count)
    return buffer, at, fine, None


def _gather(checks: Ends, op: Operation) -> Looked:
    values = list(op.operands)
    buffer, at, offsets, *masking = values if op.results else values[1:]
    names, count = checks.e.names, checks.e.shape(offsets).lanes
    mask = names[masking[0]] if masking else ""
    return buffer, at, checks.lanes_inside(buffer, names[at], names[offsets], mask, count), offsets


OPERATIONS: Mapping[str, Callable[[Ends, Operation], Looked]] = {
    "memref.load": _load,
    "memref.store": _store,
    "vector.load": _load,
    "vector.store": _store,
    "vector.maskedload": _masked,
    "vector.maskedstore": _masked,
    "gvk.gather": _gather,
    "gvk.scatter": _gather,
}
"""Accesses by one index, and how they are looked at."""
