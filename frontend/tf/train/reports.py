"""Which variables of a graph have no value yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ir.types.tensor import Array, TensorSpec
from ...graph.graph import GraphTensor, Kind
from ..core.values import shape_spec
from ..graph.graph_lists import global_variables, local_variables
from ..graph.state import get_default_graph


class Report(Kind):
    """The names of variables without a value."""

    type = "ReportUninitialized"

    def __init__(self, variables: Any) -> None:
        self.reported = list(variables)

    def infer(self, specs: object, attributes: object) -> tuple[TensorSpec]:
        """Return a list of text."""
        return (shape_spec("string", [None]),)

    def run(self, frame: Any, op: object, inputs: object) -> tuple[Array]:
        """Look."""
        names = [v.state.name.encode() for v in self.reported if not v.state.has_value(frame.store)]
        made = np.empty(len(names), object)
        made[:] = names
        return (made,)


def report_uninitialized_variables(var_list: object = None, name: object = None) -> GraphTensor:
    """Return the names of variables without a value."""
    variables = [*global_variables(), *local_variables()] if var_list is None else var_list
    return get_default_graph().add(Report(variables), (), name=name).outputs[0]
