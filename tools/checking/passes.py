"""Run a pipeline on a program, and take down what each pass did wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import StringAttr

from ...codegen.compile import pipeline_for
from ...codegen.compiled import Options, spell
from ...frontend.programs.load import load_program
from ...ir import Array, InvalidModuleError, Program
from ...ir.program import argument_names, argument_specs, find_function, set_ranges
from ...ir.types.dims import symbols
from ...passes.analysis.arguments import ALL_KINDS, SIZES, choose_sizes, make_arguments
from ...passes.base import Pass, PassError, Step
from ...passes.check import ALL, Check, Finding, difference, makers_of, source_of
from ...passes.manager import parse_pipeline
from ...passes.manager import run as run_passes
from ...passes.note_requirements import within
from ...passes.pipelines import remaining
from ...passes.reproduce import HEAD, read_reproducer
from ...runtime.artifact import DimInfo, TensorInfo
from ...target import Target
from ..errors import UsageError
from ..inputs import Inputs, given_shapes, make_inputs
from .blame import culprit
from .widen import is_single, widen

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption
    from ..talk import Source

NONE = "no"
"""The kind of the arguments where a pass fails before it is run on any."""

AS_WRITTEN, WIDE = "", "f64"
"""The element types in which programs are run: their own, and f64 in place of f32."""

MOST = 64
"""The bound of dimensions that have none."""


@dataclass(frozen=True)
class Checking:
    """A program, the passes that are to be run on it, and the user's arguments."""

    program: Program
    passes: tuple[Pass, ...]
    given: tuple[Array, ...] = ()

    def written_in(self, width: str) -> Checking | None:
        """Return the same in f64; None where that is the same, or an operation takes f32 only."""
        if width == AS_WRITTEN:
            return replace(self, program=_copy(self.program))
        if self.program.level != "graph" or not is_single(self.program):
            return None
        given = [x.astype(np.float64) if x.dtype == np.float32 else x for x in self.given]
        try:
            return replace(self, program=widen(self.program), given=tuple(given))
        except InvalidModuleError:
            return None

    def until(self, number: int) -> Program:
        """Return the program behind so many passes."""
        program = _copy(self.program)
        run_passes(self.passes[:number], program, observers=[], verify_each=False)
        return program


@dataclass
class Collected(Check):
    """Takes down the first finding of each pass, and goes on."""

    found: list[Finding] = field(default_factory=list)
    changed: int = 0
    step: Step | None = None

    def before(self, step: Step, program: Program) -> None:
        """Remember the pass, should it fail."""
        self.step = step

    def failure(self, error: PassError) -> Finding:
        """Return the finding that the pass that is run now fails at all."""
        assert self.step is not None, "a pass that fails is run"
        return Finding(
            self.step.index, self.step.name, str(self.step.rewrite), self.step.rewrite.numerics,
            "main", NONE, ALL, error.message, "the pass itself", error.location,
        )  # fmt: skip

    def after(self, step: Step, program: Program) -> None:
        """Compare, and count the passes that changed the program."""
        before = self.seen
        super().after(step, program)
        self.changed += self.seen != before

    def report(self, found: Finding) -> None:
        """Take it down, if it is the first of the pass."""
        if all(each.number != found.number for each in self.found):
            self.found.append(found)


def plan_of(
    source: Source | Program,
    inputs: Inputs,
    options: Options,
    shapes: Mapping[str, ShapeOption] | None,
    dims: Mapping[str, DimOption] | None,
) -> Checking:
    """Return what is to be checked: a model's program, or that of a file that replays a finding."""
    pipeline = pipeline_for(options, Target.parse(options.target, options.mattr))
    replayed = None if isinstance(source, Program) else _replayed(source)
    if isinstance(source, Program):
        program = source
    elif replayed is not None:
        pipeline, program = options.passes or replayed[0], replayed[1]
    else:
        named = {**given_shapes(inputs), **(shapes or {})}
        program = load_program(source, shapes=named, dims=dims)
    if "gv.target" not in program.module.attributes:
        program.module.attributes["gv.target"] = StringAttr(spell(options))
    if replayed is None:
        bound(program)
    every = remaining(parse_pipeline(pipeline), program.level)
    passes = tuple(each for each in every if each.name not in options.disable)
    return Checking(program, passes, _given(program, inputs))


