"""The reference interpreter: run a function of any level on numpy arrays.

Graph operations run by their own `evaluate`; operations with regions, calls, buffers and
launches are handled here and by their `interpret`; kernels of the `loops` level by
`interpret_loops`. Symbols in types are bound from the shapes of the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from . import dims
from .dims import Dim, DimExpr
from .op import Op
from .program import Program, find_function
from .tensor import Array, spec_of


def interpret(
    program: Program | ModuleOp | FuncOp,
    arguments: Sequence[Array],
    *,
    function: str = "main",
    weights: Mapping[str, Array] | None = None,
) -> list[Array]:
    """Return the results of one function for these arguments."""
    if isinstance(program, Program):
        machine = Interpreter(program.module, weights or program.weights)
        return machine.call(find_function(program.module, function), arguments)
    if isinstance(program, ModuleOp):
        return Interpreter(program, weights or {}).call(find_function(program, function), arguments)
    return Interpreter(None, weights or {}).call(program, arguments)


@dataclass
class Interpreter:
    """Runs functions of one module."""

    module: ModuleOp | None
    weights: Mapping[str, Array]
    symbols: dict[str, int] = field(default_factory=dict)
    """The values of the dimension symbols in the function that runs."""

    def call(
        self, function: FuncOp, arguments: Sequence[Array], symbols: Mapping[str, int] | None = None
    ) -> list[Array]:
        """Return the results of a function; symbols are bound from the arguments' shapes."""
        arrays = [np.asarray(a) for a in arguments]
        types = list(function.function_type.inputs)
        bound = bind_symbols([spec_of(t).shape for t in types], [a.shape for a in arrays])
        inner = Interpreter(self.module, self.weights, {**bound, **(symbols or {})})
        results = inner.block(function.body.block, arrays)
        return list(results)

    def block(self, block: Block, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run a block; return the operands of its terminator."""
        values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
        return self.run(block, values)

    def run(self, block: Block, values: dict[SSAValue, Any]) -> Sequence[Any]:
        """Run the operations of a block over an environment that it extends."""
        for op in block.ops:
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, ReturnOp) or op.name == "gv.yield":
                return operands
            results = self.operation(op, operands, values)
            values.update(zip(op.results, results, strict=True))
        return ()

    def operation(
        self, op: Operation, operands: Sequence[Any], values: dict[SSAValue, Any]
    ) -> Sequence[Any]:
        """Return the results of one operation."""
        if isinstance(op, CallOp):
            assert self.module is not None, "a call needs a module"
            return self.call(find_function(self.module, op.callee.root_reference.data), operands)
        assert isinstance(op, Op), f"cannot interpret {op.name}"
        if hasattr(op, "interpret"):
            return list(op.interpret(self, operands, values))
        attributes = resolve(op.plain_attributes(), self.symbols)
        with np.errstate(all="ignore"):
            return list(op.evaluate(*operands, **attributes))


def bind_symbols(
    declared: Sequence[tuple[Dim, ...] | None], shapes: Sequence[tuple[int, ...]]
) -> dict[str, int]:
    """Return the values of the symbols that stand alone as a dimension."""
    bound: dict[str, int] = {}
    for dimensions, shape in zip(declared, shapes, strict=True):
        for dim, value in zip(dimensions or (), shape, strict=dimensions is not None):
            if isinstance(dim, DimExpr) and str(dim).isidentifier():
                known = bound.setdefault(str(dim), value)
                if known != value:
                    raise ValueError(f"dimension {dim} is {known} and {value}")
    return bound


def resolve(attributes: dict[str, Any], symbols: Mapping[str, int]) -> dict[str, Any]:
    """Return the attributes with symbolic dimensions replaced by their values."""
    return {name: _resolve(value, symbols) for name, value in attributes.items()}


def _resolve(value: Any, symbols: Mapping[str, int]) -> Any:
    if isinstance(value, DimExpr):
        return dims.evaluate(value, symbols)
    if isinstance(value, tuple):
        return tuple(_resolve(v, symbols) for v in value)
    return value
