"""Graphs of functions as TensorFlow shows them: results have nodes of their own, `Identity`.

Nothing runs these. They are made when somebody looks at a graph whose trace has ended.
"""

from __future__ import annotations

from threading import RLock

from ...formats.messages import FunctionDef
from ...formats.tensors import NUMBERS
from ...function.traces import ConcreteFunction
from ...graph.func_graph import FuncGraph
from ...graph.graph import GraphTensor, Operation
from ...values.context import entered
from ..ops.math_ops import identity
from .graph_messages import add_node

NAMED = {
    "z": "Add AddV2 ApproximateEqual Atan2 BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan Equal "
    "FloorDiv FloorMod Greater GreaterEqual LeftShift Less LessEqual LogicalAnd LogicalOr Maximum "
    "Minimum Mod Mul MulNoNan NotEqual Pow RealDiv RightShift SquaredDifference Sub TruncateDiv "
    "TruncateMod Xdivy Xlog1py Xlogy",
    "y": "Abs Acos Acosh Asin Asinh Atan Atanh Cast Ceil Cos Cosh Digamma Erf Erfc Exp Expm1 Floor "
    "Inv Invert IsFinite IsInf IsNan Lgamma Log Log1p LogicalNot Neg OnesLike Reciprocal Rint "
    "Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh Transpose ZerosLike",
    "activations": "Elu LeakyRelu Relu Relu6 Selu",
    "backprops": "EluGrad LeakyReluGrad Relu6Grad ReluGrad",
    "product": "Cross MatMul",
    "value": "ReadVariableOp",
    "sum": "AddN",
    "band": "MatrixBandPart",
    "diagonal": "MatrixDiagPart DiagPart",
}
"""How the result of an operation is called in functions as data, where it is not `output`."""
CALLED = {type_: name for name, types in NAMED.items() for type_ in types.split()}
LOOKING = RLock()


class LookedAt(FuncGraph):
    """A graph that shows nodes of its results."""

    _shown: list[GraphTensor] | None = None

    def __repr__(self) -> str:
        name = self.name.removeprefix("function ").strip("'")
        return f"FuncGraph(name={name}, id={id(self)})"

    def shown_outputs(self) -> list[GraphTensor]:
        """Return the results as nodes of their own, if it is that of a function which is traced."""
        if self.structured is None or not self.is_finished:
            return self.outputs
        with LOOKING:
            if self._shown is None:
                with entered(self), self.name_scope(None), self.control_dependencies(None):
                    self._shown = [self.owned(identity(x, "Identity")) for x in self.outputs]
        return self._shown

    def get_operations(self) -> list[Operation]:
        """Return all operations in the order they were made."""
        self.shown_outputs()
        return super().get_operations()

    def get_operation_by_name(self, name: str) -> Operation:
        """Return the operation of a name."""
        self.shown_outputs()
        return super().get_operation_by_name(name)

    def get_tensor_by_name(self, name: str) -> GraphTensor:
        """Return the tensor of a name `operation:output`."""
        self.shown_outputs()
        return super().get_tensor_by_name(name)


def function_message(trace: ConcreteFunction) -> FunctionDef:
    """Return a trace as a message: its parameters, its results, the nodes between."""
    graph, made = trace.graph, FunctionDef()
    shown = graph.shown_outputs()
    made.signature.name = trace.name.decode()
    given = {tensor.op: tensor for tensor in graph.all_inputs}
    for tensor in given.values():
        number = NUMBERS.get(str(tensor.spec.dtype), 0)
        made.signature.input_arg.add(name=tensor.op.name.lower(), type=number)
    for op in graph.operations:
        if op in given:
            continue
        node = made.node_def.add()
        add_node(node, op, {})
        ports = [x.op.name.lower() if x.op in given else _port(x) for x in op.inputs]
        node.input[: len(ports)] = ports
    for tensor in shown:
        label = tensor.op.name.lower()
        number = NUMBERS.get(str(tensor.spec.dtype), 0)
        made.signature.output_arg.add(name=label, type=number)
        made.ret[label] = _port(tensor)
    return made


def _port(tensor: GraphTensor) -> str:
    """Return a result as nodes of functions name it."""
    return f"{tensor.op.name}:{CALLED.get(tensor.op.type, 'output')}:{tensor.value_index}"
