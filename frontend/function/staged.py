"""Compiled plans: made when they pay, run on arrays, with variables read and written around."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...codegen.compiled import Options
from ...collection import paused
from ...errors import PerformanceWarning, UnsupportedOp
from ...ir import Program, take_apart
from ...ir.host import has_host_steps
from ...ir.op import Array
from ...ir.program import (
    NAME,
    finish,
    lay_over,
    new_function,
    set_level,
    set_requirements,
)
from ...ir.types.dims import DimExpr
from ...ir.types.dtypes import DTYPES, string
from ...ir.types.tensor import TensorSpec, spec_of_array
from ...runtime.deadline import DEADLINE
from ...runtime.gpu.device_array import DeviceArray
from ...runtime.tracing import EARS
from ..graph.execute import Plan, Wishes
from ..graph.frame import Frame, LoweringError, NotSeenError, NotStageableError, OutsideError, Store
from ..graph.func_graph import Draws, touched_in
from ..graph.tolls import TALLY, Account, Outlook
from ..graph.variables import ChangedInPlace, Handle, VariableState
from ..models.compiled import CompiledModel, compile_piece, load_compiled
from ..models.growing import tell_inside
from ..models.pieces import SteppedModel, on_host
from ..models.threads import all_threads, threads_for
from ..values.context import programming
from ..values.devices import PlacementError
from .host_steps import RUNS, Again, Done, ShapesChangedError, appending
from .in_common import FaultVariable, Shared, Where
from .lowering import StagingFrame

T = TypeVar("T")
Shapes: TypeAlias = "tuple[Sequence[int | DimExpr] | None, ...]"
"""Those of arguments."""
NOTHING = Account()
"""What was spent before the first call."""


class Written:
    """The variables that a program gives values to, as its last results."""

    def __init__(self, frame: StagingFrame) -> None:
        fault = frame.shared.fault
        variables = [v for v in frame.written if isinstance(v, VariableState | Draws)]
        self.handles = [Handle(v, weak=True) for v in variables]
        self.withheld = [v in frame.shared.withheld for v in variables]
        told = variables or frame.shared.reports
        self.fault = fault if told and fault in frame.written else None
        """What says which requirement did not hold: the result behind those of the variables."""
        self.values = [frame.value(frame.state[v]) for v in variables]
        if self.fault is not None:
            self.values.append(frame.value(frame.state[self.fault]))
        self.variables = variables

    def names(self, count: int) -> list[str]:
        """Return the names of so many results, of which those are the last."""
        names = [f"y{i}" for i in range(count)]
        return names if self.fault is None else [*names[:-1], "fault"]

    def forget(self) -> None:
        """Hold nothing that was made any more."""
        self.values.clear()
        self.variables.clear()

    @property
    def count(self) -> int:
        """Return how many results there are."""
        return len(self.handles) + (self.fault is not None)

    def put_all(self, store: Store, values: Sequence[Array]) -> None:
        """Write the variables; raise if a requirement did not hold.

        What was to be written behind it has its old value then, or is left as it is.
        """
        number = 0 if self.fault is None else int(values[-1][0])
        for handle, withheld, value in zip(self.handles, self.withheld, values, strict=False):
            if not (number and withheld):
                handle().put_in(store, value)
        if self.fault is not None and number:
            raise self.fault.error(values[-1])


@dataclass(frozen=True)
class Export:
    """How a graph is compiled whose code is to leave this process."""

    options: Options
    taken: Sequence[Array] = ()
    """What it takes behind its inputs: constants."""
    hides: bool = False
    """Whether what tells of requirements is no result, as the code itself ends by a status."""


class Staged:
    """A compiled graph: called with arrays, it reads and writes the variables around the run."""

    def __init__(
        self,
        plan: Plan,
        specs: Sequence[TensorSpec],
        export: Export | None = None,
        where: Where | None = None,
        rows: Sequence[TensorSpec | None] = (),
    ) -> None:
        """Compile a plan for inputs of given specs, for elsewhere if that is said by `export`.

        The memory that a run is given for results, `rows`, has these specs: what fits is used.
        """
        if not all(spec.is_static for spec in specs):
            raise NotStageableError("shapes that are not known")
        main = new_function("main", [(f"x{i}", spec) for i, spec in enumerate(specs)])
        shared = Shared(where)
        frame = StagingFrame(main.body.block, shared, top=True)
        frame.device = where.device if where is not None else ""
        shared.fault = FaultVariable()
        shared.apart = plan.apart if plan.wishes.overlap else frozenset()
        shared.queues = plan.queues
        shared.reports = export is None or export.hides
        shared.has_host = shared.has_sizes = export is None and not frame.device
        with programming():
            touched = touched_in(plan.ops)
            shared.variables = [v for v in touched if isinstance(v, VariableState) and v.is_eager]
            with appending(plan):
                taken = map(frame.value, () if export is None else export.taken)
                made = plan.run(frame, [*main.body.block.args, *taken])
                outputs = [frame.value(x) for x in made if x is not None]
            self.written = Written(frame)
        self.is_value = [x is not None for x in made]
        self.count = len(outputs)
        results = [*outputs, *self.written.values]
        self.arguments = [
            x if isinstance(x, tuple) else Handle(x, weak=True) for x in frame.arguments
        ]
        if not results:
            raise OutsideError("nothing to compute")
        self.rows = take_memory(main, outputs, rows)
        """The results that are written into memory that the run is given: the last arguments."""
        for i in range(len(specs), len(main.body.block.args)):
            name_argument(main, i)
        finish(main, results, self.written.names(len(results)))
        program = self._program(main, shared, hides=export is not None and export.hides)
        stays = not (has_host_steps(program) or shared.fault.supposed)
        self._in_place(program.main, frame.arguments, len(specs), stays=stays)
        self.written.forget()
        frame.forget()
        self.plan, self.calls, self.slow = plan, shared.calls, shared.slow
        self.may_go_on = bool(self.calls or shared.fault.supposed)
        """Whether a run may have to go on operation by operation."""
        self.model = loaded(program, wished(plan.wishes) if export is None else export.options)
        self.call = self.model.updating() if self.writes else self.model.call

    @property
    def writes(self) -> bool:
        """Say whether it writes into arrays that it is given."""
        return bool(self.updated or self.rows)

    def _program(self, main: FuncOp, shared: Shared, *, hides: bool) -> Program:
        """Return a function as a program, of which `hides` says that its code ends by a status."""
        module = ModuleOp([main])
        set_level(module, "graph")
        if hides and self.written.fault is not None:
            set_requirements(module, [*self.written.fault.known])
        program = Program(module, shared.weights)
        tell_inside(program)
        return program

    def _in_place(
        self, main: FuncOp, arguments: Sequence[object], before: int, *, stays: bool
    ) -> None:
        """Let variables be written where they lie, if code can: they are arguments and results.

        Not where a run may go on elsewhere: it needs what they were.
        """
        types, results = main.function_type.inputs.data, main.function_type.outputs.data
        given = arguments if stays else []
        places = {v: before + i for i, v in enumerate(given)}
        over = {
            self.count + i: places[v]
            for i, v in enumerate(self.written.variables)
            if isinstance(v, VariableState)
            and v in places
            and results[self.count + i] == types[places[v]]
        }
        self.updated = [i - before for i in over.values()]
        """Which of the arguments are variables that are written in place."""
        written = {*self.written.variables}
        self.outside = [i for i, v in enumerate(arguments) if v not in written]
        """Which are not written at all: they are read before other steps are kept waiting."""
        if stays:
            behind = len(types) - len(self.rows)
            over |= {result: behind + i for i, result in enumerate(self.rows)}
        lay_over(main, over)

    def run(
        self, store: Store, arrays: Sequence[object], rows: Sequence[object] = ()
    ) -> list[object]:
        """Return the outputs; those that were compiled for memory are in `rows`."""
        memory = [rows[i] for i in self.rows]
        if self.may_go_on:
            return self._run_calls(store, arrays, memory)
        if not self.written.count:
            return self._run(store, arrays, memory)
        written = [handle() for handle in self.written.handles]
        state: list[object] = [None] * len(self.arguments)
        for i in self.outside:
            state[i] = self._argument(i, store)
        in_place: list[Any] = [self.arguments[i]() for i in self.updated]  # type: ignore[operator]
        others = [each for each in written if each not in in_place]
        with ChangedInPlace(in_place, others, store):
            return self._run(store, arrays, memory, state)

    def _argument(self, i: int, store: Store) -> object:
        """Return the value of an argument now: a variable's, or the key of a random draw."""
        argument = self.arguments[i]
        if isinstance(argument, tuple):
            return Frame(store).key(*argument)
        return argument().value_in(store)

    def _run_calls(
        self, store: Store, arrays: Sequence[object], memory: Sequence[object]
    ) -> list[object]:
        """Run with host steps: operation by operation if one gives another shape than before."""
        handles = [x for x in self.arguments if not isinstance(x, tuple)]
        values = [(x(), x().value_in(store)) for x in handles]
        draws, outer = {**store.draws}, (RUNS.done, RUNS.store)
        done: list[Done] = []
        RUNS.done, RUNS.store = done, store
        try:
            return self._run(store, arrays, memory)
        except ShapesChangedError:
            self.is_stale = True
            for key in [k for k, made in self.plan.compiled.items() if made is self]:
                self.plan.compiled[key] = Account()
        finally:
            RUNS.done, RUNS.store = outer
        store.draws.clear()
        store.draws.update(draws)
        for variable, value in values:
            variable.put_in(store, value)
        return self.plan.run(Again(store, done=done), [*map(on_host, arrays)])

    is_stale = False
    """Whether a host step has given other shapes than those that this was made for."""

    def _run(
        self,
        store: Store,
        arrays: Sequence[object],
        memory: Sequence[object],
        state: Sequence[object] | None = None,
    ) -> list[object]:
        """Run; of the arguments between the arrays and memory, some may be known already."""
        known = state or [None] * len(self.arguments)
        more = [self._argument(i, store) if x is None else x for i, x in enumerate(known)]
        if isinstance(self.model, SteppedModel):
            found = list(self.model.run_in_place([*arrays, *more, *memory]))
        else:
            call = self.model.telling(update=self.writes) if EARS.everyone else self.call
            made = call(*map(on_host, arrays), *more, *memory)
            found = list(made) if isinstance(made, tuple) else [made]
        self.written.put_all(store, [*map(on_host, found[self.count :])])
        values = iter(found[: self.count])
        return [next(values) if there else None for there in self.is_value]


