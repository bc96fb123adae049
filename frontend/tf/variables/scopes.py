"""Variables by name: `get_variable` within `variable_scope`, as the graph API has them."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from functools import partial
from types import TracebackType
from typing import Any, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from ...graph.checkpoint_ops import PART, Share
from ...graph.func_graph import graph_around
from ...graph.graph import Graph
from ...values.context import STATE, entered, executing_eagerly
from ...values.dtypes import DTypeLike
from ...values.given import TensorLike
from ..core.bridge import row_of
from ..core.creators import VariableAggregation, VariableSynchronization
from ..core.element_types import as_dtype
from ..core.names import name_scope, scope_around
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import convert
from ..graph.graph_lists import get_collection
from ..graph.loops import Trip
from ..graph.state import Variable, get_default_graph
from ..ops.initial_values import GlorotUniform, Zeros
from .partitioned import PartitionedVariable, Partitioner, cut, first_of_part


class Reuse(Enum):
    """Whether variables are shared: `AUTO_REUSE` shares those that are there."""

    AUTO_REUSE = 1


AUTO_REUSE = Reuse.AUTO_REUSE


Penalty: TypeAlias = Callable[[object], object]
"""What a variable or a result costs: a regulariser."""


First: TypeAlias = "Callable[..., object] | TensorLike | None"
"""What a variable starts with: an initializer, its class, or a value."""


Getter: TypeAlias = Callable[..., object]
"""What finds or makes a variable by its full name. A custom one is given the next one to call."""


class VariableScope:
    """A prefix of the names of variables, and what holds for those that are made in it."""

    def __init__(
        self,
        name: str,
        reuse: object,
        initializer: First,
        original: str,
        dtype: DTypeLike | None = None,
        regularizer: Penalty | None = None,
        *,
        partitioner: Partitioner | None = None,
        constraint: object = None,
        caching_device: object = None,
        use_resource: object = None,
        custom_getter: Getter | None = None,
    ) -> None:
        self.name, self.reuse, self.initializer = name, reuse, initializer
        self.original_name_scope = original
        self.dtype, self.regularizer = dtype, regularizer
        self.partitioner, self.custom_getter = partitioner, custom_getter
        self.constraint, self.caching_device = constraint, caching_device
        self.use_resource = use_resource
        """What was asked for: variables are of one kind."""

    def set_partitioner(self, partitioner: Partitioner | None) -> None:
        """Cut variables into parts from here on."""
        self.partitioner = partitioner

    def set_initializer(self, initializer: First) -> None:
        """Let variables start so from here on."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Penalty | None) -> None:
        """Let variables cost so from here on."""
        self.regularizer = regularizer

    def set_custom_getter(self, custom_getter: Getter | None) -> None:
        """Ask a function for variables from here on."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: DTypeLike | None) -> None:
        """Let variables be of a type from here on."""
        self.dtype = dtype

    def set_caching_device(self, caching_device: object) -> None:
        """Let values of variables be read on a device from here on."""
        self.caching_device = caching_device

    def set_use_resource(self, use_resource: bool) -> None:
        """Note what is asked for from here on."""
        self.use_resource = use_resource

    def reuse_variables(self) -> None:
        """Share variables from here on."""
        self.reuse = True

    def get_variable(self, name: str, *args: Any, **options: Any) -> Variable:
        """Return the variable of a name in this scope."""
        with variable_scope(self):
            return get_variable(name, *args, **options)

    def get_collection(self, name: str) -> list[object]:
        """Return what of a list of the default graph is in this scope."""
        return get_collection(name, f"{self.name}/" if self.name else "")

    def global_variables(self) -> list[object]:
        """Return the variables of this scope."""
        return self.get_collection("variables")

    def local_variables(self) -> list[object]:
        """Return the local variables of this scope."""
        return self.get_collection("local_variables")

    def trainable_variables(self) -> list[object]:
        """Return the trainable variables of this scope."""
        return self.get_collection("trainable_variables")


class Scopes(threading.local):
    """What a graph knows of its scopes: the variables, and for each thread where it is."""

    def __init__(self, variables: dict[str, Variable | PartitionedVariable]) -> None:
        self.stack = [VariableScope("", False, None, "")]
        self.variables = variables
        self.entered: dict[str, int] = {}
        """How often a default name was taken."""
        self.templates = 0
        """How many templates are around, which keep their variables eagerly, too."""

    @property
    def keeps(self) -> bool:
        """Say whether variables are found again by their names: eagerly each call makes one."""
        return self.templates > 0 or not executing_eagerly()

    def forget_inside(self, scope: str) -> None:
        """Let default names begin anew where a scope is entered once more."""
        inside = [name for name in self.entered if name.startswith(f"{scope}/")]
        for name in inside:
            del self.entered[name]


_SCOPES: WeakKeyDictionary[Graph, Scopes] = WeakKeyDictionary()


def scopes() -> Scopes:
    """Return the scopes of the default graph; branches and loops have those of what is around."""
    graph: Graph = get_default_graph()
    while graph.outer is not None and graph not in _SCOPES:
        graph = graph.outer
    return _SCOPES.setdefault(graph, Scopes({}))


@contextmanager
def kept() -> Iterator[None]:
    """Keep variables meanwhile, so that they are found again by their names."""
    known = scopes()
    known.templates += 1
    try:
        yield
    finally:
        known.templates -= 1


@contextmanager
def scopes_are(known: Scopes) -> Iterator[None]:
    """Let the default graph have these scopes, and the variables that they know."""
    graph = get_default_graph()
    before = _SCOPES.get(graph)
    _SCOPES[graph] = known
    try:
        yield
    finally:
        if before is None:
            _SCOPES.pop(graph)
        else:
            _SCOPES[graph] = before


def get_variable_scope() -> VariableScope:
    """Return the innermost scope."""
    return scopes().stack[-1]


class SameAgain:
    """Calls of one function for each slice: all have the variables that the first one makes."""

    def __init__(self) -> None:
        self.known = scopes()
        self.entered: dict[str, int] = dict(self.known.entered)
        self.is_first = True

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Enter for a call: default names begin anew, and variables that are there are shared."""
        scope = self.known.stack[-1]
        before = scope.reuse
        if not self.is_first:
            self.known.entered = dict(self.entered)
            scope.reuse = before or AUTO_REUSE
        self.is_first = False
        try:
            yield
        finally:
            scope.reuse = before


