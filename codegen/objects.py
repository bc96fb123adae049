"""The objects of a program's kernels: found in the cache, or made, on two processors at once.

LLVM holds one lock in a process, so threads would wait for each other: half of the kernels that
are to be made go to a child process, which sends the objects back through a pipe. Objects do
not depend on who makes them. If the child does not come back whole, its half is made here,
where an error is seen with its cause.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from ..ir import take_apart
from ..ir.interpret_launch import ROUNDS, SCRATCH, UNITS
from ..ir.levels import KIND
from ..ir.text import print_function
from ..target import Target
from . import kernels
from .llvm.cache import Cache, key_of
from .llvm.compile import assemble
from .llvm.emit import emit_parts

WORTH_A_CHILD = 8
"""Kernels from which a second process pays: it costs ten milliseconds."""

WEIGHTS = {
    "bottleneck": 12,
    "depthwise": 10,
    "pool": 8,
    "winograd": 6,
    "conv": 3,
    "rnn": 3,
    "row": 2,
}
"""How long kinds take to compile, against a map."""


SIZES = (UNITS, SCRATCH, ROUNDS)
"""Attributes of a kernel that are known when its loops are."""


@dataclass(frozen=True)
class Made:
    """A kernel's object, and what else is to be known of it."""

    sizes: tuple[str, ...]
    """Units, scratch and rounds, as the attributes of the kernel have them."""
    shared: tuple[str, ...]
    """The shared functions that it calls."""
    data: bytes

    def pack(self) -> bytes:
        """Return this as bytes."""
        return "\n".join([*self.sizes, " ".join(self.shared), ""]).encode() + self.data

    @classmethod
    def unpack(cls, content: bytes) -> Made:
        """Return what `pack` was called on."""
        *sizes, shared, data = content.split(b"\n", len(SIZES) + 1)
        return cls(tuple(s.decode() for s in sizes), tuple(shared.decode().split()), data)


