"""The ways in which a graph is computed, and what is said where one differs from the interpreter.

Each way compiles the program and runs it in every world. What the interpreter refuses, each way has
to refuse, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any

import numpy as np

from ... import knobs
from ...codegen.compiled import Options
from ...errors import GravureError, RequirementError, UnsupportedOp
from ...frontend.models.compiled import compile_if_whole
from ...frontend.models.making import made_of
from ...frontend.programs.load import load_program
from ...ir import Array, Program, interpret
from ...ir.host import has_host_steps
from ...runtime.compare import Tolerance, compare
from ...runtime.model import Model
from ...target import Target
from .making.grown import Grown
from .making.maker import DIGITS, Value
from .workers import FAULT, READ, REFUSED

ROUNDED = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""What may differ of results that are rounded on the way, relative to the largest element."""
REFUSALS = (GravureError, ValueError, IndexError)
"""What the interpreter raises where operands do not fit each other."""


@dataclass(frozen=True)
class Computing:
    """One way to compile, and on how many threads it is run."""

    name: str
    options: Options
    threads: Sequence[int] = (1,)
    bounds: bool = False
    """Whether each access is looked at in the run."""
    device: str = ""
    """The GPU that runs it, `gpu:0` or `emulated`; else the processor."""


def plain(level: str, **more: Any) -> Options:
    """Return options of a level: nothing is kept, and no process is started."""
    return Options(level=level, cache=False, jobs=1, slots=more.pop("slots", 1), **more)


WAYS: tuple[Computing, ...] = (
    Computing("O0", plain("O0")),
    Computing("O1", plain("O1")),
    Computing("O3", plain("O3", slots=4), (1, 2, 4)),
    Computing("threads", plain("O2", slots=8), (1, 2, 3, 5, 8)),
    Computing("bounds", plain("O2"), bounds=True),
    Computing("x86-64-v2", plain("O2", target="x86-64-v2")),
    Computing("x86-64-v4", plain("O2", target="x86-64-v4")),
    Computing("exact", plain("O2", numerics="exact")),
)


def on_gpu(device: str) -> list[Computing]:
    """Return the ways of a GPU, from code that is hardly optimised to what its newest units do."""
    newest = "sm_90a"
    rows = (("O0", newest), ("O2", newest), ("O3", newest), ("O2", "sm_80"))
    return [
        Computing(f"{level} {kind}", plain(level, target=f"cuda:{kind}"), device=device)
        for level, kind in rows
    ]


def usable() -> list[Computing]:
    """Return the ways whose code this machine runs."""
    from ...codegen.prepare import runs_here

    return [way for way in WAYS if runs_here(Target.parse(way.options.target, ""))]


@dataclass
class Findings:
    """What was found to be wrong with a graph."""

    lines: list[str] = field(default_factory=list)
    way: str = ""
    """The first way that is wrong."""
    world: int = 0
    """The first world in which it is."""

    def add(self, way: str, world: int, what: str) -> None:
        """Note a fault."""
        if not self.lines:
            self.way, self.world = way, world
        self.lines.append(f"{way}, world {world}: {what}")


def some_ways(random: Random, device: str = "") -> list[Computing]:
    """Return three of the ways of this machine, or of a GPU."""
    return random.sample(on_gpu(device) if device else usable(), 3)


def judged(
    graph: Grown, ways: Sequence[Computing], *, peer: bool = True
) -> tuple[int, str, Findings]:
    """Return what became of a graph: read, refused, or at fault, and why."""
    found = Findings()
    try:
        program = load_program(graph.model, dims=graph.ranges)
    except UnsupportedOp as error:
        return REFUSED, f"unsupported: {error}", found
    except GravureError as error:
        return REFUSED, str(error), found
    wanted = [interpreted(program, graph, world, found) for world in range(len(graph.worlds))]
    if any(way.device for way in ways) and has_host_steps(program):
        return REFUSED, "unsupported: steps of the host on a GPU", found
    if peer and not graph.wrong and find_spec("onnxruntime") is not None:
        against_onnxruntime(graph, wanted, found)
    for way in ways:
        if not found.lines:
            run_way(way, program, graph, wanted, found)
    if found.lines:
        return FAULT, "\n".join(found.lines), found
    return READ, "", found


def interpreted(
    program: Program, graph: Grown, world: int, found: Findings
) -> list[Array] | Exception:
    """Return what the interpreter gives, or raises.

    It may refuse what is wrong, and sizes beside those that reading the model had to assume.
    """
    try:
        with np.errstate(all="ignore"):
            return interpret(program, graph.arrays(world))
    except REFUSALS as error:
        is_by_data = isinstance(error, RequirementError)
        if not is_by_data and world not in graph.wrong and not program.assumed:
            found.add("interpreter", world, f"{type(error).__name__}: {error}")
        return error


def run_way(
    way: Computing,
    program: Program,
    graph: Grown,
    wanted: Sequence[list[Array] | Exception],
    found: Findings,
) -> None:
    """Compile a program in one way, run it in all worlds, and note what is wrong."""
    try:
        models = compiled(program, way)
    except GravureError as error:
        found.add(way.name, 0, f"refused to compile: {type(error).__name__}: {error}")
        return
    for world, right in enumerate(wanted):
        arrays = graph.arrays(world)
        first: list[Array] = []
        for threads, model in models:
            made_here = ran(model, arrays)
            what = differs(made_here, right, graph, world)
            if what:
                found.add(f"{way.name} on {threads} threads", world, what)
                return
            if isinstance(made_here, Exception):
                continue
            first = first or made_here
            if not same_bits(first, made_here):
                found.add(f"{way.name} on {threads} threads", world, "other bits than on one")
                return


