"""Time whole programs beside TensorFlow: Python, imports, tracing, compiling and all steps.

    python tools/measuring/whole_programs.py --peer VENV/bin/python [--every 3] [--rows 20]

Each program of `tests/corpus/tensorflow/programs` (with `--every N` each N-th of them) runs in a
process of its own: in TensorFlow (`--peer` is a Python that has it), in gravure with an empty cache
and once more with what that run left in the cache. Seconds are those of the processor, children
included, from the start of Python; `beside` is what is left without importing. Below 1 gravure
takes less.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "corpus" / "tensorflow"
Seconds = Mapping[str, float]
COLUMNS = ("TensorFlow", "cold", "warm")


def main(arguments: Sequence[str] | None = None) -> None:
    """Time the programs, or be the process of one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--peer", help="a Python that has TensorFlow")
    parser.add_argument("--every", type=int, default=1, help="run each N-th program")
    parser.add_argument("--rows", type=int, default=20, help="slowest programs that are listed")
    parser.add_argument("--module", help=argparse.SUPPRESS)
    parser.add_argument("--program", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    sys.path.insert(0, str(CORPUS))
    programs = dict(importlib.import_module("record").programs())
    if given.module:
        print(json.dumps(run(given.program, programs[given.program], given.module)))
        return
    if not given.peer:
        parser.error("--peer is missing: a Python that has TensorFlow")
    report(measured([*programs][:: given.every], given.peer), given.rows)


def run(name: str, program: Any, module: str) -> Seconds:
    """Run one program, and return what it and importing took."""
    warnings.simplefilter("ignore")
    record = importlib.import_module("record")
    begin = used()
    tf = importlib.import_module(module)
    _ = tf.constant  # what is loaded at its first use is
    imported = used()
    if record.is_first(name):
        tf.compat.v1.disable_v2_behavior()
    record.outcome(name, program, tf)
    return {"whole": used(), "beside": used() - (imported - begin)}


def used() -> float:
    """Return the processor seconds of this process and of its children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def measured(names: Iterable[str], peer: str) -> Mapping[str, Mapping[str, Seconds]]:
    """Return the seconds of each program that TensorFlow runs, by name and column."""
    found: dict[str, Mapping[str, Seconds]] = {}
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            sides = [(peer, "tensorflow"), *[(sys.executable, "gravure.tf")] * 2]
            made = [in_a_process(name, *side, cache) for side in sides]
        if made[0] is None:
            print(f"{name}: TensorFlow does not run it", file=sys.stderr)
        elif None in made:
            raise SystemExit(f"{name}: gravure does not run it")
        else:
            found[name] = dict(zip(COLUMNS, [m for m in made if m is not None], strict=True))
    return found


def in_a_process(name: str, python: str, module: str, cache: str) -> Seconds | None:
    """Run one program in a process of its own; None if it fails."""
    words = [python, __file__, "--module", module, "--program", name]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    variables["GRAVURE_CACHE"] = cache
    made = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    if made.returncode:
        print(made.stderr, file=sys.stderr)
        return None
    found: Seconds = json.loads(made.stdout.splitlines()[-1])
    return found


def report(rows: Mapping[str, Mapping[str, Seconds]], most: int) -> None:
    """Print the ratios of all, and the programs that are nearest to TensorFlow."""
    print(f"{len(rows)} programs")
    for kind in ("whole", "beside"):
        for column in COLUMNS[1:]:
            ratios = [row[column][kind] / row[COLUMNS[0]][kind] for row in rows.values()]
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            slower = sum(ratio > 1 for ratio in ratios)
            print(f"{kind:7} {column}: {mean:.2f} in the geometric mean, at most "
                  f"{max(ratios):.2f}, {slower} slower than TensorFlow")  # fmt: skip
    first = sorted(rows, key=lambda n: -rows[n]["cold"]["whole"] / rows[n][COLUMNS[0]]["whole"])
    print(f"{'seconds, whole (beside importing)':60}" + "".join(f"{c:>16}" for c in COLUMNS))
    for name in first[:most]:
        cells = [f"{rows[name][c]['whole']:.2f} ({rows[name][c]['beside']:.2f})" for c in COLUMNS]
        print(f"{name:60}" + "".join(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