Trip.begun = SameAgain


def _full_name(
    known: Scopes,
    outer: VariableScope,
    name: str | VariableScope | None,
    default_name: str | None,
) -> str:
    if isinstance(name, VariableScope):
        return name.name
    prefix = f"{outer.name}/" if outer.name else ""
    if name is not None:
        return f"{prefix}{name}"
    full = f"{prefix}{default_name}"
    count = known.entered.get(full, 0)
    known.entered[full] = count + 1
    return full if not count else f"{full}_{count}"


class variable_scope:  # noqa: N801  (TensorFlow's name; it is used like a function)
    """Puts variables and operations under a name.

    Who enters it need not keep it: then the names of operations are again those around.
    """

    def __init__(
        self,
        name_or_scope: str | VariableScope | None,
        default_name: str | None = None,
        values: object = None,
        initializer: First = None,
        regularizer: Penalty | None = None,
        caching_device: object = None,
        partitioner: Partitioner | None = None,
        custom_getter: Getter | None = None,
        reuse: object = None,
        dtype: DTypeLike | None = None,
        use_resource: object = None,
        constraint: object = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        del values
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is None and reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                f"The auxiliary_name_scope must be `True` or `False`, got {auxiliary_name_scope!r}"
            )
        _expect_getter(custom_getter)
        self._name, self._default, self._reuse = name_or_scope, default_name, reuse
        self._names, self._getter = auxiliary_name_scope, custom_getter
        self._asked = VariableScope(
            "", None, initializer, "", dtype, regularizer, partitioner=partitioner,
            constraint=constraint, caching_device=caching_device, use_resource=use_resource,
        )  # fmt: skip
        self._entered: list[
            tuple[Scopes, AbstractContextManager[str], dict[str, int], VariableScope]
        ] = []
        """What is left again: the scopes of the graph, that of names, the counts before."""

    def __enter__(self) -> VariableScope:
        known, given = scopes(), self._name
        outer = known.stack[-1]
        full = _full_name(known, outer, given, self._default)
        names = self._name_scope()
        entered = names.__enter__()
        original = given.original_name_scope if isinstance(given, VariableScope) else entered
        made = self._within(outer, full, original)
        known.stack.append(made)
        self._entered.append((known, names, known.entered, made))
        if isinstance(self._name, VariableScope):
            known.entered = dict(known.entered)
        return made

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        known, names, before, made = self._entered[-1]
        if known.stack[-1] is not made:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._entered.pop()
        known.stack.pop()
        if isinstance(self._name, VariableScope):
            known.entered = before
        else:
            known.forget_inside(made.name)
        names.__exit__(kind, error, trace)

    def _name_scope(self) -> AbstractContextManager[str]:
        """Return what puts operations under a name: the last one of a scope that is given."""
        given = self._name
        last = given.name.rpartition("/")[2] if isinstance(given, VariableScope) else given
        name = self._default if last is None else last
        return name_scope(name if self._names and name else scope_around())

    def _within(self, outer: VariableScope, full: str, operations: str) -> VariableScope:
        """Return the scope within another one."""
        asked, near = self._asked, self._name if isinstance(self._name, VariableScope) else outer
        first = cast("First", said(asked.initializer, near.initializer, outer.initializer))
        kept = self._reuse or near.reuse
        made = VariableScope(full, kept, first, operations, dtype=asked.dtype or outer.dtype)
        made.regularizer = said(asked.regularizer, near.regularizer, outer.regularizer)
        made.partitioner = said(asked.partitioner, near.partitioner, outer.partitioner)
        made.constraint = said(asked.constraint, near.constraint, outer.constraint)
        made.caching_device = said(asked.caching_device, near.caching_device, outer.caching_device)
        made.use_resource = said(asked.use_resource, near.use_resource, outer.use_resource)
        made.custom_getter = said(near.custom_getter, outer.custom_getter)
        if self._getter is not None:
            made.custom_getter = behind(self._getter, made.custom_getter)
        return made


