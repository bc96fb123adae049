"""Prove each pass on its own: what it leaves computes what it was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack

from ...codegen.compiled import OptionFields, Options
from ...frontend.programs.compile import options_with
from ...passes.base import meaning_of
from ...passes.check import ALL
from ..console import in_seconds
from ..inputs import Inputs
from ..talk import Progress, Source, silent
from .passes import AS_WRITTEN, WIDE, findings, plan_of

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption
    from ...ir import Program
    from ...passes.check import Finding


@dataclass(frozen=True)
class Found:
    """A finding, and in which element type."""

    width: str
    """`f64` where f64 stood in place of f32; else empty."""
    finding: Finding

    def __str__(self) -> str:
        each = self.finding
        width = f" in {self.width}" if self.width else ""
        what = f"result {each.result!r}" if each.result != ALL else "all results"
        return (
            f"FAIL  pass {each.number}, {each.rewrite}{width}: "
            f"{what} of @{each.function} on {each.arguments} arguments\n"
            f"      {each.reason}\n"
            f"      by {each.operation}, from {each.source or 'no node'}\n"
            f"      its contract: {each.contract}, {meaning_of(each.contract)}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"width": self.width or None, **vars(self.finding)}


@dataclass(frozen=True)
class Checked:
    """What a pipeline did to a program; true if each pass kept to its contract."""

    findings: tuple[Found, ...]
    operations: int
    passes: int
    changed: int
    """How many passes changed the program."""
    runs: int
    """How many sets of arguments there were for each pass, over all functions and types."""
    widths: tuple[str, ...]
    seconds: float

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        types = " and ".join(width or "as written" for width in self.widths)
        head = (
            f"{self.operations} operations, {self.passes} passes, of which {self.changed} changed "
            f"something; {self.runs} runs of each, {types}, in {in_seconds(self.seconds)}"
        )
        if not self.findings:
            return f"{head}\nevery pass keeps to its contract"
        return "\n".join([head, *map(str, self.findings)])

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "schema": "gravure.check/1",
            "operations": self.operations,
            "passes": self.passes,
            "changed": self.changed,
            "runs": self.runs,
            "types": [width or "as written" for width in self.widths],
            "seconds": self.seconds,
            "findings": [each.as_json() for each in self.findings],
        }


def check(  # noqa: PLR0913  (each option is its own)
    source: Source | Program,
    inputs: Inputs = None,
    *,
    seed: int = 0,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> Checked:
    """Return which passes change more of a model's results than their contract allows.

    Every pass is tried on its own: the reference interpreter runs the program before and after it,
    as it is written and with f64 in place of f32, on normal numbers, on those of the edge (zeros of
    both signs, NaN, infinities, denormal and the largest numbers, wherever masks are random, also
    behind them), with few, many and the fewest sizes of what is open, and on what the user gives.

    - `source`: the model: ONNX, graph text, IR text of any stage, `file.py:function`, a program, or
      a file that `gravure.bisect` wrote, with its own passes.
    - `inputs`: the user's, as for `gravure.run`; `seed`: other numbers.
    - `shapes`, `dims`, `options` and further keywords: as for `gravure.compile`.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> found = gv.check(b"model m(x: f32[4]) -> (y) { y = exp(x) * 1 + 0 }")
    >>> bool(found), found.widths
    (True, ('', 'f64'))
    """
    own = ("inputs", "seed", "shapes", "dims", "options", "progress")
    made = options_with("check", options, more, threads=1, own=own)
    start = perf_counter()
    plan = plan_of(source, inputs, made, shapes, dims)
    operations = sum(1 for _ in plan.program.module.walk())
    found: list[Found] = []
    widths, changed, runs = list[str](), 0, 0
    for width in (AS_WRITTEN, WIDE):
        with progress(f"checking {len(plan.passes)} passes {width}".rstrip()):
            written = plan.written_in(width)
            if written is None:
                continue
            checked = findings(written, seed=seed)
        widths.append(width)
        changed, runs = max(changed, checked.changed), runs + len(checked.last)
        found += [Found(width, each) for each in checked.found]
    seconds = perf_counter() - start
    return Checked(
        tuple(found), operations, len(plan.passes), changed, runs, tuple(widths), seconds
    )
