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
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..codegen.compile import Options
from ..errors import GraphError, UnsupportedOp
from ..ir import Program
from ..ir.collection import paused
from ..ir.compositions import Maker
from ..ir.tensor import TensorSpec
from ..runtime.device_array import DeviceArray
from . import nest
from .bound import Bound, call_with, describe, spec_for, structure_key, value_key, within
from .compile import tag_of
from .context import STATE, accessed, entered, record, running_on
from .device import CPU
from .differentiate import is_smooth
from .execute import Frame, Plan, Store
from .func_graph import CallGraph, FuncGraph, must_run, touched_by
from .gradients import gradients, node_backward
from .graph import Graph, GraphTensor, dims_or_none
from .on_device import DeviceTensor, place_of, wanted_place
from .origin import short, user_line
from .recorded import unboxed
from .run_errors import InvalidArgumentError
from .staged import COMPILE_AFTER, HEAVY, LARGE, NotStageableError, Staged, Where, compiled_for
from .staged_gradient import Gradients
from .stepped import on_host
from .tape import GradientTape
from .tensor import Tensor, apply, as_tensor
from .variables import VariableState

if TYPE_CHECKING:
    from .ahead import Sizes
    from .symbols import DimOption, ShapeOption

PROCESS = Store()
"""The random draws of eager code and of functions called from it."""
ACTIVE: list[Store] = [PROCESS]
"""The store of the session that is running, innermost last."""


class TapeFrame(Frame):
    """A run in which tapes see every operation, and every variable that is read."""

    def present(self, variable: Any) -> Any:
        """Read through the Python object, which tapes know."""
        owner = variable.owner()
        return super().present(variable) if owner is None else owner.read_value()

    def host(
        self, function: Callable[..., Any], inputs: Sequence[Any], dtypes: Sequence[Any]
    ) -> Sequence[Any]:
        """Call a Python function with tensors, so that tapes see what it does."""
        seen = getattr(function, "on_tensors", None)
        if seen is None:
            return super().host(function, inputs, dtypes)
        made: Sequence[Any] = [as_tensor(x) for x in seen(*map(as_tensor, inputs))]
        return made

    def detached(self, value: Any) -> Any:
        """Return the same value as a tensor that tapes do not know."""
        return as_tensor(value).alias()


@dataclass
class AgainFrame(TapeFrame):
    """A run of what was run before, for tapes: it reads what there was, and changes nothing."""

    values: dict[Any, Any] = field(default_factory=dict)
    """The values that variables had."""

    def present(self, variable: Any) -> Any:
        """Read the value of then as that of the Python object, which tapes know."""
        made, owner = as_tensor(self.values[variable]).alias(), variable.owner()
        if owner is not None:
            record("ReadVariableOp", (owner,), (made,), lambda grad: (grad,))
        return made

    def write(self, variable: Any, value: Any) -> None:
        """Take note of the value that the variable had from here on."""
        self.values[variable] = np.asarray(value)


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