def wished(wishes: Wishes) -> Options:
    """Return how a plan is compiled."""
    threads = min(wishes.threads or all_threads(), all_threads())
    return Options(
        level=wishes.level,
        numerics="exact",
        recompute=wishes.recompute,
        swap=wishes.swap,
        disable=wishes.disable,
        slots=threads,
    )


def loaded(program: Program, options: Options) -> CompiledModel:
    """Return a program compiled for this process, in parts where it is on several devices."""
    if has_host_steps(program):
        return SteppedModel(program, options, min(all_threads(), options.slots))
    compiled = compile_piece(program, replace(options, swap=False))
    model = load_compiled(compiled, threads_for(compiled))
    compiled.program = None  # a function is compiled once: its memory goes
    take_apart(program.module.regions)
    return model


def take_memory(
    main: FuncOp, outputs: Sequence[SSAValue], rows: Sequence[TensorSpec | None]
) -> list[int]:
    """Add arguments for memory that results fit into; return which results these are."""
    block = main.body.block
    found = [i for i, spec in enumerate(rows) if spec is not None and outputs[i].type == spec.type]
    for i in found:
        block.insert_arg(outputs[i].type, len(block.args))
    return found


def name_argument(main: FuncOp, index: int) -> None:
    """Give an argument that was added a name."""
    old = main.arg_attrs.data if main.arg_attrs is not None else ()
    row = DictionaryAttr({NAME: StringAttr(f"s{index}")})
    main.properties["arg_attrs"] = ArrayAttr([*old, row])


