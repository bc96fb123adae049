"""Make each distinct kernel a function, and each kernel region a call of it.

    %a = gv.kernel %x ({ relu }) {kind = "map"}         %a = func.call @k0(%x)
    %b = gv.kernel %a ({ relu }) {kind = "map"}    =>   %b = func.call @k0(%a)
                                                        func.func private @k0(%x) {gv.kind = "map"}

Kernels are the same when their text is: same operations, types, attributes and choices.
Large results that only the caller reads are marked `gv.streamed`, to be written past the caches.
A product of weights is told how many bytes of weights are read next, up to the next such product:
`gv.behind`, for weights lie in the order of their use.
Needs `fuse`. Dimension symbols that a kernel uses become its `gv.symbols`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, SSAValue

from ..ir import SOURCE, Program, erase, operands_of, operations, replace_uses, take_apart, uses_of
from ..ir.interpret.launch import SYMBOLS
from ..ir.levels import BEHIND, KIND, STREAMED
from ..ir.op import created
from ..ir.ops.structure import Kernel, Weight
from ..ir.program import functions
from ..ir.types import dims
from ..ir.types.attributes import to_python
from ..ir.types.tensor import TensorSpec, spec_of
from .analysis.blocks import blocks_of, operations_of
from .analysis.numbers import Numbers
from .analysis.targets import target_of
from .base import Pass

LARGE = 16 << 20
"""Bytes of a result of the program from which it is written past the caches."""


@dataclass(frozen=True)
class OutlineKernels(Pass):
    """Make each distinct kernel a function."""

    LEVEL = "fused"

    def apply(self, program: Program) -> None:
        """Outline the kernels of every function."""
        known: dict[object, Outlined] = {}
        number, asks = Numbers(), target_of(program).can.stream
        for function in functions(program.module):
            for block in blocks_of(function) if asks else ():
                self.count("told what lies behind", mark_behind(block))
            for op in list(operations_of(function)):
                if isinstance(op, Kernel):
                    if is_streamed(op):
                        op.attributes[STREAMED] = UnitAttr()
                        self.count("streamed")
                    self.outline(op, structure(op, number), known, program.module)
        for outlined in known.values():
            if outlined.sources:
                outlined.callee.attributes[SOURCE] = ArrayAttr(list(outlined.sources))

    def outline(
        self, kernel: Kernel, key: object, known: dict[object, Outlined], module: ModuleOp
    ) -> None:
        """Replace one kernel by a call; kernels of one key share code."""
        if key in known:
            take_apart([kernel.detach_region(0)])  # nothing in it is used outside
            self.count("shared")
        else:
            name = f"k{len(known)}"
            known[key] = Outlined(function_of(kernel, name), SymbolRefAttr(name))
            module.body.block.add_op(known[key].callee)
            self.count("distinct")
        source = kernel.attributes.get(SOURCE)
        if isinstance(source, ArrayAttr):
            known[key].sources.update(dict.fromkeys(source.data))
        types = [result.type for result in kernel.results]
        call = created(CallOp, operands_of(kernel), types, {"callee": known[key].symbol})
        if SOURCE in kernel.attributes:
            call.attributes[SOURCE] = kernel.attributes[SOURCE]
        parent = kernel.parent_block()
        assert parent is not None, "a kernel stands in a block"
        parent.insert_op_before(call, kernel)
        for old, new in zip(kernel.results, call.results, strict=True):
            new.name_hint = old.name_hint
            replace_uses(old, new)
        erase(kernel)


@dataclass(frozen=True)
class Outlined:
    """A kernel that is a function, and where in the model all that call it come from."""

    callee: FuncOp
    symbol: SymbolRefAttr
    sources: dict[Attribute, None] = field(default_factory=dict)


def is_streamed(kernel: Kernel) -> bool:
    """Say whether nothing here reads the results, and they are too large to stay in a cache."""
    for result in kernel.results:
        size = spec_of(result.type).nbytes
        if not isinstance(size, int) or size < LARGE:
            return False
    return all(isinstance(use.operation, ReturnOp) for use in uses_of(kernel))


def mark_behind(block: Block) -> int:
    """Tell products of weights in a block how much is read next; return how many there are."""
    behind, told = 0, 0
    for kernel in reversed([op for op in operations(block) if isinstance(op, Kernel)]):
        read = [v.type for v in operands_of(kernel) if isinstance(v.owner, Weight)]
        if not read:
            continue
        size = sum(each for each in [spec_of(t).nbytes for t in read] if isinstance(each, int))
        names = [op.name for op in kernel.body.ops]
        if kernel.kind != "gemm" or "gv.matmul_packed" not in names:
            behind += size
            continue
        if behind:
            kernel.attributes[BEHIND] = IntegerAttr(behind, 64)
            told += 1
        behind = size
    return told


def structure(kernel: Kernel, number: Numbers) -> object:
    """Return what identifies a kernel: equal for kernels that can share code."""
    numbers: dict[SSAValue, int] = {a: i for i, a in enumerate(kernel.body.args)}
    choices = [(n, number(a)) for n, a in sorted(kernel.attributes.items()) if n != SOURCE]
    row: list[object] = [number(kernel.properties["kind"]), *choices]
    row += [number(a.type) for a in kernel.body.args]
    for op in operations(kernel.body):
        operands = operands_of(op)
        row += [op.name, len(operands), *[numbers[o] for o in operands]]
        if op.properties:
            row += [(n, number(op.properties[n])) for n in sorted(op.properties)]
        for result in op.results:
            numbers[result] = len(numbers)
            row.append(number(result.type))
    return tuple(row)


def function_of(kernel: Kernel, name: str) -> FuncOp:
    """Return a kernel function that takes the region over."""
    names = symbols_of(kernel)
    body = kernel.detach_region(0)
    last = body.block.last_op
    assert last is not None, "the body of a kernel ends in gv.yield"
    values = list(last.operands)
    erase(last)
    body.block.add_op(ReturnOp(*values))
    inputs = [a.type for a in body.block.args]
    made = FuncOp(name, (inputs, [v.type for v in values]), body, visibility="private")
    made.attributes.update(kernel.attributes)
    made.attributes[KIND] = kernel.properties["kind"]
    if names:
        made.attributes[SYMBOLS] = ArrayAttr([StringAttr(n) for n in names])
    return made


def symbols_of(kernel: Kernel) -> list[str]:
    """Return the dimension symbols in a kernel's types and attributes, sorted."""
    found: set[str] = set()
    values = [*kernel.body.args, *(r for op in kernel.body.ops for r in op.results)]
    for value in values:
        found |= _symbols(spec_of(value.type))
    for op in kernel.body.ops:
        for attribute in op.properties.values():
            found |= _symbols(to_python(attribute))
    return sorted(found)


def _symbols(value: object) -> frozenset[str]:
    if isinstance(value, dims.DimExpr):
        return dims.symbols(value)
    if isinstance(value, TensorSpec):
        value = value.dims
    if isinstance(value, tuple):
        return frozenset().union(*map(_symbols, value))
    return frozenset()
