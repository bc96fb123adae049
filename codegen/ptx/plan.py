"""From a planned program and its kernels to the plan of its launches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from ...errors import UnsupportedOp
from ...ir import SOURCE, Program
from ...ir.ops.control.steps import Choose, Loop
from ...ir.ops.structure import Buffer, Launch, View
from ...ir.placement import HOST, roles
from ...ir.types.tensor import spec_of
from ...passes.bufferise import highest
from ...runtime.artifact import Description, If, Pointer, Scalar, Step, While, launches
from ...runtime.artifact import Launch as LaunchStep
from ...runtime.gpu.plan import (
    GpuChoice,
    GpuKernel,
    GpuLaunch,
    GpuLoop,
    GpuModule,
    GpuPlan,
    GpuStep,
    TensorMap,
)
from ...target import Target
from .assemble import GpuCode
from .emit import BLOCK

Span: TypeAlias = tuple[SSAValue, int, int]
"""An argument of the program, and the first byte of it and the one behind the last."""


def gpu_plan(
    program: Program, description: Description, codes: Sequence[GpuCode], target: Target
) -> GpuPlan:
    """Return the plan of a program whose description has the steps of `main`."""
    known = {code.name: code for code in codes}
    launched = {step.kernel for step in launches(description.steps)}
    names = [name for name in known if name in launched]
    version = max(int(feature.removeprefix("ptx")) for feature in target.features)
    modules = tuple(
        GpuModule(name, known[name].ptx, target.cpu, divmod(version, 10)) for name in names
    )
    kernels = tuple(
        GpuKernel(name, number, (known[name].threads or BLOCK, 1, 1), known[name].shared)
        for number, name in enumerate(names)
    )
    return GpuPlan(
        tag=description.tag,
        inputs=description.inputs,
        outputs=description.outputs,
        modules=modules,
        kernels=kernels,
        steps=Steps(program, known, description.slots).of(
            program.main.body.block, description.steps
        ),
        dims=description.dims,
        demands=description.demands,
        workspace=description.workspace,
        weights=description.weights,
        host=_number(program, HOST),
        target=target.name,
        extras=description.extras,
    )


def _number(program: Program, name: str) -> int:
    row = program.main.attributes.get(name)
    return int(row.value.data) if isinstance(row, IntegerAttr) else 0


@dataclass(frozen=True)
class Steps:
    """Makes the steps of a plan from those of a processor, and what each launch waits for."""

    program: Program
    known: Mapping[str, GpuCode]
    slots: int

    def of(self, block: Block, steps: Sequence[Step]) -> tuple[GpuStep, ...]:
        """Return the steps of a block; what stands behind a choice or loop waits for it anyway."""
        made: list[GpuStep] = []
        uses = LaunchUses(self.program)
        for op, step in zip((op for op in block.ops if is_step(op)), steps, strict=True):
            match op, step:
                case Launch(), LaunchStep():
                    made.append(self.launch(op, step, uses))
                case Choose(), If():
                    first, second = self.both(op, step.then, step.otherwise)
                    made.append(GpuChoice(step.condition, first, second))
                case Loop(), While():
                    first, second = self.both(op, step.test, step.body)
                    made.append(GpuLoop(first, step.condition, second))
                case _:
                    raise UnsupportedOp(f"{type(step).__name__.lower()} steps on a GPU")
            if not isinstance(op, Launch):
                uses = LaunchUses(self.program)
        return tuple(made)

    def both(
        self, op: Choose | Loop, first: Sequence[Step], second: Sequence[Step]
    ) -> tuple[tuple[GpuStep, ...], tuple[GpuStep, ...]]:
        """Return the steps of both blocks of an operation."""
        one, other = op.blocks
        return self.of(one, first), self.of(other, second)

    def launch(self, op: Launch, step: LaunchStep, uses: LaunchUses) -> GpuLaunch:
        """Return a launch with what it waits for."""
        code = self.known[step.kernel]
        row = op.attributes.get(SOURCE)
        names = row.data if isinstance(row, ArrayAttr) else ()
        return GpuLaunch(
            step.kernel,
            (*_maps(step, code), *step.arguments, Scalar(step.count)),
            (_blocks(step, code, self.slots), 1, 1),
            after=uses.add(op, scratch=code.scratch),
            source=tuple(each.data for each in names if isinstance(each, StringAttr)),
        )


def is_step(op: Operation) -> bool:
    """Say whether an operation of a planned program does something."""
    return isinstance(op, Launch | Choose | Loop)


def _maps(step: LaunchStep, code: GpuCode) -> Iterator[TensorMap]:
    """Give the tensor maps of a kernel's operands."""
    for row in json.loads(code.maps or "[]"):
        buffer = step.arguments[row["buffer"]]
        assert isinstance(buffer, Pointer), "a tensor map is of a buffer"
        start = buffer.offset
        moved = start + row["offset"] if isinstance(start, int) else f"{start} + {row['offset']}"
        yield TensorMap(
            replace(buffer, offset=moved), row["dtype"], tuple(row["shape"]),
            tuple(row["strides"]), tuple(row["box"]), 128,
        )  # fmt: skip


