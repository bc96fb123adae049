"""`Trace`: a context for tests, which appends operations to a block and makes a function of it.

    trace = Trace("function 'f'")
    x = trace.argument("x", spec)
    with entered(trace):
        y = f(x)
    function = trace.finish("f", {"y": y})       a func.func

What comes from outside becomes a constant. It is the least that a context can be: what is
traced into it is what the functions of the frontend apply, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from gravure.frontend.eager.kernels import OperandError
from gravure.frontend.eager.tensor import Tensor, as_tensor, cast
from gravure.frontend.graph.symbolic import SymbolicTensor, leaked
from gravure.frontend.values.context import STATE, Context
from gravure.frontend.values.origin import short, user_frame
from gravure.ir.build import SOURCE, GraphEmit
from gravure.ir.op import Op
from gravure.ir.ops.structure import Constant
from gravure.ir.program import NAME
from gravure.ir.types.dtypes import DType
from gravure.ir.types.tensor import TensorSpec, spec_of


def caller_line() -> str:
    """Return the line of the test that is running."""
    frame = user_frame()
    while frame is not None:
        ours = str(frame.f_globals.get("__name__")).startswith("gravure.")
        if not ours and frame.f_code.co_filename != __file__:
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class TracedTensor(SymbolicTensor):
    """A value of a block."""

    __slots__ = ("value",)

    def __init__(self, graph: Context, value: SSAValue) -> None:
        self.graph, self.value, self._spec = graph, value, spec_of(value.type)

    @property
    def source(self) -> str:
        owner = self.value.owner
        line = owner.attributes.get(SOURCE) if isinstance(owner, Operation) else None
        return line.data if isinstance(line, StringAttr) else ""

    def alias(self) -> Tensor:
        return TracedTensor(self.graph, self.value)


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

    def argument(self, name: str, spec: TensorSpec) -> TracedTensor:
        """Add an argument."""
        value = self.block.insert_arg(spec.type, len(self.block.args))
        value.name_hint = name if name.isascii() and name.isidentifier() else None
        self.names.append(name)
        return TracedTensor(self, value)

    def apply(self, op: type[Op], operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """Append an operation."""
        line = caller_line()
        emit = GraphEmit.at_end(self.block, line)
        values = [self.owned(x) for x in operands]
        try:
            made = emit(op, *values, **attributes)
        except OperandError:
            raise  # it names its place already
        except TypeError as error:
            raise OperandError(str(error), location=short(line)) from None
        return self.wrapped(made) if not isinstance(made, tuple) else tuple(map(self.wrapped, made))

    def wrapped(self, value: SSAValue) -> TracedTensor:
        """Return the tensor for a value of the block."""
        return TracedTensor(self, value)

    def convert(self, value: Any, dtype: DType | None = None) -> Tensor:
        """Return a value as a tensor of this trace."""
        tensor = as_tensor(value, dtype)
        tensor = tensor if dtype is None else cast(tensor, dtype)
        return self.wrapped(self.owned(tensor))

    def owned(self, tensor: Tensor) -> SSAValue:
        """Return the value of the block for a tensor, which is captured if it is not of here."""
        if isinstance(tensor, TracedTensor):
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
