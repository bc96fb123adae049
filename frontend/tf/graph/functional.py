"""Functions of functions by TensorFlow's names, and derivatives other than those of a tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import wraps
from typing import Any

from ....ir.ops.gradient import Again
from ...eager.tape import wants_zeros
from ...eager.tensor import Tensor, apply
from ...graph.gradients import Backward, known_in
from ...graph.graph import Graph, GraphTensor, Operation
from ...values import nest
from ...values.context import STATE
from ..core.bridge import TfTensor, custom_gradient, dressed
from ..core.values import convert
from ..ops.array_ops import concat, reshape, shape, size, stack
from ..ops.creation import range_, zeros_like
from .flow import GradientTape, gradients
from .loops import map_fn
from .state import get_default_graph


def hessians(ys: object, xs: object, **_: object) -> list[TfTensor]:
    """Return the second derivatives of a number by each element."""
    made = []
    for x in nest.flatten(xs):
        if isinstance(x, GraphTensor) and not x.spec.is_static:
            targets = nest.flatten(ys)
            source = known_in(targets[0].graph, x)
            assert isinstance(source, GraphTensor), "a tensor of a graph is one inside, too"
            made.append(_open_hessian(targets, dressed(source)))
            continue
        [first] = gradients(ys, x)
        if first is None:
            raise ValueError("None values not supported.")
        flat = reshape(first, [-1])
        rows = [gradients(flat[i], x)[0] for i in range(int(flat.shape.known()[0]))]
        if any(row is None for row in rows):
            raise ValueError("None values not supported.")
        dims = x.shape.as_list()
        made.append(reshape(stack(rows), [*dims, *dims]))
    return made


def between(ys: Sequence[GraphTensor], x: GraphTensor) -> list[Operation]:
    """Return the operations by which tensors depend on another one, in their order."""
    depends, wanted = {x.edge}, {y.edge for y in ys}
    found = []
    for op in x.graph.operations:
        if depends.intersection(t.edge for t in op.inputs):
            depends.update(t.edge for t in op.outputs)
            found.append(op)
    made: list[Operation] = []
    for op in reversed(found):
        if wanted.intersection(t.edge for t in op.outputs):
            wanted.update(t.edge for t in op.inputs)
            if isinstance(op.kind, Backward):
                wanted.update(t.edge for t in op.kind.forward.outputs)
            made.append(op)
    return made[::-1]


def again_in(
    graph: Graph, ops: Sequence[Operation], given: dict[GraphTensor, GraphTensor]
) -> dict[GraphTensor, GraphTensor]:
    """Add operations to another graph inside, and return what stands for which tensor there."""
    inside, same = dict(given), dict[Operation, Operation]()
    for op in ops:
        kind, attributes = op.kind, dict(op.attributes)
        if isinstance(kind, Backward):
            forward = same[kind.forward]
            kind = Backward(forward, kind.wanted, kind.of_variables)
            attributes["forward"] = forward
        inputs = [inside[t.edge] if t.edge in inside else graph.owned(t) for t in op.inputs]
        same[op] = made = graph.add(kind, inputs, attributes)
        inside.update(zip((t.edge for t in op.outputs), made.outputs, strict=True))
    return inside


def _open_hessian(ys: Sequence[GraphTensor], x: TfTensor) -> TfTensor:
    """Return the second derivatives by a tensor whose size only the run knows.

    A loop gives one row after the other. Inside of it stands what leads to the number: the
    way back goes through operations of one graph.
    """
    assert isinstance(x, GraphTensor), "tensors that were computed have sizes"
    ops = between(ys, x)

    def row(place: TfTensor) -> TfTensor:
        graph = get_default_graph()
        start = graph.owned(x)
        inside = again_in(graph, ops, {x.edge: start})
        [first] = gradients([inside[y.edge] for y in ys if y.edge in inside], start)
        second = None if first is None else gradients(reshape(first, [-1])[place], start)[0]
        if second is None:
            raise ValueError("None values not supported.")
        return reshape(second, [-1])

    rows = map_fn(row, range_(size(x)), fn_output_signature=x.dtype)
    return reshape(rows, concat([shape(x), shape(x)], 0))


def recompute_grad(f: Callable[..., object]) -> Callable[..., object]:
    """Return a function that is computed once more for its gradient, which keeps nothing of it.

    Compiled steps do so too: what is computed again is not taken for the same.
    """

    @wraps(f)
    @custom_gradient
    def run(*args: object) -> Any:
        def gradient(*grads: object, variables: Any = ()) -> object:
            behind = next(g for g in grads if g is not None)
            given = [nest.map_structure(lambda x: again(x, behind), arg) for arg in args]
            with GradientTape() as tape:
                tape.watch(given)
                made = f(*given)
            of_args, of_variables = tape.gradient(made, [given, list(variables)], grads)
            return (of_args, of_variables) if variables else of_args

        return f(*args), gradient

    return run


def again(x: object, behind: object) -> object:
    """Return a tensor, for what is computed from it once more when another one is there."""
    return dressed(apply(Again, convert(x), behind)) if isinstance(x, Tensor) else x


def grad_pass_through(f: Callable[..., object]) -> Callable[..., object]:
    """Return a function of one argument whose gradient is that of doing nothing."""

    @wraps(f)
    @custom_gradient
    def run(x: object) -> Any:
        def gradient(grad: object, variables: Sequence[object] = ()) -> Any:
            return (grad, [None for _ in variables]) if variables else grad

        return f(x), gradient

    return run


class _Forward(GradientTape):
    """The tape of an accumulator."""

    def __init__(self) -> None:
        super().__init__(persistent=True, watch_accessed_variables=False)


class ForwardAccumulator:
    """Gives derivatives along a direction: of what is computed inside, by `primals`.

    The gradient by `primals` is linear in the weights of the results; its gradient by those
    weights, along the direction, is what is wanted. So nothing but tapes is needed.
    """

    def __init__(self, primals: object, tangents: object) -> None:
        self._primals = nest.flatten(primals)
        self._tangents = [convert(t, p.dtype) for p, t in self._pairs(tangents)]
        self._tape = _Forward()
        self._around: list[_Forward] = []

    def _pairs(self, tangents: object) -> list[tuple[Any, object]]:
        flat = nest.flatten(tangents)
        if len(flat) != len(self._primals):
            raise ValueError(f"{len(self._primals)} primals, but {len(flat)} tangents")
        return list(zip(self._primals, flat, strict=True))

    def __enter__(self) -> ForwardAccumulator:
        self._around = [x for x in STATE.recorders if isinstance(x, _Forward)]
        self._tape.__enter__()
        self._tape.watch(self._primals)
        return self

    def __exit__(self, *error: Any) -> None:
        self._tape.__exit__(*error)

    def jvp(self, primals: object, unconnected_gradients: object = "none") -> object:
        """Return the derivative of each result along the direction.

        The accumulators around this one follow it, also where they were left meanwhile.
        """
        with ExitStack() as entered:
            for tape in self._around:
                if not tape.is_recording:
                    entered.enter_context(tape)
            found = [self._along(y, unconnected_gradients) for y in nest.flatten(primals)]
        return nest.pack(primals, found)

    def _along(self, result: object, unconnected: object) -> object:
        weights = zeros_like(result)
        with GradientTape() as outer:
            outer.watch(weights)
            found = self._tape.gradient(result, self._primals, weights)
            pairs = zip(found, self._tangents, strict=True)
            parts = [(convert(g), t) for g, t in pairs if g is not None]
        if not parts:
            return weights if wants_zeros(unconnected) else None
        return outer.gradient([g for g, _ in parts], weights, [t for _, t in parts], "zero")
