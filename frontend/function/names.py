"""Graphs by gravure's own names: `placeholder`, `cond`, `while_loop`, `gradients`, and the like.

Outside of a graph or a function choices and loops are Python's; a graph is built in
`with graph_mode(graph): ...`, and run by a `Session`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, SupportsInt, TypeVar

from ..array.manipulation import stack
from ..eager.tensor import Tensor, as_tensor, cast
from ..graph.control_flow import choose, loop
from ..graph.gradients import gradients as graph_gradients
from ..graph.graph import Graph, GraphTensor, Operation, spec_with_unknowns
from ..graph.kinds import NoOp, Placeholder
from ..graph.py_function import HostFunction, add_function
from ..graph.scan import UNROLLED, scanned
from ..values import dtypes, nest
from ..values.context import STATE, entered

PLACEHOLDER, NO_OP = Placeholder(), NoOp()
Made = TypeVar("Made")
"""What functions of a choice or of slices give: tensors, or a structure of them."""
Values = TypeVar("Values", bound=Sequence[object])
"""What goes round in a loop."""
Carried = TypeVar("Carried")
"""The state of a scan: a tensor, or a structure of them."""


@contextmanager
def graph_mode(graph: Graph) -> Iterator[Graph]:
    """Let operations go to a graph."""
    with entered(graph):
        yield graph


def present_graph(*values: object) -> Graph | None:
    """Return the graph that operations on values go to, None to run them now."""
    if isinstance(STATE.context, Graph):
        return STATE.context
    for x in nest.flatten(values):
        if isinstance(x, GraphTensor):
            x.home()  # raises if the tensor has leaked
            return x.graph
    return None


def placeholder(
    dtype: object = "float32", shape: Sequence[int | None] | None = None, name: str | None = None
) -> GraphTensor:
    """Make a tensor of the present graph whose value is fed; None stands for unknown sizes."""
    graph = present_graph()
    if graph is None:
        raise TypeError("a placeholder is made in a graph: `with graph_mode(graph):`")
    spec = spec_with_unknowns(dtypes.as_dtype(dtype).row, shape)
    return graph.add(PLACEHOLDER, (), {"spec": spec}, name=name).outputs[0]


def cond(
    predicate: object,
    true: Callable[[], Made],
    false: Callable[[], Made],
    name: str | None = None,
) -> Made:
    """Return what one of two functions gives; in a graph only that one runs."""
    graph = present_graph(predicate)
    if graph is None or not isinstance(predicate, Tensor):
        return true() if bool(predicate) else false()
    with entered(graph) if STATE.context is not graph else nullcontext():
        return choose(graph, cast(predicate, dtypes.bool_.row), [false, true], name, "If")


def switch_case(
    index: SupportsInt, functions: Sequence[Callable[[], Made]], name: str | None = None
) -> Made:
    """Return what the function of this number gives; the last one's for any other number."""
    graph = present_graph(index)
    if graph is None or not isinstance(index, Tensor):
        at = int(index)
        return functions[at if 0 <= at < len(functions) else -1]()
    with entered(graph) if STATE.context is not graph else nullcontext():
        return choose(graph, index, list(functions), name, "Case")


def while_loop(
    test: Callable[..., object],
    body: Callable[..., object],
    values: Values,
    shapes: Sequence[Sequence[int | None] | None] | None = None,
    name: str | None = None,
) -> Values:
    """Return the values when the test gives false, changed by the body till then.

    `shapes` states for values that change their shape what stays, with None for what does not.
    """
    tensors = [as_tensor(x) for x in nest.flatten(list(values))]
    graph = present_graph(*tensors)
    if graph is None:
        now = nest.pack(list(values), tensors)
        while bool(test(*now)):
            made = body(*now)
            now = list(made) if isinstance(made, list | tuple) else [made]
        kept: Values = nest.pack(values, nest.flatten(now))
        return kept
    specs = None
    if shapes is not None:
        specs = [spec_with_unknowns(x.row, s) for x, s in zip(tensors, shapes, strict=True)]
    with entered(graph) if STATE.context is not graph else nullcontext():
        inputs = [graph.owned(x) for x in tensors]
        found = loop(graph, test, body, inputs, list(values), specs, name)
    last: Values = nest.pack(values, found)
    return last


