"""Models with host steps or several devices: compiled pieces, and what is done between them.

`cut_devices` and `cut_host` cut the program; here each piece is compiled for its device, and a
model carries out the rest by the operations' own `evaluate`. Results of a piece stay on its device;
what another one needs of them is copied when it is needed, once for each device.

A piece is compiled once for all sizes. Where nothing bounds a size that only data tells, the bound
is what memory could hold: all values of the piece have `ROOM` bytes, of which a run takes what it
writes to. Only when several such sizes share the room, and one needs more than its share, is the
piece compiled again, with a larger share for that one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...codegen.compiled import Options
from ...counting import is_counted
from ...errors import CompileError, RuntimeInputError, unbounded
from ...forks import renewed
from ...ir import DEVICE, Array, Interpreter, Op, Program, TensorSpec, spec_of
from ...ir.host import WHOLE, HostOp, host_steps
from ...ir.interpret.graph import bind_symbols
from ...ir.ops.host.host_control import HostLoop
from ...ir.ops.host.python_step import PythonStep
from ...ir.ops.structure import Weight
from ...ir.program import (
    argument_names,
    functions,
    requirements_of,
    result_names,
    set_level,
    set_ranges,
)
from ...ir.types import dims
from ...ir.types.values import Spec, value_spec
from ...lazy import cached_property
from ...passes.manager import run as run_passes
from ...passes.note_requirements import within
from ...requirements import check
from ...runtime.arguments import Inputs, check_threads, in_order
from ...runtime.artifact import DimInfo
from ...runtime.buffer import HUGE, VAST, RecycledBytes, addresses_left, is_plain
from ...runtime.devices import open_driver
from ...runtime.gpu.device_array import DeviceArray
from ...runtime.gpu.driver import Driver
from ...runtime.tracing import EARS, span
from ..eager.kernels import quiet
from ..values.texts import Text, as_objects
from .compiled import CompiledModel, compile_piece, compile_program, load_compiled
from .given import OPEN, apart, are_own, arrays_in, dtype_of, info_of, take
from .gpu import DeviceModel, load_on_gpu
from .growing import GrowingLoop, axes_of
from .later import Later
from .loops import computing, is_loop
from .room import bounded, open_sizes, shares
from .straight import Around, Straight, is_straight, is_watched, taking
from .turns import BlockOrder, Turn

ROOM = 1 << 42
"""Bytes of address space that the values of all pieces may take where sizes have no bound."""

PART = 16
"""Of the addresses that are left all pieces take at most one part of so many."""

LEAST_ROOM = 1 << 20
"""What is tried where the system gives less and less; then it is out of memory."""

DEVICE_ROOM = 1 << 24
"""The same in a piece on a GPU, where memory that is not used is taken all the same."""

LITTLE = 1 << 16
"""Fewer bytes of results that are the same in each run are kept."""


class Piece:
    """One compiled piece, for all sizes that there is room for."""

    def __init__(
        self,
        function: FuncOp,
        whole: Program,
        options: Options,
        threads: int,
        room: int,
        held: Set[int] = frozenset(),
    ) -> None:
        self.function, self.options, self.threads = function, options, threads
        self.inside = [n not in held for n in range(len(function.function_type.outputs))]
        """Which results go no further than the run: only other pieces use them."""
        self.hands_on, self.gives_several = any(self.inside), len(self.inside) != 1
        self.kept, self.recycles = RecycledBytes(), False
        """Memory for these, and whether they are large enough to take it."""
        self.is_weighed = False
        """Whether that is known, if no size is open."""
        name = getattr(function.attributes.get(DEVICE), "data", "")
        self.driver = open_driver(name) if name else None
        """The device that it runs on; None for the processor."""
        self.ranges, self.room = whole.ranges, DEVICE_ROOM if self.driver else room
        used = {
            str(op.plain_attributes()["weight"])
            for op in function.walk()
            if isinstance(op, Op) and op.name == "gv.weight"
        }
        self.weights = {name: array for name, array in whole.weights.items() if name in used}
        self.open = open_sizes(function, whole)
        self.lock = renewed(Lock())
        self.made = self.fitting({name: 1 for name, _, _ in self.open})
        """Up to which sizes it was compiled last, and what it then became."""

    @property
    def bounds(self) -> Mapping[str, int]:
        """Return the sizes that it can take now, of those without a bound."""
        return self.made[0]

    def fitting(self, least: Mapping[str, int]) -> tuple[Mapping[str, int], CompiledModel]:
        """Compile for at least these sizes, and for as large ones as there is room for."""
        while True:
            bounds = shares(self.function, self.ranges, least, self.room)
            try:
                model = self.compiled(bounds)
            except MemoryError:
                if not self.can_shrink():
                    raise
            else:
                if isinstance(model, DeviceModel) or not self.is_too_much(model):
                    return bounds, model
                del model
            self.room >>= 8

    def can_shrink(self) -> bool:
        """Say whether it may be tried with less room."""
        return bool(self.open) and self.room > LEAST_ROOM

    def is_too_much(self, model: CompiledModel) -> bool:
        """Say whether a model works in far more than its values take, and may do with less."""
        return model.workspace_bytes > max(4 * self.room, VAST) and self.can_shrink()

    @property
    def model(self) -> CompiledModel:
        """Return the piece as it was compiled last."""
        return self.made[1]

    def compiled(self, bounds: Mapping[str, int]) -> CompiledModel:
        """Compile for sizes up to some bounds."""
        main = self.function.clone()
        main.properties["sym_name"] = StringAttr("main")
        main.properties.pop("sym_visibility", None)
        main.attributes.pop(DEVICE, None)
        module = ModuleOp([main])
        set_level(module, "graph")
        set_ranges(module, bounded(self.ranges, bounds))
        if self.driver is None:
            options = replace(self.options, swap=False)
            made = compile_piece(Program(module, self.weights), options)
            return load_compiled(made, self.threads)
        options = replace(self.options, target=f"cuda:{self.driver.architecture}", mattr="")
        return load_on_gpu(compile_piece(Program(module, self.weights), options), self.driver)

    def run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run the piece on arrays that are where it runs; its results are there too."""
        bounds, model = self.made
        if self.open and not self.fits(bounds, arrays):
            model = self.grown(arrays)
        if isinstance(model, DeviceModel):
            return model.run_on_device(arrays)
        try:
            if not self.hands_on and self.threads == 1:  # no pool that a fork may leave asleep
                found = model.call(*arrays)
                return found if self.gives_several else [found]
            results = self.results_of(model, arrays)
        except MemoryError:
            if not self.can_shrink():
                raise
            results = self.results_of(self.shrunk(model, arrays), arrays)
        if self.hands_on and (self.open or not self.is_weighed):
            self.is_weighed = True  # sizes that are known stay as they are
            self.recycles = self.is_much([each.nbytes for each in results])
        return results

    @cached_property
    def is_constant(self) -> bool:
        """Say whether its results are the same and little in each run, as it is given nothing."""
        block = self.function.body.block
        specs = [spec_of(t) for t in self.function.function_type.outputs]
        return (
            not block.args
            and self.driver is None
            and all(isinstance(op, Op | ReturnOp) for op in block.ops)
            and all(op.PURE for op in block.ops if isinstance(op, Op))
            and sum(s.nbytes if isinstance(s.nbytes, int) else LITTLE for s in specs) < LITTLE
        )

    def results_of(self, model: CompiledModel, arrays: Sequence[Any]) -> list[Any]:
        """Return what a model makes of arrays."""
        if not self.recycles:
            return model.run([*arrays])
        return model.run_recycled(arrays, self.kept, self.inside)

    def is_much(self, sizes: Sequence[int]) -> bool:
        """Say whether the results that go no further than the run are worth a block."""
        return sum(size for size, inside in zip(sizes, self.inside, strict=True) if inside) >= HUGE

    def fits(self, bounds: Mapping[str, int], arrays: Sequence[Array | DeviceArray]) -> bool:
        """Say whether no size is above its bound."""
        for name, number, axis in self.open:  # noqa: SIM110  (what goes through all takes longer)
            if arrays[number].shape[axis] > bounds[name]:
                return False
        return True

    def grown(self, arrays: Sequence[Array | DeviceArray]) -> CompiledModel:
        """Return the piece with room for these sizes, up to the next powers of two."""
        with self.lock:
            if not self.fits(self.bounds, arrays):
                self.made = self.fitting(self.least_for(arrays))
            return self.model

    def shrunk(self, model: CompiledModel, arrays: Sequence[Array]) -> CompiledModel:
        """Return the piece with less room than a model that the system refused memory to."""
        with self.lock:
            if self.model is model:
                self.room >>= 8
                self.made = self.fitting(self.least_for(arrays))
            return self.model

    def least_for(self, arrays: Sequence[Array | DeviceArray]) -> dict[str, int]:
        """Return the powers of two that the sizes of arrays have room in."""
        sizes = {name: arrays[number].shape[axis] for name, number, axis in self.open}
        return {name: 1 << (size - 1).bit_length() for name, size in sizes.items()}


