"""Check whether gravure can work here, and print what an issue should say of the machine.

    gravure doctor
    gravure doctor --json
    gravure doctor > machine.txt                          # for an issue

Exit status 1 says that something does not work.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from ..console import Console, in_bytes, table

NAME = "doctor"
PROGRAM = b"model doctor(x: f32[N, 4], N in 1..8) -> (y) { y = exp(x) }"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no options of its own."""


def run(args: argparse.Namespace) -> int:
    """Look at the machine, and try everything once."""
    from ..machine import OPTIONAL, installed, machine, versions

    console: Console = args.console
    host, packages = machine(), versions() | {name: installed(name) for name in OPTIONAL}
    checks = [_try(name, check) for name, check in CHECKS.items()]
    environment = {k: v for k, v in os.environ.items() if k.startswith("GRAVURE_")}
    data = {
        "schema": "gravure.doctor/1",
        "machine": host,
        "versions": packages,
        "environment": environment,
        "checks": [vars(check) for check in checks],
    }
    rows = [
        ["processor", f"{host['processor']}, {host['usable_cores']} of {host['cores']} cores"],
        ["memory", in_bytes(host["memory_bytes"])],
        ["system", host["system"]],
        *(["environment", f"{k}={v}"] for k, v in environment.items()),
        *([name, found] for name, found in packages.items()),
    ]
    lines = [["ok" if each.good else "FAIL", each.name, each.found] for each in checks]
    console.result(f"{table(rows)}\n\n{table(lines)}", data)
    return int(not all(check.good for check in checks))


@dataclass(frozen=True)
class Outcome:
    """What came of one check."""

    name: str
    good: bool
    found: str


def _try(name: str, check: Callable[[], str]) -> Outcome:
    """Return what a check says; whatever it raises is what was to be found out."""
    try:
        return Outcome(name, True, check())
    except Exception as error:
        return Outcome(name, False, f"{type(error).__name__}: {error}")


def _target() -> str:
    from ...target import Target

    target = Target.parse("native")
    return f"{target.triple}, {target.cpu}: {', '.join(target.features)}"


def _cache() -> str:
    from ...codegen.llvm.cache import default_folder

    folder = default_folder()
    if folder is None:
        return "off"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder):
        return f"{folder} can be written"


def _compile() -> str:
    import numpy as np

    from ...frontend.compile import compile  # noqa: A004  (it is called that)

    model = compile(PROGRAM, cache=False)
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    worst = float(np.abs(model(x) - np.exp(x)).max())
    assert worst < 1e-6, f"exp is {worst} off"
    return "a program was compiled, loaded and run"


def _threads() -> str:
    import numpy as np

    from ...frontend.compile import compile  # noqa: A004  (it is called that)

    model = compile(PROGRAM, threads=2)
    model(np.zeros((8, 4), np.float32))
    return f"{model.threads} threads ran it"


def _fast_calls() -> str:
    from ...runtime import direct

    if not direct.is_possible():
        return "not on this Python: models are called by ctypes, which takes 2 us more"
    return "models are called without ctypes"


CHECKS: dict[str, Callable[[], str]] = {
    "target": _target,
    "cache": _cache,
    "compiling": _compile,
    "threads": _threads,
    "calls": _fast_calls,
}
