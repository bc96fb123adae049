"""Which variables of a graph have no value yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from ....ir.types.tensor import Array, TensorSpec
from ...function.graph_data import Codec, NodeReader, Writer, register_codec
from ...graph.frame import Frame
from ...graph.graph import GraphTensor, Kind, Operation
from ..core.bridge import TfTensor
from ..core.values import InGraph, convert, shape_spec
from ..graph.graph_lists import global_variables, local_variables
from ..graph.state import Variable, get_default_graph
from ..ops.math_ops import identity


class Report(Kind):
    """The names of variables without a value, which is known for each by its task."""

    type = "ReportUninitialized"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)

    def infer(self, specs: object, attributes: object) -> tuple[TensorSpec]:
        """Return a list of text."""
        return (shape_spec("string", [None]),)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> tuple[Array]:
        """Keep the names of those that have none."""
        pairs = zip(self.names, inputs, strict=True)
        missing = [name.encode() for name, there in pairs if not bool(np.asarray(there))]
        made = np.empty(len(missing), object)
        made[:] = missing
        return (made,)


class ReportData(TypedDict):
    """A node that says which variables have no value: their names."""

    names: list[str]


def _written(kind: Report, writer: Writer) -> ReportData:
    return {"names": kind.names}


def _read(data: ReportData, reader: NodeReader) -> Report:
    return Report(list(map(str, data["names"])))


register_codec(Report, Codec("report", _written, _read))


def report_uninitialized_variables(
    var_list: Sequence[Variable] | None = None, name: str | None = None
) -> GraphTensor:
    """Return the names of variables without a value, wherever they are."""
    variables = [*global_variables(), *local_variables()] if var_list is None else [*var_list]
    graph = get_default_graph()
    there = [graph.owned(each.is_initialized()) for each in variables]
    names = [each.state.name for each in variables]
    return graph.add(Report(names), there, name=name).outputs[0]


def assert_variables_initialized(
    var_list: Sequence[Variable] | None = None,
) -> TfTensor | None:
    """Return a tensor that has a value once all variables have one; None if there are none.

    Till then running it raises `FailedPreconditionError`.
    """
    given = [*global_variables(), *local_variables()] if var_list is None else [*var_list]
    if not given:
        return None
    graph = get_default_graph()
    with InGraph(graph), graph.control_dependencies([each.read_value() for each in given]):
        ranks = [each.shape.rank or 0 for each in given]
        return identity(convert(np.array(ranks, np.int32)))
