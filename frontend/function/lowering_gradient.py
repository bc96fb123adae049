"""A function that is called under a tape, as two programs: forward, and the way back.

The forward program gives what the function gives, and what the way back needs of what it
computed; nothing is computed twice. Both are compiled once for arguments of given shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, TypeVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, SSAValue

from ...codegen.compiled import Options
from ...collection import paused
from ...ir import Program
from ...ir.host import defined, has_host_steps, symbols_in, symbols_of
from ...ir.op import Array
from ...ir.ops.host.late import Room
from ...ir.ops.structure import Constant
from ...ir.program import finish, new_function, set_level
from ...ir.types.dims import parse
from ...ir.types.tensor import TensorSpec, spec_of
from ...ir.verify import verify
from ..eager.recorded import Recorded
from ..graph.execute import Plan
from ..graph.frame import (
    Frame,
    NotSeenError,
    NotStageableError,
    OutsideError,
    Stateful,
    Store,
    counter_of,
)
from ..graph.tolls import Account
from ..graph.variables import Handle, VariableState, now
from ..models.compiled import CompiledModel, compile_piece, load_compiled
from ..models.growing import tell_inside
from ..models.pieces import SteppedModel
from ..values.context import programming
from .host_steps import appending
from .in_common import FaultVariable, Shared, Way
from .lowering import StagingFrame
from .staged import NOTHING, Shapes, Written, counted, is_due, name_argument, refused

T = TypeVar("T")


class BackwardFrame(StagingFrame):
    """A program that takes values of another one as arguments."""

    def __init__(self, block: Block, shared: Shared, forward: Block) -> None:
        super().__init__(block, shared, top=True)
        self.forward = forward
        self.taken: dict[SSAValue, SSAValue] = {}

    def value(self, x: object) -> SSAValue:
        """Return a value of this program; one of the forward program becomes an argument."""
        made = super().value(x)
        owner = made.owner
        inside = owner if isinstance(owner, Block) else owner.parent
        if inside is not self.forward:
            return made
        if made not in self.taken:
            if isinstance(owner, Constant):
                again = self.emitter(Constant, value=owner.plain_attributes()["value"])
                self.taken[made] = again
            else:
                self.taken[made] = self.block.insert_arg(made.type, len(self.block.args))
        return self.taken[made]

    def take_sizes(self, forward: StagingFrame) -> None:
        """Take what tells the sizes that only the forward program knows, where some are used."""
        known = {name for x in self.block.args for name in symbols_in(x.type)}
        ops = [op for each in self.block.ops for op in each.walk()]
        known |= {name for op in ops for name in defined(op)}
        there = {name for op in forward.block.ops for name in defined(op)}
        used = dict.fromkeys(name for op in self.block.ops for name in symbols_of(op))
        for name in used:
            if name in there and name not in known:
                self.value(forward.emitter(Room, size=parse(name)))


def program_of(main: FuncOp, results: Sequence[SSAValue], shared: Shared, named: int) -> Program:
    """Return a program whose arguments behind the first ones have no names yet."""
    for i in range(named, len(main.body.block.args)):
        name_argument(main, i)
    finish(main, list(results), [f"y{i}" for i in range(len(results))])
    module = ModuleOp([main])
    set_level(module, "graph")
    verify(module)
    return Program(module, shared.weights)


def loaded(program: Program) -> CompiledModel:
    """Return the compiled program, in pieces where sizes change in choices or loops."""
    options = Options(numerics="exact")
    tell_inside(program)
    if has_host_steps(program):
        return SteppedModel(program, options, 1, bounded=False)
    return load_compiled(compile_piece(program, options), 1)


class StagedGradient:
    """The two programs of a function for arguments of given shapes."""

    def __init__(self, plan: Plan, specs: Sequence[TensorSpec]) -> None:
        if not all(spec.is_static for spec in specs):
            raise NotStageableError("shapes that are not known")
        main = new_function("main", [(f"x{i}", spec) for i, spec in enumerate(specs)])
        block = main.body.block
        shared = Shared()
        shared.fault, shared.has_sizes = FaultVariable(), True
        frame = StagingFrame(block, shared, top=True)
        way = Way(frame)
        record = Recorded(way)
        inner = copy(frame)
        inner.emit, inner.recorded = record.emit, record
        with programming(), appending(plan):
            made = plan.run(inner, record.watch(list(block.args)))
            outputs = list(record.results([frame.value(x) for x in made]))
        self.count = len(outputs)
        self.written = Written(frame)
        self.arguments = [
            x if isinstance(x, tuple) else Handle(x, weak=True) for x in frame.arguments
        ]
        results = [*outputs, *self.written.values]
        self.variables = [x for x in frame.arguments if isinstance(x, VariableState)]
        """The variables that are read; `present` says which these are in a call."""
        taken = self._make_backward(plan, way, block, outputs, record)
        self.sources: list[tuple[bool, int]] = []
        """Where each value is that the way back takes: an argument, or a result."""
        for value in taken:
            if isinstance(value, BlockArgument):
                self.sources.append((True, value.index))
            else:
                if value not in results:
                    results.append(value)
                self.sources.append((False, results.index(value)))
        self.programs = program_of(main, results, frame.shared, len(specs)), self.way_back
        self.forward, self.backward = map(loaded, self.programs)

    def _make_backward(
        self,
        plan: Plan,
        way: Way,
        block: Block,
        outputs: Sequence[SSAValue],
        record: Recorded,
    ) -> list[SSAValue]:
        """Make the way back; return the values of the forward program that it takes."""
        specs = [spec_of(x.type) for x in outputs]
        self.smooth = [s.dtype.kind in "fc" for s in specs]
        given = [s for s, smooth in zip(specs, self.smooth, strict=True) if smooth]
        main = new_function("main", [(f"g{i}", s) for i, s in enumerate(given)])
        shared, forward = Shared(), way.frame
        assert isinstance(forward, StagingFrame), "the way forward was gone"
        shared.has_sizes, shared.sizes = True, forward.shared.sizes
        way.frame = frame = BackwardFrame(main.body.block, shared, block)
        arguments = iter(list(main.body.block.args))
        grads = [next(arguments) if smooth else None for smooth in self.smooth]
        with programming(), appending(plan):
            of_inputs, of_variables = record.backward(grads, self.variables)
        found = [*of_inputs, *of_variables]
        self.given = given
        self.has = [g is not None for g in found]
        results = [frame.value(g) for g in found if g is not None]
        if not results:
            raise OutsideError("nothing depends on the arguments")
        frame.take_sizes(forward)
        taken = [v for v in frame.taken if not isinstance(v.owner, Constant)]
        self.way_back = program_of(main, results, frame.shared, len(given))
        return taken

    def present(self) -> list[VariableState]:
        """Return the variables that are read in this call."""
        return [*map(now, self.variables)]

    def state(self, store: Store) -> tuple[dict[Stateful, Array], dict[object, int]]:
        """Return the values of the variables that are read, and what draws have used."""
        found: list[Any] = [x if isinstance(x, tuple) else x() for x in self.arguments]
        values: dict[Stateful, Array] = {
            x: x.value_in(store) for x in found if isinstance(x, VariableState)
        }
        draws = [x[0] if isinstance(x, tuple) else x.op for x in found if x not in values]
        return values, {each: store.draws.get(each, 0) for each in map(counter_of, draws)}

    def run(
        self, store: Store, arrays: Sequence[object]
    ) -> tuple[list[Array], Callable[[Sequence[Array | None]], list[Array | None]]]:
        """Return the outputs, and the function of their gradients that goes back."""
        more = [
            Frame(store).key(*x) if isinstance(x, tuple) else x().value_in(store)
            for x in self.arguments
        ]
        arguments = [*arrays, *more]
        made = self.forward.call(*arguments)
        found = list(made) if isinstance(made, tuple) else [made]
        count = self.count + self.written.count
        self.written.put_all(store, found[self.count : count])
        kept = [arguments[i] if is_argument else found[i] for is_argument, i in self.sources]

        def back(grads: Sequence[Array | None]) -> list[Array | None]:
            smooth = [g for g, s in zip(grads, self.smooth, strict=True) if s]
            full = [
                np.zeros(spec.static_shape, spec.dtype.numpy) if g is None else np.asarray(g)
                for g, spec in zip(smooth, self.given, strict=True)
            ]
            result = self.backward.call(*full, *kept)
            each = iter(result if isinstance(result, tuple) else (result,))
            return [next(each) if there else None for there in self.has]

        return found[: self.count], back


@paused()
def staged_gradient(plan: Plan, specs: Sequence[TensorSpec]) -> StagedGradient | None:
    """Return both programs, None if they do what only Python can."""
    try:
        return StagedGradient(plan, specs)
    except NotSeenError:
        return None
    except NotStageableError as error:
        refused(plan, error)
        return None


class Gradients:
    """The programs of a function by the shapes of its arguments, made when they pay."""

    def __init__(self) -> None:
        self.known: dict[object, StagedGradient | Account | None] = {}

    @property
    def made(self) -> int:
        """Return how many pairs of programs there are."""
        return sum(isinstance(x, StagedGradient) for x in self.known.values())

    def may_come(self, specs: Sequence[TensorSpec]) -> bool:
        """Say whether there may be programs for arguments some time."""
        return self.known.get(self.key(specs), NOTHING) is not None

    @staticmethod
    def key(specs: Sequence[TensorSpec]) -> Shapes:
        """Return what programs are known by: the shapes of arguments."""
        return tuple(spec.shape for spec in specs)

    def get(self, plan: Plan, specs: Sequence[TensorSpec]) -> StagedGradient | None:
        """Return the programs for arguments, once they pay."""
        key = self.key(specs)
        found = self.known.get(key, NOTHING)
        if isinstance(found, Account):
            if not is_due(plan, found, at_once=plan.slides(key)):
                return None
            found = self.known[key] = staged_gradient(plan, specs)
        return found

    def counted(self, specs: Sequence[TensorSpec], run: Callable[[], T]) -> T:
        """Run the function for arguments operation by operation, and count what that takes."""
        return counted(self.known.setdefault(self.key(specs), Account()), run)
