"""The objects of a program's kernels: found in the cache, or made, on two processors at once.

    with Objects(target, cache) as objects:
        objects.begin(kernels)              children make those that are missing, while
        ...                                 this process goes on with something else
        made, cached = objects.of(kernels)

LLVM holds one lock in a process, so threads would wait for each other: a child process makes
kernels, and this one too when it has nothing else to do. Objects do not depend on who makes them.
What does not come from a child is made here, where an error is seen with its cause.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ..counting import tell
from ..ir import SOURCE, Program, take_apart
from ..ir.interpret.launch import GUARDED, ROUNDS, SCRATCH, UNITS
from ..ir.levels import KIND
from ..ir.ops.structure import Launch
from ..ir.program import functions
from ..passes.analysis.blocks import operations_of
from ..passes.analysis.kernels.kinds import KINDS
from ..target import Target
from . import kernels
from .cache import Cache
from .children import MOST, Children, processes
from .kernels.builder.outside import guard
from .keys import key_of
from .llvm.compile import assemble
from .llvm.emit.kernel import emit_parts

WORTH_A_CHILD = 8
"""Kernels from which a second process pays: it costs ten milliseconds."""

UNSEEN = ("sym_name", SOURCE)
"""What is not seen in a kernel's code, but for its name."""

SIZES = (UNITS, SCRATCH, ROUNDS, GUARDED)
"""Attributes of a kernel that are known when its loops are."""


@dataclass(frozen=True)
class Made:
    """A kernel's object, and what else is to be known of it."""

    sizes: tuple[str, ...]
    """Units, scratch, rounds and looks, as the attributes of the kernel have them."""
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
    found: dict[str, Made] = field(default_factory=dict)
    """What was found in the cache, by name."""
    portions: list[list[FuncOp]] = field(default_factory=list)
    """The kernels that are shared with children: each is one number to them."""
    children: Children | None = None
    begun_kernels: int = 0
    """How many this process has begun to make."""
    begun: bool = False
    """Whether kernels were looked for in the cache."""

    def __enter__(self) -> Objects:
        return self

    def __exit__(self, *_: object) -> None:
        if self.children is not None:
            self.children.stop()

    def begin(self, functions: Sequence[FuncOp]) -> None:
        """Look for kernels in the cache, and let children begin with those that are missing."""
        self.begun = True
        missing = [f for f in functions if not self.find(f)]
        others = processes(self.jobs) - 1
        if others and len(missing) >= WORTH_A_CHILD:
            ordered = sorted(missing, key=lambda f: (-weight(f), f.sym_name.data))
            count = min(len(ordered), MOST)
            self.portions = [ordered[first::count] for first in range(count)]
            self.children = Children(others, count, self.send)

    def of(self, functions: Sequence[FuncOp]) -> tuple[list[Made], int]:
        """Return what is made of each kernel, and how many were found in the cache."""
        if not self.begun:
            self.begin(functions)
        made = self.made_with_others()
        result = []
        for function in functions:
            name = function.sym_name.data
            one = self.found.get(name) or made.get(name) or self.make(function)
            for attribute, size in zip(SIZES, one.sizes, strict=True):
                if size:
                    function.attributes[attribute] = StringAttr(size)
            result.append(one)
        return result, sum(f.sym_name.data in self.found for f in functions)

    def shared_objects(self) -> list[bytes]:
        """Return the objects of shared functions, in the order of their names."""
        return [self.shared[name] for name in sorted(self.shared)]

    # -- the cache ------------------------------------------------------------------------

    def key(self, function: FuncOp) -> str:
        """Return the key of a kernel: its canonical text, its name, the target."""
        name = function.sym_name.data
        if name not in self.digests:
            self.digests[name] = Digests().of(function)
        return key_of(f"kernel {name} {self.digests[name]}", self.target)

    def find(self, function: FuncOp) -> bool:
        """Take a kernel from the cache, with the shared functions that it calls, if it is there."""
        content = self.cache.get(self.key(function))
        made = Made.unpack(content) if content is not None else None
        if made is None:
            return False
        parts = {name: self.cache.get(self.shared_key(name)) for name in made.shared}
        kept = {name: data for name, data in parts.items() if data is not None}
        if len(kept) < len(parts):
            return False
        self.shared.update(kept)
        self.found[function.sym_name.data] = made
        return True

    def shared_key(self, name: str) -> str:
        """Return the key of a shared function's object: its name says all that it is."""
        return key_of(f"shared {name}", self.target)

    # -- making ---------------------------------------------------------------------------

    def make(self, function: FuncOp) -> Made:
        """Return a kernel's object, and keep it."""
        self.begun_kernels += 1
        tell("kernel", self.begun_kernels)
        key = self.key(function)
        loops = function if self.lowered else kernels.lower(function, self.target)
        guard(loops)
        text, modules = emit_parts(loops, self.target)
        for name, module in modules.items():
            if name not in self.shared:
                self.shared[name] = self.shared_object(name, module)
        sizes = tuple(_text(loops, name) for name in SIZES)
        if loops is not function:
            take_apart(loops.regions)
        made = Made(sizes, tuple(modules), assemble(text, self.target))
        self.cache.put(key, made.pack(), label=f"kernel {function.sym_name.data}")
        return made

    def shared_object(self, name: str, module: str) -> bytes:
        """Return the object of a shared function, from the cache if it is there."""
        key = self.shared_key(name)
        return self.cache.get_or_make(key, lambda: assemble(module, self.target), f"shared {name}")

    def make_some(self, numbers: Iterator[int]) -> dict[str, Made]:
        """Return what is made of the kernels of these portions that are still there, by name.

        Passes behind `begin` may erase some: a copy into a result that is written in its place.
        """
        several = (function for number in numbers for function in self.portions[number])
        return {one.sym_name.data: self.make(one) for one in several if one.regions}

    def made_with_others(self) -> dict[str, Made]:
        """Return what this process and its children made of the portions, by name."""
        if self.children is None:
            return {}
        made = self.make_some(self.children.numbers())
        for content in self.children.sent():
            made |= self.receive(content)
        return made

    def send(self, numbers: Iterator[int]) -> bytes:
        """Return what is made of the kernels of these portions, with the shared functions made."""
        before = set(self.shared)
        made = {f"kernel {name}": one.pack() for name, one in self.make_some(numbers).items()}
        made |= {f"shared {n}": data for n, data in self.shared.items() if n not in before}
        head = json.dumps([[name, len(data)] for name, data in made.items()]).encode()
        return b"".join([len(head).to_bytes(8, "little"), head, *made.values()])

    def receive(self, content: bytes) -> dict[str, Made]:
        """Return the kernels that a child sent, and take the shared functions over."""
        end = 8 + int.from_bytes(content[:8], "little")
        made: dict[str, Made] = {}
        for name, size in json.loads(content[8:end]):
            kind, _, rest = name.partition(" ")
            data = content[end : end + size]
            end += size
            if kind == "shared":
                self.shared.setdefault(rest, data)
            else:
                made[rest] = Made.unpack(data)
        return made


