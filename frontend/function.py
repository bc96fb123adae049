"""`function`: Python that is traced into a graph once for each kind of arguments.

    @function
    def step(x, training=True): ...

Tensors are traced by element type and shape, everything else by its value (objects by their
identity). What was traced is kept; `explain` says why each trace but the first was made.
"""

from __future__ import annotations

import functools
import inspect
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import GraphError
from ..ir.collection import paused
from . import nest
from .bound import Bound, call_with, describe, spec_for
from .concrete import ACTIVE, ConcreteFunction
from .context import STATE, entered
from .func_graph import FuncGraph
from .graph import Graph, GraphTensor
from .origin import short, user_line
from .staged import Staged
from .tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from .symbols import DimOption, ShapeOption


class Settings:
    """What holds for all functions of the process."""

    run_eagerly = False


def run_functions_eagerly(value: bool) -> None:
    """Let functions run their Python each time they are called, for debugging."""
    Settings.run_eagerly = bool(value)


def init_scope() -> Any:
    """Leave all traces for a while: what is inside runs at once, or goes to a graph around."""
    context = STATE.context
    while isinstance(context, FuncGraph):
        context = context.outer
    return entered(context)


class Function:
    """A Python function that runs as a graph."""

    graph_class: type[FuncGraph] = FuncGraph
    tensor_class: type[GraphTensor] = GraphTensor

    def __init__(
        self,
        python_function: Callable[..., Any],
        *,
        input_signature: Sequence[Any] | None = None,
        reduce_retracing: bool = False,
    ) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.input_signature = input_signature
        self.reduce_retracing = reduce_retracing
        self.signature = inspect.signature(python_function)
        self.cache: dict[Any, ConcreteFunction] = {}
        self.made_variables = False
        self.traced = 0
        self.reasons: list[str] = []
        self._tracing: set[Any] = set()
        self._ready: dict[Any, tuple[ConcreteFunction, Staged]] = {}
        """Compiled graphs by types and shapes of arguments that are all tensors."""
        self._bound: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()

    @property
    def label(self) -> str:
        """Return the function's name."""
        return getattr(self.python_function, "__name__", "function")

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return the method of an object, with traces of its own."""
        if instance is None:
            return self
        found = self._bound.get(instance)
        if found is None:
            weak, function = weakref.ref(instance), self.python_function

            @functools.wraps(function)
            def method(*args: Any, **kwargs: Any) -> Any:
                return function(weak(), *args, **kwargs)

            parameters = list(self.signature.parameters.values())[1:]
            method.__signature__ = self.signature.replace(parameters=parameters)  # type: ignore[attr-defined]
            found = type(self)(
                method,
                input_signature=self.input_signature,
                reduce_retracing=self.reduce_retracing,
            )
            self._bound[instance] = found
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph for these arguments, which is made if there is none."""
        if not kwargs and not STATE.busy and not Settings.run_eagerly:
            try:
                arrays = [x._array for x in args if x.direct]
                key = tuple([(x.dtype, x.shape) for x in arrays])
            except AttributeError:
                return self.call(args, kwargs)
            known = self._ready.get(key) if len(arrays) == len(args) else None
            if known is not None:
                return known[0].packed(known[1].run(ACTIVE[-1], arrays))
        return self.call(args, kwargs)

    def call(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Find or make the trace for arguments, and run it."""
        if Settings.run_eagerly:
            return self.python_function(*args, **kwargs)
        bound = self.bind(args, kwargs)
        concrete = self.concrete(bound)
        made = concrete.call([x for x in bound.leaves if isinstance(x, Tensor)])
        if not kwargs and all(isinstance(x, Tensor) and x.direct for x in args):
            arrays = [x._array for x in args]
            compiled = concrete.compiled.get(tuple(x.shape for x in arrays))
            if isinstance(compiled, Staged) and not concrete.graph.captured:
                self._ready[tuple([(x.dtype, x.shape) for x in arrays])] = concrete, compiled
        return made

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Bound:
        """Return the arguments by the parameters of the function, arrays as tensors."""
        try:
            found = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"Binding inputs to function {self.label!r} failed due to `{error}`"
            ) from None
        found.apply_defaults()
        arguments = dict(found.arguments)
        names = list(arguments)
        for name, declared in zip(names, self.input_signature or (), strict=False):
            arguments[name] = self._declared(declared, arguments[name])
        return Bound(self, arguments)

    def _declared(self, declared: Any, value: Any) -> Any:
        """Return an argument in the structure that a signature declares, its parts as tensors."""
        spec = spec_for(declared)
        if spec is not None:
            convert = getattr(self, "to_tensor", as_tensor)
            return value if spec_for(value) is not None else convert(value, spec.dtype)
        mapped = isinstance(declared, Mapping) and isinstance(value, Mapping)
        if mapped and declared.keys() == value.keys():
            return {key: self._declared(each, value[key]) for key, each in declared.items()}
        listed = isinstance(declared, list | tuple) and isinstance(value, list | tuple)
        if listed and len(declared) == len(value):
            pairs = zip(declared, value, strict=True)
            return nest.pack_level(value, [self._declared(d, v) for d, v in pairs])
        return value

    def concrete(self, bound: Bound) -> ConcreteFunction:
        """Return the trace for arguments, made now if there is none."""
        if self.input_signature is not None:
            bound.take_signature(self.input_signature)
        key = bound.key()
        found = self.cache.get(key) or self.cache.get((key, id(STATE.context)))
        if found is None and self.reduce_retracing:
            found = next((c for c in self.cache.values() if c.accepts(bound)), None)
            if found is None and self.cache:
                bound.relax(list(self.cache.values())[-1].bound)
                key = bound.key()
        if found is None:
            self.reasons.append(self.reason(bound))
            if key in self._tracing:
                raise GraphError(
                    f"function {self.label!r} calls itself with arguments like its own, expected a"
                    " Python value that ends it",
                    location=short(user_line()),
                    hint="a trace has no end then; write what depends on a tensor as while_loop",
                )
            self._tracing.add(key)
            try:
                found = self.trace(bound)
            finally:
                self._tracing.discard(key)
            local = any(not tensor.eager for tensor in found.graph.captures)
            self.cache[(key, id(STATE.context)) if local else key] = found
        return found

    @paused()
    def trace(self, bound: Bound) -> ConcreteFunction:
        """Trace; once more if variables were made, which must not happen again."""
        first = not self.traced or self.made_variables is None
        concrete = self._trace(bound, may_create=first)
        if concrete.graph.created:
            self.made_variables = True
            concrete = self._trace(bound, may_create=False)
        return concrete

    def _trace(self, bound: Bound, *, may_create: bool) -> ConcreteFunction:
        outer = STATE.context if isinstance(STATE.context, Graph) else None
        graph = self.graph_class(f"function {self.label!r}", outer, self.tensor_class)
        graph.may_create = may_create
        self.traced += 1
        with entered(graph):
            arguments = bound.enter(graph)
            made = call_with(self.python_function, self.signature, arguments)
            made = self.returned(made)
            leaves = nest.flatten(made)
            outputs = [self._output(graph, x) for x in leaves]
        graph.finish([x for x in outputs if x is not None])
        return ConcreteFunction(self, bound, graph, made, outputs)

    def returned(self, made: Any) -> Any:
        """Return what the Python function gave as a structure of what becomes tensors."""
        return made

    def _output(self, graph: FuncGraph, value: Any) -> GraphTensor | None:
        """Return what the function returns as an output of its graph."""
        try:
            return None if value is None else graph.output(value)
        except (TypeError, ValueError):
            if isinstance(value, Tensor):
                raise
            raise TypeError(
                f"function {self.label!r} returns {value!r}, expected tensors, what becomes one, "
                "or None"
            ) from None

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the trace for arguments, of which specs may stand for tensors."""
        if not args and not kwargs and self.input_signature is not None:
            args = tuple(self.input_signature)
        return self.concrete(self.bind(args, kwargs))

    def save(
        self,
        path: str | os.PathLike[str],
        *args: Any,
        frozen: bool = False,
        shapes: Mapping[str, ShapeOption] | None = None,
        dims: Mapping[str, DimOption] | None = None,
        **kwargs: Any,
    ) -> None:
        """Compile the trace for arguments (specs may stand for tensors) into a library.

        See `ConcreteFunction.save`. With `frozen`, sizes may be open: `shapes={"x": ("N", 4)}`
        names them, or they are called `x_0`, and `dims={"N": (1, 64)}` bounds them.
        """
        from .ahead import Sizes  # noqa: PLC0415  (only who saves needs it)

        sizes = Sizes(shapes or {}, dims or {})
        self.get_concrete_function(*args, **kwargs).save(path, frozen=frozen, sizes=sizes)

    def experimental_get_tracing_count(self) -> int:
        """Return how many traces there are."""
        return self.traced

    def reason(self, bound: Bound) -> str:
        """Return why these arguments are traced."""
        line = short(user_line())
        if not self.cache:
            return f"{line}: first call"
        last = list(self.cache.values())[-1].bound
        for name, old, new in last.compared(bound):
            if old != new:
                return f"{line}: argument {name!r}: {describe(new)} instead of {describe(old)}"
        return f"{line}: the arguments have another structure"

    def explain(self) -> list[str]:
        """Return a sentence for each trace: what was new, and at which line.

        Behind them, one for each trace that is run operation by operation: why it is not compiled.
        """
        graphs = [concrete.graph for concrete in self.cache.values()]
        refused = [f"{g.name} is not compiled: {g.refusal}" for g in graphs if g.refusal]
        return [*self.reasons, *refused]

    def pretty_printed_concrete_signatures(self) -> str:
        """Return the signatures of all traces."""
        return "\n".join(str(c) for c in self.cache.values())


def function(python_function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Let a Python function run as a graph; a decorator, with or without options."""
    if python_function is None:
        return lambda f: Function(f, **options)
    return Function(python_function, **options)
