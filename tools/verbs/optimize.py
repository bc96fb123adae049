"""Run passes on a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import StringAttr

from ...codegen.compile import Options
from ...codegen.compiled import spell
from ...codegen.stages import IR_STAGES, passes_of, until
from ...errors import did_you_mean
from ...frontend.programs.load import load_program
from ...frontend.programs.save import Saving, format_of, save_program
from ...frontend.text.writer import write_text
from ...ir import Program, print_module
from ...passes.manager import parse_pipeline, print_pipeline
from ...passes.manager import run as run_passes
from ...passes.pipelines import PORTABLE
from ..errors import UsageError
from ..talk import FilePath, Progress, Source, silent
from .surgery import Written

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption
    from ...passes.base import Observer, Report


@dataclass(frozen=True)
class Optimized:
    """A program behind passes, and what they did."""

    program: Program
    report: Report
    """What each pass took, counted and changed."""
    before: int
    """Operations of the main function, and how many it has now."""
    after: int

    def text(self, format: str = "mlir", name: str = "main") -> str:
        """Return the program as IR (`mlir`), or as graph text (`gv`) of a model of this name."""
        if format != "gv":
            return print_module(self.program.module)
        self.program.module.attributes.pop("gv.target", None)  # the text does not depend on it
        return write_text(self.program, name=name)

    def save(
        self,
        path: FilePath,
        *,
        format: str = "",
        name: str = "main",
        weights: bool = True,
        opset: int = 0,
        external: bool = False,
    ) -> Written:
        """Write the program; the options are those of `gravure.convert`."""
        how = Saving(format_of(Path(path), format), name, weights, opset, external)
        files = save_program(self.program, Path(path), how)
        return Written(tuple(files), (f"{self.before} operations before, {self.after} after",))

    def __str__(self) -> str:
        return self.text()

    def as_json(self) -> dict[str, Any]:
        """Return the report and the IR as plain data."""
        return {**self.report.as_json(), "schema": "gravure.opt/1", "text": self.text()}


def optimize(  # noqa: PLR0913  (each option is its own)
    source: Source | Program,
    passes: str | None = None,
    *,
    level: str = "",
    to: str = "",
    disable: Sequence[str] = (),
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    target: str = "",
    mattr: str = "",
    verify: bool = True,
    observers: Sequence[Observer] = (),
    reproducer: FilePath | None = None,
    progress: Progress = silent,
) -> Optimized:
    """Return what passes make of a program; the source itself stays as it is.

    - `source`: a model (ONNX, graph text, IR text of any stage), its bytes, or a program.
    - `passes`: the pipeline, such as `"canonicalize,constant-fold{limit=8}"`; the empty text runs
      none. Without it, and without `level` and `to`, those that leave a model to other runtimes.
    - `level`: the pipeline of `O0`, `O1`, `O2` or `O3` instead; `to`: the stage at which that
      stops: `graph`, `fused`, `planned`.
    - `disable`: names of passes to leave out.
    - `shapes`, `dims`, `target`, `mattr`: as for `gravure.compile`.
    - `verify`: whether to verify the program after each pass, not only after the last.
    - `observers`: what looks on; `progress`: is told what goes on.
    - `reproducer`: a file that replays a pass that fails.

    >>> import gravure as gv
    >>> text = b"model m(x: f32[2]) -> (y) { y = relu(relu(x)) }"
    >>> found = gv.optimize(text, "canonicalize,dce")
    >>> found.before, found.after
    (3, 2)
    """
    steps = parse_pipeline(pipeline_text(passes, level, to))
    program = _loaded(source, shapes, dims)
    if target or mattr or level or to:
        options = Options(target=target or "native", mattr=mattr)
        program.module.attributes["gv.target"] = StringAttr(spell(options))
    before = len(list(program.main.body.block.ops))
    with progress("running passes"):
        report = run_passes(
            steps, program, observers=observers, verify_each=verify, disable=[*disable],
            reproducer=None if reproducer is None else Path(reproducer),
        )  # fmt: skip
    return Optimized(program, report, before, len(list(program.main.body.block.ops)))


def _loaded(
    source: Source | Program,
    shapes: Mapping[str, ShapeOption] | None,
    dims: Mapping[str, DimOption] | None,
) -> Program:
    if isinstance(source, Program):
        return Program(source.module.clone(), source.weights, source.source)
    return load_program(source, shapes=shapes, dims=dims)


def pipeline_text(passes: str | None, level: str = "", to: str = "") -> str:
    """Return the pipeline that is asked for, as text with all options."""
    if passes and (level or to):
        raise UsageError("a pipeline of its own was given, and a level or stage, which choose one")
    if not (level or to):
        return print_pipeline(parse_pipeline(",".join(PORTABLE) if passes is None else passes))
    stage = to or "planned"
    if stage not in IR_STAGES[:-1]:
        hint = did_you_mean(stage, IR_STAGES[:-1]) or f"stages are {', '.join(IR_STAGES[:-1])}"
        raise UsageError(f"stage {stage!r} is not one that passes lead to", hint=hint)
    return print_pipeline(until(passes_of(Options(level=level or "O2")), stage))
