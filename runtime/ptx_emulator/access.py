"""Loads, stores and atomic operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .faults import KernelFault, UnsupportedPtx
from .machine import Machine, Plain
from .memory import LOCAL_WINDOW, SHARED_WINDOW, WINDOW, Array, gather, scatter
from .numbers import floats
from .operands import Decoder, rule
from .text import WIDTHS, Instruction

SPACES = ("global", "shared", "local", "param", "const")
_CACHING = (
    *("nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "volatile", "relaxed", "acquire", "release"),
    *("weak", "cta", "gpu", "sys", "cluster", "L1::no_allocate", "L1::evict_last", "mmio"),
    *("L1::evict_first", "L2::128B", "L2::256B", "L2::64B", "unified", "L1::evict_normal"),
    *("L2::cache_hint", "L1::evict_unchanged", "acq_rel", "noftz"),
)


def space_of(instruction: Instruction) -> str:
    """Return the space that an instruction names, or nothing for generic addresses."""
    names = (each.partition("::")[0] for each in instruction.modifiers)
    return next((each for each in names if each in SPACES), "")


def _count_of(instruction: Instruction) -> int:
    """Return how many values a load or store moves, after a look at its modifiers."""
    count = 1
    for modifier in instruction.modifiers:
        if modifier in ("v2", "v4", "v8"):
            count = int(modifier[1:])
        elif modifier.partition("::")[0] in SPACES or modifier in _CACHING or modifier in WIDTHS:
            continue
        else:
            raise UnsupportedPtx(f"modifier .{modifier} of {instruction.op}")
    return count


@rule("ld", "ldu")
def _load(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    width, count, space = WIDTHS[kind], _count_of(instruction), space_of(instruction)
    place, where = instruction.operands[:2]
    writes = decoder.writes(place, kind)
    address = decoder.address(where)
    value_kind = decoder.kind(kind)
    constant = "nc" in instruction.modifiers
    if len(writes) != count:
        raise UnsupportedPtx(f"{count} values into {place}")

    def plain(m: Machine) -> None:
        if constant and m.block_races is not None:
            m.block_races.unchanged(m.heap.places(address(m), width * count), width * count)
        for write, value in zip(writes, load(m, space, address(m), width, count), strict=True):
            write(m, value.view(value_kind))

    return plain


@rule("st")
def _store(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    width, count, space = WIDTHS[kind], _count_of(instruction), space_of(instruction)
    where, values = instruction.operands[:2]
    reads = decoder.reads(values, f"b{8 * width}")
    address = decoder.address(where)
    if len(reads) != count:
        raise UnsupportedPtx(f"{count} values from {values}")
    return lambda m: store(m, space, address(m), width, [read(m) for read in reads])


def load(m: Machine, space: str, addresses: Array, width: int, count: int) -> list[Array]:
    """Return `count` values from the active lanes' addresses."""
    size = width * count
    if space in ("global", "const"):
        places = m.heap.places(addresses, size)
        if m.block_races is not None and space == "global":
            m.block_races.read(m, places, size)
        return gather(m.heap.data, places, width, count)
    if space == "shared":
        places = m.shared.places(addresses, size, m.lanes)
        if m.races is not None:
            m.races.read(places, size)
        return gather(m.shared.data, places, width, count)
    if space == "local":
        return gather(m.local.data, m.local.places(addresses, size, m.lanes), width, count)
    if space == "param":
        return _load_argument(m, addresses, width, count)
    return _each_space(m, addresses, lambda name, found: load(m, name, found, width, count), count)


def store(m: Machine, space: str, addresses: Array, width: int, values: list[Array]) -> None:
    """Write values to the active lanes' addresses."""
    size = width * len(values)
    if space == "global":
        places = m.heap.places(addresses, size)
        if m.block_races is not None:
            m.block_races.write(m, places, size)
        scatter(m.heap.data, places, width, values)
    elif space == "shared":
        places = m.shared.places(addresses, size, m.lanes)
        if m.races is not None:
            m.races.write(places, size)
        scatter(m.shared.data, places, width, values)
    elif space == "local":
        scatter(m.local.data, m.local.places(addresses, size, m.lanes), width, values)
    elif space == "":
        _store_generic(m, addresses, width, values)
    else:
        raise KernelFault(f"{space} memory cannot be written")


def _load_argument(m: Machine, addresses: Array, width: int, count: int) -> list[Array]:
    data = np.frombuffer(m.launch.arguments.ljust(16 + int(addresses.max()) + 16, b"\0"), np.uint8)
    kind = np.dtype(f"u{width}")
    return [
        data[addresses[:, None] + number * width + np.arange(width)].view(kind)[:, 0]
        for number in range(count)
    ]


def space_at(addresses: Array) -> dict[str, Array]:
    """Return which of generic addresses are in which space."""
    shared = (addresses >= SHARED_WINDOW) & (addresses < SHARED_WINDOW + WINDOW)
    local = (addresses >= LOCAL_WINDOW) & (addresses < LOCAL_WINDOW + WINDOW)
    found = {"shared": shared, "local": local, "global": ~(shared | local)}
    return {name: mask for name, mask in found.items() if mask.any()}


_BASES = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "global": 0}


