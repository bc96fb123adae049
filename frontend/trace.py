"""`Trace`: a context that appends operations to a block, and makes a function of it.

    trace = Trace("function 'f'")
    x = trace.argument("x", spec)
    with entered(trace):
        y = f(x)
    function = trace.finish("f", {"y": y})       a func.func

What comes from outside (eager tensors, tensors of a context further out) passes through
`capture`: here it becomes a constant; a function overrides it to capture by reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from ..ir.build import GraphEmit
from ..ir.op import Op
from ..ir.ops.structure import Constant
from ..ir.program import NAME
from ..ir.types.dtypes import DType
from ..ir.types.tensor import TensorSpec
from .eager.kernels import OperandError
from .eager.tensor import Tensor, as_tensor, cast
from .graph.symbolic import SymbolicTensor, leaked
from .values.context import STATE, Context
from .values.origin import short, user_line


class Trace(Context):
    """A block that grows."""

    def __init__(self, name: str, outer: Context | None = None) -> None:
        self.name = name
        self.outer = outer if outer is not None else STATE.context
        """The context in which this one was begun: its tensors may be captured."""
        self.block = Block()
        """What is appended to; its arguments are the trace's."""
        self.names: list[str] = []
        self.known: dict[int, tuple[Any, SSAValue]] = {}
        """What was captured, by identity."""

    def argument(self, name: str, spec: TensorSpec) -> SymbolicTensor:
        """Add an argument."""
        value = self.block.insert_arg(spec.type, len(self.block.args))
        value.name_hint = name if name.isascii() and name.isidentifier() else None
        self.names.append(name)
        return SymbolicTensor(self, value)

    def apply(self, op: type[Op], operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """Append an operation."""
        line = user_line()
        emit = GraphEmit.at_end(self.block, line)
        values = [self.owned(x) for x in operands]
        try:
            made = emit(op, *values, **attributes)
        except OperandError:
            raise  # it names its place already
        except TypeError as error:
            raise OperandError(str(error), location=short(line)) from None
        return self.wrapped(made) if not isinstance(made, tuple) else tuple(map(self.wrapped, made))

    def wrapped(self, value: SSAValue) -> SymbolicTensor:
        """Return the tensor for a value of the block."""
        return SymbolicTensor(self, value)

    def convert(self, value: Any, dtype: DType | None = None) -> Tensor:
        """Return a value as a tensor of this trace."""
        tensor = as_tensor(value, dtype)
        tensor = tensor if dtype is None else cast(tensor, dtype)
        return self.wrapped(self.owned(tensor))

    def owned(self, tensor: Tensor) -> SSAValue:
        """Return the value of the block for a tensor, which is captured if it is not of here."""
        if isinstance(tensor, SymbolicTensor):
            if tensor.graph is self:
                return tensor.value
            if not self.is_inside(tensor.graph):
                raise leaked(tensor)
        key = id(tensor)
        if key not in self.known:
            self.known[key] = (tensor, self.capture(tensor))
        return self.known[key][1]

    def is_inside(self, graph: Context) -> bool:
        """Say whether this trace was begun inside another one, which goes on."""
        outer = self.outer
        while outer is not None and outer is not graph:
            outer = getattr(outer, "outer", None)
        return outer is not None and not graph.is_finished

    def capture(self, tensor: Tensor) -> SSAValue:
        """Return the value that stands for a tensor from outside: of an eager one, a constant."""
        if isinstance(tensor, SymbolicTensor):
            raise leaked(tensor)
        made: SSAValue = GraphEmit.at_end(self.block)(Constant, value=tensor.numpy())
        return made

    def finish(self, name: str, results: Mapping[str, object]) -> FuncOp:
        """End the trace; return the function of its arguments with named results."""
        values = [self.owned(as_tensor(x)) for x in results.values()]
        self.is_finished = True
        inputs = [argument.type for argument in self.block.args]
        self.block.add_op(ReturnOp(*values))
        made = FuncOp(
            name,
            FunctionType.from_lists(inputs, [v.type for v in values]),
            Region(self.block),
            arg_attrs=_named(self.names),
        )
        made.properties["res_attrs"] = _named(list(results))
        return made


def _named(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({NAME: StringAttr(name)}) for name in names])
