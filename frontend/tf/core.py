"""Tensors with TensorFlow's rules, and how a function becomes an operation by its name.

Element types are never promoted: a Python number takes the type of the tensor that it meets, two
tensors must agree. `op` makes an operation of a function of a `Maker` and values: called eagerly
it computes, in a graph it adds one node.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir import dtypes as rows
from ...ir.compositions import Maker
from ...ir.dtypes import DType
from ...ir.tensor import Array, TensorSpec
from .. import dtypes
from ..context import STATE, record
from ..eager import OperandError
from ..gradients import node_backward
from ..graph import Graph, GraphTensor, dims_or_none, spec_with_unknowns
from ..kinds import TEXT, Composite
from ..run_errors import InvalidArgumentError, OpError
from ..symbolic import SymbolicError
from ..tensor import Tensor, apply
from .shapes import TensorShape

OPERATORS: dict[str, Callable[..., Any]] = {}
"""The operators' functions, filled in by `math_ops` and `array_ops`."""


def _operator(name: str, *, turned: bool = False) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return OPERATORS[name](other, self) if turned else OPERATORS[name](self, other)

    return method


class Common:
    """What all of TensorFlow's tensors and variables have."""

    __slots__ = ()
    spec: Any

    @property
    def shape(self) -> TensorShape:
        """Return the shape."""
        return TensorShape(dims_or_none(self.spec.shape))

    @property
    def dtype(self) -> Any:
        """Return the element type."""
        dtype = self.spec.dtype
        return dtypes.string if dtype.kind == "s" else dtypes.as_dtype(dtype)

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self.shape

    def _operate(self, *values: Any) -> Any:
        raise NotImplementedError

    __add__, __radd__ = _operator("add"), _operator("add", turned=True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", turned=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", turned=True)
    __truediv__, __rtruediv__ = _operator("truediv"), _operator("truediv", turned=True)
    __floordiv__, __rfloordiv__ = _operator("floordiv"), _operator("floordiv", turned=True)
    __mod__, __rmod__ = _operator("mod"), _operator("mod", turned=True)
    __pow__, __rpow__ = _operator("pow"), _operator("pow", turned=True)
    __matmul__, __rmatmul__ = _operator("matmul"), _operator("matmul", turned=True)
    __and__, __rand__ = _operator("and"), _operator("and", turned=True)
    __or__, __ror__ = _operator("or"), _operator("or", turned=True)
    __xor__, __rxor__ = _operator("xor"), _operator("xor", turned=True)
    __lt__, __le__ = _operator("less"), _operator("less_equal")
    __gt__, __ge__ = _operator("greater"), _operator("greater_equal")
    __eq__, __ne__ = _operator("equal"), _operator("not_equal")
    __getitem__ = _operator("getitem")

    def __neg__(self) -> Any:
        return OPERATORS["neg"](self)

    def __invert__(self) -> Any:
        return OPERATORS["invert"](self)

    def __abs__(self) -> Any:
        return OPERATORS["abs"](self)

    def __hash__(self) -> int:
        return id(self)


# Shapes are TensorShapes here.
class EagerTensor(Common, Tensor):  # type: ignore[misc]
    """A value that has been computed."""

    __slots__ = ()

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""
        array = self._array
        return TensorSpec(TEXT, array.shape) if array.dtype.kind == "O" else Tensor.spec.fget(self)  # type: ignore[attr-defined]

    def numpy(self) -> Any:
        """Return the array, of one element without axes a number of numpy's."""
        return (
            self._array[()]
            if self._array.ndim == 0 and self._array.dtype.kind == "O"
            else self._array
        )

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._array)

    def __iter__(self) -> Any:
        if not self._array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self._array)))

    def __bool__(self) -> bool:
        return bool(self._array)

    def __float__(self) -> float:
        if self._array.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return float(self._array)

    def __int__(self) -> int:
        if self._array.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return int(self._array)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("'EagerTensor' object does not support item assignment")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._array, dtype, copy=copy)

    @property
    def device(self) -> Any:
        """Return where the elements lie."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def cpu(self) -> EagerTensor:
        """Return the tensor on the CPU."""
        return self

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype}, numpy={self._array!r}>"

    def __str__(self) -> str:
        return f"tf.Tensor({self._array}, shape={self.shape}, dtype={self.dtype})"

    def __reduce__(self) -> Any:
        return wrap, (np.array(self._array),)


class NotAllowedInGraphError(SymbolicError):
    """Python asked for the elements of a tensor of a graph."""

    code = "GV2311"


# Shapes are TensorShapes here.
class SymbolicTfTensor(Common, GraphTensor):  # type: ignore[misc]
    """An edge of a graph."""

    __slots__ = ()

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""
        return self._spec

    @property
    def device(self) -> Any:
        """Return the device asked for."""
        return self.op.device

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return the value in a session."""
        from ..session import default_session  # noqa: PLC0415

        found = session or default_session()
        if found is None:
            raise ValueError(
                "Cannot evaluate tensor using `eval()`: No default session is registered. Use "
                "`with sess.as_default()` or pass an explicit session to `eval(session=sess)`"
            )
        return found.run(self, feed_dict)

    def __len__(self) -> int:
        raise TypeError("len is not well defined for a symbolic Tensor; use x.shape[0]")

    def __iter__(self) -> Any:
        dims = self.shape._dims
        if not dims or dims[0] is None:
            self._refuse("a loop", "use tf.while_loop or tf.map_fn")
        return (self[i] for i in range(int(dims[0])))

    def set_shape(self, shape: Any) -> None:
        """State what is known of the shape."""
        super().set_shape(TensorShape(shape).as_list())

    def __repr__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype})'