def _each_space(
    m: Machine, addresses: Array, loads: Callable[[str, Array], list[Array]], count: int
) -> list[Array]:
    """Load from generic addresses, each from its space."""
    spaces = space_at(addresses)
    if len(spaces) == 1:
        [name] = spaces
        return loads(name, addresses - _BASES[name])
    before = m.lanes
    found: list[Array | None] = [None] * count
    for name, mask in spaces.items():
        m.lanes = np.arange(m.count)[mask] if before is None else before[mask]
        for number, values in enumerate(loads(name, addresses[mask] - _BASES[name])):
            whole = found[number]
            if whole is None:
                whole = found[number] = np.zeros(len(addresses), values.dtype)
            whole[mask] = values
    m.lanes = before
    return [each for each in found if each is not None]


def _store_generic(m: Machine, addresses: Array, width: int, values: list[Array]) -> None:
    before = m.lanes
    for name, mask in space_at(addresses).items():
        m.lanes = np.arange(m.count)[mask] if before is None else before[mask]
        parts = [np.broadcast_to(value, addresses.shape)[mask] for value in values]
        store(m, name, addresses[mask] - _BASES[name], width, parts)
    m.lanes = before


# Atomic operations: lanes with the same address take turns.

_FUNCTIONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, new: new,
    "inc": lambda old, top: np.where(old >= top, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, top: np.where((old == 0) | (old > top), top, old - old.dtype.type(1)),
}


def atomic_function(name: str, kind: str) -> Callable[[Array, Array], Array]:
    """Return how an atomic operation joins what is there with a value."""
    if name not in _FUNCTIONS:
        raise UnsupportedPtx(f"atom.{name}")
    function = _FUNCTIONS[name]
    if kind == "bf16":
        return lambda old, new: floats.to_bf16(
            function(floats.from_bf16(old), floats.from_bf16(new))
        )
    if kind in ("f16x2", "bf16x2"):
        inner = atomic_function(name, kind[:-2])
        half = np.float16 if kind == "f16x2" else np.uint16

        def both(old: Array, new: Array) -> Array:
            parts = inner(*(np.ascontiguousarray(each).view(half) for each in (old, new)))
            return np.ascontiguousarray(parts).view(np.uint32)

        return both
    return function


@rule("atom", "red")
def _atomic(instruction: Instruction, decoder: Decoder) -> Plain:
    kind, space = instruction.type, space_of(instruction)
    names = [each for each in instruction.modifiers if each in (*_FUNCTIONS, "cas")]
    unknown = {
        each
        for each in instruction.modifiers
        if each not in (*_CACHING, *WIDTHS, *names, "v2", "v4", "v8")
        and each.partition("::")[0] not in SPACES
    }
    if unknown or len(names) != 1:
        raise UnsupportedPtx(str(instruction))
    operands = list(instruction.operands)
    out = operands.pop(0) if instruction.op == "atom" else "_"
    address = decoder.address(operands[0])
    sources = [decoder.reads(each, kind) for each in operands[1:]]
    writes = decoder.writes(out, kind) if out != "_" else [_nowhere] * len(sources[0])
    width, name = WIDTHS[kind], names[0]

    function = _swap_if_equal if name == "cas" else atomic_function(name, kind)

    def plain(m: Machine) -> None:
        for number, write in enumerate(writes):
            values = [reads[number](m) for reads in sources]
            view, slots = _atomic_places(m, space, address(m) + number * width, decoder.kind(kind))
            operands = [np.broadcast_to(value, slots.shape) for value in values]
            order = np.arange(slots.size)
            if m.is_against:
                m.random.shuffle(order)
            if instruction.op == "red" and isinstance(function, np.ufunc):
                function.at(view, slots[order], operands[0][order])
            else:
                write(m, take_turns(view, slots, order, function, operands))

    return plain


def _nowhere(m: Machine, values: Array) -> None:
    """Drop a result that nobody asked for."""


def _swap_if_equal(old: Array, compare: Array, new: Array) -> Array:
    """Return the new value where the old one is what was expected."""
    return np.where(old == compare, new, old)


def _atomic_places(m: Machine, space: str, addresses: Array, kind: type) -> tuple[Array, Array]:
    """Return memory as values of a type, and which of them are at the addresses."""
    if not space:
        found = space_at(addresses)
        if len(found) != 1:
            raise UnsupportedPtx("an atomic operation on several spaces")
        [space] = found
        addresses = addresses - _BASES[space]
    size = np.dtype(kind).itemsize
    if space == "shared":
        return m.shared.data.view(kind), m.shared.places(addresses, size, m.lanes) // size
    return m.heap.data.view(kind), m.heap.places(addresses, size) // size


def take_turns(
    view: Array,
    slots: Array,
    order: Array,
    function: Callable[..., Array],
    operands: list[Array],
) -> Array:
    """Do an atomic operation for one lane after the other; return what each found.

    Lanes that share a slot are done in rounds: the first of each, then the second.
    """
    result = np.empty(slots.shape, view.dtype)
    for lanes in _rounds(slots, order):
        old = view[slots[lanes]]
        result[lanes] = old
        view[slots[lanes]] = function(old, *(operand[lanes] for operand in operands))
    return result


def _rounds(slots: Array, order: Array) -> list[Array]:
    """Return the lanes of each round; no two of a round have the same slot."""
    sort = order[np.argsort(slots[order], kind="stable")]
    ordered = slots[sort]
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    first = np.maximum.accumulate(np.where(starts, np.arange(slots.size), 0))
    turn = np.arange(slots.size) - first
    return [sort[turn == number] for number in range(int(turn.max()) + 1)] if slots.size else []


@rule("prefetch", "prefetchu", "applypriority", "discard")
def _hint(instruction: Instruction, decoder: Decoder) -> Plain:
    return lambda m: None
