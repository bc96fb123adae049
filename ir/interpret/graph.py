"""The reference interpreter: run a function of any level on numpy arrays.

Graph operations run by their own `evaluate`; operations with regions, calls, buffers and
launches are handled here and by their `interpret`; kernels of the `loops` level by
`interpret_loops`. Symbols in types are bound from the shapes of the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...counting import is_counted, tell
from ...errors import RuntimeInputError
from ...requirements import check
from ..op import Op
from ..program import Program, find_function, requirements_of
from ..types import dims
from ..types.dims import Dim, DimExpr
from ..types.tensor import Array, TensorSpec
from ..types.values import Spec, value_spec


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
        results = machine.call(find_function(program.module, function), arguments)
        rows = requirements_of(program.module) if function == "main" else []
        if rows:
            *results, found = results
            check(rows, found)
        return results
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
    owners: dict[str, object] = field(default_factory=dict)
    """What bound them, of those that are not the function's own."""

    def call(
        self, function: FuncOp, arguments: Sequence[Array], symbols: Mapping[str, int] | None = None
    ) -> list[Array]:
        """Return the results of a function; symbols are bound from the arguments' shapes.

        Raises `RuntimeInputError` where a shape is not what its parameter says.
        """
        specs = [value_spec(t) for t in function.function_type.inputs]
        arrays = [
            np.asarray(a) if isinstance(s, TensorSpec) else a
            for s, a in zip(specs, arguments, strict=True)
        ]
        tensors = [(s, a) for s, a in zip(specs, arrays, strict=True) if isinstance(s, TensorSpec)]
        bound = bind_symbols([s.shape for s, _ in tensors], [a.shape for _, a in tensors])
        inner = Interpreter(self.module, self.weights, {**bound, **(symbols or {})})
        for number, (spec, array) in enumerate(tensors):  # what is made of symbols is known now
            inner.bind(spec, array, f"argument {number} of {function.sym_name.data}", None)
        results = inner.block(function.body.block, arrays)
        return list(results)

    def bind(self, spec: Spec, value: Any, what: str | Callable[[], str], owner: object) -> None:
        """Give the symbols in a value's shape their values, or raise where it does not fit.

        `what` says which value that is, `owner` is what makes it. A symbol that something else
        has bound is compared; its owner may bind it again, in the next trip of a loop.
        """
        if not isinstance(spec, TensorSpec) or spec.shape is None:
            return
        shape = np.shape(value)
        if shape == spec.shape:
            return
        pairs = zip(spec.shape, shape, strict=False)
        if len(shape) != len(spec.shape) or not all(self.bind_size(*p, owner) for p in pairs):
            said = what if isinstance(what, str) else what()
            raise RuntimeInputError(f"{said}: found shape {[*shape]}, expected {spec}")

    def wanted(self, block: Block) -> Sequence[tuple[int, Spec]]:
        """Return the arguments of a block whose sizes are looked at, with what is known of them."""
        return with_sizes(block.args)

    def bind_size(self, dim: Dim, size: int, owner: object) -> bool:
        """Give a symbol its value; say whether a dimension may have this size."""
        if isinstance(dim, int):
            return bool(dim == size)
        name = dim.text
        if not name.isidentifier():
            told = {x: n for x, n in self.symbols.items() if self.owners.get(x) is not owner}
            if not dims.may_be(dim, size, told):
                return False
            for each in told.keys() - self.symbols.keys():
                self.owners[each] = owner
            self.symbols.update(told)
            return True
        if name not in self.symbols or self.owners.get(name) is owner:
            self.symbols[name], self.owners[name] = size, owner
            return True
        return bool(self.symbols[name] == size)

    def block(self, block: Block, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run a block; return the operands of its terminator."""
        values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
        return self.run(block, values)

    def run(self, block: Block, values: dict[SSAValue, Any]) -> Sequence[Any]:
        """Run the operations of a block over an environment that it extends."""
        is_told = is_counted()
        whole = len(block.ops) if is_told else 0
        for number, op in enumerate(block.ops, 1):
            if is_told:
                tell("operation", number, whole)
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


def with_sizes(values: Sequence[SSAValue]) -> list[tuple[int, Spec]]:
    """Return those values that have sizes, by their places, with what is known of them."""
    specs = enumerate(value_spec(value.type) for value in values)
    return [(i, s) for i, s in specs if isinstance(s, TensorSpec) and s.shape is not None]


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


def resolve(attributes: Mapping[str, Any], symbols: Mapping[str, Dim]) -> dict[str, Any]:
    """Return the attributes with symbolic dimensions replaced by their values; all have one."""
    return {name: _resolve(value, symbols) for name, value in attributes.items()}


def _resolve(value: Any, symbols: Mapping[str, Dim]) -> Any:
    if isinstance(value, DimExpr):
        known = {name: symbols[name] for name in dims.symbols(value)}
        return dims.substitute(value, known)
    if isinstance(value, tuple):
        return tuple(_resolve(v, symbols) for v in value)
    return value
