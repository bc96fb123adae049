"""From a kernel's text to a program: every instruction becomes something to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

# The rules of instructions are registered when these modules are loaded.
from . import access, copies, matrix, warpgroup  # noqa: F401
from .control import CONTROLS
from .faults import UnsupportedPtx
from .machine import MOST_SHARED, WARP, DecodedStep, LoadedKernel, Machine
from .memory import UNSIGNED, Array
from .numbers import arithmetic, bits, convert  # noqa: F401
from .operands import RULES, Decoder, Symbol
from .phases import is_wait, wait_control
from .text import WIDTHS, DeclaredVariable, Instruction, Kernel, Module
from .warp import TOGETHER, control_of

_AXES = "xyz"
SHARED_OF = {"sm_80": 163 << 10, "sm_86": 99 << 10, "sm_87": 163 << 10, "sm_89": 99 << 10}
"""Bytes of shared memory that a block may have where it is less than on a Hopper."""


def make_program(module: Module, name: str, addresses: Mapping[str, int]) -> LoadedKernel:
    """Return the kernel `name` of a module, ready to run; `addresses` are of global variables."""
    if name not in module.kernels:
        raise UnsupportedPtx(f"no kernel {name!r}", hint=f"there are {', '.join(module.kernels)}")
    kernel = module.kernels[name]
    symbols, shared, local = _lay_out(module, kernel, addresses)
    kinds = {"pred": np.bool_}
    registers = {
        register: (number, kinds.get(kind) or UNSIGNED[WIDTHS[kind]])
        for number, (register, kind) in enumerate(kernel.registers.items())
    }
    decoder = Decoder(registers, symbols, kernel.labels, kernel.tables, SPECIALS)
    steps = tuple(_step(instruction, decoder, name) for instruction in kernel.code)
    types = tuple(kind for _, kind in registers.values())
    return LoadedKernel(
        kernel,
        steps,
        types,
        shared,
        local,
        _least_access(kernel, "shared"),
        _least_access(kernel, "global"),
        SHARED_OF.get(module.target.rstrip("a"), MOST_SHARED),
    )


def _lay_out(
    module: Module, kernel: Kernel, addresses: Mapping[str, int]
) -> tuple[dict[str, Symbol], int, int]:
    """Return what names stand for, and the bytes of shared and local memory."""
    symbols = {name: Symbol("global", at) for name, at in addresses.items()}
    symbols |= {each.name: Symbol("param", each.offset) for each in kernel.parameters}
    ends = {"shared": 0, "local": 0}
    variables = [*module.variables, *kernel.variables]
    dynamic: list[DeclaredVariable] = []
    for variable in variables:
        if variable.is_dynamic:
            dynamic.append(variable)
        elif variable.space in ends:
            at = -(-ends[variable.space] // variable.alignment) * variable.alignment
            symbols[variable.name] = Symbol(variable.space, at)
            ends[variable.space] = at + variable.size
    for variable in dynamic:
        ends["shared"] = -(-ends["shared"] // variable.alignment) * variable.alignment
    for variable in dynamic:
        symbols[variable.name] = Symbol("shared", ends["shared"])
    return symbols, ends["shared"], ends["local"]


def _step(instruction: Instruction, decoder: Decoder, name: str) -> DecodedStep:
    """Return an instruction ready to be done."""
    try:
        return _make(instruction, decoder)
    except UnsupportedPtx as error:
        place = f"{name}, line {instruction.line}"
        raise UnsupportedPtx(f"{error.message}, in {instruction}", location=place) from None
    except (KeyError, ValueError, IndexError, StopIteration) as error:
        place = f"{name}, line {instruction.line}"
        raise UnsupportedPtx(f"instruction {instruction}", location=place) from error


def _make(instruction: Instruction, decoder: Decoder) -> DecodedStep:
    guard = None
    if instruction.guard:
        guard = arithmetic.reader_of_predicate(decoder, instruction.guard, instruction.is_negated)
    if instruction.op in CONTROLS:
        return DecodedStep(
            instruction, control=CONTROLS[instruction.op](instruction, decoder, guard)
        )
    if is_wait(instruction):
        return DecodedStep(instruction, control=wait_control(instruction, decoder, guard))
    if instruction.op in TOGETHER:
        if guard is not None:
            raise UnsupportedPtx("a guard of an instruction that a warp does together")
        return DecodedStep(
            instruction, control=control_of(*TOGETHER[instruction.op](instruction, decoder))
        )
    if instruction.op not in RULES:
        raise UnsupportedPtx(f"instruction {instruction.op!r}")
    return DecodedStep(instruction, plain=RULES[instruction.op](instruction, decoder), guard=guard)


def _least_access(kernel: Kernel, space: str) -> int:
    """Return the fewest bytes of a memory that an instruction of a kernel takes at a time."""
    widths = [
        WIDTHS[instruction.type]
        for instruction in kernel.code
        if instruction.op in ("ld", "st", "atom", "red")
        and access.space_of(instruction) in (space, "")
        and instruction.type in WIDTHS
    ]
    return min([*widths, 16])


def _axis(number: int, sizes: Callable[[Machine], tuple[int, int, int]]) -> Callable[..., Array]:
    """Return what gives one coordinate, from numbers that count along x first."""

    def coordinate(m: Machine, numbers: Array) -> Array:
        x, y, _ = sizes(m)
        divisor = (1, x, x * y)[number]
        size = sizes(m)[number]
        return (numbers // divisor % size).astype(np.uint32)

    return coordinate


def _kept(name: str, function: Callable[[Machine], Array]) -> Callable[[Machine], Array]:
    """Return a special register that is computed once for all lanes of a machine."""

    def read(m: Machine) -> Array:
        found = m.specials.get(name)
        if found is None:
            found = m.specials[name] = function(m)
        return m.of_lanes(found)

    return read


def _constant(function: Callable[[Machine], int]) -> Callable[[Machine], Array]:
    return lambda m: np.asarray(np.uint32(function(m)))


def _specials() -> dict[str, Callable[[Machine], Array]]:
    """Return the registers that say which lane this is."""
    found: dict[str, Callable[[Machine], Array]] = {}
    for number, axis in enumerate(_AXES):
        thread = _axis(number, lambda m: m.launch.block)
        block = _axis(number, lambda m: m.launch.grid)
        found[f"%tid.{axis}"] = _kept(
            f"tid{axis}",
            lambda m, of=thread: of(m, m.thread_of),  # type: ignore[misc]
        )
        found[f"%ctaid.{axis}"] = _kept(
            f"ctaid{axis}",
            lambda m, of=block: of(m, m.blocks[m.block_of]),  # type: ignore[misc]
        )
        found[f"%ntid.{axis}"] = _constant(lambda m, n=number: m.launch.block[n])  # type: ignore[misc]
        found[f"%nctaid.{axis}"] = _constant(lambda m, n=number: m.launch.grid[n])  # type: ignore[misc]
    lane = _kept("lane", lambda m: m.thread_of % WARP)
    found["%laneid"] = lane
    found["%warpid"] = _kept("warp", lambda m: m.warp_of)
    found["%nwarpid"] = _constant(lambda m: m.lanes_per_block // WARP)
    masks = {
        "eq": lambda n: np.uint32(1) << n,
        "lt": lambda n: (np.uint32(1) << n) - np.uint32(1),
        "le": lambda n: (np.uint32(2) << n) - np.uint32(1),
        "gt": lambda n: ~((np.uint32(2) << n) - np.uint32(1)),
        "ge": lambda n: ~((np.uint32(1) << n) - np.uint32(1)),
    }
    for name, mask in masks.items():
        found[f"%lanemask_{name}"] = lambda m, of=mask: of(lane(m))  # type: ignore[misc]
    for name in ("%clock", "%clock64", "%globaltimer"):
        found[name] = _constant(lambda m: m.done & 0xFFFFFFFF)
    found["%smid"] = _constant(lambda m: 0)
    found["%nsmid"] = _constant(lambda m: 1)
    found["%cluster_ctarank"] = _kept("rank", lambda m: (m.block_of % m.cluster).astype(np.uint32))
    found["%cluster_nctarank"] = _constant(lambda m: m.cluster)
    found["%dynamic_smem_size"] = _constant(lambda m: m.launch.shared)
    found["%total_smem_size"] = _constant(lambda m: m.shared.size)
    return found


SPECIALS = _specials()
