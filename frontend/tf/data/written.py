"""Iterators of functions as data: the pipelines that they go through, and what takes elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NotRequired, TypedDict

from ....ir.types.tensor import TensorSpec
from ...data.sources import Closing
from ...data.stages import Run, Stage
from ...data.written import PipelineData, pipeline_data, pipeline_of
from ...function.graph_data import (
    Codec,
    GraphTextError,
    NodeReader,
    NotSerialisableError,
    Writer,
    register_codec,
)
from ...graph.frame import Store
from .grouping import Folding
from .handles import PipelineStep, StoreKind
from .iterators import OneShot, Only, begun, taking, taking_if_any

DONE: dict[str, Callable[[Run, Stage], Sequence[object]]] = {
    "OneShotIterator": begun,
    "DatasetToSingleElement": Only(),
}
"""What is done with pipelines in files, by the types of operations."""
TAKING: dict[str, Callable[[Sequence[TensorSpec]], StoreKind]] = {
    "IteratorGetNext": taking,
    "IteratorGetNextAsOptional": lambda specs: taking_if_any(specs[1:]),
}
"""What takes an element, by the types of operations: made of what they give."""


class UseData(TypedDict):
    """An operation on an iterator or a pipeline, which it has with it."""

    type: str
    pipeline: NotRequired[PipelineData]
    count: NotRequired[int]
    """Of how many tensors a state is that is carried from element to element."""


def _write(kind: StoreKind, writer: Writer) -> UseData:
    step = kind.compute
    if isinstance(step, Folding):
        pipeline = pipeline_data(step, writer)
        return {"type": kind.type, "pipeline": pipeline, "count": step.count}
    if isinstance(step, PipelineStep) and DONE.get(kind.type) == step.compute:
        return {"type": kind.type, "pipeline": pipeline_data(step, writer)}
    if isinstance(step, PipelineStep) or kind.type not in TAKING:
        raise NotSerialisableError("what it does is known to this process only")
    return {"type": kind.type}


def _read(data: UseData, reader: NodeReader) -> StoreKind:
    specs, type_ = reader.specs, data["type"]
    if "pipeline" in data and "count" in data:
        found = pipeline_of(data["pipeline"], reader)
        folding = Folding(found.stage, found.keys, int(data["count"]))
        return StoreKind(type_, folding, lambda _: specs, effect=True)
    if "pipeline" in data and type_ in DONE:
        found = pipeline_of(data["pipeline"], reader)
        step = PipelineStep(found.stage, found.keys, DONE[type_])
        return StoreKind(type_, step, lambda _: specs, effect=True)
    if type_ not in TAKING:
        raise GraphTextError(f"there is no operation {type_!r} on pipelines")
    return TAKING[type_](specs)


class BeginningData(TypedDict):
    """An iterator that begins when it is used first."""

    pipeline: PipelineData


def _write_one_shot(kind: OneShot, writer: Writer) -> BeginningData:
    return {"pipeline": pipeline_data(Closing(kind.stage, []), writer, kind.known(Store()))}


def _one_shot(data: BeginningData, reader: NodeReader) -> OneShot:
    return OneShot(pipeline_of(data["pipeline"], reader).stage)


register_codec(StoreKind, Codec("pipeline", _write, _read))
register_codec(OneShot, Codec("one shot", _write_one_shot, _one_shot))
