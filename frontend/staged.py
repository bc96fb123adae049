"""Compile a function's graph: the same run, carried out by appending to a program.

Variables become arguments, and results where they are written; the keys of random draws are
arguments too. Branches and loops become regions that take and give the state they touch. What
only Python can do (`py_function`) is refused with `NotStageable`,
and such a graph is run operation by operation instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue
from xdsl.ir import Operation as XdslOperation

from ..codegen.compile import Options
from ..errors import GravureError, UnsupportedOp
from ..ir import DEVICE, REGISTRY, GraphEmit, Program, take_apart
from ..ir.attributes import Symbol
from ..ir.collection import paused
from ..ir.compositions import Maker
from ..ir.control_gradient import UnknownSizesError, append
from ..ir.dims import Dim, parse
from ..ir.dtypes import DTYPES, i32, i64, u32, u64
from ..ir.host import has_host_steps
from ..ir.op import Array, Op
from ..ir.ops.control import If, While
from ..ir.ops.host_control import FLAG, NUMBER, HostLoop
from ..ir.ops.random import Draw, drawn_key
from ..ir.ops.state import CheckNumerics, Require
from ..ir.ops.structure import Constant, Weight, Yield
from ..ir.program import NAME, finish, lay_over, new_function, set_level
from ..ir.tensor import TensorSpec, spec_of, spec_of_array
from ..ir.values import ANY, held, join
from ..runtime.device_array import DeviceArray
from .compile import CompiledModel, compile_source, load_compiled
from .execute import Frame, Plan, RunError, Store
from .func_graph import FAULT, Draws, FuncGraph, draws_of, touched_by
from .graph import Operation
from .placement import PlacementError, devices_of
from .recorded import Recorded
from .stepped import SteppedModel, on_host
from .threads import all_threads, threads_for
from .variables import Handle, VariableState, changed_in_place

COMPILE_AFTER = 2
"""A function is compiled when it has been called so often with arguments of the same shapes."""
LARGE = 1000
"""A function of so many operations is compiled at its first call: to run it one operation after
the other takes a tenth of the time, and it is called again."""
HEAVY = 1 << 24
"""So is one whose operations make so many elements: what one call more takes, compiling does."""
INLINE = 1024
"""Larger constants become weights."""


class NotStageableError(Exception):
    """A graph does something that has no form outside of Python."""


@dataclass(frozen=True)
class Where:
    """Where a graph is to run."""

    device: str = ""
    """The device of what asks for none; nothing for the processor."""
    soft: bool = False
    """Whether what asks for a device that cannot be may run elsewhere."""


class Shared:
    """What all regions of one program have in common."""

    def __init__(self, where: Where | None = None) -> None:
        self.weights: dict[str, Array] = {}
        self.keys: list[Operation] = []
        self.where = where
        self.fault: Fault | None = None
        """What takes note of requirements, if anything does."""
        self.sizes = 0
        """How many sizes have names that only the run tells."""

    def named(self, spec: Any) -> TensorSpec:
        """Return a tensor's spec with new names for the sizes that are open."""
        dims: list[Dim] = []
        for dim in spec.dims:
            self.sizes += dim == ANY
            dims.append(parse(f"size{self.sizes}") if dim == ANY else dim)
        return TensorSpec(spec.dtype, tuple(dims))


class Fault:
    """Which requirement of a program did not hold, as a variable that the program writes."""

    is_eager = False
    name = "fault"
    spec = TensorSpec(i32, ())

    def __init__(self) -> None:
        self.messages: list[str] = []

    def number(self, message: str) -> int:
        """Return the number of a requirement, from 1."""
        if message not in self.messages:
            self.messages.append(message)
        return self.messages.index(message) + 1

    def put_in(self, store: Store, value: Array) -> None:
        """Raise if there is one."""
        if value:
            raise RunError(self.messages[int(value) - 1])


