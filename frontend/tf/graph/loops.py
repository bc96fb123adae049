"""Loops by TensorFlow's names: `while_loop`, and functions of the slices of tensors.

A loop carries tensors, structures of them, and `TensorArray`s, of which it carries the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from ...graph.control_flow import loop, traced
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, GraphTensor, dims_or_none
from ...values import nest
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.shapes import TensorShape
from ..core.specs import TensorSpec, TypeSpec
from ..core.values import InGraph, convert, graph_of, shape_spec
from ..ops.array_ops import shape, stack, unstack
from ..ops.creation import constant, zeros
from ..runs.carried import Apart, Stated
from ..runs.seeds import body_here
from ..runs.turns import AllAtOnce, CallsInTurn
from .flow import stop_gradient, truth
from .state import TfGraph
from .tensor_array import TensorArray, element_at, listed

Body = Callable[..., object]


def while_loop(
    cond: object,
    body: object,
    loop_vars: object,
    shape_invariants: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: object = None,
    name: str | None = None,
) -> Any:
    """Run the body as long as the condition holds."""
    if not callable(cond) or not callable(body):
        raise TypeError("'cond' and 'body' must be callable")
    single = not isinstance(loop_vars, list | tuple)
    if not single and not loop_vars:
        raise ValueError("No loop variables provided")
    tree = list(loop_vars) if isinstance(loop_vars, list | tuple) else [loop_vars]
    flat = nest.flatten(tree)
    graph = graph_of([x._graph_or_flow() if isinstance(x, TensorArray) else x for x in flat])
    if graph is None:
        found = _now(cond, body, tree, maximum_iterations)
    else:
        with InGraph(graph):
            found = _in_graph(graph, (cond, body), tree, shape_invariants, maximum_iterations, name)
    made = found[0] if single else nest.pack_wholes(loop_vars, nest.wholes(found))
    return _ended(made, back_prop)


def _in_graph(
    graph: Graph,
    loop: tuple[Body, Body],
    tree: Sequence[object],
    stated: object,
    most: object,
    name: str | None,
) -> list[object]:
    """Add a loop, of a condition and a body, to a graph; of composites, it carries the tensors."""
    cond, body = loop
    if not any(isinstance(x, nest.Parted) for x in nest.wholes(tree)):
        return _Loop(graph, tree, stated).run(cond, body, most, name)
    apart = Apart(tree, None if stated is None else _stated(stated, tree))

    def turn(*now: object) -> object:
        return apart.tensors(_listed(body(*apart.whole(now)), tree))

    test = lambda *now: cond(*apart.whole(now))  # noqa: E731
    own = lambda x: None if isinstance(x, TensorArray) else convert(x).shape  # noqa: E731
    each = _Loop(graph, apart.tensors(tree), apart.shapes(own))
    return apart.whole(each.run(test, turn, most, name))


def _ended(made: object, back_prop: bool) -> object:
    """Return what a loop gives; without `back_prop` nothing goes back through one of a graph."""
    if back_prop:
        return made
    return nest.map_structure(lambda x: stop_gradient(x) if isinstance(x, GraphTensor) else x, made)


def _listed(made: object, tree: Sequence[object]) -> object:
    """Return what a body gives as a list: one value stands for a list of one."""
    if len(tree) == 1 and not (isinstance(made, list | tuple) and len(made) == 1):
        if isinstance(made, list | tuple) and not isinstance(tree[0], list | tuple):
            raise ValueError(
                f"The two structures don't have the same nested structure: the body gives "
                f"{len(made)} values, the loop carries 1"
            )
        return [made]
    return list(made) if isinstance(made, list | tuple) else made


def _as_many(made: list[object], count: int) -> list[object]:
    """Return the leaves of what a body gives, or raise if the loop carries more or fewer."""
    if len(made) != count:
        raise ValueError(
            "The two structures don't have the same nested structure: they do not have the same "
            f"number of elements, the body gives {len(made)} values, the loop carries {count}"
        )
    return made


def _now(cond: Any, body: Any, tree: Any, most: Any) -> Any:
    now, trips, count = list(tree), 0, len(nest.wholes(tree))
    while bool(cond(*now)) and (most is None or trips < int(most)):
        made, trips = _listed(body(*now), tree), trips + 1
        leaves = _as_many(nest.wholes(made), count)
        now = nest.pack_wholes(list(tree), [_whole(x) for x in leaves])
    return nest.pack_wholes(list(tree), [_whole(x) for x in nest.wholes(now)])


def _whole(value: object) -> object:
    return value if isinstance(value, nest.Parted) else _leaf(value)


def _leaf(value: object) -> TensorArray | TfTensor:
    return value if isinstance(value, TensorArray) else convert(value)


class _Loop:
    """A loop of a graph: what it carries, and in which shapes."""

    def __init__(self, graph: Graph, tree: Sequence[object], invariants: object) -> None:
        self.graph, self.tree = graph, list(tree)
        self.flat = [_leaf(x) for x in nest.flatten(self.tree)]
        self.arrays = [x if isinstance(x, TensorArray) else None for x in self.flat]
        self.stated: list[object] | None = None
        if invariants is not None:
            self.stated = _dims_of(_stated(invariants, self.tree), self.flat)

    def start(self, body: Body) -> None:
        """Find the shapes of elements that are first written in the body, by tracing it once."""
        if all(a is None or a._flow is not None for a in self.arrays):
            return
        specs = [x.spec for x in self.flat if not isinstance(x, TensorArray)]
        found: list[Any] = []

        def once(*given: object) -> tuple[()]:
            values = iter(given)
            copies = [next(values) if a is None else a.copy() for a in self.arrays]
            made = _listed(body(*nest.pack(self.tree, copies)), self.tree)
            found.extend(nest.flatten(made))
            return ()

        traced("a loop's body", self.graph, once, specs, [None] * len(specs))
        for array, made in zip(self.arrays, found, strict=True):
            if array is not None and array._flow is None:
                array.started(listed(made.element_shape))

    def carried(self) -> tuple[list[Any], list[Any]]:
        """Return the tensors that are carried, and their shapes in all rounds."""
        values, shapes = [], []
        for place, x in enumerate(self.flat):
            value, dims = x.carried() if isinstance(x, TensorArray) else (x, x.shape._dims)
            if self.stated is not None and not isinstance(x, TensorArray):
                dims = self.stated[place]
            values.append(value)
            shapes.append(dims)
        return values, shapes

    def packed(self, tensors: Sequence[object]) -> Any:
        """Return carried tensors as the structure that the user has."""
        leaves = [
            x if array is None else array.carrying(x)
            for x, array in zip(tensors, self.arrays, strict=True)
        ]
        return nest.pack(self.tree, leaves)

    def run(self, cond: Body, body: Body, most: object, name: str | None) -> list[object]:
        """Add the loop to the graph."""
        draws = body_here()
        with draws.rehearsal():
            self.start(body)
        values, shapes = self.carried()
        specs = [
            v.spec if dims_or_none(v.spec.shape) == s else shape_spec(v.dtype, s)
            for v, s in zip(values, shapes, strict=True)
        ]
        first = constant(0, "int32")
        limit = None if most is None else convert(most, "int32")

        def test(trips: object, *state: object) -> TfTensor:
            holds = truth(cond(*self.packed(state)))
            if holds.dtype.name != "bool":
                raise InvalidArgumentError(
                    f"the condition of a loop is {holds.dtype.name}, not bool"
                )
            return holds if limit is None else holds & (trips < limit)

        def step(trips: int, *state: object) -> list[object]:
            with draws.turn():
                given = nest.flatten(_listed(body(*self.packed(state)), self.tree))
            made = _as_many(given, len(state))
            return [trips + 1, *(_flow(x) for x in made)]

        every = [first, *values]
        found = loop(self.graph, test, step, every, every, [first.spec, *specs], name or "while")[
            1:
        ]
        return list(self.packed(found))


def _flow(value: object) -> TfTensor:
    return value.carried()[0] if isinstance(value, TensorArray) else convert(value)


def _stated(invariants: object, tree: object) -> list[Stated]:
    """Return the shapes and descriptions in a structure, in the order of the loop's own."""
    if isinstance(invariants, TensorShape | TypeSpec) or invariants is None:
        return [invariants]
    if isinstance(invariants, dict) and isinstance(tree, dict) and set(invariants) == set(tree):
        return [leaf for key in tree for leaf in _stated(invariants[key], tree[key])]
    if not isinstance(invariants, list | tuple):
        raise TypeError(f"{invariants!r} is no shape invariant, expected a shape or a TypeSpec")
    parts: Sequence[object] = [None] * len(invariants)
    if isinstance(tree, list | tuple) and len(tree) == len(parts):
        parts = tree
    pairs = zip(invariants, parts, strict=True)
    return [leaf for each, part in pairs for leaf in _stated(each, part)]


