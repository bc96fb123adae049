"""Look at the folder of kernels and programs that were compiled before, or empty it.

    gravure cache                                         # where it is, and how large
    gravure cache ls                                      # every file, what was used last behind
    gravure cache trim 500M                               # delete what was used the longest ago
    gravure cache clear

The folder is $GRAVURE_CACHE, else gravure in $XDG_CACHE_HOME or ~/.cache; GRAVURE_CACHE=off is no
cache. A file is found by all that its content depends on, so nothing in it is ever out of date.
When there are more than $GRAVURE_CACHE_SIZE bytes (4G; 0: no limit), those go that were used the
longest ago. A folder of another user's, or that others or a group of several users may write, is
not used: what lies in it is code that is run.
"""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..console import Console, in_bytes, table
from ..errors import UsageError

if TYPE_CHECKING:
    from ...codegen.cache import Cache

NAME = "cache"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "action", nargs="?", choices=("info", "ls", "trim", "clear"), default="info", help="(info)"
    )
    parser.add_argument(
        "size", nargs="?", metavar="SIZE", help="trim: bytes that may be left ($GRAVURE_CACHE_SIZE)"
    )


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from ...codegen.cache import default_cache, parse_size

    cache = default_cache()
    action: str = args.action
    if args.size is not None and action != "trim":
        raise UsageError(f"cache {action} takes no size, found {args.size!r}")
    if action == "trim":
        if not args.size and not cache.limit:
            raise UsageError("cache trim takes a size where there is no limit")
        trim(cache, parse_size(args.size) if args.size else cache.limit, args.console)
    else:
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
    data = {**_head(cache), "entries": len(entries), "bytes": total, "limit": cache.limit or None}
    limit = f" of {in_bytes(cache.limit)}" if cache.limit else ""
    console.result(f"{cache.folder}: {len(entries)} files, {in_bytes(total)}{limit}", data)


def listing(cache: Cache, console: Console) -> None:
    """Print every file, the one that was used last behind the others."""
    entries = sorted(cache.entries(), key=lambda entry: (entry.used, entry.key))
    lines = [[_time(e.used), in_bytes(e.size), e.key[:16], e.label] for e in entries]
    data = [
        {
            "key": entry.key,
            "what": entry.label,
            "bytes": entry.size,
            "time": _time(entry.made),
            "used": _time(entry.used),
        }
        for entry in entries
    ]
    console.result(table(lines, right="1"), {**_head(cache), "files": data})


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def clear(cache: Cache, console: Console) -> None:
    """Delete every file."""
    count = cache.clear()
    console.result(f"deleted {count} files", {**_head(cache), "deleted": count})


def trim(cache: Cache, size: int, console: Console) -> None:
    """Delete what was used the longest ago until so many bytes are left."""
    gone = cache.trim(size)
    total = sum(entry.size for entry in gone)
    data = {**_head(cache), "deleted": len(gone), "bytes": total}
    console.result(f"deleted {len(gone)} files, {in_bytes(total)}", data)
