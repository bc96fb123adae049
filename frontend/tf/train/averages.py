"""Moving averages of variables, as the graph API has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from ...function.variable import Variable as AnyVariable
from ...graph.graph import Operation
from ...values.context import entered
from ..core.bridge import SymbolicTfTensor
from ..core.values import changed_in, convert
from ..graph.graph_lists import (
    AVERAGED,
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from ..graph.state import Variable, group
from ..ops.creation import zeros
from ..ops.math_ops import FUNCTIONS, cast

Averaged: TypeAlias = "AnyVariable | SymbolicTfTensor"
"""What an average is kept of."""


def _key(of: Averaged) -> object:
    """Return what tells a variable or a tensor apart from others."""
    return of.state if isinstance(of, AnyVariable) else id(of)


def _name(of: Averaged) -> str:
    """Return the name of a variable or of a tensor's operation."""
    return str(of.state.name if isinstance(of, AnyVariable) else of.op.name)


class ExponentialMovingAverage:
    """Keeps for each variable an average in which older values count less and less."""

    def __init__(
        self,
        decay: object,
        num_updates: object = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay, self._updates, self._name = decay, num_updates, name
        self._debiased = zero_debias
        """Whether averages of tensors, which start with zeros, are freed of these."""
        self._kept: dict[object, Variable] = {}
        self._sums: dict[object, tuple[Variable, Variable]] = {}
        """By tensor: the sum as it is, and how often it was brought up to date."""

    def apply(self, var_list: Sequence[Averaged] | None = None) -> Operation | None:
        """Return an operation that brings the averages up to date; eagerly do it."""
        found = list(var_list) if var_list is not None else trainable_variables()
        for each in found:
            if not each.dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {_name(each)}")
            if _key(each) not in self._kept:
                self._kept[_key(each)] = self._shadow(each)
        home = found[0].graph if found else None
        if home is None:  # at once, or in the function that is traced
            return group(*[self._step(each) for each in found], name=self._name)
        graph = changed_in(home)
        with entered(graph), graph.name_scope(self._name):
            return group(*[self._step(each) for each in found], name=self._name)

    @property
    def name(self) -> str:
        """Return the name that averages have behind that of what they are of."""
        return self._name

    def _shadow(self, of: Averaged) -> Variable:
        """Return a new variable for the average: of a variable it starts with its value."""
        name, graph = self.average_name(of), of.graph
        if graph is None:
            with entered(None):
                first = of.numpy() if isinstance(of, AnyVariable) else np.zeros_like(of.numpy())
                return Variable(first, trainable=False, name=name)
        if isinstance(of, SymbolicTfTensor):
            return self._shadow_of_tensor(of, name)
        with entered(graph), graph.name_scope(None), graph.control_dependencies(None):
            made = Variable(of.initial_value, trainable=False, name=name)
        graph.add_to_collection(AVERAGED, of)
        return made

    def _shadow_of_tensor(self, of: SymbolicTfTensor, name: str) -> Variable:
        """Return a new variable for the average of a tensor: it starts with zeros."""
        graph, dims = of.graph, of.shape.known()
        inner = f"{graph.scope}{name}"  # TensorFlow enters the scope once more
        with entered(graph), graph.name_scope(None), graph.control_dependencies(None):
            made = Variable(zeros(dims, of.dtype), trainable=False, name=name)
            if self._debiased:
                biased = Variable(zeros(dims, of.dtype), trainable=False, name=f"{inner}/biased")
                count = Variable(zeros([], of.dtype), trainable=False, name=f"{inner}/local_step")
                self._sums[_key(of)] = biased, count
        return made

    def _step(self, of: Averaged) -> object:
        kept = self._kept[_key(of)]
        decay = convert(self._decay, of.dtype)
        if self._updates is not None:
            count = cast(convert(self._updates), of.dtype)
            decay = FUNCTIONS["minimum"](decay, (count + 1.0) / (count + 10.0))
        value = convert(of.read_value() if isinstance(of, AnyVariable) else of)
        if _key(of) in self._sums:
            biased, steps = self._sums[_key(of)]
            total = convert(biased.assign_sub((biased.read_value() - value) * (1.0 - decay)))
            passed = convert(steps.assign_add(1.0))
            return kept.assign(total / (1.0 - FUNCTIONS["pow"](decay, passed)))
        return kept.assign_sub((kept.read_value() - value) * (1.0 - decay))

    def average(self, var: Averaged) -> Variable | None:
        """Return the variable that keeps the average of another or a tensor, None if none does."""
        return self._kept.get(_key(var))

    def average_name(self, var: Averaged) -> str:
        """Return the name under which the average is saved: in a graph, in the scope there is."""
        kept, name = self._kept.get(_key(var)), f"{_name(var)}/{self._name}"
        if kept is not None:
            return str(kept.state.name)
        return name if var.graph is None else var.graph.unique_name(name, mark=False)

    def variables_to_restore(
        self, moving_avg_variables: Sequence[Averaged] | None = None
    ) -> dict[str, Averaged]:
        """Return variables by the names that their averages are saved under."""
        known: list[object] = [*trainable_variables(), *moving_average_variables()]
        averaged: Sequence[object] = moving_avg_variables or known
        kinds = (AnyVariable, SymbolicTfTensor)
        found = {self.average_name(v): v for v in averaged if isinstance(v, kinds)}
        others = [v for v in global_variables() if all(v is not a for a in averaged)]
        return {**{v.state.name: v for v in others}, **found}
