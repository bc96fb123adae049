"""Tensors with TensorFlow's rules: eager ones and those of graphs.

Element types are never promoted: a Python number takes the type of the tensor that it meets, two
tensors must agree (`values`). `calls` makes operations of functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from ....errors import printed_as
from ....ir.op import REGISTRY
from ....ir.types.dtypes import DType, of_numpy
from ....ir.types.tensor import Array, TensorSpec
from ....runtime.tracing import EARS
from ...eager.backward import key_of
from ...eager.kernels import Kernel, kernels_of
from ...eager.operators import Binary
from ...eager.remembered import APART, NAMED, Watched, stands_for
from ...eager.tensor import Tensor
from ...function.custom_gradient import custom_gradient as core_custom_gradient
from ...function.on_device import (
    DeviceTensor,
    PlacedTensor,
    RemoteDevice,
    RemoteTensor,
    moved,
)
from ...graph.graph import GraphTensor, Operation, dims_or_none
from ...graph.symbolic import SymbolicError, leaked
from ...values import dtypes, nest
from ...values.context import STATE, default_session
from ...values.devices import CPU, HOST, as_device
from ...values.dtypes import DTypeLike
from ...values.origin import short, user_line
from ...values.texts import FEW, TEXT, Text
from .element_types import TfDataType, of_row
from .shapes import ShapeLike, TensorShape

SLICED: WeakKeyDictionary[Operation, Callable[[object], object]] = WeakKeyDictionary()
"""What indexing a variable in a graph gives -> what assigns to that part of the variable."""

CHANGED: WeakKeyDictionary[Operation, Callable[[], TfTensor]] = WeakKeyDictionary()
"""What changes a variable in a graph -> what reads the variable behind that."""

OPERATORS: dict[str, Callable[..., TfTensor]] = {}
"""The operators' functions, filled in by `math_ops` and `array_ops`."""

COMPARISONS: dict[str, Callable[..., TfTensor | bool]] = {}
"""The functions of `==` and `!=`, which give a truth value of Python's for some operands."""

OF_NUMPY: dict[str, Callable[[Common], object]] = {}
"""What names of numpy's give of a tensor: none, until a program asks for numpy's behaviour."""

NAMED.add(TfDataType)
APART[TensorShape] = lambda x: (x._dims,)
Made = TypeVar("Made")


DIRECT = {
    "add": "iufc", "sub": "iufc", "mul": "iufc", "truediv": "f", "floordiv": "f", "mod": "f",
    "pow": "f", "less": "iuf", "less_equal": "iuf", "greater": "iuf", "greater_equal": "iuf",
    "equal": "iuf", "not_equal": "iuf",
}  # fmt: skip
"""Operators that are one function of numpy's on two computed tensors of these kinds."""


def _direct(name: str) -> dict[np.dtype[Any], Kernel]:
    """Return the function of an operator by the element type of both operands."""
    renamed = {"truediv": "div", "floordiv": "floor_divide"}
    op = REGISTRY.get(f"gv.{renamed.get(name, name)}")
    if op is None or name not in DIRECT:
        return {}
    of_numbers = {t: f for t, f in kernels_of(op).items() if t.kind in DIRECT[name]}
    of_texts = getattr(np, name, None) if name in ("equal", "not_equal") else None
    return {**of_numbers, TEXT.numpy: of_texts} if of_texts is not None else of_numbers


def _operator(name: str, *, turned: bool = False) -> Callable[[Common, object], TfTensor]:
    return _method(OPERATORS, name, turned=turned)


def _comparison(name: str) -> Binary:
    return _method(COMPARISONS, name)


SMALL = 65504.0
"""The largest number that all floats of numpy's hold."""


