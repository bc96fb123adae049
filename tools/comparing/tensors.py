"""Compare all tensors inside of a model with those of others, and say which differs first."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import table
from ..errors import NotInstalledError, UsageError
from ..given import readable
from ..options import is_library
from .judges import JUDGES, Task, Tolerances, differences, judgement

if TYPE_CHECKING:
    from ...codegen.compiled import Options
    from ...frontend.programs.marked import Marked, Origin
    from ...runtime.buffer import Array
    from ...runtime.compare import Difference
    from ..talk import Progress
    from ..verbs.subject import Subject

SHOWN = 10
"""How many tensors that differ are shown of each comparison."""


@dataclass(frozen=True)
class Tensors:
    """All tensors inside of a model, and how each compares."""

    values: Mapping[str, Any]
    made: Mapping[str, Origin]
    """What gives each, in the order in which they are computed."""
    compared: Mapping[str, Mapping[str, Difference]] = field(default_factory=dict)
    """For each that was asked: how the tensors that it has, too, differ from its."""
    absent: tuple[NotInstalledError, ...] = ()

    @property
    def is_close(self) -> bool:
        """Say whether all that was compared is within the tolerance."""
        return all(each.is_close for rows in self.compared.values() for each in rows.values())

    def first(self, judge: str) -> str | None:
        """Return the first tensor that is not within the tolerance; None if all are."""
        rows = self.compared[judge]
        return next((n for n in self.made if n in rows and not rows[n].is_close), None)

    def __str__(self) -> str:
        if not self.compared:
            return f"{len(self.made)} tensors inside"
        return "\n".join(self._text(judge, rows) for judge, rows in self.compared.items())

    def _text(self, judge: str, rows: Mapping[str, Difference]) -> str:
        wrong = [name for name in self.made if name in rows and not rows[name].is_close]
        left_out = len(self.made) - len(rows)
        head = f"{len(rows)} tensors against {judge}: "
        note = f" ({left_out} are not there)" if left_out else ""
        if not wrong:
            return f"{head}all are ok{note}"
        lines = [f"{head}{len(wrong)} differ{note}", f"first: {self._described(wrong[0], rows)}"]
        cells = [["", "tensor", "max abs", "max rel", "wrong"]]
        for name in wrong[:SHOWN]:
            each = rows[name]
            numbers = [f"{each.absolute:.3g}", f"{each.relative:.3g}"]
            cells.append(["FAIL", name, *numbers, each.reason or f"{each.wrong} of {each.size}"])
        rest = [f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
        return "\n".join([*lines, table(cells, right="23"), *rest])

    def _described(self, name: str, rows: Mapping[str, Difference]) -> str:
        """Return a tensor with what gives it, and whether what that reads is the same."""
        made = self.made[name]
        reads = [
            f"{each} ({'ok' if rows[each].is_close else 'differs'})" if each in rows else each
            for each in made.reads
        ]
        return f"{name}, by {made.operation}" + (f", of {', '.join(reads)}" if reads else "")

    def as_json(self) -> dict[str, Any]:
        """Return all comparisons, and which tensor differs first, as plain data."""
        found = {}
        for judge, rows in self.compared.items():
            each = [{"name": name, **rows[name].as_json()} for name in self.made if name in rows]
            first = self.first(judge)
            made = None if first is None else {"name": first, **vars(self.made[first])}
            found[judge] = {"first": made, "tensors": each}
        return found


def compare_tensors(
    subject: Subject, options: Options, against: Sequence[str], asked: Tolerances, say: Progress
) -> Tensors:
    """Compile a model anew with all its tensors as results, run it, and compare each."""
    from ...frontend.programs.compile import compile_model
    from ...frontend.programs.marked import mark

    if subject.source is None or is_library(subject.source):
        raise UsageError("tensors inside of a library are gone, expected the model")
    with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
        with say("marking every tensor"):
            marked = mark(subject.source, Path(folder), subject.shapes, subject.dims)
        given: dict[str, Any] = {"shapes": subject.shapes, "dims": subject.dims}
        given = given if marked.keeps_shapes else {}
        with say(f"compiling with {len(marked.tensors)} results"):
            model = compile_model(marked.path, options, options.slots, **given)
        with say("running"):
            results = model.run(subject.inputs)
        found = {info.name: r for info, r in zip(model.outputs, results, strict=True)}
        found = {name: found[name] for name in marked.tensors if name in found}
        task = Task(str(marked.path), subject.inputs, [o.name for o in model.outputs], **given)
        compared, absent = {}, []
        for judge in against:
            try:
                with say(f"running {judge}"):
                    others = _tensors_of(judge, task, Path(folder), given, marked)
            except NotInstalledError as error:
                absent.append(error)
                continue
            both = {name: each for name, each in found.items() if name in others}
            if not both:
                raise UsageError(f"{judge} has no tensor of these names: {[*found][:5]}")
            compared[judge] = differences(model, both, others, asked)
    return Tensors(found, {n: marked.tensors[n] for n in found}, compared, tuple(absent))


def _tensors_of(
    judge: str, task: Task, folder: Path, given: Mapping[str, Any], marked: Marked
) -> Mapping[str, Array]:
    """Return the tensors that another gives: of a model, those inside of it, too."""
    from ...frontend.programs.marked import mark

    if judge in JUDGES or judge.endswith((".npz", ".safetensors")):
        return judgement(judge, task)
    readable(judge)
    if is_library(judge):
        raise UsageError(f"{judge}: tensors inside of a library are gone, expected a model")
    inner = folder / "other"
    inner.mkdir(exist_ok=True)
    other = mark(judge, inner, **given)
    if other.keeps_shapes != marked.keeps_shapes:
        raise UsageError(f"{judge} is of another format: its tensors have other names")
    return judgement(str(other.path), task)
