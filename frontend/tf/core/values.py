"""Python values as tensors by TensorFlow's rules: types are never promoted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from xdsl.ir import SSAValue

from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim
from ....ir.types.dtypes import DType
from ....ir.types.tensor import Array, TensorSpec
from ....runtime.tracing import EARS
from ...dims.computed import expressions
from ...eager.conversions import is_asked, is_read, read
from ...eager.remembered import notes_of
from ...eager.tensor import Tensor
from ...graph.frame import NotStageableError
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, GraphTensor, Operation, spec_with_unknowns
from ...values import nest
from ...values.arrays import joined
from ...values.context import STATE
from ...values.dtypes import DTypeLike, named
from ...values.run_errors import InvalidArgumentError
from ...values.texts import TEXT
from .bridge import COMPUTED, OPERATORS, EagerTensor, TfTensor, dressed, eager, row_of
from .element_types import of_row
from .shapes import ShapeLike, TensorShape

USUAL: dict[type, dict[str | None, type[np.generic]]] = {
    int: {None: np.int32, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64},
    float: {None: np.float32, "f32": np.float32, "f64": np.float64},
}
"""By the class of a number and the name of a type: numpy's, where each step counts."""
LIMIT = 1 << 31
PLAIN = {bool, int, float, complex, str, bytes}
"""The classes of values that neither are tensors nor hold any."""
BYTES, TEXTS = {bytes}, {bytes, str}
"""The classes of elements of lists of which nothing else is to be asked."""

NOT_IN_GRAPHS = {*PLAIN, *COMPUTED}
"""The classes of values that no graph has."""


def array_of(value: object, dtype: DType | None = None) -> Array:
    """Return a Python value as an array by TensorFlow's rules: int32 and float32."""
    usual = USUAL.get(value.__class__)
    if usual is not None and -LIMIT <= value < LIMIT:  # type: ignore[operator]
        kind = usual.get(None if dtype is None else dtype.name)
        if kind is not None:
            return np.array(value, kind)
    typed = isinstance(value, np.ndarray | np.generic)
    array = _array_of_rows(value)
    if array.dtype.kind in "SUO":
        if array.dtype.kind != "O" and not typed:
            array = np.array(value, object)  # fixed widths would lose zeros at the end
        return _text_of(value, array, numbers=dtype is not None and dtype.kind != "s")
    if dtype is not None:
        return _cast(array, dtype) if typed else _of_python(value, array, dtype)
    if typed:
        return array
    if array.dtype.kind == "u":
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if array.dtype.kind == "i":
        return array.astype(np.int32) if _fits(array) else array
    if array.dtype.kind == "f":
        return _rounded(array, np.dtype(_float_of(value)))
    return array


KINDS = {"f": "fiub", "c": "cfiub", "i": "iub", "u": "iub", "b": "b"}
"""By the kind of a type: the kinds of Python's numbers that can be of it."""


def _of_python(value: object, array: Array, dtype: DType) -> Array:
    """Return Python's numbers as elements of a type, or raise where they are none."""
    if not array.size:
        return array.astype(dtype.numpy)
    if array.dtype.kind == "f" and dtype.kind == "u":  # to numpy, beside others, large ones are
        exact = np.array(value, object)
        if all(isinstance(x, int) for x in exact.ravel()):
            return exact.astype(dtype.numpy)
    small = array.dtype.kind == "V" or array.dtype == rows.bf16.numpy
    kind = "f" if dtype.is_narrow_float else "i" if dtype.is_narrow_integer else dtype.kind
    if not small and array.dtype.kind not in KINDS.get(kind, ""):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {of_row(dtype).name}")
    return _rounded(array, dtype.numpy)


def _rounded(array: Array, dtype: np.dtype[np.generic]) -> Array:
    """Return elements of another type; numbers that are too large for it are infinite, unsaid."""
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def _cast(array: Array, dtype: DType) -> Array:
    """Return an array of numpy with elements of another type, whatever is lost."""
    if array.dtype == dtype.numpy:
        return array
    with np.errstate(all="ignore"):
        real = array.dtype.kind == "c" and dtype.kind != "c"
        return (array.real if real else array).astype(dtype.numpy)


def _array_of_rows(value: object) -> Array:
    """Return a value as an array of numpy's; rows of several lengths are refused."""
    try:
        return _without_times(np.asarray(value))
    except UnicodeDecodeError:  # bytes among texts are no texts to numpy
        return np.array(value, object)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
    is_list = isinstance(value, list | tuple) and len(value) > 0
    if is_list and not isinstance(value[0], list | tuple | np.ndarray):  # type: ignore[index]
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    raise ValueError(
        "Can't convert non-rectangular Python sequence to Tensor. It has an inhomogeneous shape: "
        "that is setting an array element with a sequence"
    )


