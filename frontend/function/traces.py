"""One trace of a `function`: its graph, and how it is run, differentiated and saved.

A trace runs as a node of a graph that is being made, at once, or compiled; where a tape watches,
the compiled way back is kept with what it needs.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...codegen.compiled import Options
from ...errors import UnsupportedOp
from ...ir import Program
from ...ir.compose.maker import Maker
from ...ir.families import spec_of_value
from ...ir.types.tensor import Array, TensorSpec
from ...lazy import cached_property
from ...runtime.gpu.device_array import DeviceArray
from ..eager.backward import is_smooth
from ..eager.recorded import unboxed
from ..eager.tape import GradientTape
from ..eager.tensor import Tensor, apply
from ..graph.control_flow import GraphChoice
from ..graph.execute import Plan
from ..graph.frame import Frame, NotStageableError, Owner, Stateful, Store, counter_of
from ..graph.func_graph import CallGraph, Draws, FuncGraph, known_of, must_run, touched_by
from ..graph.gradients import gradients, node_backward
from ..graph.graph import Graph, GraphTensor, dims_or_none, within
from ..graph.kinds import Composite, Const, Primitive, Stop
from ..graph.placement import check_placement
from ..graph.tolls import Account
from ..graph.variables import Passed, ReadVariable, StandIn, VariablesTaken, VariableState
from ..models.compiled import tag_of
from ..models.pieces import on_host
from ..values import nest
from ..values.context import (
    STATE,
    Passing,
    accessed,
    entered,
    passing,
    programming,
    record,
    running_on,
)
from ..values.devices import MACHINE
from ..values.run_errors import InvalidArgumentError
from ..values.texts import as_kept
from .arguments import (
    Bound,
    CallTime,
    CallTimeValue,
    Surface,
    VariableArgument,
    arguments_of_trace,
    fit,
    of_this_call,
    structure_key,
)
from .in_common import Where
from .lowering_gradient import Gradients
from .on_device import (
    DeviceTensor,
    PlacedTensor,
    RemoteDevice,
    RemoteTensor,
    place_of,
    wanted_place,
)
from .recorded_rules import AgainFrame, TapeFrame, WatchedCall
from .staged import Export, Staged, compiled_for, counted, run_rest

if TYPE_CHECKING:
    from .libraries import Sizes

PROCESS = Store()
"""The random draws of eager code and of functions called from it."""
ACTIVE: list[Store] = [PROCESS]
"""The store of the session that is running, innermost last."""


TRACES = count()
"""Numbers that tell traces of one name apart."""


class ConcreteFunction:
    """One trace: a graph with named inputs and outputs."""

    TAKES_INPUTS: ClassVar = False
    """Whether what is given by position is for its inputs, if it is no tensor, too."""

    def __init__(
        self,
        function: Surface,
        bound: Bound,
        graph: FuncGraph,
        structure: object,
        outputs: Sequence[GraphTensor | None],
    ) -> None:
        self.function, self.bound, self.graph = function, bound, graph
        self.structure = structure
        self.slots = list(outputs)
        graph.structured = partial(nest.pack, structure, self.slots)
        self.name = f"__inference_{function.label}_{next(TRACES)}".encode()
        self.kind = CallGraph(graph)
        self.gradients = Gradients()
        self.placed: set[bool] = set()
        """Whether its operations were found to run here: where others may stand in, where not."""
        self.variables_taken = VariablesTaken((), ())

    def replace_capture_with_deferred_capture(
        self,
        tensor: Tensor,
        closure: Callable[[], object],
        spec: object,
        placeholder: GraphTensor | None = None,
        default_value: object = None,
    ) -> None:
        """Take what a closure gives at each call where a tensor was taken from outside.

        It may be named by what stands for it inside: `placeholder`.
        """
        if default_value is not None:
            raise NotImplementedError("replace_capture_with_deferred_capture: default_value")
        values = CallTime(closure, spec, self.function.to_tensor).values
        graph = self.graph
        slot = graph.captured.get(id(tensor), (tensor, placeholder))[1]
        taken = [made.edge for _, made in graph.captured.values()]
        if slot is None or not any(edge is slot.edge for edge in taken):
            raise ValueError(f"Did not find {tensor!r} among what {self.function.label!r} takes")
        if [value.spec for value in values] != [slot.spec]:
            raise ValueError(
                f"Attempting to substitute closure with spec {spec!r} that's incompatible with "
                f"what was taken: {slot.spec}"
            )
        kept = list(graph.captured.items())
        graph.captured.clear()
        for key, pair in kept:
            is_meant = pair[1].edge is slot.edge
            graph.captured[id(values[0]) if is_meant else key] = (
                (values[0], pair[1]) if is_meant else pair
            )
        vars(self).pop("takes_anew", None)

    @property
    def inputs(self) -> list[GraphTensor]:
        """Return all inputs, the silent ones last."""
        return self.graph.all_inputs

    @property
    def outputs(self) -> list[GraphTensor]:
        """Return the outputs."""
        return self.graph.shown_outputs()

    @property
    def captured_inputs(self) -> list[Tensor | Owner | None]:
        """Return what is taken from outside: tensors, and variables by reference."""
        with passing(self.variables_taken.standing()):
            found = self.graph.states_read()
        owners = [v.owner() for v in found if not isinstance(v, StandIn)]
        return [*self.graph.captures, *owners]

    @property
    def variables(self) -> tuple[Owner | None, ...]:
        """Return the variables that are used, but for those that are passed."""
        with passing(self.variables_taken.standing()):
            touched = touched_by([self.graph])
        used = [v for v in touched if isinstance(v, VariableState) and not isinstance(v, StandIn)]
        return tuple(v.owner() for v in used)

    @property
    def trainable_variables(self) -> tuple[Owner, ...]:
        """Return the variables that are used and are among what optimisers change."""
        return tuple(v for v in self.variables if v is not None and v.trainable)

    @property
    def structured_input_signature(self) -> tuple[tuple[object, ...], dict[str, object]]:
        """Return the arguments by position and by name, with specs for tensors."""
        inputs, paths = iter(self.graph.inputs), self.bound.paths()
        leaves = [
            self.function.spec_of(next(inputs), paths[place])
            if place in self.bound.specs
            else self.function.spec_of_variable(x)
            if isinstance(x, VariableArgument)
            else x
            for place, x in enumerate(self.bound.leaves)
        ]
        arguments = self.bound.as_given(leaves)
        found = inspect.BoundArguments(self.function.signature, arguments)
        return found.args, found.kwargs

    @property
    def output_shapes(self) -> object:
        """Return the shapes of the outputs in the structure that the function returns."""
        return self._of_outputs(lambda x: x.shape)

    @property
    def output_dtypes(self) -> object:
        """Return the element types of the outputs in the structure that the function returns."""
        return self._of_outputs(lambda x: x.dtype)

    def _of_outputs(self, of: Callable[[GraphTensor], object]) -> object:
        return nest.pack(self.structure, [None if x is None else of(x) for x in self.slots])

    @property
    def structured_outputs(self) -> Any:
        """Return the outputs in the structure that the function returns."""
        shown = iter(self.outputs)
        return nest.pack(self.structure, [None if s is None else next(shown) for s in self.slots])

    @cached_property
    def is_local(self) -> bool:
        """Say whether it takes values of a graph around, so that it is for that one alone."""
        return any(not tensor.eager for tensor in self.graph.captures)

    def take_variables(self, states: Sequence[VariableState]) -> None:
        """Note the variables that it was traced with, in whose stead others may be passed."""
        self.variables_taken = VariablesTaken(states, touched_by([self.graph]))

    def serves(self, states: Sequence[VariableState]) -> bool:
        """Say whether it may be called now with variables like its own."""
        taken = self.variables_taken
        return taken.are(states) or (STATE.context is None and taken.may_be(states))

    def passing(self, states: Sequence[VariableState]) -> Passed | None:
        """Return what a call with variables runs with, None without any."""
        return self.variables_taken.passing(states)

    def is_in(self, context: object) -> bool:
        """Say whether it may be called there: the values that it takes are seen."""
        return not self.is_local or self.graph.outer is context

    def accepts(self, bound: Bound) -> bool:
        """Say whether arguments can be given to this trace."""
        mine = self.bound
        return (
            structure_key(mine.described) == structure_key(bound.described)
            and mine.specs.keys() == bound.specs.keys()
            and fit([(bound.specs[i], wanted) for i, wanted in mine.specs.items()])
            and all(
                mine.key_of(i) == bound.key_of(i)
                for i in range(len(mine.leaves))
                if i not in mine.specs
            )
            and (not (passed := bound.passed) or self.serves(passed))
        )

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run the graph for tensors, by position or by name."""
        values, given = self._of_names(args, kwargs)
        states = [] if given is None else given.passed
        if given is not None and states and not self.serves(states):
            return self._called_with(self.function.concrete(given), given)
        made, others = [], {}
        for place, (value, slot) in enumerate(zip(values, self.graph.inputs, strict=True)):
            convert = self.function.to_tensor
            tensor = value if isinstance(value, Tensor) else convert(value, slot.spec.dtype)
            if not within(tensor.spec, slot.spec):
                if not tensor.eager or tensor.spec.dtype != slot.spec.dtype:
                    raise InvalidArgumentError(
                        f"cannot compute {self.function.label} as input #{place}(zero-based), "
                        f"{slot.op.name!r}, was expected to be {slot.spec} but is {tensor.spec}"
                    )
                others[place] = tensor.spec
            made.append(tensor)
        if given is not None and others and states:
            return self._called_with(self.function.concrete(given), given)
        called = self._for_shapes(others) if others else self
        return called.call(made, self.passing(states) if states else None)

    @staticmethod
    def _called_with(other: object, given: Bound) -> object:
        """Call the trace that was made for arguments, which another one was called with."""
        assert isinstance(other, ConcreteFunction), "functions are traced so"
        tensors = [x for x in given.leaves if isinstance(x, Tensor)]
        return other.call(tensors, other.passing(given.passed))

    def _for_shapes(self, others: Mapping[int, TensorSpec]) -> ConcreteFunction:
        """Return the trace for inputs of other shapes: at once, only elements' types are fixed."""
        bound = copy(self.bound)
        leaves = sorted(bound.specs)
        bound.specs = {**bound.specs, **{leaves[i]: spec for i, spec in others.items()}}
        found = self.function.concrete(bound)
        assert isinstance(found, ConcreteFunction), "functions are traced so"
        return found

    def _of_names(
        self, args: Sequence[object], kwargs: dict[str, object]
    ) -> tuple[Sequence[object], Bound | None]:
        """Return the tensors among arguments by the function's parameters, or by inputs.

        Behind them the arguments, if they were given by parameters.

        What is given by name is by the name of a parameter, if it can be; what is no tensor, by a
        parameter only.
        """
        names = [x.op.name for x in self.graph.inputs]
        fits = len(args) + len(kwargs) == len(names) and kwargs.keys() == {*names[len(args) :]}
        parameters = [*self.function.signature.parameters][len(args) :]
        tensors = self.TAKES_INPUTS or all(isinstance(x, Tensor) for x in (*args, *kwargs.values()))
        if not fits or not tensors or (kwargs and kwargs.keys() == {*parameters}):
            given = arguments_of_trace(self.function, self.bound, args, kwargs)
            return [x for i, x in enumerate(given.leaves) if i in self.bound.specs], given
        return [*args, *(kwargs[n] for n in names[len(args) :])], None

    def call(self, values: Sequence[Tensor], passed: Passing | None = None) -> Any:
        """Run the graph, or add a call of it to the graph that is being made."""
        inputs = [*values, *self.graph.captures]
        context = STATE.context or next((x.home() for x in inputs if not x.eager), None)
        if isinstance(context, Graph):
            found = self.call_in(context, inputs)
        else:
            with passing(passed):
                found = self.call_now(of_this_call(inputs) if self.takes_anew else inputs)
        filled = iter(found)
        made = [None if slot is None else next(filled) for slot in self.slots]
        return nest.pack(self.structure, made)

    def packed(self, arrays: Sequence[object]) -> object:
        """Return results in the structure that the function returns."""
        wrap = self.function.wrap
        if self.structure.__class__ not in (list, tuple, dict) and len(self.slots) == 1:
            return wrap(arrays[0]) if arrays else None
        filled = iter(arrays)
        return nest.pack(
            self.structure, [None if s is None else wrap(next(filled)) for s in self.slots]
        )

    def call_in(self, graph: Graph, inputs: Sequence[Tensor]) -> Sequence[object]:
        """Add a call to a graph; under a tape what it does, if it gives gradients of rows."""
        if STATE.recorders and self.gives_rows:
            return self.inlined(graph, inputs)
        with graph.control_dependencies(self.graph.waits):
            taken = [graph.owned(x) for x in inputs]
            specs = [x.spec for x in self.graph.followed(list(map(known_of, taken)))]
            op = graph.add(self.kind, taken, specs=specs)
        if STATE.recorders:
            backward, variables = node_backward(op)
            record(op.type, [*inputs, *variables], op.outputs, backward)
        return op.outputs

    def inlined(self, graph: Graph, inputs: Sequence[Tensor]) -> Sequence[object]:
        """Add the operations of the trace to a graph, where tapes see each of them."""
        taken = [graph.owned(x) for x in inputs]
        known = dict(zip((x.edge for x in self.graph.all_inputs), taken, strict=True))
        for op in self.graph.operations:
            if all(x.edge in known for x in op.outputs):
                continue
            made = graph.add(op.kind, [known[x] for x in op.inputs], dict(op.attributes))
            made.source = op.source
            known.update(zip((x.edge for x in op.outputs), made.outputs, strict=True))
            backward, variables = node_backward(made)
            record(made.type, [*made.inputs, *variables], made.outputs, backward)
        return [known[x.edge] for x in self.graph.outputs]

    def call_now(self, inputs: Sequence[Tensor]) -> Sequence[object]:
        """Run at once; where a tape watches, every operation is seen by it."""
        store, soft = ACTIVE[-1], STATE.soft and MACHINE.soft
        if soft not in self.placed:
            check_placement(self.graph.operations, soft=soft)
            self.placed.add(soft)
        if self.is_watched(inputs):
            if (made := self.call_staged(store, inputs)) is not None:
                return made
            specs = [x.spec for x in inputs]
            return self.gradients.counted(specs, lambda: self.call_watched(store, inputs))
        place = wanted_place(inputs)
        if isinstance(place, RemoteDevice) and place.work is not None:
            return [as_result(x, self.function.wrap) for x in place.work.call(self, inputs)]
        where = Where("" if place.kind == "cpu" else str(place), soft)
        with entered(None), running_on(None, soft=True):
            arrays = [x.held if isinstance(x, DeviceTensor) else x.text or x._array for x in inputs]
            plan = self.graph.whole_plan()
            at_once = self.graph.is_exact or plan.slides([x.shape for x in arrays])
            native = compiled_for(plan, arrays, where, at_once=at_once)
            if native is not None:
                found = native.run(store, arrays)
            else:
                account = plan.compiled.setdefault(tuple(x.shape for x in arrays), Account())
                frame = Frame(store, run_rest=partial(run_rest, store))
                run = partial(self.graph.run, frame, [*map(on_host, arrays)])
                found = counted(account, run)
        wrap = self.function.wrap
        if place.kind == "cpu" and place.index:
            found = [PlacedTensor(on_host(x), place) for x in found]
        return [as_result(x, wrap) for x in found]

    def call_watched(self, store: Store, inputs: Sequence[Tensor]) -> Sequence[object]:
        """Run operation by operation, so that a tape sees each of them, or their sum."""
        comes = self.gradients.may_come([x.spec for x in inputs])
        if comes and self.is_one_step(inputs) and not self.graph.whole_plan().calls_python:
            return self.call_apart(store, inputs)
        found = self.graph.run(TapeFrame(store, apply), inputs)
        return [x if isinstance(x, Tensor) else Tensor(np.asarray(x)) for x in found]

    def is_watched(self, inputs: Sequence[object]) -> bool:
        """Say whether a tape wants gradients that go through a call."""
        if not STATE.recorders:
            return False
        owners = [v.owner() for v in self.graph.states_read()]
        for owner in owners:
            if owner is not None:
                accessed(owner)
        seen = [*inputs, *(owner for owner in owners if owner is not None)]
        return any(recorder.knows(x) for recorder in STATE.recorders for x in seen)

    def is_one_step(self, inputs: Sequence[Tensor]) -> bool:
        """Say whether a tape sees a call as one step."""
        return len(STATE.recorders) == 1 and self.is_dense and wanted_place(inputs).kind == "cpu"

    def call_staged(self, store: Store, inputs: Sequence[Tensor]) -> Sequence[object] | None:
        """Run the forward program under a tape; None where there is none."""
        if not self.is_one_step(inputs):
            return None
        staged = self.gradients.get(self.graph.whole_plan(), [x.spec for x in inputs])
        if staged is None:
            return None
        values, draws = staged.state(store)
        with entered(None):
            made, back = staged.run(store, [x._array for x in inputs])
        wrap = self.function.wrap
        outputs = [wrap(np.asarray(x)) for x in made]

        def backward(*grads: Tensor | None) -> Sequence[object]:
            found = back([None if g is None else g.numpy() for g in grads])
            return [None if g is None else wrap(g) for g in found]

        step = WatchedCall(store, inputs, staged.present(), values, draws, STATE.passed)
        self.record_step(step, outputs, backward)
        return outputs

    def call_apart(self, store: Store, inputs: Sequence[Tensor]) -> Sequence[object]:
        """Run every operation under a tape of its own: gradients are summed as compiled code does.

        What the call gives back is one sum, to which the tape outside adds what else there is.
        """
        variables = [v for v in self.graph.states_read() if isinstance(v, VariableState)]
        touched = [v for v in touched_by([self.graph]) if isinstance(v, VariableState | Draws)]
        values: dict[Stateful, Array] = {
            v: v.value_in(store) for v in touched if isinstance(v, VariableState)
        }
        draws: dict[object, int] = {
            each: store.draws.get(each, 0)
            for each in (counter_of(v.op) for v in touched if isinstance(v, Draws))
        }
        with entered(None):
            taken = [x.alias() for x in inputs]
            sources = [*taken, *(v.owner() for v in variables)]
            with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
                tape.watch([x for x in sources if x is not None])
                found = self.graph.run(TapeFrame(store, apply), taken)
        made = [x if isinstance(x, Tensor) else Tensor(np.asarray(x)) for x in found]
        outputs = [x.alias() for x in made]

        def backward(*grads: Tensor | None) -> Sequence[object]:
            pairs = [(y, g) for y, g in zip(made, grads, strict=True) if g is not None]
            gradients: Sequence[object] = tape.gradient(
                [y for y, _ in pairs], sources, [g for _, g in pairs]
            )
            return self.with_zeros(gradients, sources)

        step = WatchedCall(store, inputs, variables, values, draws, STATE.passed)
        self.record_step(step, outputs, backward)
        return outputs

    def with_zeros(
        self, found: Sequence[object], sources: Sequence[Tensor | Owner | None]
    ) -> Sequence[object]:
        """Return gradients: zeros of what branches depend on that were not taken."""
        choices = [op for op in self.graph.operations if isinstance(op.kind, GraphChoice)]
        if None not in found or not choices:
            return found
        known = zip(found, self.gradient.slots, sources, strict=True)
        return [
            Maker(apply).filled(0, spec_of_value(x).dtype, spec_of_value(x).dims)
            if grad is None and slot is not None
            else grad
            for grad, slot, x in known
        ]

    def record_step(
        self,
        step: WatchedCall,
        outputs: Sequence[object],
        back: Callable[..., Sequence[object]],
    ) -> None:
        """Show a call to the tape; where a tape watches the way back too, it is computed again."""
        owners, store = [v.owner() for v in step.variables], step.store

        def backward(*grads: Tensor | None) -> Sequence[object]:
            with passing(step.passed):
                return go_back(*grads)

        def go_back(*grads: Tensor | None) -> Sequence[object]:
            if STATE.context is None and not STATE.recorders:
                return back(*grads)
            changed = any(v.value_in(store) is not x for v, x in step.values.items())
            if self.kind.stateful or changed:
                then = Store()
                then.draws = {**step.draws}
                frame = AgainFrame(then, apply, values={**step.values})
                return self.again(frame, step.inputs, grads, owners)
            return self.way_back(step.inputs, grads, step.variables)

        record(self.kind.type, [*step.inputs, *owners], outputs, backward)

    def again(
        self,
        frame: Frame,
        inputs: Sequence[object],
        grads: Sequence[object],
        owners: Sequence[object],
    ) -> Sequence[object]:
        """Return the gradients of inputs and variables by running the graph once more."""
        sources = [*inputs, *owners]
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            made = self.graph.run(frame, inputs)
        pairs = [(y, g) for y, g in zip(made, grads, strict=True) if g is not None]
        found: Sequence[object] = tape.gradient(
            [y for y, _ in pairs], sources, [g for _, g in pairs]
        )
        return found

    def way_back(
        self,
        inputs: Sequence[Tensor],
        grads: Sequence[Tensor | None],
        variables: Sequence[VariableState],
    ) -> list[object]:
        """Return the gradients of inputs and variables by a function that tapes see."""
        given = [
            Maker(apply).filled(0, y.spec.dtype, y.spec.dims) if g is None else g
            for y, g in zip(self.graph.outputs, grads, strict=True)
            if is_smooth(y)
        ]
        made = self.gradient.call([*inputs, *given], STATE.passed)
        of_variables = dict(zip(self.graph.states_read(), made[len(inputs) :], strict=True))
        return [*made[: len(inputs)], *(of_variables[v] for v in variables)]

    @cached_property
    def gradient(self) -> ConcreteFunction:
        """Return the function of inputs and gradients of results that gives those of inputs.

        Behind them come those of the variables that are read.
        """
        label = f"the gradient of {self.function.label!r}"
        graph = self.function.graph_class(label, None, self.function.tensor_class)
        with programming(), entered(graph):
            inputs = [graph.argument(x.spec, "x") for x in self.inputs]
            results = graph.add(self.kind, inputs).outputs
            smooth = [y for y in results if is_smooth(y)]
            given = [graph.argument(y.spec, "grad") for y in smooth]
            found = gradients(smooth, [*inputs, *self.graph.states_read()], given)
            outputs = [None if x is None else graph.output(x) for x in found]
        graph.finish([x for x in outputs if x is not None])
        made = ConcreteFunction(self.function, self.bound, graph, outputs, outputs)
        made.variables_taken = self.variables_taken
        return made

    @cached_property
    def takes_anew(self) -> bool:
        """Say whether something is taken from outside that is another value at each call."""
        return any(isinstance(x, CallTimeValue) for x in self.graph.captures)

    @cached_property
    def gives_rows(self) -> bool:
        """Say whether rows are taken, by operations that may as well stand in another graph."""
        plain = (Primitive, Composite, Const, ReadVariable, Stop)
        inside = [op for op in self.graph.operations if op.type != "Placeholder"]
        taken = [op for op in inside if op.type == "GatherV2"]
        return bool(taken) and all(isinstance(x.kind, plain) or x.kind.is_numbers for x in inside)

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
            from .libraries import save_program  # noqa: PLC0415  (only who saves needs it)

            save_program(path, self.frozen(sizes))
            return
        inputs = [tensor.spec for tensor in self.graph.all_inputs]
        try:
            made = Staged(
                self.graph.whole_plan(),
                inputs,
                Export(Options(tag=tag_of(path), numerics="exact"), hides=True),
            )
        except NotStageableError as error:
            raise UnsupportedOp(f"{self.function.label} is not compiled: {error}") from None
        made.model.save(path)

    def frozen(self, sizes: Sizes | None = None) -> Program:
        """Return the program in which what is taken from outside has the value that it has now."""
        from .libraries import program_of  # noqa: PLC0415  (only who saves needs it)

        names = list(self.structure) if isinstance(self.structure, dict) else []
        if len(names) != len(self.slots):
            names = [f"y{i}" for i in range(len(self.slots))]
        kept = [n for n, slot in zip(names, self.slots, strict=True) if slot is not None]
        graph = self.graph
        plan = Plan(graph.outputs, graph.inputs, [op for op in graph.operations if must_run(op)])
        taken = {made: tensor.numpy() for tensor, made in graph.captured.values()}
        return program_of(plan, graph.inputs, kept, ACTIVE[-1], taken, sizes)

    @property
    def compiled(self) -> dict[object, object]:
        """Return the compiled graphs by the shapes of the arguments."""
        return self.graph.whole_plan().compiled

    def __repr__(self) -> str:
        own = self.function.printed(self, long=False)
        plain = object.__repr__(self)
        return plain if own is None else f"<ConcreteFunction {own} at {hex(id(self))}>"

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Return what is taken and given, in lines or, if not `verbose`, in one."""
        return self.function.printed(self, long=verbose) or self._written()

    @property
    def function_type(self) -> object:
        """Return what is taken and given, as the surface shows it."""
        return self.function.type_of(self)

    @property
    def function_def(self) -> object:
        """Return the trace as data, as the surface writes it."""
        return self.function.message_of(self)

    @property
    def inference_fn(self) -> object:
        """Return the function without gradients that the trace is, as the surface shows it."""
        return self.function.inner(self)

    def __str__(self) -> str:
        own = self.function.printed(self, long=True)
        return self._written() if own is None else f"ConcreteFunction {own}"

    def _written(self) -> str:
        inputs = ", ".join(f"{x.op.name}: {written(x.spec)}" for x in self.graph.inputs)
        if isinstance(self.structure, dict):
            names = list(self.structure)
        else:
            names = ["y"] if len(self.outputs) == 1 else [f"y{i}" for i in range(len(self.outputs))]
        outputs = ", ".join(
            f"{n}: {written(x.spec)}" for n, x in zip(names, self.outputs, strict=False)
        )
        return f"{inputs} → {{{outputs}}}"


def as_result(x: object, wrap: Callable[[object], Tensor]) -> Tensor:
    """Return a result as the caller gets it: on a GPU if it came up there."""
    if isinstance(x, DeviceArray):
        return wrap(DeviceTensor(x, place_of(x)))
    if isinstance(x, PlacedTensor | RemoteTensor):
        return wrap(x)
    return wrap(as_kept(unboxed(x)))


def written(spec: TensorSpec) -> str:
    """Return a spec with ? for sizes that are not known."""
    shape = dims_or_none(spec.shape)
    if shape is None:
        return f"{spec.dtype}[*]"
    return f"{spec.dtype}[{','.join('?' if d is None else str(d) for d in shape)}]"