def _method(
    functions: dict[str, Callable[..., Made]], name: str, *, turned: bool = False
) -> Callable[[Common, object], Made | TfTensor]:
    """Return the method of an operator, which is one of the functions or a kernel of numpy's."""
    kernels = _direct(name)

    def method(self: Common, other: object) -> Made | TfTensor:
        if type(self) is EagerTensor and not (STATE.busy or EARS.count):
            a, kind = self._array, type(other)
            kernel = kernels.get(a.dtype)
            b = None
            if kernel is not None and isinstance(other, EagerTensor) and kind is EagerTensor:
                b = other._array if other._array.dtype == a.dtype else None
            elif kernel is not None and kind is float and a.dtype.kind == "f":
                b = np.array(other, a.dtype) if abs(other) <= SMALL else None  # type: ignore[arg-type]
            if kernel is not None and b is not None:
                try:
                    made = kernel(b, a) if turned else kernel(a, b)
                    return EagerTensor(made if made.__class__ is np.ndarray else np.asarray(made))
                except ValueError:
                    pass  # the shapes do not broadcast: below it is said with their names
        return functions[name](other, self) if turned else functions[name](self, other)

    return method


class Common:
    """What all of TensorFlow's tensors and variables have."""

    __slots__ = ()

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape as the IR states them."""
        raise NotImplementedError

    @property
    def shape(self) -> TensorShape:
        """Return the shape."""
        if type(self) is EagerTensor:
            return TensorShape.of_array(self._array.shape)
        return TensorShape(dims_or_none(self.spec.shape))

    @property
    def dtype(self) -> TfDataType:
        """Return the element type."""
        if type(self) is EagerTensor or type(self) is WatchedEagerTensor:
            kind = self._array.dtype
            return of_row(TEXT if kind.kind == "O" else of_numpy(kind))
        return of_row(self.spec.dtype)

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self.shape

    def _operate(self, *values: object) -> NoReturn:
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
    __eq__ = _comparison("equal")
    __ne__ = _comparison("not_equal")
    __getitem__ = _operator("getitem")

    def __neg__(self) -> TfTensor:
        return OPERATORS["neg"](self)

    def __invert__(self) -> TfTensor:
        return OPERATORS["invert"](self)

    def __abs__(self) -> TfTensor:
        return OPERATORS["abs"](self)

    __hash__ = object.__hash__  # (each run looks up every tensor of a graph)

    OVERLOADABLE_OPERATORS: ClassVar = frozenset(
        f"__{name}__"
        for name in (
            *("abs", "eq", "ge", "getitem", "gt", "invert", "le", "lt", "ne", "neg"),
            *("add", "and", "floordiv", "matmul", "mod", "mul", "or", "pow", "sub", "truediv"),
            *("radd", "rand", "rfloordiv", "rmatmul", "rmod", "rmul", "ror", "rpow", "rsub"),
            *("rtruediv", "rxor", "xor"),
        )
    )
    """What stand-ins for a tensor forward to it, so that they can be computed with."""


class Reference:
    """A tensor by its identity: a key of dictionaries and sets."""

    def __init__(self, tensor: Common) -> None:
        self._tensor = tensor

    def deref(self) -> Common:
        """Return the tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._tensor is other._tensor

    def __lt__(self, other: Reference) -> bool:
        return id(self._tensor) < id(other._tensor)

    def __gt__(self, other: Reference) -> bool:
        return id(self._tensor) > id(other._tensor)

    def __hash__(self) -> int:
        return id(self._tensor)


class Fetching(Protocol):
    """A session, in so far as it runs what is fetched."""

    def run(self, fetches: object, feed_dict: object = None) -> object:
        """Return the values of what is fetched."""


