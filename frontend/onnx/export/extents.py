"""Dimensions that are symbols, as values that the model computes from the shapes of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ....ir import Array, Dim, DimExpr
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ....ir.types.dims import Atom


class NotWritableError(Exception):
    """An operation cannot be written in this way; another may be tried."""


class Out(Protocol):
    """What nodes are appended to."""

    types: dict[str, d.DType]
    nodes: list[Any]
    head: list[Any]
    label: str

    def node(self, op_type: str, *inputs: str, **more: Any) -> Any:
        """Append a node; return the name of its result."""

    def store(self, array: Array) -> str:
        """Return the name of a constant."""


class Extents:
    """The values of dimensions: vectors of one i64."""

    def __init__(self, out: Out) -> None:
        self.out = out
        self.symbols: dict[str, tuple[str, int]] = {}
        """The input and its axis whose extent a symbol is."""
        self.known: dict[str, str] = {}
        self.late: dict[str, tuple[str, int, bool]] = {}
        """The same for symbols that data decides: a value, and its axis or (true) its element."""

    def declare(self, name: str, shape: Sequence[Dim]) -> None:
        """Take the symbols that are dimensions of an input."""
        for axis, dim in enumerate(shape):
            if isinstance(dim, DimExpr) and str(dim).isidentifier():
                self.symbols.setdefault(str(dim), (name, axis))

    def declare_late(self, name: str, shape: Sequence[Dim]) -> None:
        """Take the symbols that first stand in the shape of a computed value."""
        for axis, dim in enumerate(shape):
            text = str(dim)
            if isinstance(dim, DimExpr) and text.isidentifier() and text not in self.symbols:
                self.late.setdefault(text, (name, axis, False))

    def declare_element(self, name: str, place: int, dim: Dim) -> None:
        """Take a symbol that is an element of a vector of i64."""
        if isinstance(dim, DimExpr) and str(dim).isidentifier() and str(dim) not in self.symbols:
            self.late.setdefault(str(dim), (name, place, True))

    def vector(self, dims: Sequence[Dim]) -> str:
        """Return a vector of dimensions."""
        if all(isinstance(dim, int) for dim in dims):
            return self.out.store(np.array(dims, np.int64))
        parts = [self.one(dim) for dim in dims]
        return parts[0] if len(parts) == 1 else str(self.out.node("Concat", *parts, axis=0))

    def one(self, dim: Dim) -> str:
        """Return a dimension as a vector of one element."""
        if not isinstance(dim, DimExpr):
            return self.out.store(np.array([dim], np.int64))
        if not self.late.keys().isdisjoint(dim_rules.symbols(dim)):
            return self._computed(dim)  # here, for it is not known before
        if str(dim) not in self.known:
            outer, self.out.nodes = self.out.nodes, self.out.head
            label, self.out.label = self.out.label, str(dim)
            try:
                self.known[str(dim)] = self._computed(dim)
            finally:
                self.out.nodes, self.out.label = outer, label
        return self.known[str(dim)]

    def _computed(self, dim: DimExpr) -> str:
        total = ""
        for monomial, factor in dim.terms:
            part = "" if factor != 1 or not monomial else self._atom(monomial[0])
            if not part:
                part = self.one(factor)
                rest = monomial
            else:
                rest = monomial[1:]
            for atom in rest:
                part = self.out.node("Mul", part, self._atom(atom))
            total = self.out.node("Add", total, part) if total else part
        return total

    def _atom(self, atom: Atom) -> str:
        if not atom.op:
            return self._symbol(atom.name)
        a, b = (self.one(dim_rules.parse(text)) for text in atom.args)
        return OPERATORS[atom.op](self.out, a, b)

    def _symbol(self, name: str) -> str:
        if name in self.late:
            return self._late(*self.late[name])
        if name not in self.symbols:
            raise NotWritableError(f"dimension {name} is not that of an input")
        source, axis = self.symbols[name]
        key = f"{name} itself"
        if key not in self.known:
            self.known[key] = self.out.node("Shape", source, start=axis, end=axis + 1)
            self.out.types[self.known[key]] = d.i64
        return self.known[key]

    def _late(self, source: str, place: int, is_element: bool) -> str:
        if not is_element:
            return str(self.out.node("Shape", source, start=place, end=place + 1))
        bounds = [self.out.store(np.array([at], np.int64)) for at in (place, place + 1)]
        return str(self.out.node("Slice", source, *bounds))


def _floor_divide(out: Out, a: str, b: str) -> str:
    return str(out.node("Div", out.node("Sub", a, out.node("Mod", a, b)), b))


OPERATORS: Mapping[str, Callable[[Out, str, str], str]] = {
    "//": _floor_divide,
    "%": lambda out, a, b: out.node("Mod", a, b),
    "max": lambda out, a, b: out.node("Max", a, b),
    "min": lambda out, a, b: out.node("Min", a, b),
}
"""How functions of dimensions are computed; `Mod` has the sign of the divisor."""
