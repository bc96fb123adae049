"""A choice by a tensor: both branches are traced, and give what is read behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.types.tensor import TensorSpec
from ..eager.tensor import apply
from ..graph.control_flow import GraphChoice, add
from ..graph.func_graph import FuncGraph
from ..graph.graph import Graph, GraphTensor, dims_or_none
from ..values.context import entered
from ..values.dtypes import as_dtype
from .state import (
    DifferentFormError,
    Late,
    Opaque,
    Packing,
    TensorPlaces,
    Undefined,
    either,
    filled,
    pairs,
    type_error,
    value_error,
)
from .syntax.jumps import RESULT, RUNTIME

MAIN, ELSE = "main", "else"


@dataclass(frozen=True)
class Differ:
    """What is said of a variable whose values on two ways differ."""

    forms: str
    types: str


BRANCHES = Differ(
    "{} must have the same nested structure in the main and else branches: {}",
    "{} has dtype {} in the main branch, but dtype {} in the else branch",
)
TURNS = Differ(
    "{} does not have the same nested structure before the loop and after one iteration: {}",
    "{0} has dtype {2} before the loop, but dtype {1} after one iteration",
)
"""Of a turn that is made if there is another element."""


@dataclass(frozen=True)
class State:
    """The variables of pieces of code: reading and writing all of them at once."""

    get: Callable[[], tuple[object, ...]]
    put: Callable[[Sequence[object]], None]
    names: tuple[str, ...]


@dataclass
class Branch:
    """One way, traced, and the values that the variables have at its end."""

    graph: FuncGraph
    values: Sequence[object]
    label: str
    jumps: bool

    def convert(self, value: object) -> GraphTensor:
        """Return a value as a tensor of the branch."""
        with entered(self.graph):
            return self.graph.owned(self.graph.convert(value))


def condition_of(graph: Graph, value: object, what: str, *, shape: bool = True) -> GraphTensor:
    """Return a condition as a tensor of a graph, or raise unless it is one truth value."""
    tensor = graph.owned(graph.convert(value))
    dims = dims_or_none(tensor.spec.shape)
    if what == "not" and tensor.spec.dtype.kind != "b":
        raise type_error(f"`not` wants truth values, found {tensor.spec}")
    if tensor.spec.dtype.kind != "b" or (shape and dims is not None and dims):
        raise value_error(
            f"condition of {what} expected to be one truth value, found {tensor.spec}",
            hint="compare it with something, or reduce it; to check for None, use `is not None`",
        )
    return tensor


def traced_branch(
    graph: Graph, state: State, start: Sequence[object], run: Callable[[], None], label: str
) -> tuple[FuncGraph, Sequence[object]]:
    """Return the graph of a piece of code that begins with some values, and what it ends with."""
    inner: FuncGraph = graph.inner_class()(label, graph, graph.tensor_class)
    inner.part_of = graph
    outside = graph.unique_name("cond", mark=False) if isinstance(graph, FuncGraph) else ""
    with entered(inner), inner.name_scope(outside and f"{outside}/"):
        state.put(start)
        run()
        return inner, state.get()


def staged_if(  # noqa: PLR0913, PLR0917  (a choice has as many parts)
    graph: Graph,
    test: object,
    branches: tuple[Callable[[], None], Callable[[], None]],
    state: State,
    count: int,
    jumping: Sequence[str],
    differ: Differ = BRANCHES,
) -> None:
    """Add a choice to a graph; the first `count` variables are read behind it."""
    index, start = condition_of(graph, test, "if statement"), state.get()
    ways = []
    try:
        for run, label, mark in zip(branches, (MAIN, ELSE), ("body", "orelse"), strict=True):
            inner, values = traced_branch(graph, state, start, run, "a branch")
            ways.append(Branch(inner, values, label, mark in jumping))
    finally:
        state.put(start)
    found = joined(graph, index, ways, state.names[:count], start, differ)
    state.put([*found, *(Undefined(name) for name in state.names[count:])])


def joined(
    graph: Graph,
    index: GraphTensor,
    ways: Sequence[Branch],
    names: Sequence[str],
    start: Sequence[object],
    differ: Differ = BRANCHES,
) -> list[object]:
    """Add the choice between two traced ways; return the values of the variables behind it."""
    main, other = ways
    outputs: tuple[list[GraphTensor], list[GraphTensor]] = ([], [])
    forms: list[tuple[object, dict[int, int]]] = []
    """What each variable is made of, and which outputs its tensors are."""
    for name, before, *values in zip(names, start, main.values, other.values, strict=False):
        kept = _constant(name, values, before)
        if kept is not None:
            forms.append((kept, {}))
            continue
        sides = _matched(
            name, [_packed(w, v, name) for w, v in zip(ways, values, strict=True)], ways
        )
        found = _pairs_of(name, sides, differ)
        form = either(sides[0][0], sides[1][0])
        forms.append((form, {a: len(outputs[0]) + i for i, (a, _) in enumerate(found)}))
        for output, (_, packing), column in zip(
            outputs, sides, zip(*found, strict=True), strict=False
        ):
            output += [packing.tensors[place] for place in column]
    for way, tensors in zip(ways, outputs, strict=True):
        with entered(way.graph):
            way.graph.finish([way.graph.output(x) for x in tensors])
    taken = [index, *(x for way in (other, main) for x in way.graph.captures)]
    kind = GraphChoice([other.graph, main.graph], "If")
    results = add(graph, kind, taken, "cond", [other.graph, main.graph])
    return [filled(form, {i: results[o] for i, o in places.items()}) for form, places in forms]


Side = tuple[object, Packing]
"""What a variable is made of at the end of a branch, and its tensors there."""


def _packed(way: Branch, value: object, name: str) -> Side:
    packing = Packing(way.convert)
    with entered(way.graph):
        return packing.add(value, name), packing


def _constant(name: str, values: Sequence[object], before: object) -> Opaque | None:
    """Return what a variable is if no branch changes it, or both give a flag one value."""
    a, b = values
    unchanged = a is before and b is before
    flag = name.startswith(RUNTIME) and isinstance(a, bool) and a is b
    return Opaque(a) if unchanged or flag else None


def _matched(name: str, sides: list[Side], ways: Sequence[Branch]) -> list[Side]:
    """Return both sides; one that gives nothing, and is left by a jump, gives zeros."""
    for here, there in ((0, 1), (1, 0)):
        form = sides[here][0]
        like = sides[there][0]
        if isinstance(form, Late) and isinstance(like, TensorPlaces):
            way = ways[here]
            with entered(way.graph):
                sides[here] = _packed(way, form.value.staged_like(like.like), name)
            continue
        if not is_nothing(form) or is_nothing(sides[there][0]):
            continue
        if not ways[here].jumps and not (name.startswith(RESULT) and ways[there].jumps):
            raise _missing(name, form, ways[here].label)
        other, packing = sides[there]
        zeros = [zeros_like(ways[here].graph, x.spec) for x in packing.tensors]
        sides[here] = other, Packing(ways[here].convert, zeros)
    return sides


def _pairs_of(name: str, sides: Sequence[Side], differ: Differ) -> list[tuple[int, int]]:
    """Return which tensors of both sides belong together, or raise where they do not fit."""
    (a, first), (b, second) = sides
    try:
        found = pairs(a, b)
    except DifferentFormError as error:
        raise type_error(differ.forms.format(shown(name), error)) from None
    for x, y in found:
        types = [type_name(p.tensors[i].spec) for p, i in ((first, x), (second, y))]
        if types[0] != types[1]:
            raise type_error(differ.types.format(shown(name), *types))
    return found


def is_nothing(form: object) -> bool:
    """Say whether a variable has no value that can be carried."""
    return form is None or isinstance(form, Undefined)


def _missing(name: str, form: object, label: str) -> Exception:
    if name.startswith(RESULT):
        return value_error(f"the {label} branch must also have a return statement")
    if form is None:
        return value_error(f"'{name}' is None at the end of the {label} branch")
    return value_error(f"'{name}' must also be initialized in the {label} branch")


def shown(name: str) -> str:
    """Return how messages name a variable."""
    return "the value that is returned" if name.startswith(RESULT) else f"'{name}'"


def type_name(spec: TensorSpec) -> str:
    """Return an element type as messages name it."""
    return "string" if spec.dtype.kind == "s" else str(as_dtype(spec.dtype).name)


def zeros_like(graph: Graph, spec: TensorSpec) -> GraphTensor:
    """Return zeros of a spec in a graph; sizes that are not known are 0."""
    dims = [d if isinstance(d, int) else 0 for d in spec.shape or ()]
    with entered(graph):
        if spec.dtype.kind == "s":
            return graph.constant(np.full(dims, b"", object))
        made: GraphTensor = Maker(apply).filled(0, spec.dtype, dims)
        return made
