"""A model's results, how they compare with those of others, and what first is not finite."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ...codegen.compiled import OptionFields, Options
from ...frontend.programs.compile import options_with
from ...runtime.compare import Tolerance
from ...runtime.model import Model
from ..comparing.judges import Task, Tolerances, differences, judgement
from ..comparing.tensors import Tensors, compare_tensors
from ..console import table
from ..errors import NotInstalledError, UsageError
from ..inputs import Inputs
from ..onnx_tests import TOLERANCE, Verdict, data_of, run_folder, text_of
from ..options import is_library
from ..talk import FilePath, Progress, Source, silent
from .subject import Subject, Wanted, subject_of

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption
    from ...passes.analysis.finite import NotFinite
    from ...runtime.compare import Difference
    from ...runtime.gpu.driver import Driver

FUSED = (
    "no tensor differs where all are kept: results differ by what is computed in one kernel; "
    "looking at each pass names the one"
)
SHOWN = 6
"""How many elements of a result are shown."""


@dataclass(frozen=True)
class RunResult:
    """What a model gave, and how that compares."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    compared: Mapping[str, Mapping[str, Difference]]
    """For each that was asked: how each output differs from its."""
    absent: tuple[NotInstalledError, ...] = ()
    """Those that are not on this machine."""
    tensors: Tensors | None = None
    """What is inside of the model, if that was asked for."""

    @property
    def is_close(self) -> bool:
        """Say whether all that was compared is within the tolerance."""
        inside = self.tensors is None or self.tensors.is_close
        return inside and all(e.is_close for rows in self.compared.values() for e in rows.values())

    def __str__(self) -> str:
        text = _text(self.outputs, self.compared)
        if self.tensors is None:
            return text
        fused = not all(e.is_close for rows in self.compared.values() for e in rows.values())
        note = f"\n{FUSED}" if fused and self.tensors.is_close and self.tensors.compared else ""
        return f"{text}\n{self.tensors}{note}"

    def as_json(self) -> dict[str, Any]:
        """Return types, shapes and comparisons as plain data."""
        outputs = [{"name": name, **_described(value)} for name, value in self.outputs.items()]
        compared = {
            judge: {name: each.as_json() for name, each in rows.items()}
            for judge, rows in self.compared.items()
        }
        found = {"schema": "gravure.run/1", "outputs": outputs, "compared": compared}
        return found if self.tensors is None else {**found, "tensors": self.tensors.as_json()}