def cut(program: Program) -> None:
    """Cut a program at its host steps and between devices."""
    passes = "inline-functions,group-collectives,cut-devices,cut-host"
    run_passes(passes, program, observers=(), verify_each=False)


def growing_loops(program: Program, options: Options) -> dict[Operation, GrowingLoop]:
    """Find the loops of a program that compiled code can carry out as they are, and mark them."""
    found: dict[Operation, GrowingLoop] = {}
    inside = set[Operation]()
    for op in program.module.walk():
        if isinstance(op, HostLoop) and op not in inside:
            axes = axes_of(op)
            if axes is not None:
                found[op] = GrowingLoop(op, axes, program, replace(options, swap=False))
                op.attributes[WHOLE] = UnitAttr()
                inside.update(op.walk())
    return found


def pieces_of(program: Program) -> tuple[list[FuncOp], int]:
    """Return the functions of a program that was cut, and how much room each may take."""
    parts = [function for function in functions(program.module) if function is not program.main]
    left = addresses_left() // PART
    return parts, min(ROOM, 1 << left.bit_length() >> 1) // max(len(parts), 1)


def rooms(program: Program) -> dict[str, int]:
    """Return up to which sizes a program with host steps will be compiled where nothing bounds."""
    whole = Program(program.module.clone(), program.weights)
    cut(whole)
    found: dict[str, int] = {}
    parts, room = pieces_of(whole)
    for function in parts:
        least = {name: 1 for name, _, _ in open_sizes(function, whole)}
        for name, high in shares(function, whole.ranges, least, room).items():
            found[name] = min(high, found.get(name, high))
    return found