def bound(program: Program) -> None:
    """Give an upper bound to dimensions that have none: no more than that is tried."""
    specs = argument_specs(program.main)
    names = {name for spec in specs for dim in spec.shape or () for name in symbols(dim)}
    rows = {name: program.ranges.get(name, (1, None)) for name in sorted(names)}
    made = {name: (low, max(low, MOST) if high is None else high)
            for name, (low, high) in rows.items()}  # fmt: skip
    set_ranges(program.module, {**program.ranges, **made})


def _replayed(source: Source) -> tuple[str, Program] | None:
    """Return pipeline and program of a file that begins with a pipeline; None of others."""
    if isinstance(source, bytes) or Path(source).suffix != ".mlir" or not Path(source).is_file():
        return None
    with open(source, encoding="utf-8", errors="replace") as file:
        return read_reproducer(Path(source)) if file.readline().startswith(HEAD) else None


def _given(program: Program, inputs: Inputs) -> tuple[Array, ...]:
    """Return the user's arguments of the entry, if any are given."""
    if not inputs:
        return ()
    if program.level not in ("graph", "fused"):
        raise UsageError(f"inputs are of graphs, the program is on level {program.level}")
    main = program.main
    rows = [*zip(argument_names(main), argument_specs(main), strict=True)]
    known = within(program)
    infos = [
        TensorInfo(
            n, s.dtype.name, tuple(d if isinstance(d, int) else str(d) for d in s.dims),
            within=known.get(at, ()),
        )
        for at, (n, s) in enumerate(rows)
    ]  # fmt: skip
    sizes = choose_sizes([spec for _, spec in rows], program.ranges)
    dims = [
        DimInfo(name, low, size if high is None else high)
        for name, size in sizes.items()
        for low, high in [program.ranges.get(name, (1, None))]
    ]
    return tuple(make_inputs(inputs, infos, dims, sizes).values())


def findings(plan: Checking, kinds: Sequence[str] = ALL_KINDS, seed: int = 0) -> Collected:
    """Run the passes; return what they did wrong, each with the operation that is to blame."""
    check = Collected(seed=seed, kinds=kinds, sizes=SIZES)
    watched: list[Collected] = [check]
    if plan.given:
        watched.append(Collected({"main": plan.given}, found=check.found))
    program = _copy(plan.program)
    try:
        run_passes(plan.passes, program, observers=watched, verify_each=True)
    except PassError as error:
        check.found.append(check.failure(error))
    check.found[:] = [_blamed(plan, each, seed) for each in check.found]
    return check


def _blamed(plan: Checking, found: Finding, seed: int) -> Finding:
    """Return a finding with the operation that gives something else than before."""
    if found.result == ALL:
        return found
    before, after = plan.until(found.number - 1), plan.until(found.number)
    if not {before.level, after.level} <= {"graph", "fused"}:
        return found
    kind, _, how = found.arguments.partition(", ")
    function = find_function(before.module, found.function)
    if kind == "given":
        arguments = list(plan.given)
    else:
        how = how.removesuffix(" sizes") or "usual"
        sizes = choose_sizes(argument_specs(function), before.ranges, how)
        known = within(before) if found.function == "main" else {}
        arguments = make_arguments(
            function, before.ranges, kind=kind, seed=seed, sizes=sizes, within=known
        )
    guilty = culprit(
        before, after, found.function, arguments, found.result,
        lambda a, b: difference(a, b, found.contract) is None,
    )  # fmt: skip
    if guilty is None:  # the result is a value that was there before: say what made the other
        makers = dict(makers_of(before, function))
        source = source_of(makers.get(found.result)) or found.source
        return replace(found, source=source)
    return replace(found, operation=guilty.operation, source=guilty.source or found.source)


def _copy(program: Program) -> Program:
    return Program(program.module.clone(), program.weights, program.source, program.assumed)
