"""Loops by a tensor: the body is traced once, and carries the variables that it changes.

Where a variable has no value before the loop, the body is traced once more before that, to see
what it gives; then the loop begins with zeros of this kind, and is refused where it makes no turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, repeat
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.types import dtypes as rows
from ...ir.types.tensor import TensorSpec
from ..eager.tensor import apply
from ..graph.control_flow import loop
from ..graph.graph import Graph, GraphTensor, dims_or_none, spec_with_unknowns, within
from ..values.context import STATE, entered
from .conditional import TURNS, State, is_nothing, shown, type_name, zeros_like
from .state import (
    DifferentFormError,
    MadeOfTensors,
    Packing,
    Undefined,
    VariableValueError,
    filled,
    has_late_parts,
    pairs,
    type_error,
    value_error,
)
from .surface import surface_of
from .syntax.jumps import RESULT

Tensors = Sequence[GraphTensor]
MAKE = Maker(apply)


@dataclass
class Turns:
    """What a loop does: tensors that it counts by, whether it goes on, and one turn."""

    head: Tensors
    """Carried before the variables."""
    test: Callable[[Tensors], GraphTensor]
    turn: Callable[[Tensors], Tensors]
    """Runs the body; returns the new head."""
    relaxes: bool = False
    """Whether sizes that a turn changes are open, where loops over tensors refuse that."""
    begins: bool = False
    """Whether it is known that there is a first turn."""


def noting(turns: Turns, graph: Graph) -> Turns:
    """Return a loop that says, first of what it carries, whether it has made a turn."""
    true = np.array(True)
    return Turns(
        [graph.constant(np.array(False)), *turns.head],
        lambda head: turns.test(head[1:]),
        lambda head: [here(true), *turns.turn(head[1:])],
        turns.relaxes,
    )


def limited(turns: Turns, graph: Graph, most: object) -> Turns:
    """Return a loop that makes no more turns than so many."""
    limit = MAKE.to(owned(graph, most), rows.i32)
    one = np.array(1, np.int32)
    return Turns(
        [graph.constant(np.array(0, np.int32)), *turns.head],
        lambda head: MAKE.logical_and(turns.test(head[1:]), MAKE.less(head[0], limit)),
        lambda head: [MAKE.add(head[0], one), *turns.turn(head[1:])],
        turns.relaxes,
    )


def owned(graph: Graph, value: object) -> GraphTensor:
    """Return a value as a tensor of a graph."""
    return graph.owned(graph.convert(value))


def here_graph() -> Graph:
    """Return the graph that is being traced."""
    assert isinstance(STATE.context, Graph), "a loop is traced into a graph"
    return STATE.context


def here(value: object) -> GraphTensor:
    """Return a value as a tensor of the graph that is being traced."""
    return owned(here_graph(), value)


def shapes_by_name(options: Mapping[str, Any], state: State) -> dict[str, object]:
    """Return the shapes that the user states, by variable."""
    found: dict[str, object] = {}
    for variable, shape in options.get("shape_invariants") or ():
        if variable not in state.names:
            raise value_error(
                f"shape_invariants names {variable!r}, which the loop does not change"
            )
        found[variable] = shape
    return found


class Relaxed(Exception):  # noqa: N818  (no error: it says that the body is traced once more)
    """A turn changes sizes that were taken for fixed."""


ANY_RANK = SimpleNamespace(_dims=None)
"""The shape of what has any rank, where None says that no shape is stated."""
OPTIONS = {"parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants"}


def staged_loop(graph: Graph, state: State, turns: Turns, options: Mapping[str, object]) -> None:
    """Add a loop to a graph."""
    unknown = sorted(options.keys() - OPTIONS)
    if unknown:
        raise TypeError(f"set_loop_options() got an unexpected keyword argument {unknown[0]!r}")
    if options.get("maximum_iterations") is not None:
        turns = limited(turns, graph, options["maximum_iterations"])
    StagedLoop(graph, state, turns, shapes_by_name(options, state)).run()


class StagedLoop:
    """A loop that is being made: its variables, and what they are made of."""

    def __init__(self, graph: Graph, state: State, turns: Turns, shapes: dict[str, object]) -> None:
        self.graph, self.state, self.turns, self.shapes = graph, state, turns, shapes
        self.start = list(state.get())
        self.relaxed: dict[int, tuple[int | None, ...] | None] = {}
        """Shapes of what is carried that a turn has changed, by place."""
        self.unset: dict[str, None] = {}
        """The variables that only a turn gives a value."""
        self.pack()

    def pack(self) -> None:
        """Find out what the variables are made of."""
        self.packing = Packing(lambda x: owned(self.graph, x))
        pairs_ = zip(self.start, self.state.names, strict=True)
        self.forms = [self.packing.add(value, name) for value, name in pairs_]

    @property
    def specs(self) -> list[TensorSpec]:
        """Return the specs of what is carried, in all turns."""
        carried = self.packing
        made = [x.spec for x in self.turns.head]
        rows = zip(carried.tensors, carried.names, self.invariants(), strict=True)
        for place, (tensor, name, shape) in enumerate(rows):
            known = self.stated(name, tensor.spec, shape)
            if place in self.relaxed:
                known = spec_with_unknowns(known.dtype, self.relaxed[place])
            made.append(known)
        return made

    def invariants(self) -> list[object]:
        """Return what is stated of the shapes of tensors, or what their objects say of them."""
        carried, made = self.packing, list[object]()
        for name, group in groupby(range(len(carried.tensors)), carried.names.__getitem__):
            places = list(group)
            if name not in self.shapes:
                made += [carried.shapes[place] for place in places]
                continue
            leaves = leaves_of_shapes(self.shapes[name])
            if len(leaves) >= len(places):
                made += leaves[: len(places)]
                continue
            values = groupby(places, lambda place: id(carried.wholes[place]))
            for leaf, (_, parts) in zip(chain(leaves, repeat(leaves[-1])), values, strict=False):
                made += self.of_parts(name, list(parts), leaf)
        return made

    def of_parts(self, name: str, places: Sequence[int], stated: object) -> list[object]:
        """Return the shapes of the tensors of a value, whose own shape is stated."""
        if len(places) == 1:
            return [stated]
        whole = self.packing.wholes[places[0]]
        dims = cast("Sequence[object] | None", getattr(stated, "_dims", stated))
        mine = getattr(getattr(whole, "shape", None), "_dims", None)
        if mine is not None and dims is not None:
            pairs_ = zip(mine, dims, strict=True) if len(mine) == len(dims) else [(0, 1)]
            if any(b is not None and a != b for a, b in pairs_):
                raise unfit(name, mine, dims)
        return [self.packing.shapes[place] for place in places]

    def stated(self, name: str, spec: TensorSpec, shape: Any) -> TensorSpec:
        """Return a spec with the shape that is stated for all turns."""
        dims = getattr(shape, "_dims", shape)
        if shape is None or dims == dims_or_none(spec.shape):
            return spec
        found = spec_with_unknowns(spec.dtype, None if dims is None else tuple(dims))
        if not within(spec, found):
            raise unfit(name, dims_or_none(spec.shape), dims)
        return found

    def put(self, tensors: Tensors) -> Tensors:
        """Give the variables the tensors that they are made of; return the head."""
        count = len(self.turns.head)
        self.state.put([filled(form, tensors[count:]) for form in self.forms])
        return tensors[:count]

    def run(self) -> None:
        """Add the loop."""
        if any(map(has_late_parts, self.forms)):
            self.begin()
            self.pack()
        noted = bool(self.unset) and not self.turns.begins
        if noted:
            self.turns = noting(self.turns, self.graph)
        while (found := self.added()) is None:
            self.state.put(self.start)
            self.pack()
        if noted:
            names = ", ".join(self.unset)
            message = f"loop must iterate at least once to initialize {names}"
            surface_of(self.graph).require(self.graph, found[0], message)
        self.put(found)

    def added(self) -> Tensors | None:
        """Add the loop; return what it gives, None if it is to be made with open sizes."""
        values = [*self.turns.head, *self.packing.tensors]

        def test(*given: GraphTensor) -> GraphTensor:
            return self.turns.test(self.put(given))

        def body(*given: GraphTensor) -> list[GraphTensor | None]:
            head = self.turns.turn(self.put(given))
            return [*head, *self.carried()]

        try:
            return loop(self.graph, test, body, values, values, self.specs, "while")
        except Relaxed:
            return None
        except BaseException:
            self.state.put(self.start)
            raise

    def carried(self) -> list[GraphTensor | None]:
        """Return the tensors that the variables are made of at the end of a turn."""
        made: list[GraphTensor | None] = [None] * len(self.packing.tensors)
        specs, packing = self.specs[len(self.turns.head) :], Packing(here)
        relaxed = dict(self.relaxed)
        for name, form, value in zip(self.state.names, self.forms, self.state.get(), strict=True):
            after = packing.add(value, name)
            if after is None and form is not None:
                raise value_error(f"'{name}' is None at the end of the iteration")
            if isinstance(form, Undefined):
                continue
            try:
                found = pairs(form, after, stays=True)
            except DifferentFormError as error:
                raise type_error(TURNS.forms.format(shown(name), error)) from None
            for old, new in found:
                made[old] = packing.tensors[new]
                spec = packing.tensors[new].spec
                if self.turns.relaxes and name not in self.shapes:
                    spec = self.relax(old, specs[old], spec)
                check_turn(name, specs[old], spec, stated=name in self.shapes)
        if relaxed != self.relaxed:
            raise Relaxed
        return made

    def relax(self, place: int, before: TensorSpec, after: TensorSpec) -> TensorSpec:
        """Note sizes that a turn changes; return what it gives as it will be checked."""
        old, new = dims_or_none(before.shape), dims_or_none(after.shape)
        if before.dtype != after.dtype or old is None or old == new:
            return after
        wide: tuple[int | None, ...] | None = None
        if new is not None and len(new) == len(old):
            wide = tuple(a if a == b else None for a, b in zip(old, new, strict=True))
        if wide == old:
            return after
        self.relaxed[place] = wide
        return before

    # Variables that have no value before the loop.

    def begin(self) -> None:
        """Give variables without a value zeros like those that one turn gives them."""
        inner = self.graph.inner_class()("a loop's body", self.graph, self.graph.tensor_class)
        failed: Exception | None = None
        with entered(inner):
            arguments = [inner.argument(spec, "arg") for spec in self.specs]
            try:
                self.turns.turn(self.put(arguments))
            except (NameError, TypeError, ValueError, LookupError, AttributeError) as error:
                failed = error  # said below, with the variable that is the reason
            found = self.state.get()
        self.state.put(self.start)
        for place, (name, form) in enumerate(zip(self.state.names, self.forms, strict=True)):
            if has_late_parts(form):
                if failed is not None:
                    raise self.missing(name, form, failed)
                self.start[place] = self.begun(name, self.start[place], found[place])

    def missing(self, name: str, form: object, failed: Exception) -> Exception:
        """Return the error for a variable that a turn needs, and that has no value."""
        made: Exception = failed
        if isinstance(form, Undefined) and isinstance(failed, _no_value(name)):
            made = value_error(f"'{name}' must be defined before the loop: {failed}")
        elif form is None and isinstance(failed, TypeError):
            made = value_error(f"'{name}' may not be None before the loop: {failed}")
        if made is not failed:
            made.__cause__ = failed
        return made

    def begun(self, name: str, before: object, after: object) -> object:
        """Return what a variable begins with, of which a turn gives a value."""
        if isinstance(before, MadeOfTensors):
            if isinstance(after, MadeOfTensors) and before.staged_parts() is None:
                return before.staged_like(after)
            return before
        if isinstance(before, list | tuple) and isinstance(after, type(before)):
            parts = [self.begun(name, a, b) for a, b in zip(before, after, strict=False)]
            return type(before)(parts) if len(parts) == len(before) else before
        if not is_nothing(before) or is_nothing(after):
            return before
        like = Packing(lambda x: x if hasattr(x, "spec") else owned(self.graph, x))
        form = like.add(after, name)
        known = [dims_or_none(x.spec.shape) for x in like.tensors]
        shapes = [ANY_RANK if dims is None else dims for dims in known]
        if any(dims is None or None in dims for dims in known):
            self.shapes.setdefault(name, shapes if len(shapes) > 1 else shapes[0])
        if not name.startswith(RESULT):  # a flag says whether there is a result
            self.unset[name] = None
        return filled(form, [zeros_like(self.graph, x.spec) for x in like.tensors])


def _no_value(name: str) -> tuple[type[Exception], ...]:
    """Return what is raised where a variable, an attribute or an entry has no value."""
    return (NameError,) if name.isidentifier() else (AttributeError, LookupError)


def check_turn(name: str, before: TensorSpec, after: TensorSpec, *, stated: bool) -> None:
    """Raise where a turn changes what a variable is."""
    if before.dtype != after.dtype:
        raise type_error(TURNS.types.format(shown(name), type_name(after), type_name(before)))
    old, new = dims_or_none(before.shape), dims_or_none(after.shape)
    if old is None:
        return
    if new is None and not before.is_static:
        return  # less is known of it than was
    same_rank = new is not None and len(old) == len(new)
    if same_rank and all(a in (None, b) for a, b in zip(old, new or (), strict=True)):
        return
    if stated:
        raise value_error(
            f"{shown(name)} has shape {written(new)} after one iteration, which does not conform "
            f"with the shape invariant {written(old)}"
        )
    raise value_error(
        f"{shown(name)} has shape {written(old)} before the loop, but shape {written(new)} "
        "after one iteration",
        hint="use tf.autograph.experimental.set_loop_options to set shape invariants",
    )


def unfit(
    name: str, before: Sequence[object] | None, stated: Sequence[object] | None
) -> VariableValueError:
    """Return the error for a variable whose shape is not what is stated of it."""
    return value_error(
        f"{shown(name)} has shape {written(before)} before the loop, "
        f"which does not conform to the shape invariant {written(stated)}"
    )


def leaves_of_shapes(stated: Any) -> list[object]:
    """Return the shapes in a structure: what holds numbers and None alone is one."""
    if hasattr(stated, "shape"):
        stated = stated.shape  # (of a description)
    if hasattr(stated, "_dims") or stated is None:
        return [stated]
    if isinstance(stated, Mapping):
        stated = [stated[key] for key in sorted(stated)]  # the order that values are carried in
    elif all(x is None or isinstance(x, int) for x in stated):
        return [tuple(stated)]
    return [leaf for each in stated for leaf in leaves_of_shapes(each)]


def written(dims: Sequence[object] | None) -> str:
    """Return a shape as messages show it."""
    return "<unknown>" if dims is None else str(tuple(dims))