def _without_times(array: Array) -> Array:
    """Return an array, or raise for one of times, which are no numbers here."""
    if array.dtype.kind in "Mm":
        raise ValueError(
            f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: {array.dtype})"
        )
    return array


def _text_of(value: object, array: Array, *, numbers: bool) -> Array:
    """Return text as an array of bytes; what is neither text nor numbers is refused."""
    if isinstance(value, list | tuple) and not _is_all_text(value) and _is_text_of_numpy(value):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    flat = array.ravel().tolist()
    if not BYTES.issuperset(map(type, flat)):
        flat = [x.encode() if isinstance(x, str) else x for x in flat]
    elif not numbers:
        made = np.empty(array.shape, object)
        made.reshape(-1)[:] = flat
        return made
    if any(isinstance(x, int) for x in flat) and not numbers:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    strange = [x for x in flat if not isinstance(x, bytes | int | float)]
    if strange and value is not None and isinstance(STATE.context, Graph):
        raise TypeError(
            f"Failed to convert elements of {value!r} to Tensor. Consider casting elements to a "
            "supported type."
        )
    if strange:
        raise ValueError(
            f"Attempt to convert a value ({strange[0]!r}) with an unsupported type "
            f"({type(strange[0])}) to a Tensor."
        )
    if numbers or any(not isinstance(x, bytes) for x in flat):
        raise TypeError(f"{value!r} cannot be converted to a tensor")
    made = np.empty(array.shape, object)
    made.ravel()[:] = flat
    return made.reshape(array.shape)


def _float_of(value: object) -> np.dtype[Any] | type[np.float32]:
    """Return the type of a list with floats: that of its first element, of Python's float32."""
    while isinstance(value, list | tuple) and value:
        value = value[0]
    typed = isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"
    return value.dtype if typed else np.float32  # type: ignore[attr-defined]


def _fits(array: Array) -> bool:
    """Say whether integers are those of int32."""
    return bool(array.min(initial=0) >= -(2**31) and array.max(initial=0) < 2**31)


def _is_text_of_numpy(value: object) -> bool:
    """Say whether numpy takes a list for text."""
    return np.asarray(value).dtype.kind in "SU"


def _is_all_text(value: object) -> bool:
    """Say whether a list holds nothing but texts."""
    if isinstance(value, list | tuple):
        return TEXTS.issuperset(map(type, value)) or all(map(_is_all_text, value))
    return isinstance(value, str | bytes | np.str_ | np.bytes_ | np.ndarray)


def axis_in(axis: int, rank: int) -> int:
    """Return an axis counted from the front, or raise if there is none of that number."""
    if not -rank <= axis < rank:
        raise TypeError(f"axis {axis} is out of range [-{rank}, {rank})")
    return int(axis) % rank


def may_agree(a: Sequence[Dim | None], b: Sequence[Dim | None], *, stretches: bool = False) -> bool:
    """Say whether two shapes may be the same, as far as they are known; 1 may stretch in `a`."""
    known = [(x, y) for x, y in zip(a, b, strict=False) if isinstance(x, int | np.integer)]
    fits = all(x == y or (stretches and x == 1) for x, y in known if isinstance(y, int))
    return len(a) == len(b) and fits


def axis_given(axis: int, rank: int) -> None:
    """Raise where an argument `axis` is not one of a tensor's."""
    if not -rank <= axis < rank:
        raise InvalidShapesError(f"Argument `axis` = {axis} not in range [-{rank}, {rank})")


def convert(value: object, dtype: DTypeLike | None = None, name: str | None = None) -> TfTensor:
    """Return a value as a tensor; `dtype` is that of numbers, and must be that of tensors."""
    if value.__class__ is EagerTensor and dtype is None:
        return value  # nothing else is asked of most values
    row = row_of(dtype)
    if value.__class__ in COMPUTED and (made := _as_asked(value, row)) is not None:
        return made
    if value.__class__ in PLAIN:
        return _constant(array_of(value, row), name)
    found = read(value, None if row is None else of_row(row), name)
    if hasattr(found, "to_dense"):
        found = found.to_dense()
    _refuse_several(found)
    if isinstance(found, Tensor):
        if row is not None and found.spec.dtype != row:
            raise ValueError(
                f"Tensor conversion requested dtype {of_row(row).name} for Tensor with dtype "
                f"{of_row(found.spec.dtype).name}: {dressed(found)!r}"
            )
        return dressed(found)
    if isinstance(found, list | tuple) and _has_tensors(found):
        return OPERATORS["stack"]([_element(x, dtype, _row_within(found)) for x in found])
    if isinstance(found, TensorShape):
        found = found.as_list()
    if isinstance(found, Operation):
        raise TypeError(f"can't convert Operation '{found.name}' to Tensor")
    array = array_of(found, row)
    refuse_mixture(found, array, row)
    return _constant(own(found, array), name)


