"""Steps of recurrent networks: in a loop of the graph, or one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, SupportsIndex

from ...graph.graph import GraphTensor, Operation
from ...values import nest
from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.dimensions import Dimension
from ..core.shapes import TensorShape
from ..core.values import convert, static
from ..graph.loops import while_loop
from ..graph.state import control_dependencies
from ..graph.tensor_array import TensorArray
from ..layers.base import settled
from ..ops import array_ops as _a
from ..ops.creation import constant, zeros, zeros_like
from ..ops.gathering import gather
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, identity
from ..runs.seeds import Rehearsed, body_here
from ..variables.scopes import VariableScope, scopes, scopes_are, variable_scope
from .cells import Output, RNNCell

logical_not, logical_or = FUNCTIONS["logical_not"], FUNCTIONS["logical_or"]
reduce_all = REDUCTIONS["reduce_all"]


def _turned(x: TfTensor) -> TfTensor:
    """Exchange the first two axes."""
    return _a.transpose(x, [1, 0, *range(2, len(x.shape))])


def _batch(x: TfTensor, axis: int) -> int | TfTensor:
    known = x.shape.as_list()[axis]
    return known if known is not None else _a.shape(x)[axis]


def _started(
    cell: RNNCell, batch: SupportsIndex | Dimension | None, state: object, dtype: DTypeLike | None
) -> object:
    """Return the state to begin with."""
    if state is not None:
        return nest.map_structure(convert, state)
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    return cell.zero_state(batch, dtype)


def _lengths(sequence_length: object) -> TfTensor | None:
    """Return how many steps each example has, None if they have all."""
    if sequence_length is None:
        return None
    found = cast(convert(sequence_length), "int32")
    if found.shape.rank not in (1, None):
        raise ValueError(
            "Argument sequence_length must be a vector of length batch_size. Received "
            f"sequence_length={sequence_length} with shape: {found.shape}"
        )
    return found


def _chosen(mask: object, new: object, old: object) -> object:
    """Return new values where a mask of examples holds, old ones elsewhere."""

    def one(a: TfTensor, b: TfTensor) -> TfTensor:
        rank = len(a.shape)
        if not rank:
            return a
        kept = _a.where(_a.reshape(mask, [-1, *[1] * (rank - 1)]), a, b)
        return settled(kept, b.shape.as_list())

    made = [one(a, b) for a, b in zip(nest.flatten(new), nest.flatten(old), strict=True)]
    return nest.pack(new, made)


def dynamic_rnn(
    cell: RNNCell,
    inputs: object,
    sequence_length: object = None,
    initial_state: object = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: object = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> Output:
    """Return the outputs of all steps and the last state; behind their ends, outputs are 0."""
    with variable_scope(scope or "rnn") as entered:
        given = nest.map_structure(convert, inputs)
        rows = given if time_major else nest.map_structure(_turned, given)
        first = nest.flatten(rows)[0]
        batch = _batch(first, 1)
        state = _started(cell, batch, initial_state, dtype)
        lengths = _lengths(sequence_length)
        draws = body_here()
        with variable_scope(entered), draws.rehearsal():  # here the loop's variables are made
            shown, _ = cell(nest.map_structure(lambda x: x[0], rows), state)
        made, last = _loop(cell, rows, state, shown, lengths, entered, draws)
        extents = [first.shape.as_list()[0], first.shape.as_list()[1]]
        for out, like in zip(nest.flatten(made), nest.flatten(shown), strict=True):
            settled(out, [*extents, *like.shape.as_list()[1:]])
        return made if time_major else nest.map_structure(_turned, made), last


def _number(count: object) -> int | None:
    known = static(count)
    return known if isinstance(known, int) else None


def _empty(count: object, like: TfTensor) -> TensorArray:
    """Return an array for so many elements like one, whose sizes need not be known."""
    if not isinstance(like, GraphTensor):
        return TensorArray(like.dtype, size=count)
    sizes = _a.concat([_a.reshape(convert(count), [1]), _a.shape(like)], 0)
    flow = settled(zeros(sizes, like.dtype), [_number(count), *TensorShape(like.shape).as_list()])
    return TensorArray(like.dtype, size=count, flow=flow, element_shape=like.shape)


def _loop(
    cell: RNNCell,
    rows: object,
    state: object,
    shown: object,
    lengths: TfTensor | None,
    scope: VariableScope,
    draws: Rehearsed,
) -> Output:
    """Return outputs, time first, and the last state."""
    known = scopes()
    count = _batch(nest.flatten(rows)[0], 0)
    arrays = [_empty(count, x) for x in nest.flatten(shown)]

    def body(
        time: TfTensor, before: object, made: Sequence[TensorArray]
    ) -> tuple[TfTensor, object, list[TensorArray]]:
        with scopes_are(known), variable_scope(scope, reuse=True), draws.turn():
            out, after = cell(nest.map_structure(lambda x: gather(x, time), rows), before)
        if lengths is not None:
            alive = time < lengths
            out = _chosen(alive, out, nest.map_structure(zeros_like, out))
            after = _chosen(alive, after, before)
        written = [a.write(time, x) for a, x in zip(made, nest.flatten(out), strict=True)]
        return time + 1, after, written

    start = (constant(0), state, arrays)
    _, last, found = while_loop(lambda time, *_: time < count, body, start)
    return nest.pack(shown, [a.stack() for a in found]), last


def raw_rnn(
    cell: RNNCell,
    loop_fn: Callable[..., tuple[object, object, object, object, object]],
    parallel_iterations: object = None,
    swap_memory: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[object, object, object]:
    """Return what a loop emits, the last state of a cell, and that of the loop.

    `loop_fn` is given the time, what the cell gave, its state and the loop's; it says who has
    finished, what goes in next, with which state, what is emitted, and the loop's next state.
    """
    with variable_scope(scope or "rnn") as entered:
        time = constant(0)
        over, given, state, kind, held = loop_fn(time, None, None, None)
        like = _emitted(kind, cell, _batch(convert(nest.flatten(given)[0]), 0))
        arrays = [TensorArray(x.dtype, size=0, dynamic_size=True) for x in nest.flatten(like)]
        draws = body_here()
        with variable_scope(entered), draws.rehearsal():
            cell(given, state)
        known = scopes()
        empty = held is None

        def body(
            time: TfTensor,
            over: TfTensor,
            given: object,
            made: Sequence[TensorArray],
            state: object,
            held: object,
        ) -> tuple[object, ...]:
            with scopes_are(known), variable_scope(entered, reuse=True), draws.turn():
                out, after = cell(given, state)
            found = loop_fn(time + 1, out, after, None if empty else held)
            ends, following, chosen, emitted, kept = found
            shown = nest.flatten(_stopped(over, zeros_like, emitted))
            written = [a.write(time, x) for a, x in zip(made, shown, strict=True)]
            chosen = _chosen(over, state, chosen)
            both = logical_or(over, convert(ends))
            return time + 1, both, following, written, chosen, 0 if empty else kept

        start = (time, convert(over), given, arrays, state, 0 if empty else held)
        found = while_loop(lambda time, over, *_: logical_not(reduce_all(over)), body, start)
        _, _, _, written, state, held = found
        emits = nest.pack(like, list(written))
        return emits, state, None if empty else held


def _emitted(kind: object, cell: RNNCell, batch: object) -> object:
    """Return zeros like what is emitted in a turn: of the cell's size where nothing says it."""
    if kind is None:
        sizes = nest.flatten(cell.output_size)
        return nest.pack(cell.output_size, [zeros([batch, n]) for n in sizes])
    return nest.map_structure(
        lambda x: zeros([batch, *TensorShape(x.shape).as_list()], x.dtype), kind
    )


