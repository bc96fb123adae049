"""Try exported architectures: gravure's results against onnxruntime's, a row a model.

    python tests/corpus/models/run.py --torch /path/to/python rows.jsonl [words/ timm/resnet ...]

Each is exported by the other Python (torch, torchvision, timm, transformers, scikit-learn,
skl2onnx, onnxruntime), compiled here in a process of its own, compared, and deleted. What has a row
in the file already is left out, so that a run can go on. `--table` prints the rows as Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

HERE = Path(__file__).parent
TOLERANCE = 1e-3
"""The largest difference, as a part of the largest magnitude."""
LOOSE = {
    "half": 2e-2, "bfloat": 1e-1, "dynamic8": 5e-2, "qdq": 5e-2, "qoperator": 5e-2,
    "nbits4qdq": 2e-2,
}  # fmt: skip
"""The same for forms that round to few digits: a sum in another order may give the next step.

It is for all forms that begin so. Of `nbits4qdq` onnxruntime rounds what is multiplied too.
"""
LONGEST = 600
"""How many seconds one comparison may take."""
SLOW = 1.2
"""The largest processor time of a run, as a part of onnxruntime's."""
WAY = ("exporter", "axes", "form")
WAYS = tuple((exporter, axes, "plain") for exporter in ("legacy", "dynamo")
             for axes in ("fixed", "open"))  # fmt: skip
ESTIMATORS = ("sklearn/", "boosted/", "pipelines/", "sklearn2/")
Row = dict[str, Any]


def compare(folder: Path, form: str) -> Row:
    """Compile a model and compare it for each set of inputs."""
    import gravure as gv  # noqa: PLC0415  (in a process of its own)
    from gravure.errors import GravureError  # noqa: PLC0415

    warnings.simplefilter("error")
    try:
        model = gv.compile(str(folder / "model.onnx"), dims=bounds_of(folder), cache=False)
        spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        errors = [difference(model, path, form) for path in sorted(folder.glob("*.npz"))]
    except GravureError as error:
        return {"state": "refused", "why": str(error)[:400]}
    if not all(same_on_two_threads(model, path) for path in sorted(folder.glob("*.npz"))):
        return {"state": "wrong", "why": "other bits on two threads"}
    host = type(model).__name__ == "SteppedModel"
    if not host:  # the library that `gravure compile` writes
        model.save(folder / "model.so")
        again = gv.load(folder / "model.so")
        errors += [difference(again, path, form) for path in sorted(folder.glob("*.npz"))]
    share, own = beside_onnxruntime(model, folder)
    allowed = max(
        (most for name, most in LOOSE.items() if form.startswith(name)), default=TOLERANCE
    )
    right = max(errors) <= allowed
    state = "wrong" if not right else "slow" if share > SLOW else "equal"
    row = {"state": state, "error": max(errors), "host": host, "seconds": round(spent, 1)}
    return {**row, "share": round(share, 2), "milliseconds": round(own * 1e3, 3)}


def same_on_two_threads(model: Any, path: Path) -> bool:
    """Say whether a model gives the same bits on two threads as on one."""
    arrays, found = np.load(path), []
    feed = {name: arrays[name] for name in arrays.files if not name.startswith("=")}
    for model.threads in (2, 1):
        arrays_of = [np.asarray(each) for each in model.run(feed)]
        found.append([x.tolist() if x.dtype == object else x.tobytes() for x in arrays_of])
    return found[0] == found[1]


def beside_onnxruntime(model: Any, folder: Path) -> tuple[float, float]:
    """Return the processor time of a run as a part of onnxruntime's, on one thread, and its own.

    The two take turns, with the largest inputs, and the fastest of each counts: others work on the
    machine. What looks slow is looked at again.
    """
    import onnxruntime  # noqa: PLC0415  (as above)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    peer = onnxruntime.InferenceSession(
        str(folder / "model.onnx"), options, ["CPUExecutionProvider"]
    )
    arrays = np.load(max(folder.glob("[0-9].npz"), key=lambda path: path.name))
    feed = {name: arrays[name] for name in arrays.files if not name.startswith("=")}
    best = [float("inf"), float("inf")]
    for _ in range(3):
        for _ in range(5):
            for which, run in enumerate((lambda: model.run(feed), lambda: peer.run(None, feed))):
                best[which] = min(best[which], time_of(run))
        if best[0] <= SLOW * best[1]:
            break
    return best[0] / best[1], best[0]


