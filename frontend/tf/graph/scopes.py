"""Variables by name: `get_variable` within `variable_scope`, as the graph API has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from ...graph.graph import Graph
from ...values.dtypes import DTypeLike
from ...values.given import TensorLike
from ..core.bridge import row_of
from ..core.shapes import ShapeLike, TensorShape
from ..ops.initial_values import GlorotUniform, Zeros
from .state import Variable, get_default_graph


class Reuse(Enum):
    """Whether variables are shared: `AUTO_REUSE` shares those that are there."""

    AUTO_REUSE = 1


AUTO_REUSE = Reuse.AUTO_REUSE


Penalty: TypeAlias = Callable[[object], object]
"""What a variable or a result costs: a regulariser."""


First: TypeAlias = "Callable[..., object] | TensorLike | None"
"""What a variable starts with: an initializer, its class, or a value."""


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
    ) -> None:
        self.name, self.reuse, self.initializer = name, reuse, initializer
        self.original_name_scope = original
        self.dtype, self.regularizer = dtype, regularizer

    def reuse_variables(self) -> None:
        """Share variables from here on."""
        self.reuse = True

    def get_variable(self, name: str, *args: Any, **options: Any) -> Variable:
        """Return the variable of a name in this scope."""
        with variable_scope(self):
            return get_variable(name, *args, **options)


class Scopes:
    """What a graph knows of its scopes."""

    def __init__(self) -> None:
        self.stack = [VariableScope("", False, None, "")]
        self.variables: dict[str, Variable] = {}
        self.entered: dict[str, int] = {}
        """How often a default name was taken."""


_SCOPES: WeakKeyDictionary[Graph, Scopes] = WeakKeyDictionary()


def scopes() -> Scopes:
    """Return the scopes of the default graph."""
    return _SCOPES.setdefault(get_default_graph(), Scopes())


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


def _full_name(
    known: Scopes,
    outer: VariableScope,
    name: str | VariableScope | None,
    default_name: str | None,
) -> str:
    if isinstance(name, VariableScope):
        return name.name
    if name is None and default_name is None:
        raise TypeError("If default_name is None then name_or_scope is required")
    prefix = f"{outer.name}/" if outer.name else ""
    if name is not None:
        return f"{prefix}{name}"
    full = f"{prefix}{default_name}"
    count = known.entered.get(full, 0)
    known.entered[full] = count + 1
    return full if not count else f"{full}_{count}"


@contextmanager
def variable_scope(
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    values: object = None,
    initializer: First = None,
    reuse: object = None,
    dtype: DTypeLike | None = None,
    auxiliary_name_scope: bool = True,
    regularizer: Penalty | None = None,
    **refused: object,
) -> Iterator[VariableScope]:
    """Put variables and operations under a name."""
    del values
    _refuse("variable_scope", refused)
    known, graph = scopes(), get_default_graph()
    outer = known.stack[-1]
    again = name_or_scope if isinstance(name_or_scope, VariableScope) else None
    full = _full_name(known, outer, name_or_scope, default_name)
    kept = reuse
    if not reuse:
        kept = (again or outer).reuse
        if reuse is False and outer.reuse is not True:
            kept = False
    given = (initializer, again.initializer if again else None, outer.initializer)
    first = next((x for x in given if x is not None), None)
    last = full.rpartition("/")[2]
    with graph.name_scope(last if auxiliary_name_scope and last else None) as operations:
        before = known.entered
        held = again.regularizer if again else None
        penalty = next((x for x in (regularizer, held, outer.regularizer) if x is not None), None)
        row = dtype or outer.dtype
        made = VariableScope(full, kept, first, operations, dtype=row, regularizer=penalty)
        known.stack.append(made)
        known.entered = dict(before) if again else before
        try:
            yield made
        finally:
            known.stack.pop()


def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: First = None,
    regularizer: Penalty | None = None,
    trainable: bool | None = None,
    collections: Iterable[str] | None = None,
    use_resource: object = None,
    constraint: object = None,
    **refused: object,
) -> Variable:
    """Return the variable of a name in the present scope, made now or shared."""
    del use_resource
    _refuse("get_variable", refused)
    known = scopes()
    scope = known.stack[-1]
    regularizer = scope.regularizer if regularizer is None else regularizer
    full = f"{scope.name}/{name}" if scope.name else name
    found = known.variables.get(full)
    if found is not None:
        return _shared(found, full, scope, shape, dtype)
    if scope.reuse is True:
        raise ValueError(
            f"Variable {full} does not exist, or was not created with tf.get_variable(). Did you "
            "mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    wanted = dtype or scope.dtype or "float32"
    first = scope.initializer if initializer is None else initializer
    value = _initial(first, full, shape, wanted, given=dtype)
    with get_default_graph().name_scope(None):
        made = Variable(
            value,
            name=full,
            trainable=trainable is not False,
            collections=collections,
            constraint=constraint,
        )
    if regularizer is not None:
        get_default_graph().add_to_collection("regularization_losses", regularizer(made))
    known.variables[full] = made
    return made


def get_local_variable(name: str, *args: Any, **options: Any) -> Variable:
    """Return a variable that is not shared or saved."""
    options = {**options, "collections": ["local_variables"], "trainable": False}
    return get_variable(name, *args, **options)


def make_template(
    name_: str, func_: Callable[..., object], **kwargs: object
) -> Callable[..., object]:
    """Return a function that makes its variables at its first call, and shares them later."""
    made: list[VariableScope] = []

    def call(*args: object, **more: object) -> object:
        first = not made
        place = None if first else made[0]
        with variable_scope(place, name_, reuse=None if first else True) as scope:
            if first:
                made.append(scope)
            return func_(*args, **{**kwargs, **more})

    return call


def _refuse(name: str, options: dict[str, object]) -> None:
    """Raise for options that change what is made, and that are not supported."""
    given = [
        n for n, v in options.items() if v is not None and n in ("custom_getter", "partitioner")
    ]
    if given:
        raise NotImplementedError(f"{name}: {given[0]} is not supported")


def _shared(
    found: Variable, full: str, scope: VariableScope, shape: ShapeLike, dtype: DTypeLike | None
) -> Variable:
    if not scope.reuse:
        raise ValueError(
            f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if shape is not None and not TensorShape(shape).is_compatible_with(found.shape):
        raise ValueError(
            f"Trying to share variable {full}, but specified shape {TensorShape(shape)} and "
            f"found shape {found.shape}."
        )
    row = row_of(dtype)
    if row is not None and row != found.spec.dtype:
        raise ValueError(
            f"Trying to share variable {full}, but specified dtype {row} and found dtype "
            f"{found.spec.dtype}."
        )
    return found


def _initial(
    initializer: First,
    name: str,
    shape: ShapeLike,
    dtype: DTypeLike,
    given: DTypeLike | None,
) -> object:
    """Return the first value, or what makes it."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    if initializer is not None and not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        from ..core.values import convert  # noqa: PLC0415

        return convert(initializer, given)
    if shape is None and inspect.isfunction(initializer):
        return initializer
    if shape is None:
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was <unknown>."
        )
    if not TensorShape(shape).is_fully_defined():
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was "
            f"{TensorShape(shape)}."
        )
    found = initializer() if isinstance(initializer, type) else initializer
    make: Callable[..., object] = found or (GlorotUniform() if row.is_float else Zeros())
    return lambda: make(TensorShape(shape).as_list(), dtype=dtype)
