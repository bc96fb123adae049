"""Variables of graphs as `VariableDef` messages: the names of the operations that they are."""

from __future__ import annotations

import weakref
from typing import Self

from ...formats.messages import VariableDef
from ...function.variable import NUMBERS
from ...function.variable import Variable as CoreVariable
from ...graph.graph import Graph, Operation, dims_or_none
from ..core.creators import (
    Sliced,
    SliceInfo,
    VariableAggregation,
    VariableSynchronization,
    name_within,
)


class MessagedVariable(Sliced, CoreVariable):
    """A variable that a message can stand for."""

    constraint: object = None
    synchronization: object = None
    caching_device: object = None

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """Return it as a message, None if its name is outside of a scope that is given."""
        if self.graph is None:
            raise RuntimeError("to_proto: a variable outside of graphs has no operations")
        if name_within(self.name, export_scope) is None:
            return None
        assert self.initializer is not None, "a variable of a graph has a first value"
        first, lies = self.initial_value, self._get_save_slice_info()
        names = {
            "variable_name": self.name,
            "initializer_name": self.initializer.name,
            "snapshot_name": self.snapshot.name,
            "initial_value_name": "" if first is None else first.name,
        }
        made = VariableDef(is_resource=True, trainable=self.trainable)
        for key, name in names.items():
            setattr(made, key, name_within(name, export_scope) or name)
        made.synchronization = VariableSynchronization(self.synchronization).value
        made.aggregation = VariableAggregation(self.aggregation).value
        if lies is not None:
            made.save_slice_info_def.MergeFrom(lies.to_proto(export_scope))
        return made

    @classmethod
    def from_proto(cls, variable_def: VariableDef, import_scope: str | None = None) -> Self:
        """Return what a message stands for in the default graph."""
        return cls(variable_def=variable_def, import_scope=import_scope)  # type: ignore[call-arg]

    def be_described(self, graph: Graph, given: VariableDef, scope: str | None) -> None:
        """Become what a message says: its operations are in a graph already."""
        prefix = f"{scope}/" if scope else ""
        operation = graph.get_operation_by_name
        variable = operation(f"{prefix}{given.variable_name}".partition(":")[0])
        self.be_of(variable, operation(f"{prefix}{given.initializer_name}"), given.trainable)
        if not given.initial_value_name:
            self.initial_value = None
        self.synchronization = VariableSynchronization(given.synchronization)
        self.aggregation = VariableAggregation(given.aggregation)
        if given.HasField("save_slice_info_def"):
            lies = SliceInfo(save_slice_info_def=given.save_slice_info_def, import_scope=scope)
            self._set_save_slice_info(lies)

    @classmethod
    def of_operation(cls, op: Operation, initializer: Operation, *, trainable: bool) -> Self:
        """Return the variable that an operation of a graph as data stands for."""
        made = cls.__new__(cls)
        made.be_of(op, initializer, trainable)
        return made

    def be_of(self, op: Operation, initializer: Operation, trainable: bool) -> None:
        """Become the variable that an operation of a graph stands for."""
        self.state = op.attributes["variable"]()
        self.graph, self.op, self.initializer = op.graph, op, initializer
        self._label, self._trainable = self.state.name, trainable
        self._row, self._has_shape = self.state.spec.dtype, True
        self._declared = self.declared(dims_or_none(self.state.spec.shape))
        self.number = next(NUMBERS)
        self.constraint = self.caching_device = None
        self.synchronization = VariableSynchronization.AUTO
        self.aggregation = VariableAggregation.NONE
        self.initial_value, self.snapshot = initializer.inputs[0], op.outputs[0]
        self.state.home, self.state.initial = op, initializer
        self.state.owner = weakref.ref(self)
