"""Look at the folder of kernels and programs that were compiled before, or empty it.

    gravure cache                                         # where it is, and how large
    gravure cache ls                                      # every file
    gravure cache clear

The folder is $GRAVURE_CACHE, else gravure in $XDG_CACHE_HOME or ~/.cache; GRAVURE_CACHE=off is no
cache. A file is found by all that its content depends on, so nothing in it is ever out of date.
"""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..console import Console, in_bytes, table

if TYPE_CHECKING:
    from ...codegen.llvm.cache import Cache

NAME = "cache"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "action", nargs="?", choices=("info", "ls", "clear"), default="info", help="(info)"
    )


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from ...codegen.llvm.cache import default_cache

    cache = default_cache()
    action: str = args.action
    {"info": info, "ls": listing, "clear": clear}[action](cache, args.console)
    return 0


def _head(cache: Cache) -> dict[str, Any]:
    return {"schema": "gravure.cache/1", "folder": str(cache.folder) if cache.folder else None}


def info(cache: Cache, console: Console) -> None:
    """Print where the cache is and how large."""
    if cache.folder is None:
        console.result("the cache is off", _head(cache))
        return
    entries = list(cache.entries())
    total = sum(entry.size for entry in entries)
    data = {**_head(cache), "entries": len(entries), "bytes": total}
    console.result(f"{cache.folder}: {len(entries)} files, {in_bytes(total)}", data)


def listing(cache: Cache, console: Console) -> None:
    """Print every file, the latest last."""
    rows = sorted(
        ((e.path.stat().st_mtime, e.size, e.path.stem) for e in cache.entries()),
    )
    lines = [[_time(time), in_bytes(size), key] for time, size, key in rows]
    data = [{"key": key, "bytes": size, "time": _time(time)} for time, size, key in rows]
    console.result(table(lines, right="1"), {**_head(cache), "files": data})


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def clear(cache: Cache, console: Console) -> None:
    """Delete every file."""
    count = cache.clear()
    console.result(f"deleted {count} files", {**_head(cache), "deleted": count})
