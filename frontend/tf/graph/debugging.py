"""Checks that fail with a message, when they are made or when they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, wraps
from inspect import Signature, signature
from typing import Any

import numpy as np

from ....ir.types.tensor import Array
from ...graph.graph import Operation
from ...values.context import STATE, executing_eagerly
from ...values.dtypes import DataType, DTypeLike, finfo
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import COMPUTED, SymbolicTfTensor, TfTensor
from ..core.calls import op
from ..core.element_types import as_dtype
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, same
from . import number_checks, shape_checks
from .assertions import (
    MOST,
    RELATIONS,
    described,
    node,
    of_either_kind,
    passed,
    prefixed,
    require_type,
    shown_at_once,
)
from .state import get_default_graph, group

enable_check_numerics = number_checks.enable_check_numerics
disable_check_numerics = number_checks.disable_check_numerics
assert_rank, assert_rank_in = shape_checks.assert_rank, shape_checks.assert_rank_in
assert_rank_at_least = shape_checks.assert_rank_at_least
assert_scalar, assert_shapes = shape_checks.assert_scalar, shape_checks.assert_shapes
IN_ORDER = ("data", "summarize", "message", "name")
"""What checks of the first version take behind their operands; the second has another order."""


def first_version(check: Callable[..., object]) -> Callable[..., object]:
    """Return a check as the first version has it: `data` and `summarize` come first."""
    names = list(signature(check).parameters)
    if "data" not in names or names.index("data") < names.index("message"):
        return check
    count = names.index("message")

    @wraps(check)
    def call(*args: object, **given: object) -> object:
        return check(*args[:count], **dict(zip(IN_ORDER, args[count:], strict=False)), **given)

    call.__signature__ = _as_first(signature(check))  # type: ignore[attr-defined]
    return call


def _as_first(found: Signature) -> Signature:
    """Return the signature of a check as the first version has it."""
    known = dict(found.parameters)
    order = [*(n for n in known if n not in IN_ORDER), *(n for n in IN_ORDER if n in known)]
    return found.replace(parameters=[known[name] for name in order])


def _relation(sign: str, holds: Callable[..., Array]) -> Callable[..., object]:
    """Return a check of two tensors."""
    RELATIONS[sign] = partial(_compared, holds)

    def check(
        x: object,
        y: object,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
        data: Sequence[object] | None = None,
    ) -> object:
        """Raise unless the relation holds for all elements."""
        is_itself = x is y and sign == "==" and x.__class__ in COMPUTED
        if is_itself and data is None and STATE.context is None:
            return None  # (most of the rest would be to see that there is nothing to do)
        graph = graph_of([x, y, *(data or ())])
        with InGraph(graph):
            a, b = same(x, y)
            if a is b and sign == "==":
                return passed(graph)
            if graph is None:
                _compare_at_once(sign, holds, (a, b), message, summarize, data)
                return None
            told = data if data is not None else [
                f"Condition x {sign} y did not hold element-wise:",
                f"x ({described(a)}) = ", a, f"y ({described(b)}) = ", b,
            ]  # fmt: skip
            parts = [*told] if message is None else [message, *told]
            known = _constants([a, b])
            if len(known) == 2 and not np.all(_compared(holds, *known)):
                raise InvalidArgumentError(
                    "\n".join(str(_value_of(part)) for part in parts)  # it never holds: at once
                )
            return node(sign, [a, b], parts, most=summarize, name=name)

    return check


def _constants(parts: Sequence[object]) -> list[Array]:
    """Return the values of those that are constants of a graph."""
    edges = [x for x in parts if isinstance(x, SymbolicTfTensor)]
    return [x.op.attributes["value"] for x in edges if x.op.type == "Const"]


def _value_of(part: object) -> object:
    """Return what a message shows of a part that is known."""
    return next(iter(_constants([part])), part)


def _near(a: Array, b: Array, relative: Array, absolute: Array) -> Array:
    """Return which elements differ by less than is let pass."""
    return np.asarray(np.abs(a - b) < absolute + relative * np.abs(b))


RELATIONS["near"] = _near


def _compared(holds: Callable[..., Array], a: Array, b: Array) -> Array:
    """Return for which elements a relation holds, or raise where shapes do not fit together."""
    try:
        np.broadcast_shapes(np.shape(a), np.shape(b))
    except ValueError:
        first, second = (str(list(np.shape(v))).replace(" ", "") for v in (a, b))
        raise InvalidShapesError(f"Incompatible shapes: {first} vs. {second}") from None
    return holds(a, b)


def _compare_at_once(
    sign: str,
    holds: Callable[..., Array],
    pair: tuple[TfTensor, TfTensor],
    message: str | None,
    summarize: int | None,
    data: Sequence[object] | None,
) -> None:
    """Raise unless a relation holds for all elements, and say where it does not."""
    a, b = (v._array if v.direct else np.asarray(v.numpy()) for v in pair)
    good, most = np.asarray(_compared(holds, a, b)), MOST if summarize is None else summarize
    if np.all(good):
        return
    parts = [message, *(data or ())] if data is not None else [
        message, f"Condition x {sign} y did not hold.", *_differences(a, b, good, most),
    ]  # fmt: skip
    raise InvalidArgumentError(shown_at_once([x for x in parts if x is not None], most))


def _differences(a: Array, b: Array, good: Array, most: int) -> Iterator[object]:
    """Give the lines that say where a relation does not hold, and how the operands begin."""
    if most <= 0:
        return
    if a.shape == b.shape and a.shape:
        places = np.argwhere(~good)[:most]
        yield from (f"Indices of first {len(places)} different values:", places)
        yield from ("Corresponding x values:", a[~good][:most])
        yield from ("Corresponding y values:", b[~good][:most])
    for letter, array in (("x", a), ("y", b)):
        first = array.reshape(-1)[:most]
        yield from (f"First {first.size} elements of {letter}:", first)


assert_greater = _relation(">", np.greater)
assert_less = _relation("<", np.less)
assert_equal = _relation("==", np.equal)
assert_none_equal = _relation("!=", np.not_equal)
assert_greater_equal = _relation(">=", np.greater_equal)
assert_less_equal = _relation("<=", np.less_equal)


def _sign(sign: str, relation: Callable[..., object]) -> Callable[..., object]:
    """Return a check of one tensor against 0."""

    def check(
        x: object,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
        data: Sequence[object] | None = None,
    ) -> object:
        """Raise unless the relation to 0 holds for all elements."""
        with InGraph(graph_of([x])):
            value = convert(x)
            start = f"{message}.  " if message else ""
            parts = data if data is not None else [
                start, f"Condition x {sign} 0 did not hold element-wise:",
                f"x ({described(value)}) = ", value,
            ]  # fmt: skip
            return relation(value, np.zeros((), value.dtype.as_numpy_dtype),
                            summarize=summarize, name=name, data=parts)  # fmt: skip

    return check


assert_positive, assert_negative = _sign(">", assert_greater), _sign("<", assert_less)
assert_non_negative = _sign(">=", assert_greater_equal)
assert_non_positive = _sign("<=", assert_less_equal)


def Assert(  # noqa: N802  (is its name)
    condition: object,
    data: Sequence[object],
    summarize: int | None = None,
    name: str | None = None,
) -> object:
    """Raise with the data unless a condition holds."""
    graph = graph_of([condition, *data])
    if graph is not None:
        return node("all", [condition], data, most=summarize, name=name)
    value = convert(condition)
    if not np.all(value.numpy()):
        most = MOST if summarize is None else summarize
        text = "\n".join(_begun(np.asarray(convert(x).numpy()), most) for x in data)
        raise InvalidArgumentError(f"Expected '{value}' to be true. Summarized data: {text}")
    return None


def _begun(array: Array, most: int) -> str:
    """Return the first elements of an array without brackets."""
    if not array.ndim:
        return str(array[()])
    texts = [str(x) for x in array.ravel()[:most]]
    return ", ".join([*texts, "..."] if len(texts) < array.size else texts)


def assert_type(
    tensor: object, tf_type: object, message: str | None = None, name: str | None = None
) -> object:
    """Raise unless a tensor has an element type."""
    wanted, graph = as_dtype(tf_type), graph_of([tensor])
    with InGraph(graph):
        require_type(tensor, wanted, message)
        return passed(graph)


def assert_integer(x: object, message: str | None = None, name: str | None = None) -> object:
    """Raise unless the elements are integers."""
    graph = graph_of([x])
    with InGraph(graph):
        value = convert(x)
        if not value.dtype.is_integer:
            called = value.name if isinstance(value, SymbolicTfTensor) else "tensor"
            raise TypeError(
                f'{prefixed(message)}Expected "x" to be integer type.  Found: {called} of dtype '
                f"{value.dtype!r}"
            )
        return passed(graph)


def assert_proper_iterable(values: object) -> None:
    """Raise unless a value can be gone through, and is no tensor, text or array."""
    single = hasattr(values, "spec") or hasattr(values, "dense_shape")
    if single or isinstance(values, str | bytes | np.ndarray):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(
    tensors: Iterable[object] | None = None, dtype: DTypeLike | None = None
) -> DataType:
    """Return the element type that tensors share, which is one of floats; float32 of nothing."""
    wanted = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        if tensor is None:
            continue
        value = of_either_kind(tensor)
        found = value.dtype
        if wanted is not None and found != wanted:
            raise ValueError(f"{tensor} must be of the same type ({wanted})")
        wanted = found
    wanted = wanted or as_dtype("float32")
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted!r}.")
    return wanted


def assert_near(
    x: object,
    y: object,
    rtol: object = None,
    atol: object = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
    data: Sequence[object] | None = None,
) -> object:
    """Raise unless all elements are within ten roundings of each other."""
    graph = graph_of([x, y])
    with InGraph(graph):
        a, b = same(x, y)
        type_ = a.dtype.real_dtype.as_numpy_dtype
        least = np.asarray(10 * (finfo(type_).eps if a.dtype.is_floating else 0), type_)
        relative, absolute = (convert(least if t is None else t, type_) for t in (rtol, atol))

        parts = [
            f"{message}.  " if message else "",
            f"x and y not equal to tolerance rtol = {relative}, atol = {absolute}",
            f"x ({described(a)}) = ", a, f"y ({described(b)}) = ", b,
        ] if data is None else data  # fmt: skip
        given = [a, b, relative, absolute]
        if graph is not None:
            return node("near", given, parts, most=summarize, name=name)
        return Assert(_near(*[np.asarray(v.numpy()) for v in given]).all(), parts, summarize)


def assert_all_finite(x: object, message: str, name: str | None = None) -> TfTensor:
    """Return the tensor, or raise with the message where an element is NaN or infinite."""
    return check_numerics(x, message, name=name)


def is_numeric_tensor(tensor: object) -> bool:
    """Say whether a value is a tensor of numbers."""
    return hasattr(tensor, "dtype") and tensor.dtype.kind in "iufc"


@op("CheckNumerics", "tensor", strict=False, refuses=True, is_check=True)
def check_numerics(m: Any, tensor: object, message: str) -> object:
    """Return the tensor, or raise with the message where an element is NaN or infinite."""
    return m.check_numerics(tensor, message=message)


def add_check_numerics_ops() -> Operation | None:
    """Return what checks every tensor of floats that the default graph has now, one by one.

    A check that fails names the tensor. Tensors inside of branches and loops are not looked at.
    """
    if executing_eagerly():
        raise RuntimeError(
            "add_check_numerics_ops() is not compatible with eager execution. To check for Inf's "
            "and NaN's under eager execution, check the tensors one by one (tf.debugging."
            "check_numerics)."
        )
    graph, checks = get_default_graph(), list[object]()
    for operation in list(graph.operations):
        for output in operation.outputs:
            if output.spec.dtype.is_float:
                with graph.control_dependencies(checks):
                    made = check_numerics(output, f"{operation.name}:{output.value_index}")
                checks = [made]
    return group(*checks)


def get_log_device_placement() -> bool:
    """Say whether it is told where operations run."""
    return _SETTINGS["log_device_placement"]


def set_log_device_placement(enabled: bool) -> None:
    """Let it be told where operations run: on this machine's processor."""
    _SETTINGS["log_device_placement"] = enabled


_SETTINGS = {"log_device_placement": False}
