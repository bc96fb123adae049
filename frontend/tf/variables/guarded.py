"""First values of the first version that are made of other variables: those may have none yet."""

from __future__ import annotations

from ...graph.graph import GraphTensor, Operation
from ...graph.variables import ReadVariable
from ..core.bridge import dressed
from ..core.values import convert
from ..graph.flow import cond
from ..graph.state import Variable


def guarded(value: GraphTensor) -> GraphTensor:
    """Return a value computed again, with the first values of variables that have none yet."""
    return Anew().tensor(value)


class Anew:
    """Computes operations again whose operands, or theirs, are read from variables."""

    def __init__(self) -> None:
        self.made: dict[Operation, list[GraphTensor]] = {}

    def tensor(self, value: GraphTensor) -> GraphTensor:
        """Return what stands for a tensor: itself where no variable is read."""
        return self._results(value.op)[value.op.outputs.index(value)]

    def _results(self, op: Operation) -> list[GraphTensor]:
        if op not in self.made:
            self.made[op] = list(op.outputs)
            self.made[op] = self._again(op)
        return self.made[op]

    def _again(self, op: Operation) -> list[GraphTensor]:
        """Return the results of an operation, computed again if it depends on a variable."""
        if isinstance(op.kind, ReadVariable):
            variable = op.attributes["variable"]().owner()
            return [_read(variable)] if isinstance(variable, Variable) else list(op.outputs)
        inputs = [self.tensor(x) for x in op.inputs]
        if all(x is before for x, before in zip(inputs, op.inputs, strict=True)):
            return list(op.outputs)
        with op.graph.control_dependencies(op.control_inputs):
            specs = [x.spec for x in op.outputs]
            label = op.name.rpartition("/")[2]
            again = op.graph.add(op.kind, inputs, op.attributes, specs=specs, name=label)
        return list(again.outputs)


def _read(variable: Variable) -> GraphTensor:
    """Return the value of a variable, or its first one while it has none."""
    found = cond(variable.is_initialized(), variable.read_value, lambda: variable.initial_value)
    made = dressed(convert(found))
    assert isinstance(made, GraphTensor), "the variable of a graph is read in it"
    return made
