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
from ..ops.array_ops import broadcast_to, concat, reshape, shape, size, stack, transpose
from ..ops.creation import one_hot, ones_like, range_, zeros, zeros_like
from ..ops.math_ops import REDUCTIONS, add_n
from .flow import GradientTape, gradients
from .loops import map_fn
from .state import Variable, get_default_graph


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


def between(
    ys: Sequence[GraphTensor], x: GraphTensor, along: Callable[[object], bool] = lambda _: True
) -> list[Operation]:
    """Return the operations by which tensors depend on another one, in their order.

    They lead on by those of their results that `along` says yes to.
    """
    depends, wanted = {x.edge}, {y.edge for y in ys}
    found = []
    for op in x.graph.operations:
        if depends.intersection(t.edge for t in op.inputs) and any(map(along, op.outputs)):
            depends.update(t.edge for t in op.outputs if along(t))
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


def open_rows(
    tape: GradientTape, target: Any, sources: Sequence[Any], unconnected: object, *, batch: bool
) -> list[TfTensor | None]:
    """Return the derivatives of each element of a target by sources, by a loop over elements.

    Only the run knows how many there are. With `batch` an element is one of each example's.
    What leads from the sources to the target stands in the loop once more: the way back goes
    through operations of one graph.
    """
    y = known_in(target.graph, target)
    assert isinstance(y, GraphTensor), "tensors that were computed have sizes"
    ways = [_ways(tape, y, source) for source in sources]
    starts = list({x.edge: x for way in ways for x in way}.values())
    leads = {op for x in starts for op in between([y], x, tape.knows)}
    ops = [op for op in y.graph.operations if op in leads]
    state = next((op.type for op in ops if op.kind.stateful), None)
    if state is not None:
        raise NotImplementedError(
            f"jacobian: the target is {y.spec} and depends on its source through {state}, which "
            "has a state; expected one whose sizes are known before the run"
        )
    sizes = shape(y)[1:] if batch else shape(y)
    count = REDUCTIONS["reduce_prod"](sizes)

    def row(place: TfTensor) -> list[TfTensor]:
        graph = get_default_graph()
        given = {x.edge: graph.owned(x) for x in starts}
        seed = reshape(one_hot(place, count, dtype=y.dtype), sizes)
        weights = broadcast_to(seed, shape(y)) if batch else seed
        end = again_in(graph, ops, given)[y.edge]
        found = gradients(end, list(given.values()), weights, unconnected_gradients="zero")
        return [reshape(g, [-1]) for g in found]

    rows = dict(zip((x.edge for x in starts), _mapped(row, count, starts), strict=True))
    filled = batch or wants_zeros(unconnected)
    return [
        _as_jacobian([rows[x.edge] for x in way], y, convert(source), batch=batch, filled=filled)
        for way, source in zip(ways, sources, strict=True)
    ]


def _mapped(row: Callable[[TfTensor], object], count: TfTensor, starts: list[GraphTensor]) -> Any:
    """Return what a function of an element's place gives, of all places."""
    types = [x.dtype for x in starts]
    return map_fn(row, range_(count), fn_output_signature=types) if starts else []


def _ways(tape: GradientTape, y: GraphTensor, source: Any) -> list[GraphTensor]:
    """Return the tensors by which a target depends on a source: what was read of a variable."""
    tensors = [source]
    if isinstance(source, Variable):
        uses = tape.uses_of(source)
        others = [use.name for use in uses if use.name != "ReadVariableOp"]
        if others:
            raise NotImplementedError(
                f"jacobian: the target is {y.spec}, and {others[0]} reads the variable it is to "
                "be differentiated by inside of itself; expected sizes known before the run"
            )
        tensors = [read for use in uses for read in use.results]
    inside = [x for x in (known_in(y.graph, x) for x in tensors) if isinstance(x, GraphTensor)]
    leads = [x for x in inside if x.edge is y.edge or between([y], x, tape.knows)]
    return [x for x, grad in zip(leads, gradients(y, leads), strict=True) if grad is not None]


def _as_jacobian(
    parts: list[TfTensor], y: GraphTensor, x: TfTensor, *, batch: bool, filled: bool
) -> TfTensor | None:
    """Return rows, each of which is like the source, with the axes of target and source."""
    if not parts and not filled:
        return None
    first = 1 if batch else 0
    whole = concat([shape(y), shape(x)[first:]], 0)
    if not parts:
        return zeros(whole, x.dtype)
    rows = add_n(parts)
    if batch:
        elements = [REDUCTIONS["reduce_prod"](shape(v)[1:]) for v in (y, x)]
        examples = reshape(rows, [elements[0], shape(y)[0], elements[1]])
        rows = transpose(examples, [1, 0, 2])
    made = reshape(rows, whole)
    made.set_shape(dressed(y).shape.concatenate(x.shape[first:]))
    return made


def recompute_grad(f: Callable[..., object]) -> Callable[..., object]:
    """Return a function that is computed once more for its gradient, which keeps nothing of it.

    Compiled steps do so too: what is computed again is not taken for the same.
    """

    @wraps(f)
    def run(*args: object, **options: object) -> object:
        @custom_gradient
        def kept(*args: object) -> tuple[object, Callable[..., object]]:
            def gradient(*grads: object, variables: Sequence[object] = ()) -> object:
                behind = next(g for g in grads if g is not None)
                given = [nest.map_structure(lambda x: again(x, behind), arg) for arg in args]
                with GradientTape() as tape:
                    tape.watch(given)
                    made = f(*given, **options)
                of_args, of_variables = tape.gradient(made, [given, list(variables)], grads)
                return (of_args, of_variables) if variables else of_args

            return f(*args, **options), gradient

        return kept(*args)

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
    weights, along the direction, is what is wanted. So nothing but tapes is needed. The weights are
    1: a slope without an end is left out of a gradient where they are 0.
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
        weights = ones_like(result)
        with GradientTape() as outer:
            outer.watch(weights)
            found = self._tape.gradient(result, self._primals, weights)
            pairs = zip(found, self._tangents, strict=True)
            parts = [(convert(g), t) for g, t in pairs if g is not None]
        if not parts:
            return zeros_like(result) if wants_zeros(unconnected) else None
        return outer.gradient([g for g, _ in parts], weights, [t for _, t in parts], "zero")


GradientTape.OPEN_ROWS = open_rows
