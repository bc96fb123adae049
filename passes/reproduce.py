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
from ..ir import Array, Program, operands_of, operations, parse, print_module
from .base import Pass

HEAD = "// test:"

OpRecord: TypeAlias = tuple[Any, ...]
"""Class, operands, results, their names and types, properties, attributes, location, regions."""
BlockRecord: TypeAlias = tuple[list[int], list[str | None], tuple[Any, ...], list[OpRecord]]
"""Arguments, their names and types, operations."""


@dataclass(frozen=True)
class Snapshot:
    """A program as it was, as records of its operations; values are numbers."""

    module: OpRecord
    weights: Mapping[str, Array]
    source: str

    @classmethod
    def of(cls, program: Program) -> Snapshot:
        """Take down the program."""
        return cls(_Recorder().record(program.module), program.weights, program.source)

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
    """Return the pipeline and the program of a file that `write_reproducer` wrote.

    Raises `ParseError` for any other file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ParseError(f"byte {error.start} is not UTF-8", location=str(path)) from error
    if not text.startswith(HEAD):
        raise ParseError(f"expected a first line `{HEAD} PIPELINE`", location=f"{path}:1:1")
    first, _, _ = text.partition("\n")
    module = parse(text, str(path), check=False)
    return first.removeprefix(HEAD).strip(), Program(module, source=str(path))


class _Recorder:
    """Takes down operations, values by number: no record keeps alive what a pass erases."""

    def __init__(self) -> None:
        self.numbers: dict[SSAValue, int] = {}

    def record(self, op: Operation) -> OpRecord:
        """Take down an operation and what is in it."""
        results = op.results
        return (
            type(op),
            self.of(operands_of(op)),
            self.of(results),
            [value.name_hint for value in results],
            [value.type for value in results],
            op.properties.copy(),
            op.attributes.copy(),
            op.location,
            op.regions and [[self.block(b) for b in region.blocks] for region in op.regions],
        )

    def block(self, block: Block) -> BlockRecord:
        """Take down a block."""
        names = [argument.name_hint for argument in block.args]
        made = [self.record(op) for op in operations(block)]
        return self.of(block.args), names, tuple(block.arg_types), made

    def of(self, values: Iterable[SSAValue]) -> list[int]:
        """Return the numbers of values."""
        numbers = self.numbers
        return [numbers.setdefault(value, len(numbers)) for value in values]


def _build(record: OpRecord, values: dict[int, SSAValue]) -> Operation:
    kind, operands, results, names, types, properties, attributes, location, regions = record
    made: Operation = kind.create(
        operands=[values[operand] for operand in operands],
        result_types=types,
        properties=properties,
        attributes=attributes,
        location=location,
        regions=[Region([_build_block(block, values) for block in region]) for region in regions],
    )
    _name_alike(results, names, made.results, values)
    return made


def _build_block(record: BlockRecord, values: dict[int, SSAValue]) -> Block:
    arguments, names, types, ops = record
    block = Block(arg_types=types)
    _name_alike(arguments, names, block.args, values)
    for op in ops:
        block.add_op(_build(op, values))
    return block


def _name_alike(
    numbers: Iterable[int],
    names: Iterable[str | None],
    made: Iterable[SSAValue],
    values: dict[int, SSAValue],
) -> None:
    for number, name, value in zip(numbers, names, made, strict=True):
        value.name_hint = name
        values[number] = value
