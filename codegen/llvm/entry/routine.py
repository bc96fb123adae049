"""A function of an artefact's entry under construction: memory by offset, checks, sizes.

No pass runs over what is emitted here (see `compile`), so it is written as it shall be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ....runtime.expression import Extent, walk
from ..text.build import Text

INSTRUCTIONS: Mapping[str, str] = {"+": "add", "-": "sub", "*": "mul"}
CALLS: Mapping[str, str] = {
    "//": "gravure.floor_divide",
    "%": "gravure.modulo",
    "min": "llvm.smin.i64",
    "max": "llvm.smax.i64",
}

DIVISION = """
define internal i64 @gravure.floor_divide(i64 %x, i64 %y) nounwind {
entry:
  %none = icmp eq i64 %y, 0
  br i1 %none, label %zero, label %some
zero:
  ret i64 0
some:
  %quotient = sdiv i64 %x, %y
  %back = mul i64 %quotient, %y
  %uneven = icmp ne i64 %back, %x
  %signs = xor i64 %x, %y
  %negative = icmp slt i64 %signs, 0
  %lower = and i1 %uneven, %negative
  %one = zext i1 %lower to i64
  %result = sub i64 %quotient, %one
  ret i64 %result
}
define internal i64 @gravure.modulo(i64 %x, i64 %y) nounwind {
entry:
  %none = icmp eq i64 %y, 0
  %quotient = call i64 @gravure.floor_divide(i64 %x, i64 %y)
  %product = mul i64 %quotient, %y
  %rest = sub i64 %x, %product
  %result = select i1 %none, i64 0, i64 %rest
  ret i64 %result
}
"""
"""Division as sizes have it: it rounds down, and by zero it gives zero."""


class Routine(Text):
    """The lines of one function that returns a status, 0 if all is well."""

    def __init__(self, symbol: Callable[[Routine, str], str] | None = None) -> None:
        super().__init__()
        self.lines.append("entry:")
        self._failures: dict[int, str] = {}
        self._known: dict[tuple[str, str], str] = {}
        """What was computed by block and instruction, where `once` asked for it."""
        self._symbol = symbol
        self.divides = False
        """Whether the module needs `DIVISION`."""

    def address(self, base: str, offset: int | str) -> str:
        """Return the address `offset` bytes behind a pointer."""
        if offset == 0:
            return base
        return self.value(f"getelementptr i8, ptr {base}, i64 {offset}")

    def once(self, instruction: str) -> str:
        """Return what an instruction gives that gives the same wherever it stands in a block."""
        key = self.block, instruction
        if key not in self._known:
            self._known[key] = self.value(instruction)
        return self._known[key]

    def place(self, base: str, offset: int) -> str:
        """Return the address `offset` bytes behind a pointer, computed once in each block."""
        return self.once(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base

    def load(self, kind: str, base: str, offset: int = 0) -> str:
        """Load a number or a pointer `offset` bytes behind a pointer."""
        return self.value(f"load {kind}, ptr {self.address(base, offset)}")

    def store(self, kind: str, value: str | int, base: str, offset: int = 0) -> None:
        """Store a number or a pointer `offset` bytes behind a pointer."""
        self.line(f"store {kind} {value}, ptr {self.address(base, offset)}")

    def require(self, condition: str, status: int) -> None:
        """Return `status` unless `condition` is true."""
        failure = self._failures.setdefault(status, f"status{status}")
        good = self.fresh_label()
        self.line(f"br i1 {condition}, label %{good}, label %{failure}")
        self.label(good)

    def require_call(self, call: str) -> None:
        """Return what a function returns, unless it is 0."""
        self.require_none(self.value(f"call i32 {call}"))

    def require_none(self, status: str) -> None:
        """Return a status, unless it is 0."""
        good, bad = self.fresh_label(), self.fresh_label()
        self.line(f"br i1 {self.value(f'icmp eq i32 {status}, 0')}, label %{good}, label %{bad}")
        self.label(bad)
        self.line(f"ret i32 {status}")
        self.label(good)

    def require_aligned(self, pointer: str, alignment: int, status: int, *, null: bool) -> None:
        """Return `status` unless a pointer is a multiple of `alignment`, and (or) not null."""
        if not null:
            self.require(self.value(f"icmp ne ptr {pointer}, null"), status)
        if alignment > 1:
            number = self.value(f"ptrtoint ptr {pointer} to i64")
            low = self.value(f"and i64 {number}, {alignment - 1}")
            self.require(self.value(f"icmp eq i64 {low}, 0"), status)

    def extent(self, size: Extent) -> str:
        """Return a number, or compute an expression of symbols."""
        return walk(size, str, self._named, self._apply)

    def _named(self, name: str) -> str:
        assert self._symbol is not None, "a symbol where there are no dimensions"
        return self._symbol(self, name)

    def _apply(self, operator: str, x: str, y: str) -> str:
        if operator in INSTRUCTIONS:
            return self.value(f"{INSTRUCTIONS[operator]} i64 {x}, {y}")
        self.divides = self.divides or operator in ("//", "%")
        if operator in ("min", "max"):
            self.declare(f"declare i64 @{CALLS[operator]}(i64, i64)")
        return self.value(f"call i64 @{CALLS[operator]}(i64 {x}, i64 {y})")

    def finish(self, head: str, result: str = "ret i32 0") -> str:
        """Return the whole function; `head` is its linkage, type, name and arguments."""
        self.line(result)
        for status, label in self._failures.items():
            self.label(label)
            self.line(f"ret i32 {status}")
        return f"define {head} nounwind {{\n{self.body()}\n}}\n"


def written(text: str) -> str:
    r"""Return a text as LLVM writes it between quotes.

    >>> print(written('a "b" c\\\n'))
    a \22b\22 c\5C\0A
    """
    plain = text.replace("\\", "\\5C").replace('"', "\\22")
    if plain.isascii() and plain.isprintable():
        return plain
    return ODD.sub(lambda found: "".join([f"\\{b:02X}" for b in found[0].encode()]), plain)


ODD = re.compile("[^ -~]+")
"""What LLVM wants to be written byte by byte."""


def c_string(text: str) -> tuple[int, str]:
    """Return the bytes of a string with the zero at its end: how many, and as LLVM writes them."""
    return len(text.encode()) + 1, f'c"{written(text)}\\00"'
