"""`Program`: a module and the weights that its `gv.weight` operations name.

Functions of a program: `@main` (or another entry that carries `gv.entry`) is what runs;
`@prepare`, if there is one, is run once over the raw weights and its results are stored
as further weights (its result names). Inputs, outputs and symbol ranges are attributes:

    module attributes {gv.level = "graph", gv.ranges = {N = array<i64: 1, 64>}}
    func.func @main(%x: tensor<...> {gv.name = "x"}) -> (tensor<...> {gv.name = "y"})
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ..requirements import Requirement
from .types.dims import Range
from .types.tensor import Array, TensorSpec, spec_of
from .types.values import Spec

NAME = "gv.name"
LEVEL = "gv.level"
RANGES = "gv.ranges"
OVER = "gv.over"
REQUIREMENTS = "gv.requirements"
"""Of a module: what it requires of values, as JSON; its last result says which was found wrong."""
"""Attribute of a result: the number of the argument in whose place it may be written.

What the argument was is read before that, so callers may give one buffer for both, or two.
"""


@dataclass
class Program:
    """A module with its weights (mapped arrays, never copied into the text)."""

    module: ModuleOp
    weights: Mapping[str, Array] = field(default_factory=dict)
    source: str = ""
    """Where it came from, for messages: a file name or a function."""
    assumed: Sequence[tuple[str, str]] = ()
    """What is taken for granted of its symbols, and why: such as `M = N` and a node."""

    @property
    def main(self) -> FuncOp:
        """Return the entry function."""
        return find_function(self.module, "main")

    @property
    def level(self) -> str:
        """Return the level that the module is on."""
        level = self.module.attributes.get(LEVEL)
        return level.data if isinstance(level, StringAttr) else "graph"

    @property
    def ranges(self) -> dict[str, Range]:
        """Return the range of each symbol."""
        return ranges_of(self.module)


def find_function(module: ModuleOp, name: str) -> FuncOp:
    """Return the function of this name."""
    found = optional_function(module, name)
    assert found is not None, f"the module has no function @{name}"
    return found


def optional_function(module: ModuleOp, name: str) -> FuncOp | None:
    """Return the function of this name, or None."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == name:
            return op
    return None


def functions(module: ModuleOp) -> list[FuncOp]:
    """Return all functions in order."""
    return [op for op in module.ops if isinstance(op, FuncOp)]


def by_name(module: ModuleOp) -> dict[str, FuncOp]:
    """Return all functions by their names."""
    return {function.sym_name.data: function for function in functions(module)}


def set_level(module: ModuleOp, level: str) -> None:
    """Write the level into the module."""
    module.attributes[LEVEL] = StringAttr(level)


def ranges_of(module: ModuleOp) -> dict[str, Range]:
    """Return the declared range of each symbol; a high end of -1 means unbounded."""
    attribute = module.attributes.get(RANGES)
    if not isinstance(attribute, DictionaryAttr):
        return {}
    found: dict[str, Range] = {}
    for name, value in attribute.data.items():
        assert isinstance(value, DenseArrayBase), f"range of {name} is {value}"
        low, high = (int(v) for v in value.get_values())
        found[name] = (low, None if high < 0 else high)
    return found


def set_ranges(module: ModuleOp, ranges: Mapping[str, Range]) -> None:
    """Write the range of each symbol into the module."""
    if ranges:
        rows: dict[str, Attribute] = {
            name: DenseArrayBase.from_list(i64, [low, -1 if high is None else high])
            for name, (low, high) in ranges.items()
        }
        module.attributes[RANGES] = DictionaryAttr(rows)


def argument_names(function: FuncOp) -> list[str]:
    """Return the name of each argument; `arg0` and so on where none is given."""
    return _names(function.arg_attrs, len(function.function_type.inputs), "arg")


