"""Compute all shapes again from those of the arguments.

    // @main(%x: tensor<4xf32>) was changed to tensor<8xf32>
    %0 = gv.exp %x : ... -> tensor<4xf32>      =>      %0 = gv.exp %x : ... -> tensor<8xf32>

Run it after the types of arguments were changed. `dims` gives symbols a value, everywhere:
`infer-shapes{dims=N=4,M=8}`. An operation that the new shapes do not fit is an error at its
place; all such are reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import Rewriter

from ..errors import GraphError
from ..ir import Dim, DimExpr, Op, Program, TensorSpec, spec_of
from ..ir.program import RANGES, functions, ranges_of, returned, set_ranges
from ..ir.types import dims
from ..ir.types.attributes import to_attribute, to_python
from ..ir.verify import Fault, InvalidModuleError
from .base import Pass, PipelineError


@dataclass(frozen=True)
class InferShapes(Pass):
    """Compute all shapes again from those of the arguments."""

    LEVEL = "graph"

    dims: tuple[str, ...] = ()
    """Values of symbols, each as `N=4`."""

    def apply(self, program: Program) -> None:
        """Give symbols their values, then infer in program order."""
        values = parse_values(self.dims)
        if values:
            check_ranges(values, program)
        faults: list[Fault] = []
        for function in functions(program.module):
            for block in function.body.blocks:
                self.renew_arguments(block, values)
                self.renew_block(block, values, faults)
            renew_signature(function)
        if faults:
            raise InvalidModuleError(faults)

    def renew_arguments(self, block: Block, values: Mapping[str, Dim]) -> None:
        """Give the symbols in the types of a block's arguments their values."""
        for argument in tuple(block.args):
            self.renew(argument, substituted(argument.type, values))

    def renew_block(self, block: Block, values: Mapping[str, Dim], faults: list[Fault]) -> None:
        """Infer the result types of a block's operations."""
        for op in block.ops:
            for region in op.regions:
                for inner in region.blocks:
                    self.renew_arguments(inner, values)
                    self.renew_block(inner, values, faults)
            if not isinstance(op, Op):
                continue
            if values:
                renew_attributes(op, values)
            try:
                types = self.types_of(op, values)
            except TypeError as error:
                faults.append(Fault(op, str(error)))
                continue
            for result, type_ in zip(tuple(op.results), types, strict=True):
                self.renew(result, type_)

    def types_of(self, op: Op, values: Mapping[str, Dim]) -> list[Attribute]:
        """Return the result types of an operation; of one with regions, the old ones."""
        if op.regions:
            return [substituted(result.type, values) for result in op.results]
        return [spec.type for spec in op.infer(*op.specs, **op.plain_attributes())]

    def renew(self, value: SSAValue, type_: Attribute) -> None:
        """Give a value its type."""
        if value.type != type_:
            Rewriter.replace_value_with_new_type(value, type_)
            self.count("changed")


def parse_values(texts: tuple[str, ...]) -> dict[str, Dim]:
    """Return the values of symbols from texts such as `N=4`."""
    values: dict[str, Dim] = {}
    for text in texts:
        name, equals, number = text.partition("=")
        if not equals or not name.isidentifier() or not number.isdigit():
            raise PipelineError(f"dims has {text!r}, expected SYMBOL=NUMBER")
        values[name] = int(number)
    return values


def check_ranges(values: Mapping[str, Dim], program: Program) -> None:
    """Check values against the declared ranges, and drop the ranges of these symbols."""
    ranges = ranges_of(program.module)
    for name, value in values.items():
        low, high = ranges.pop(name, (0, None))
        assert isinstance(value, int), "values of symbols are numbers"
        if value < low or (high is not None and value > high):
            expected = f"{low} to {high}" if high is not None else f"at least {low}"
            raise GraphError(f"dimension {name} is {value}, expected {expected}")
    program.module.attributes.pop(RANGES, None)
    set_ranges(program.module, ranges)


def renew_attributes(op: Op, values: Mapping[str, Dim]) -> None:
    """Give the symbols in an operation's attributes their values."""
    for name, attribute in op.properties.items():
        plain = to_python(attribute)
        changed = with_values(plain, values)
        if changed is not plain:
            op.properties[name] = to_attribute(changed)


def with_values(value: Any, values: Mapping[str, Dim]) -> Any:
    """Return a plain attribute with symbols replaced; itself if it has none."""
    if isinstance(value, DimExpr):
        return dims.substitute(value, values)
    if isinstance(value, tuple):
        changed = tuple(with_values(part, values) for part in value)
        same = all(a is b for a, b in zip(value, changed, strict=True))
        return value if same else changed
    return value


def substituted(type_: Attribute, values: Mapping[str, Dim]) -> Attribute:
    """Return a tensor type with symbols replaced."""
    if not values:
        return type_
    spec = spec_of(type_)
    if spec.shape is None:
        return type_
    shape = tuple(dims.substitute(dim, values) for dim in spec.shape)
    return TensorSpec(spec.dtype, shape).type


def renew_signature(function: FuncOp) -> None:
    """Write the types of a function's arguments and results."""
    inputs = [argument.type for argument in function.body.block.args]
    outputs = [value.type for value in returned(function)]
    function.function_type = FunctionType.from_lists(inputs, outputs)
