"""What a `for` goes through in a graph.

The slices of a tensor, the numbers of a range, and what an object that says so (`Loopable`) gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from ...errors import printed_as
from ...ir.compose.maker import Maker
from ...ir.families import spec_of_value
from ...ir.types import dtypes as rows
from ...ir.types.tensor import Array
from ..eager.tensor import Tensor, apply
from ..graph.control_flow import add
from ..graph.graph import Graph, GraphTensor, dims_or_none
from ..graph.kinds import Composite, Rule, register_rule
from ..graph.symbolic import SymbolicError
from ..values.origin import short, user_line
from .conditional import TURNS, State, staged_if
from .loops import Tensors, Turns, here_graph, owned, staged_loop
from .state import MadeOfTensors
from .surface import TensorRange

MAKE = Maker(apply)
Body = Callable[[object], None]
Exits = Sequence[Callable[[], object]]
LENGTH = Composite(
    register_rule(
        Rule(
            "FirstExtent",
            lambda m, x: m.extent_of(spec_of_value(x).dims[0], rows.i32),
            differentiable=False,
        )
    )
)


def _row(m: Maker, values: object, index: object) -> object:
    spec = spec_of_value(values)
    if spec.dims[0] == 0:  # nothing is taken, but the body is traced
        return m.filled(0, spec.dtype, spec.dims[1:])
    return m.gather(values, index, axis=0)


ROW = Composite(register_rule(Rule("LoopRow", _row)))
"""Its gradient is dense, unlike that of rows that a user takes."""


@printed_as(ValueError)
class ScalarLoopError(SymbolicError, ValueError):
    """A loop goes through a tensor without axes."""

    code = "GV2355"


@runtime_checkable
class Loopable(Protocol):
    """What a loop of a graph takes one element after the other from.

    `looped_in_graph` is called once, before the loop, in the graph around. `next_in_graph` adds
    what takes one more element to the graph that is being traced, and returns whether there was
    one (a truth value) and the element, of which the tensors are zeros if there was none.
    """

    def looped_in_graph(self) -> Loopable:
        """Begin: return what the loop takes its elements from."""

    def next_in_graph(self) -> tuple[GraphTensor, object]:
        """Return whether there is another element, and it."""


@runtime_checkable
class RowsOfTensors(MadeOfTensors, Protocol):
    """An object of tensors that has rows: which rows those are is not told by one tensor."""

    def __gv_len__(self) -> Tensor:
        """Return how many there are."""

    def __getitem__(self, key: object) -> object:
        """Return one of them."""


def no_exit(exits: Exits) -> GraphTensor | None:
    """Return whether no flag is set: a tensor, or None where there are no flags that are."""
    flags = [x for x in (flag() for flag in exits) if x is not False]
    made: GraphTensor | None = None
    for flag in flags:
        off = MAKE.logical_not(flag)
        made = off if made is None else MAKE.logical_and(made, off)
    return made


def and_no_exit(holds: GraphTensor, exits: Exits) -> GraphTensor:
    """Return whether a condition holds and no flag is set."""
    others = no_exit(exits)
    if others is None:
        return holds
    both: GraphTensor = MAKE.logical_and(holds, others)
    return both


def extent(graph: Graph, tensor: GraphTensor) -> GraphTensor:
    """Return the extent of the first axis as a tensor."""
    dims = dims_or_none(tensor.spec.shape)
    if dims == ():
        raise ScalarLoopError("cannot iterate over a scalar tensor", location=short(user_line()))
    if dims is not None and dims[0] is not None:
        return graph.constant(np.array(dims[0], np.int32))
    return graph.add(LENGTH, [tensor], name="length").outputs[0]


def over_tensor(
    graph: Graph,
    values: object,
    exits: Exits,
    body: Body,
    state: State,
    options: Mapping[str, object],
) -> None:
    """Add a loop over the slices of a tensor along its first axis."""
    if isinstance(values, RowsOfTensors):
        rows: RowsOfTensors = values
        count = owned(graph, rows.__gv_len__())
        over_rows(graph, count, lambda place: rows[place], exits, body, state, options)
        return
    tensor = owned(graph, values)
    count = extent(graph, tensor)

    def row(place: GraphTensor) -> object:
        return add(here_graph(), ROW, [tensor, place], "row")[0]

    over_rows(graph, count, row, exits, body, state, options)


def over_rows(  # noqa: PLR0913, PLR0917  (a loop has as many parts)
    graph: Graph,
    count: GraphTensor,
    row: Callable[[GraphTensor], object],
    exits: Exits,
    body: Body,
    state: State,
    options: Mapping[str, object],
) -> None:
    """Add a loop over what a function gives for each place below a count."""
    one = np.array(1, count.spec.dtype.numpy)
    zero = graph.constant(np.zeros_like(one))
    rows_known = known(count)
    begins = rows_known is not None and rows_known > 0 and no_exit(exits) is None

    def test(head: Tensors) -> GraphTensor:
        return and_no_exit(MAKE.less(head[0], count), exits)

    def turn(head: Tensors) -> Tensors:
        body(row(head[0]))
        return [MAKE.add(head[0], one)]

    staged_loop(graph, state, Turns([zero], test, turn, begins=bool(begins)), options)


def range_of(tensor: object) -> tuple[GraphTensor, GraphTensor, GraphTensor] | None:
    """Return start, limit and step of a tensor that is a range of numbers."""
    if isinstance(tensor, TensorRange):
        return tensor.start, tensor.limit, tensor.step
    if not isinstance(tensor, GraphTensor) or tensor.op.type != "Range":
        return None
    row = tensor.spec.dtype
    start, limit, step = (MAKE.to(x, row) for x in tensor.op.inputs)
    return start, limit, step


def known(tensor: object) -> Array | None:
    """Return a constant's value, None of what is none."""
    if isinstance(tensor, GraphTensor) and tensor.op.type == "Const":
        return np.asarray(tensor.op.attributes["value"])
    return None