def between(program: Program) -> Program:
    """Return a program that was cut; code can work on weights that are handed to pieces.

    Those of a file lie where they lie in it: each run would copy what begins between two elements.
    """
    used = [op for op in program.main.walk() if isinstance(op, Weight)]
    names = {str(op.plain_attributes()["weight"]) for op in used}
    aligned = {name: np.require(program.weights[name], requirements=["C", "A"]) for name in names}
    return replace(program, weights={**program.weights, **aligned})


def held(program: Program) -> Mapping[str, Set[int]]:
    """Return which results of each piece may be looked at when those who use them are done."""
    found: dict[str, set[int]] = {}
    for op in program.module.walk():
        if isinstance(op, CallOp):
            users = [[use.operation for use in result.uses] for result in op.results]
            numbers = {n for n, each in enumerate(users) if not all(map(lets_go, each))}
            found.setdefault(op.callee.root_reference.data, set()).update(numbers)
    return found


def lets_go(op: Operation) -> bool:
    """Say whether nothing looks at the operands of an operation when it is done."""
    return isinstance(op, CallOp) or (isinstance(op, HostOp) and not op.HOLDS)


class Stepper(Interpreter):
    """Carries out a program that was cut: calls run compiled pieces."""

    def __init__(
        self,
        whole: Program,
        pieces: Mapping[str, Piece],
        turns: dict[Block, BlockOrder],
        growing: Mapping[Operation, GrowingLoop],
    ) -> None:
        super().__init__(whole.module, whole.weights, {})
        self.pieces, self.turns, self.growing = pieces, turns, growing
        self.copies: dict[tuple[SSAValue, Driver | None], object] = {}
        self.has_devices = any(piece.driver is not None for piece in pieces.values())

    def operation(
        self, op: Operation, operands: Sequence[object], values: dict[SSAValue, object]
    ) -> Sequence[object]:
        """Return the results of one operation."""
        piece = self.pieces[op.callee.root_reference.data] if isinstance(op, CallOp) else None
        here = operands
        if self.has_devices:
            driver = piece.driver if piece is not None else None
            here = [self.at(driver, *pair) for pair in zip(op.operands, operands, strict=True)]
        if piece is not None:
            return piece.run(here)
        if op in self.growing:
            assert isinstance(op, HostLoop), "loops grow"
            return op.leave(self, self.growing[op].run(here))
        with span("host step", op.name.removeprefix("gv.")):
            if not (op.regions or isinstance(op, PythonStep)):  # these hand texts on
                here = of_objects(here)
            if isinstance(op, HostOp) and is_loop(op):
                return op.bound(self, op.computed(quiet(computing(op)), here))
            return super().operation(op, here, values)

    def run(self, block: Block, values: dict[SSAValue, object]) -> Sequence[object]:
        """Run the operations of a block; steps that may go on beside what follows."""
        order = self.order(block)
        if order.apart:
            return self.run_beside(order.turns, order.steps, values)
        if self.has_devices or is_counted() or EARS.count:
            return super().run(block, values)
        return self.run_in_order(order.turns, values)

    def order(self, block: Block) -> BlockOrder:
        """Return what is kept of a block."""
        if block not in self.turns:
            self.turns[block] = BlockOrder(block)
        return self.turns[block]

    def wanted(self, block: Block) -> Sequence[tuple[int, Spec]]:
        """Return the arguments of a block whose sizes are looked at, with what is known of them."""
        return self.order(block).sized

    def run_in_order(
        self, turns: Sequence[Turn], values: dict[SSAValue, object]
    ) -> Sequence[object]:
        """Run operations one after the other; what is asked of them each time is kept."""
        for turn in turns:
            operands = [values[operand] for operand in turn.operands]
            if turn.is_last:
                return operands
            if turn.known is not None:
                results: Sequence[object] = turn.known
            elif turn.callee:
                results = self.pieces[turn.callee].run(operands)
            elif turn.is_plain:
                assert turn.step is not None, "plain ones are steps"
                results = turn.step.computed(turn.compute, of_objects(operands))
                for place, spec in turn.sized:
                    self.bind(spec, results[place], turn.step.label, turn.step)
            else:
                results = self.operation(turn.op, operands, values)
            values.update(zip(turn.results, results, strict=True))
        raise AssertionError("a block ends in a terminator")

    def run_beside(
        self, turns: Sequence[Turn], apart: Set[HostOp], values: dict[SSAValue, object]
    ) -> Sequence[object]:
        """Run operations in order, each when its operands are there."""
        going: dict[HostOp, Later[Sequence[object]]] = {}
        try:
            for turn in turns:
                for maker in turn.makers:
                    if maker in going:
                        self.ended(going, maker, values)
                operands = [values[operand] for operand in turn.operands]
                step = turn.step
                if step is not None and step in apart:
                    here = [on_host(operand) for operand in operands]
                    going[step] = Later(step.prepared(here), queue=step.queue, pace=step.pace)
                    continue
                if going and (
                    turn.is_last or turn.has_order or not turn.sizes <= self.symbols.keys()
                ):
                    for each in [*going]:  # it is behind them, or has a size that one tells
                        self.ended(going, each, values)
                if turn.is_last:
                    return operands
                results = self.operation(turn.op, operands, values)
                values.update(zip(turn.results, results, strict=True))
        finally:
            for later in going.values():
                later.wait()
        raise AssertionError("a block ends in a terminator")

    def ended(
        self,
        going: dict[HostOp, Later[Sequence[object]]],
        op: HostOp,
        values: dict[SSAValue, object],
    ) -> None:
        """Take the results of a step, which is waited for."""
        results = op.bound(self, going.pop(op).result())
        values.update(zip(op.results, results, strict=True))

    def at(self, driver: Driver | None, value: SSAValue, found: object) -> object:
        """Return what a value is on a device, or in memory: as it is, or copied there once."""
        if not isinstance(found, np.ndarray | DeviceArray):
            return found
        if driver is (found.driver if isinstance(found, DeviceArray) else None):
            return found
        if (value, driver) not in self.copies:
            plain = on_host(found)
            self.copies[value, driver] = plain if driver is None else DeviceArray.of(driver, plain)
        return self.copies[value, driver]


