"""What a compiled program leaves to Python: calls between its pieces, in the order of the program.

A `py_function` is one, and so is an operation that has no form in the IR for the shapes at hand.
What such a step gives has the shapes that were seen when it was run before; sizes that were not
always the same are open. Should it give others, the call is run once more, operation by operation,
without calling again what was called (`Again`), and the program is made anew.

An operation may fail where it is appended, and be right to: it is such a step then.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from ...errors import GravureError, PerformanceWarning
from ...ir.compose.maker import Maker
from ...ir.families import spec_of_value
from ...ir.op import Array, Call
from ...ir.ops.control.told_steps import UnknownSizesError
from ...ir.ops.host.python_step import Backward, PythonCall, PythonStep
from ...ir.types.dims import Dim
from ...ir.types.dtypes import DType, string
from ...ir.types.tensor import TensorSpec, spec_of
from ...ir.types.values import ANY
from ..eager.recorded import EMIT, Box, Recorded, unboxed
from ..eager.text_arrays import as_value
from ..graph.execute import Plan, failure, located
from ..graph.frame import Frame, LoweringError, NotStageableError, Store
from ..graph.graph import GraphTensor, Operation
from ..graph.inference import is_of_operations
from ..graph.inference import spec_of as spec_of_elements
from ..graph.kinds import Composite, NoGradientError, Primitive
from ..graph.variables import Handle, VariableState
from ..models.later import Pace
from ..values.context import STATE, passing
from ..values.devices import PlacementError
from ..values.run_errors import OpError
from ..values.texts import Text, as_kept, as_objects


class ShapesChangedError(Exception):
    """A host step gave a result of another shape than it gave before."""


@dataclass
class Done:
    """A call of Python that a run has made."""

    op: Operation
    function: Callable[..., object]
    texts: Sequence[Array | Text]
    """What it gave: many texts as a row, which few runs ask for."""
    variables: Sequence[tuple[VariableState, Array]]
    """What variables were behind it."""

    @property
    def results(self) -> Sequence[Array]:
        """Return what it gave, as arrays."""
        return [*map(as_objects, self.texts)]


class Runs(threading.local):
    """The calls that the run of this thread has made, while somebody takes note."""

    done: list[Done] | None = None
    store: Store | None = None
    """Where what waits has its queues and iterators."""


RUNS = Runs()


@dataclass
class Again(Frame):
    """A run in which what was called already is not called again."""

    done: list[Done] = field(default_factory=list)

    def carry_out(self, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Return the results of an operation; of one that waits what it gave, if it has given."""
        found = next((each for each in self.done if each.op is op and op.kind.waits), None)
        return super().carry_out(op, inputs) if found is None else self.given(found)

    def given(self, done: Done) -> Sequence[Array]:
        """Return what a call gave, once; variables are as they were behind it."""
        self.done.remove(done)
        for variable, value in done.variables:
            variable.put_in(self.store, value)
        return done.results

    def host(
        self, function: Callable[..., object], inputs: Sequence[object], dtypes: Sequence[DType]
    ) -> Sequence[object]:
        """Return what the function gave."""
        found = next((each for each in self.done if each.function is function), None)
        if found is None:
            return super().host(function, inputs, dtypes)
        self.given(found)
        call: PythonCall | None = getattr(function, "call", None)
        if self.recorded is None or call is None:
            return found.results
        made = [Box(x) for x in found.results]
        attributes = {"function": call.name, "sizes": ()}
        specs, given = [*map(spec_of_value, inputs)], [x.spec for x in made]
        emit = self.recorded.start
        self.recorded.tape.remember(Call(PythonStep, inputs, made, attributes, specs, emit, given))
        return made

    def recording(self, op: object) -> tuple[Frame, Recorded]:
        """Return a frame in which an operation is run so that its gradient can be taken."""
        inner, record = super().recording(op)
        made = Again(self.store, inner.emit, self.symbols, self.records, record, outer=self)
        made.done = self.done
        return made, record


def seen_spec(tensor: GraphTensor) -> TensorSpec | None:
    """Return what is known of an output of a host step, None if it was never seen."""
    spec = tensor.spec
    dtype = string if spec.dtype.kind == "s" else spec.dtype
    dims: tuple[Dim | None, ...] | None = tensor.seen
    if spec.shape is not None and spec.is_static:
        dims = spec.dims
    if dims is None:
        return None
    return TensorSpec(dtype, tuple(ANY if d is None else d for d in dims))