def over_range(
    graph: Graph,
    numbers: tuple[GraphTensor, GraphTensor, GraphTensor],
    exits: Exits,
    body: Body,
    state: State,
    options: Mapping[str, object],
) -> None:
    """Add a loop over the numbers of a range, which are not made."""
    start, limit, step = numbers
    by, first, last = known(step), known(start), known(limit)
    begins = False
    if by is not None and first is not None and last is not None:
        begins = bool(first < last if by > 0 else first > last) and no_exit(exits) is None

    def goes_on(value: GraphTensor) -> GraphTensor:
        if by is not None:
            within: GraphTensor = MAKE.less(value, limit) if by > 0 else MAKE.greater(value, limit)
            return within
        zero = MAKE.number(0, step.spec.dtype)
        up = MAKE.logical_and(MAKE.greater_equal(step, zero), MAKE.less(value, limit))
        down = MAKE.logical_and(MAKE.less(step, zero), MAKE.greater(value, limit))
        either: GraphTensor = MAKE.logical_or(up, down)
        return either

    def test(head: Tensors) -> GraphTensor:
        return and_no_exit(goes_on(head[0]), exits)

    def turn(head: Tensors) -> Tensors:
        body(head[0])
        return [MAKE.add(head[0], step)]

    staged_loop(graph, state, Turns([start], test, turn, begins=begins), options)


def over_loopable(
    graph: Graph,
    values: Loopable,
    exits: Exits,
    body: Body,
    state: State,
    options: Mapping[str, object],
) -> None:
    """Add a loop over what an object gives, until it has no more."""
    source = values.looped_in_graph()
    true = graph.constant(np.array(True))

    def test(head: Tensors) -> GraphTensor:
        return and_no_exit(head[0], exits)

    def turn(head: Tensors) -> Tensors:
        there, element = source.next_in_graph()
        ways = lambda: body(element), lambda: None
        staged_if(there.graph, there, ways, state, len(state.names), ("orelse",), TURNS)
        return [there]

    staged_loop(graph, state, Turns([true], test, turn, relaxes=True), options)