class OfNumpy:
    """A name of numpy's, which tensors have once a program asks for numpy's behaviour."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, tensor: object, owner: object = None) -> object:
        """Return what the name gives, or raise `AttributeError`."""
        found = OF_NUMPY.get(self._name)
        if found is None or not isinstance(tensor, Common):
            raise AttributeError(
                f"{type(tensor).__name__} object has no attribute '{self._name}'. If you are "
                "looking for numpy-related methods, please run the following: "
                "tf.experimental.numpy.experimental_enable_numpy_behavior()"
            )
        return found(tensor)


# Shapes are TensorShapes here.
class TfTensor(Common, Tensor):  # type: ignore[misc]
    """A tensor with TensorFlow's rules: a computed one or an edge of a graph."""

    __slots__ = ("__dict__",)

    T = OfNumpy("T")  # type: ignore[assignment]
    mT = OfNumpy("mT")  # type: ignore[assignment]  # noqa: N815  (the standard's name)
    size = OfNumpy("size")  # type: ignore[assignment]
    tolist = OfNumpy("tolist")  # type: ignore[assignment]
    astype, clip, data, flatten = map(OfNumpy, ("astype", "clip", "data", "flatten"))
    max, mean, min, ravel = map(OfNumpy, ("max", "mean", "min", "ravel"))
    reshape, transpose, __round__ = map(OfNumpy, ("reshape", "transpose", "round"))

    def __nonzero__(self) -> bool:
        return bool(self)

    def set_shape(self, shape: ShapeLike) -> None:
        """State what is known of the shape, which must be true."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}"
            )

    def ref(self) -> Reference:
        """Return what stands for the tensor as a key."""
        return Reference(self)

    experimental_ref = ref


class EagerTensor(TfTensor):
    """A value that has been computed."""

    __slots__ = ()
    lends = False

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""
        array = self._array
        return TensorSpec(TEXT, array.shape) if array.dtype.kind == "O" else Tensor.spec.fget(self)  # type: ignore[attr-defined]

    def numpy(self) -> Array:
        """Return an array of its own, of one element without axes a number of numpy's."""
        array: Array = self._array.copy() if self._array.ndim else self._array[()]
        return array

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._array)

    def __iter__(self) -> Iterator[TfTensor]:
        if not self._array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self._array)))

    def __bool__(self) -> bool:
        return bool(self._array) if self._array.size else False

    def eval(self, feed_dict: object = None, session: object = None) -> NoReturn:
        """Refuse: there is no session."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're "
            "looking for?"
        )

    def __float__(self) -> float:
        if self._array.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return float(self._array[()])  # (numpy warns of the imaginary part that is lost)

    def __int__(self) -> int:
        if self._array.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return int(self._array[()])

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise TypeError("'EagerTensor' object does not support item assignment")

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Array:
        made = np.array(self._array, dtype, copy=copy)
        if made is self._array:  # who wrote to it would change what others hold
            made = made.view()
            made.flags.writeable = False
        return made

    @property
    def device(self) -> Any:
        """Return where the elements lie."""
        return f"{HOST}CPU:0"

    def cpu(self) -> EagerTensor:
        """Return the tensor on the CPU."""
        return self

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """Return the tensor on a GPU."""
        return computed(moved(self, as_device(f"gpu:{gpu_index}")))

    def __repr__(self) -> str:
        shown = self._array if self.ndim or self._array.dtype.kind != "O" else self._array[()]
        text = repr(shown) if self.ndim or shown is not self._array else str(_as_shown(shown))
        start = "\n" if "\n" in text else ""
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={start}{text}>"

    def __str__(self) -> str:
        text = str(self._array)
        start = "\n" if "\n" in text else ""
        return f"tf.Tensor({start}{text}, shape={self.shape}, dtype={self.dtype.name})"

    def __format__(self, spec: str) -> str:
        return format(self._array[()] if not self._array.ndim else self._array, spec)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __reduce__(self) -> tuple[Callable[[Array], TfTensor], tuple[Array]]:
        return wrap, (np.array(self._array),)


# The slot of the same name holds what the property makes.
class EagerTexts(EagerTensor):
    """Many texts that have been computed: objects are made of them where somebody asks for some."""

    __slots__ = ("text",)
    text: Text

    def __init__(self, text: Text) -> None:
        self.text = text

    @property
    def _array(self) -> Array:  # type: ignore[override]
        return self.text.array

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""
        return self.text.spec

    def numpy(self) -> Array:
        """Return an array of its own: who writes to it does not change the row of bytes."""
        return self.text.array.copy()

    def __array__(
        self, dtype: np.dtype[np.generic] | None = None, copy: bool | None = None
    ) -> Array:
        return np.array(self._array, dtype, copy=copy is not False)

    def alias(self) -> EagerTexts:
        """Return another tensor of the same texts."""
        return EagerTexts(self.text)


COMPUTED = {EagerTensor, EagerTexts}
"""The classes of tensors that are in no graph, nor on a device, and that nobody takes notes of."""


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
        return self.place.full_name

    def cpu(self) -> EagerTensor:
        """Return the tensor on the CPU."""
        return computed(moved(self, CPU))


class EagerPlacedTensor(EagerTensor, PlacedTensor):  # type: ignore[misc]
    """A value that has been computed, and belongs to another device than the first."""

    __slots__ = ()

    @property
    def device(self) -> Any:
        """Return where the elements lie."""
        return self.place.full_name

    def cpu(self) -> EagerTensor:
        """Return the tensor on the first device."""
        return computed(moved(self, CPU))


class EagerRemoteTensor(EagerTensor, RemoteTensor):  # type: ignore[misc]
    """A value that has been computed, and that another task keeps."""

    __slots__ = ()

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""
        return self.held.spec

    @property
    def device(self) -> Any:
        """Return where the elements lie."""
        return self.held.place.full_name

    def cpu(self) -> EagerTensor:
        """Return the tensor on the first device of this process."""
        return computed(moved(self, CPU))


@stands_for(EagerTensor)
class WatchedEagerTensor(EagerTensor, Watched):  # type: ignore[misc]
    """A value whose elements cannot be seen."""

    __slots__ = ()
    direct = False


@printed_as(NotImplementedError)
class NotAnArrayError(SymbolicError, NotImplementedError):
    """A tensor of a graph was given to a function of numpy's, which wants its elements."""

    code = "GV2339"