class HostStep(PythonCall):
    """An operation of a graph that Python carries out in every run of a program."""

    def __init__(
        self,
        op: Operation,
        function: Callable[..., object],
        specs: Sequence[TensorSpec],
        backward: Backward | None = None,
    ) -> None:
        super().__init__(function, specs, backward)
        self.op, self.pace = op, Pace()
        self.checked_shapes: Sequence[tuple[object, object]] = ()
        """For each output what was seen of it and its shape when that was looked at last."""
        self.constants: dict[int, Array | Text] = {}
        """Inputs that are text, which programs do not hold, by their places."""
        self.takes_rows = isinstance(function, Interpreted) or op.kind.reads_text
        """Whether it takes many texts as a row of bytes, and not as objects."""
        self.variables: list[Handle[VariableState]] = []
        """What Python may read and change: their values are further inputs and results."""
        self.fault: Callable[[Array], Exception] | None = None
        """Makes an error of the last input, unless that begins with 0."""

    @property
    def has_effects(self) -> bool:
        """Say whether Python is called, or state is changed."""
        return self.op.kind.is_python or self.op.kind.stateful

    def __call__(self, *arrays: Array) -> Sequence[Array]:
        """Return the outputs of the operation, and what variables are behind it."""
        given = list(arrays)
        if self.fault is not None and (found := given.pop())[0]:
            raise self.fault(found)
        states = [handle() for handle in self.variables]
        store, count = RUNS.store or Store(), len(given) - len(states)
        for state, value in zip(states, given[count:], strict=True):
            if state.value_in(store) is not value:
                state.put_in(store, np.asarray(value))
        inputs: list[Array | Text] = [*given[:count]]
        for place, text in self.constants.items():
            inputs.insert(place, text)
        if not self.takes_rows:
            inputs = [*map(as_objects, inputs)]
        results = self.checked(self.carried_out(inputs))
        behind = [(state, state.value_in(store)) for state in states]
        if RUNS.done is not None and self.has_effects:
            RUNS.done.append(Done(self.op, self.function, results, behind))
        self.look_at_shapes(results)
        return [*results, *(value for _, value in behind)]  # type: ignore[list-item]

    def look_at_shapes(self, results: Sequence[Array | Text]) -> None:
        """Raise where results have other shapes than the program was made for."""
        found = [(t.seen, made.shape) for t, made in zip(self.op.outputs, results, strict=True)]
        if found == self.checked_shapes:
            return
        for tensor, spec, made in zip(self.op.outputs, self.specs, results, strict=False):
            declared = tuple(dim if isinstance(dim, int) else None for dim in spec.dims)
            if not (fits(tensor.seen, made.shape) and fits(declared, made.shape)):
                tensor.see(made.shape)
                raise ShapesChangedError(self.op.name)
        self.checked_shapes = found

    def way_back(self, call: Call, grads: Sequence[object]) -> Sequence[object]:
        """Return the gradients of inputs by another call; those of variables go by."""
        if self.backward is not None and self.constants:
            raise NotStageableError("the gradient of a function of text")
        given, made = len(call.operands), len(self.op.outputs)
        count = given - len(self.variables) - (self.fault is not None)
        own = replace(call, operands=call.operands[:count], specs=call.specs[:count])
        found = [*super().way_back(own, grads[:made]), *grads[made:]]
        return [*found, *[None] * (given - len(found))]

    def prepared(self, *arrays: Array) -> Callable[[], Sequence[Array]]:
        """Return what calls it with arrays, in whatever thread; this one's run takes note of it."""
        noted, store, passed = RUNS.done, RUNS.store, STATE.passed

        def call() -> Sequence[Array]:
            RUNS.done, RUNS.store = noted, store
            with passing(passed):
                return self(*arrays)

        return call

    def carried_out(self, inputs: Sequence[Array | Text]) -> Sequence[object]:
        """Return what the function gives; its errors name the operation."""
        try:
            made = self.function(*inputs)
        except OpError as error:
            raise located(error, self.op) from None
        except (TypeError, ValueError, ArithmeticError, IndexError, AssertionError) as error:
            raise failure(self.op, error) from error
        if not self.op.outputs:
            return ()
        return made if isinstance(made, tuple | list) else (made,)

    def checked(self, made: Sequence[object]) -> list[Array | Text]:
        """Return results as arrays of the types that the operation has, or many texts as a row."""
        return [
            x if isinstance(x, Text) else np.asarray(x, tensor.spec.dtype.numpy)
            for x, tensor in zip(made, self.op.outputs, strict=True)
        ]


class Expected(PythonCall):
    """Gives what it takes, a tensor's value; or says that it has another shape than before."""

    def __init__(self, tensor: GraphTensor, spec: TensorSpec) -> None:
        super().__init__(self.looked_at, [spec], lambda *_: lambda _, grad: grad)
        self.tensor = tensor

    def looked_at(self, array: Array) -> Array:
        """Return the array."""
        if array.shape != self.specs[0].static_shape:
            self.tensor.see(array.shape)
            raise ShapesChangedError(self.tensor.name)
        return array


def not_seen(op: Operation, specs: Sequence[TensorSpec]) -> HostStep:
    """Return what stands for a part of an operation that no run has come by, in results' place.

    The run that comes by it goes on as one does whose results have other shapes than before.
    """

    def leave(*_: Array) -> NoReturn:
        raise ShapesChangedError(op.name)

    return HostStep(op, leave, specs)