def wrap(array: Any) -> Any:
    """Return an array as an eager tensor."""
    return EagerTensor(np.asarray(array))


def dressed(value: Any) -> Any:
    """Let a tensor of the core behave as TensorFlow's, and remain the same object."""
    if value.__class__ is Tensor:
        value.__class__ = EagerTensor
    elif value.__class__ is GraphTensor:
        value.__class__ = SymbolicTfTensor
    return value


def row_of(dtype: Any) -> DType | None:
    """Return the row of an element type, None of None."""
    if dtype is None or isinstance(dtype, DType):
        return dtype
    found = dtypes.as_dtype(dtype)
    return TEXT if found is dtypes.string else found.row


PYTHON: dict[type, DType] = {bool: rows.bool_, int: rows.i32, float: rows.f32, complex: rows.c128}


def array_of(value: Any, dtype: DType | None = None) -> Array:
    """Return a Python value as an array by TensorFlow's rules: int32 and float32."""
    typed = isinstance(value, np.ndarray | np.generic)
    array = np.asarray(value)
    if array.dtype.kind in "SUO":
        flat = [x.encode() if isinstance(x, str) else x for x in array.ravel().tolist()]
        if any(not isinstance(x, bytes) for x in flat):
            raise TypeError(f"{value!r} cannot be converted to a tensor")
        made = np.empty(array.shape, object)
        made.ravel()[:] = flat
        return made.reshape(array.shape)
    if dtype is not None:
        kinds = {"f": "fiub", "c": "cfiub", "i": "iub", "u": "iub", "b": "b"}
        if not array.size:
            return array.astype(dtype.numpy)
        small = array.dtype.kind == "V" or array.dtype == rows.bf16.numpy
        if not small and array.dtype.kind not in kinds.get(dtype.kind, ""):
            raise TypeError(f"cannot convert {value!r} to {dtype}")
        return array if typed and array.dtype == dtype.numpy else array.astype(dtype.numpy)
    if not typed and not _typed_inside(value):
        if array.dtype == np.int64:
            return array.astype(np.int32) if np.abs(array).max(initial=0) < 2**31 else array
        if array.dtype == np.float64:
            return array.astype(np.float32)
    return array


def _typed_inside(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_typed_inside, value))
    return isinstance(value, np.ndarray | np.generic)


def convert(value: Any, dtype: Any = None) -> Any:
    """Return a value as a tensor; `dtype` is that of numbers, and must be that of tensors."""
    row = row_of(dtype)
    read = getattr(value, "__gv_tensor__", None)
    found = read() if read is not None else value
    if hasattr(found, "to_dense"):
        found = found.to_dense()
    if isinstance(found, Tensor):
        if row is not None and found.spec.dtype != row:
            raise ValueError(
                f"Tensor conversion requested dtype {row} for Tensor with dtype {found.spec.dtype}"
            )
        return dressed(found)
    if isinstance(found, list | tuple) and _has_tensors(found):
        return OPERATORS["stack"]([convert(x, dtype) for x in found])
    if isinstance(found, TensorShape):
        found = found.as_list()
    array = array_of(found, row)
    graph = STATE.context
    if isinstance(graph, Graph):
        return graph.constant(array)
    return EagerTensor(array)


def _has_tensors(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_tensors, value))
    return isinstance(value, Tensor) or hasattr(value, "__gv_tensor__")


def same(*values: Any) -> list[Any]:
    """Return values as tensors of one element type: Python numbers take that of a tensor."""
    ready = [convert(v) if _is_typed(v) else None for v in values]
    row = next((x.spec.dtype for x in ready if x is not None), None)
    if row is None:
        kinds = [array_of(v).dtype for v in values]
        wide = next((k for k in kinds if k.kind in "fc"), kinds[0])
        row = rows.of_numpy(wide) if wide.kind != "O" else None
    made = []
    for value, x in zip(values, ready, strict=True):
        if x is not None and row is not None and x.spec.dtype != row:
            raise InvalidTypesError(
                f"cannot compute as an input was expected to be a {row} tensor but is a "
                f"{x.spec.dtype} tensor"
            )
        try:
            made.append(convert(value, row) if x is None else x)
        except TypeError as error:
            raise InvalidTypesError(
                f"cannot compute as an input was expected to be a {row} tensor: {error}"
            ) from None
    return made