def on_host(found: object) -> Any:
    """Return an array in memory."""
    return found.numpy() if isinstance(found, DeviceArray) else as_objects(found)


def of_objects(values: Sequence[object]) -> Sequence[object]:
    """Return values for a step that wants texts as objects."""
    return [*map(as_objects, values)] if Text in [x.__class__ for x in values] else values


def _note_requirements(program: Program) -> None:
    from ...codegen.compile import noted  # noqa: PLC0415  (LLVM and passes: for who compiles)

    noted(program)


class SteppedModel(CompiledModel):
    """A model with host steps, or on several devices. Any number of threads may run it at once.

    It is called as every model is. A library has no host steps: `save` writes one
    where all of them select elements, and else refuses.
    """

    def __init__(
        self, program: Program, options: Options, threads: int, *, bounded: bool = True
    ) -> None:
        """Compile the pieces of a program that is not cut yet; sizes of inputs may need bounds."""
        check_threads(threads)
        self.host_steps = tuple(host_steps(program))
        """What is done between the compiled pieces, in order."""
        module = program.module.clone()
        self._uncut = Program(module, dict(program.weights), program.source, program.assumed)
        _note_requirements(program)
        self.growing = growing_loops(program, options)
        """The loops in it that are compiled as they are."""
        cut(program)
        self.program = program = between(program)
        main = program.main
        self._specs = [value_spec(t) for t in main.function_type.inputs]
        inputs, known = map(info_of, argument_names(main), self._specs), within(program)
        self.inputs = tuple(replace(x, within=known.get(i, ())) for i, x in enumerate(inputs))
        results = [value_spec(t) for t in main.function_type.outputs]
        self._required = requirements_of(program.module)
        """What the last result tells of, which no caller sees."""
        count = len(results) - bool(self._required)
        self.outputs = tuple(map(info_of, result_names(main)[:count], results[:count]))
        self.dims = tuple(self._dims(bounded=bounded))
        self._known = {info.name for info in self.inputs}
        self._named = taking([info.name for info in self.inputs])
        self._dtypes = [*map(dtype_of, self.inputs)]
        self._threads, self._options = threads, options
        (parts, room), used = pieces_of(program), held(program)
        names = [function.sym_name.data for function in parts]
        self.pieces = {
            name: Piece(function, program, options, threads, room, used.get(name, frozenset()))
            for name, function in zip(names, parts, strict=True)
        }
        self.turns: dict[Block, BlockOrder] = {}
        """What runs keep of the blocks that they have come by."""
        self._block = block = main.body.block
        calls = any(isinstance(op, PythonStep) for op in block.walk())
        made = Around(self.pieces, self.growing, self.program.weights, calls)
        self.straight = Straight(block, made) if is_straight(block, made) else None
        on_devices = any(piece.driver is not None for piece in self.pieces.values())
        last = block.last_op
        assert last is not None, "a function returns"
        self._are_new = not on_devices and all(isinstance(x.owner, CallOp) for x in last.operands)
        """Whether all results are what pieces gave, in memory of their own."""
        self.call = self._call

    def _dims(self, *, bounded: bool) -> Sequence[DimInfo]:
        """Return the dimensions of inputs that have bounds, as in every model all must."""
        found: dict[str, DimInfo] = {}
        for info in self.inputs:
            for extent in info.shape:
                for name in sorted(dims.symbols(dims.parse(str(extent)))):
                    low, high = self.program.ranges.get(name, (1, None))
                    if name != OPEN and high is None and bounded:
                        raise unbounded(name)
                    if high is not None:
                        found.setdefault(name, DimInfo(name, low, high))
        return [*found.values()]

    def __repr__(self) -> str:
        arguments = ", ".join(f"{info.name}: {info}" for info in self.inputs)
        results = ", ".join(f"{info.name}: {info}" for info in self.outputs)
        count = f"{len(self.host_steps)} host steps"
        return f"<SteppedModel ({arguments}) -> ({results}), {count}>"

    @property
    def manifest(self) -> Mapping[str, object]:
        """What the model is."""
        made = [piece.model.manifest for piece in self.pieces.values()]
        return {
            "schema": "gravure.stepped/1",
            "target": self._options.target,
            "features": sorted({name for each in made for name in each.get("features", ())}),
            "threads": self._threads,
            "workspace_bytes": self.workspace_bytes,
            "peak_bytes": max((int(each.get("peak_bytes", 0)) for each in made), default=0),
            "weights_bytes": sum(int(each["weights_bytes"]) for each in made),
            "inputs": [str(info) for info in self.inputs],
            "outputs": [str(info) for info in self.outputs],
            "host_steps": [str(step) for step in self.host_steps],
            "pieces": dict(zip(self.pieces, made, strict=True)),
        }

    @property
    def workspace_bytes(self) -> int:
        """Return how many addresses the largest piece works in; runs take what they write to."""
        return max((p.model.workspace_bytes for p in self.pieces.values()), default=0)

    @property
    def threads(self) -> int:
        """How many threads share the work of a piece."""
        return self._threads

    @threads.setter
    def threads(self, threads: int) -> None:
        check_threads(threads)
        self._threads = threads
        for piece in self.pieces.values():
            piece.threads = piece.model.threads = threads

    def run(self, inputs: Inputs) -> list[Any]:
        """Run the model on inputs by name or in order, and return new values."""
        if type(inputs) is dict and inputs.keys() == self._known:
            given = self._named(inputs)
        else:
            given = in_order(inputs, self.inputs)
        values = given if self.fit(given) else [*map(take, given, self.inputs)]
        try:
            results = self.run_in_place(values)
        except RuntimeInputError as error:
            if self.otherwise is None:
                raise
            return self.otherwise.run(values, self.inputs, error)
        if self._are_new or are_own(results, values):
            return [*results]
        plain = [x if x.__class__ is np.ndarray else on_host(x) for x in results]
        return apart(plain, arrays_in(values))

    def fit(self, given: Sequence[object]) -> bool:
        """Say whether all values are arrays that code can work on: most are."""
        for value, dtype in zip(given, self._dtypes, strict=True):
            if type(value) is not np.ndarray or value.dtype is not dtype:
                return False
            if not (value.flags.carray or is_plain(value)):
                return False
        return True

    def run_in_place(self, values: Sequence[Any]) -> Sequence[object]:
        """Run the model on values wherever they are, and leave the results where they come up."""
        results = self._made_of(values)
        if not self._required:
            return results
        *results, found = results
        check(self._required, found)
        return results

    def _made_of(self, values: Sequence[Any]) -> Sequence[object]:
        """Return all results, with what is told of requirements."""
        plan = None if is_watched() else self.straight
        sizes = None if plan is None else plan.sizes(values, self.check_dims)
        if plan is not None and sizes is not None:
            return plan.run(values, Interpreter(None, {}, sizes))
        machine = Stepper(self.program, self.pieces, self.turns, self.growing)
        tensors = [
            (spec.shape, np.shape(value))
            for spec, value in zip(self._specs, values, strict=True)
            if isinstance(spec, TensorSpec) and spec.shape is not None
        ]
        try:
            machine.symbols.update(bind_symbols(*zip(*tensors, strict=True)) if tensors else {})
        except ValueError as error:
            raise RuntimeInputError(f"the arguments do not fit: {error}") from error
        for info, spec, value in zip(self.inputs, self._specs, values, strict=True):
            machine.bind(spec, value, f"argument {info.name!r}", self)
        self.check_dims(machine.symbols)
        return machine.block(self._block, values)

    def check_dims(self, sizes: Mapping[str, int]) -> None:
        """Raise where a size of the arguments is not in its range."""
        for dim in self.dims:
            if not dim.low <= sizes.get(dim.name, dim.low) <= dim.high:
                size = sizes[dim.name]
                raise RuntimeInputError(f"{dim.name} is {size}, expected {dim.low} to {dim.high}")

    def _call(self, *values: object) -> object:
        results = self.run(values)
        return results[0] if len(results) == 1 else tuple(results)

    def bind(
        self, inputs: Inputs, outputs: Inputs | None = None, *, release: bool | None = None
    ) -> Callable[[], list[Any]]:
        """Return a function that runs the model on these very values, whatever is in them then.

        Its results are new each time, or are copied to the arrays `outputs`, which they must fit.
        """
        del release  # each step decides for itself
        given = in_order(inputs, self.inputs)
        wanted = None if outputs is None else in_order(outputs, self.outputs, "output")

        def run() -> list[object]:
            results = self.run(given)
            if wanted is None:
                return results
            for info, place, result in zip(self.outputs, wanted, results, strict=True):
                if np.shape(place) != np.shape(result):
                    shapes = f"{[*np.shape(result)]}, expected {[*np.shape(place)]}"
                    raise RuntimeInputError(f"output {info.name!r}: found shape {shapes}")
                np.copyto(place, result, casting="no")
            return list(wanted)

        return run

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a library, or refuse: it has no host steps but those that select elements."""
        from ...codegen.export import export  # noqa: PLC0415  (loads LLVM)

        whole = replace(self._uncut, module=self._uncut.module.clone())
        export(compile_program(whole, self._options), path)

    def set_weights(self, weights: object) -> None:
        """Refuse: the pieces have their weights for good."""
        raise CompileError("the weights of a model with host steps cannot be changed")

    def check_weights(self) -> None:
        """Check the weights of every piece."""
        for piece in self.pieces.values():
            piece.model.check_weights()

    def close(self) -> None:
        """Give back the memory."""
        for piece in self.pieces.values():
            piece.model.close()