def map_fn(function: Callable[..., Made], xs: object) -> Made:
    """Return the results of a function of each slice along the first axis, stacked."""
    graph = present_graph(xs)
    if graph is not None and _count(xs) > UNROLLED:
        return _scanned(graph, lambda _, *slices: ((), function(*slices)), (), xs)[1]
    return _stack([function(*_slices(xs, i)) for i in range(_count(xs))])


def scan(
    function: Callable[..., tuple[Carried, Made]], initial: Carried, xs: object
) -> tuple[Carried, Made]:
    """Return the last state, and the outputs stacked, of `state, output = f(state, *slices)`."""
    graph = present_graph(initial, xs)
    if graph is not None and _count(xs) > UNROLLED:
        return _scanned(graph, function, initial, xs)
    state, outputs = initial, list[Made]()
    for i in range(_count(xs)):
        state, output = function(state, *_slices(xs, i))
        outputs.append(output)
    return state, _stack(outputs)


def _scanned(
    graph: Graph, step: Callable[..., tuple[Carried, Made]], initial: Carried, xs: object
) -> tuple[Carried, Made]:
    with entered(graph) if STATE.context is not graph else nullcontext():
        return scanned(graph, step, initial, nest.flatten(xs), _count(xs))


def _count(xs: object) -> int:
    extent = nest.flatten(xs)[0].shape[0]
    if not isinstance(extent, int):
        raise TypeError(f"a first axis of {extent} elements, expected a number: see while_loop")
    return extent


def _slices(xs: object, index: int) -> list[Tensor]:
    return [x[index] for x in nest.flatten(xs)]


def _stack(rows: Sequence[Made]) -> Made:
    columns = zip(*map(nest.flatten, rows), strict=True)
    made: Made = nest.pack(rows[0], [stack(list(column)) for column in columns])
    return made


def gradients(
    ys: object, xs: object, grad_ys: object = None, stop: Sequence[GraphTensor] = ()
) -> Any:
    """Add the gradients of the sum of `ys` to its graph; None where nothing depends on an x."""
    targets = nest.flatten(ys)
    graph = present_graph(*targets)
    if graph is None:
        raise TypeError("gradients of computed tensors are given by gravure.GradientTape")
    sources = [getattr(x, "state", x) for x in nest.flatten(xs)]
    with entered(graph) if STATE.context is not graph else nullcontext():
        given = None if grad_ys is None else [graph.owned(g) for g in nest.flatten(grad_ys)]
        return nest.pack(xs, graph_gradients(targets, sources, given, stop))


def py_function(function: Callable[..., object], inputs: Sequence[object], dtype: object) -> Any:
    """Call Python with computed tensors, also when a graph runs. It cannot be compiled."""
    single = not isinstance(dtype, list | tuple)
    rows = [dtypes.as_dtype(t).row for t in nest.flatten(dtype)]
    graph = present_graph(*inputs)
    if graph is None:
        return function(*map(as_tensor, inputs))

    host = HostFunction(function, rows, single=single)
    with entered(graph) if STATE.context is not graph else nullcontext():
        outputs = add_function(graph, host, [as_tensor(x) for x in inputs], None)
    return outputs[0] if single else outputs


@contextmanager
def control_dependencies(inputs: Sequence[object] | None) -> Iterator[None]:
    """Let operations of the present graph wait for others; None clears what is asked for."""
    graph = STATE.context
    with graph.control_dependencies(inputs) if isinstance(graph, Graph) else nullcontext():
        yield


@contextmanager
def name_scope(name: str) -> Iterator[None]:
    """Put operations of the present graph under a name."""
    graph = STATE.context
    with graph.name_scope(name) if isinstance(graph, Graph) else nullcontext():
        yield


def group(*inputs: object, name: str | None = None) -> Operation:
    """Return an operation that waits for others."""
    graph = present_graph(*inputs)
    if graph is None:
        raise TypeError("a group is made in a graph: `with graph_mode(graph):`")
    with graph.control_dependencies(inputs):
        return graph.add(NO_OP, (), name=name or "group")
