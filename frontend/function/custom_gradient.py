"""`custom_gradient`: a function with a gradient of its own, at once and in graphs.

Eagerly the gradient stays a Python function that tapes call. In a graph it is traced at once,
with what it uses from outside as further operands of `gv.with_gradient`, so that it works
wherever the graph is run, compiled or differentiated.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import update_wrapper
from inspect import signature
from itertools import count
from types import MethodType
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np
from xdsl.ir import SSAValue

from ...errors import printed_as
from ...ir.compose.maker import Maker
from ...ir.gradient.tape import Tape
from ...ir.op import REGISTRY, Call, Op
from ...ir.ops.control.state import CheckNumerics, Require
from ...ir.ops.gradient import GRADIENTS, WithGradient
from ...ir.types.dtypes import DType
from ..eager.recorded import Recorded
from ..eager.tape import TapeError
from ..eager.tensor import Tensor, apply, as_tensor
from ..graph.control_flow import traced
from ..graph.frame import Frame, NotStageableError, Store
from ..graph.func_graph import PLACEHOLDER, CallGraph, FuncGraph, has_effect
from ..graph.gradients import node_backward
from ..graph.graph import Graph
from ..graph.kinds import NoGradientError
from ..values import nest
from ..values.context import STATE, Emitter, Use, record, recording
from .variable import Variable

Made = TypeVar("Made")
_NUMBERS = count(1)


@printed_as(ValueError)
class GradientCountError(TapeError, ValueError):
    """A gradient function gives more or fewer gradients than there are operands."""


def custom_gradient(
    function: Callable[..., tuple[Made, Callable[..., Any]]],
) -> Callable[..., Made]:
    """Give a function its own gradient (a decorator).

    The function returns its result and a function that makes the gradients of its arguments
    from those of its results:

        @custom_gradient
        def f(x):
            return x * x, lambda grad: grad * 3.0

    One that has an argument `results` is given the results besides: they depend on the arguments
    by this gradient, where what the function made without recorders' knowledge does not.
    """
    return WithOwnGradient(function)


class WithOwnGradient(Generic[Made]):
    """A function with a gradient of its own; in a class, a method."""

    def __init__(self, function: Callable[..., tuple[Made, Callable[..., Any]]]) -> None:
        update_wrapper(self, function)
        self.function = function

    def __get__(self, instance: object, owner: object = None) -> WithOwnGradient[Made]:
        """Return the method of an object."""
        return self if instance is None else WithOwnGradient(MethodType(self.function, instance))

    def __call__(self, *arguments: object, **options: object) -> Made:
        """Run the function; who goes back asks its gradient."""
        function = self.function
        name = getattr(function, "__name__", "a function")
        at_once = STATE.context is None
        operands = [
            x if at_once and isinstance(x, Variable) else as_tensor(x)
            for x in nest.flatten(arguments)
        ]
        seen = Seen()
        with recording(seen):
            made, rule = function(*nest.pack(arguments, operands), **options)
        given = [as_tensor(r) for r in nest.flatten(made)]
        used = [v for v in seen.variables if not any(v is x for x in operands)]
        if used and not takes(rule, "variables"):
            raise TypeError(
                f"the gradient of {name} must accept keyword argument 'variables', since the "
                f"function uses variables: {used}"
            )

        def gradients(*values: object) -> list[object]:
            """Return the gradients, of those of the results and maybe these behind them."""
            grads, again = values[: len(given)], values[len(given) :]
            options = {"results": nest.pack(made, again)} if takes(rule, "results") else {}
            more: Sequence[object] = ()
            if used:
                found, more = rule(*grads, variables=used, **options)
            else:
                found = rule(*grads, **options)
            flat = list(found) if isinstance(found, list | tuple) else [found]
            of_arguments = nest.wholes(arguments)
            if len(flat) != len(of_arguments):
                raise GradientCountError(
                    f"the gradient of {name} gave {len(flat)} values, expected {len(of_arguments)}"
                )
            return [
                *(g for x, each in zip(of_arguments, flat, strict=True) for g in _parts(x, each)),
                *more,
            ]

        graph = _graph_of(given)
        if graph is not None:
            read = [variable.read_value() for variable in used]
            with _TRACED.within(getattr(function, "__func__", function)) as depth:
                way_back = gradients if depth <= DEEPEST else _too_deep(name)
                taken = [*map(as_tensor, operands), *read]
                again = takes(rule, "results")
                results = _staged(graph, name, way_back, taken, given, again=again)
        else:
            results = [r.alias() for r in given]
            record(name, [*operands, *used], results, lambda *grads: gradients(*grads, *results))
        packed: Made = nest.pack(made, results)
        return packed


def _parts(argument: object, gradient: object) -> list[object]:
    """Return the gradients of the tensors of an argument, given that of the argument."""
    if not isinstance(argument, nest.TensorGroup):
        return [gradient]
    if gradient is None:
        return [None for _ in argument.components()]
    return argument.gradients_of_parts(gradient)


DEEPEST = 3
"""So many times a gradient that calls its own function is gone through in a graph."""


class WaysBack(threading.local):
    """The functions whose gradients are being traced in this thread, each within the one before."""

    def __init__(self) -> None:
        self.stack: list[object] = []

    @contextmanager
    def within(self, function: object) -> Iterator[int]:
        """Say how often a function is there, with this time."""
        self.stack.append(function)
        try:
            yield sum(each is function for each in self.stack)
        finally:
            self.stack.pop()


_TRACED = WaysBack()


def _too_deep(name: str) -> Callable[..., NoReturn]:
    """Return the gradient of a function that stands too deep within its own gradients."""

    def refuse(*grads: object) -> NoReturn:
        raise NoGradientError(
            f"No gradient defined for {name}: in a graph, its own gradient is gone through "
            f"{DEEPEST} times"
        )

    return refuse


class Lifting:
    """Appends to a program of which no more is known than how that is done.

    Constants stay arrays until an operation takes them: who asks for sizes finds numbers.
    """

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit

    def value(self, x: object) -> object:
        """Return a value of the program."""
        return self.emit(REGISTRY["gv.constant"], value=x) if isinstance(x, np.ndarray) else x

    def __call__(self, op: type[Op], *operands: object, **attributes: object) -> Any:
        """Append an operation; refuse what is to hold, of which such a program takes no note."""
        if op in (Require, CheckNumerics):
            raise NotStageableError(
                "a requirement in a gradient of a program's own, in a choice or a loop"
            )
        return self.emit(op, *map(self.value, operands), **attributes)


class LiftingFrame(Frame):
    """A run that appends so."""

    def host(
        self, function: Callable[..., object], inputs: Sequence[object], dtypes: Sequence[DType]
    ) -> Sequence[object]:
        """Refuse: such a program has no steps that Python carries out."""
        raise NotStageableError("a Python function in a gradient of a program's own")


def run_gradient(inner: FuncGraph, emit: Emitter, values: Sequence[object]) -> Sequence[object]:
    """Return the gradients for values where these are: of a graph, of a program, or arrays."""
    tensors = [x for x in values if isinstance(x, Tensor)]
    graph = _graph_of(tensors) if tensors else None
    if graph is not None:
        return _called(inner, graph, values)
    frame = getattr(emit, "frame", None)
    if isinstance(frame, Frame):
        return inner.whole_plan().run(frame, values)
    if any(isinstance(x, SSAValue) for x in values):
        lifting = Lifting(emit)
        return [*map(lifting.value, inner.run(LiftingFrame(Store(), lifting), values))]
    # What recordings do not see of complex numbers, they are told of.
    tape = getattr(emit, "__self__", None)
    recorded = Recorded.of(tape) if isinstance(tape, Tape) else None
    return inner.run(Frame(Store(), emit, recorded=recorded), values)


def _called(inner: FuncGraph, graph: Graph, values: Sequence[object]) -> Sequence[object]:
    """Add a call of a traced gradient to a graph; return its results."""
    node = graph.add(CallGraph(inner), [graph.owned(as_tensor(x)) for x in values])
    if STATE.recorders:
        backward, variables = node_backward(node)
        record(node.type, [*node.inputs, *variables], node.outputs, backward)
    return node.outputs


class Seen:
    """What collects the variables that are read."""

    def __init__(self) -> None:
        self.variables: list[Any] = []

    def record(self, use: Use) -> None:
        """See one use, and forget it."""

    def accessed(self, variable: object) -> None:
        """Collect a variable that can be trained."""
        if getattr(variable, "trainable", True) and all(v is not variable for v in self.variables):
            self.variables.append(variable)

    def knows(self, value: object) -> bool:
        """Say that no gradients are wanted here."""
        return False


def takes(rule: Callable[..., object], name: str) -> bool:
    """Say whether a gradient function has an argument of a name."""
    try:
        return name in signature(rule).parameters
    except (TypeError, ValueError):  # a function of another language: it says nothing of itself
        return False


def _graph_of(values: Sequence[Tensor]) -> Graph | None:
    """Return the graph that operations on values go to, None where they run at once."""
    context = STATE.context
    if context is None:
        context = next((x.home() for x in values if not x.eager), None)
    return context if isinstance(context, Graph) else None


def _staged(
    graph: Graph,
    name: str,
    gradients: Callable[..., list[object]],
    operands: Sequence[Tensor],
    results: Sequence[Tensor],
    *,
    again: bool,
) -> Sequence[Tensor]:
    """Return the results as an operation of a graph whose gradient is traced now.

    It is a function of the gradients of the results, and of these `again`, if they are asked for.
    """
    tree = [*results, *results] if again else [*results]
    specs = [r.spec for r in tree]
    try:
        inner, made = traced(f"the gradient of {name}", graph, gradients, specs, tree)
    except Exception as error:  # what its maker wrote raises: who asks for the gradient hears it
        return _entered(graph, name, (*results, *operands), len(results), _refusing(error))
    there = [g is not None for g in made]
    _read_outside(inner, name)
    captures = inner.captures
    _forget_outside(inner)

    def rule(call: Call, *grads: object) -> Sequence[object]:
        make = Maker(call.emit)
        filled = [
            make.filled(0, s.dtype, s.dims) if g is None else g
            for g, s in zip(grads, call.result_specs, strict=True)
        ]
        taken = call.operands[len(results) + len(operands) :]
        if again:
            taken = [*call.results, *taken]
        found = iter(run_gradient(inner, call.emit, [*filled, *taken]))
        of_operands = [next(found) if is_there else None for is_there in there]
        return [*[None] * len(results), *of_operands, *[None] * len(captures)]

    return _entered(graph, name, (*results, *operands, *captures), len(results), rule)


def _refusing(error: Exception) -> Callable[..., NoReturn]:
    """Return the rule of a gradient that is refused: who asks for it hears why."""

    def rule(call: Call, *grads: object) -> NoReturn:
        raise error

    return rule


def _entered(
    graph: Graph,
    name: str,
    values: Sequence[Tensor],
    count: int,
    rule: Callable[..., Sequence[object]],
) -> Sequence[Tensor]:
    """Return the first values as results of an operation that has a gradient by a rule."""
    key = f"{name}_{next(_NUMBERS)}"
    GRADIENTS[key] = rule
    weakref.finalize(graph, GRADIENTS.pop, key, None)
    out = apply(WithGradient, *values, results=count, rule=key)
    return out if isinstance(out, tuple) else (out,)


def _read_outside(inner: FuncGraph, name: str) -> None:
    """Let a traced gradient take the variables that it reads from outside."""
    for op in inner.operations:
        if op.type == "ReadVariableOp":
            owner = op.attributes["variable"]().owner()
            value, made = owner.read_value(), op.outputs[0]
            op.kind = PLACEHOLDER
            op.attributes = {"spec": made.spec}
            inner.captured[id(value)] = (value, made)
        elif has_effect(op) and not op.kind.is_python:
            raise TapeError(f"the gradient of {name} has an effect: node {op.name!r} ({op.type})")


def _forget_outside(inner: FuncGraph) -> None:
    """Let a traced gradient not keep alive the graph that it was traced in."""
    inner.outer = None
    inner.captured = {key: (value, value) for key, (_, value) in inner.captured.items()}
