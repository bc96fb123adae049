"""Datasets and iterators as tensors: nodes of graphs that make them, and what a run gives those."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ....ir.types.tensor import TensorSpec
from ...data.host import ArrayKind
from ...data.sources import Closing, Literal
from ...data.stages import Given, Run, Stage, Stream, part
from ...graph.frame import Frame, Store
from ...graph.graph import Graph, GraphTensor, Operation
from ...values.context import STATE, entered
from ...values.texts import TEXT
from ..core.bridge import TfTensor, dressed, wrap
from ..core.structures import Pipeline
from ..graph.state import get_default_graph

HANDLE = TensorSpec(TEXT, ())


def staged(kind: type[Stream], inputs: Sequence[Pipeline], options: Mapping[str, object]) -> Stage:
    """Return what is done to datasets."""
    if STATE.context is None:
        kind.check(options)
    stages = tuple(each._stage for each in inputs)
    return Stage(kind, stages, options, lasts=STATE.context is None)


class StoreKind(ArrayKind):
    """An operation whose function is also given the store of the run, and may wait."""

    waits = True

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Call the function."""
        if frame.is_staging:
            return super().run(frame, op, inputs)
        made: Sequence[object] = self.compute(frame.store, *[np.asarray(x) for x in inputs])
        return made


def graph_for(tensors: Sequence[object]) -> Graph | None:
    """Return the graph that an operation on tensors goes to, None to do it now."""
    if isinstance(STATE.context, Graph):
        return STATE.context
    return next((t.graph for t in tensors if isinstance(t, GraphTensor)), None)


def pipeline_tensor(stage: Stage) -> TfTensor:
    """Return the tensor that stands for a pipeline, with the values that it takes."""
    of = stage.options.get("of")
    if stage.kind is Literal and isinstance(of, Given) and isinstance(of.tensor, TfTensor):
        return of.tensor
    taken = [tensor for tensor in stage.tensors() if not tensor.eager]
    if not taken:
        return wrap(part(stage))
    closing = Closing(stage, [id(tensor) for tensor in taken])
    kind = ArrayKind("PipelineDataset", closing, lambda specs: [HANDLE])
    return dressed(add(kind, taken)[0])


def add(kind: ArrayKind, tensors: Sequence[object], name: str | None = None) -> list[GraphTensor]:
    """Add an operation to the graph of tensors, or the present one; return its outputs."""
    graph = graph_for(tensors) or get_default_graph()
    with entered(graph):
        return graph.add(kind, [graph.owned(x) for x in tensors], name=name).outputs


@dataclass(frozen=True)
class PipelineStep(Closing):
    """What is done with a pipeline when a graph runs."""

    compute: Callable[[Run, Stage], Sequence[object]]

    def __call__(self, store: Store, *values: object) -> Sequence[object]:  # type: ignore[override]
        """Do it, for values of the tensors that the pipeline takes of the graph."""
        return self.compute(Run(store, dict(zip(self.keys, values, strict=True))), self.stage)


def with_pipeline(
    type_: str,
    stage: Stage,
    specs: Sequence[TensorSpec],
    compute: Callable[[Run, Stage], Sequence[object]],
    name: str | None = None,
) -> Operation:
    """Add an operation that is done with a pipeline when it runs; return the operation."""
    taken = [tensor for tensor in stage.tensors() if not tensor.eager]
    step = PipelineStep(stage, [*map(id, taken)], compute)
    kind = StoreKind(type_, step, lambda _: list(specs), effect=True)
    graph = graph_for(taken) or get_default_graph()
    with entered(graph):
        return graph.add(kind, [graph.owned(x) for x in taken], name=name)
