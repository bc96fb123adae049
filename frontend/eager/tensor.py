"""`Tensor`: a value that has been computed; and `apply`, through which everything is computed.

A `Tensor` holds a numpy array. `SymbolicTensor` (symbolic.py) derives from it and stands for a
value of a graph instead. Both have the operators of `operators.py`; these and the functions of
`array/` convert and promote their operands, then `apply` an operation of the IR.

An array is never changed while another tensor can see it: a tensor behaves as a value.
Memory is shared with numpy, and through DLPack, without a copy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from ...ir.op import REGISTRY, Array, Op
from ...ir.types import dtypes as rows
from ...ir.types.dims import Dim
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec, spec_of_array
from ..values import dtypes
from ..values.arrays import is_number, plain, to_array
from ..values.context import STATE, Use, show
from ..values.devices import CPU, Device, as_device
from ..values.dtypes import DataType
from ..values.given import Index, TensorLike
from ..values.origin import short, user_line
from .above import Above
from .kernels import OperandError, evaluate, on_complex
from .operators import Operators

if TYPE_CHECKING:
    from ..values.texts import Text

Note: TypeAlias = Callable[[type[Op], "Sequence[Tensor]", dict[str, object], Sequence[Array]], Any]
NOTING: ContextVar[Note | None] = ContextVar("noting", default=None)
"""While it is noted what a function does: what makes tensors of the results of an operation that
has constants for operands, or none."""


def apply(op: type[Op], *operands: Any, **attributes: object) -> Any:
    """Carry out an operation where the context says; return its result, or the tuple of several.

    It is the `emit` of gradient and decomposition rules on tensors.
    """
    arrays = []
    for x in operands:
        if not getattr(x, "direct", False):
            return _apply_anywhere(op, operands, attributes)
        arrays.append(x._array)
    if STATE.busy:
        return _apply_anywhere(op, operands, attributes)
    made = evaluate(op, arrays, attributes)
    if (note := NOTING.get()) is not None:
        return note(op, operands, attributes, made)
    return Tensor(made[0]) if len(made) == 1 else tuple(map(Tensor, made))


def single(op: type[Op], *operands: object, **attributes: object) -> Tensor:
    """Carry out an operation that has one result."""
    made: Tensor = apply(op, *operands, **attributes)
    return made


def _apply_anywhere(
    op: type[Op], operands: tuple[object, ...], attributes: dict[str, object]
) -> object:
    values = tuple(map(as_tensor, operands))
    context = STATE.context
    if context is None:
        context = next((x.home() for x in values if not x.eager), None)
    result: object
    if context is not None:
        result = context.apply(op, values, attributes)
    elif any(x.watched for x in values):
        result = next(x for x in values if x.watched).note(op, values, attributes)
    elif STATE.device is not None or not all(x.direct for x in values):
        placed = Above.rooms.run_on_device(op, values, attributes)
        result = placed[0] if len(placed) == 1 else tuple(placed)
    else:
        made = evaluate(op, [x._array for x in values], attributes)
        result = Tensor(made[0]) if len(made) == 1 else tuple(map(Tensor, made))
    if STATE.recorders:
        results = result if isinstance(result, tuple) else (result,)
        rule = STATE.rules.get(op.name) if STATE.rules else None
        known = context is None or rule is not None
        backward = None if context is None or known else context.backward_of(results[0])
        show(Use(values, results, op, attributes, backward, rule, STATE.part or op.name))
    return result


def computed(*tensors: Tensor) -> bool:
    """Say whether numpy computes on tensors at once, and nobody records it."""
    return not STATE.busy and all(x.direct or x.watched for x in tensors)


def as_tensor(value: object, dtype: DType | None = None) -> Tensor:
    """Return a value as a tensor; `dtype` is the type of what has none of its own.

    An object that has `__gv_tensor__` (a variable) is read by it.
    """
    if isinstance(value, Tensor):
        return value
    read = getattr(value, "__gv_tensor__", None)
    if read is not None:
        found: Tensor = read()
        return found
    if isinstance(value, list | tuple) and _has_symbols(value):
        made: Tensor = Above.rooms.stack(value)
        return made
    return Tensor(to_array(value, dtype))


def _has_symbols(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_symbols, value))
    return isinstance(value, Operators) and (STATE.busy or not value.eager)


def promoted(*values: Any) -> list[Tensor]:
    """Return values as tensors of one element type; Python numbers take that of the others."""
    tensors = [None if is_number(v) else as_tensor(v) for v in values]
    numbers = [v for v, x in zip(values, tensors, strict=True) if x is None]
    row: DType | None = None
    for x in tensors:
        if x is not None:
            row = x.row if row is None else dtypes.promote(row, x.row)
    for v in numbers:
        row = dtypes.default_of(v).row if row is None else dtypes.promote_with_number(row, v)
    assert row is not None, "nothing to promote"
    return [
        number(v, row) if x is None else cast(x, row) for v, x in zip(values, tensors, strict=True)
    ]


def number(value: complex, row: DType) -> Tensor:
    """Return a Python number as a tensor of an element type, or raise `OverflowError`."""
    if row.is_integer and isinstance(value, int) and not row.minimum <= value <= row.maximum:
        raise OverflowError(f"{value} is outside of {row}, expected {row.minimum} to {row.maximum}")
    return Tensor(np.array(value).astype(row.numpy))


def cast(x: Tensor, row: DType) -> Tensor:
    """Return a tensor in another element type; itself if it has that one."""
    if x.row is row:
        return x
    made: Tensor = apply(REGISTRY["gv.cast"], x, dtype=row)
    return made


def operate(op: type[Op], *values: object) -> Tensor:
    """Carry out an operation on values of any types: they are promoted to one that it takes."""
    tensors = promoted(*values)
    kind = tensors[0].row.kind
    if kind == "b":
        op = op.ON_BOOLS or op
    kinds: str = getattr(op, "KINDS", "biufc")
    if kind in "biu" and (kind not in kinds or op is _DIVIDE):
        tensors = [cast(x, rows.f32) for x in tensors]
    if kind == "c" and "c" not in kinds:
        op = on_complex(op)
    made: Tensor = apply(op, *tensors)
    return made


_DIVIDE = REGISTRY["gv.div"]


class Tensor(Operators):
    """A value that has been computed. Make them by `gravure.asarray` and the like."""

    __slots__ = ("__weakref__", "_array", "_key")
    _key: object
    """What recorders know the tensor by, given by the first one that sees it."""
    eager: ClassVar[bool] = True
    lends: ClassVar[bool] = True
    """Whether its elements are given to others, who may write to them."""
    direct: ClassVar[bool] = True
    watched: ClassVar[bool] = False
    """Whether its elements cannot be seen (`planned`)."""
    text: Text | None = None
    """Many texts, of which there are no objects before somebody asks for these."""
    _operate = staticmethod(operate)

    def __init__(self, array: object) -> None:
        if array.__class__ is not np.ndarray:
            array = to_array(array)
        self._array: Array = array

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape as the IR states them."""
        return spec_of_array(self._array)

    @property
    def row(self) -> DType:
        """Return the element type as the IR states it."""
        return self.dtype.row

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        return dtypes.of_array(self._array)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Return the extent of each axis: a number, or in a graph an expression of symbols."""
        shape: tuple[int, ...] = self._array.shape
        return shape

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Dim | None:
        """Return the number of elements."""
        return self._array.size

    @property
    def device(self) -> Device:
        """Return where the elements lie."""
        return CPU

    @property
    def T(self) -> Tensor:  # noqa: N802  (the standard's name)
        """Return the matrix with its axes exchanged."""
        if self.ndim != 2:
            raise ValueError(f"T of {self.ndim} axes, expected 2: see mT and permute_dims")
        return self.mT

    @property
    def mT(self) -> Tensor:  # noqa: N802  (the standard's name)
        """Return each matrix with its axes exchanged: the last two."""
        made: Tensor = Above.rooms.matrix_transpose(self)
        return made

    def __matmul__(self, other: object) -> Tensor:
        made: Tensor = Above.rooms.matmul(self, other)
        return made

    def __rmatmul__(self, other: object) -> Tensor:
        made: Tensor = Above.rooms.matmul(other, self)
        return made

    def numpy(self) -> Array:
        """Return the array, which shares memory with the tensor."""
        return self._array

    def item(self) -> Any:
        """Return the only element as a Python number (of text, as bytes)."""
        return self.numpy().item()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self.numpy().tolist()

    def to_device(self, device: object, /, *, stream: object = None) -> Tensor:
        """Return the tensor on a device: itself if it is there, else a copy."""
        place = as_device(device)
        if place == CPU and self.direct:
            return self
        made: Tensor = Above.rooms.moved(self, place)
        return made

    def cpu(self) -> Tensor:
        """Return the tensor in the memory of the processor."""
        return self.to_device(CPU)

    def gpu(self, index: int = 0) -> Tensor:
        """Return the tensor on a GPU."""
        return self.to_device(f"gpu:{index}")

    def alias(self) -> Tensor:
        """Return another tensor of the same value, which recorders do not know."""
        return type(self)(self._array)

    def note(
        self, op: type[Op], values: Sequence[Tensor], attributes: dict[str, object]
    ) -> Tensor | tuple[Tensor, ...]:
        """Carry an operation out on watched tensors and others; return its result."""
        raise AssertionError(f"{op.name}: nothing is noted of a tensor that has elements")

    def home(self) -> Any:
        """Return the context that takes operations on the tensor although it is not present."""
        return None

    def __getitem__(self, key: Index) -> Tensor:
        if STATE.busy or not self.eager:
            found: Tensor = Above.rooms.taken(self, key)
            return found
        return Tensor(self._array[plain_key(key, self._array.shape)])

    def __setitem__(self, key: Index, value: object) -> None:
        array = self._array
        value = as_tensor(value, self._row_for(value))
        if STATE.busy or not value.eager:
            check_assignable(self, value)
        if sys.getrefcount(array) > 3 or array.base is not None or not array.flags.writeable:
            array = array.copy()
        assign(array, key, value)
        self._array = array
        if hasattr(self, "_key"):
            del self._key

    def _row_for(self, value: Any) -> DType | None:
        """Return the type in which a Python number is put among the elements."""
        if not is_number(value) or self.dtype.kind == "s":
            return None
        row = dtypes.promote_with_number(self.row, value)
        if row is self.row and row.is_integer and not row.minimum <= value <= row.maximum:
            raise OverflowError(f"{value} is outside of {row}")
        return row

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor without axes has no length")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self._only("bool"))

    def __int__(self) -> int:
        return int(self._only("int"))

    def __float__(self) -> float:
        return float(self._only("float"))

    def __complex__(self) -> complex:
        return complex(self._only("complex"))

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iu" or self._array.ndim:
            raise TypeError(f"a tensor of {self.spec} is no index, expected an integer")
        return int(self._array)

    def _only(self, what: str) -> Any:
        if self._array.size != 1:
            raise TypeError(f"{what}() of a tensor of shape {self.shape}, expected one element")
        return self._array.item()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._array, dtype, copy=copy)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> object:
        array = plain(self._array)
        if array is not self._array and copy is False:
            raise BufferError("the elements do not lie in order, expected a copy to be allowed")
        return array.__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"version {api_version} of the array API, expected 2024.12")
        return sys.modules[__name__.partition(".")[0]]

    def __reduce__(self) -> tuple[object, ...]:
        return Tensor, (np.array(self._array),)

    def __repr__(self) -> str:
        text = np.array2string(self._array, separator=", ", threshold=100, prefix="gravure.Tensor(")
        return f"gravure.Tensor({text}, shape={self.shape}, dtype={self.dtype})"


def plain_key(key: Index, shape: tuple[int, ...] | None = None) -> Any:
    """Return a key with arrays in place of tensors."""
    if isinstance(key, tuple):
        return tuple(map(plain_key, key))
    if isinstance(key, Operators):
        tensor = as_tensor(key)
        return tensor.numpy() if tensor.ndim else tensor.numpy()[()]
    if isinstance(key, slice):
        return slice(*(_bound(b) for b in (key.start, key.stop, key.step)))
    return key


def _bound(value: TensorLike) -> object:
    return int(as_tensor(value)) if isinstance(value, Operators) else value


def assign(array: Array, key: Index, value: Tensor) -> None:
    """Write a value into an array, which keeps its type."""
    kinds = "buifcO"
    given = value._array
    if kinds.index(given.dtype.kind) > kinds.index(array.dtype.kind) and array.dtype.kind in "bui":
        raise TypeError(f"elements of {value.dtype} do not fit a tensor of {array.dtype}")
    array[plain_key(key)] = given


def check_assignable(tensor: Tensor, value: Tensor) -> None:
    """Refuse to change a tensor that a tape or a graph knows."""
    known = any(r.knows(tensor) or r.knows(value) for r in STATE.recorders)
    if known or not value.eager:
        where = "a tape watches" if known else "is not of a graph, by a value of one"
        raise OperandError(
            f"an assignment to elements of a tensor that {where}",
            location=short(user_line()),
            hint="use gravure.where or gravure.scatter_nd, which give a new tensor",
        )
