"""Run the tests that Keras brings, on gravure, and print how many of each folder pass.

    python tests/corpus/keras/run.py                      # all folders that are of no backend
    python tests/corpus/keras/run.py ops layers/core      # some
    python tests/corpus/keras/run.py -k test_add ops/numpy_test.py

The tests are those of the installed Keras (`keras/src/**/*_test.py`): they are copied to a folder
that goes again, with `gravure.tf` where they import TensorFlow. `-v` prints why tests fail,
`--log FILE` writes it. Some want jax, torch, grain or pandas, to compare with or to read data from:
`--beside FOLDER` names a folder that has them, else those that cannot be read count as failed.
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

OF_A_BACKEND = ("backend/jax", "backend/tensorflow", "backend/torch", "export", "distribution")
"""Folders whose tests are of other backends, of SavedModels, or of JAX's distribution."""
CHANGES = (
    (r"^(\s*)import tensorflow as tf\b", r"\1import gravure.tf as tf"),
    (r"^(\s*)from tensorflow import data\b", r"\1from gravure.tf import data"),
    (r"^(\s*)import tensorflow.summary as\b", r"\1import gravure.tf.summary as"),
    (r"^(\s*)from tensorflow.compat.v1 import\b", r"\1from gravure.tf.compat.v1 import"),
    (r"^(\s*)from tensorflow.core.util import\b", r"\1from tensorboard.compat.proto import"),
    (r"^from tensorflow.python.lib.io import\b", "from gravure.tf.compat.v1 import io as"),
    (r'^(\s*)"tensorflow": "CPU:0",', r'\1"gravure": "CPU:0",'),
    (r"^from tensorflow.python.eager import context\b", "context = None"),
    (
        r'else:\n    raise ImportError\(f"Invalid backend: \{backend.backend\(\)\}"\)',
        "else:\n    from keras.src.backend.gravure.trainer import Trainer",
    ),
)
OWN = "own_tests"
"""The package of the copies: `random` and `layers` alone are names of other modules."""
CONFTEST = '''"""What Keras's own conftest says, for gravure."""
import pytest
import gravure.keras


def pytest_configure(config):
    for mark in ("requires_trainable_backend: trains", "multi_device: several devices"):
        config.addinivalue_line("markers", mark)


def pytest_collection_modifyitems(config, items):
    for item in items:
        if "multi_device" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="Requires multiple devices"))


def skip_if_backend(given_backend, reason):
    return pytest.mark.skipif(gravure.keras.backend.backend() == given_backend, reason=reason)
'''


def source() -> Path:
    """Return the folder of Keras's sources."""
    found = __import__("importlib.util").util.find_spec("keras")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "src"


def copied(keras: Path, into: Path) -> Iterator[Path]:
    """Copy the tests, changed; give their folders."""
    folders = set()
    for path in sorted(keras.rglob("*_test.py")):
        place = path.relative_to(keras)
        if str(place.parent).startswith(OF_A_BACKEND):
            continue
        text = path.read_text()
        for theirs, ours in CHANGES:
            text = re.sub(theirs, ours, text, flags=re.MULTILINE)
        (into / OWN / place).parent.mkdir(parents=True, exist_ok=True)
        (into / OWN / place).write_text(text)
        folders.add(place.parent)
    (into / "conftest.py").write_text(CONFTEST)
    yield from sorted(folders)


class Counts:
    """A plugin of pytest that counts what becomes of tests, and ends those that take too long."""

    def __init__(self, limit: int) -> None:
        self.outcomes: dict[str, str] = {}
        self.limit = limit
        signal.signal(signal.SIGALRM, self.end)

    def end(self, *_: object) -> None:
        """End a test."""
        pytest.fail(f"took more than {self.limit} seconds")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Give a test its time."""
        signal.alarm(self.limit)
        try:
            yield
        finally:
            signal.alarm(0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what became of a test: failed where any phase of it did."""
        if report.failed or report.nodeid not in self.outcomes or report.when == "call":
            self.outcomes[report.nodeid] = report.outcome

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be read."""
        if report.failed:
            self.outcomes[report.nodeid] = "failed"


def run_here(folder: str, given: argparse.Namespace) -> int:
    """Run the tests of a folder in this process; print the counts as the last line."""
    import gravure.keras  # noqa: F401, PLC0415  (before any test imports keras)

    sys.path.insert(0, folder)
    sys.path.extend(given.beside)
    expression, place = given.expression, Path(folder) / OWN / given.places[0]
    files = [str(path) for path in ([place] if place.suffix else place.glob("*_test.py"))]
    options = ["-p", "conftest", "-c", "/dev/null", "--rootdir", folder, "--noconftest"]
    options += ["--import-mode=importlib", "-q", "-x" if expression == "" else "-ra"]
    options += ["-p", "no:cacheprovider", "-W", "ignore", "--tb=short"]
    options += ["--continue-on-collection-errors"]
    counts = Counts(given.limit)
    pytest.main([*options, *(["-k", expression] if expression else []), *files], plugins=[counts])
    found = list(counts.outcomes.values())
    print("COUNTS", *(found.count(kind) for kind in ("passed", "failed", "skipped")))
    return 0


def main() -> int:
    """Run what is asked for, each folder in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="*", help="folders or files below keras/src")
    parser.add_argument("-k", dest="expression", help="tests whose names fit, as for pytest")
    parser.add_argument("-v", dest="verbose", action="store_true")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--limit", type=int, default=300, help="seconds of a test")
    parser.add_argument("--beside", action="append", default=[], help="a folder of packages")
    parser.add_argument("--within", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.within:
        return run_here(given.within, given)
    log = given.log.open("w") if given.log else None
    whole = [0, 0]
    print(f"| {'folder':45} | passed | of | share | skipped |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as temporary:
        folders = [str(folder) for folder in copied(source(), Path(temporary))]
        for place in given.places or folders:
            command = [sys.executable, __file__, "--within", temporary, place]
            command += ["-k", given.expression] if given.expression else []
            command += ["--limit", str(given.limit), *(f"--beside={x}" for x in given.beside)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            text = done.stdout + done.stderr
            if given.verbose:
                print(text)
            if log:
                log.write(f"==== {place}\n{text}\n")
                log.flush()
            counts = re.search(r"^COUNTS (\d+) (\d+) (\d+)", done.stdout, re.MULTILINE)
            passed, failed, skipped = map(int, counts.groups()) if counts else (0, 1, 0)
            whole = [whole[0] + passed, whole[1] + passed + failed]
            row(place, passed, passed + failed, skipped)
    row("all", *whole, 0)
    return 0


def row(place: str, passed: int, of: int, skipped: int) -> None:
    """Print a row of the table."""
    share = f"{100 * passed / of:.1f} %" if of else ""
    print(f"| {place:45} | {passed} | {of} | {share} | {skipped} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