def convert_text(value: object, type_: str, place: int = 0) -> TfTensor:
    """Return an operand that is to be text, of an operation of a type; raise where it is not."""
    if value.__class__ is EagerTensor and value._array.dtype.kind == "O":
        return value  # few texts, as most are: nothing is to be looked at
    if isinstance(value, Tensor):
        require_text(value.spec.dtype, type_, place)
    return convert(value, "string")


def require_text(row: DType, type_: str, place: int = 0) -> None:
    """Raise where an operand of an operation is of another type than text."""
    if row != TEXT:
        raise InvalidTypesError(
            f"cannot compute {type_} as input #{place}(zero-based) was expected to be a string "
            f"tensor but is a {named(row)} tensor [Op:{type_}]"
        )


def own(given: object, array: Array) -> Array:
    """Return elements that nobody else writes to, as who gave an array may do later."""
    return array.copy() if array is given or array.base is not None else array


def _as_asked(value: object, row: DType | None) -> EagerTensor | None:
    """Return a computed tensor that has the type that is asked for, None of another one."""
    assert isinstance(value, EagerTensor), "it is of such a class"
    return value if row is None or (value.text or value._array).dtype is row.numpy else None


def _refuse_several(value: object) -> None:
    """Raise where a value is one for each replica."""
    if isinstance(value, nest.Several):
        raise ValueError(
            f"Attempt to convert a value of replicas to one tensor: {value!r}\n  help: "
            "`strategy.run` gives each replica its own; `reduce` and `gather` make one of them"
        )


def _element(value: object, dtype: DTypeLike | None, row: DType | None) -> TfTensor:
    """Return an element of a list: a tensor takes the type that is asked for, a number any."""
    if not is_typed(value) or (dtype is not None and isinstance(value, list | tuple)):
        return convert(value, row if dtype is None else dtype)
    return convert(value) if dtype is None else OPERATORS["cast"](value, dtype)


def _constant(array: Array, name: str | None) -> TfTensor:
    graph = STATE.context
    if isinstance(graph, Graph):
        return dressed(graph.constant(array, name))
    return eager(array)


TAKE_BOOLS = ("f16", "f32", "f64", "i32", "i64", "u64")
"""The element types that a list may be of whose first number is a truth value."""


def refuse_mixture(value: object, array: Array, row: DType | None = None) -> None:
    """Raise where a list of Python's holds truth values and numbers, or where a type takes none."""
    if array.dtype.kind not in "iufcV" or not isinstance(value, list | tuple):
        return
    if not _has_bools(value) or (row is not None and row.name in TAKE_BOOLS):
        return
    if row is not None and np.asarray(value).dtype.kind == "b":
        if isinstance(STATE.context, Graph):
            return
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {of_row(row).name}")
    raise ValueError("Can't convert Python sequence with mixed types to Tensor.")


def _has_bools(value: object) -> bool:
    """Say whether the first number of a list is a truth value."""
    if isinstance(value, list | tuple):
        return bool(value) and _has_bools(value[0])
    return isinstance(value, bool)


def convert_to_tensor(
    value: object,
    dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
    name: str | None = None,
) -> TfTensor:
    """Return a value as a tensor; `dtype_hint` is the type of numbers that can have it."""
    if dtype is None and dtype_hint is not None and not holds_tensor(value):
        try:
            return convert(value, dtype_hint, name)
        except TypeError:
            pass  # a hint binds nobody
    return convert(value, dtype, name)


def _has_tensors(value: object) -> bool:
    if isinstance(value, list | tuple):
        return not PLAIN.issuperset(map(type, value)) and any(map(_has_tensors, value))
    return isinstance(value, Tensor) or is_read(value)


def _row_within(value: object) -> DType | None:
    """Return the element type of the first tensor of a list, which its other numbers take."""
    if isinstance(value, list | tuple):
        return next((row for row in map(_row_within, value) if row is not None), None)
    if not _has_tensors(value):
        return None
    return convert(value).spec.dtype