class StagingFrame(Frame):
    """A run that appends to a block."""

    is_staging = True

    def __init__(self, block: Block, shared: Shared, *, top: bool) -> None:
        super().__init__(Store(), self.append)
        self.block, self.shared, self.top = block, shared, top
        self.emitter = GraphEmit.at_end(block)
        self.state: dict[Any, Any] = {}
        self.arguments: list[Any] = []
        """The variables that are arguments."""
        self.written: dict[Any, None] = {}

    def forget(self) -> None:
        """Hold nothing that was made any more: passes erase it, and its memory is to be free."""
        self.records.clear()
        self.emitter.made.clear()

    def placed(self, ops: Sequence[Operation]) -> dict[Operation, str]:
        """Return the devices of operations; what is inside a branch or a loop goes with it."""
        where = self.shared.where
        if where is None or not self.top:
            return {}
        return devices_of(ops, self.device or "cpu:0", soft=where.soft)

    @property
    def mark(self) -> StringAttr | None:
        """Return what says on an operation where it runs."""
        return None if self.device in ("", "cpu:0") else StringAttr(self.device)

    def append(self, op: type[Op], *operands: Any, **attributes: Any) -> Any:
        """Append an operation; arrays become constants."""
        if op is Require:
            return self.require(self.value(operands[0]), attributes["message"])
        if op is CheckNumerics:
            return self.check_numerics(self.value(operands[0]), attributes["message"])
        self.emitter.device = self.mark
        return self.emitter(op, *[self.value(x) for x in operands], **attributes)

    def require(self, holds: SSAValue, message: str) -> SSAValue:
        """Let the program take note of a value that is to be true."""
        fault = self.shared.fault
        if fault is None or self.replay is not None or not (self.top or fault in self.state):
            return holds
        make = Maker(self.append)
        wrong = make.cast(make.logical_not(holds), dtype=i32)
        here = make.mul(wrong, make.number(fault.number(message), i32))
        self.write(fault, make.maximum(self.present(fault), here))
        return holds

    def check_numerics(self, x: SSAValue, message: str) -> SSAValue:
        """Let the program take note of elements that are not finite."""
        make, size = Maker(self.append), spec_of(x.type).size
        finite = make.isfinite(make.reshape(x, shape=(size,)))
        self.require(make.all(finite, axes=(0,)), f"{message}: tensor had nan or inf values")
        made: SSAValue = make.identity(x)
        return made

    def touched(self, graphs: Sequence[FuncGraph]) -> list[Any]:
        """Return what graphs read or write: variables, counts of draws, and the fault."""
        fault = self.shared.fault
        found = [fault if v is FAULT else v for v in touched_by(graphs)]
        return [v for v in found if v is not None]

    def insert(self, op: XdslOperation) -> Sequence[SSAValue]:
        """Append an operation that is made already."""
        op.operands = [self.value(x) for x in op.operands]
        if self.mark is not None:
            op.attributes[DEVICE] = self.mark
        self.block.add_op(op)
        return op.results

    def value(self, x: Any) -> SSAValue:
        """Return a value of the program."""
        if isinstance(x, SSAValue):
            return x
        array = np.asarray(x)
        if array.dtype.kind in "OSU":
            raise NotStageableError("text")
        if array.size <= INLINE:
            made: SSAValue = self.emitter(Constant, value=array)
            return made
        name = f"c{len(self.shared.weights)}"
        self.shared.weights[name] = array
        spec = spec_of_array(array)
        kept: SSAValue = self.emitter(
            Weight, weight=Symbol(name), dtype=spec.dtype, shape=spec.dims
        )
        return kept

    def host(self, function: Callable[..., Any], inputs: Sequence[Any], dtypes: Any) -> NoReturn:
        """Refuse."""
        raise NotStageableError("a Python function")

    def detached(self, value: Any) -> Any:
        """Return the value."""
        return value

    def present(self, variable: Any) -> Any:
        """Return the value that the variable has at this point."""
        if variable is self.shared.fault and variable not in self.state:
            self.state[variable] = self.value(np.array(0, np.int32))
        if variable not in self.state:
            if isinstance(variable, Draws) and variable.op in self.shared.keys:
                raise NotStageableError(f"{variable.name}: in and outside of a branch or a loop")
            if not self.top or not variable.spec.is_static:
                raise NotStageableError(f"variable {variable.name}")
            argument = self.block.insert_arg(variable.spec.type, len(self.block.args))
            self.state[variable] = argument
            self.arguments.append(variable)
        return self.state[variable]

    def recording(self, op: Operation) -> tuple[Frame, Recorded]:
        """Return a frame on the same block in which an operation is recorded."""
        inner, record = self.again(())
        inner.outer, inner.replay = self, None
        self.records[op] = record
        return inner, record

    def again(self, reads: Sequence[Any]) -> tuple[Frame, Recorded]:
        """Return a frame on the same block in which an operation is run once more."""
        record = Recorded(Way(self) if self.recorded is None else Through(self.recorded))
        inner = copy(self)
        inner.emit, inner.recorded, inner.replay = record.emit, record, [*reads]
        return inner, record

    def write(self, variable: Any, value: Any) -> None:
        """Take note of the value that the variable has from here on."""
        if self.replay is None:
            self.state[variable] = self.value(value)
            self.written[variable] = None

    def next_key(self, op: Operation, seeds: tuple[int, int], count: int) -> Any:
        """Return the key of a random draw: an argument, in a region one that counts the draws."""
        counter, make = draws_of(op), Maker(self.append)
        if not self.top:
            used = self.state[counter]
            self.state[counter] = make.add(used, make.number(count, i64))
            halves = Draw(self.append).halves(make.cast(used, dtype=u64))
            first, _, last = np.split(drawn_key(seeds, 0), 3)
            counted = [make.reshape(half, shape=(1,)) for half in halves]
            return make.concat(
                make.constant(value=first), *counted, make.constant(value=last), axis=0
            )
        if counter in self.state:
            raise NotStageableError(f"{counter.name}: in and outside of a branch or a loop")
        self.shared.keys.append(op)
        argument = self.block.insert_arg(TensorSpec(u32, (6,)).type, len(self.block.args))
        self.arguments.append((op, seeds, count))
        return argument

    def choose(self, branches: Sequence[FuncGraph], inputs: Sequence[Any]) -> Sequence[Any]:
        """Append a choice: of two by a truth value, of several by a number."""
        index, *given = [self.value(x) for x in inputs]
        touched = self.touched(branches)
        state = [self.value(self.read(v)) for v in touched]
        choice = Choice(self.shared, branches, touched, len(given))
        if spec_of(index.type).dtype.kind == "b":
            no, yes = choice.blocks([index, *given, *state])
            op = If.make_from(index, [index, *given, *state], yes, no)
        else:
            op = choice.chain(self.block, [index, *given, *state], 0)
            op.detach()  # type: ignore[no-untyped-call]
        unchanged = choice.unchanged(op)
        return self.added(op, touched, unchanged)

    def loop(
        self, test: FuncGraph, body: FuncGraph, count: int, inputs: Sequence[Any]
    ) -> Sequence[Any]:
        """Append a loop."""
        values = [self.value(x) for x in inputs]
        touched = self.touched([test, body])
        state = [self.value(self.read(v)) for v in touched]
        carried, fixed = [*values[:count], *state], values[count:]
        specs = [spec_of(x.type) for x in (*carried, *fixed)]
        first = len(test.captured)
        blocks = []
        for graph, start, stop in ((test, 0, first), (body, first, len(fixed))):
            block = Block(arg_types=[s.type for s in specs])
            inner = StagingFrame(block, self.shared, top=False)
            inner.state = dict(zip(touched, block.args[count : len(carried)], strict=True))
            taken = list(block.args[len(carried) :])[start:stop]
            made = run_inside(graph, inner, [*block.args[:count], *taken])
            now = [inner.value(x) for x in made]
            if graph is body:
                now += [inner.value(inner.state[v]) for v in touched]
                if [x.type for x in now] != [x.type for x in carried]:
                    return self.growing_loop(Growing(test, body, touched, count), carried, fixed)
            block.add_op(Yield.make(*now))
            blocks.append(block)
        op = While.make_from(carried, fixed, *blocks)
        kept = zip(op.yielded(1), blocks[1].args, strict=False)
        unchanged = [given is argument for given, argument in kept][count:]
        return self.added(op, touched, unchanged)

    def growing_loop(
        self, loop: Growing, carried: Sequence[SSAValue], fixed: Sequence[SSAValue]
    ) -> Sequence[Any]:
        """Append a loop whose values change their shapes: a host step around compiled code."""
        if self.recorded is not None:
            raise NotStageableError("the gradient of a loop that changes shapes")
        before = copy(self)
        before.state = {}
        first = run_inside(loop.test, before, [*carried[: loop.count], *loop.of_test(fixed)])
        trips = self.value(np.array(np.iinfo(np.int64).max))
        block, specs = loop.region(self.shared, carried, fixed)
        types = [self.shared.named(held(spec)).type for spec in specs]
        op = HostLoop.make_from([trips, self.value(first[0])], carried, fixed, block, types)
        return self.added(op, loop.touched, [False] * len(loop.touched))

    def added(
        self, op: If | While | HostLoop, touched: Sequence[Any], unchanged: Sequence[bool]
    ) -> Sequence[Any]:
        """Append an operation whose last results are variables."""
        results = self.control(op)
        count = len(results) - len(touched)
        for variable, value, same in zip(touched, results[count:], unchanged, strict=True):
            if not same:
                self.write(variable, value)
        return list(results[:count])

    def control(self, op: If | While | HostLoop) -> Sequence[Any]:
        """Append a choice or a loop; where this is recorded, so that it has a gradient."""
        if self.recorded is None or isinstance(op, HostLoop):
            return self.insert(op)
        try:
            return append(self.recorded.tape, op, self.recorded.start)
        except UnknownSizesError as error:
            raise NotStageableError(str(error)) from error