@paused()
def staged(
    plan: Plan, specs: Sequence[TensorSpec], rows: Sequence[TensorSpec | None] = ()
) -> Staged | None:
    """Return the compiled plan, None if it does what only Python can.

    What cannot be compiled of a program that was made is an error of ours, and raised.
    """
    try:
        return Staged(plan, specs, rows=rows)
    except NotSeenError:
        raise
    except NotStageableError as error:
        if isinstance(error, OutsideError) and any(spec.dtype.kind == "s" for spec in specs):
            return None  # names of files, records: the host's work
        refused(plan, error)
        return None


def reads_any(plan: Plan, specs: Sequence[TensorSpec], of: Sequence[int]) -> bool:
    """Say whether what a plan gives or writes is made of elements of some of its feeds.

    A feed of which only the shape is asked for is none of these. What cannot be said without a
    run counts as made of them.
    """
    main = new_function("main", [(f"x{i}", spec) for i, spec in enumerate(specs)])
    shared = Shared()
    shared.fault = FaultVariable()  # (what is required of elements is made of them)
    frame = StagingFrame(main.body.block, shared, top=True)
    try:
        with appending(plan):
            made = plan.run(frame, [*main.body.block.args])
            values = [*(frame.value(x) for x in made if x is not None), *Written(frame).values]
    except (NotStageableError, LoweringError):
        return True
    waiting: list[SSAValue] = [main.body.block.args[i] for i in of]
    given, seen = set(values), set(waiting)
    while waiting:
        value = waiting.pop()
        if value in given:
            return True
        for use in value.uses:
            if not use.operation.results or use.operation.regions:
                return True
            waiting += [x for x in use.operation.results if x not in seen]
            seen.update(use.operation.results)
    return False