def time_of(run: Callable[[], Any]) -> float:
    """Return the processor time of a run, of as many runs as last two milliseconds."""
    start, count = process_time(), 0
    while count == 0 or process_time() - start < 2e-3:
        run()
        count += 1
    return (process_time() - start) / count


def bounds_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Return ranges for all open dimensions: the sizes that are tried are in them."""
    from gravure.frontend.programs.load import load_program  # noqa: PLC0415
    from gravure.ir.program import argument_names, argument_specs  # noqa: PLC0415
    from gravure.ir.types.dims import symbols  # noqa: PLC0415

    program = load_program(str(folder / "model.onnx"))
    tried = [np.load(path) for path in folder.glob("*.npz")]
    names, specs = argument_names(program.main), argument_specs(program.main)
    given = {name for spec in specs for dim in spec.dims for name in symbols(dim)}
    open_ones = [name for name, (_, high) in program.ranges.items() if high is None]
    found = {name: (program.ranges[name][0], 512) for name in open_ones if name in given}
    for name, spec in zip(names, specs, strict=True):
        for axis, dim in enumerate(spec.dims):
            sizes = [arrays[name].shape[axis] for arrays in tried]
            for each in symbols(dim) & set(found):
                found[each] = (min(found[each][0], *sizes), max(sizes))
    return found


def difference(model: Any, path: Path, form: str) -> float:
    """Return the largest difference of all results, as a part of the largest magnitude."""
    arrays = np.load(path)
    feed = {name: arrays[name] for name in arrays.files if not name.startswith("=")}
    found = model.run(feed)
    worst = 0.0
    for name in (name for name in arrays.files if name.startswith("=")):
        want, got = arrays[name], np.asarray(found[int(name[1:])])
        if want.shape != got.shape:
            return float("inf")
        if want.dtype.kind not in "fiub":
            worst = max(worst, 0.0 if bool(np.all(want == got)) else float("inf"))
            continue
        wide, other = want.astype(np.float64), got.astype(np.float64)
        if not np.array_equal(np.isfinite(wide), np.isfinite(other)):
            return float("inf")
        fine = np.isfinite(wide)
        scale = float(np.max(np.abs(wide[fine]), initial=1e-6))
        worst = max(worst, float(np.max(np.abs(wide - other)[fine], initial=0.0)) / scale)
    return worst


class Worker:
    """A Python that has its libraries for one model after another, each in a process of its own."""

    def __init__(self, *command: str) -> None:
        self.command = command
        self.process: subprocess.Popen[str] | None = None

    def work(self, folder: str, *what: str) -> str:
        """Have something done with the model of a folder; return what went wrong."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                self.command, text=True,
                stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        print(folder, *what, file=self.process.stdin, flush=True)
        said: list[str] = []
        for line in self.process.stderr:
            if line.startswith("status "):
                errors = Path(folder, "errors")
                text = errors.read_text().strip()[-600:] if errors.exists() else "".join(said[-9:])
                return "" if line == "status 0\n" else text + line
            said.append(line)
        return "the worker ended"


def attempt(
    exporting: Worker, comparing: Worker, name: str, way: tuple[str, ...], keep: Path | None
) -> Row:
    """Export and compare one model; keep it if it is not equal."""
    row: Row = {"name": name, **dict(zip(WAY, way, strict=True))}
    with tempfile.TemporaryDirectory() as folder:
        errors = exporting.work(folder, name, *way)
        if errors:
            return {**row, "state": "not exported", "why": errors}
        errors = comparing.work(folder, "qdq" if name.startswith("quantised/") else way[2])
        found = Path(folder, "row.json")
        row |= json.loads(found.read_text()) if not errors else {"state": "crash", "why": errors}
        if keep and row["state"] != "equal":
            shutil.copytree(folder, keep / "-".join((*name.split("/"), *way)), dirs_exist_ok=True)
        return row