class Through:
    """Appends by way of a recording, which can then be gone back through."""

    def __init__(self, record: Recorded) -> None:
        self.record = record

    def __call__(self, op: type[Op], *operands: Any, **attributes: Any) -> Any:
        """Append an operation."""
        return self.record.emit(op, *operands, **attributes)

    def insert(self, op: XdslOperation) -> Sequence[SSAValue]:
        """Append a choice or a loop."""
        assert isinstance(op, If | While), f"{op.name} is appended as it is"
        return append(self.record.tape, op, self.record.start)


class Way:
    """Appends to the frame that is being made, which may be another one on the way back."""

    def __init__(self, frame: StagingFrame) -> None:
        self.frame = frame

    def __call__(self, op: type[Op], *operands: Any, **attributes: Any) -> Any:
        """Append an operation."""
        return self.frame.append(op, *operands, **attributes)

    def insert(self, op: XdslOperation) -> Sequence[SSAValue]:
        """Append an operation that is made already."""
        return self.frame.insert(op)


ROUNDS = 4
"""How often a loop's body is read until the shapes that it gives are those that it takes."""


@dataclass
class Growing:
    """A loop that is being made, whose values change their shapes from turn to turn."""

    test: FuncGraph
    body: FuncGraph
    touched: Sequence[Any]
    count: int
    """How many values it carries, beside what is touched."""

    def of_test(self, fixed: Sequence[Any]) -> Sequence[Any]:
        """Return what the test takes of the values that stay."""
        return fixed[: len(self.test.captured)]

    def region(
        self, shared: Shared, carried: Sequence[SSAValue], fixed: Sequence[SSAValue]
    ) -> tuple[Block, list[TensorSpec]]:
        """Return a turn's block, and the shapes of what is carried: sizes that change are open."""
        specs = [spec_of(x.type) for x in carried]
        for _ in range(ROUNDS):
            taken = [shared.named(held(spec)) for spec in specs]
            types = [*(s.type for s in (NUMBER, FLAG, *taken)), *(x.type for x in fixed)]
            block = Block(arg_types=types)
            made = self.turn(shared, block)
            found = [spec_of(x.type) for x in made[1:]]
            joined: list[Any] = [join(held(a), held(b)) for a, b in zip(specs, found, strict=True)]
            if any(spec.shape is None for spec in joined):
                raise NotStageableError("a loop that changes how many axes there are")
            if joined == [held(spec) for spec in taken]:
                block.add_op(Yield.make(*made))
                return block, joined
            block.erase(safe_erase=False)
            specs = joined
        raise NotStageableError("a loop that changes shapes in every turn anew")

    def turn(self, shared: Shared, block: Block) -> list[SSAValue]:
        """Append one turn; return whether to go on, and what is carried on."""
        frame = StagingFrame(block, shared, top=False)
        end = 2 + self.count + len(self.touched)
        arguments, fixed = block.args[2 : 2 + self.count], list(block.args[end:])
        frame.state = dict(zip(self.touched, block.args[2 + self.count : end], strict=True))
        taken = fixed[len(self.test.captured) :]
        made = [frame.value(x) for x in run_inside(self.body, frame, [*arguments, *taken])]
        on = run_inside(self.test, frame, [*made, *self.of_test(fixed)])
        return [frame.value(on[0]), *made, *(frame.value(frame.state[v]) for v in self.touched)]