def _dims_of(stated: Sequence[Stated], values: Sequence[TensorArray | TfTensor]) -> list[object]:
    """Return what is stated as sizes, or raise unless the values before the loop are so."""
    if len(stated) != len(values):
        raise ValueError(f"{len(stated)} shape invariants of {len(values)} values of a loop")
    return [_invariant(*pair) for pair in zip(stated, values, strict=True)]


def _invariant(stated: Stated, value: TensorArray | TfTensor) -> Sequence[int | None] | None:
    """Return the sizes that are stated of a value."""
    if stated is None or isinstance(value, TensorArray):
        return None
    if not isinstance(stated, TensorShape | TensorSpec):
        raise TypeError(f"the shape invariant {stated!r} is none of a tensor, found {value!r}")
    if isinstance(stated, TensorSpec) and stated.dtype != value.dtype:
        raise TypeError(f"the shape invariant {stated!r} is of another type than {value!r}")
    shape_ = stated.shape if isinstance(stated, TensorSpec) else stated
    if not shape_.is_compatible_with(value.shape):
        raise ValueError(
            f"the shape invariant {shape_} of a loop is not compatible with the shape "
            f"{value.shape} before it: {value!r}"
        )
    return shape_._dims


class Trip:
    """One call of a function that TensorFlow traces once for all slices."""

    begun: ClassVar[Callable[[], Callable[[], AbstractContextManager[None]]]]
    """Returns what is entered for each call: the names of the first one are those of all."""


