"""A plugin of pytest that notes which mutants tests pass, and one that runs tests on mutants.

`GRAVURE_MUTANTS_NOTE` names the folder that the notes go to. `GRAVURE_MUTANTS_TRY` names a file of
what is to be tried: the tests are collected once, and each mutant has a process of its own that is
forked from there, ends at the first failure, and is ended if it takes too long.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import gravure_mutant as switch
import pytest

NOTE, TRY = os.environ.get("GRAVURE_MUTANTS_NOTE"), os.environ.get("GRAVURE_MUTANTS_TRY")


class Note:
    """Writes a line for each test that passes: name, seconds, the mutants that it comes by.

    One that fails in the copy as it is shows nothing about mutants: it is left out.
    """

    def __init__(self, folder: str) -> None:
        self.good = True
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        self.file = (Path(folder) / f"{worker}.jsonl").open("a")
        self.log = Path(folder) / f"{worker}.passed"
        switch.LOG = os.environ["GRAVURE_MUTANTS_PASSED"] = str(self.log)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See whether each part of a test passes."""
        self.good = self.good and report.passed

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note a test with what its fixtures do; the processes that it starts write to a file."""
        self.log.write_text("")
        switch.PASSED.clear()
        self.good = True
        start = time.perf_counter()
        yield
        taken = time.perf_counter() - start
        if not self.good:
            return
        passed = sorted({int(line) for line in self.log.read_text().split()})
        self.file.write(json.dumps([item.nodeid, round(taken, 3), passed]) + "\n")
        self.file.flush()


class Try:
    """Runs the tests of each mutant in a process of its own."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.failed = ""
        self.sound: dict[str, bool] = {}
        """Whether a test passes here without a mutant: what another order breaks shows nothing."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first failure."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try one mutant after the other."""
        items = {item.nodeid: item for item in session.items}
        with (self.path.with_suffix(".found")).open("a") as found:
            for line in self.path.read_text().splitlines():
                number, limit, names = json.loads(line)
                mine = [items[name] for name in names if name in items]
                said = self.outcome(number, limit, mine)
                while said in items and not self.passes_alone(items[said], limit):
                    mine.remove(items[said])
                    said = self.outcome(number, limit, mine)
                found.write(json.dumps([number, said]) + "\n")
                found.flush()
        return True

    def passes_alone(self, item: pytest.Item, limit: float) -> bool:
        """Say whether a test passes as long as no mutant is on."""
        name = item.nodeid
        if name not in self.sound:
            self.sound[name] = not self.outcome(-1, limit, [item])
        return self.sound[name]

    def outcome(self, number: int, limit: float, items: Sequence[pytest.Item]) -> str:
        """Return the test that fails, "time" if none ends, nothing if all pass."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            self.within(number, items, writing)
        os.close(writing)
        end = time.monotonic() + limit
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                os.close(reading)
                return "time"
            time.sleep(0.01)
        with os.fdopen(reading) as pipe:
            said = pipe.read()
        return said or ("" if status == 0 else f"ended with {status}")

    def within(self, number: int, items: Sequence[pytest.Item], writing: int) -> None:
        """Run the tests with a mutant, and end the process."""
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            switch.ON = number
            os.environ["GRAVURE_MUTANT"] = str(number)
            with tempfile.TemporaryDirectory() as cache:
                os.environ["GRAVURE_CACHE"] = cache
                for item in items:
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                    if self.failed:
                        os.write(writing, self.failed.encode())
                        break
        except BaseException as error:  # whatever it is, the mutant did not live
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            sys.stdout.flush()
            os._exit(0)


def pytest_configure(config: pytest.Config) -> None:
    """Take part in what is asked for."""
    if NOTE:
        config.pluginmanager.register(Note(NOTE))
    if TRY:
        config.pluginmanager.register(Try(TRY))
