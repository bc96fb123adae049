"""Moving averages of variables, as the graph API has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph.graph import Operation
from ...values.context import entered
from ..core.values import convert
from ..graph.graph_lists import (
    AVERAGED,
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from ..graph.state import Variable, group
from ..ops.math_ops import FUNCTIONS, cast


class ExponentialMovingAverage:
    """Keeps for each variable an average in which older values count less and less."""

    def __init__(
        self,
        decay: object,
        num_updates: object = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        if zero_debias:
            raise NotImplementedError("ExponentialMovingAverage: zero_debias is not supported")
        self._decay, self._updates, self._name = decay, num_updates, name
        self._kept: dict[object, Any] = {}

    def apply(self, var_list: Sequence[Any] | None = None) -> Operation | None:
        """Return an operation that brings the averages up to date; eagerly do it."""
        found = list(var_list) if var_list is not None else trainable_variables()
        for variable in found:
            if variable.number not in self._kept:
                self._kept[variable.number] = self._shadow(variable)
        with entered(found[0].graph):
            return group(*[self._step(variable) for variable in found])

    def _shadow(self, variable: Any) -> Variable:
        """Return a new variable for the average: it starts with the value."""
        name = f"{variable.state.name}/{self._name}"
        graph = variable.graph
        if graph is None:
            with entered(None):
                return Variable(variable.numpy(), trainable=False, name=name)
        with entered(graph), graph.name_scope(None), graph.control_dependencies(None):
            made = Variable(variable.initial_value, trainable=False, name=name)
        graph.add_to_collection(AVERAGED, variable)
        return made

    def _step(self, variable: Any) -> object:
        kept = self._kept[variable.number]
        decay = convert(self._decay, variable.dtype)
        if self._updates is not None:
            count = cast(convert(self._updates), variable.dtype)
            decay = FUNCTIONS["minimum"](decay, (count + 1.0) / (count + 10.0))
        change = (kept.read_value() - variable.read_value()) * (1.0 - decay)
        return kept.assign_sub(change)

    def average(self, var: Any) -> object:
        """Return the variable that keeps the average of another one, None if nothing does."""
        return self._kept.get(var.number)

    def average_name(self, var: Any) -> str:
        """Return the name under which the average is saved."""
        return f"{var.state.name}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, object]:
        """Return variables by the names that their averages are saved under."""
        averaged = moving_avg_variables or [*trainable_variables(), *moving_average_variables()]
        found = {self.average_name(variable): variable for variable in averaged}
        others = [v for v in global_variables() if all(v is not a for a in averaged)]
        return {**{v.state.name: v for v in others}, **found}