Trip.begun = lambda: nullcontext


def in_trips(
    graph: Graph | None, fn: Body, count: int, kind: type[CallsInTurn] = CallsInTurn
) -> Body:
    """Return a function that is called for so many slices.

    It finds the variables again that it made when it was called first, and goes on with its draws.
    """
    if graph is None and kind is CallsInTurn:
        return fn
    with InGraph(graph):
        turns = kind(graph, count)
        enter = None if graph is None else Trip.begun()

    def called(*given: object) -> object:
        if enter is None:
            return turns.call(fn, given)
        with enter():
            return turns.call(fn, given)

    return called


def _graph_of_slices(elems: object, *others: object) -> Graph | None:
    return graph_of([leaf for x in (elems, *others) for leaf in nest.flatten(x)])


def _count(elems: object) -> int | None:
    """Return how many slices there are, None if that is known only when it is run."""
    flat = nest.flatten(elems)
    if not flat:
        raise ValueError(
            f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems!r}, "
            "which does not contain any Tensors."
        )
    first = convert(flat[0])
    dims = first.shape._dims
    if dims == ():
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    found: int | None = None if dims is None else dims[0]
    return found


def _rows(elems: object) -> list[object]:
    columns = zip(*[unstack(x) for x in nest.flatten(elems)], strict=True)
    return [nest.pack(elems, row) for row in columns]


def _stacked(made: list[object]) -> object:
    columns = zip(*map(nest.flatten, made), strict=True)
    return nest.pack(made[0], [stack(list(column)) for column in columns])


class _Slices:
    """The slices of tensors whose number is known when it is run."""

    def __init__(self, elems: object) -> None:
        self.elems = nest.map_structure(convert, elems)
        self.count = shape(nest.flatten(self.elems)[0])[0]

    def at(self, index: object) -> object:
        """Return the slices at an index."""
        return nest.map_structure(lambda x: element_at(x, index), self.elems)


def _element_type(spec: object) -> object:
    """Return the element type that a leaf of a signature says: values of parts stay described."""
    return getattr(spec, "dtype", spec)


