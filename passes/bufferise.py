"""Give every tensor a place in memory: functions on tensors become lists of launches.

    func.func @main(%x: tensor) -> tensor {        func.func @main(%x: memref, %out: memref,
      %w = gv.weight @w                                %workspace, %weights) {
      %a = func.call @k0(%x, %w)            =>       %w = gv.buffer %weights {offset = 0}
      %b = func.call @k1(%a)                         %a = gv.buffer %workspace {offset = 0}
      func.return %b                                 gv.launch %x, %w, %a {kernel = @k0}
    }                                                gv.launch %a, %out {kernel = @k1}

Results are written straight into the outputs; a reshape is a view. Weights and constants
get their places in one blob, listed in the module's `gv.weights`; buffers in the workspace
lie one behind the other until `plan-memory`. `@prepare` takes raw weights and writes into
the blob.

A `gv.if` becomes a `gv.choose` whose regions write the same buffers, and a `gv.while` a
`gv.loop` that carries its values in buffers of their own: what goes in is copied there before
the loop, and what a trip makes at the trip's end. `plan-memory` takes the copies away that need
not be. A result that lies over an argument (`gv.over`) is copied there at the end in the same way.
Needs `outline-kernels`; leaves the level `planned`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ..errors import CompileError, unbounded
from ..ir import SOURCE, Op, Program, erase, operands_of, operations
from ..ir.interpret.launch import kernel_symbols
from ..ir.levels import KIND
from ..ir.ops.control.control import If, While
from ..ir.ops.control.steps import Choose, Flagged, Loop, Steps
from ..ir.ops.selecting import Told
from ..ir.ops.structure import (
    Buffer,
    Constant,
    Kernel,
    Launch,
    Prefix,
    Tell,
    View,
    Weight,
    Yield,
)
from ..ir.placement import ALIGNMENT, CONSTANT, ROLE, WEIGHTS, WORKSPACE, align, space_type
from ..ir.program import (
    NAME,
    OVER,
    argument_names,
    argument_specs,
    by_name,
    functions,
    laid_over,
    optional_function,
    ranges_of,
    result_names,
    result_specs,
    set_level,
)
from ..ir.types import dims
from ..ir.types.attributes import to_attribute
from ..ir.types.dims import Dim
from ..ir.types.dtypes import PARTS
from ..ir.types.tensor import Array, TensorSpec, memref_of, spec_of
from .analysis.memory.copies import Copies
from .base import Pass


@dataclass(frozen=True)
class Bufferise(Pass):
    """Give every tensor a place in memory."""

    LEVEL = "fused"

    def apply(self, program: Program) -> None:
        """Bufferise all functions that are not kernels."""
        blob = Blob(program)
        prepare = optional_function(program.module, "prepare")
        if prepare is not None:
            for name, spec in zip(result_names(prepare), result_specs(prepare), strict=True):
                blob.place(name, spec)
        kernels = by_name(program.module)
        for function in functions(program.module):
            if KIND in function.attributes:
                continue
            Bufferiser(program, function, blob, kernels).run()
            self.count("functions")
        rows = [to_attribute((name, *row)) for name, row in blob.rows.items()]
        program.module.attributes[WEIGHTS] = ArrayAttr(rows)
        program.weights = blob.arrays
        set_level(program.module, "planned")
        self.count("bytes of weights", blob.size)


class Blob:
    """The places of weights and constants."""

    def __init__(self, program: Program) -> None:
        self.arrays: dict[str, Array] = dict(program.weights)
        self.rows: dict[str, tuple[int, int]] = {}
        """Name to offset and bytes."""
        self.size = 0
        self.constants: dict[Attribute, str] = {}

    def place(self, name: str, spec: TensorSpec) -> int:
        """Return the offset of a weight, placing it at first use."""
        if name not in self.rows:
            nbytes = spec.nbytes
            if not isinstance(nbytes, int):
                raise CompileError(f"weight {name!r} has the symbolic shape {spec}")
            self.rows[name] = (self.size, nbytes)
            self.size = align(self.size + nbytes)
        return self.rows[name][0]

    def constant(self, op: Constant) -> str:
        """Return the name under which a constant is stored."""
        value = op.properties["value"]
        name = self.constants.get(value)
        if name is None:
            name = self.constants[value] = f"{CONSTANT}{len(self.constants)}"
            self.arrays[name] = op.plain_attributes()["value"]
        return name


@dataclass
class Bufferiser:
    """Rewrites one function."""

    program: Program
    function: FuncOp
    blob: Blob
    kernels: Mapping[str, FuncOp]
    buffers: dict[SSAValue, SSAValue] = field(default_factory=dict)
    outputs: dict[SSAValue, SSAValue] = field(default_factory=dict)
    raw: dict[str, SSAValue] = field(default_factory=dict)
    offset: int = 0

    def run(self) -> None:
        """Replace tensors by buffers, calls by launches."""
        self.preparing = self.function.sym_name.data == "prepare"
        self.copies = Copies(self.program.module)
        block = self.function.body.block
        last = block.last_op
        assert isinstance(last, ReturnOp), "a function returns"
        self.ranges = ranges_of(self.program.module)
        self.signature(last)
        self.convert_all(block)
        block = without_first(block, len(self.old_arguments))
        block.add_op(ReturnOp())
        # until plan-memory lays buffers over each other; without it the program still runs
        self.function.attributes[WORKSPACE] = IntegerAttr(self.offset, i64)

    def signature(self, last: ReturnOp) -> None:
        """Add the buffers as arguments and write the new type."""
        block = self.function.body.block
        self.old_arguments = list(block.args)
        rows = list(zip(argument_names(self.function), argument_specs(self.function), strict=True))
        roles: list[tuple[str, str, Attribute]] = [
            ("input", name, memref_of(spec)) for name, spec in rows
        ]
        returned, over = list(last.operands), laid_over(self.function.res_attrs)
        if self.preparing:
            weights = [op for op in block.ops if isinstance(op, Weight)]
            names = dict.fromkeys(str(w.plain_attributes()["weight"]) for w in weights)
            specs = {str(w.plain_attributes()["weight"]): w.result_specs[0] for w in weights}
            roles += [("raw", name, memref_of(specs[name])) for name in names]
        else:
            outs = zip(result_names(self.function), result_specs(self.function), strict=True)
            roles += [("output", name, memref_of(spec)) for name, spec in outs]
        roles += [("workspace", "workspace", space_type()), ("weights", "weights", space_type())]
        made: list[SSAValue] = [block.insert_arg(kind, len(block.args)) for _, _, kind in roles]
        for value, (role, name, _) in zip(made, roles, strict=True):
            value.name_hint = name if name.isidentifier() else None
            if role == "raw":
                self.raw[name] = value
        inputs = made[: len(self.old_arguments)]
        self.buffers.update(zip(self.old_arguments, inputs, strict=True))
        self.workspace, self.weights = made[-2], made[-1]
        outputs = made[len(self.old_arguments) : -2]
        self.updates = [(returned[i], outputs[i]) for i in over]
        self.targets(
            [v for i, v in enumerate(returned) if i not in over],
            [v for i, v in enumerate(outputs) if i not in over],
        )
        self.function.function_type = FunctionType.from_lists([k for _, _, k in roles], [])
        attributes: list[dict[str, Attribute]] = [
            {NAME: StringAttr(name), ROLE: StringAttr(role)} for role, name, _ in roles
        ]
        for i, argument in over.items():
            attributes[len(rows) + i][OVER] = IntegerAttr(argument, i64)
        self.function.properties["arg_attrs"] = ArrayAttr(list(map(DictionaryAttr, attributes)))
        self.function.properties.pop("res_attrs", None)
        erase(last)

    def targets(self, returned: list[SSAValue], outputs: list[SSAValue]) -> None:
        """Note for each returned value where it is to be written."""
        if self.preparing:
            block = self.function.body.block
            for name, value in zip(result_names(self.function), returned, strict=True):
                place = Buffer.at(self.weights, self.blob.rows[name][0], spec_of(value.type))
                _insert_first(block, place)
                self.outputs[value] = place.results[0]
            return
        for value, buffer in zip(returned, outputs, strict=True):
            assert value not in self.outputs, "a value is returned twice without a copy"
            self.outputs[value] = buffer

    def convert_all(self, block: Block) -> None:
        """Convert the operations of a block, and take the old ones away."""
        for op in operations(block):
            self.convert(op)
        self.update(block)
        for op in reversed(operations(block)):
            if not isinstance(op, Buffer | View | Launch | Steps | Tell | ReturnOp):
                erase(op)

    def update(self, block: Block) -> None:
        """Copy results that lie over arguments there at the end: what was there is read before."""
        end = Yield.make()
        block.add_op(end)
        sources = []
        for value, _ in self.updates:
            source = self.buffers[value]
            if isinstance(base_of(source), BlockArgument):  # which another copy may write over
                saved = self.space(end, spec_of(value.type))
                self.copy(source, saved, end)
                source = saved
            sources.append(source)
        for source, (_, output) in zip(sources, self.updates, strict=True):
            self.copy(source, output, end)
        erase(end)

    def convert(self, op: Operation) -> None:
        """Make the buffers and the launch of one operation."""
        if isinstance(op, Weight):
            self.weight(op, str(op.plain_attributes()["weight"]))
        elif isinstance(op, Constant):
            self.weight(op, self.blob.constant(op))
        elif isinstance(op, CallOp):
            self.launch(op)
        elif isinstance(op, If):
            self.choose(op)
        elif isinstance(op, While):
            self.loop(op)
        elif isinstance(op, Op) and op.IS_VIEW:
            self.view(op)
        elif isinstance(op, Told):
            self.tell(op)
        elif isinstance(op, Kernel):
            raise CompileError(f"{op.name} has no place in memory: expected outline-kernels before")

    def weight(self, op: Op, name: str) -> None:
        """Place a weight in the blob, or take the raw one."""
        if name in self.raw:
            self.buffers[op.results[0]] = self.raw[name]
            return
        offset = self.blob.place(name, op.result_specs[0])
        self.insert(op, Buffer.at(self.weights, offset, op.result_specs[0]))

    def view(self, op: Op) -> None:
        """Make a reshape a view of its source."""
        source = self.buffers[op.operands[0]]
        self.insert(op, View.as_spec(source, op.result_specs[0]))

    def tell(self, op: Told) -> None:
        """Read a size from memory; the result is the first part of a buffer."""
        spec = op.result_specs[0]
        source, count = (self.buffers[value] for value in op.operands)
        made = Tell.make(count, size=spec.dims[0], most=op.specs[0].dims[0])
        _block_of(op).insert_op_before(made, op)
        self.insert(op, Prefix.of(source, spec.dims))

    def insert(self, op: Op, made: Op) -> None:
        """Put a buffer before the operation whose result it holds."""
        _block_of(op).insert_op_before(made, op)
        made.results[0].name_hint = op.results[0].name_hint
        self.buffers[op.results[0]] = made.results[0]

    def launch(self, call: CallOp) -> None:
        """Make one launch, with buffers for its results; none where there are no elements."""
        for result in call.results:
            self.buffers[result] = self.destination(call, result)
        if all(spec_of(result.type).size == 0 for result in call.results):
            return
        inputs, results = operands_of(call), call.results
        callee: Any = call.properties["callee"]
        properties = {"kernel": callee, "inputs": to_attribute(len(inputs))}
        symbols = kernel_symbols(self.kernels[callee.root_reference.data])
        if symbols:
            properties["dims"] = to_attribute(tuple(dims.symbol(s) for s in symbols))
        operands = [self.buffers[v] for v in (*inputs, *results)]
        made = Launch.create(operands=operands, properties=properties)
        if SOURCE in call.attributes:
            made.attributes[SOURCE] = call.attributes[SOURCE]
        _block_of(call).insert_op_before(made, call)

    def choose(self, op: If) -> None:
        """Make a choice whose regions write the same buffers."""
        targets = [self.destination(op, result) for result in op.results]
        for block in op.blocks():
            self.buffers.update(
                zip(block.args, map(self.buffers.__getitem__, op.operands[1:]), strict=True)
            )
            last = block.last_op
            assert last is not None, "a region ends in gv.yield"
            copied, taken = [], set()
            for value, target in zip(last.operands, targets, strict=True):
                if is_made_in(value, block) and viewed(value) not in taken:
                    self.outputs[value] = target
                    taken.add(viewed(value))
                else:
                    copied.append((value, target))
            self.region(block, copied)
        self.buffers.update(zip(op.results, targets, strict=True))
        self.put(op, Choose, self.buffers[op.operands[0]])

    def loop(self, op: While) -> None:
        """Make a loop whose carried values have buffers of their own."""
        carried = [self.destination(op, result) for result in op.results]
        for value, target in zip(op.operands, carried, strict=False):
            self.copy(self.buffers[value], target, op)
        fixed = [self.buffers[value] for value in op.operands[op.carried :]]
        test, body = op.blocks()
        for block in (test, body):
            self.buffers.update(zip(block.args, [*carried, *fixed], strict=True))
        flag, copied = self.flag(op, test)
        self.region(test, copied)
        last = body.last_op
        assert last is not None, "a region ends in gv.yield"
        moved = [
            (value, target)
            for value, argument, target in zip(last.operands, body.args, carried, strict=False)
            if value is not argument
        ]
        self.region(body, moved, set(map(base_of, carried)))
        self.buffers.update(zip(op.results, carried, strict=True))
        self.put(op, Loop, flag)

    def flag(self, op: While, test: Block) -> tuple[SSAValue, list[tuple[SSAValue, SSAValue]]]:
        """Return the buffer that says whether there is another trip, and what is copied there."""
        last = test.last_op
        assert last is not None, "a region ends in gv.yield"
        value = last.operands[0]
        if value in test.args:
            return self.buffers[value], []
        made = self.space(op, spec_of(value.type))
        if not is_made_in(value, test):
            return made, [(value, made)]
        self.outputs[value] = made
        return made, []

    def region(
        self,
        block: Block,
        moved: Sequence[tuple[SSAValue, SSAValue]],
        carried: Collection[SSAValue] = (),
    ) -> None:
        """Convert a region; at its end copy values to where they belong.

        What another copy would write over before it is read is saved first.
        """
        last = block.last_op
        assert last is not None, "a region ends in gv.yield"
        for op in operations(block):
            self.convert(op)
        sources = []
        for value, _ in moved:
            source = self.buffers[value]
            if base_of(source) in carried:
                saved = self.space(last, spec_of(value.type))
                self.copy(source, saved, last)
                source = saved
            sources.append(source)
        for source, (_, target) in zip(sources, moved, strict=True):
            self.copy(source, target, last)
        for op in reversed(operations(block)):
            if not isinstance(op, Buffer | View | Launch | Steps | Tell):
                erase(op)
        block.add_op(Yield.make())

    def put(self, op: If | While, kind: type[Flagged], flag: SSAValue) -> None:
        """Put the operation that holds the converted regions before the old one."""
        blocks = op.blocks()
        for block in blocks:
            for argument in list(block.args):
                block.erase_arg(argument)
        for region, block in zip(op.regions, blocks, strict=True):
            region.detach_block(block)
        made = kind.make_from(flag, *blocks)
        if SOURCE in op.attributes:
            made.attributes[SOURCE] = op.attributes[SOURCE]
        _block_of(op).insert_op_before(made, op)

    def copy(self, source: SSAValue, target: SSAValue, before: Operation) -> None:
        """Copy a buffer, if it has elements."""
        spec = spec_of(source.type)
        if spec.size == 0:
            return
        if spec.dtype in PARTS:
            views = [View.as_spec(x, in_parts(spec)) for x in (source, target)]
            _block_of(before).insert_ops_before(views, before)
            source, target = (view.results[0] for view in views)
        made = self.copies.launch(source, target)
        _block_of(before).insert_op_before(made, before)

    def destination(self, op: Operation, result: SSAValue) -> SSAValue:
        """Return the output that a result is, or a new buffer in the workspace."""
        output = self.output(result)
        spec = spec_of(result.type)
        if output is not None:
            if output.type == memref_of(spec):
                return output
            view = View.as_spec(output, spec)
            _block_of(op).insert_op_before(view, op)
            return view.results[0]
        made = self.space(op, spec)
        made.name_hint = result.name_hint
        return made

    def space(self, before: Operation, spec: TensorSpec) -> SSAValue:
        """Return a new buffer in the workspace."""
        buffer = Buffer.at(self.workspace, self.offset, spec)
        _block_of(before).insert_op_before(buffer, before)
        self.offset += align(self.highest(spec.nbytes))
        within_memory(self.offset, "what is between kernels")
        return buffer.results[0]

    def output(self, value: SSAValue) -> SSAValue | None:
        """Return the output that a value is, itself or through reshapes."""
        output, use = self.outputs.get(value), value.first_use
        while output is None and use is not None:
            user = use.operation
            if isinstance(user, Op) and user.IS_VIEW:
                output = self.output(user.results[0])
            use = use._next_use
        return output

    def highest(self, nbytes: Dim) -> int:
        """Return the bytes at the largest values of the symbols."""
        return highest(nbytes, self.ranges)


def highest(nbytes: Dim, ranges: dict[str, dims.Range]) -> int:
    """Return the largest value of a size, or raise `CompileError` where it is unbounded."""
    high = dims.bounds(nbytes, ranges)[1]
    if high is None:
        free = [s for s in sorted(dims.symbols(nbytes)) if ranges.get(s, (0, None))[1] is None]
        raise unbounded(*free)
    return high


COUNTED = 1 << 64
"""Bytes that an attribute cannot count."""


def within_memory(nbytes: int, what: str, limit: int = COUNTED) -> None:
    """Raise for what has more bytes at the largest sizes than where they are written can hold."""
    if nbytes >= limit:
        raise CompileError(
            f"{what} may have {nbytes} bytes, expected fewer than {limit}",
            hint="smaller bounds of dimensions take less",
        )


def is_made_in(value: SSAValue, block: Block) -> bool:
    """Say whether a value is made by a kernel, a choice or a loop of a block, or views one."""
    owner = viewed(value).owner
    return isinstance(owner, CallOp | If | While) and owner.parent is block


def in_parts(spec: TensorSpec) -> TensorSpec:
    """Return a complex tensor's spec as that of its parts."""
    return TensorSpec(PARTS[spec.dtype], (*spec.dims, 2))


def viewed(value: SSAValue) -> SSAValue:
    """Return the value behind reshapes."""
    while isinstance(value.owner, Op) and value.owner.IS_VIEW:
        value = value.owner.operands[0]
    return value


def base_of(buffer: SSAValue) -> SSAValue:
    """Return the buffer behind views."""
    while isinstance(buffer.owner, View):
        buffer = buffer.owner.operands[0]
    return buffer


def _block_of(op: Operation) -> Block:
    assert op.parent is not None, f"{op.name} stands nowhere"
    return op.parent


def _insert_first(block: Block, op: Operation) -> None:
    first = block.first_op
    if first is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, first)


__all__ = ["ALIGNMENT", "Bufferise", "highest"]


def without_first(block: Block, count: int) -> Block:
    """Put a block without its first arguments, which nothing uses, in place of a region's block.

    To erase an argument moves all that follow: of many, that takes as long as all other passes.
    """
    region = block.parent
    assert region is not None, "a function has a region"
    kept = block.args[count:]
    made = Block(arg_types=[argument.type for argument in kept])
    for old, new in zip(kept, made.args, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for op in operations(block):
        made.add_op(block.detach_op(op))
    region.detach_block(block)
    region.add_block(made)
    return made