T = TypeVar("T")


def said(*values: T | None) -> T | None:
    """Return the first value that is given."""
    return next((x for x in values if x is not None), None)


def _expect_getter(custom: object) -> None:
    if custom is not None and not callable(custom):
        raise ValueError(f"custom_getter {custom} is not callable: expected a function")


def behind(custom: Getter, getter: Getter | None) -> Getter:
    """Return a getter that asks a custom one, which may ask the one that was there."""
    if getter is None:
        return custom
    return lambda true, *args, **options: custom(partial(getter, true), *args, **options)


def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: First = None,
    regularizer: Penalty | None = None,
    trainable: bool | None = None,
    collections: Iterable[str] | None = None,
    caching_device: object = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    use_resource: object = None,
    custom_getter: Getter | None = None,
    constraint: object = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Variable:
    """Return the variable of a name in the present scope, made now or shared.

    With a `partitioner` it is a `PartitionedVariable`, with a `custom_getter` what that returns.
    """
    _expect_getter(custom_getter)
    scope = scopes().stack[-1]
    around = scope.custom_getter
    getter = around if custom_getter is None else behind(custom_getter, around)
    true: Getter = found_or_made
    with name_scope(""):
        _expect_type(initializer, dtype)
        made = (true if getter is None else partial(getter, true))(
            f"{scope.name}/{name}" if scope.name else name,
            shape=shape,
            dtype=dtype or scope.dtype,
            initializer=said(initializer, scope.initializer),
            regularizer=said(regularizer, scope.regularizer),
            reuse=scope.reuse,
            trainable=trainable,
            collections=collections,
            use_resource=said(use_resource, scope.use_resource),
            constraint=said(constraint, scope.constraint),
            partitioner=said(partitioner, scope.partitioner),
            validate_shape=validate_shape,
            caching_device=said(caching_device, scope.caching_device),
            synchronization=synchronization,
            aggregation=aggregation,
        )
    return cast("Variable", made)


def _expect_type(initializer: First, dtype: DTypeLike | None) -> None:
    """Raise if a first value that is given is of another type than the one that is given, too."""
    if dtype is None or initializer is None or callable(initializer):
        return
    found = convert(initializer).dtype
    if found != as_dtype(dtype):
        raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")


def found_or_made(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    reuse: object = None,
    partitioner: Partitioner | None = None,
    **options: Any,
) -> Variable | PartitionedVariable:
    """Return the variable of a full name, made now or shared."""
    known = scopes()
    found = known.variables.get(name) if known.keeps else None
    if found is not None:
        return _shared(found, name, reuse, shape, dtype, partitioner)
    if reuse is True and known.keeps:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you "
            "mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    first = options.pop("initializer", None)
    if partitioner is None or (shape is not None and not TensorShape(shape).rank):
        made: Variable | PartitionedVariable = _made(name, shape, dtype, first, **options)
    else:
        made = _made_in_parts(partitioner, name, shape, dtype, first, **options)
    if known.keeps:
        known.variables[name] = made
    return made


def _made(
    name: str,
    shape: ShapeLike,
    dtype: DTypeLike | None,
    first: First,
    *,
    regularizer: Penalty | None = None,
    use_resource: object = None,
    **options: Any,
) -> Variable:
    del use_resource  # variables are of one kind
    home = graph_around(STATE.context) or STATE.context
    with entered(home), name_scope(""):
        value = _initial(first, name, shape, dtype or "float32")
        made = Variable(value, name=name, **options)
    if regularizer is not None:
        graph = get_default_graph()
        with graph.name_scope(f"{name}/Regularizer/"):
            loss = regularizer(made)
        if loss is not None:
            graph.add_to_collection("regularization_losses", loss)
    return made


