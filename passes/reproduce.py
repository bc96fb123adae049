"""Keep a program as it was before a pipeline, and write a file that replays a failure.

A copy of a module costs more than some passes, so none is made before each pass: a `Snapshot`
holds the operations of the start as flat records (about 2 us an operation). When a pass fails,
the module is built again from the records and the passes before the failure run once more.

    // test: cse,plan-memory
    builtin.module { ... }

The first line is the rest of the pipeline: put below tests/passes, the file is a text test.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ..errors import ParseError
from ..ir import Array, Program, operations, parse, print_module
from .base import Pass

HEAD = "// test:"

OpRecord: TypeAlias = tuple[Any, ...]
"""Class, operands, results, result types, properties, attributes, location, regions."""
BlockRecord: TypeAlias = tuple[tuple[SSAValue, ...], tuple[Any, ...], list[OpRecord]]
"""Arguments, their types, operations."""


@dataclass(frozen=True)
class Snapshot:
    """A program as it was, as records of its operations; values stand for themselves."""

    module: OpRecord
    weights: Mapping[str, Array]
    source: str

    @classmethod
    def of(cls, program: Program) -> Snapshot:
        """Take down the program."""
        return cls(_record(program.module), program.weights, program.source)

    def restore(self) -> Program:
        """Build the program that was taken down."""
        module = _build(self.module, {})
        assert isinstance(module, ModuleOp), f"a program is a module, found {module.name}"
        return Program(module, self.weights, self.source)

    def replay(self, passes: Iterable[Pass]) -> Program:
        """Build the program and run passes on it again."""
        program = self.restore()
        for rewrite in passes:
            rewrite.apply(program)
        return program


def write_reproducer(program: Program, pipeline: str, name: str, path: Path | None) -> Path:
    """Write a file that replays `pipeline` on the program; return its path."""
    if path is None:
        folder = Path(tempfile.mkdtemp(prefix="gravure-"))
        path = folder / f"{name}.mlir"
    path.write_text(f"{HEAD} {pipeline}\n{print_module(program.module)}", encoding="utf-8")
    return path


def read_reproducer(path: Path) -> tuple[str, Program]:
    """Return the pipeline and the program of a file that `write_reproducer` wrote."""
    text = path.read_text(encoding="utf-8")
    if not text.startswith(HEAD):
        raise ParseError(f"expected a first line `{HEAD} PIPELINE`", location=f"{path}:1:1")
    first, _, _ = text.partition("\n")
    module = parse(text, str(path), check=False)
    return first.removeprefix(HEAD).strip(), Program(module, source=str(path))


def _record(op: Operation) -> OpRecord:
    return (
        type(op),
        tuple(op.operands),
        op.results,
        op.result_types,
        op.properties.copy(),
        op.attributes.copy(),
        op.location,
        op.regions and [[_record_block(b) for b in region.blocks] for region in op.regions],
    )


def _record_block(block: Block) -> BlockRecord:
    return (
        tuple(block.args),
        tuple([argument.type for argument in block.args]),
        [_record(op) for op in operations(block)],
    )


def _build(record: OpRecord, values: dict[SSAValue, SSAValue]) -> Operation:
    kind, operands, results, types, properties, attributes, location, regions = record
    made: Operation = kind.create(
        operands=[values[operand] for operand in operands],
        result_types=types,
        properties=properties,
        attributes=attributes,
        location=location,
        regions=[Region([_build_block(block, values) for block in region]) for region in regions],
    )
    _name_alike(results, made.results, values)
    return made


def _build_block(record: BlockRecord, values: dict[SSAValue, SSAValue]) -> Block:
    arguments, types, ops = record
    block = Block(arg_types=types)
    _name_alike(arguments, block.args, values)
    for op in ops:
        block.add_op(_build(op, values))
    return block


def _name_alike(
    old: Iterable[SSAValue], new: Iterable[SSAValue], values: dict[SSAValue, SSAValue]
) -> None:
    for before, after in zip(old, new, strict=True):
        after.name_hint = before.name_hint
        values[before] = after