def _types(signature: object, like: object) -> object:
    """Return the element types of results, in their structure."""
    if signature is None:
        return nest.map_structure(lambda x: convert(x).dtype, like)
    return nest.map_structure(_element_type, signature)


def _arrays(types: object, count: object) -> object:
    return nest.map_structure(lambda t: TensorArray(t, size=count), types)


def _write(arrays: object, index: object, values: object) -> object:
    return nest.map_structure(lambda a, v: a.write(index, v), arrays, values)


def _check_structure(wanted: object, made: object) -> None:
    """Raise where what a function gives for a slice is not of the structure that is wanted."""
    try:
        nest.assert_same(wanted, made)
    except (TypeError, ValueError) as error:
        start = "The two structures don't have the same nested structure: "
        raise type(error)(f"{start}{str(error).removeprefix(start)}") from None


def _check_types(made: object, types: object) -> None:
    """Raise where results are not of the types that were stated, else of those of the slices."""
    _check_structure(types, made)
    for value, wanted in zip(nest.flatten(made), nest.flatten(types), strict=False):
        dtype = _element_type(wanted)
        if value.dtype != dtype:
            raise InvalidArgumentError(
                f"TensorArray dtype is {dtype} but Op is trying to write dtype {value.dtype}",
                hint="state fn_output_signature",
            )


def map_fn(
    fn: Body,
    elems: object,
    dtype: DTypeLike | None = None,
    parallel_iterations: object = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: object = None,
) -> object:
    """Apply a function to the slices along the first axis."""
    made = _mapped(fn, elems, name, lambda: _types(fn_output_signature or dtype, elems))
    return _ended(made, back_prop)


def _mapped(
    fn: Body,
    elems: object,
    name: str | None = None,
    types: Callable[[], object] | None = None,
    turns: type[CallsInTurn] = CallsInTurn,
) -> object:
    """Apply a function to slices; its results have the types that are given, without, any."""
    graph = graph_of(nest.flatten(elems))
    if _count(elems) is not None:
        rows = _rows(elems)
        if rows:
            fn = in_trips(graph, fn, len(rows), turns)
            made = [nest.map_structure(convert, fn(row)) for row in rows]
            if types is not None:
                _check_types(made[0], types())
            return _stacked(made)
        if graph is not None:
            with InGraph(graph):
                return _nothing(graph, fn, elems)
    slices = _Slices(elems)
    if types is None:
        wanted = _types(None, elems) if graph is None else _types_made(graph, fn, slices)
    else:
        wanted = types()
    arrays = _arrays([_element_type(x) for x in nest.flatten(wanted)], slices.count)

    def body(i: TfTensor, made: object) -> object:
        given = fn(slices.at(i))
        _check_structure(wanted, given)
        return i + 1, _write(made, i, nest.flatten(given))

    _, found = while_loop(lambda i, made: i < slices.count, body, (constant(0), arrays), name=name)
    return nest.pack(wanted, [a.stack() for a in found])


def _traced_once(graph: Graph, fn: Body, elems: object) -> tuple[FuncGraph, object]:
    """Return the graph of a function of one slice, and the structure that it returns."""
    flat = [convert(x) for x in nest.flatten(elems)]
    specs = [shape_spec(x.dtype, x.shape[1:]) for x in flat]
    return traced("a function", graph, lambda *xs: fn(nest.pack(elems, xs)), specs, flat)


def _types_made(graph: Graph, fn: Body, slices: _Slices) -> object:
    """Return the types of what a function gives for a slice, in its structure."""
    inner, made = _traced_once(graph, fn, slices.elems)
    types = iter([x.dtype for x in inner.outputs])
    return nest.map_structure(lambda _: next(types), made)


def _nothing(graph: Graph, fn: Body, elems: object) -> object:
    """Return what a function gives for no slices: nothing, of the shapes that it would have."""
    inner, made = _traced_once(graph, fn, elems)
    empty = iter([zeros([0, *TensorShape(x.shape).as_list()], x.dtype) for x in inner.outputs])
    return nest.map_structure(lambda _: next(empty), made)


