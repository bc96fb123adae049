"""Make the blob of weights: raw ones are copied, prepared ones computed by `@prepare`.

`@prepare` is compiled like the rest and run once, on this machine if it can run the target's
code; else its kernels are compiled for this machine, for preparing is moving data and a few
multiplications, the same on every target. Where that makes weights much larger, a shared library
has them as they were given, and runs `@prepare` itself when it is loaded.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from typing import Any, Protocol

import numpy as np

from ..errors import CompileError
from ..runtime.artifact import ALIGNMENT, Description, round_up
from ..runtime.buffer import Array, address, aligned_bytes
from ..runtime.direct import addresses
from ..runtime.library import Library
from ..runtime.model import Context
from ..runtime.pool import shared_pool
from ..target import Target
from .aot.weights import Weights


class Unprepared(Protocol):
    """A compiled program whose weights are to be prepared."""

    description: Description
    weights: Mapping[str, Array]
    places: list[tuple[str, int, int]]
    target: Target
    threads: int

    def code(self) -> bytes:
        """Return its library without weights."""

    def for_host(self) -> Unprepared:
        """Return what prepares the weights compiled for this machine."""


LARGE = 1 << 28
"""Bytes of mapped files from which on what was read is given back: it takes longer than reading."""
PREPARED = "prepared."
"""What the names of weights that `prepare` computes begin with (`passes/hoist_prepare`)."""

PAUSE = 0.001
"""Seconds between two times of giving back."""


GROWTH, LEAST = 1.25, 1 << 16
"""How many times as large, and how many bytes larger, weights may become in a library's file."""
REACH = 1 << 30
"""Bytes of weights in both forms that code of a library can reach."""


def raw_places(model: Description) -> tuple[list[int], int]:
    """Return where each weight lies in a library as it was given, and the bytes of all."""
    offsets, end = list[int](), 0
    for each in model.raw:
        size, first = round_up(each.size, ALIGNMENT), end
        end += size * len(each.names)
        offsets += range(first, end, size) if size else [end] * len(each.names)
    return offsets, end


def grows(model: Description) -> bool:
    """Say whether weights are laid out when a library is loaded: in its file they are too large.

    Only where the entry is linked here: who links an object has its own idea of what is loaded.
    """
    size = raw_places(model)[1]
    larger = model.weights > GROWTH * size and model.weights - size > LEAST
    return bool(model.prepare and model.raw) and larger and size + model.weights < REACH


def given_weights(compiled: Unprepared) -> Weights:
    """Return the weights as they were given, one after the other."""
    _require_data(compiled)
    model = compiled.description
    offsets, size = raw_places(model)

    arrays = given_arrays(compiled)
    pieces = {o: partial(_bytes_of, array) for o, array in zip(offsets, arrays, strict=True)}
    return Weights.placed(size, pieces)


def _bytes_of(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def given_arrays(compiled: Unprepared) -> list[Array]:
    """Return the weights that `prepare` is given, in its order."""
    found: list[Array] = []
    for each in compiled.description.raw:
        arrays = [compiled.weights[name] for name in each.names]
        shapes = {array.shape for array in arrays}
        assert shapes == {each.shape}, f"weights {each.names[0]!r} ... have the shapes {shapes}"
        found += arrays
    return found


def prepared_weights(compiled: Unprepared) -> Array:
    """Return the bytes of all weights in their places."""
    description = compiled.description
    _require_data(compiled)
    blob = aligned_bytes(description.weights)
    with forgetting(compiled.weights.values()):
        _fill(compiled, blob)
    return blob


def _fill(compiled: Unprepared, blob: Array) -> None:
    """Write all weights in their places."""
    description = compiled.description
    places = sorted(compiled.places, key=itemgetter(1))
    for start, end in _gaps(places, description.weights):
        blob[start:end] = 0
    if description.prepare:
        _run(compiled, blob)
        return
    for name, offset, size in places:
        if name in compiled.weights:
            blob[offset : offset + size] = _bytes_of(compiled.weights[name])


def _gaps(places: Sequence[tuple[str, int, int]], size: int) -> Sequence[tuple[int, int]]:
    """Return where no weight lies.

    >>> _gaps([("a", 0, 16), ("b", 16, 4)], 64)
    [(20, 64)]
    """
    starts = np.array([*(offset for _, offset, _ in places), size], np.int64)
    ends = np.array([0, *(offset + size for _, offset, size in places)], np.int64)
    found = starts > ends
    return [*zip(ends[found].tolist(), starts[found].tolist(), strict=True)]


@contextmanager
def forgetting(arrays: Iterable[Array]) -> Iterator[None]:
    """Give pages of mapped files back now and then, so that large weights are not held twice.

    A page that is needed again comes from the file again.
    """
    bases = {id(array.base): array.base for array in arrays}
    maps = {id(found): found for found in map(_mapping, bases.values()) if found is not None}
    if sum(map(len, maps.values())) < LARGE:
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_forget, args=([*maps.values()], done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _forget(maps: Sequence[mmap.mmap], done: threading.Event) -> None:
    ended = False
    while not ended:
        ended = done.wait(PAUSE)
        for each in maps:
            each.madvise(mmap.MADV_DONTNEED)


def _mapping(base: Any) -> mmap.mmap | None:
    """Return the mapped file that something is a view of, None for other memory."""
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return base if isinstance(base, mmap.mmap) else None


def _require_data(compiled: Unprepared) -> None:
    """Refuse a program whose weights are only names: IR text that came without its data."""
    description = compiled.description
    weights = compiled.weights
    missing = [name for name, _, size in compiled.places if size and name not in weights]
    if description.prepare:
        missing = [name for name in missing if not name.startswith(PREPARED)]
        missing = [*(name for name in description.raw_names if name not in weights), *missing]
    if missing:
        raise CompileError(
            f"weight {missing[0]!r} has no data, nor have {len(missing) - 1} others",
            hint="IR text names the file of its weights in gv.data; written to a pipe it has none",
        )


def _run(compiled: Unprepared, blob: Array) -> None:
    """Call the compiled `prepare`."""
    if not runs_here(compiled.target):
        compiled = compiled.for_host()
    library = Library.load(compiled.code())
    arrays = [*map(np.ascontiguousarray, given_arrays(compiled))]
    pointers = addresses(arrays)
    workspace = aligned_bytes(compiled.description.prepare_bytes)
    prepare = library.function("prepare", "ipppp")
    several = compiled.threads > 1 and library.address("pool_init") is not None
    pool = shared_pool(library, compiled.threads) if several else None
    context = Context.make(pool, None)
    number = prepare(address(pointers), address(blob), address(workspace), context.address)
    if number:
        raise CompileError(f"preparing the weights failed: {library.status(number)}")


def runs_here(target: Target) -> bool:
    """Say whether this machine runs code for a target."""
    host = Target.parse("native")
    return target.triple == host.triple and set(target.features) <= set(host.features)