class InvalidTypesError(InvalidArgumentError, TypeError):
    """Element types differ."""

    code = "GV2318"


class InvalidShapesError(InvalidArgumentError, ValueError):
    """Operands of a graph do not fit together."""

    code = "GV2319"


def _is_typed(value: Any) -> bool:
    return (
        isinstance(value, Tensor | np.ndarray | np.generic)
        or hasattr(value, "__gv_tensor__")
        or hasattr(value, "to_dense")
        or (isinstance(value, list | tuple) and any(map(_is_typed, value)))
    )


def graph_of(values: Sequence[Any]) -> Graph | None:
    """Return the graph that operations on values go to, None to run them now."""
    context = STATE.context
    if isinstance(context, Graph):
        return context
    for value in values:
        if isinstance(value, GraphTensor):
            value.home()  # raises if the tensor has leaked
            return value.graph
        if isinstance(value, list | tuple):
            inner = graph_of(value)
            if inner is not None:
                return inner
        home = getattr(value, "graph", None)
        if isinstance(home, Graph) and hasattr(value, "__gv_tensor__"):
            return home
    return None


def perform(
    type_: str,
    function: Callable[..., Any],
    tensors: Sequence[Any],
    *,
    name: str | None = None,
    label: str = "",
    differentiable: bool | None = True,
) -> Any:
    """Carry out an operation that is a function of a `Maker` and values."""
    graph = graph_of(tensors)
    if graph is None:
        try:
            with np.errstate(all="ignore"):
                made = function(Maker(apply), *tensors)
        except (OpError, InvalidShapesError):
            raise
        except (OperandError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            raise InvalidShapesError(f"{error} [Op:{type_}]") from error
        if isinstance(made, tuple | list):
            return [dressed(_tensor(x)) for x in made]
        return dressed(_tensor(made))
    inputs = [graph.owned(x) for x in tensors]
    known = {i: x.op.attributes["value"] for i, x in enumerate(inputs) if x.op.type == "Const"}
    kind = Composite(type_, function, name=label, differentiable=differentiable)
    try:
        op = graph.add(kind, inputs, {"known": known}, name=name)
    except TypeError as error:
        raise InvalidShapesError(str(error)) from None
    if STATE.recorders:
        backward, _ = node_backward(op)
        record(type_, tensors, op.outputs, backward)
    return op.outputs[0] if not op_is_list(function) and len(op.outputs) == 1 else list(op.outputs)


def op_is_list(function: Callable[..., Any]) -> bool:
    """Say whether a function returns a list even of one."""
    return bool(getattr(function, "gives_list", False))


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else Tensor(np.asarray(value))


def op(
    type_: str,
    *operands: str,
    strict: bool = True,
    label: str = "",
    differentiable: bool | None = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an operation of a function; `operands` names the parameters that are tensors.

    With `strict`, the tensors have one element type.
    """

    def decorate(rule: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(rule)
        parameters = list(signature.parameters.values())[1:]
        public = signature.replace(parameters=parameters)

        @functools.wraps(rule)
        def function(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
            bound = public.bind(*args, **kwargs)
            bound.apply_defaults()
            values = [bound.arguments.pop(each) for each in operands]
            rest = dict(bound.arguments)
            graph = graph_of(values)
            with_graph = InGraph(graph)
            with with_graph:
                tensors = same(*values) if strict else [convert(v) for v in values]
                return perform(
                    type_,
                    lambda m, *xs: rule(m, *xs, **rest),
                    tensors,
                    name=name,
                    label=label,
                    differentiable=differentiable,
                )

        function.__signature__ = public  # type: ignore[attr-defined]
        return function

    return decorate


class InGraph:
    """Make a graph the present context if there is none."""

    def __init__(self, graph: Graph | None) -> None:
        self.graph = graph if STATE.context is None else None

    def __enter__(self) -> None:
        if self.graph is not None:
            self.before = STATE.context, STATE.recorders
            STATE.set(self.graph, STATE.recorders)

    def __exit__(self, *error: object) -> None:
        if self.graph is not None:
            STATE.set(*self.before)


def static(value: Any) -> Any:
    """Return a tensor's value as Python numbers if it is known, else the tensor."""
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, GraphTensor):
        return value.op.attributes["value"].tolist() if value.op.type == "Const" else value
    if isinstance(value, Tensor):
        return value._array.tolist()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [static(v) for v in value]
    if hasattr(value, "__gv_tensor__"):
        return static(value.read_value())
    return value


def shape_spec(dtype: Any, shape: Any) -> TensorSpec:
    """Return a spec for a type and a shape of which parts may be unknown."""
    row = row_of(dtype)
    assert row is not None, "a spec has an element type"
    return spec_with_unknowns(row, TensorShape(shape)._dims)
