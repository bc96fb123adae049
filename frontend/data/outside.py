"""What a pipeline depends on that its state does not hold: drawn numbers, variables, Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..graph.graph import Graph, Operation
from ..graph.placement import graphs_in
from ..graph.py_function import HostFunction
from .host import ArrayKind
from .sources import Closing, Generated
from .stages import Given, Stage


def kept_outside(stage: Stage) -> str | None:
    """Return the type of the first operation whose state is outside, None if there is none.

    Going on from a saved state would give other elements than going on at once: other numbers
    would be drawn, a variable may have changed, and nobody knows what Python does.
    """
    return next(of_stage(stage), None)


def of_stage(stage: Stage) -> Iterator[str]:
    """Give the types of such operations of a stage, and of those that it reads."""
    if stage.kind is Generated:
        yield "PyFunc"
    for option in stage.options.values():
        yield from of_option(option)
    for each in stage.inputs:
        yield from of_stage(each)


def of_option(option: object) -> Iterator[str]:
    """Give the types of such operations in a function, or in a pipeline that is an option."""
    if isinstance(option, tuple):
        for each in option:
            yield from of_option(each)
    elif isinstance(option, Stage):
        yield from of_stage(option)
    elif isinstance(option, Given) and option.tensor.eager:
        yield from of_value(option.tensor.numpy())
    elif isinstance(graph := getattr(option, "graph", None), Graph):
        yield from of_operations(graph.operations)


def of_value(value: object) -> Iterator[str]:
    """Give the types of such operations of a pipeline that is the value of a tensor."""
    found = np.asarray(value)
    if found.dtype.kind == "O" and not found.ndim and isinstance(found.item(), Stage):
        yield from of_stage(found.item())


def of_operations(operations: Iterable[Operation]) -> Iterator[str]:
    """Give the types of such operations among those of a graph, and in what they call."""
    for op in operations:
        function = getattr(op.kind, "function", None)
        if op.kind.draws or op.attributes.get("variable") is not None:
            yield op.type
        elif isinstance(function, HostFunction) and not function.is_pure:
            yield "EagerPyFunc" if function.is_smooth else "PyFunc"
        elif isinstance(op.kind, ArrayKind) and isinstance(op.kind.compute, Closing):
            yield from of_stage(op.kind.compute.stage)
        elif op.type == "Const":
            yield from of_value(op.attributes["value"])
        for graph in graphs_in(op):
            yield from of_operations(graph.operations)
