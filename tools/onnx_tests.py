"""Run test folders of the `onnx` package, and say of each whether it is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..counting import tell
from ..errors import GravureError, InputError, UnsupportedOp
from ..runtime.compare import Tolerance, compare

if TYPE_CHECKING:
    from ..frontend.programs.onnx_cases import Case

TOLERANCE = Tolerance(1e-3, 1e-7)
"""What results may differ by, as in the package's own runner."""

NARROWEST = 2.0**-6
"""The least relative tolerance for floats that numpy itself has not, such as bf16."""


@dataclass(frozen=True)
class Verdict:
    """What became of one case: `ok`, `wrong`, `refused` or `error`, and why."""

    name: str
    status: str
    reason: str = ""


def run_folder(folder: str, tolerance: Tolerance) -> Iterator[Verdict]:
    """Give the verdict on each case in a folder, or in those inside of it."""
    from ..frontend.programs.onnx_cases import find_cases

    found = find_cases(Path(folder))
    if not found:
        message = "no test here, expected model.onnx beside test_data_set_0"
        raise InputError(message, location=folder)
    for number, case in enumerate(found, 1):
        tell("test", number, len(found))
        yield judged(case, tolerance)


def judged(case: Case, tolerance: Tolerance) -> Verdict:
    """Run one case."""
    name = case.folder.name
    try:
        model = case.prepared()
        for data in case.data():
            results = model.run(list(data.inputs.values()))
            for output, wanted, found in zip(
                data.outputs, data.outputs.values(), results, strict=True
            ):
                reason = difference(found, wanted, tolerance)
                if reason:
                    return Verdict(name, "wrong", f"{data.name}, output {output!r}: {reason}")
    except UnsupportedOp as error:
        return Verdict(name, "refused", error.message)
    except GravureError as error:
        return Verdict(name, "error", error.message)
    return Verdict(name, "ok")


def difference(found: Any, wanted: Any, tolerance: Tolerance) -> str:
    """Return how a value differs from what was wanted; nothing if it is close enough."""
    if wanted is None or found is None:
        return "" if found is wanted else f"found {_kind(found)}, expected {_kind(wanted)}"
    if isinstance(wanted, list) or isinstance(found, list):
        return _of_lists(found, wanted, tolerance)
    found, wanted = np.asarray(found), np.asarray(wanted)
    if wanted.dtype.kind in "OUS":
        return "" if found.tolist() == wanted.tolist() else "texts differ"
    if found.dtype == wanted.dtype and wanted.dtype.kind not in "biufc":
        found, wanted = found.astype(np.float32), wanted.astype(np.float32)
        tolerance = Tolerance(max(tolerance.relative, NARROWEST), tolerance.absolute)
    made = compare(found, wanted, tolerance)
    if made.is_close:
        return ""
    where = f"{made.wrong} of {made.size} elements differ, at {made.worst} found {made.found}"
    return made.reason or f"{where}, expected {made.wanted}"


def _of_lists(found: Any, wanted: Any, tolerance: Tolerance) -> str:
    if not isinstance(found, list) or not isinstance(wanted, list) or len(found) != len(wanted):
        return f"found {_kind(found)}, expected {_kind(wanted)}"
    reasons = (difference(a, b, tolerance) for a, b in zip(found, wanted, strict=True))
    return next((f"value {n}: {reason}" for n, reason in enumerate(reasons) if reason), "")


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return f"a sequence of {len(value)}"
    return "nothing" if value is None else "a tensor"


def data_of(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return all verdicts, and how many there are of each kind, as plain data."""
    counts = dict.fromkeys(("ok", "wrong", "refused", "error"), 0)
    for verdict in verdicts:
        counts[verdict.status] += 1
    rows = [asdict(verdict) for verdict in verdicts]
    return {"schema": "gravure.onnx-test/1", "counts": counts, "cases": rows}


def text_of(verdicts: Sequence[Verdict]) -> str:
    """Return a line for each case, and one for all."""
    lines = [
        f"{v.status:8} {v.name}{': ' if v.reason else ''}{v.reason.partition(chr(10))[0]}"
        for v in verdicts
    ]
    counts = data_of(verdicts)["counts"].items()
    return "\n".join([*lines, ", ".join(f"{number} {status}" for status, number in counts)])
