"""The environment variables that gravure reads: all of them, and nothing else.

Everything else is an option of a command or an argument of a function. A switch is on when
its variable is set to anything but an empty string or `0`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Knob:
    """One environment variable: its name and what it does, in a line."""

    name: str
    help: str

    def text(self, environment: Mapping[str, str] | None = None) -> str:
        """Return the value, empty if unset."""
        return (os.environ if environment is None else environment).get(self.name, "")

    def is_on(self, environment: Mapping[str, str] | None = None) -> bool:
        """Say whether the switch is on."""
        return self.text(environment) not in ("", "0")

    def path(self, environment: Mapping[str, str] | None = None) -> Path | None:
        """Return the value as a path, None if unset."""
        text = self.text(environment)
        return Path(text) if text else None


CACHE = Knob("GRAVURE_CACHE", "directory of compiled kernels and programs; `off` for none")
CACHE_SIZE = Knob("GRAVURE_CACHE_SIZE", "bytes that the cache may have, like `4G`; `0`: no limit")
CHECK = Knob(
    "GRAVURE_CHECK",
    "run the program before and after each pass and compare; `bounds`: look at each access",
)
CLUSTER = Knob("GRAVURE_CLUSTER", "jobs and addresses of tasks, as JSON: set by `gravure launch`")
CODE = Knob("GRAVURE_CODE", "directory for code made in this process: `perf`, `gdb` find it there")
DUMP = Knob("GRAVURE_DUMP", "directory that the IR is put into after each pass, numbered")
ISOLATE = Knob("GRAVURE_ISOLATE", "compile in a process of its own, which may crash alone")
LAUNCHER = Knob("GRAVURE_LAUNCHER", "the `mpiexec` that started this rank: set by `gravure launch`")
PLUGINS = Knob("GRAVURE_PLUGINS", "`off`: installed plugins are not looked for")
THREADS = Knob("GRAVURE_THREADS", "threads that a staged function runs on, instead of all")
TIME = Knob("GRAVURE_TIME", "print the time that each pass takes")
TIMEOUT = Knob("GRAVURE_TIMEOUT", "seconds that one rank waits for another, instead of 60")
TRANSFER_BITS = Knob(
    "GRAVURE_TRANSFER_BITS", "`16`: f32 values go from device to device as their upper halves"
)
VERIFY = Knob("GRAVURE_VERIFY", "verify the IR after each pass, not only after the last")
WORLD_SIZE = Knob("GRAVURE_WORLD_SIZE", "how many ranks were started: set by `gravure launch`")

GLIBC_KNOBS = (
    Knob("GLIBC_TUNABLES", "glibc's own: if set, it says which freed memory is kept"),
    Knob("MALLOC_MMAP_THRESHOLD_", "the same"),
    Knob("MALLOC_TRIM_THRESHOLD_", "the same"),
)


def checks_passes() -> bool:
    """Say whether what each pass makes is run and compared."""
    return CHECK.is_on() and not checks_bounds()


def checks_bounds() -> bool:
    """Say whether each access of compiled code is looked at in the run."""
    return CHECK.text() == "bounds"
