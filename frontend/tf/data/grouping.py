"""Functions of several elements: states that are carried on, groups, buckets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, SupportsInt

import numpy as np

from ...autograph import to_trace
from ...data.nested import Grouped, ReducedByKey
from ...data.programs import GraphProgram
from ...data.sources import Closing
from ...data.stages import Run, Stage
from ...data.steps import Mapped
from ...function.traces import ACTIVE
from ...graph.frame import Store
from ...values.context import STATE
from ..core.bridge import TfTensor
from ..core.nested import flatten
from ..core.specs import TensorSpec
from ..core.structures import (
    Pipeline,
    core_spec,
    joined_spec,
    normal,
    packed,
    packer,
    spec_of,
    tensor_of,
)
from ..core.values import convert
from .functions import PLAIN_VALUES, Traced, named, scalar, spread, trace
from .handles import StoreKind, add, graph_for

Function = Callable[..., object]
"""What users give: of elements, of keys, of states."""
TURNS = 8
"""How often a function is traced until the shapes of its state are those that it gives."""


def traced_state(
    function: Function, state: object, spec: object, check: Function
) -> tuple[Traced, object]:
    """Return a function of a state and an element, traced for states of all its shapes."""
    found = spec_of(state)
    for _ in range(TURNS):
        traced = trace(to_trace(function), found, spec)
        given = check(traced.spec)
        for mine, theirs in zip(flatten(found), flatten(given), strict=False):
            if mine.dtype != theirs.dtype:
                raise TypeError(
                    "The element types for the new state must match the initial state. Expected "
                    f"{mine.dtype.name}; got {theirs.dtype.name}."
                )
        wider = joined_spec(found, given)
        if wider == found:
            return traced, found
        found = wider
    raise TypeError(f"the shapes of the state of {function!r} do not settle")


def traced_scan(function: Function, state: object, spec: object) -> tuple[Traced, object]:
    """Return the function of a scan, and what its outputs are like."""

    def first(made: object) -> object:
        if not isinstance(made, tuple) or len(made) != 2:
            raise TypeError(
                "`scan_func` should return a pair consisting of new state and the output value."
            )
        return made[0]

    traced, _ = traced_state(function, state, spec, first)
    return traced, traced.spec[1]


def reduced(dataset: Pipeline, initial: object, function: Function) -> object:
    """Return the last state that a function gives for a state and each element."""
    state = normal(initial)
    spec = dataset.element_spec
    parts = [tensor_of(leaf) for leaf in flatten(state)]

    def step(before: object, element: object) -> object:
        return function(before, element)

    traced, carried = traced_state(named(function, step), state, spec, lambda made: made)
    program = traced.program()
    taken = [*parts, *dataset._stage.tensors(), *program.tensors]
    if STATE.context is None and graph_for(taken) is None:
        run = Run(ACTIVE[-1])
        made = fold(run, dataset._stage, program, [np.asarray(x) for x in parts])
        return packer(carried)(made)
    return packed(carried, _in_graph(dataset._stage, program, parts, carried))


def fold(run: Run, stage: Stage, program: GraphProgram, state: Sequence[object]) -> Sequence[Any]:
    """Return the last state."""
    function = program.bound(run)
    for element in run.open(stage):
        state = function((*state, *element))
    return state


def _in_graph(stage: Stage, program: GraphProgram, parts: Sequence[object], spec: object) -> Any:
    """Add the operation that goes through a pipeline when it runs."""
    whole = Stage(Mapped, (stage,), {"function": program})
    taken = [x for x in whole.tensors() if not x.eager]
    specs = [core_spec(leaf) for leaf in flatten(spec)]
    step = Folding(whole, [id(x) for x in taken], len(parts))
    return add(StoreKind("ReduceDataset", step, lambda _: specs, effect=True), [*parts, *taken])


@dataclass(frozen=True)
class Folding(Closing):
    """Gives the last state of a function of states and of the elements of a pipeline.

    Both are those of the stage: it is never opened itself.
    """

    count: int
    """Of how many tensors a state is, which come before those that the pipeline takes."""

    def __call__(self, store: Store, *values: object) -> Sequence[object]:  # type: ignore[override]
        """Return the last state, for a first one and values of the tensors."""
        run = Run(store, dict(zip(self.keys, values[self.count :], strict=True)))
        program = self.stage.options["function"]
        assert isinstance(program, GraphProgram), "a fold is made of one"
        return fold(run, self.stage.inputs[0], program, values[: self.count])


def grouped(
    dataset: Pipeline,
    key_func: Function,
    reduce_func: Function,
    window_size: SupportsInt | None = None,
    window_size_func: Function | None = None,
    name: str | None = None,
) -> Any:
    """Return a dataset of what a function makes of elements with one key."""
    if (window_size is None) == (window_size_func is None):
        raise ValueError(
            "Must pass either window_size or window_size_func, but not both or none of them."
        )
    sizes = window_size_func or (lambda key: convert(np.int64(int(window_size or 0))))
    number = TensorSpec([], "int64")
    key = trace(named(key_func, lambda element: _int64(spread(key_func, element), "key_func")),
                dataset.element_spec)  # fmt: skip
    size = trace(lambda k: _int64(scalar(sizes(k)), "window_size_func"), number)

    def reduce(k: TfTensor, group: object) -> Pipeline:
        made = to_trace(reduce_func)(k, group)
        if not isinstance(made, Pipeline):
            raise TypeError(
                f"Invalid `reduce_func`. `reduce_func` must return a `Dataset` object, got {made!r}"
            )
        return made

    found = trace(reduce, number, dataset.part_spec, adapt=lambda made: made)
    return dataset.step(
        Grouped, found.spec.element_spec, key=key.program(), reduce=found.opening(),
        size=size.program(),
    )  # fmt: skip


class Reducer:
    """What `group_by_reducer` does to the elements of one key."""

    def __init__(self, init_func: Function, reduce_func: Function, finalize_func: Function) -> None:
        self.init_func, self.reduce_func = init_func, reduce_func
        self.finalize_func = finalize_func


def reduced_by_key(dataset: Pipeline, key_func: Function, reducer: Reducer) -> object:
    """Return a dataset of what a reducer makes of the elements of each key."""
    if not isinstance(reducer, Reducer):
        raise TypeError(f"`reducer` must be a `tf.data.experimental.Reducer`, got {reducer!r}")
    number, spec = TensorSpec([], "int64"), dataset.element_spec
    key = trace(named(key_func, lambda element: spread(key_func, element)), spec)
    if (
        not isinstance(key.spec, TensorSpec)
        or key.spec.dtype.name != "int64"
        or (key.spec.shape.rank not in (0, None))
    ):
        raise ValueError(
            "Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor, but "
            f"instead `key_func` has output types={key.spec}."
        )
    first = trace(to_trace(reducer.init_func), number)

    def step(before: object, element: object) -> object:
        return reducer.reduce_func(before, element)

    found = first.spec
    reduce, state = traced_state(named(reducer.reduce_func, step), found, spec, lambda made: made)

    def finish(*parts: object) -> object:
        return spread(reducer.finalize_func, parts[0])

    last = trace(named(reducer.finalize_func, finish), state)
    return dataset.step(
        ReducedByKey, last.spec, key=key.program(), first=first.program(), reduce=reduce.program(),
        last=last.program(),
    )  # fmt: skip


def _int64(value: object, name: str) -> TfTensor:
    found = scalar(value) if isinstance(value, PLAIN_VALUES) else convert(value)
    if found.dtype.name != "int64" or found.shape.rank not in (0, None):
        raise ValueError(
            f"Invalid `{name}`. `{name}` must return a single `tf.int64` tensor, got "
            f"{found.dtype.name} of shape {found.shape}."
        )
    return found


def bucketed(
    dataset: Pipeline,
    element_length_func: Function,
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: object = None,
    padding_values: object = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
    name: str | None = None,
) -> Any:
    """Return a dataset of batches of elements of like lengths."""
    bounds, sizes = list(bucket_boundaries), list(bucket_batch_sizes)
    if len(sizes) != len(bounds) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(bounds)}`."
        )
    from ..graph.debugging import assert_less  # noqa: PLC0415
    from ..graph.state import control_dependencies  # noqa: PLC0415
    from ..ops.math_ops import identity  # noqa: PLC0415
    from ..ops.sorting import searchsorted  # noqa: PLC0415

    def bucket(*element: object) -> TfTensor:
        length = scalar(element_length_func(*element))
        found = searchsorted(convert(np.array(bounds, np.int64)), [length], side="right")
        return scalar(found[0])

    def size(number: object) -> TfTensor:
        from ..ops.gathering import gather  # noqa: PLC0415

        return gather(convert(np.array(sizes, np.int64)), number)

    def batch(number: object, group: Pipeline) -> Pipeline:
        if no_padding:
            return group.batch(size(number), drop_remainder)
        shapes = padded_shapes
        if pad_to_bucket_boundary:
            inside = assert_less(
                number,
                convert(np.int64(len(bounds))),
                "When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries).",
            )
            with control_dependencies([] if inside is None else [inside]):
                shapes = _to_boundary(group.element_spec, shapes, bounds, identity(number))
        return group.padded_batch(size(number), shapes, padding_values, drop_remainder)

    return grouped(dataset, bucket, batch, None, size)


def _to_boundary(spec: object, shapes: object, bounds: Sequence[int], number: object) -> object:
    """Return shapes in which what is open is one less than the boundary of a bucket."""
    from ..core.nested import pack_sequence_as  # noqa: PLC0415
    from ..ops.array_ops import stack  # noqa: PLC0415
    from ..ops.gathering import gather  # noqa: PLC0415
    from .padding import like  # noqa: PLC0415

    limit = gather(convert(np.array([*bounds, bounds[-1] + 1], np.int64)), number) - 1
    wanted = [leaf.shape for leaf in flatten(spec)] if shapes is None else like(spec, shapes)
    made = [
        stack([limit if d in (None, -1) else convert(np.int64(d)) for d in list(s)])
        if list(s) else np.zeros(0, np.int64)
        for s in wanted
    ]  # fmt: skip
    return pack_sequence_as(spec, made)
