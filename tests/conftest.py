"""Text tests: a `.mlir` file below tests/ is a test of the passes that its first line names.

    // test: constant-fold{limit=8},cse

Cases are parted by `// -----`. A case is a module, and any of these:

    // ->               what must come out follows as comments; `pytest --bless` writes it
    // count: gv.add 1  so many operations of this name must come out
    // error: TEXT      at the end of a line: parsing, verifying or a pass must fail there with TEXT
    // differs: REASON  the functions compute something else afterwards, and that is right
    // plugin: PATH     a plugin beside the file is loaded for the case

The module is verified after each pass. Without `differs`, each public function is run by the
reference interpreter before and after each pass, on values of all kinds and in several sizes, and
must give the same results within what the pass says it may change. A module that names no target
is for x86-64-v4, whatever the machine is.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any
from unittest import mock
from zlib import crc32

import hypothesis
import pytest
from xdsl.dialects.builtin import ModuleOp

from gravure import target
from gravure.errors import GravureError
from gravure.frontend.graph.tolls import Account
from gravure.ir import Array, InvalidModuleError, Program, parse, print_module
from gravure.ir.ops.structure import Weight
from gravure.passes import Observer, Step, run
from gravure.passes.analysis.arguments import ALL_KINDS, SIZES, make_array
from gravure.passes.check import Check
from gravure.plugins import load_file, unload

ROOT = Path(__file__).parent.parent
HEAD, ARROW, PART, BLESS = "// test:", "// ->", "// -----", "(pytest --bless writes the output)"
DIRECTIVE = re.compile(r"^// (count|differs|plugin): (.+)$", re.MULTILINE)
ERROR = re.compile(r"// error: (.+)$")


SLOW = ROOT / "tests" / "slow.txt"
ASIDE = {"browser", "gpu", "mpi", "slow"}
LIMIT = 0.15
"""Seconds of processor time above which `--quick` leaves a test out."""
SECONDS: dict[str, float] = {}
CALLS = 2
"""So often a function is run operation by operation in tests before it is compiled."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write the output into text tests")
    parser.addoption("--quick", action="store_true", help="a case of each test that is not slow")
    parser.addoption("--measure", action="store_true", help=f"write {SLOW.name}, for --quick")


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.register_profile("same", deadline=None, derandomize=True)
    hypothesis.settings.load_profile("same")  # the same examples each time, however long they take
    # Neither with constants of whatever modules a process has read: that reads all sources again.
    no_constants = mock.patch("hypothesis.internal.conjecture.providers.is_local_module_file")
    no_constants.start().return_value = False
    if config.getoption("bless") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--bless writes files: run it without -n")
    if "GRAVURE_CACHE" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="gravure-tests-")
        os.environ["GRAVURE_CACHE"] = folder.name
        config.add_cleanup(folder.cleanup)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Return one process more than there are processors: tests of ranks and of failures wait."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return len(os.sched_getaffinity(0)) + 1


def function_of(name: str) -> str:
    """Return the test that a case belongs to."""
    return name.partition("[")[0]


