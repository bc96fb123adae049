"""Tensors with TensorFlow's rules: eager ones and those of graphs.

Element types are never promoted: a Python number takes the type of the tensor that it meets, two
tensors must agree (`values`). `calls` makes operations of functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ...ir.dtypes import DType
from ...ir.op import REGISTRY
from ...ir.tensor import Array, TensorSpec
from .. import dtypes, nest
from ..abstract import TEXT
from ..context import STATE
from ..custom_gradient import custom_gradient as core_custom_gradient
from ..device import CPU, HOST, as_device
from ..eager import kernels_of
from ..graph import GraphTensor, dims_or_none
from ..on_device import DeviceTensor, moved
from ..origin import short, user_line
from ..planned import Watched, stands_for
from ..symbolic import SymbolicError, leaked
from ..tensor import Tensor
from .shapes import TensorShape

OPERATORS: dict[str, Callable[..., Any]] = {}
"""The operators' functions, filled in by `math_ops` and `array_ops`."""


DIRECT = {
    "add": "iufc", "sub": "iufc", "mul": "iufc", "truediv": "f", "floordiv": "f", "mod": "f",
    "pow": "f", "less": "iuf", "less_equal": "iuf", "greater": "iuf", "greater_equal": "iuf",
    "equal": "iuf", "not_equal": "iuf",
}  # fmt: skip
"""Operators that are one function of numpy's on two computed tensors of these kinds."""


def _direct(name: str) -> dict[Any, Callable[..., Any]]:
    """Return the function of an operator by the element type of both operands."""
    renamed = {"truediv": "div", "floordiv": "floor_divide"}
    op = REGISTRY.get(f"gv.{renamed.get(name, name)}")
    if op is None or name not in DIRECT:
        return {}
    return {t: function for t, function in kernels_of(op).items() if t.kind in DIRECT[name]}


def _operator(name: str, *, turned: bool = False) -> Callable[..., Any]:
    kernels = _direct(name)

    def method(self: Any, other: Any) -> Any:
        if self.__class__ is EagerTensor and not STATE.busy:
            a, kind = self._array, other.__class__
            kernel = kernels.get(a.dtype)
            b = None
            if kernel is not None and kind is EagerTensor:
                b = other._array if other._array.dtype == a.dtype else None
            elif kernel is not None and kind is float and a.dtype.kind == "f":
                b = np.array(other, a.dtype)
            if kernel is not None and b is not None:
                try:
                    return EagerTensor(kernel(b, a) if turned else kernel(a, b))
                except ValueError:
                    pass  # the shapes do not broadcast: below it is said with their names
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


class Reference:
    """A tensor by its identity: a key of dictionaries and sets."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def deref(self) -> Any:
        """Return the tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._tensor is other._tensor

    def __hash__(self) -> int:
        return id(self._tensor)


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
        return self._array if self._array.ndim else self._array[()]

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._array)

    def __iter__(self) -> Any:
        if not self._array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self._array)))

    def __bool__(self) -> bool:
        return bool(self._array) if self._array.size else False

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Refuse: there is no session."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're "
            "looking for?"
        )

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
        return f"{HOST}CPU:0"

    def cpu(self) -> EagerTensor:
        """Return the tensor on the CPU."""
        return self

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """Return the tensor on a GPU."""
        found: EagerTensor = dressed(moved(self, as_device(f"gpu:{gpu_index}")))
        return found

    def __repr__(self) -> str:
        shown = self._array if self.ndim or self._array.dtype.kind != "O" else self._array[()]
        text = str(shown) if not self.ndim and shown is self._array else repr(shown)
        start = "\n" if "\n" in text else ""
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype}, numpy={start}{text}>"

    def __str__(self) -> str:
        text = str(self._array)
        start = "\n" if "\n" in text else ""
        return f"tf.Tensor({start}{text}, shape={self.shape}, dtype={self.dtype})"

    def __format__(self, spec: str) -> str:
        return format(self._array[()] if not self._array.ndim else self._array, spec)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def ref(self) -> Reference:
        """Return what stands for the tensor as a key."""
        return Reference(self)

    def __reduce__(self) -> Any:
        return wrap, (np.array(self._array),)


