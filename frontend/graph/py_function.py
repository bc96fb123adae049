"""Python functions in graphs: called with computed tensors, differentiated by a tape.

The node calls Python when the graph runs, under a tape if its gradient may be wanted; that is
another such node, which goes back through the tape of the call with the same arguments. They are of
this process, and have no form outside of it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.op import Array
from ...ir.ops.host.python_step import PythonCall
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec
from ..eager.tape import GradientTape
from ..eager.tensor import Tensor, as_tensor
from ..values.arrays import to_array
from ..values.context import entered
from .control_flow import add
from .graph import Graph, GraphTensor, Operation
from .kinds import PyFunction

KEPT = 64
"""How many calls of a function are kept for their gradients: those of a loop come all at its end.

A gradient of one that was let go calls the function once more.
"""


@dataclass(eq=False)
class TapedCall:
    """A call of a function that has been made, and the tape of it."""

    inputs: list[Tensor]
    results: list[Tensor]
    tape: GradientTape
    back: list[Backward] = field(default_factory=list)
    """What has gone back through it."""

    def is_of(self, arrays: Sequence[Array]) -> bool:
        """Say whether it had these arguments, bit by bit."""
        return all(map(same_bits, map(np.asarray, self.inputs), arrays))


def same_bits(x: Array, y: Array) -> bool:
    """Say whether arrays have the same elements, also where they are no numbers."""
    if x.dtype.kind == "O" or x.shape != y.shape:
        return np.array_equal(x, y)
    return x.tobytes() == y.tobytes()


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
        is_pure: bool = False,
    ) -> None:
        self.function, self.dtypes, self.is_pure = function, tuple(dtypes), is_pure
        self.single, self.wrap, self.is_smooth = single, wrap, is_smooth
        specs = [TensorSpec(dtype, None) for dtype in self.dtypes]
        call = self.kept_call if is_smooth else self
        self.call = PythonCall(call, specs, self.backward if is_smooth else None)
        """What stands for it where a run is recorded."""
        self.ways_back = 0
        """How many functions may go back through each of its calls."""
        self.calls: deque[TapedCall] = deque(maxlen=KEPT)
        """Those whose gradients may be taken yet, in their order."""
        self.lock = threading.Lock()

    def on_tensors(self, *tensors: object) -> list[object]:
        """Return the results for tensors."""
        made = self.function(*tensors)
        if not self.dtypes:
            return []
        return [made] if self.single else list(made)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """Return the results for arrays, as arrays."""
        if self.ways_back:
            return self.kept_call(*arrays)
        with entered(None):
            made = self.on_tensors(*map(self.wrap, arrays))
            pairs = zip(made, self.dtypes, strict=True)
            return tuple(to_array(x) if d.kind == "s" else np.asarray(x) for x, d in pairs)

    def kept_call(self, *arrays: Array) -> tuple[Array, ...]:
        """Return the results for arrays; the call is kept, for its gradient may be wanted."""
        with entered(None):
            call = self.taped(arrays)
        with self.lock:
            self.calls.append(call)
        return tuple(np.asarray(x) for x in call.results)

    def taped(self, arrays: Sequence[Array]) -> TapedCall:
        """Call the function under a tape."""
        inputs = [self.wrap(np.array(a)) for a in arrays]
        with GradientTape(persistent=True) as tape:
            tape.watch(inputs)
            made = [as_tensor(x) for x in self.on_tensors(*inputs)]
        return TapedCall(inputs, made, tape)

    def call_for(self, back: Backward, arrays: Sequence[Array]) -> TapedCall:
        """Return the first call with these arguments that one has not gone back through yet."""
        with self.lock:
            kept = (x for x in self.calls if back not in x.back and x.is_of(arrays))
            found = next(kept, None)
            if found is not None:
                found.back.append(back)
                if len(found.back) == self.ways_back:
                    self.calls.remove(found)
        return self.taped(arrays) if found is None else found

    def backward(self, count: int, places: Sequence[int], has: Sequence[bool]) -> Backward:
        """Return the function of arguments and gradients that gives gradients at places."""
        self.ways_back += 1
        return Backward(self, count, places, has)


class Backward:
    """The gradients of a Python function, by the tape under which it was called."""

    def __init__(
        self, of: HostFunction, count: int, places: Sequence[int], has: Sequence[bool]
    ) -> None:
        self.of, self.count, self.places, self.has = of, count, list(places), list(has)

    def __call__(self, *arrays: object) -> tuple[Array, ...]:
        """Return the gradients of the arguments at the places."""
        with entered(None):
            call = self.of.call_for(self, [np.asarray(a) for a in arrays[: self.count]])
            given = iter(arrays[self.count :])
            weights = [as_tensor(np.asarray(next(given))) if h else None for h in self.has]
            kept = [(y, w) for y, w in zip(call.results, weights, strict=True) if w is not None]
            sources = [call.inputs[i] for i in self.places]
            found = call.tape.gradient([y for y, _ in kept], sources, [w for _, w in kept])
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
        """Add the node that goes back through the tape of the call."""
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
        with graph.control_dependencies([op]):  # (its tape is there then)
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