@printed_as(AttributeError)
class NoElementsError(SymbolicError, AttributeError):
    """A tensor of a graph was asked for its array."""

    code = "GV2333"


# Shapes are TensorShapes here.
class SymbolicTfTensor(TfTensor, GraphTensor):  # type: ignore[misc]
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

    def eval(self, feed_dict: object = None, session: Fetching | None = None) -> object:
        """Return the value in a session."""
        found: Fetching | None = default_session() if session is None else session
        if found is None:
            raise ValueError(
                "Cannot evaluate tensor using `eval()`: No default session is registered. Use "
                "`with sess.as_default()` or pass an explicit session to `eval(session=sess)`"
            )
        return found.run(self, feed_dict)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
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
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}); use x.shape[0]"
        )

    def __iter__(self) -> Iterator[TfTensor]:
        dims = self.shape._dims
        if not dims or dims[0] is None:
            self._refuse(
                "Iterating over a symbolic `tf.Tensor` is not allowed in Graph mode: it",
                "use tf.while_loop or tf.map_fn",
            )
        return (self[i] for i in range(int(dims[0])))

    @property
    def assign(self) -> Callable[[object], object]:
        """Change the part of a variable that this is; other tensors have no such method."""
        if self.op not in SLICED:
            raise AttributeError("'SymbolicTensor' object has no attribute 'assign'")
        return SLICED[self.op]

    @property
    def read_value(self) -> Callable[[], TfTensor]:
        """Read the variable that this is the new value of; other tensors have no such method."""
        if self.op not in CHANGED:
            raise AttributeError("'SymbolicTensor' object has no attribute 'read_value'")
        return CHANGED[self.op]

    def consumers(self) -> list[Operation]:
        """Return the operations that take the tensor, one for each input that it is."""
        return list(self.users)

    def set_shape(self, shape: ShapeLike) -> None:
        """State what is known of the shape."""
        if TensorShape(shape).rank is not None:
            edge = self.edge
            GraphTensor.set_shape(edge, TensorShape(shape).as_list())
            self._spec = edge.spec

    def __str__(self) -> str:
        shape = "" if self.spec.shape is None else f", shape={self.shape}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


SymbolicTfTensor.__name__ = "SymbolicTensor"  # (which is what programs print of it)


def _as_shown(array: Array) -> object:
    """Return a number as it is shown: floats of 16 bits with all their digits."""
    short_float = array.dtype.itemsize == 2 and array.dtype.kind not in "iu"
    return float(array) if short_float else array