def run(  # noqa: PLR0913  (each option is its own)
    source: Source | Model,
    inputs: Inputs = None,
    *,
    against: Sequence[str] = (),
    rtol: float | None = None,
    atol: float | None = None,
    ulp: int | None = None,
    outputs: str = "",
    threads: int = 1,
    device: Driver | str | None = None,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    weights: str | os.PathLike[str] | None = None,
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> RunResult:
    """Run a model, compiled now or before, and compare its results if asked to.

    - `source`: a model, a library, the bytes of one, or what `gravure.compile` returned.
    - `inputs`: arrays by name, or texts as the command takes them: `"x=2x3xf32:ones"`,
      `"@FILE.npz"`, `"random:7"`; what is not given is random.
    - `against`: whose results to compare with: `interp` (the reference interpreter), `ort`
      (onnxruntime), a file of results (`.npz`), or another model.
    - `rtol`, `atol`: the relative and absolute tolerance; what the element type allows if neither
      is given. `ulp`: how many representable numbers may lie between; alone it is all.
    - `outputs`: `"all"` also compares every tensor inside of the model (it is compiled once more,
      so that it gives them) and names the first that differs; empty for the model's own results.
    - `threads`: of the run, from 1; `device`: where a model for GPUs runs: `gpu:0`, `emulated`.
    - `shapes`, `dims`, `options` and further keywords: as for `gravure.compile`; of what is
      compiled already, `dims` says the sizes.
    - `weights`: the file of a library that has them not.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> text = b"model m(x: f32[4]) -> (y) { y = exp(x) }"
    >>> found = gv.run(text, {"x": [0, 0, 0, 0]}, against=["interp"])
    >>> found.outputs["y"].tolist(), found.is_close
    ([1.0, 1.0, 1.0, 1.0], True)
    """
    own = ("inputs", "against", "rtol", "atol", "ulp", "outputs", "threads", "device", "shapes",
           "dims", "weights", "options", "progress")  # fmt: skip
    if outputs not in ("", "all"):
        raise UsageError(f"outputs is {outputs!r}, expected 'all'")
    made = options_with("run", options, more, threads=threads, own=own)
    wanted = Wanted(inputs, threads, shapes, dims, weights, device)
    subject = subject_of(source, made, wanted, progress)
    with progress("running"):
        results = subject.model.run(subject.inputs)
    found = {info.name: r for info, r in zip(subject.model.outputs, results, strict=True)}
    compared: dict[str, dict[str, Difference]] = {}
    absent: list[NotInstalledError] = []
    asked = Tolerances.of(rtol, atol, ulp)
    for judge in against:
        try:
            with progress(f"running {judge}"):
                others = judgement(judge, _task(subject, found))
        except NotInstalledError as error:
            absent.append(error)
        else:
            compared[judge] = differences(subject.model, found, others, asked)
    tensors = compare_tensors(subject, made, against, asked, progress) if outputs else None
    return RunResult(subject.inputs, found, compared, tuple(absent), tensors)


def _task(subject: Subject, outputs: Mapping[str, Any]) -> Task:
    if subject.source is None:
        raise UsageError("others need the model's file or bytes, not what was made of them")
    source = subject.source if isinstance(subject.source, bytes) else os.fspath(subject.source)
    return Task(source, subject.inputs, list(outputs), subject.shapes, subject.dims)


@dataclass(frozen=True)
class NumericsCheck:
    """The first operation whose results are not finite where its operands are, if there is one."""

    first: NotFinite | None

    def __bool__(self) -> bool:
        return self.first is None

    def __str__(self) -> str:
        return "every number is finite" if self.first is None else str(self.first)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        first = None if self.first is None else vars(self.first)
        return {"schema": "gravure.numerics/1", "first": first}


def check_numerics(
    source: Source,
    inputs: Inputs = None,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    progress: Progress = silent,
) -> NumericsCheck:
    """Return which operation of a model first gives NaN or infinity; true if none does.

    - `source`: the model; the reference interpreter runs it.
    - `inputs`: as for `gravure.run`; `shapes`, `dims`: as for `gravure.compile`.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> text = b"model m(x: f32[2]) -> (y) { y = log(x - 1) }"
    >>> print(gv.check_numerics(text, {"x": [1.0, 2.0]}))
    <bytes>:1: gv.log gives 1 infinite, from float32[2] from 0.0 to 1.0
    """
    from ...frontend.programs.load import load_program
    from ...passes.analysis.finite import first_not_finite

    if is_library(source):
        raise UsageError("this needs the model, not a library")
    subject = subject_of(source, Options(), Wanted(inputs, 1, shapes, dims), progress)
    program = load_program(source, shapes=subject.shapes, dims=dims)
    if program.level not in ("graph", "fused"):
        raise UsageError(f"this works on graphs, the program is on level {program.level}")
    with progress("interpreting"):
        return NumericsCheck(first_not_finite(program, list(subject.inputs.values())))


@dataclass(frozen=True)
class OnnxTests:
    """What became of test folders of the onnx package; true if all are right."""

    verdicts: tuple[Verdict, ...]

    def __bool__(self) -> bool:
        return all(verdict.status == "ok" for verdict in self.verdicts)

    def __str__(self) -> str:
        return text_of(self.verdicts)

    def as_json(self) -> dict[str, Any]:
        """Return all verdicts, and how many there are of each kind, as plain data."""
        return data_of(self.verdicts)


def run_onnx_tests(
    folder: FilePath,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    ulp: int = 0,
    progress: Progress = silent,
) -> OnnxTests:
    """Run the test folders of the onnx package: a model each, with inputs and results.

    - `folder`: a test, or a folder with tests inside of it.
    - `rtol`, `atol`, `ulp`: what may differ, relatively, absolutely, in representable numbers.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> gv.run_onnx_tests("/nowhere")
    Traceback (most recent call last):
    gravure.errors.InputError: /nowhere: no test here, expected model.onnx beside ...
    """
    tolerance = Tolerance(
        TOLERANCE.relative if rtol is None else rtol,
        TOLERANCE.absolute if atol is None else atol,
        ulp,
    )
    with progress(f"testing {os.fspath(folder)}"):
        return OnnxTests(tuple(run_folder(os.fspath(folder), tolerance)))


def _text(found: Mapping[str, Any], verdicts: Mapping[str, Mapping[str, Difference]]) -> str:
    """Return results and comparisons as tables."""
    parts = [table([[f"{name}:", *_look(array)] for name, array in found.items()])]
    for judge, rows in verdicts.items():
        lines = [["", f"against {judge}", "max abs", "max rel", "max ulp", "wrong"]]
        for name, each in rows.items():
            word = "ok" if each.is_close else "FAIL"
            lines.append([word, name, *_numbers(each)])
        parts.append(table(lines, right="2345"))
        for name, each in rows.items():
            if not each.is_close:
                parts.append(_worst(name, each))
    return "\n".join(parts)


def _numbers(each: Difference) -> list[str]:
    ulps = "-" if each.ulps < 0 else str(each.ulps)
    return [f"{each.absolute:.3g}", f"{each.relative:.3g}", ulps, f"{each.wrong} of {each.size}"]


def _worst(name: str, each: Difference) -> str:
    if each.reason:
        return f"{name}: {each.reason}"
    place = ", ".join(map(str, each.worst or ()))
    return f"{name}[{place}] is {each.found}, expected {each.wanted}"


def _look(array: Any) -> list[str]:
    """Return type, range and first elements of a result."""
    if array is None or isinstance(array, list):
        inner = "; ".join(_look(each)[0] for each in array[:SHOWN]) if array else ""
        return ["nothing" if array is None else f"{len(array)} values", "", inner]
    kind = f"{array.dtype}[{', '.join(map(str, array.shape))}]"
    if not array.size:
        return [kind, "", ""]
    first = ", ".join(str(x) for x in array.reshape(-1)[:SHOWN])
    more = ", ..." if array.size > SHOWN else ""
    if array.dtype.kind in "cO":
        return [kind, "", f"{first}{more}"]
    wide = array.astype(np.float64)
    return [kind, f"{wide.min():.5g} to {wide.max():.5g}, mean {wide.mean():.5g}", first + more]


def _described(value: Any) -> dict[str, Any]:
    if value is None or isinstance(value, list):
        return {"values": None if value is None else [_described(each) for each in value]}
    return {"dtype": str(value.dtype), "shape": list(value.shape)}