def _typed_ones(
    values: Sequence[object], labels: Sequence[str | None]
) -> Sequence[TfTensor | None]:
    """Return those of some values as tensors that others take the type of."""
    if PLAIN.issuperset([v.__class__ for v in values]):
        return [None] * len(values)
    whole = [v.__class__ not in (list, tuple) and holds_tensor(v) for v in values]
    some, one = any(map(holds_tensor, values)), any(whole)
    asked = [v.__class__ not in PLAIN and is_asked(v) for v in values]
    ready = [
        convert(v, None, n)
        if not a and (w if one else i == 0 if some else is_typed(v))
        else None  # a list takes the type of a tensor that is none, whatever it holds
        for i, (v, n, a, w) in enumerate(zip(values, labels, asked, whole, strict=True))
    ]
    if any(asked) and not any(x is not None for x in ready):
        i = asked.index(True)
        ready[i] = convert(values[i], None, labels[i])
    return ready


def same(*values: object, names: Sequence[str | None] | None = None) -> list[TfTensor]:
    """Return values as tensors of one element type: Python numbers take that of a tensor.

    `names` are those of the constants that are made.
    """
    labels = names or [None] * len(values)
    ready = _typed_ones(values, labels)
    row = next((x.spec.dtype for x in ready if x is not None), None)
    if row is None:
        first = array_of(values[0]).dtype
        row = rows.of_numpy(first) if first.kind != "O" else None
    made = []
    for value, x, label in zip(values, ready, labels, strict=True):
        if x is not None and row is not None and x.spec.dtype != row:
            if isinstance(STATE.context, Graph):
                STATE.context.owned(x)  # of which graph it is comes first
            raise InvalidTypesError(
                f"cannot compute as an input was expected to be a {named(row)} tensor but is a "
                f"{named(x.spec.dtype)} tensor"
            )
        try:
            made.append(convert(value, row, label) if x is None else x)
        except TypeError as error:
            raise InvalidTypesError(
                f"cannot compute as an input was expected to be a {named(row)} tensor: {error}"
            ) from None
    return made


Kind = TypeVar("Kind")


class CalledAsThere:
    """An error about operands that do not fit an operation, by TensorFlow's name for it.

    TensorFlow says so by `InvalidArgumentError` where it runs and by an error of Python's where a
    graph is made. Programs catch either; what they print is the name of that which it would be.
    """

    python: ClassVar[type[Exception]]
    """The error of Python's that it is in graphs."""

    def __new__(cls, *args: object, **options: object) -> Self:
        """Return an error that is called as TensorFlow's is here."""
        named = InvalidArgumentError if STATE.context is None else cls.python
        return super().__new__(_called(cls, named))

    def __reduce__(self) -> tuple[object, ...]:
        """Return what a copy in another process is made of."""
        return type(self).__mro__[1], (str(self),)


def _called(kind: type[Kind], named: type[Exception]) -> type[Kind]:
    """Return a kind of error by the name of another one."""
    if (kind, named) not in _CALLED:
        inside = {"__doc__": kind.__doc__, "__module__": named.__module__}
        _CALLED[kind, named] = type(named.__name__, (kind,), inside)
    return cast("type[Kind]", _CALLED[kind, named])


_CALLED: dict[tuple[object, object], type] = {}
"""The kinds of errors by the names of others, each made once."""


class InvalidTypesError(CalledAsThere, InvalidArgumentError, TypeError):
    """Element types differ."""

    code = "GV2318"
    python = TypeError


class InvalidShapesError(CalledAsThere, InvalidArgumentError, ValueError):
    """Operands of a graph do not fit together."""

    code = "GV2319"
    python = ValueError


def holds_tensor(value: object) -> bool:
    """Say whether a value is a tensor or variable, or a list of some; arrays of numpy are not."""
    if value.__class__ in PLAIN:
        return False
    if isinstance(value, list | tuple):
        return any(map(holds_tensor, value))
    return isinstance(value, Tensor) or is_read(value) or hasattr(value, "to_dense")


def is_typed(value: object) -> bool:
    """Say whether a value has an element type of its own."""
    if value.__class__ in PLAIN:
        return False
    return (
        isinstance(value, Tensor | np.ndarray | np.generic)
        or is_read(value)
        or hasattr(value, "to_dense")
        or (isinstance(value, list | tuple) and any(map(is_typed, value)))
    )


def graph_of(values: Iterable[object]) -> Graph | None:
    """Return the graph that operations on values go to, None to run them now.

    Beside the graph of a session, values of another one call for that one.
    """
    context = STATE.context
    if isinstance(context, FuncGraph):
        return context
    return home_of(values) or (context if isinstance(context, Graph) else None)


