"""Try mutants on the tests: `python tests/mutation/run.py note|try|show WORK [paths of tests]`.

    note   plant mutants in a copy of the tree, run the tests there once, note which pass them by
    try    run the tests of each mutant with it turned on, the quickest first
    show   what lived, by folder, and the share that died

WORK is a folder for the copy and the notes; `try` goes on where it was ended. `equivalent.txt` says
of mutants why no test can notice them: they count as neither.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from mutants import Mutant, chosen, plant

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ir", "passes", "codegen", "runtime", "frontend", "tools")
PATHS = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
MOST_TESTS, MOST_SECONDS = 80, 40.0
EQUIVALENT = Path(__file__).with_name("equivalent.txt")


def pytest(work: Path, *arguments: str, **environment: str) -> int:
    """Run tests in the copy."""
    tree = work / "tree"
    paths = os.pathsep.join(map(str, (tree, tree / "tests" / "mutation", *PATHS)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "server"]
    more = {"PYTHONPATH": paths, "GRAVURE_CACHE": str(work / "cache"), **environment}
    whole = [*command, *arguments]
    return subprocess.run(whole, check=False, cwd=tree, env={**os.environ, **more}).returncode


def note(work: Path, args: argparse.Namespace) -> None:
    """Plant mutants, and note which tests pass them by."""
    mutants = chosen(ROOT, args.folders, args.count, args.seed)
    plant(ROOT, work / "tree", mutants)
    (work / "mutants.json").write_text(json.dumps([asdict(m) for m in mutants]))
    (work / "notes").mkdir()
    options = ["-n", str(args.jobs), *args.tests]
    pytest(work, *options, GRAVURE_MUTANTS_NOTE=str(work / "notes"))


def planted(work: Path) -> list[Mutant]:
    """Return the mutants of a work folder."""
    return [Mutant(**m) for m in json.loads((work / "mutants.json").read_text())]


def tests_of(work: Path) -> dict[int, list[tuple[float, str]]]:
    """Return the tests that pass each mutant by, the quickest first."""
    found: dict[int, list[tuple[float, str]]] = {}
    for path in (work / "notes").glob("*.jsonl"):
        for line in path.read_text().splitlines():
            name, seconds, passed = json.loads(line)
            for number in passed:
                found.setdefault(number, []).append((seconds, name))
    return {number: sorted(tests) for number, tests in found.items()}


def tried(work: Path) -> dict[int, str]:
    """Return what became of the mutants that were tried: one that died once is dead."""
    found: dict[int, str] = {}
    for path in work.glob("*.found"):
        for number, said in map(json.loads, path.read_text().splitlines()):
            found[number] = found.get(number) or said
    return found


def spread(tests: Sequence[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """Give tests so that each file has its turn: many of one file look at the same."""
    turns: Counter[str] = Counter()
    order = []
    for seconds, name in tests:
        file = name.partition("::")[0]
        order.append((turns[file], seconds, name))
        turns[file] += 1
    total = 0.0
    for _, seconds, name in sorted(order)[:MOST_TESTS]:
        total += seconds
        if total > MOST_SECONDS:
            return
        yield seconds, name


def attempt(work: Path, args: argparse.Namespace) -> None:
    """Turn on the mutants that were not tried, in several processes."""
    known, notes = tried(work), tests_of(work)
    left = [n for n in range(len(planted(work))) if n not in known and n in notes]
    running = []
    for job in range(args.jobs):
        lines, files = [], set()
        for number in left[job :: args.jobs]:
            picked = list(spread(notes[number]))
            names = [name for _, name in picked]
            files |= {name.partition("::")[0] for name in names}
            lines.append(json.dumps([number, 30 + 10 * sum(s for s, _ in picked), names]))
        asked = work / f"try-{job}-{len(known)}"
        asked.write_text("\n".join(lines))
        if lines:
            command = [sys.executable, __file__, "one", str(work), str(asked), *sorted(files)]
            running.append(subprocess.Popen(command))
    for process in running:
        process.wait()


def reasons() -> dict[str, str]:
    """Return why mutants are equivalent, by place and change: two lines and an empty one each."""
    text = EQUIVALENT.read_text() if EQUIVALENT.exists() else ""
    parts = [part.partition("\n") for part in text.split("\n\n") if part.strip()]
    return {mutant.strip(): why.strip() for mutant, _, why in parts}


def show(work: Path) -> None:
    """Write what lived and the shares."""
    found, notes, known = tried(work), tests_of(work), reasons()
    counts: dict[str, Counter[str]] = {}
    for number, mutant in enumerate(planted(work)):
        if number in notes and number not in found:
            continue
        change = f"{mutant.path}: {mutant.before} -> {mutant.after}"
        what = "died" if found.get(number) else "equivalent" if change in known else "lived"
        counts.setdefault(mutant.path.partition("/")[0], Counter())[what] += 1
        if what != "died":
            why = f"{len(notes[number])} tests" if number in notes else "no test comes by"
            sys.stdout.write(f"{number} lives ({known.get(change, why)}): {mutant}\n")
    for folder, row in {**counts, "all": sum(counts.values(), Counter[str]())}.items():
        whole = row["died"] + row["lived"]
        share = f"{row['died'] / whole:.1%}" if whole else "none tried"
        sys.stdout.write(f"{folder}: {row['died']} of {whole} died ({share})")
        sys.stdout.write(f", {row['equivalent']} are equivalent\n")


def main() -> None:
    """Do what is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("note", "try", "show", "one"))
    parser.add_argument("work", type=Path)
    parser.add_argument("tests", nargs="*", default=["tests"])
    parser.add_argument("--count", type=int, default=70, help="mutants of each folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folders", nargs="+", default=FOLDERS)
    args = parser.parse_args()
    work = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if args.what == "note":
        note(work, args)
    elif args.what == "try":
        attempt(work, args)
    elif args.what == "one":
        asked, *files = args.tests
        pytest(work, "-p", "no:xdist", *files, GRAVURE_MUTANTS_TRY=asked)
    else:
        show(work)


if __name__ == "__main__":
    main()