def _stopped(over: TfTensor, empty: Callable[..., TfTensor], made: object) -> object:
    """Return what is emitted: zeros of those that have finished."""
    return _chosen(over, nest.map_structure(empty, made), made)


def static_rnn(
    cell: RNNCell,
    inputs: Sequence[object],
    initial_state: object = None,
    dtype: DTypeLike | None = None,
    sequence_length: object = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[object], object]:
    """Return the outputs of steps that are listed, and the last state."""
    if not isinstance(inputs, list | tuple):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn") as entered:
        rows = [nest.map_structure(convert, x) for x in inputs]
        state = _started(cell, _batch(nest.flatten(rows[0])[0], 0), initial_state, dtype)
        lengths = _lengths(sequence_length)
        made: list[object] = []
        for time, row in enumerate(rows):
            if time:
                entered.reuse_variables()
            out, after = cell(row, state)
            if lengths is not None:
                alive = lengths > time
                out = _chosen(alive, out, nest.map_structure(zeros_like, out))
                after = _chosen(alive, after, state)
            state = after
            made.append(out)
        return made, state


def _backwards(x: object, lengths: object, *, time_major: bool) -> TfTensor:
    """Return steps from the last to the first; those behind the end stay where they are."""
    time, batch = (0, 1) if time_major else (1, 0)
    if lengths is None:
        return _a.reverse(x, [time])
    return _a.reverse_sequence(x, lengths, seq_axis=time, batch_axis=batch)


