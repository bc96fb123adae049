"""Shrink what a pass did wrong to a file that replays it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ...codegen.compiled import OptionFields, Options
from ...errors import GravureError
from ...frontend.files.ir_text import ir_text
from ...frontend.files.weights import write_beside
from ...frontend.programs.compile import options_with
from ...frontend.programs.reduce import apart, cut_out, places_of, reduce_program
from ...ir import Array, GraphEmit, Program, erase, print_module
from ...ir.ops.structure import Constant, Weight
from ...ir.program import argument_names
from ...passes.base import Pass, PassError
from ...passes.check import Finding
from ...passes.manager import print_pipeline
from ...passes.manager import run as run_passes
from ...passes.reproduce import HEAD
from ...plugins import STATE
from ...runtime.files import together
from ..inputs import Inputs, save_arrays
from ..talk import Progress, Source, silent
from ..verbs.reduce import counted
from .blame import recorded
from .passes import AS_WRITTEN, NONE, WIDE, Checking, Collected, findings, plan_of

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption

INLINE = 4096
"""Elements of a weight up to which it stands in the text."""


@dataclass(frozen=True)
class Bisected:
    """What is left of a program in which a pass does something wrong; false if none does."""

    finding: Finding | None
    width: str = ""
    program: Program | None = None
    """What the pass is given."""
    rewrite: Pass | None = None
    before: int = 0
    left: int = 0
    """Operations of the whole, and of what is left; constants do not count."""
    tries: int = 0
    inputs: Mapping[str, Array] = field(default_factory=dict)
    """Those on which it shows, where it does not on made-up ones."""
    files: tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return self.finding is not None

    def text(self) -> str:
        """Return the file that replays the finding."""
        assert self.program is not None, "without a finding there is nothing to replay"
        return f"{self._head()}{print_module(self.program.module)}"

    def _head(self, folder: Path = Path()) -> str:
        """Return the first lines: the pass, and the plugin that it is from, if it is of one."""
        assert self.rewrite is not None, "without a finding there is nothing to replay"
        rows = [row for row in STATE.found.values()
                if any(each.what is type(self.rewrite) for each in row.registered)]  # fmt: skip
        paths = [os.path.relpath(row.path, folder) for row in rows if not row.package]
        return "".join([f"{HEAD} {print_pipeline([self.rewrite])}\n",
                        *(f"// plugin: {path}\n" for path in paths)])  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> Bisected:
        """Write the file, weights and inputs beside it; return the same with the files."""
        assert self.program is not None, "without a finding there is nothing to replay"
        place = Path(path)
        data = place.with_suffix(".safetensors") if self.program.weights else None
        text = self._head(place.parent) + ir_text(self.program, data)
        with together():
            files = write_beside(place, text, self.program.weights, data)
            if self.inputs:
                files.append(place.with_suffix(".npz"))
                save_arrays(files[-1], self.inputs)
        return replace(self, files=tuple(files))

    def __str__(self) -> str:
        if self.finding is None:
            return "every pass keeps to its contract"
        where = f": {', '.join(map(str, self.files))}" if self.files else ""
        width = f" in {self.width}" if self.width else ""
        lines = [f"{self.finding}{width}, from {self.finding.source or 'no node'}"]
        lines += [f"{self.left} of {self.before} operations are left, {self.tries} tries{where}"]
        if self.files:
            given = f" -i @{self.files[-1]}" if self.inputs else ""
            lines += [f"check {self.files[0]}{given} replays it; in tests/passes, pytest"]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return what was found, and how much is left, as plain data."""
        found = None if self.finding is None else vars(self.finding)
        head = {"schema": "gravure.bisect/1", "finding": found}
        if self.finding is None:
            return head
        files = {"files": [str(path) for path in self.files]} if self.files else {}
        return {**head, "width": self.width or None, "operations": self.left,
                "tries": self.tries, **files}  # fmt: skip