# Both are tensors of one layout; what only one has is taken from it.
class EagerDeviceTensor(EagerTensor, DeviceTensor):  # type: ignore[misc]
    """A value that has been computed, and lies on a GPU."""

    __slots__ = ()

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""
        return DeviceTensor.spec.fget(self)  # type: ignore[attr-defined,no-any-return]

    @property
    def device(self) -> Any:
        """Return where the elements lie."""
        return f"{HOST}{str(self.place).upper()}"

    def cpu(self) -> EagerTensor:
        """Return the tensor on the CPU."""
        found: EagerTensor = dressed(moved(self, CPU))
        return found


@stands_for(EagerTensor)
class WatchedEagerTensor(EagerTensor, Watched):  # type: ignore[misc]
    """A value whose elements cannot be seen."""

    __slots__ = ()
    direct = False


class NotAnArrayError(SymbolicError, NotImplementedError):
    """A tensor of a graph was given to a function of numpy's, which wants its elements."""

    code = "GV2339"


class NoElementsError(SymbolicError, AttributeError):
    """A tensor of a graph was asked for its array."""

    code = "GV2333"


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

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise NotAnArrayError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array: a function of "
            "numpy's was called, which wants its elements",
            location=short(user_line()),
            hint="use TensorFlow's function of the same name, or tf.numpy_function",
        )

    @property
    def numpy(self) -> NoReturn:
        """Refuse: there are no elements, and no such attribute."""
        if self.graph.is_finished:
            raise NoElementsError(leaked(self).args[0])
        raise NoElementsError("'SymbolicTensor' object has no attribute 'numpy'")

    def __len__(self) -> int:
        raise TypeError("len is not well defined for a symbolic Tensor; use x.shape[0]")

    def __iter__(self) -> Any:
        dims = self.shape._dims
        if not dims or dims[0] is None:
            self._refuse("a loop", "use tf.while_loop or tf.map_fn")
        return (self[i] for i in range(int(dims[0])))

    @property
    def assign(self) -> Callable[[Any], Any]:
        """Change the part of a variable that this is; other tensors have no such method."""
        from .state import SLICED, assign_slice  # noqa: PLC0415  (state -> core)

        if self.op not in SLICED:
            raise AttributeError("'SymbolicTensor' object has no attribute 'assign'")
        return functools.partial(assign_slice, *SLICED[self.op])

    def consumers(self) -> list[Any]:
        """Return the operations that take the tensor, one for each input that it is."""
        return list(self.users)

    def set_shape(self, shape: Any) -> None:
        """State what is known of the shape."""
        super().set_shape(TensorShape(shape).as_list())

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype}>"


def wrap(array: Any) -> Any:
    """Return an array, or a tensor on a GPU, as an eager tensor."""
    if isinstance(array, DeviceTensor):
        return dressed(array)
    return EagerTensor(np.asarray(array))


def dressed(value: Any) -> Any:
    """Let a tensor of the core behave as TensorFlow's, and remain the same object."""
    if value.__class__ is Tensor:
        value.__class__ = EagerTensor
    elif value.__class__ is GraphTensor:
        value.__class__ = SymbolicTfTensor
    elif value.__class__ is DeviceTensor:
        value.__class__ = EagerDeviceTensor
    elif value.__class__ is Watched:
        value.__class__ = WatchedEagerTensor
    return value


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function its own gradient (a decorator), which is given TensorFlow's tensors."""

    @functools.wraps(f)
    def function(*args: Any, **options: Any) -> Any:
        made, rule = f(*nest.map_structure(dressed, args), **options)

        @functools.wraps(rule)
        def gradient(*grads: Any, **more: Any) -> Any:
            return rule(*[None if g is None else dressed(g) for g in grads], **more)

        return made, gradient

    return core_custom_gradient(function)


def row_of(dtype: Any) -> DType | None:
    """Return the row of an element type, None of None."""
    if dtype is None or isinstance(dtype, DType):
        return dtype
    found = dtypes.as_dtype(dtype)
    return TEXT if found is dtypes.string else found.row