def result_names(function: FuncOp) -> list[str]:
    """Return the name of each result; `result0` and so on where none is given."""
    return _names(function.res_attrs, len(function.function_type.outputs), "result")


def argument_specs(function: FuncOp) -> list[TensorSpec]:
    """Return the spec of each argument."""
    return [spec_of(t) for t in function.function_type.inputs]


def result_specs(function: FuncOp) -> list[TensorSpec]:
    """Return the spec of each result."""
    return [spec_of(t) for t in function.function_type.outputs]


def returned(function: FuncOp) -> Sequence[SSAValue]:
    """Return the values that a function returns."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp), f"@{function.sym_name.data} does not return"
    return tuple(last.operands)


def new_function(name: str, inputs: Sequence[tuple[str, Spec]], *, private: bool = False) -> FuncOp:
    """Return a function with an empty body; close it with `finish`."""
    types = [spec.type for _, spec in inputs]
    made = FuncOp(
        name,
        FunctionType.from_lists(types, []),
        Region(Block(arg_types=types)),
        visibility="private" if private else None,
        arg_attrs=_name_attributes([n for n, _ in inputs]),
    )
    for argument, (hint, _) in zip(made.body.block.args, inputs, strict=True):
        argument.name_hint = hint if hint.isascii() and hint.isidentifier() else None
    return made


def finish(function: FuncOp, values: Sequence[SSAValue], names: Sequence[str]) -> None:
    """Append the return and write the result types and names."""
    function.body.block.add_op(ReturnOp(*values))
    inputs = [argument.type for argument in function.body.block.args]
    function.function_type = FunctionType.from_lists(inputs, [v.type for v in values])
    if names:
        function.properties["res_attrs"] = _name_attributes(names)


def requirements_of(module: ModuleOp) -> list[Any]:
    """Return what a program requires of values; if anything, its last result tells of it."""
    row = module.attributes.get(REQUIREMENTS)
    return json.loads(row.data) if isinstance(row, StringAttr) else []


def set_requirements(module: ModuleOp, rows: Sequence[Requirement]) -> None:
    """Say what the last result of a program tells of."""
    if rows:
        text = json.dumps([row.as_json() for row in rows])
        module.attributes[REQUIREMENTS] = StringAttr(text)


def forget_requirements(program: Program) -> None:
    """Take the result away that tells of requirements."""
    if not requirements_of(program.module):
        return
    main = program.main
    end = main.body.block.last_op
    assert isinstance(end, ReturnOp), "requirements are those of graphs"
    names = result_names(main)[:-1]
    main.body.block.erase_op(end)
    finish(main, list(end.operands)[:-1], names)
    del program.module.attributes[REQUIREMENTS]


def lay_over(function: FuncOp, pairs: Mapping[int, int]) -> None:
    """Let results of a finished function lie where arguments of the same type may lie."""
    rows = function.properties["res_attrs"]
    assert isinstance(rows, ArrayAttr), "finish gives results their names"
    made = [
        DictionaryAttr({**row.data, OVER: IntegerAttr(pairs[i], i64)}) if i in pairs else row
        for i, row in enumerate(rows.data)
    ]
    function.properties["res_attrs"] = ArrayAttr(made)


def laid_over(rows: ArrayAttr[DictionaryAttr] | None) -> dict[int, int]:
    """Return which results (or arguments that are outputs) may lie over which arguments."""
    found = [row.data.get(OVER) for row in rows.data] if rows is not None else []
    return {i: row.value.data for i, row in enumerate(found) if isinstance(row, IntegerAttr)}


def _name_attributes(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({NAME: StringAttr(name)}) for name in names])


def _names(rows: ArrayAttr[DictionaryAttr] | None, count: int, stem: str) -> list[str]:
    names = [f"{stem}{i}" for i in range(count)]
    for i, row in enumerate(rows.data if rows is not None else ()):
        if isinstance(name := row.data.get(NAME), StringAttr):
            names[i] = name.data
    return names