def _blocks(step: LaunchStep, code: GpuCode, slots: int) -> int | str:
    """Return the blocks of a launch."""
    count = step.count
    if code.threads:
        assert not code.blocks or isinstance(count, int), "such a kernel has a known size"
        return min(count, code.blocks) if code.blocks and isinstance(count, int) else count
    most = slots // BLOCK
    if isinstance(count, int):
        blocks = -(-count // BLOCK)
        return min(blocks, most) if code.scratch else blocks
    blocks_text = f"({count} + {BLOCK - 1}) // {BLOCK}"
    return f"min({blocks_text}, {most})" if code.scratch else blocks_text


class LaunchUses:
    """What the launches so far read and write, to find what the next one must wait for."""

    def __init__(self, program: Program) -> None:
        self.ranges = program.ranges
        self.fixed = {
            argument
            for argument, role in zip(
                program.main.body.block.args, roles(program.main), strict=True
            )
            if role != "workspace"
        }
        self.reads: list[list[Span]] = []
        self.writes: list[list[Span]] = []
        self.waits: list[frozenset[int]] = []
        self.alone: list[bool] = []

    def add(self, op: Launch, *, scratch: bool) -> tuple[int, ...]:
        """Return the launches that the next one waits for, without those that others wait for.

        One with scratch, which lies where it finds a gap at its time, waits for all before it,
        and all behind wait for it.
        """
        count = op.inputs
        spans = [self.span(operand) for operand in op.operands]
        reads, writes = spans[:count], spans[count:]
        needed: set[int] = set()
        implied: set[int] = set()
        for number in reversed(range(len(self.reads))):
            meets = (
                scratch
                or self.alone[number]
                or _meet(writes, self.reads[number])
                or _meet(writes, self.writes[number])
                or _meet(reads, self.writes[number])
            )
            if meets and number not in implied:
                needed.add(number)
                implied |= self.waits[number]
        self.reads.append(reads)
        self.writes.append(writes)
        self.waits.append(frozenset(needed | implied))
        self.alone.append(scratch)
        return tuple(sorted(needed))

    def span(self, value: SSAValue) -> Span:
        """Return the memory that a buffer takes at most."""
        offset = 0
        spec = spec_of(value.type)
        while isinstance(value.owner, View | Buffer):
            if isinstance(value.owner, Buffer):
                place = value.owner.plain_attributes()["offset"]
                if not isinstance(place, int):
                    return value.owner.operands[0], 0, 1 << 62
                offset += place
            value = value.owner.operands[0]
        if value in self.fixed:
            return value, offset, offset + max(1, highest(spec.size, self.ranges)) * spec.dtype.size
        return value, offset, offset + highest(spec.size, self.ranges) * spec.dtype.size


def _meet(some: Sequence[Span], others: Sequence[Span]) -> bool:
    """Say whether two lists of spans have memory in common."""
    return any(a[0] is b[0] and a[1] < b[2] and b[1] < a[2] for a in some for b in others)
