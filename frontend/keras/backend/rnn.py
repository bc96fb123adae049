"""Recurrence: steps along an axis of time, written out where they are few, else as a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

from keras.src import tree as _tree

from ...eager.tensor import Tensor
from ...graph.scan import scanned as _scanned
from ...tf.core.values import InGraph as _InGraph
from ...tf.core.values import graph_of as _graph_of
from ...tf.graph import loops as _loops
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import math_ops as _m
from ...values.given import TensorLike
from .tensors import cast, convert_to_tensor, rank

Tree: TypeAlias = object
States: TypeAlias = "tuple[Tree, ...]"
Step: TypeAlias = Callable[[Tree, States], tuple[Tree, Tree]]
_F = _m.FUNCTIONS
BLOCK = 5
"""So many steps are written out in a trip of a loop: what a trip takes by itself is little then."""
LONG = 2 * BLOCK
"""From so many steps on there is a loop: to compile what is written out takes as long as there are
steps, a tenth of a second for each and each layer. Twenty that are written out run in six tenths of
the time of the loop, but that has paid only when a network was trained for two thousand steps."""


def _swapped(x: TensorLike) -> Tensor:
    """Change the first two axes over."""
    tensor = convert_to_tensor(x)
    return _a.transpose(tensor, [1, 0, *range(2, rank(tensor))])


def rnn(
    step_function: Step,
    inputs: Tree,
    initial_states: Sequence[Tree],
    go_backwards: bool = False,
    mask: TensorLike | None = None,
    constants: Sequence[TensorLike] | None = None,
    unroll: bool = False,
    input_length: TensorLike | None = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
    return_all_outputs: bool = True,
) -> tuple[Tree, Tree, Tree]:
    """Carry states through time; return the last output, all outputs, and the last states.

    Where the mask does not hold, states stay and the output is the one before, or zero.
    """
    given = _tree.map_structure(convert_to_tensor if time_major else _swapped, inputs)
    flat = _tree.flatten(given)
    fixed = tuple(constants or ())
    steps = Recurrence(
        lambda x, states: step_function(x, (*states, *fixed)),
        lambda rows: _tree.pack_sequence_as(given, rows),
        zero_output_for_mask,
    )
    states = tuple(_tree.map_structure(convert_to_tensor, each) for each in initial_states)
    holds = None
    if mask is not None:
        holds = cast(mask, "bool")
        holds = holds if time_major else _swapped(holds)
        holds = _a.squeeze(holds, [-1]) if rank(holds) == 3 else holds
    rows = [*flat, holds] if holds is not None else flat
    if go_backwards:
        rows = [_a.reverse(x, [0]) for x in rows]
    if unroll:
        if flat[0].shape[0] is None:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        outputs, states = steps.unrolled(rows, states, masked=holds is not None)
    else:
        outputs, states = steps.looped(rows, states, masked=holds is not None)
    last = _tree.map_structure(lambda x: x[-1], outputs)
    if not return_all_outputs:
        outputs = _tree.map_structure(lambda x: _a.expand_dims(x, 0), last)
    if not time_major:
        outputs = _tree.map_structure(_swapped, outputs)
    return last, outputs, states


class Recurrence:
    """One step after the other."""

    def __init__(
        self, step: Step, packed: Callable[[Sequence[Tensor]], Tree], zero_output: bool
    ) -> None:
        self.step, self.packed, self.zero_output = step, packed, zero_output

    def _one(
        self, rows: Sequence[Tensor], states: States, before: Tree, masked: bool
    ) -> tuple[Tree, States]:
        """Return the output and the states of a step; `before` is the output before."""
        inputs, holds = (rows[:-1], rows[-1]) if masked else (rows, None)
        output, new = self.step(self.packed(inputs), states)
        output = _tree.map_structure(convert_to_tensor, output)
        new = _tree.pack_sequence_as(states, _tree.flatten(new))
        if holds is None:
            return output, _kept_types(new, states)
        if before is None or self.zero_output:
            before = _tree.map_structure(_made.zeros_like, output)
        output = _tree.map_structure(lambda x, old: _chosen(holds, x, old), output, before)
        new = _tree.map_structure(lambda x, old: _chosen(holds, x, old), new, states)
        return output, _kept_types(new, states)

    def unrolled(self, rows: Sequence[Tensor], states: States, masked: bool) -> tuple[Tree, States]:
        """Write all steps out."""
        made: list[Tree] = []
        for time in range(rows[0].shape[0]):
            before = made[-1] if made else None
            output, states = self._one([x[time] for x in rows], states, before, masked)
            made.append(output)
        return _tree.map_structure(lambda *each: _a.stack(each), *made), states

    def looped(self, rows: Sequence[Tensor], states: States, masked: bool) -> tuple[Tree, States]:
        """Carry out a loop whose states are kept for each step."""
        first, _ = self._one([x[0] for x in rows], states, None, masked)
        blank = _tree.map_structure(_made.zeros_like, first)
        shape = (states, blank)
        flat_states = len(_tree.flatten(states))

        def turned(carried: Sequence[Tensor], now: Sequence[Tensor]) -> list[Tensor]:
            held, before = _tree.pack_sequence_as(shape, list(carried))
            output, new = self._one(list(now), held, before, masked)
            return [*_tree.flatten(new), *_tree.flatten(output)]

        found = scan(turned, list(rows), [*_tree.flatten(states), *_tree.flatten(blank)])
        outputs = _tree.pack_sequence_as(first, list(found[flat_states:]))
        last = _tree.pack_sequence_as(states, [x[-1] for x in found[:flat_states]])
        return outputs, last


Turn: TypeAlias = Callable[[Sequence[Tensor], Sequence[Tensor]], "list[Tensor]"]
"""What gives the next states of states and the rows of a step."""


def scan(turned: Turn, rows: list[Tensor], states: list[Tensor]) -> Sequence[Tensor]:
    """Return the states of all steps; in a graph many of them by a loop over blocks of some."""
    graph, count = _graph_of([*rows, *states]), rows[0].shape[0]
    known = all(None not in tuple(x.shape) for x in (*rows, *states))
    if graph is None or not known or count < LONG:
        made: Sequence[Tensor] = _loops.scan(turned, rows, states)
        return made
    whole = count // BLOCK * BLOCK

    def block(carried: list[Tensor], *now: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Write some steps out."""
        made = []
        for place in range(BLOCK):
            carried = turned(carried, [x[place] for x in now])
            made.append(carried)
        return carried, [_a.stack(list(column)) for column in zip(*made, strict=True)]

    with _InGraph(graph):
        parts = [_a.reshape(x[:whole], [-1, BLOCK, *x.shape[1:]]) for x in rows]
        last, stacks = _scanned(graph, block, states, parts, whole // BLOCK)
        found = [_a.reshape(x, [whole, *x.shape[2:]]) for x in stacks]
        if whole == count:
            return found
        rest = _loops.scan(turned, [x[whole:] for x in rows], list(last))
        return [_a.concat(list(both), 0) for both in zip(found, rest, strict=True)]


def _chosen(holds: Tensor, x: Tensor, old: Tensor) -> Tensor:
    """Return new values where a mask of the examples holds."""
    for _ in range(rank(x) - rank(holds)):
        holds = _a.expand_dims(holds, -1)
    return _a.where(holds, x, cast(old, x.dtype))


def _kept_types(new: States, old: States) -> States:
    return _tree.map_structure(lambda x, was: cast(x, was.dtype), new, old)


def cudnn_ok(*args: object, **kwargs: object) -> bool:
    """Tell that there are no layers of cuDNN."""
    return False


def _refused(*args: object, **kwargs: object) -> NoReturn:
    """Refuse, so that Keras takes the general loop, which is compiled."""
    raise NotImplementedError("the general loop is compiled")


gru = lstm = bidirectional_gru = bidirectional_lstm = _refused