def fits(seen: tuple[object, ...] | None, shape: tuple[int, ...]) -> bool:
    """Say whether a shape is like those that were seen."""
    if seen is None:
        return True
    return len(seen) == len(shape) and all(s in (None, n) for s, n in zip(seen, shape, strict=True))


class Interpreted:
    """An operation that has no effects as a function of arrays, and of texts as they are."""

    def __init__(self, op: Operation) -> None:
        self.op = op

    def __call__(self, *arrays: Array | Text) -> list[Array | Text]:
        """Carry it out; many texts stay a row of bytes."""
        given = [*map(as_value if self.op.kind.reads_text else as_objects, arrays)]
        return [as_kept(unboxed(x)) for x in self.op.kind.run(Frame(Store()), self.op, given)]


MANY = 1000
"""So often Python carries an operation of a loop out before that is said."""


class InTurns(Interpreted):
    """The same in a loop, where it counts the most: how slow that is, is said once."""

    def __init__(self, op: Operation, why: str) -> None:
        super().__init__(op)
        self.why, self.count = why, 0

    def __call__(self, *arrays: Array | Text) -> list[Array | Text]:
        """Carry it out, and count."""
        self.count += 1
        if self.count == MANY:
            warnings.warn(
                f"{self.op.source}: {self.op.type} {self.op.name!r} is carried out by Python in "
                f"each turn of a loop, {MANY} times by now, which takes ten to a hundred times as "
                f"long as compiled code: {self.why}",
                PerformanceWarning,
                stacklevel=2,
            )
        return super().__call__(*arrays)


def waiting(op: Operation) -> Callable[..., object]:
    """Return an operation on queues or iterators of the run's store as a function of arrays."""

    def run(*arrays: Array) -> list[Array]:
        assert RUNS.store is not None, "a run has a store"
        return [np.asarray(unboxed(x)) for x in op.kind.run(Frame(RUNS.store), op, arrays)]

    return run


def backward_of(op: Operation) -> Backward:
    """Return the way back through such an operation: it is recorded as it is run once more."""

    def make(count: int, places: Sequence[int], has: Sequence[bool]) -> Callable[..., object]:
        def run(*values: Array | Text) -> list[Array]:
            arrays = [*map(as_objects, values)]
            record = Recorded(EMIT)
            frame = Frame(Store(), record.emit, recorded=record)
            inputs = record.watch(arrays[:count])
            record.results(frame.carry_out(op, inputs))
            given = iter(arrays[count:])
            found, _ = record.backward([next(given) if h else None for h in has], [])
            return [
                np.zeros_like(arrays[i]) if found[i] is None else np.asarray(unboxed(found[i]))
                for i in places
            ]

        return run

    return make


MISTAKES = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, AssertionError)
"""What an operation raises that looks at elements which only the run has; or by a mistake."""


def wants_the_run(op: Operation, inputs: Sequence[object]) -> bool:
    """Say whether an operation fails for what it is given, and not for how it is lowered.

    Sizes are open, or its rule fails on types and shapes alone, too: it looks at elements, or
    refuses such operands, which is an error of the run if it gets there.
    """
    values = [unboxed(x) for x in inputs]
    known = {i: np.asarray(x) for i, x in enumerate(values) if not isinstance(x, SSAValue)}
    specs = [spec_of_given(x) for x in values]
    if not all(spec.is_static for spec in specs):
        return True
    try:
        return not _is_of_operations(op, specs, known)
    except (TypeError, ValueError, IndexError):
        return True


def spec_of_given(value: object) -> TensorSpec:
    """Return what is known of a value of a program, or of an array."""
    return (
        spec_of(value.type) if isinstance(value, SSAValue) else spec_of_elements(np.asarray(value))
    )


def _is_of_operations(op: Operation, specs: Sequence[TensorSpec], known: dict[int, Array]) -> bool:
    """Say whether the rule of an operation carries out others on what is known before the run."""
    kind = op.kind
    if isinstance(kind, Composite):
        return is_of_operations(kind.call, specs, known)
    assert isinstance(kind, Primitive), "other kinds have no rule"
    primitive = kind.op

    def apply(make: Maker, *values: object) -> object:
        return make.emit(primitive, *values, **op.attributes)

    return is_of_operations(apply, specs, known)


@contextmanager
def appending(plan: Plan) -> Iterator[None]:
    """Turn what is known to have no form in a program into a refusal; of all else, be the error.

    What goes wrong behind it, when the program is compiled, is no refusal.
    """
    try:
        yield
    except (NotStageableError, PlacementError, LoweringError):
        raise
    except (GravureError, UnknownSizesError, NoGradientError) as error:
        raise NotStageableError(str(error)) from error
    except MISTAKES as error:
        last = plan.ops[-1]
        raise LoweringError(f"the way back of {last.graph.name}", last.source, error) from error