def serve() -> None:
    """Compare what each line names, in a process of its own."""
    for name in ("gravure", "onnxruntime", "gravure.frontend.programs.load", "gravure.codegen"):
        __import__(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            signal.alarm(LONGEST)
            folder, form = line.split()
            try:
                Path(folder, "row.json").write_text(json.dumps(compare(Path(folder), form)))
            except BaseException:
                Path(folder, "errors").write_text(traceback.format_exc())
                os._exit(1)
            os._exit(0)
        print(f"status {os.waitpid(child, 0)[1]}", file=sys.stderr, flush=True)


def counted(rows: list[Row], title: str, of: Callable[[Row], str]) -> list[str]:
    """Return how many rows of each kind came out how, as lines of Markdown."""
    states = ("equal", "wrong", "crash", "refused", "slow", "not exported")
    lines = [f"| {title} | architectures | {' | '.join(states)} |", "|---|" + "---|" * 7]
    for kind in dict.fromkeys(map(of, rows)):
        own = [row for row in rows if of(row) == kind]
        count = Counter(row["state"] for row in own)
        names = {row["name"] for row in own}
        cells = " | ".join(str(count[state]) for state in states)
        lines.append(f"| {kind} | {len(names)} | {cells} |")
    return lines


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown: counts by family, then what was not equal."""
    lines = counted(rows, "family", lambda row: row["name"].partition("/")[0])
    lines += ["", *counted(rows, "form", lambda row: f"{row['exporter']} {row['form']}")]
    lines += ["", "| model | exporter, axes | | |", "|---|---|---|---|"]
    for row in rows:
        if row["state"] in ("wrong", "crash", "refused", "slow"):
            why = " ".join(str(row.get("why", row.get("error", ""))).split())[-200:]
            where = f"{row['exporter']}, {row['axes']}"
            lines.append(f"| {row['name']} | {where} | {row['state']} | `{why}` |")
    return "\n".join(lines)


def main() -> None:
    """Try what is asked for and has no row yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", type=Path, help="file of rows, JSON a line")
    parser.add_argument("names", nargs="*", help="beginnings of names; all if none")
    parser.add_argument("--torch", default=sys.executable, help="the Python that has torch")
    parser.add_argument("--ways", default="all", help="such as legacy-open,dynamo-fixed-half")
    parser.add_argument("--keep", type=Path, help="folder for the models that are not equal")
    parser.add_argument("--table", action="store_true", help="print the rows as Markdown")
    parser.add_argument("--compare", action="store_true", help="`rows` is the folder of one model")
    args = parser.parse_args()
    if args.compare:
        print(json.dumps(compare(args.rows, *(args.names or ["plain"]))))
        return
    rows = [json.loads(x) for x in args.rows.read_text().splitlines()] if args.rows.exists() else []
    if args.table:
        print(table(rows))
        return
    code = "import architectures; print(*architectures.all_names())"
    listed = subprocess.run(
        [args.torch, "-c", code], cwd=HERE, capture_output=True, text=True, check=True
    )
    done = {tuple(row[key] for key in ("name", *WAY)) for row in rows}
    ways = [way_of(text) for text in args.ways.split(",")] if args.ways != "all" else WAYS
    exporting = Worker(args.torch, str(HERE / "export.py"), "--serve")
    comparing = Worker(sys.executable, __file__, "--serve")
    for name in listed.stdout.split():
        if args.names and not name.startswith(tuple(args.names)):
            continue
        for way in ways if not name.startswith(ESTIMATORS) else [("skl2onnx", "open", "plain")]:
            if (name, *way) in done:
                continue
            row = attempt(exporting, comparing, name, way, args.keep)
            with args.rows.open("a") as file:
                print(json.dumps(row), file=file, flush=True)


def way_of(text: str) -> tuple[str, ...]:
    """Return exporter, axes and form of such as `legacy-open` or `dynamo-fixed-half`."""
    return (*text.split("-"), "plain")[:3]


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
