"""Checks that fail with a message, when they are made or when they are run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.types.tensor import Array
from ...graph.graph import Operation
from ...graph.kinds import PyFunction
from ...values.context import executing_eagerly
from ...values.dtypes import DataType, DTypeLike, finfo
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import SymbolicTfTensor, TfTensor
from ..core.calls import op
from ..core.element_types import as_dtype
from ..core.values import InGraph, convert, graph_of, same
from . import number_checks
from .state import get_default_graph, group, no_op

enable_check_numerics = number_checks.enable_check_numerics
disable_check_numerics = number_checks.disable_check_numerics


def _assert(sign: str, holds: Callable[..., Any]) -> Callable[..., object]:
    """Return a check of two tensors."""

    def check(
        x: object,
        y: object,
        message: str | None = None,
        summarize: object = None,
        name: str | None = None,
        data: Any = None,
    ) -> object:
        """Raise unless the relation holds for all elements."""
        start = [*(data or ()), *([message] if message else ())]

        def run(a: Array, b: Array) -> tuple[()]:
            if not np.all(holds(a, b)):
                text = " ".join(map(str, [*start, f"Condition x {sign} y did not hold."]))
                text = f"{text} x = {a}, y = {b}"
                raise InvalidArgumentError(text)
            return ()

        graph = graph_of([x, y])
        with InGraph(graph):
            values = same(x, y)
            edges = [v for v in values if isinstance(v, SymbolicTfTensor)]
            known = [v.op.attributes["value"] for v in edges if v.op.type == "Const"]
            if sign != "~" and len(known) == len(values):
                run(*known)  # it never holds: said at once
            return _checked(graph, run, values, name)

    return check


def _checked(graph: Any, run: Callable[..., object], values: list[Any], name: object) -> object:
    if graph is None:
        run(*[v.numpy() for v in values])
        return None
    kind = PyFunction(run, (), pure=False)
    return graph.add(kind, [graph.owned(v) for v in values], name=name)


assert_greater = _assert(">", np.greater)
assert_less = _assert("<", np.less)
assert_equal = _assert("==", np.equal)
assert_none_equal = _assert("!=", np.not_equal)
assert_greater_equal = _assert(">=", np.greater_equal)
assert_less_equal = _assert("<=", np.less_equal)


def _assert_sign(check: Callable[..., object]) -> Callable[..., object]:
    return lambda x, message=None, summarize=None, name=None: check(x, 0, message, name=name)


assert_positive, assert_negative = _assert_sign(assert_greater), _assert_sign(assert_less)
assert_non_negative = _assert_sign(assert_greater_equal)
assert_non_positive = _assert_sign(assert_less_equal)


def Assert(  # noqa: N802  (is its name)
    condition: object, data: Sequence[object], summarize: object = None, name: object = None
) -> object:
    """Raise with the data unless a condition holds."""

    def run(holds: Any, *values: object) -> tuple[()]:
        if not np.all(holds):
            raise InvalidArgumentError(f"Expected '{name or 'condition'}' to be true. "
                                       f"Summarized data: {list(values)}")  # fmt: skip
        return ()

    graph = graph_of([condition, *data])
    with InGraph(graph):
        return _checked(graph, run, [convert(condition), *map(convert, data)], name)


def assert_shapes(shapes: Any, **_: object) -> object:
    """Raise unless tensors have the shapes stated, of which letters stand for equal sizes."""
    sizes: dict[object, int | None] = {}
    for tensor, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        found = convert(tensor).shape.as_list()
        if len(found) != len(wanted):
            raise ValueError(f"shape {found}, expected {tuple(wanted)}")
        for size, name in zip(found, wanted, strict=True):
            known = name if isinstance(name, int) else sizes.setdefault(name, size)
            if size != known:
                raise ValueError(f"size {size} where {name} is {known}")
    return no_op()


def assert_rank(x: object, rank: object, message: object = None, name: str | None = None) -> object:
    """Raise unless a tensor has so many axes."""
    found = convert(x).shape
    if found.rank != rank:
        raise ValueError(f"{message or ''} Tensor must have rank {rank}. Received rank "
                         f"{found.rank}, shape {found}")  # fmt: skip
    return no_op()


def assert_rank_at_least(
    x: object, rank: int, message: object = None, name: str | None = None
) -> object:
    """Raise if a tensor has fewer axes."""
    found = convert(x).shape
    if found.rank is not None and found.rank < rank:
        raise ValueError(
            f"{message or ''} Tensor must have rank at least {rank}. Received rank {found.rank}, "
            f"shape {found}"
        )
    return no_op()


def assert_rank_in(
    x: object, ranks: Any, message: str | None = None, name: str | None = None
) -> object:
    """Raise unless a tensor has one of several numbers of axes."""
    found = convert(x).shape
    if found.rank is not None and found.rank not in ranks:
        raise ValueError(
            f"{message or ''} Tensor must have rank in {tuple(ranks)}. Received rank {found.rank}, "
            f"shape {found}"
        )
    return no_op()


def assert_scalar(tensor: object, message: object = None, name: str | None = None) -> TfTensor:
    """Return a tensor, which must have no axes."""
    value = convert(tensor)
    if value.ndim:
        raise ValueError(f"{message or ''} Expected scalar shape, saw shape: {value.shape}.")
    return value


def assert_type(
    tensor: object, tf_type: object, message: object = None, name: str | None = None
) -> object:
    """Raise unless a tensor has an element type."""
    found = convert(tensor).dtype
    if found != tf_type:
        raise TypeError(f"{message or ''} tensor must be of type {tf_type}; got {found}")
    return no_op()


def assert_integer(x: object, message: object = None, name: str | None = None) -> object:
    """Raise unless the elements are integers."""
    found = convert(x).dtype
    if not found.is_integer:
        raise TypeError(f'{message or ""} Expected "x" to be integer type. Found: {found}')
    return no_op()


def assert_proper_iterable(values: object) -> None:
    """Raise unless a value can be gone through, and is no tensor, text or array."""
    single = hasattr(values, "spec") or isinstance(values, str | bytes | np.ndarray)
    if single or not hasattr(values, "__iter__"):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )


def assert_same_float_dtype(tensors: Any = None, dtype: DTypeLike | None = None) -> DataType:
    """Return the element type that tensors share, which is one of floats; float32 of nothing."""
    wanted = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        found = convert(tensor).dtype
        if wanted is not None and found != wanted:
            raise ValueError(f"{tensor} must be of the same type ({wanted})")
        wanted = found
    wanted = wanted or as_dtype("float32")
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted


def assert_near(
    x: object,
    y: object,
    rtol: object = None,
    atol: object = None,
    message: object = None,
    summarize: object = None,
    name: str | None = None,
) -> object:
    """Raise unless all elements are within ten roundings of each other."""

    def close(a: Array, b: Array) -> Array:
        least = 10 * finfo(a.dtype).eps
        return np.asarray(np.abs(a - b) <= (atol or least) + (rtol or least) * np.abs(b))

    return _assert("~", close)(x, y, message, summarize, name)


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