def _made_in_parts(
    partitioner: Partitioner,
    name: str,
    shape: ShapeLike,
    dtype: DTypeLike | None,
    first: First,
    **options: Any,
) -> PartitionedVariable:
    value = first is not None and not callable(first)
    found = shape is None and value
    whole = (getattr(first, "shape", None) or np.array(first).shape) if found else shape
    axis, count, places = cut(partitioner, whole, dtype or "float32")
    parts = []
    for number, (info, size) in enumerate(places):
        start = first_of_part(first, info, size)
        inner = f"{name}/part_{number}"
        parts.append(_made(inner, None if value else size, dtype, start, **options))
        share = Share(tuple(info.full_shape), tuple(info.var_offset), tuple(size))
        parts[-1].state.part = f"{name}{PART}{share}"
    return PartitionedVariable(name, parts, axis, count)


def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: First,
    dtype: DTypeLike | None = "float32",
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    name: str | None = None,
    reuse: object = None,
) -> list[Variable]:
    """Return variables that together have a shape: `slicing` says into how many each axis is cut.

    An initializer that is no function is the value of the whole, and says their type.
    """
    sizes, counts = list(shape), list(slicing)
    if len(sizes) != len(counts) or not sizes:
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the same length, at "
            f"least 1: shape: {sizes}, slicing: {counts}"
        )
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        found = found_or_made(
            scope.name,
            sizes if callable(initializer) else None,
            dtype if callable(initializer) else None,
            scope.reuse,
            lambda **_: counts,
            initializer=initializer,
            trainable=trainable,
            collections=collections,
            regularizer=scope.regularizer,
        )
        assert isinstance(found, PartitionedVariable), "a partitioner was given"
        return list(found)


def get_local_variable(name: str, *args: Any, **options: Any) -> Variable:
    """Return a variable that is not shared or saved."""
    lists = [*(options.get("collections") or ()), "local_variables"]
    options = {**options, "collections": lists, "trainable": False}
    return get_variable(name, *args, **options)


def _shared(
    found: Variable | PartitionedVariable,
    full: str,
    reuse: object,
    shape: ShapeLike,
    dtype: DTypeLike | None,
    partitioner: Partitioner | None,
) -> Variable | PartitionedVariable:
    if not reuse:
        kind = "Variable" if partitioner is None else "Partitioned variable with name"
        raise ValueError(
            f"{kind} {full} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if shape is not None and not TensorShape(shape).is_compatible_with(found.shape):
        raise ValueError(
            f"Trying to share variable {full}, but specified shape {TensorShape(shape)} and "
            f"found shape {found.shape}."
        )
    row = row_of(dtype)
    if row is not None and row != row_of(found.dtype):
        raise ValueError(
            f"Trying to share variable {full}, but specified dtype {row} and found dtype "
            f"{row_of(found.dtype)}."
        )
    if partitioner is not None and isinstance(found, PartitionedVariable):
        asked = list(partitioner(shape=found.shape, dtype=found.dtype))
        if asked != found.partitions:
            raise ValueError(
                f"Trying to reuse partitioned variable {full}, but specified partitions {asked} "
                f"and found partitions {found.partitions}."
            )
    return found


def _wants_more(make: Callable[..., object]) -> bool:
    """Say whether a function has arguments that must be given."""
    known = inspect.signature(make() if isinstance(make, type) else make).parameters.values()
    return any(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in known)


def _initial(
    initializer: First,
    name: str,
    shape: ShapeLike,
    dtype: DTypeLike,
) -> object:
    """Return the first value, or what makes it."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    if initializer is not None and not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return convert(initializer)
    if shape is None:
        if initializer is None:
            raise ValueError(
                f"Shape of a new variable ({name}) must be fully defined, but instead was "
                "<unknown>."
            )
        if _wants_more(initializer):
            raise ValueError(
                "The initializer passed is not valid. It should be a callable with no arguments "
                "and the shape should not be provided or an instance of "
                "`tf.keras.initializers.*' and `shape` should be fully defined."
            )
        return initializer
    if not TensorShape(shape).is_fully_defined():
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was "
            f"{TensorShape(shape)}."
        )
    found = initializer() if isinstance(initializer, type) else initializer
    make: Callable[..., object] = found or (GlorotUniform() if row.is_float else Zeros())
    return lambda: make(TensorShape(shape).as_list(), dtype=dtype)