def vectorized_map(
    fn: Body, elems: object, fallback_to_while_loop: bool = True, warn: bool = True
) -> object:
    """Apply a function to the slices along the first axis; its results have any types."""
    if _count(elems) == 0 and graph_of(nest.flatten(elems)) is None:
        return _nothing_at_once(fn, elems)
    return _mapped(fn, elems, turns=AllAtOnce)


def _nothing_at_once(fn: Body, elems: object) -> object:
    """Return what a function would give for no slices, outside of any graph."""
    inner, made = _traced_once(TfGraph(), fn, elems)
    known = [[n or 0 for n in TensorShape(x.shape).as_list()] for x in inner.outputs]
    pairs = zip(known, inner.outputs, strict=True)
    empty = iter([zeros([0, *dims], x.dtype) for dims, x in pairs])
    return nest.map_structure(lambda _: next(empty), made)


def foldl(
    fn: Body,
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> object:
    """Combine the slices from the first to the last."""
    return _ended(_fold(fn, elems, initializer, name, backwards=False), back_prop)


def foldr(
    fn: Body,
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> object:
    """Combine the slices from the last to the first."""
    return _ended(_fold(fn, elems, initializer, name, backwards=True), back_prop)


def _fold(fn: Body, elems: object, initial: object, name: str | None, *, backwards: bool) -> object:
    if _count(elems) is not None:
        rows = _rows(elems)[:: -1 if backwards else 1]
        fn = in_trips(_graph_of_slices(elems, initial), fn, len(rows) - (initial is None))
        total = _first_of(rows) if initial is None else nest.map_structure(convert, initial)
        for row in rows:
            total = fn(total, row)
        return total
    slices = _Slices(elems)
    last = slices.count - 1
    begin = 0 if initial is not None else 1
    first = slices.at(last if backwards else 0) if initial is None else initial

    def body(i: TfTensor, total: object) -> object:
        return i + 1, fn(total, slices.at(last - i if backwards else i))

    start = (constant(begin), nest.map_structure(convert, first))
    return while_loop(lambda i, total: i < slices.count, body, start, name=name)[1]


def _first_of(rows: list[object]) -> object:
    """Take the first slice away, which others are combined with."""
    if not rows:
        raise InvalidArgumentError(
            "there are no slices, expected one or more", hint="give an initializer"
        )
    return rows.pop(0)


def scan(
    fn: Body,
    elems: object,
    initializer: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Return all states on the way of combining the slices."""
    if _count(elems) is not None:
        rows = _rows(elems)[:: -1 if reverse else 1]
        trips = len(rows) - (initializer is None)
        fn = in_trips(_graph_of_slices(elems, initializer), fn, trips)
        made = _scan_rows(fn, rows, initializer, reverse)
        return _ended(made, back_prop)
    slices = _Slices(elems)
    last = slices.count - 1
    begin = 0 if initializer is not None else 1
    first = slices.at(last if reverse else 0) if initializer is None else initializer
    state = nest.map_structure(convert, first)
    arrays = _arrays(nest.map_structure(lambda x: x.dtype, state), slices.count)
    arrays = nest.map_structure(lambda a, x: a.started(listed(x.shape), x), arrays, state)
    if begin:
        arrays = _write(arrays, last if reverse else 0, state)

    def body(i: TfTensor, total: object, made: object) -> object:
        place = last - i if reverse else i
        now = nest.map_structure(convert, fn(total, slices.at(place)))
        _check_structure(total, now)
        return i + 1, now, _write(made, place, now)

    start = (constant(begin), state, arrays)
    found = while_loop(lambda i, total, made: i < slices.count, body, start, name=name)[2]
    return _ended(nest.map_structure(lambda a: a.stack(), found), back_prop)


def _scan_rows(fn: Body, rows: list[object], initial: object, reverse: bool) -> object:
    made = []
    if initial is None:
        total = _first_of(rows)
        made.append(total)
    else:
        total = nest.map_structure(convert, initial)
    if not rows and not made:
        return nest.map_structure(lambda x: zeros([0, *x.shape.as_list()], x.dtype), total)
    for row in rows:
        given = nest.map_structure(convert, fn(total, row))
        _check_structure(total, given)
        total = given
        made.append(total)
    return _stacked(made[::-1] if reverse else made)
