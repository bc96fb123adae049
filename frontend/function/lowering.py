"""Compile a function's graph: the same run, carried out by appending to a program.

Variables become arguments, and results where they are written; the keys of random draws are
arguments too. Branches and loops become regions that take and give the state they touch. What
only Python can do (`py_function`, queues) is a host step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, SSAValue
from xdsl.ir import Operation as XdslOperation

from ...errors import GravureError
from ...ir import DEVICE, GraphEmit, block_for
from ...ir.compose.functions import first_wrong
from ...ir.compose.maker import Maker
from ...ir.op import Op
from ...ir.ops.control.backward import append
from ...ir.ops.control.control import If, While
from ...ir.ops.control.state import CheckNumerics, Require
from ...ir.ops.control.told_steps import UnknownSizesError
from ...ir.ops.host.host_control import HostIf, HostLoop
from ...ir.ops.host.python_step import Backward, PythonStep
from ...ir.ops.layout import Extent
from ...ir.ops.random import Draw, drawn_key
from ...ir.ops.structure import Constant, Weight, Yield
from ...ir.types.attributes import Symbol
from ...ir.types.dims import Dim
from ...ir.types.dtypes import DType, bool_, i64, u32, u64
from ...ir.types.tensor import TensorSpec, spec_of, spec_of_array
from ...ir.types.values import ANY
from ...requirements import Requirement
from ..eager.recorded import Recorded
from ..graph.frame import (
    Frame,
    Guard,
    LoweringError,
    NotSeenError,
    NotStageableError,
    OutsideError,
    Stateful,
    Store,
)
from ..graph.func_graph import Draws, FuncGraph, draws_of, has_effect, touched_by
from ..graph.graph import Operation
from ..graph.kinds import Composite, Primitive
from ..graph.placement import devices_of
from ..graph.variables import Handle, VariableState
from ..values.texts import Text
from .host_steps import (
    MISTAKES,
    HostStep,
    Interpreted,
    InTurns,
    backward_of,
    seen_spec,
    waiting,
    wants_the_run,
)
from .in_common import (
    Shared,
    Through,
    Way,
    apart,
    as_python,
    as_seen,
    begun,
    chosen,
    elements_of,
    folded,
    found_by,
    if_seen,
    inferred,
    is_steady,
    way_out,
)
from .regions import ChoiceOfGraphs, Growing, LoopGraph, RegionFrame, Turning, run_inside

INLINE = 1024
"""Larger constants become weights."""
PLAIN = (Composite, Primitive)  # whose operations are functions of their inputs

DrawnKey: TypeAlias = tuple[Operation, tuple[int, int], int, int]
"""An argument that is the key of a random draw: its operation, the seeds, how many counters."""


class StagingFrame(RegionFrame):
    """A run that appends to a block."""

    is_staging = True

    def __init__(self, block: Block, shared: Shared, *, top: bool) -> None:
        super().__init__(Store(), self.append)
        self.block, self.shared, self.top = block, shared, top
        self.emitter = GraphEmit.at_end(block)
        self.state: dict[object, SSAValue] = {}
        self.arguments: list[VariableState | Draws | DrawnKey] = []
        """The variables that are arguments."""
        self.written: dict[Stateful, None] = {}
        self.known: dict[SSAValue, object] = {}
        """Values with the sizes that they always had so far, where these were asked for."""

    def carry_out(self, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Append an operation, as a host step if it has no other form; return its results."""
        outer, self.shared.op = self.shared.op, op
        try:
            return self.carried_out(op, inputs)
        except (NotStageableError, GravureError, LoweringError):
            raise
        except MISTAKES as error:
            raise LoweringError(f"node {op.name!r} ({op.type})", op.source, error) from error
        finally:
            self.shared.op = outer

    def carried_out(self, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Append an operation that is known as the present one."""
        kind = op.kind
        if self.shared.has_host and (kind.waits or kind.is_numbers):
            step = waiting(op) if kind.waits else Interpreted(op)
            return self.host_step(op, step, inputs, None)
        if kind.stateful or kind.draws or kind.is_python or not isinstance(kind, PLAIN):
            return kind.run(self, op, inputs)
        return self.plain(op, inputs)

    def plain(self, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Append an operation that is a function of its inputs: by its rule, if that can be."""
        try:
            if any(tensor.spec.dtype.kind == "s" for tensor in op.outputs):
                raise NotStageableError("text")
            return self.by_rule(op, inputs)
        except (NotStageableError, GravureError) as error:
            if not self.shared.has_host:
                raise
            known = [as_seen(self, *pair) for pair in zip(op.inputs, inputs, strict=True)]
            if any(a is not b for a, b in zip(known, inputs, strict=True)):
                return self.plain(op, known)
            self.shared.slow[op] = str(error)
            of_texts = any(t.spec.dtype.kind == "s" for t in (*op.inputs, *op.outputs))
            step = InTurns(op, str(error)) if self.turns and not of_texts else Interpreted(op)
            return self.host_step(op, step, inputs, backward_of(op))

    def by_rule(self, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Append an operation by its rule; say so if that wants what only the run has, or texts.

        Of texts, which no program holds, rules find out shapes and nothing else.
        """
        try:
            return op.kind.run(self, op, inputs)
        except (GravureError, LoweringError):
            raise
        except MISTAKES as error:
            of_texts = any(tensor.spec.dtype.kind == "s" for tensor in op.inputs)
            if not (of_texts or wants_the_run(op, inputs)):
                raise
            raise NotStageableError(str(error)) from error

    def forget(self) -> None:
        """Hold nothing that was made: passes erase it, and its memory is to be free."""
        self.records.clear()
        self.emitter.made.clear()

    def placed(self, ops: Sequence[Operation]) -> dict[Operation, str]:
        """Return the devices of operations; what is inside a branch or a loop goes with it."""
        where = self.shared.where
        if where is None or not self.top:
            return {}
        return devices_of(ops, self.device or "cpu:0", soft=where.soft, more=where.processors)

    @property
    def origin(self) -> StringAttr | None:
        """Return what says on an operation which node and line it comes from."""
        op = self.shared.op
        if op is None:
            return None
        return StringAttr(f"{op.name} at {op.source}" if op.source else op.name)

    @property
    def mark(self) -> StringAttr | None:
        """Return what says on an operation where it runs."""
        return StringAttr(self.device) if self.device.startswith("gpu") else None

    def append(self, op: type[Op], *operands: object, **attributes: object) -> Any:
        """Append an operation, unless it makes a few integers of some that are known."""
        found = folded(op, operands, attributes)
        if found is not None:
            return found[0] if len(found) == 1 else tuple(found)
        return self.appended(op, *operands, **attributes)

    def appended(self, op: type[Op], *operands: object, **attributes: Any) -> Any:
        """Append an operation; arrays become constants."""
        if op is Require:
            wanted = Requirement(**{name: as_python(x) for name, x in attributes.items()})
            return self.require(wanted, *map(self.value, operands))
        if op is CheckNumerics:
            return self.check_numerics(self.value(operands[0]), attributes["message"])
        self.emitter.device, self.emitter.source = self.mark, self.origin
        values = [self.value(x) for x in operands]
        likely = attributes.pop("likely", ())
        if likely and self.supposes(values[0], likely):
            return self.emitter(Extent, values=likely)
        if ANY in attributes.get("sizes", ()):
            return found_by(self.shared, self.emitter, op, values, attributes)
        plain = {name: as_python(value) for name, value in attributes.items()}
        known = inferred(self.shared.op, op, values, attributes)
        if known is not None:
            made = self.emitter.append(op.build_unchecked(values, known, plain))
        else:
            made = self.emitter(op, *values, **plain)
        if op.has("needs"):
            self.look_at(op, values, plain, made)
        return made

    def look_at(
        self, op: type[Op], values: Sequence[SSAValue], plain: Mapping[str, object], made: SSAValue
    ) -> None:
        """Require what an operation needs; that is looked at where the result is not well."""
        if not self.takes_note:
            return
        blocks = [block_for(values), block_for(values)]
        emits = [GraphEmit.at_end(block) for block in blocks]
        for emit in emits:
            emit.device, emit.source = self.mark, self.origin
        rows = op.needs(emits[1], *blocks[1].args, **plain)
        if not rows:
            return
        emits[1](Yield, *(holds for holds, _ in rows))
        emits[0](Yield, *(Maker(emits[0]).number(True, bool_) for _ in rows))
        choice = If.make_from(op.is_well(self.append, made), values, *blocks)
        self.emitter.append(choice)
        for holds, (_, told) in zip(choice.results, rows, strict=True):
            self.require(Requirement(told), holds)

    @property
    def takes_note(self) -> bool:
        """Say whether the program takes note of what is wrong."""
        fault = self.shared.fault
        return fault is not None and self.replay is None and (self.top or fault in self.state)

    def require(self, wanted: Requirement, holds: SSAValue, *found: SSAValue) -> SSAValue:
        """Let the program take note of a value that is to be true, and of what is wrong."""
        fault = self.shared.fault
        if fault is None or not self.takes_note:
            return holds
        make = Maker(self.append)
        number = make.number(fault.number(wanted, self.shared.op), i64)
        found = found or (make.number(0, i64),) * 2
        here = make.concat(*(make.reshape(x, shape=(1,)) for x in (number, *found)), axis=0)
        both = make.logical_or(holds, make.logical_not(self.is_well()))
        self.state[fault] = make.select(both, self.present(fault), here)
        self.written[fault] = None
        return holds

    def supposes(self, sizes: SSAValue, likely: tuple[int, ...]) -> bool:
        """Say whether the program is made for such sizes; a run that has others goes on elsewhere.

        What is run once more, for its gradient, has those that it had.
        """
        op, fault = self.shared.op, self.shared.fault
        if op is None or fault is None or op.varies or not self.shared.has_host:
            return False
        if self.replay is not None:
            return any(op in ops for ops in fault.supposed.values())
        if not self.takes_note:
            return False
        make, wanted = Maker(self.append), Requirement(f"sizes {list(likely)}")
        fault.suppose(wanted, op)
        self.require(wanted, make.all(make.equal(sizes, np.array(likely)), axes=(0,)))
        return True

    def is_well(self) -> SSAValue:
        """Return whether all requirements hold so far."""
        make = Maker(self.append)
        now = self.value(self.present(self.shared.fault))
        number = make.reshape(make.slice(now, starts=(0,), stops=(1,), steps=(1,)), shape=())
        well: SSAValue = make.equal(number, make.number(0, i64))
        return well

    def check_numerics(self, x: SSAValue, message: str) -> SSAValue:
        """Let the program take note of elements that are not finite."""
        make, spec = Maker(self.append), spec_of(x.type)
        made: SSAValue = make.identity(x)
        flat = make.reshape(x, shape=(spec.size,))
        finite = make.isfinite(flat)
        told = f"{message}: tensor had {{kind}} values{{place}}"
        if not spec.is_static or not spec.size:
            plain = Requirement(f"{message}: tensor had nan or inf values")
            self.require(plain, make.all(finite, axes=(0,)))
            return made
        place, fine = first_wrong(make, finite, spec.static_shape)
        kind = make.cast(make.isnan(make.gather(flat, place, axis=0)), dtype=i64)
        wanted = Requirement(f"{message}: tensor had nan or inf values", told, spec.static_shape)
        self.require(wanted, fine, self.value(make.cast(place, dtype=i64)), self.value(kind))
        return made

    def touched(self, graphs: Sequence[FuncGraph]) -> list[Stateful]:
        """Return what graphs read or write: variables, counts of draws, and the fault.

        Where variables are touched behind a requirement, that one guards them.
        """
        fault = self.shared.fault
        found = [fault if v is Guard.FAULT else v for v in touched_by(graphs)]
        if fault in self.state and any(isinstance(v, VariableState) for v in found):
            found.append(fault)
        return [v for v in dict.fromkeys(found) if v is not None]

    def insert(self, op: XdslOperation) -> Sequence[SSAValue]:
        """Append an operation that is made already."""
        op.operands = [self.value(x) for x in op.operands]
        if self.mark is not None:
            op.attributes[DEVICE] = self.mark
        self.block.add_op(op)
        return op.results

    def value(self, x: object) -> SSAValue:
        """Return a value of the program."""
        if isinstance(x, SSAValue):
            return x
        array = np.asarray(x)
        if array.dtype.kind in "OSU":
            step = self.shared.text(np.asarray(array, object))
            return self.value(self.emitter(PythonStep, function=step.name, sizes=()))
        if array.size <= INLINE:
            made: SSAValue = self.emitter(Constant, value=array)
            return made
        name = f"c{len(self.shared.weights)}"
        self.shared.weights[name] = array
        spec = spec_of_array(array)
        kept = self.emitter(Weight, weight=Symbol(name), dtype=spec.dtype, shape=spec.dims)
        return self.value(kept)

    def begun(self, value: object) -> object:
        """Return an array that has no elements yet, and note it."""
        made = self.value(value)
        self.shared.begun[made] = None
        return made

    def host(
        self, function: Callable[..., object], inputs: Sequence[object], dtypes: Sequence[DType]
    ) -> Sequence[object]:
        """Append a call of a Python function."""
        op, call = self.shared.op, getattr(function, "call", None)
        if not self.shared.has_host or op is None:
            raise NotStageableError("a Python function")
        return self.host_step(op, function, inputs, None if call is None else call.backward)

    def host_step(
        self,
        op: Operation,
        function: Callable[..., object],
        inputs: Sequence[Any],
        backward: Backward | None,
    ) -> Sequence[object]:
        """Append a step that Python carries out; return its results."""
        specs = [seen_spec(tensor) for tensor in op.outputs]
        seen = [spec for spec in specs if spec is not None]
        if len(seen) < len(specs):
            raise NotSeenError(f"node {op.name!r} gives shapes that were not seen yet")
        known = self.shared.named_together(seen, [tensor.spec for tensor in op.outputs])
        step = HostStep(op, function, known, backward)
        step.is_apart = self.top and op in self.shared.apart
        step.queue = self.shared.queues.get(op)
        is_text = [isinstance(x, np.ndarray) and x.dtype.kind == "O" for x in inputs]
        step.constants = {i: Text(x) for i, x in enumerate(inputs) if is_text[i]}
        operands = [self.value(x) for x, text in zip(inputs, is_text, strict=True) if not text]
        if self.recorded is not None and step.constants and backward is not None:
            raise NotStageableError("the gradient of a function of text")
        operands += self.shown_to(step, function) if self.recorded is None else []
        self.shared.calls.append(step)
        open_ = [d for spec in known for d in spec.dims if not isinstance(d, int)]
        sizes = tuple(dict.fromkeys(open_))
        made = self.emit(PythonStep, *operands, function=step.name, sizes=sizes)
        several = made if isinstance(made, tuple | list) else [made] if step.specs else []
        results = [self.value(x) for x in several]
        count = len(op.outputs)
        for handle, value in zip(step.variables, results[count:], strict=True):
            self.state[handle()] = value
        return results[:count]

    def shown_to(self, step: HostStep, function: Callable[..., object]) -> list[SSAValue]:
        """Return what Python gets beside its inputs: variables as they are now, and the fault."""
        more: list[SSAValue] = []
        waits = step.op.kind.waits
        if waits or hasattr(function, "on_tensors"):
            for variable in self.shared.variables if self.top and not waits else ():
                self.present(variable)
            known = self.written if self.top and waits else self.state
            found = [v for v in known if isinstance(v, VariableState) and (waits or v.is_eager)]
            step.variables = [Handle(v, weak=True) for v in found]
            more = [self.state[v] for v in found]
            step.specs += [spec_of(x.type) for x in more]
        fault = self.shared.fault
        if fault is not None and fault in self.state:
            more.append(self.state[fault])
            step.fault = fault.error
        return more

    def detached(self, value: object) -> object:
        """Return the value."""
        return value

    def present(self, variable: Stateful | None) -> SSAValue:
        """Return the value that the variable has at this point."""
        fault = self.shared.fault
        if fault is not None and variable is fault and fault not in self.state:
            self.state[fault] = self.value(fault.value_in(self.store))
        if variable not in self.state:
            if isinstance(variable, Draws) and variable.op in self.shared.keys:
                raise NotStageableError(f"{variable.name}: in and outside of a branch or a loop")
            if not isinstance(variable, VariableState | Draws):
                raise OutsideError(f"{variable} is a state of Python's")
            if not self.top or not variable.spec.is_static:
                raise NotStageableError(f"variable {variable.name}")
            argument = self.block.insert_arg(variable.spec.type, len(self.block.args))
            self.state[variable] = argument
            self.arguments.append(variable)
        return self.state[variable]

    def recording(self, op: object) -> tuple[Frame, Recorded]:
        """Return a frame on the same block in which an operation is recorded."""
        inner, record = self.again(())
        inner.outer, inner.replay = self, None
        self.records[op] = record
        return inner, record

    def again(self, reads: Sequence[object]) -> tuple[Frame, Recorded]:
        """Return a frame on the same block in which an operation is run once more."""
        record = Recorded(Way(self) if self.recorded is None else Through(self.recorded))
        inner = copy(self)
        inner.emit, inner.recorded, inner.replay = record.emit, record, [*reads]
        inner.known = {}  # what another recording has made has no way back in this one
        return inner, record

    def write(self, variable: Stateful, value: object) -> None:
        """Take note of the value that the variable has from here on.

        Behind a requirement that did not hold it keeps the value that it has.
        """
        if self.replay is None:
            made = self.guarded(variable, self.value(value))
            old = None if self.top else self.state[variable]
            self.state[variable] = apart(self.append, self.recorded, made, old)
            self.written[variable] = None

    def guarded(self, variable: Stateful, value: SSAValue) -> SSAValue:
        """Return the value if all requirements hold so far, else that which the variable has."""
        fault = self.shared.fault
        if not isinstance(variable, VariableState) or fault not in self.state:
            return value
        if variable not in self.state and not variable.is_eager:
            self.shared.withheld[variable] = None  # it may have no value yet
            return value
        old, make = self.present(variable), Maker(self.append)
        if old.type != value.type:
            self.shared.withheld[variable] = None
            return value
        kept: SSAValue = make.select(self.is_well(), value, old)
        return kept

    def next_key(self, op: object, seeds: tuple[int, int], count: Dim, first: Dim = 0) -> object:
        """Return the key of a random draw: an argument; one that counts the draws in regions.

        It counts them, too, where only the run has how many numbers are drawn.
        """
        assert isinstance(op, Operation), "what draws is an operation of a graph"
        counter, make = draws_of(op), Maker(self.append)
        if not (self.top and isinstance(count, int) and isinstance(first, int)):
            used = self.present(counter) if self.top else self.state[counter]
            self.state[counter] = make.add(used, make.extent_of(count))
            if self.top:
                self.written[counter] = None
            used = make.add(used, make.extent_of(first)) if first != 0 else used
            halves = Draw(self.append).halves(make.cast(used, dtype=u64))
            start, _, last = np.split(drawn_key(seeds, 0), 3)
            counted = [make.reshape(half, shape=(1,)) for half in halves]
            return make.concat(
                make.constant(value=start), *counted, make.constant(value=last), axis=0
            )
        if counter in self.state:
            raise NotStageableError(f"{counter.name}: in and outside of a branch or a loop")
        self.shared.keys.append(op)
        argument = self.block.insert_arg(TensorSpec(u32, (6,)).type, len(self.block.args))
        self.arguments.append((op, seeds, count, first))
        return argument

    def inside(self, block: Block) -> StagingFrame:
        """Return what appends to the block of a region."""
        inner = StagingFrame(block, self.shared, top=False)
        inner.turns = self.turns
        return inner

    def choose(self, branches: Sequence[FuncGraph], inputs: Sequence[object]) -> Sequence[object]:
        """Append a choice: of two by a truth value, of several by a number.

        Where that is known, as what ranks say is, there is but one branch.
        """
        known = elements_of(inputs[0])
        if known is not None:
            number = int(known)
            number = number if 0 <= number < len(branches) else len(branches) - 1
            first = 1 + sum(len(other.captured) for other in branches[:number])
            taken = inputs[first : first + len(branches[number].captured)]
            return run_inside(branches[number], self, taken)
        index, *given = [self.value(x) for x in inputs]
        touched = self.touched(branches)
        state = [self.value(self.read(v)) for v in touched]
        choice = ChoiceOfGraphs(self, branches, touched, len(given))
        regions = choice.blocks([index, *given, *state])
        if spec_of(index.type).dtype.kind == "b":
            op = chosen(self.shared, index, [index, *given, *state], regions[::-1])
        else:
            op = choice.chain(self.block, [index, *given, *state], regions, 0)
            op.detach()  # type: ignore[no-untyped-call]
        unchanged = choice.unchanged(op)
        return self.added(op, touched, unchanged)

    def loop(
        self, test: FuncGraph, body: FuncGraph, count: int, inputs: Sequence[object]
    ) -> Sequence[object]:
        """Append a loop."""
        values = [self.value(x) for x in inputs]
        touched = self.touched([test, body])
        state = [self.value(self.read(v)) for v in touched]
        carried, fixed = [*values[:count], *state], values[count:]
        first = len(test.captured)
        guarded = self.shared.fault is not None and self.shared.fault in touched
        if guarded or any(map(has_effect, test.operations)):
            return self.turning_loop(Turning(self, test, body, touched, count), carried, fixed)

        def turn(begin: Sequence[SSAValue]) -> Block:
            whole = LoopGraph(self, touched, [*begin, *fixed], count)
            return whole.region(body, slice(first, None), changes=True)

        begin, made = self.turn_of(turn, carried, fixed, slice(count, len(carried)))
        if not is_steady(made, begin):
            return self.growing_loop(Growing(self, test, body, touched, count), carried, fixed)
        carried = [*begin]
        inside = LoopGraph(self, touched, [*carried, *fixed], count)
        again = inside.region(test, slice(first), changes=False)
        op = While.make_from(carried, fixed, again, made)
        self.shared.goes_on_as(carried, op.results)
        kept = zip(op.yielded(1), made.args, strict=False)
        unchanged = [given is argument for given, argument in kept][count:]
        return self.added(op, touched, unchanged)

    def turn_of(
        self,
        turn: Callable[[Sequence[SSAValue]], Block],
        carried: Sequence[SSAValue],
        fixed: Sequence[SSAValue],
        state: slice,
    ) -> tuple[Sequence[SSAValue], Block]:
        """Return what a loop begins with, and the block of a turn.

        Arrays without elements begin with such as a turn leaves in them, so that no shape changes.
        """
        calls, slow, make = len(self.shared.calls), {**self.shared.slow}, Maker(self.append)
        block = if_seen(self.shared, lambda: turn(carried))
        if block is None:
            taken = [spec_of(x.type) for x in (*carried, *fixed)]
            block = way_out(self.shared, taken, taken[: state.start], state)
        assert block.last_op is not None, "a turn ends in gv.yield"
        pairs = zip(carried, block.last_op.operands, strict=True)
        whole = [self.value(begun(self.shared, make, x, spec_of(y.type))) for x, y in pairs]
        if [x.type for x in whole] == [x.type for x in carried]:
            return carried, block
        block.erase(safe_erase=False)
        del self.shared.calls[calls:]
        self.shared.slow = slow
        return self.turn_of(turn, whole, fixed, state)

    def growing_loop(
        self, loop: Growing, carried: Sequence[SSAValue], fixed: Sequence[SSAValue]
    ) -> Sequence[object]:
        """Append a loop whose values change their shapes: a host step around compiled code."""
        first = run_inside(loop.test, self, [*carried[: loop.count], *loop.of_test(fixed)])
        state = [self.value(self.read(v)) for v in loop.touched]
        carried = [*carried[: loop.count], *state]
        trips = self.value(np.array(np.iinfo(np.int64).max))
        block, sizes = loop.region(carried, fixed)
        types = [spec.type for spec in sizes.named(self.shared.size)]
        pairs = zip(carried, sizes.specs, strict=True)
        make = Maker(self.append)
        carried = [self.value(begun(self.shared, make, x, spec)) for x, spec in pairs]
        op = HostLoop.make_from([trips, self.goes_on(first[0])], carried, fixed, block, types)
        return self.added(op, loop.touched, [False] * len(loop.touched))

    def turning_loop(
        self, loop: Turning, carried: Sequence[SSAValue], fixed: Sequence[SSAValue]
    ) -> Sequence[object]:
        """Append a loop whose test does more than to test: each turn ends with it."""
        taken, count = fixed[: len(loop.test.captured)], loop.count
        first = self.goes_on(run_inside(loop.test, self, [*carried[:count], *taken])[0])
        state = [self.value(self.read(v)) for v in loop.touched]
        given = [*carried[:count], *state, first]

        def turn(begin: Sequence[SSAValue]) -> Block:
            return loop.body_block([*begin, *fixed])

        begin, body = self.turn_of(turn, given, fixed, slice(count, len(given)))
        if not is_steady(body, begin):
            growing = Growing(self, loop.test, loop.body, loop.touched, loop.count)
            return self.growing_loop(growing, carried, fixed)
        given = [*begin]
        test = Block(arg_types=[x.type for x in (*given, *fixed)])
        test.add_op(Yield.make(test.args[len(given) - 1]))
        op = While.make_from(given, fixed, test, body)
        kept = zip(op.yielded(1), body.args, strict=False)
        unchanged = [made is argument for made, argument in kept][count:-1]
        return self.added(op, loop.touched, unchanged, extra=1)

    def goes_on(self, test: object) -> SSAValue:
        """Return whether a loop goes on: not behind a requirement that did not hold."""
        made, fault = self.value(test), self.shared.fault
        if fault not in self.state:
            return made
        both: SSAValue = Maker(self.append).logical_and(made, self.is_well())
        return both

    def added(
        self,
        op: If | While | HostIf | HostLoop,
        touched: Sequence[Stateful],
        unchanged: Sequence[bool],
        extra: int = 0,
    ) -> Sequence[SSAValue]:
        """Append an operation whose last results are variables, before `extra` that nobody uses."""
        results = self.control(op)
        results = results[: len(results) - extra]
        count = len(results) - len(touched)
        for variable, value, same in zip(touched, results[count:], unchanged, strict=True):
            if not same:  # (what is inside has its guards)
                self.state[variable] = apart(self.append, self.recorded, value)
                self.written[variable] = None
        return list(results[:count])

    def control(self, op: If | While | HostIf | HostLoop) -> Sequence[SSAValue]:
        """Append a choice or a loop; where this is recorded, so that it has a gradient."""
        if self.recorded is None:
            return self.insert(op)
        try:
            return append(self.recorded.tape, op, self.recorded.start)
        except UnknownSizesError as error:
            raise NotStageableError(str(error)) from error