@dataclass
class Digests:
    """Digests of kernels: of all that they are but their names and where they come from."""

    texts: dict[int, tuple[str, Attribute]] = field(default_factory=dict)
    """By id, each with its attribute, which holds the id: printing one is slow."""

    def of(self, function: FuncOp) -> str:
        """Return the digest of a kernel, alike in all programs."""
        numbers: dict[SSAValue, int] = {}
        parts = self.lines(function, numbers)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def lines(self, op: Operation, numbers: dict[SSAValue, int]) -> Iterator[str]:
        """Give the lines of an operation and of all in it; values are numbers in their order."""
        rows = [*op.properties.items(), *op.attributes.items()]
        named = [f"{n}={self.text(a)}" for n, a in sorted(rows) if n not in UNSEEN]
        made = [self.text(result.type) for result in op.results]
        yield " ".join([op.name, *(str(numbers[v]) for v in op.operands), *named, "->", *made])
        for block in (block for region in op.regions for block in region.blocks):
            for value in block.args:
                numbers[value] = len(numbers)
            yield " ".join(["{", *(self.text(value.type) for value in block.args)])
            for inner in block.ops:
                yield from self.lines(inner, numbers)
            yield "}"
        for value in op.results:
            numbers[value] = len(numbers)

    def text(self, attribute: Attribute) -> str:
        """Return the text of an attribute."""
        known = self.texts.get(id(attribute))
        if known is None:
            known = self.texts[id(attribute)] = (str(attribute), attribute)
        return known[0]


def kernels_of(program: Program) -> list[FuncOp]:
    """Return the functions that are kernels."""
    return [function for function in functions(program.module) if KIND in function.attributes]


def name_kernels(program: Program, digests: dict[str, str]) -> None:
    """Name every kernel by its kind and the hash of its text, alike in all programs.

    `digests` gets the whole digests by name; those that are in it are named already.
    """
    names: dict[str, SymbolRefAttr] = {}
    texts = Digests()
    for function in kernels_of(program):
        if function.sym_name.data not in digests:
            kind, digest = function.attributes[KIND], texts.of(function)
            assert isinstance(kind, StringAttr), f"{KIND} is {kind}"
            name = f"{kind.data}_{digest[:16]}"
            names[function.sym_name.data] = SymbolRefAttr(name)
            function.properties["sym_name"], digests[name] = StringAttr(name), digest
    for function in functions(program.module):
        for op in operations_of(function) if names and KIND not in function.attributes else ():
            if isinstance(op, Launch) and op.kernel in names:
                op.properties["kernel"] = names[op.kernel]
            elif isinstance(op, CallOp) and op.callee.root_reference.data in names:
                op.properties["callee"] = names[op.callee.root_reference.data]


def weight(function: FuncOp) -> int:
    """Return about how long a kernel takes to compile."""
    kind = function.attributes[KIND]
    return KINDS[kind.data].compiling if isinstance(kind, StringAttr) else 1


def _text(function: FuncOp, name: str) -> str:
    row = function.attributes.get(name)
    return row.data if isinstance(row, StringAttr) else ""