def bisect(  # noqa: PLR0913  (each option is its own)
    source: Source | Program,
    inputs: Inputs = None,
    *,
    seed: int = 0,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> Bisected:
    """Return the smallest program in which a pass does what `gravure.check` finds first.

    - `source`, `inputs`, `seed`, `shapes`, `dims`, `options` and further keywords: as for
      `gravure.check`.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> print(gv.bisect(b"model m(x: f32[4]) -> (y) { y = exp(x) }"))
    every pass keeps to its contract
    """
    own = ("inputs", "seed", "shapes", "dims", "options", "progress")
    made = options_with("bisect", options, more, threads=1, own=own)
    plan = plan_of(source, inputs, made, shapes, dims)
    for width in (AS_WRITTEN, WIDE):
        with progress(f"checking {len(plan.passes)} passes {width}".rstrip()):
            written = plan.written_in(width)
            found = findings(written, seed=seed).found if written is not None else []
        if written is not None and found:
            first = min(found, key=lambda each: each.number)
            with progress("making it small"):
                return replace(Shrinking(written, first, seed).result(), width=width)
    return Bisected(None)


@dataclass
class Shrinking:
    """Makes the program small in which a finding shows."""

    plan: Checking
    finding: Finding
    seed: int
    tries: int = 0
    values: dict[str, Array] = field(default_factory=dict)
    """What each value of the whole is, by its name in a part, where the user's inputs matter."""

    def result(self) -> Bisected:
        """Return the smallest part, on the level of the pass."""
        number = self.finding.number
        behind = self.plan.until(number - 1)
        first = number - 1 if behind.level == "graph" else 0
        whole = behind if first else self.plan.until(0)
        if whole.level != "graph":
            return self._left(behind, 0, len(counted(behind)))
        if self.finding.arguments == "given":
            self._record(whole)
        passes = self.plan.passes[first:number]
        before = len(counted(whole))
        small, left = whole, before
        if self._fails(cut_out(whole, counted(whole)), passes):
            small = reduce_program(whole, lambda part: self._fails(part, passes))
            left = len(counted(small))
        small = inlined(small)
        arguments = {name: self.values[name] for name in argument_names(small.main)
                     if name in self.values}  # fmt: skip
        run_passes(passes[:-1], small, observers=[], verify_each=False)
        return replace(self._left(small, left, before), inputs=arguments)

    def _left(self, program: Program, left: int, before: int) -> Bisected:
        rewrite = self.plan.passes[self.finding.number - 1]
        program.module.attributes.pop("gv.target", None)
        return Bisected(self.finding, "", program, rewrite, before, left or before, self.tries)

    def _record(self, whole: Program) -> None:
        made = recorded(whole, "main", self.plan.given)
        self.values = {name: np.asarray(made[v]) for v, name in places_of(whole).items()}
        names = argument_names(whole.main)
        self.values |= dict(zip(names, self.plan.given, strict=True))

    def _fails(self, part: Program, passes: tuple[Pass, ...]) -> bool:
        """Say whether the last of some passes still does what was found."""
        self.tries += 1
        return bool(apart(lambda program: self._said(program, passes), part))

    def _said(self, part: Program, passes: tuple[Pass, ...]) -> str:
        kind, _, how = self.finding.arguments.partition(", ")
        kind = "random" if kind == NONE else kind
        check = Collected(
            seed=self.seed, kinds=(kind,), sizes=(how.split()[0] if how else "usual",)
        )
        if self.values:
            names = argument_names(part.main)
            check.arguments = {"main": [self.values[name] for name in names]}
        program = Program(part.module.clone(), part.weights, part.source)
        target = self.plan.program.module.attributes.get("gv.target")
        if target is not None:
            program.module.attributes["gv.target"] = target
        try:
            run_passes(passes[:-1], program, observers=[])
            run_passes(passes[-1:], program, observers=[check])
        except PassError as error:
            return error.message if self.finding.arguments == NONE else ""
        except GravureError:
            return ""
        return check.found[0].name if check.found else ""


def inlined(program: Program) -> Program:
    """Return a program whose small weights stand in its text."""
    kept = dict(program.weights)
    for op in list(program.module.walk()):
        name = str(op.plain_attributes()["weight"]) if isinstance(op, Weight) else ""
        if name in program.weights and program.weights[name].size <= INLINE:
            array = np.array(program.weights[name])
            op.results[0].replace_all_uses_with(GraphEmit.before(op)(Constant, value=array))
            erase(op)
            kept.pop(name, None)
    return Program(program.module, kept, program.source)
