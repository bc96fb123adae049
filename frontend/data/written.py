"""Pipelines as data: what is done to which others, with the values and functions that it takes.

What takes part computes; a pipeline that reads or writes files, or asks Python for elements, is
refused by its name. Tensors of a graph around it are numbered: whoever reads the data gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from ..eager.tensor import Tensor
from ..function.graph_data import (
    Codec,
    GraphTextError,
    NodeReader,
    NotSerialisableError,
    Plain,
    SpecData,
    Writer,
    register_codec,
)
from ..graph.func_graph import FuncGraph, touched_in
from ..graph.graph import GraphTensor, Kind
from . import ahead, batches, files, nested, order, sources, steps
from .host import ArrayKind
from .placed import found_again, placed
from .programs import GraphProgram, Opening
from .sources import Closing
from .stages import Given, Stage, Stream
from .stored import PlacedData, StepData, read_step, write_step

KINDS: dict[str, type[Stream]] = {
    kind.__name__: kind
    for kind in (
        *(sources.Whole, sources.Slices, sources.Range, sources.Numbers, sources.Literal),
        files.OfKnownCount,
        *(steps.Mapped, steps.Chosen, steps.ChosenWhile, steps.Scanned, steps.Limited),
        *(steps.Skipped, steps.Sharded, steps.Distinct, steps.Unfailing, steps.Repeated),
        *(steps.Zipped, steps.Joined, steps.Counted, steps.Kept, steps.Unstacked),
        *(batches.Batched, batches.Rebatched, batches.Padded, batches.Windowed, order.Shuffled),
        *(nested.Flattened, nested.InTurns, nested.Grouped, nested.ReducedByKey, nested.Directed),
        *(ahead.MappedAhead, ahead.Prefetched),
    )
}
"""What may be done to pipelines in files, by name."""
PROGRAMS = {kind.__name__: kind for kind in (GraphProgram, Opening)}


class StageData(TypedDict):
    """What is done to pipelines, which are given by their numbers."""

    kind: str
    inputs: list[int]
    options: dict[str, Plain]
    lasts: bool


class PipelineData(TypedDict):
    """A pipeline: all that is done, the last one last, and what the tensors are that it takes."""

    stages: list[StageData]
    taken: list[SpecData]


class _Stages:
    """Turns stages into data, each once."""

    def __init__(
        self, taken: Sequence[Tensor], writer: Writer, known: Mapping[int, object]
    ) -> None:
        self.places = {id(tensor): place for place, tensor in enumerate(taken)}
        self.writer, self.known = writer, known
        self.numbers: dict[int, int] = {}
        self.made: list[StageData] = []

    def number(self, stage: Stage) -> int:
        """Return the number of a stage."""
        if id(stage) not in self.numbers:
            name = stage.kind.__name__
            if KINDS.get(name) is not stage.kind:
                raise NotSerialisableError(f"it takes a dataset that is made by {name}")
            inputs = [self.number(each) for each in stage.inputs]
            options = {key: self.option(each) for key, each in stage.options.items()}
            self.numbers[id(stage)] = len(self.made)
            self.made.append(
                {"kind": name, "inputs": inputs, "options": options, "lasts": stage.lasts}
            )
        return self.numbers[id(stage)]

    def option(self, option: object) -> Plain:
        """Return an option of a stage."""
        if isinstance(option, Given):
            return {"given": self.tensor(option.tensor)}
        if type(option) is tuple:
            return {"row": [self.option(each) for each in option]}
        if isinstance(option, GraphProgram):
            graph = self.writer.function(option.graph)
            return {"program": [type(option).__name__, graph, [*map(self.tensor, option.tensors)]]}
        return {"plain": placed(option, self.writer)}

    def tensor(self, tensor: Tensor) -> Plain:
        """Return the number of a tensor, or its value."""
        if id(tensor) in self.places:
            return {"taken": self.places[id(tensor)]}
        if id(tensor) in self.known:
            return {"value": self.writer.value(np.asarray(self.known[id(tensor)]))}
        if not tensor.eager:
            raise NotSerialisableError("it takes a tensor of another graph")
        return {"value": self.writer.value(np.asarray(tensor.numpy()))}


def pipeline_data(
    closing: Closing, writer: Writer, known: Mapping[int, object] | None = None
) -> PipelineData:
    """Return a pipeline as data, with what the tensors are that it takes of a graph around it.

    Of other tensors the elements must be known, by their ids, or be there.
    """
    by_key = {id(tensor): tensor for tensor in closing.stage.tensors()}
    taken = [by_key[key] for key in closing.keys]
    stages = _Stages(taken, writer, known or {})
    stages.number(closing.stage)
    return {"stages": stages.made, "taken": [writer.spec(tensor.spec) for tensor in taken]}


def _form(data: Plain) -> tuple[str, Any]:
    """Return the name of a form and what it holds."""
    if not isinstance(data, dict) or len(data) != 1:
        raise GraphTextError(f"a part of a dataset is {data!r}")
    [(form, inside)] = data.items()
    return form, inside


class _Reader:
    """Makes stages of data."""

    def __init__(self, data: PipelineData, reader: NodeReader) -> None:
        self.reader = reader
        home = FuncGraph("around a dataset", None, GraphTensor)
        specs = [reader.spec(each) for each in data["taken"]]
        self.taken = [home.argument(spec, "taken") for spec in specs]
        """What stands for the tensors that it takes from a graph around it."""
        self.stages: list[Stage] = []
        for each in data["stages"]:
            self.stages.append(self.stage(each))

    def stage(self, data: StageData) -> Stage:
        """Return a stage whose inputs are there."""
        if data["kind"] not in KINDS:
            raise GraphTextError(f"there is no dataset of kind {data['kind']!r}")
        inputs = tuple(self.stages[number] for number in data["inputs"])
        options = {key: self.option(each) for key, each in data["options"].items()}
        return Stage(KINDS[data["kind"]], inputs, options, lasts=bool(data["lasts"]))

    def option(self, data: Plain) -> object:
        """Return an option."""
        form, inside = _form(data)
        if form == "given":
            return Given(self.tensor(inside))
        if form == "row":
            return tuple(map(self.option, inside))
        if form == "program" and inside[0] in PROGRAMS:
            return self.program(PROGRAMS[inside[0]], inside[1], inside[2])
        if form == "plain":
            return found_again(inside, self.reader)
        raise GraphTextError(f"an option of a dataset is {data!r}")

    def tensor(self, data: Plain) -> Tensor:
        """Return a tensor: what stands for it, or its value."""
        form, inside = _form(data)
        if form == "taken" and inside in range(len(self.taken)):
            place: int = inside
            return self.taken[place]
        if form == "value":
            return Tensor(np.asarray(self.reader.value(inside)))
        raise GraphTextError(f"a tensor of a dataset is {data!r}")

    def program(self, kind: type[GraphProgram], name: str, taken: Sequence[Plain]) -> GraphProgram:
        """Return a function of elements with the tensors that it takes from outside."""
        graph = self.reader.function(name)
        slots = [slot for _, slot in graph.captured.values()]
        tensors = [*map(self.tensor, taken)]
        graph.captured = {id(t): (t, slot) for t, slot in zip(tensors, slots, strict=True)}
        graph.held = list(touched_in(graph.operations))
        return kind(graph)


def pipeline_of(data: PipelineData, reader: NodeReader) -> Closing:
    """Return a pipeline, with the keys of the tensors that it takes."""
    made = _Reader(data, reader)
    return Closing(made.stages[-1], [*map(id, made.taken)])


class ClosingData(TypedDict):
    """A node that gives a pipeline."""

    type: str
    pipeline: PipelineData


def _write_closing(kind: ArrayKind, writer: Writer) -> ClosingData | StepData | PlacedData:
    """Return a node of the host: one that gives a pipeline has this with it."""
    closing = kind.compute
    if not isinstance(closing, Closing):
        return write_step(kind, writer)
    return {"type": kind.type, "pipeline": pipeline_data(closing, writer)}


def _closing(data: ClosingData | StepData | PlacedData, reader: NodeReader) -> Kind:
    if "pipeline" not in data:
        return read_step(data, reader)
    specs = reader.specs
    return ArrayKind(data["type"], pipeline_of(data["pipeline"], reader), lambda _: specs)


register_codec(ArrayKind, Codec("step", _write_closing, _closing))