def wrap(array: object) -> EagerTensor:
    """Return an array, or a tensor on a device, as an eager tensor."""
    if array.__class__ is np.ndarray or isinstance(array, Text):
        return eager(array)
    if isinstance(array, DeviceTensor | PlacedTensor | RemoteTensor):
        return computed(array)
    return eager(np.asarray(array))


def eager(array: Array | Text) -> EagerTensor:
    """Return an array as a tensor, of many texts as one that remembers them as a row of bytes."""
    if isinstance(array, np.ndarray):
        if array.dtype.kind != "O" or array.size < FEW:
            return EagerTensor(array)
        array = Text(array)
    return EagerTexts(array) if array.is_long else EagerTensor(array.array)


def text_of(tensor: Tensor) -> Text:
    """Return the texts of a tensor."""
    return tensor.text if isinstance(tensor, EagerTexts) else Text(tensor._array)


def made_here(array: Array) -> EagerTensor:
    """Return an array as a tensor of the device that is asked for, if the processor is several."""
    place = STATE.device
    if isinstance(place, RemoteDevice) and place.work is not None:
        return computed(place.work.keep(array))
    if place is None or place.kind != "cpu" or place == CPU:
        return eager(array)
    return computed(PlacedTensor(array, place))


def computed(value: Tensor) -> EagerTensor:
    """Return a computed tensor of the core with TensorFlow's rules."""
    made = dressed(value)
    assert isinstance(made, EagerTensor), f"{made!r} is not computed"
    return made


def dressed(value: Tensor) -> TfTensor:
    """Return a tensor of the core with TensorFlow's rules; itself if it has them.

    Both have the same elements, or are the same edge of a graph, and recorders know them by one
    key.
    """
    if isinstance(value, TfTensor):
        return value
    made = WITH_RULES[type(value)](value)
    made._key = key_of(value)
    return made


def _on_device(x: DeviceTensor) -> EagerDeviceTensor:
    made = EagerDeviceTensor(x.held, x.place)
    made._copy = x._copy
    return made


def _edge(x: GraphTensor) -> SymbolicTfTensor:
    made = SymbolicTfTensor(x.op, x.value_index, x.spec)
    made.users = x.users
    return made


WITH_RULES: dict[type[Tensor], Callable[[Any], TfTensor]] = {
    Tensor: lambda x: EagerTensor(x._array),
    GraphTensor: _edge,
    DeviceTensor: _on_device,
    PlacedTensor: lambda x: EagerPlacedTensor(x._array, x.place),
    RemoteTensor: lambda x: EagerRemoteTensor(x.held),
    Watched: lambda x: WatchedEagerTensor(x._array),
}
"""By the class of a tensor of the core: what makes the one with TensorFlow's rules."""


def dressed_leaves(structure: object) -> Any:
    """Return a structure whose tensors have TensorFlow's rules."""
    return nest.map_structure(lambda x: dressed(x) if isinstance(x, Tensor) else x, structure)


def custom_gradient(
    f: Callable[..., tuple[Made, Callable[..., object]]],
) -> Callable[..., Made]:
    """Give a function its own gradient (a decorator), which is given TensorFlow's tensors.

    Of a result that is made of several tensors it is given the gradient as such a value.
    """

    @functools.wraps(f)
    def function(*args: object, **options: object) -> tuple[Made, Callable[..., object]]:
        made, rule = f(*dressed_leaves(args), **options)

        @functools.wraps(rule)
        def gradient(*grads: object, **more: object) -> object:
            whole = nest.pack_gradients(made, dressed_leaves(grads))
            if "results" in more:
                more["results"] = dressed_leaves(more["results"])
            return rule(*nest.wholes(whole), **more)

        return made, gradient

    return core_custom_gradient(function)


def row_of(dtype: DTypeLike | None) -> DType | None:
    """Return the row of an element type, None of None."""
    if dtype is None or isinstance(dtype, DType):
        return dtype
    found = dtypes.as_dtype(dtype)
    return TEXT if found.kind == "s" else found.row