def mark_most(items: list[pytest.Item]) -> None:
    """Mark all but one in n cases of tests that are `sampled(n)` as `sweep`, chance by name."""
    tests: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled and not item.get_closest_marker("sweep"):
            tests.setdefault((function_of(item.nodeid), sampled.args[0]), []).append(item)
    for (_, n), cases in tests.items():
        cases.sort(key=lambda item: crc32(item.nodeid.encode()))
        for item in cases[-(-len(cases) // n) :]:
            item.add_marker("sweep")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_most(items)
    quick = config.getoption("quick")
    if not quick and not config.getoption("measure"):
        return
    slow = {*SLOW.read_text().split()} if quick else set()
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        name = function_of(item.nodeid)
        if name not in slow and not ASIDE & {mark.name for mark in item.iter_markers()}:
            tests.setdefault(name, []).append(item)
    kept = {each[len(each) // 2] for each in tests.values()}  # the first ones are often trivial
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def pytest_collection_finish() -> None:
    """Keep thirty thousand cases out of what Python looks through for circles, and that seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    item.user_properties.append(("processor", -sum(os.times()[:4])))
    if draws := sys.modules.get("gravure.frontend.tf.runs.seeds"):
        draws.set_seed(None)  # a test that sets a seed, or draws, decides nothing for the next
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    if item.get_closest_marker("paying"):
        return (yield)
    with mock.patch.object(Account, "is_due", is_called_often):
        return (yield)


def is_called_often(account: Account, toll: int, price: int) -> bool:
    """Say whether to compile from the next call on: in tests at the third one, whatever it costs.

    So each of them comes by both ways; those that are marked `paying` see when that pays.
    """
    return account.calls >= CALLS or toll >= price


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    finally:
        item.user_properties.append(("processor", sum(os.times()[:4])))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        taken = sum(value for name, value in report.user_properties if name == "processor")
        SECONDS[function_of(report.nodeid)] = taken


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write which tests are slow; of those that were not run, keep what was known."""
    if session.config.getoption("measure") and "PYTEST_XDIST_WORKER" not in os.environ:
        known = {name for name in SLOW.read_text().split() if name not in SECONDS}
        slow = known | {name for name, taken in SECONDS.items() if taken > LIMIT}
        SLOW.write_text("".join(f"{name}\n" for name in sorted(slow)))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> TextFile | None:
    return TextFile.from_parent(parent, path=file_path) if file_path.suffix == ".mlir" else None


class TextFile(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator[TextCase]:
        text = self.path.read_text()
        assert text.startswith(HEAD), f"line 1 of {self.path} is not `{HEAD} PIPELINE`"
        names: dict[str, int] = {}
        for case in cases(text):
            count = names[case.name] = names.get(case.name, 0) + 1
            name = case.name if count == 1 else f"{case.name}-{count}"
            yield TextCase.from_parent(self, name=name, case=case)


@dataclass(frozen=True)
class Case:
    """One module in, one module or one error out; as text."""

    number: int
    line: int
    """The number of the line before the case."""
    pipeline: str
    source: str
    expected: str | None

    @property
    def name(self) -> str:
        """Return the name of the first function."""
        found = re.search(r"@(\w+)", self.source)
        return found.group(1) if found else str(self.number)

    def directives(self, kind: str) -> list[str]:
        """Return what stands behind `// KIND:`, line by line."""
        return [found[2] for found in DIRECTIVE.finditer(self.source) if found[1] == kind]

    def errors(self) -> dict[int, str]:
        """Return the wanted errors by line of the file."""
        lines = enumerate(self.source.splitlines(), self.line + 1)
        return {number: found[1] for number, line in lines if (found := ERROR.search(line))}


def cases(text: str) -> Iterator[Case]:
    """Cut a file into its cases."""
    head, *lines = text.splitlines()
    pipeline = head.removeprefix(HEAD).strip()
    starts = [0, *(n for n, line in enumerate(lines, 1) if line == PART)]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines) + 1], strict=True)):
        source, arrow, expected = "\n".join(lines[start : end - 1]).partition(f"\n{ARROW}")
        yield Case(number, start + 1, pipeline, source, expected.strip() if arrow else None)


class TextCase(pytest.Item):
    """Runs one case."""

    def __init__(self, *, case: Case, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.case = case

    def runtest(self) -> None:
        with ExitStack() as stack:
            fixed = target.Target.parse("x86-64-v4")
            stack.enter_context(mock.patch.object(target, "native", return_value=fixed))
            for path in self.case.directives("plugin"):
                plugin = load_file(self.path.parent / path)
                stack.callback(unload, plugin)
            self.run_case()

    def run_case(self) -> None:
        """Compare what comes out, or expect errors."""
        if self.case.errors():
            self.expect_errors()
            return
        module = self.read()
        same = (
            [] if self.case.directives("differs") else [SameFunctions(kinds=ALL_KINDS, sizes=SIZES)]
        )
        observers: list[Observer] = [*same, Counted()]
        program = Program(module, made_weights(module))
        run(self.case.pipeline, program, observers=observers)
        self.expect_counts(program.module)
        self.expect_text(program.module)

    def read(self) -> ModuleOp:
        """Parse the case so that places are lines of the file."""
        return parse("\n" * self.case.line + self.case.source, self.path.name)

    def expect_errors(self) -> None:
        """Check that errors come from the marked lines and no others."""
        wanted = self.case.errors()
        with pytest.raises(GravureError) as raised:
            run(self.case.pipeline, self.read(), observers=[])
        found = dict(places(raised.value))
        assert wanted.keys() == found.keys(), f"errors are on lines {[*found]}: {raised.value}"
        for line, text in wanted.items():
            assert text in found[line], f"line {line}: {found[line]}"

    def expect_counts(self, module: ModuleOp) -> None:
        """Check the number of operations of each name that is counted."""
        for line in self.case.directives("count"):
            name, number = line.split()
            found = sum(op.name == name for op in module.walk())
            assert found == int(number), f"{found} {name}, expected {number}\n{module}"

    def expect_text(self, module: ModuleOp) -> None:
        """Check, or write, the text that comes out."""
        if self.case.expected is None and self.case.directives("count"):
            return
        output, expected = as_comments(module), self.case.expected or ""
        if output == expected:
            return
        if self.config.getoption("bless"):
            self.bless(output)
            return
        sides = expected.splitlines(), output.splitlines()
        diff = unified_diff(*sides, "expected", "output", lineterm="")
        raise AssertionError("\n".join([*diff, BLESS]))

    def bless(self, output: str) -> None:
        """Write what came out into the file."""
        text = self.path.read_text()
        blocks = []
        for case in cases(text):
            result = output if case.number == self.case.number else case.expected
            tail = "" if result is None else f"\n\n{ARROW}\n{result}"
            blocks.append(case.source.rstrip() + tail)
        head = text.split("\n", 1)[0]
        self.path.write_text(head + "\n" + f"\n\n{PART}\n".join(blocks) + "\n")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        if isinstance(excinfo.value, AssertionError | GravureError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.line, f"{self.path.stem}: {self.name}"


def as_comments(module: ModuleOp) -> str:
    """Return the module as comments, without the frame of a module that has no attributes."""
    lines = print_module(module).rstrip().splitlines()
    if not module.attributes:
        lines = [line.removeprefix("  ") for line in lines[1:-1]]
    return "\n".join(f"// {line}".rstrip() for line in lines)


def places(error: GravureError) -> Iterator[tuple[int, str]]:
    """Give line and message of each fault."""
    if isinstance(error, InvalidModuleError):
        lines = str(error).splitlines()
    else:
        lines = [f"{error.location}: {error.message}"]
    for line in lines:
        found = re.match(r"[^:]+:(\d+):\d+: (?:error: )?(.*)", line)
        assert found, f"the error has no line: {line}"
        yield int(found[1]), found[2]


class Counted(Observer):
    """Checks that a pass which counts nothing changes nothing: it may be left out then."""

    def before(self, step: Step, program: Program) -> None:
        """Keep the text."""
        self.text = print_module(program.module)

    def after(self, step: Step, program: Program) -> None:
        """Compare with the text before the pass."""
        same = self.text == print_module(program.module)
        assert same or step.rewrite.changed, f"pass {step.rewrite} counts nothing that it did"


class SameFunctions(Check):
    """Checks what functions compute, at every level, and that none is lost."""

    def after(self, step: Step, program: Program) -> None:
        """Compare with what was computed before the pass."""
        before = {name for name, _ in self.last}
        super().after(step, program)
        gone = before - {name for name, _ in self.last}
        if program.level in ("planned", "loops"):  # only the entry can be run there
            gone &= {"main"}
        assert not gone, f"pass {step.rewrite}: {sorted(gone)} are gone, or cannot be run any more"


def made_weights(module: ModuleOp) -> dict[str, Array]:
    """Return an array for each weight that the module names."""
    found = {}
    for op in module.walk():
        if isinstance(op, Weight):
            name = str(op.plain_attributes()["weight"])
            found[name] = make_array(op.result_specs[0], {}, name)
    return found


OPEN_MPI = {
    **dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1"),
    **dict.fromkeys(("PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"), "1"),
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""What Open MPI 4 and 5 want to be told where tests run as root, or on few cores."""


@pytest.fixture
def mpiexec(tmp_path: Path) -> Callable[..., str]:
    """Return what runs a program on several ranks, within three minutes, and gives its output."""
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    found = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if found is None:
        pytest.skip("several processes need mpiexec: gravure[dist]")

    def run(ranks: int, program: str, status: int = 0, environment: Any = (), **files: str) -> str:
        for name, path in files.items():
            shutil.copy(path, tmp_path / f"{name}.py")
        script = tmp_path / "program.py"
        script.write_text("import numpy as np\n" + textwrap.dedent(program))
        command = [found, "-n", str(ranks), sys.executable, "-m", "mpi4py", str(script)]
        done = subprocess.run(
            command,
            env={**os.environ, **OPEN_MPI, "PYTHONPATH": str(ROOT), **dict(environment)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=180,  # (a busy machine takes that long to compile)
            check=False,
        )
        assert (done.returncode != 0) == (status != 0), done.stdout
        return done.stdout

    return run
