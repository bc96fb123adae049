"""Python functions in graphs: called with computed tensors, differentiated by a tape.

The node calls Python when the graph runs; its gradient is another such node, which runs the
function once more under a tape. They are of this process, and have no form outside of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.op import Array
from ...ir.ops.host.python_step import PythonCall
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec
from ..eager.tape import GradientTape
from ..eager.tensor import Tensor, as_tensor
from ..values.context import entered
from .control_flow import add
from .graph import Graph, GraphTensor, Operation
from .kinds import PyFunction


class HostFunction:
    """A function of tensors as one of arrays; `wrap` makes a tensor of an array."""

    def __init__(
        self,
        function: Callable[..., Any],
        dtypes: Sequence[DType],
        *,
        single: bool,
        wrap: Callable[[Array], Tensor] = Tensor,
        is_smooth: bool = True,
    ) -> None:
        self.function, self.dtypes = function, tuple(dtypes)
        self.single, self.wrap, self.is_smooth = single, wrap, is_smooth
        specs = [TensorSpec(dtype, None) for dtype in self.dtypes]
        self.call = PythonCall(self, specs, self.backward if is_smooth else None)
        """What stands for it where a run is recorded."""

    def on_tensors(self, *tensors: object) -> list[object]:
        """Return the results for tensors."""
        made = self.function(*tensors)
        if not self.dtypes:
            return []
        return [made] if self.single else list(made)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """Return the results for arrays, as arrays."""
        with entered(None):
            made = self.on_tensors(*map(self.wrap, arrays))
            return tuple(np.asarray(x) for x in made)

    def backward(self, count: int, places: Sequence[int], has: Sequence[bool]) -> Backward:
        """Return the function of arguments and gradients that gives gradients at places."""
        return Backward(self, count, places, has)


class Backward:
    """The gradients of a Python function, by running it under a tape."""

    def __init__(
        self, of: HostFunction, count: int, places: Sequence[int], has: Sequence[bool]
    ) -> None:
        self.of, self.count, self.places, self.has = of, count, list(places), list(has)

    def __call__(self, *arrays: object) -> tuple[Array, ...]:
        """Return the gradients of the arguments at the places."""
        with entered(None):
            inputs = [self.of.wrap(np.asarray(a)) for a in arrays[: self.count]]
            with GradientTape() as tape:
                tape.watch(inputs)
                made = [as_tensor(x) for x in self.of.on_tensors(*inputs)]
            given = iter(arrays[self.count :])
            weights = [as_tensor(np.asarray(next(given))) if h else None for h in self.has]
            kept = [(y, w) for y, w in zip(made, weights, strict=True) if w is not None]
            sources = [inputs[i] for i in self.places]
            found = tape.gradient([y for y, _ in kept], sources, [w for _, w in kept])
            return tuple(
                np.zeros(x.shape, x.dtype.numpy) if g is None else np.asarray(g)
                for g, x in zip(found, sources, strict=True)
            )


class EagerFunction(PyFunction):
    """A Python function of tensors, with a gradient."""

    def __init__(self, function: HostFunction) -> None:
        super().__init__(function, function.dtypes, pure=False)
        self.host = function
        self.type = "EagerPyFunc"

    def gradient(self, op: Operation, grads: Sequence[object], emit: object) -> Sequence[object]:
        """Add the node that runs the function under a tape."""
        if not self.host.is_smooth:
            return (None,) * len(op.inputs)
        graph: Graph = op.graph
        places = [i for i, x in enumerate(op.inputs) if x.spec.dtype.kind in "fc"]
        has = [g is not None for g in grads]
        backward = self.host.backward(len(op.inputs), places, has)
        rows = [op.inputs[i].spec.dtype for i in places]
        kind = PyFunction(backward, rows, pure=True)
        specs = [op.inputs[i].spec for i in places]
        given = [graph.owned(g) for g in grads if g is not None]
        made = graph.add(kind, [*op.inputs, *given], specs=specs).outputs
        found: list[object] = [None] * len(op.inputs)
        for place, grad in zip(places, made, strict=True):
            found[place] = grad
        return found


def add_function(
    graph: Graph, function: HostFunction, inputs: Sequence[Tensor], name: str | None
) -> list[GraphTensor]:
    """Add a Python function to a graph; return its outputs."""
    return add(graph, EagerFunction(function), inputs, name)
