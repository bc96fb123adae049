"""What compiling may take: seconds, and memory that it adds to the process.

    with Budget.parse("10s/1GB").kept():
        ...

It is looked at wherever something tells how far it is (`counting`): before each pass, kernel and
folded operation. So one that takes very long by itself is noticed at its end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from time import perf_counter

from .counting import counted, heard
from .errors import Advice, CompileError

SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
BYTES = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
         "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}  # fmt: skip
LESS = Advice(
    'level="O0" or "O1" takes less; so do smaller bounds of dimensions',
    "-O0 or -O1 takes less; so do smaller bounds of dimensions",
)


class BudgetError(CompileError):
    """Compiling takes, or would take, more than it may.

    The budget is what the caller gave: seconds by the clock, and memory beyond what the process
    had before.
    """

    code = "GV4320"


@dataclass(frozen=True)
class Budget:
    """The most that compiling may take."""

    seconds: float = inf
    memory: float = inf
    """Bytes."""

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read `10s`, `1GB`, `90s/500MB`; an empty text is no limit. Raise `CompileError`."""
        given: dict[str, float] = {}
        for part in filter(None, text.split("/")):
            found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([A-Za-z]+)", part.strip())
            unit = found[2] if found else ""
            kind = "seconds" if unit in SECONDS else "memory"
            if found is None or unit not in {**SECONDS, **BYTES} or kind in given:
                raise CompileError(f"budget {text!r}, expected one like 10s, 1GB or 10s/1GB")
            given[kind] = float(found[1]) * {**SECONDS, **BYTES}[unit]
        return cls(**given)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Raise `BudgetError` in the context, in this thread, once more is taken."""
        if self == Budget():
            yield
            return
        start, before, others = perf_counter(), resident(), heard()

        def listen(what: str, done: int, whole: int) -> None:
            of = f" of {whole}" if whole else ""
            self.check(f"at {what} {done}{of}", perf_counter() - start, resident() - before)
            if others is not None:
                others(what, done, whole)

        with counted(listen):
            yield
        self.check("at the end", perf_counter() - start, resident() - before)

    def check(self, where: str, seconds: float, memory: float) -> None:
        """Raise `BudgetError` where so much is more than the budget."""
        if seconds > self.seconds:
            raise BudgetError(
                f"compiling took {seconds:.3g} s {where}, the budget is {self.seconds:.3g} s",
                hint=LESS,
            )
        if memory > self.memory:
            raise BudgetError(
                f"compiling took {memory / 1e6:.4g} MB of memory {where}, the budget is"
                f" {self.memory / 1e6:.4g} MB",
                hint=LESS,
            )

    def check_weights(self, weights: int) -> None:
        """Refuse before the work begins a program whose weights alone are more."""
        if weights > self.memory:
            raise BudgetError(
                f"the weights alone are {weights / 1e6:.4g} MB, the budget is"
                f" {self.memory / 1e6:.4g} MB"
            )


def resident() -> int:
    """Return how many bytes of memory this process has now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