@dataclass
class Choice:
    """A choice between graphs that is being made: operands are an index, inputs and variables."""

    shared: Shared
    branches: Sequence[FuncGraph]
    touched: Sequence[Any]
    count: int
    """How many inputs there are, of all branches."""

    def blocks(self, operands: Sequence[SSAValue]) -> list[Block]:
        """Return a block for each branch."""
        return [self.region(number, operands) for number in range(len(self.branches))]

    def region(self, number: int, operands: Sequence[SSAValue]) -> Block:
        """Return a block that runs one branch."""
        branch = self.branches[number]
        block = Block(arg_types=[x.type for x in operands])
        inner = StagingFrame(block, self.shared, top=False)
        inner.state = dict(zip(self.touched, block.args[1 + self.count :], strict=True))
        first = 1 + sum(len(other.captured) for other in self.branches[:number])
        taken = block.args[first : first + len(branch.captured)]
        made = [inner.value(x) for x in run_inside(branch, inner, taken)]
        block.add_op(Yield.make(*made, *(inner.value(inner.state[v]) for v in self.touched)))
        return block

    def chain(self, block: Block, operands: Sequence[SSAValue], number: int) -> If:
        """Append the choice between the branches from a number on; the last is for the rest."""
        emit = GraphEmit.at_end(block)
        dtype = spec_of(operands[0].type).dtype
        wanted = emit(Constant, value=np.array(number, dtype.numpy))
        condition = emit(REGISTRY["gv.equal"], operands[0], wanted)
        if number + 2 >= len(self.branches):
            other = self.region(len(self.branches) - 1, operands)
        else:
            other = Block(arg_types=[x.type for x in operands])
            inner = self.chain(other, list(other.args), number + 1)
            other.add_op(Yield.make(*inner.results))
        op = If.make_from(condition, operands, self.region(number, operands), other)
        block.add_op(op)
        return op

    def unchanged(self, op: If) -> list[bool]:
        """Say of each variable whether all branches leave it as it is."""
        count = len(op.results) - len(self.touched)
        return [
            all(
                op.yielded(n)[count + i] is block.args[1 + self.count + i]
                for n, block in enumerate(op.blocks())
            )
            for i in range(len(self.touched))
        ]