def bidirectional_dynamic_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: object,
    sequence_length: object = None,
    initial_state_fw: object = None,
    initial_state_bw: object = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: object = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | None = None,
) -> Output:
    """Return the outputs and last states of steps forwards and backwards."""
    lengths = _lengths(sequence_length)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forwards:
            there, last = dynamic_rnn(
                cell_fw,
                inputs,
                lengths,
                initial_state_fw,
                dtype,
                time_major=time_major,
                scope=forwards,
            )
        with variable_scope("bw") as backwards:
            turned = _backwards(convert(inputs), lengths, time_major=time_major)
            back, first = dynamic_rnn(
                cell_bw,
                turned,
                lengths,
                initial_state_bw,
                dtype,
                time_major=time_major,
                scope=backwards,
            )
    turned = nest.map_structure(lambda x: _backwards(x, lengths, time_major=time_major), back)
    return (there, turned), (last, first)


def static_bidirectional_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: Sequence[object],
    initial_state_fw: object = None,
    initial_state_bw: object = None,
    dtype: DTypeLike | None = None,
    sequence_length: object = None,
    scope: str | None = None,
) -> tuple[list[object], object, object]:
    """Return outputs forwards and backwards side by side, and both last states."""
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forwards:
            there, last = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, forwards
            )
        with variable_scope("bw") as backwards:
            lengths = _lengths(sequence_length)
            turned = _listed_backwards(inputs, lengths)
            back, first = static_rnn(
                cell_bw, turned, initial_state_bw, dtype, sequence_length, backwards
            )
    pairs = zip(there, _listed_backwards(back, lengths), strict=True)
    return [_beside(a, b) for a, b in pairs], last, first


def _beside(one: object, other: object) -> object:
    """Return structures whose tensors stand side by side."""
    pairs = zip(nest.flatten(one), nest.flatten(other), strict=True)
    return nest.pack(one, [_a.concat([a, b], 1) for a, b in pairs])


def _listed_backwards(steps: Sequence[object], lengths: TfTensor | None) -> list[object]:
    """Return steps in a list from the last to the first; those behind the end stay."""
    if lengths is None:
        return list(steps)[::-1]
    columns = zip(*[nest.flatten(step) for step in steps], strict=True)
    turned = [
        _a.unstack(_backwards(_a.stack(column), lengths, time_major=True)) for column in columns
    ]
    rows = zip(*turned, strict=True)
    return [nest.pack(step, list(row)) for step, row in zip(steps, rows, strict=True)]


class StateSaver(Protocol):
    """What keeps states from one run to the next, by their names."""

    def state(self, name: object) -> object:
        """Return a state as it was kept."""

    def save_state(self, name: object, value: object) -> Operation:
        """Return what keeps a state."""


def static_state_saving_rnn(
    cell: RNNCell,
    inputs: Sequence[object],
    state_saver: StateSaver,
    state_name: object,
    sequence_length: object = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[object], object]:
    """Return outputs and the last state of steps that begin with a state which an object keeps.

    It is asked for by `state(name)`, and given by `save_state(name, value)`: the last output and
    state wait for that. Names are as many as the parts of a state.
    """
    sizes = nest.flatten(cell.state_size)
    names = nest.flatten(state_name)
    if len(names) != len(sizes):
        raise ValueError(
            "#elems(state_name) != #elems(state_size). Received state_name="
            f"{state_name} and state_size={cell.state_size}"
        )
    first = nest.pack(cell.state_size, [state_saver.state(name) for name in names])
    made, last = static_rnn(cell, inputs, first, sequence_length=sequence_length, scope=scope)
    parts = nest.flatten(last)
    kept = [state_saver.save_state(n, x) for n, x in zip(names, parts, strict=True)]
    with control_dependencies(kept):
        made[-1] = nest.map_structure(identity, made[-1])
        return made, nest.map_structure(identity, last)
