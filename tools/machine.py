"""What machine and software a number was measured with."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import __version__

PACKAGES = ("numpy", "xdsl", "llvmlite", "onnx", "lark", "ml_dtypes", "safetensors")
OPTIONAL = ("onnxruntime", "argcomplete", "rich", "matplotlib", "pycuda")
CPU = Path("/sys/devices/system/cpu/cpu0")


def machine() -> dict[str, Any]:
    """Return the processor and the system; a field that cannot be found out is empty."""
    information = _first_processor()
    return {
        "processor": information.get("model name", platform.processor()),
        "architecture": platform.machine(),
        "cores": os.cpu_count() or 0,
        "usable_cores": len(os.sched_getaffinity(0)),
        "governor": _line(CPU / "cpufreq/scaling_governor"),
        "megahertz": information.get("cpu MHz", ""),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "load": os.getloadavg()[0],
    }


def versions() -> dict[str, str]:
    """Return the versions of all that has a part in a result."""
    found = {"gravure": __version__, "python": platform.python_version()}
    return found | {name: installed(name) for name in PACKAGES}


def installed(name: str) -> str:
    """Return the version of a package, `not installed` if it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def now() -> str:
    """Return the time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _first_processor() -> dict[str, str]:
    lines = _line(Path("/proc/cpuinfo"), whole=True).partition("\n\n")[0].splitlines()
    pairs = (line.partition(":") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _line(path: Path, *, whole: bool = False) -> str:
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")
    return text if whole else text.strip()