class ConcreteFunction:
    """One trace: a graph with named inputs and outputs."""

    def __init__(
        self,
        function: Function,
        bound: Bound,
        graph: FuncGraph,
        structure: Any,
        outputs: Sequence[GraphTensor | None],
    ) -> None:
        self.function, self.bound, self.graph = function, bound, graph
        self.structure = structure
        self.slots = list(outputs)
        self.kind = CallGraph(graph)
        self.gradients = Gradients()

    @property
    def inputs(self) -> list[GraphTensor]:
        """Return all inputs, the silent ones last."""
        return self.graph.all_inputs

    @property
    def outputs(self) -> list[GraphTensor]:
        """Return the outputs."""
        return self.graph.outputs

    @property
    def captured_inputs(self) -> list[Any]:
        """Return what is taken from outside: tensors, and variables by reference."""
        return [*self.graph.captures, *(v.owner() for v in self.graph.variables())]

    @property
    def variables(self) -> tuple[Any, ...]:
        """Return the variables that are used."""
        touched = touched_by([self.graph])
        return tuple(v.owner() for v in touched if isinstance(v, VariableState))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Return the variables that are used and are among what optimisers change."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments by position and by name, with specs for tensors."""
        describe_tensor = getattr(self.function, "spec_of", lambda x: x.spec)
        inputs = iter(self.graph.inputs)
        leaves = [
            describe_tensor(next(inputs)) if place in self.bound.specs else x
            for place, x in enumerate(self.bound.leaves)
        ]
        arguments = nest.pack(self.bound.arguments, leaves)
        found = inspect.BoundArguments(self.function.signature, arguments)
        return found.args, found.kwargs

    @property
    def output_shapes(self) -> Any:
        """Return the shapes of the outputs in the structure that the function returns."""
        return self._of_outputs(lambda x: x.shape)

    @property
    def output_dtypes(self) -> Any:
        """Return the element types of the outputs in the structure that the function returns."""
        return self._of_outputs(lambda x: x.dtype)

    def _of_outputs(self, of: Callable[[Any], Any]) -> Any:
        return nest.pack(self.structure, [None if x is None else of(x) for x in self.slots])

    @property
    def structured_outputs(self) -> Any:
        """Return the outputs in the structure that the function returns."""
        return nest.pack(self.structure, self.slots)

    def accepts(self, bound: Bound) -> bool:
        """Say whether arguments can be given to this trace."""
        mine = self.bound
        return (
            structure_key(mine.arguments) == structure_key(bound.arguments)
            and mine.specs.keys() == bound.specs.keys()
            and all(within(bound.specs[i], mine.specs[i]) for i in mine.specs)
            and all(
                value_key(a) == value_key(b)
                for i, (a, b) in enumerate(zip(mine.leaves, bound.leaves, strict=True))
                if i not in mine.specs
            )
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph for tensors, by position or by name."""
        names = [op.op.name for op in self.graph.inputs]
        values = [*args, *(kwargs[n] for n in names[len(args) :])]
        made = []
        for place, (value, slot) in enumerate(zip(values, self.graph.inputs, strict=True)):
            convert = getattr(self.function, "to_tensor", as_tensor)
            tensor = value if isinstance(value, Tensor) else convert(value, slot.spec.dtype)
            if not within(tensor.spec, slot.spec):
                raise InvalidArgumentError(
                    f"cannot compute {self.function.label} as input #{place}(zero-based) was "
                    f"expected to be {slot.spec} but is {tensor.spec}"
                )
            made.append(tensor)
        return self.call(made)

    def call(self, values: Sequence[Tensor]) -> Any:
        """Run the graph, or add a call of it to the graph that is being made."""
        inputs = [*values, *self.graph.captures]
        context = STATE.context or next((x.home() for x in inputs if not x.eager), None)
        if isinstance(context, Graph):
            found = self.call_in(context, inputs)
        else:
            found = self.call_now(inputs)
        filled = iter(found)
        made = [None if slot is None else next(filled) for slot in self.slots]
        return nest.pack(self.structure, made)

    def packed(self, arrays: Sequence[Any]) -> Any:
        """Return results in the structure that the function returns."""
        wrap = getattr(self.function, "wrap", Tensor)
        if self.structure.__class__ not in (list, tuple, dict) and len(self.slots) == 1:
            return wrap(arrays[0]) if arrays else None
        filled = iter(arrays)
        return nest.pack(
            self.structure, [None if s is None else wrap(next(filled)) for s in self.slots]
        )

    def call_in(self, graph: Graph, inputs: Sequence[Tensor]) -> Sequence[Any]:
        """Add a call to a graph."""
        op = graph.add(self.kind, [graph.owned(x) for x in inputs])
        if STATE.recorders:
            backward, variables = node_backward(op)
            record(op.type, [*inputs, *variables], op.outputs, backward)
        return op.outputs

    def call_now(self, inputs: Sequence[Tensor]) -> Sequence[Any]:
        """Run at once; where a tape watches, every operation is seen by it."""
        store = ACTIVE[-1]
        if self.is_watched(inputs):
            if (made := self.call_staged(store, inputs)) is not None:
                return made
            found = self.graph.run(TapeFrame(store, apply), inputs)
            return [x if isinstance(x, Tensor) else Tensor(np.asarray(x)) for x in found]
        place = wanted_place(inputs)
        where = Where("" if place == CPU else str(place), STATE.soft)
        with entered(None), running_on(None, soft=True):
            arrays = [x.held if isinstance(x, DeviceTensor) else x._array for x in inputs]
            plan = self.graph.whole_plan()
            at_once = len(plan.ops) >= LARGE or plan.size >= HEAVY
            after = 0 if at_once else COMPILE_AFTER
            native = compiled_for(plan, arrays, after, where)
            if native is not None:
                found = native.run(store, arrays)
            else:
                found = self.graph.run(Frame(store), [*map(on_host, arrays)])
        wrap = getattr(self.function, "wrap", Tensor)
        return [as_result(x, wrap) for x in found]

    def is_watched(self, inputs: Sequence[Any]) -> bool:
        """Say whether a tape wants gradients that go through a call."""
        if not STATE.recorders:
            return False
        owners = [v.owner() for v in self.graph.variables()]
        for owner in owners:
            if owner is not None:
                accessed(owner)
        seen = [*inputs, *(owner for owner in owners if owner is not None)]
        return any(recorder.knows(x) for recorder in STATE.recorders for x in seen)

    def call_staged(self, store: Store, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Run the forward program under a tape; None where there is none."""
        if len(STATE.recorders) > 1 or not self.is_dense or wanted_place(inputs) != CPU:
            return None
        staged = self.gradients.get(self.graph.whole_plan(), [x.spec for x in inputs])
        if staged is None:
            return None
        values, draws = staged.state(store)
        with entered(None):
            made, back = staged.run(store, [x._array for x in inputs])
        wrap = getattr(self.function, "wrap", Tensor)
        outputs = [wrap(np.asarray(x)) for x in made]
        owners = [v.owner() for v in staged.variables]

        def backward(*grads: Any) -> Sequence[Any]:
            if STATE.context is not None or STATE.recorders:
                if self.kind.stateful or any(v.value_in(store) is not x for v, x in values.items()):
                    then = Store()
                    then.draws |= draws
                    frame = AgainFrame(then, apply, values={**values})
                    return self.again(frame, inputs, grads, owners)
                return self.way_back(inputs, grads, staged.variables)
            found = back([None if g is None else g.numpy() for g in grads])
            return [None if g is None else wrap(g) for g in found]

        record(self.kind.type, [*inputs, *owners], outputs, backward)
        return outputs

    def again(
        self, frame: Frame, inputs: Sequence[Any], grads: Sequence[Any], owners: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the gradients of inputs and variables by running the graph once more."""
        sources = [*inputs, *owners]
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            made = self.graph.run(frame, inputs)
        pairs = [(y, g) for y, g in zip(made, grads, strict=True) if g is not None]
        found: Sequence[Any] = tape.gradient([y for y, _ in pairs], sources, [g for _, g in pairs])
        return found

    def way_back(
        self, inputs: Sequence[Any], grads: Sequence[Any], variables: Sequence[Any]
    ) -> list[Any]:
        """Return the gradients of inputs and variables by a function that tapes see."""
        given = [
            Maker(apply).filled(0, y.spec.dtype, y.spec.dims) if g is None else g
            for y, g in zip(self.graph.outputs, grads, strict=True)
            if is_smooth(y)
        ]
        made = self.gradient.call([*inputs, *given])
        of_variables = dict(zip(self.graph.variables(), made[len(inputs) :], strict=True))
        return [*made[: len(inputs)], *(of_variables[v] for v in variables)]

    @cached_property
    def gradient(self) -> ConcreteFunction:
        """Return the function of inputs and gradients of results that gives those of inputs.

        Behind them come those of the variables that are read.
        """
        label = f"the gradient of {self.function.label!r}"
        graph = self.function.graph_class(label, None, self.function.tensor_class)
        with entered(graph):
            inputs = [graph.argument(x.spec, "x") for x in self.inputs]
            results = graph.add(self.kind, inputs).outputs
            smooth = [y for y in results if is_smooth(y)]
            given = [graph.argument(y.spec, "grad") for y in smooth]
            found = gradients(smooth, [*inputs, *self.graph.variables()], given)
            outputs = [None if x is None else graph.output(x) for x in found]
        graph.finish([x for x in outputs if x is not None])
        return ConcreteFunction(self.function, self.bound, graph, outputs, outputs)

    @cached_property
    def is_dense(self) -> bool:
        """Say whether no gradient is one of rows with indices, and no rule is replaced."""
        rows = any(op.type == "GatherV2" for op in self.graph.operations)
        return not rows and not self.graph.gradient_overrides and STATE.rules is None

    def save(
        self, path: str | os.PathLike[str], *, frozen: bool = False, sizes: Sizes | None = None
    ) -> None:
        """Compile the function into a library, or for C: `.so`, `.o`, `.a`, `.h` by the suffix.

        Behind its arguments come the tensors, variables and keys of random draws that it takes
        from outside (`s3`: at position 3), behind its results the new values of the variables that
        it changes. `frozen`: all of them have the values that they have now, and it must change
        none (`ahead`); then `sizes` names and bounds sizes that are open. Raises `UnsupportedOp`
        for what only Python can do.
        """
        if frozen:
            from .ahead import save_program  # noqa: PLC0415  (only who saves needs it)

            save_program(path, self.frozen(sizes))
            return
        inputs = [tensor.spec for tensor in self.graph.all_inputs]
        try:
            made = Staged(self.graph.whole_plan(), inputs, Options(tag=tag_of(path)))
        except NotStageableError as error:
            raise UnsupportedOp(f"{self.function.label} is not compiled: {error}") from None
        made.model.save(path)

    def frozen(self, sizes: Sizes | None = None) -> Program:
        """Return the program in which what is taken from outside has the value that it has now."""
        from .ahead import program_of  # noqa: PLC0415  (only who saves needs it)

        names = list(self.structure) if isinstance(self.structure, dict) else []
        if len(names) != len(self.slots):
            names = [f"y{i}" for i in range(len(self.slots))]
        kept = [n for n, slot in zip(names, self.slots, strict=True) if slot is not None]
        graph = self.graph
        plan = Plan(graph.outputs, graph.inputs, [op for op in graph.operations if must_run(op)])
        taken = {made: tensor.numpy() for tensor, made in graph.captured.values()}
        return program_of(plan, graph.inputs, kept, ACTIVE[-1], taken, sizes)

    @property
    def compiled(self) -> dict[Any, Any]:
        """Return the compiled graphs by the shapes of the arguments."""
        return self.graph.whole_plan().compiled

    def __str__(self) -> str:
        inputs = ", ".join(f"{x.op.name}: {written(x.spec)}" for x in self.graph.inputs)
        if isinstance(self.structure, dict):
            names = list(self.structure)
        else:
            names = ["y"] if len(self.outputs) == 1 else [f"y{i}" for i in range(len(self.outputs))]
        outputs = ", ".join(
            f"{n}: {written(x.spec)}" for n, x in zip(names, self.outputs, strict=False)
        )
        return f"{inputs} → {{{outputs}}}"


def as_result(x: Any, wrap: Any) -> Any:
    """Return a result as the caller gets it: on a GPU if it came up there."""
    if isinstance(x, DeviceArray):
        made = DeviceTensor(x, place_of(x))
        return made if wrap is Tensor else wrap(made)
    return wrap(np.asarray(on_host(unboxed(x))))


def written(spec: TensorSpec) -> str:
    """Return a spec with ? for sizes that are not known."""
    shape = dims_or_none(spec.shape)
    if shape is None:
        return f"{spec.dtype}[*]"
    return f"{spec.dtype}[{','.join('?' if d is None else str(d) for d in shape)}]"


def function(python_function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Let a Python function run as a graph; a decorator, with or without options."""
    if python_function is None:
        return lambda f: Function(f, **options)
    return Function(python_function, **options)