def refused(plan: Plan, error: Exception) -> None:
    """Take note of why a plan is not compiled; warn unless that is in its nature."""
    plan.refusal = str(error)
    if getattr(error, "by_nature", False):
        return
    what = getattr(plan.ops[-1].graph, "name", "a step of a session")
    warnings.warn(
        f"{plan.ops[-1].source}: {what} is run operation by operation, which takes ten to a "
        f"thousand times as long as compiled code: {error}",
        PerformanceWarning,
        stacklevel=2,
    )


def compiled_for(
    plan: Plan, arrays: Sequence[Any], where: Where | None = None, *, at_once: bool = False
) -> Staged | None:
    """Return the compiled plan for arrays of these shapes, once that pays or `at_once`.

    What is to run on a GPU is compiled at once, for it runs there only compiled; raises a
    `PlacementError` where it cannot be, unless it may run elsewhere.
    """
    shapes = tuple(x.shape for x in arrays)
    if where is not None and (where.device or plan.asks_for_gpu):
        return placed_for(plan, arrays, (where, *shapes), where)
    known: Staged | Account | None = plan.compiled.get(shapes, NOTHING)
    if isinstance(known, Account):
        if not is_due(plan, known, at_once=at_once):
            return None
        if not plan.making.acquire(blocking=at_once):
            return None  # another thread compiles it; meanwhile this one goes on as before
        try:
            known = plan.compiled.get(shapes)
            return known if isinstance(known, Staged) else compiled_now(plan, arrays, shapes)
        finally:
            plan.making.release()
    return known


def is_due(plan: Plan, account: Account, *, at_once: bool) -> bool:
    """Say whether a plan is to be compiled now, as soon as it can be or once that pays."""
    wanted = at_once or account.is_due(plan.toll, plan.price)
    return wanted and account.calls >= account.after


def counted(account: object, run: Callable[[], T]) -> T:
    """Run something operation by operation, and take note in an account of what that takes."""
    before = TALLY.spent
    made = run()
    if isinstance(account, Account):
        account.note(TALLY.spent - before)
    return made


def run_rest(
    store: Store, plan: Plan, values: Sequence[object], way: Outlook
) -> list[object] | None:
    """Return what the rest of a loop gives that has come so far.

    It is compiled if the trips that are left take longer; where nobody knows how many these are,
    once it is as if a function had been called for those made. None: it is not, or cannot be. It
    goes on from what is carried, so that the trips are the same. Where the time is limited,
    somebody looks at the clock before each operation.
    """
    if DEADLINE.at or DEADLINE.cancellation is not None:
        return None
    arrays = [np.asarray(x) for x in values if isinstance(x, np.ndarray | np.generic)]
    if len(arrays) < len(values) or any(x.dtype.kind not in "biufc" for x in arrays):
        return None
    shapes = tuple(x.shape for x in arrays)
    known: Staged | Account | None = plan.compiled.get(shapes, NOTHING)
    if isinstance(known, Account):
        if not way.is_worth(plan.price) or plan.calls_python:
            return None
        try:
            known = Staged(plan, [spec_of_array(x) for x in arrays])
        except NotStageableError:
            known = None  # whoever compiles the function says why
        plan.compiled[shapes] = known
    return None if known is None or known.calls else known.run(store, arrays)


def _argument_spec(array: Array) -> TensorSpec:
    """Return the spec of an argument; text goes to host steps."""
    return TensorSpec(string, array.shape) if array.dtype.kind == "O" else spec_of_array(array)


def compiled_now(plan: Plan, arrays: Sequence[Array], shapes: Shapes) -> Staged | None:
    """Return the plan compiled for arrays of these shapes; keep it, or that it cannot be."""
    try:
        made = staged(plan, [_argument_spec(x) for x in arrays])
    except NotSeenError:
        plan.early += 1
        account = plan.compiled.setdefault(shapes, Account())
        account.after = account.calls + 2 ** min(plan.early, 12)
        return None
    plan.compiled[shapes] = made
    return made


@paused()
def placed_for(
    plan: Plan, arrays: Sequence[Array | DeviceArray], key: Hashable, where: Where
) -> Staged | None:
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