@dataclass
class Objects:
    """Finds or makes objects for one target."""

    target: Target
    cache: Cache
    lowered: bool = False
    """Whether the functions are loops already."""
    jobs: int = 0
    """Processes to use; 0: two where there are two processors."""
    shared: dict[str, bytes] = field(default_factory=dict)
    """The objects of shared functions, by name."""
    digests: dict[str, str] = field(default_factory=dict)
    """The digests of kernels that are known already, by name."""

    def of(self, functions: Sequence[FuncOp]) -> tuple[list[Made], int]:
        """Return what is made of each kernel, and how many were found in the cache."""
        found = {f.sym_name.data: self.find(f) for f in functions}
        missing = [f for f in functions if found[f.sym_name.data] is None]
        made = self.make_all(missing)
        result = []
        for function in functions:
            name = function.sym_name.data
            one = found[name] or made[name]
            for attribute, size in zip(SIZES, one.sizes, strict=True):
                if size:
                    function.attributes[attribute] = StringAttr(size)
            result.append(one)
        return result, len(functions) - len(missing)

    def shared_objects(self) -> list[bytes]:
        """Return the objects of shared functions, in the order of their names."""
        return [self.shared[name] for name in sorted(self.shared)]

    # -- the cache ------------------------------------------------------------------------

    def key(self, function: FuncOp) -> str:
        """Return the key of a kernel: its canonical text, its name, the target."""
        name = function.sym_name.data
        if name not in self.digests:
            self.digests[name] = digest_of(function)
        return key_of(f"kernel {name} {self.digests[name]}", self.target)

    def find(self, function: FuncOp) -> Made | None:
        """Return a kernel from the cache, with the shared functions that it calls."""
        content = self.cache.get(self.key(function))
        made = Made.unpack(content) if content is not None else None
        if made is None:
            return None
        parts = {name: self.cache.get(self.shared_key(name)) for name in made.shared}
        kept = {name: data for name, data in parts.items() if data is not None}
        if len(kept) < len(parts):
            return None
        self.shared.update(kept)
        return made

    def shared_key(self, name: str) -> str:
        """Return the key of a shared function's object: its name says all that it is."""
        return key_of(f"shared {name}", self.target)

    # -- making ---------------------------------------------------------------------------

    def make(self, function: FuncOp) -> Made:
        """Return a kernel's object, and keep it."""
        key = self.key(function)
        loops = function if self.lowered else kernels.lower(function, self.target)
        text, modules = emit_parts(loops, self.target)
        for name, module in modules.items():
            if name not in self.shared:
                self.shared[name] = self.shared_object(name, module)
        sizes = tuple(_text(loops, name) for name in SIZES)
        if loops is not function:
            take_apart(loops.regions)
        made = Made(sizes, tuple(modules), assemble(text, self.target))
        self.cache.put(key, made.pack())
        return made

    def shared_object(self, name: str, module: str) -> bytes:
        """Return the object of a shared function, from the cache if it is there."""
        return self.cache.get_or_make(self.shared_key(name), lambda: assemble(module, self.target))

    def make_all(self, functions: Sequence[FuncOp]) -> dict[str, Made]:
        """Return what is made of each kernel, by name."""
        if not self.pays(len(functions)):
            return {f.sym_name.data: self.make(f) for f in functions}
        ordered = sorted(functions, key=lambda f: (-weight(f), f.sym_name.data))
        mine, theirs = ordered[::2], ordered[1::2]
        child, pipe = self.start(theirs)
        made = {f.sym_name.data: self.make(f) for f in mine}
        with pipe:
            received = self.receive(pipe)
        os.waitpid(child, 0)
        made |= received
        return made | {f.sym_name.data: self.make(f) for f in theirs if f.sym_name.data not in made}

    def pays(self, count: int) -> bool:
        """Say whether a second process is to be used."""
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        jobs = self.jobs or min(2, processors)
        # A process with threads is not forked: a lock that one of them holds would stay locked.
        alone = threading.active_count() == 1 and hasattr(os, "fork")
        return count >= WORTH_A_CHILD and jobs > 1 and alone

    def start(self, functions: Sequence[FuncOp]) -> tuple[int, BinaryIO]:
        """Start a child that makes these kernels; return it and where it writes."""
        reading, writing = os.pipe()
        child = os.fork()
        if child:
            os.close(writing)
            return child, os.fdopen(reading, "rb")
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                self.send(functions, pipe)
            status = 0
        finally:
            os._exit(status)

    def send(self, functions: Sequence[FuncOp], pipe: BinaryIO) -> None:
        """Make kernels, and write them with the shared functions made for them."""
        before = set(self.shared)
        made = {f"kernel {f.sym_name.data}": self.make(f).pack() for f in functions}
        made |= {f"shared {n}": data for n, data in self.shared.items() if n not in before}
        head = json.dumps([[name, len(data)] for name, data in made.items()]).encode()
        pipe.write(len(head).to_bytes(8, "little"))
        pipe.write(head)
        for data in made.values():
            pipe.write(data)

    def receive(self, pipe: BinaryIO) -> dict[str, Made]:
        """Return the kernels that a child sent; none if it did not come to the end."""
        content = pipe.read()
        end = 8 + int.from_bytes(content[:8], "little")
        made: dict[str, Made] = {}
        with suppress(json.JSONDecodeError):  # of a child that ended early
            rows = json.loads(content[8:end])
            if end + sum(size for _, size in rows) != len(content):
                return {}
            for name, size in rows:
                kind, _, rest = name.partition(" ")
                data = content[end : end + size]
                end += size
                if kind == "shared":
                    self.shared.setdefault(rest, data)
                else:
                    made[rest] = Made.unpack(data)
        return made


def digest_of(function: FuncOp) -> str:
    """Return the digest of a kernel's text, in which its name does not stand."""
    name = function.properties["sym_name"]
    function.properties["sym_name"] = StringAttr("kernel")
    digest = hashlib.sha256(print_function(function).encode()).hexdigest()
    function.properties["sym_name"] = name
    return digest


def weight(function: FuncOp) -> int:
    """Return about how long a kernel takes to compile."""
    kind = function.attributes[KIND]
    return WEIGHTS.get(kind.data, 1) if isinstance(kind, StringAttr) else 1


def _text(function: FuncOp, name: str) -> str:
    row = function.attributes.get(name)
    return row.data if isinstance(row, StringAttr) else ""