def compiled(program: Program, way: Computing) -> list[tuple[int, Model]]:
    """Return a model for each number of threads of a way."""
    copy = Program(program.module.clone(), program.weights, program.source)
    with set_knob(way.bounds):
        made = compile_if_whole(copy, way.options)
        place = way.device or None
        return [(n, made_of(made, way.options, n, place)) for n in way.threads]


def ran(model: Model, arrays: Sequence[Array]) -> list[Array] | Exception:
    """Return the results of a model, or its refusal."""
    try:
        return list(model.run(list(arrays)))
    except GravureError as error:
        return error


def differs(
    found: list[Array] | Exception, wanted: list[Array] | Exception, graph: Grown, world: int
) -> str:
    """Return how results differ from those that are wanted; nothing if they do not."""
    if isinstance(found, Exception):
        if isinstance(wanted, Exception):
            return ""
        return f"refused, the interpreter does not: {type(found).__name__}: {found}"
    if isinstance(wanted, Exception):
        return f"gave results, the interpreter raises {type(wanted).__name__}: {wanted}"
    wrong = len(graph.outputs) and graph.outputs[-1].noise == 1.0 and world in graph.wrong
    values = graph.outputs[:-1] if wrong else graph.outputs
    for value, one, other in zip(values, found, wanted, strict=False):
        made = compare(np.asarray(one), np.asarray(other), tolerance(value, np.asarray(other)))
        if not made.is_close:
            what = made.reason or (
                f"{made.wrong} of {made.size} elements differ, at {made.worst} "
                f"{made.found} for {made.wanted}"
            )
            return f"result {value.name}: {what}"
    return ""


def tolerance(value: Value, wanted: Array) -> Tolerance:
    """Return what may differ of a value."""
    if not value.noise or value.dtype not in DIGITS:
        return Tolerance(0.0, 0.0)
    wide = np.abs(wanted.astype(np.float64))
    most = float(wide[np.isfinite(wide)].max(initial=0.0))
    part = ROUNDED[value.dtype]
    return Tolerance(part, 4 * value.noise + part * max(most, value.most * 0.01))


def same_bits(one: Sequence[Array], other: Sequence[Array]) -> bool:
    """Say whether arrays are the same to the last bit."""
    pairs = zip(one, other, strict=True)
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)


@contextmanager
def set_knob(bounds: bool) -> Iterator[None]:
    """Look at each access of what is compiled inside."""
    before = os.environ.get(knobs.CHECK.name)
    if bounds:
        os.environ[knobs.CHECK.name] = "bounds"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(knobs.CHECK.name, None)
        else:
            os.environ[knobs.CHECK.name] = before


ABORT = {"Einsum", "GRU", "LSTM", "RNN"}
"""Operators of which onnxruntime (1.30) ends the process where there is nothing to compute."""
OUTSIDE = (
    "out of data bounds",
    "invalid ind",
    "out of bound",
    "must be within the inclusive range",
)
"""What onnxruntime says of indices that are out of range."""
CHANGED = {"BatchNormalization"}
"""Operators whose constants it writes to: its second run begins with what the first one left."""


def against_onnxruntime(
    graph: Grown, wanted: Sequence[list[Array] | Exception], found: Findings
) -> None:
    """Note where onnxruntime computes something else; what it refuses is not judged."""
    runtime: Any = import_module("onnxruntime")
    every = [*graph.outputs, *(each.value for each in graph.inputs)]
    if any(value.dtype == "bfloat16" for value in every):
        return  # it has no arrays of these
    kinds = graph.operators
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    refusals: tuple[type[Exception], ...] = tuple(
        kind
        for kind in vars(runtime.capi.onnxruntime_pybind11_state).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    )
    try:
        session = runtime.InferenceSession(graph.model, options, providers=["CPUExecutionProvider"])
    except refusals:
        return
    for world, right in enumerate(wanted):
        refused = isinstance(right, Exception) and not isinstance(right, RequirementError)
        if refused or (kinds & ABORT and graph.has_empty(world)):
            continue
        if world and kinds & CHANGED:
            return
        pairs = zip(graph.inputs, graph.arrays(world), strict=True)
        feeds = {each.value.name: array for each, array in pairs}
        try:
            what = answered(session.run(None, feeds), right, graph, world)
        except refusals as error:
            what = refused_index(str(error), right)
        if what:
            found.add("onnxruntime", world, what)
            return


def answered(
    results: Sequence[Any], wanted: list[Array] | Exception, graph: Grown, world: int
) -> str:
    """Return how what onnxruntime gives differs, where the standard says what is right."""
    made = [*map(np.asarray, results)]
    if isinstance(wanted, Exception):
        return f"gives results, the interpreter raises {type(wanted).__name__}: {wanted}"
    shapes = [tuple(dim[world] for dim in value.shape) for value in graph.outputs]
    what = differs(made, wanted, graph, world)
    return what if [array.shape for array in made] == shapes else ""


def refused_index(text: str, wanted: list[Array] | Exception) -> str:
    """Return what onnxruntime says of an index that is out of range, if nobody else minds it."""
    is_index = any(said in text for said in OUTSIDE)
    return "" if isinstance(wanted, Exception) or not is_index else f"refuses an index: {text}"
