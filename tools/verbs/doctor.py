"""Whether gravure can work here."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..console import in_bytes, table
from ..machine import OPTIONAL, installed, machine, versions

PROGRAM = b"model doctor(x: f32[N, 4], N in 1..8) -> (y) { y = exp(x) }"


@dataclass(frozen=True)
class Check:
    """What came of one check."""

    name: str
    good: bool
    found: str


@dataclass(frozen=True)
class Diagnosis:
    """The machine, what is installed, and what came of all checks; true if all is well."""

    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    environment: Mapping[str, str]
    """The variables that gravure reads."""
    checks: tuple[Check, ...]

    def __bool__(self) -> bool:
        return all(check.good for check in self.checks)

    def __str__(self) -> str:
        host = self.machine
        rows = [
            ["processor", f"{host['processor']}, {host['usable_cores']} of {host['cores']} cores"],
            ["memory", in_bytes(host["memory_bytes"])],
            ["system", host["system"]],
            *(["environment", f"{k}={v}"] for k, v in self.environment.items()),
            *([name, found] for name, found in self.versions.items()),
        ]
        lines = [["ok" if each.good else "FAIL", each.name, each.found] for each in self.checks]
        return f"{table(rows)}\n\n{table(lines)}"

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "schema": "gravure.doctor/1",
            "machine": dict(self.machine),
            "versions": dict(self.versions),
            "environment": dict(self.environment),
            "checks": [vars(check) for check in self.checks],
        }


def doctor() -> Diagnosis:
    """Look at the machine, and try everything once.

    >>> import gravure as gv
    >>> [check.name for check in gv.doctor().checks if not check.good]
    []
    """
    packages = versions() | {name: installed(name) for name in OPTIONAL}
    environment = {k: v for k, v in os.environ.items() if k.startswith("GRAVURE_")}
    checks = tuple(_try(name, check) for name, check in CHECKS.items())
    return Diagnosis(machine(), packages, environment, checks)


def _try(name: str, check: Callable[[], str]) -> Check:
    """Return what a check says; whatever it raises is what was to be found out."""
    try:
        return Check(name, True, check())
    except Exception as error:
        return Check(name, False, f"{type(error).__name__}: {error}")


def _target() -> str:
    from ...target import Target

    target = Target.parse("native")
    return f"{target.triple}, {target.cpu}: {', '.join(target.features)}"


def _cache() -> str:
    from ...codegen.cache import default_folder

    folder = default_folder()
    if folder is None:
        return "off"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder):
        return f"{folder} can be written"


def _compile() -> str:
    import numpy as np

    from ...frontend.programs.compile import compile  # noqa: A004  (it is called that)

    model = compile(PROGRAM, cache=False)
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    worst = float(np.abs(model(x) - np.exp(x)).max())
    assert worst < 1e-6, f"exp is {worst} off"
    return "a program was compiled, loaded and run"


def _threads() -> str:
    import numpy as np

    from ...frontend.programs.compile import compile  # noqa: A004  (it is called that)

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