def run_inside(graph: FuncGraph, frame: StagingFrame, values: Sequence[Any]) -> list[Any]:
    """Run a graph in a frame."""
    return graph.whole_plan().run(frame, values)


class Staged:
    """A compiled graph: called with arrays, it reads and writes the variables around the run."""

    def __init__(
        self,
        plan: Plan,
        specs: Sequence[TensorSpec],
        options: Options | None = None,
        where: Where | None = None,
        taken: Sequence[Array] = (),
    ) -> None:
        """Compile a plan for inputs of given specs; behind them it takes the arrays `taken`."""
        if not all(spec.is_static for spec in specs):
            raise NotStageableError("shapes that are not known")
        main = new_function("main", [(f"x{i}", spec) for i, spec in enumerate(specs)])
        shared = Shared(where)
        frame = StagingFrame(main.body.block, shared, top=True)
        frame.device = where.device if where is not None else ""
        shared.fault = Fault() if options is None else None
        with appending():
            made = plan.run(frame, [*main.body.block.args, *map(frame.value, taken)])
            outputs = [frame.value(x) for x in made if x is not None]
        self.is_value = [x is not None for x in made]
        self.count = len(outputs)
        results = [*outputs, *(frame.value(frame.state[v]) for v in frame.written)]
        self.written = [Handle(v, weak=True) for v in frame.written]
        self.arguments = [
            x if isinstance(x, tuple) else Handle(x, weak=True) for x in frame.arguments
        ]
        if not results:
            raise NotStageableError("nothing to compute")
        for i in range(len(specs), len(main.body.block.args)):
            name_argument(main, i)
        finish(main, results, [f"y{i}" for i in range(len(results))])
        module = ModuleOp([main])
        set_level(module, "graph")
        program = Program(module, shared.weights)
        given = [] if has_host_steps(program) else frame.arguments
        places = {v: len(specs) + i for i, v in enumerate(given)}
        over = {
            self.count + i: places[v]
            for i, v in enumerate(frame.written)
            if isinstance(v, VariableState)
            and v in places
            and results[self.count + i].type == main.body.block.args[places[v]].type
        }
        lay_over(main, over)
        self.updated = [i - len(specs) for i in over.values()]
        """Which of the arguments are variables that are written in place."""
        frame.forget()
        self.model = loaded(program, options or Options(slots=all_threads()))
        self.call = self.model.updating() if over else self.model.call

    def run(self, store: Store, arrays: Sequence[Any]) -> list[Any]:
        """Return the outputs."""
        if not self.updated:
            return self._run(store, arrays)
        with changed_in_place([self.arguments[i]() for i in self.updated], store):  # type: ignore[operator]
            return self._run(store, arrays)

    def _run(self, store: Store, arrays: Sequence[Any]) -> list[Any]:
        more = [
            Frame(store).key(*x) if isinstance(x, tuple) else x().value_in(store)
            for x in self.arguments
        ]
        if isinstance(self.model, SteppedModel):
            found = list(self.model.run_in_place([*arrays, *more]))
        else:
            made = self.call(*map(on_host, arrays), *more)
            found = list(made) if isinstance(made, tuple) else [made]
        for variable, value in zip(self.written, found[self.count :], strict=True):
            variable().put_in(store, on_host(value))
        values = iter(found[: self.count])
        return [next(values) if there else None for there in self.is_value]