def home_of(values: Iterable[object]) -> Graph | None:
    """Return the graph of the first value that has one."""
    for value in values:
        if value.__class__ in NOT_IN_GRAPHS:
            continue
        if isinstance(value, GraphTensor):
            value.home()  # raises if the tensor has leaked
            return value.graph
        if isinstance(value, Operation):
            return value.graph
        if isinstance(value, list | tuple):
            inner = home_of(value)
            if inner is not None:
                return inner
        home = getattr(value, "graph", None)
        if isinstance(home, Graph) and hasattr(value, "__gv_tensor__"):
            return home
    return None


def changed_in(graph: Graph) -> Graph:
    """Return where what changes variables of a graph goes: a branch or loop that is being made."""
    here = STATE.context
    return here if isinstance(here, FuncGraph) and here.is_inside(graph) else graph


class InGraph:
    """Make a graph the present context if there is none, or that of a session."""

    def __init__(self, graph: Graph | None) -> None:
        self.graph = None if isinstance(STATE.context, FuncGraph) else graph

    def __enter__(self) -> None:
        if self.graph is not None:
            self.before = STATE.context, STATE.recorders
            STATE.set(self.graph, STATE.recorders)

    def __exit__(self, *error: object) -> None:
        if self.graph is not None:
            STATE.set(*self.before)


def elements(value: object) -> Array:
    """Return the elements of an operand of a rule.

    Raises `NotStageableError` where only the run has them: the operation is a host step then.
    """
    if isinstance(value, SSAValue):
        known = expressions(value)  # numbers that follow from sizes, of which others may be open
        if known is None or not all(isinstance(x, int | np.integer) for x in known.flat):
            raise NotStageableError(f"its result depends on the elements of a {value.type}")
        return known.astype(spec_of_value(value).dtype.numpy)
    return np.asarray(value)


def at_once(function: Callable[..., object], *operands: object, is_open: bool = False) -> object:
    """Return what a function gives for the elements of operands of a rule: an array or several.

    Eager code that is remembered calls the function alone; `is_open` says that the shapes of
    results depend on the elements.
    """
    notes = notes_of([x for x in operands if isinstance(x, Tensor)])
    if notes is None:
        return function(*map(elements, operands))
    several: list[bool] = []

    def step(*arrays: Array) -> Sequence[Array]:
        """Return the results in a sequence."""
        made = function(*arrays)
        several[:] = [isinstance(made, tuple)]
        parts = made if isinstance(made, tuple) else (made,)
        return [np.asarray(x) for x in parts]

    given = [x if isinstance(x, Tensor) else Tensor(np.asarray(x)) for x in operands]
    found = notes.step(step, given, is_open=is_open)
    return tuple(found) if several[0] else found[0]


def many_joined(type_: str, given: Sequence[object], axis: object) -> TfTensor | None:
    """Return many computed tensors joined; None: they are to be looked at one by one."""
    if STATE.busy or EARS.count or {x.__class__ for x in given} != {EagerTensor}:
        return None
    arrays = [x._array for x in given if isinstance(x, EagerTensor)]
    made = joined(arrays, axis, is_new=type_ == "Pack") if type(axis) is int else None
    return None if made is None else EagerTensor(made)


def static(value: object) -> Any:
    """Return a tensor's value as Python numbers if it is known, else the tensor."""
    if value.__class__ in PLAIN:
        return value
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
    if is_read(value):
        return static(read(value))
    return value


def whole(value: object) -> Any:
    """Return a whole number if it is known, else the tensor of a graph."""
    found = static(value)
    return found if isinstance(found, GraphTensor) else int(found)


def shape_spec(dtype: DTypeLike, shape: ShapeLike) -> TensorSpec:
    """Return a spec for a type and a shape of which parts may be unknown."""
    row = row_of(dtype)
    assert row is not None, "a spec has an element type"
    return spec_with_unknowns(row, TensorShape(shape)._dims)


def path_of(value: object, what: str) -> str:
    """Return a path that is a text, bytes, a path or a tensor whose value is known.

    `what` says in messages whose it is.
    """
    found = static(value)
    if isinstance(found, GraphTensor):
        raise TypeError(
            f"{what}: {found.name!r} ({found.op.type}) has no value before the graph runs, "
            "expected a path that is known"
        )
    if not isinstance(found, str | bytes | os.PathLike):
        raise TypeError(f"{what}: {found!r} is no path, expected a text")
    return os.fsdecode(found)
