"""From the text of operands to functions that read and write them.

A register holds its bits as an unsigned number of its width. A value of a type is read as numpy's
type for it; `f16` is one, and `bf16` is read as bits (see `floats`). A narrower type is the low
bits of a register; a value written to a wider register is extended as its sign says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .faults import UnsupportedPtx
from .machine import Machine, Plain, Reader, Writer
from .memory import LOCAL_WINDOW, SHARED_WINDOW, UNSIGNED, Array
from .text import WIDTHS, Instruction, parse_number, split_operands

KINDS: Mapping[str, type] = {
    **{"s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64},
    **{"f16": np.float16, "f32": np.float32, "tf32": np.float32, "f64": np.float64},
    **{f"{kind}{8 * width}": UNSIGNED[width] for kind in "bu" for width in (1, 2, 4, 8)},
    **{"bf16": np.uint16, "f16x2": np.uint32, "bf16x2": np.uint32, "pred": np.bool_},
    **{"u16x2": np.uint32, "s16x2": np.uint32},
}
"""The numpy type that values of each PTX type are read as."""

_ADDRESS = re.compile(r"\[\s*([%$\w.]+)\s*(?:\+?\s*(-?(?:0x)?[0-9a-fA-F]+))?\s*\]$")


@dataclass(frozen=True)
class Symbol:
    """A name that stands for an address."""

    space: str
    address: int


@dataclass(frozen=True)
class Decoder:
    """What the names in a kernel's instructions mean."""

    registers: Mapping[str, tuple[int, type]]
    """The number and numpy type of each register."""
    symbols: Mapping[str, Symbol]
    labels: Mapping[str, int]
    tables: Mapping[str, tuple[str, ...]]
    specials: Mapping[str, Callable[[Machine], Array]]

    def kind(self, name: str) -> type:
        """Return the numpy type of values of a PTX type."""
        if name not in KINDS:
            raise UnsupportedPtx(f"type {name!r}")
        return KINDS[name]

    def read(self, operand: str, type_name: str) -> Reader:
        """Return what reads an operand as a type."""
        kind = self.kind(type_name)
        if operand in self.registers:
            return self._register(operand, kind)
        if operand in self.specials:
            special = self.specials[operand]
            unsigned = UNSIGNED[np.dtype(kind).itemsize]
            return lambda m: special(m).astype(unsigned).view(kind)
        if operand[0] in "!" and operand[1:] in self.registers:
            inner = self._register(operand[1:], kind)
            return lambda m: ~inner(m)
        return self._constant(operand, kind)

    def _register(self, operand: str, kind: type) -> Reader:
        number, stored = self.registers[operand]
        if stored is kind:
            return lambda m: m.read(number)
        width = np.dtype(kind).itemsize
        if kind is np.bool_ or stored is np.bool_:
            raise UnsupportedPtx(f"register {operand} as {np.dtype(kind).name}")
        if width == np.dtype(stored).itemsize:
            return lambda m: m.read(number).view(kind)
        narrow = UNSIGNED[width]
        return lambda m: m.read(number).astype(narrow).view(kind)

    def _constant(self, operand: str, kind: type) -> Reader:
        if kind is np.bool_:
            truth = np.asarray(int(operand) != 0)
            return lambda m: truth
        width = np.dtype(kind).itemsize
        bits = self.number(operand)
        if re.match(r"0[fF]", operand) and width == 8:
            bits = int(np.float64(np.uint32(bits).view(np.float32)).view(np.uint64))
        value: Array = np.array(bits & ((1 << 8 * width) - 1), UNSIGNED[width]).view(kind)
        return lambda m: value

    def number(self, operand: str) -> int:
        """Return the number that an operand is: written out, or a symbol's address."""
        found = parse_number(operand)
        if found is not None:
            return found
        name, _, offset = operand.partition("+")
        generic = re.fullmatch(r"generic\(([\w$]+)\)", name)
        symbol = self.symbols.get(generic[1] if generic else name)
        if symbol is None:
            raise UnsupportedPtx(f"operand {operand!r}")
        windows = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}
        base = windows.get(symbol.space, 0) if generic else 0
        return base + symbol.address + int(offset or "0", 0)

    def write(self, operand: str, type_name: str) -> Writer:
        """Return what writes values of a type to a register."""
        if operand == "_":
            return lambda m, values: None
        if operand not in self.registers:
            raise UnsupportedPtx(f"result {operand!r}")
        number, stored = self.registers[operand]
        kind = self.kind(type_name)
        if stored is kind:
            return lambda m, values: m.write(number, values)
        if kind is np.bool_ or stored is np.bool_:
            raise UnsupportedPtx(f"register {operand} for {type_name}")
        if np.dtype(kind).itemsize == np.dtype(stored).itemsize:
            return lambda m, values: m.write(number, values.view(stored))
        is_signed = np.dtype(kind).kind == "i"
        wide = np.dtype(f"i{np.dtype(stored).itemsize}") if is_signed else np.dtype(stored)
        narrow = kind if is_signed else UNSIGNED[np.dtype(kind).itemsize]
        return lambda m, values: m.write(number, values.view(narrow).astype(wide).view(stored))

    def vector(self, operand: str) -> list[str]:
        """Return the operands in braces, or the one that there is."""
        if operand.startswith("{"):
            return split_operands(operand[1:-1])
        return [operand]

    def reads(self, operand: str, type_name: str) -> list[Reader]:
        """Return what reads each operand in braces."""
        return [self.read(each, type_name) for each in self.vector(operand)]

    def writes(self, operand: str, type_name: str) -> list[Writer]:
        """Return what writes each operand in braces."""
        return [self.write(each, type_name) for each in self.vector(operand)]

    def address(self, operand: str) -> Callable[[Machine], Array]:
        """Return what gives the address `[register+offset]` of all active lanes."""
        found = _ADDRESS.match(operand)
        if found is None:
            raise UnsupportedPtx(f"address {operand!r}")
        name, offset = found[1], int(found[2] or "0", 0)
        if name in self.registers:
            _, stored = self.registers[name]
            inner = self._register(name, stored)
            return lambda m: inner(m).astype(np.int64) + offset
        fixed = self.number(name) + offset
        return lambda m: np.full(m.count if m.lanes is None else len(m.lanes), fixed, np.int64)

    def label(self, name: str) -> int:
        """Return the number of the instruction behind a label."""
        if name not in self.labels:
            raise UnsupportedPtx(f"label {name!r}")
        return self.labels[name]


Rule = Callable[[Instruction, Decoder], Plain]
"""How an instruction becomes something to do."""
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register how the instructions of these names become something to do."""

    def register(function: Rule) -> Rule:
        for name in names:
            assert name not in RULES, name
            RULES[name] = function
        return function

    return register


def expect(instruction: Instruction, *known: str) -> None:
    """Refuse modifiers that are not among those known."""
    for modifier in instruction.modifiers:
        if modifier not in known and modifier not in WIDTHS:
            raise UnsupportedPtx(f"modifier .{modifier} of {instruction.op}")