def loaded(program: Program, options: Options) -> CompiledModel:
    """Return a program compiled for this process, in parts where it is on several devices."""
    if has_host_steps(program):
        return SteppedModel(program, options, all_threads())
    compiled = compile_source(program, options)
    model = load_compiled(compiled, threads_for(compiled))
    compiled.program = None  # a function is compiled once: its memory goes
    take_apart(program.module.regions)
    return model


def name_argument(main: FuncOp, index: int) -> None:
    """Give an argument that was added a name."""
    old = main.arg_attrs.data if main.arg_attrs is not None else ()
    row = DictionaryAttr({NAME: StringAttr(f"s{index}")})
    main.properties["arg_attrs"] = ArrayAttr([*old, row])


@contextmanager
def appending() -> Iterator[None]:
    """Refuse what operations raise that look at elements, where these are known only in a run."""
    try:
        yield
    except (TypeError, ValueError, AttributeError) as error:
        raise NotStageableError(str(error)) from error


@paused()
def staged(plan: Plan, specs: Sequence[TensorSpec]) -> Staged | None:
    """Return the compiled plan, None if it does what only Python can."""
    try:
        return Staged(plan, specs)
    except (NotStageableError, GravureError) as error:
        plan.refusal = str(error)
        return None


def compiled_for(
    plan: Plan, arrays: Sequence[Any], after: int, where: Where | None = None
) -> Staged | None:
    """Return the compiled plan for arrays of these shapes, once it was run often enough.

    What is to run on a GPU is compiled at once, for it runs there only compiled; raises a
    `PlacementError` where it cannot be, unless it may run elsewhere.
    """
    shapes: Any = tuple(x.shape for x in arrays)
    if where is not None and (where.device or plan.asks_for_gpu):
        return placed_for(plan, arrays, (where, *shapes), where)
    known: Staged | int | None = plan.compiled.get(shapes, 0)
    if isinstance(known, int):
        if known < after:
            plan.compiled[shapes] = known + 1
            return None
        is_text = any(x.dtype.kind == "O" for x in arrays)
        known = None if is_text else staged(plan, [spec_of_array(x) for x in arrays])
        plan.compiled[shapes] = known
    return known


@paused()
def placed_for(plan: Plan, arrays: Sequence[Any], key: Any, where: Where) -> Staged | None:
    """Return a plan compiled for the devices that its operations ask for."""
    known: Staged | None = plan.compiled.get(key)
    if known is None:
        specs = [
            TensorSpec(DTYPES[x.dtype], x.shape) if isinstance(x, DeviceArray) else spec_of_array(x)
            for x in arrays
        ]
        try:
            known = plan.compiled[key] = Staged(plan, specs, where=where)
        except PlacementError:
            raise
        except (NotStageableError, UnsupportedOp) as error:
            if where.soft:
                return None
            raise PlacementError(
                f"what is to run on a GPU runs there only compiled: {error}",
                hint="with soft placement it runs on the processor",
            ) from None
    return known
