"""Try exported architectures: gravure's results against onnxruntime's, a row a model.

    python tests/corpus/models/run.py --torch /path/to/python rows.jsonl [words/ timm/resnet ...]

Each is exported by the other Python (torch, torchvision, timm, transformers, scikit-learn,
skl2onnx, onnxruntime), compiled here in a process of its own, compared, and deleted. What has a row
in the file already is left out, so that a run can go on. `--table` prints the rows as Markdown.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

HERE = Path(__file__).parent
TOLERANCE = 1e-3
"""The largest difference, as a part of the largest magnitude."""
SLOW = 1.2
"""The largest processor time of a run, as a part of onnxruntime's."""
WAYS = (("legacy", "fixed"), ("legacy", "open"), ("dynamo", "fixed"), ("dynamo", "open"))
Row = dict[str, Any]


def compare(folder: Path) -> Row:
    """Compile a model and compare it for each set of inputs."""
    import gravure as gv  # noqa: PLC0415  (in a process of its own)
    from gravure.errors import GravureError  # noqa: PLC0415

    try:
        model = gv.compile(str(folder / "model.onnx"), dims=bounds_of(folder), cache=False)
        spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        errors = [difference(model, path) for path in sorted(folder.glob("*.npz"))]
    except GravureError as error:
        return {"state": "refused", "why": str(error)[:400]}
    host = type(model).__name__ == "SteppedModel"
    share, own = beside_onnxruntime(model, folder)
    state = "wrong" if max(errors) > TOLERANCE else "slow" if share > SLOW else "equal"
    row = {"state": state, "error": max(errors), "host": host, "seconds": round(spent, 1)}
    return {**row, "share": round(share, 2), "milliseconds": round(own * 1e3, 3)}


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
    arrays = np.load(max(folder.glob("*.npz"), key=lambda path: path.name))
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
    """Return ranges for all open dimensions: up to the largest size that is tried."""
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
            largest = max(arrays[name].shape[axis] for arrays in tried)
            found |= {each: (found[each][0], largest) for each in symbols(dim) if each in found}
    return found


def difference(model: Any, path: Path) -> float:
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


def attempt(python: str, name: str, exporter: str, axes: str) -> Row:
    """Export and compare one model."""
    row: Row = {"name": name, "exporter": exporter, "axes": axes}
    with tempfile.TemporaryDirectory() as folder:
        command = [python, str(HERE / "export.py"), folder, name, exporter, axes]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        except subprocess.TimeoutExpired:
            return {**row, "state": "not exported", "why": "longer than 600 s"}
        if done.returncode:
            return {**row, "state": "not exported", "why": done.stderr.strip()[-300:]}
        command = [sys.executable, __file__, "--compare", folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        except subprocess.TimeoutExpired:
            return {**row, "state": "crash", "why": "longer than 600 s"}
        if done.returncode:
            return {**row, "state": "crash", "why": done.stderr.strip()[-600:]}
        return {**row, **json.loads(done.stdout.splitlines()[-1])}


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown: counts by family, then what was not equal."""
    families = dict.fromkeys(row["name"].partition("/")[0] for row in rows)
    states = ("equal", "wrong", "crash", "refused", "slow", "not exported")
    lines = [f"| family | architectures | {' | '.join(states)} |", "|---|" + "---|" * 7]
    for family in families:
        own = [row for row in rows if row["name"].startswith(f"{family}/")]
        count = Counter(row["state"] for row in own)
        names = {row["name"] for row in own}
        cells = " | ".join(str(count[state]) for state in states)
        lines.append(f"| {family} | {len(names)} | {cells} |")
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
    parser.add_argument("--ways", default="all", help="such as legacy-open,dynamo-fixed")
    parser.add_argument("--table", action="store_true", help="print the rows as Markdown")
    parser.add_argument("--compare", action="store_true", help="`rows` is the folder of one model")
    args = parser.parse_args()
    if args.compare:
        print(json.dumps(compare(args.rows)))
        return
    rows = [json.loads(x) for x in args.rows.read_text().splitlines()] if args.rows.exists() else []
    if args.table:
        print(table(rows))
        return
    code = "import architectures; print(*architectures.all_names())"
    listed = subprocess.run(
        [args.torch, "-c", code], cwd=HERE, capture_output=True, text=True, check=True
    )
    done = {(row["name"], row["exporter"], row["axes"]) for row in rows}
    ways = WAYS if args.ways == "all" else [tuple(w.split("-")) for w in args.ways.split(",")]
    for name in listed.stdout.split():
        if args.names and not name.startswith(tuple(args.names)):
            continue
        for exporter, axes in ways if not name.startswith("sklearn/") else [("skl2onnx", "open")]:
            if (name, exporter, axes) in done:
                continue
            row = attempt(args.torch, name, exporter, axes)
            with args.rows.open("a") as file:
                print(json.dumps(row), file=file, flush=True)


if __name__ == "__main__":
    main()
