"""`TensorSpec`: the type of a tensor as plain Python data, and the IR type it stands for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    NoneAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ...lazy import cached_property
from . import dims as dim_module
from .dims import Dim, DimExpr
from .dtypes import DType, of_element, of_numpy

Array = np.ndarray[Any, np.dtype[Any]]


@irdl_attr_definition
class DimsAttr(Data[tuple[Dim, ...]]):
    """All dimensions of a tensor with symbols: `#gv.dims<"N, 3">` in its type."""

    name = "gv.dims"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Dim, ...]:
        """Read `<"N, 3">`."""
        with parser.in_angle_brackets():
            return parse_shape(parser.parse_str_literal())

    def print_parameter(self, printer: Printer) -> None:
        """Write `<"N, 3">`."""
        with printer.in_angle_brackets():
            printer.print_string_literal(", ".join(map(str, self.data)))


def parse_shape(text: str) -> tuple[Dim, ...]:
    """Read dimensions parted by commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return tuple(dim_module.parse(part) for part in parts if part.strip())


MAX_BYTES = 1 << 62
"""No tensor is as large as this, so that offsets can be added without overflow."""


@dataclass(frozen=True, eq=True)
class TensorSpec:
    """Element type and shape of a tensor; `shape` is None where even the rank is unknown."""

    dtype: DType
    shape: tuple[Dim, ...] | None

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Return the shape of a tensor whose rank is known."""
        if self.shape is None:
            raise TypeError("the rank is unknown here, expected a known rank")
        return self.shape

    @property
    def rank(self) -> int:
        """Return the number of dimensions."""
        return len(self.dims)

    @property
    def size(self) -> Dim:
        """Return the number of elements."""
        return dim_module.product(self.dims)

    @property
    def nbytes(self) -> Dim:
        """Return the bytes that the elements take."""
        return self.size * self.dtype.size

    @cached_property
    def is_static(self) -> bool:
        """Say whether all dimensions are numbers."""
        return self.shape is not None and all(isinstance(d, int) for d in self.shape)

    @property
    def static_shape(self) -> tuple[int, ...]:
        """Return the shape where all dimensions are numbers."""
        assert self.is_static, f"{self} has symbolic dimensions"
        return cast("tuple[int, ...]", self.shape)

    @cached_property
    def type(self) -> Attribute:
        """Return the IR type."""
        return _type_of(self)

    def with_shape(self, shape: Sequence[Dim]) -> TensorSpec:
        """Return the same element type with another shape."""
        return TensorSpec(self.dtype, tuple(shape))

    def with_dtype(self, dtype: DType) -> TensorSpec:
        """Return the same shape with another element type."""
        return TensorSpec(dtype, self.shape)

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype}[*]"
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @cached_property
    def _hash(self) -> int:
        return hash((self.dtype.name, self.shape))

    def __hash__(self) -> int:
        return self._hash


def spec(dtype: DType, *shape: Dim) -> TensorSpec:
    """Return a spec from an element type and dimensions."""
    return TensorSpec(dtype, tuple(shape))


def spec_of_array(array: Array) -> TensorSpec:
    """Return the spec of a numpy array."""
    return TensorSpec(of_numpy(array.dtype), array.shape)


@lru_cache(maxsize=65536)
def _type_of(spec: TensorSpec) -> Attribute:
    if spec.shape is None:
        made: Attribute = UnrankedTensorType(cast(Any, spec.dtype.element))
    elif spec.is_static:
        made = TensorType(spec.dtype.element, spec.static_shape)
    else:
        shape = [d if isinstance(d, int) else DYNAMIC_INDEX for d in spec.shape]
        made = TensorType(spec.dtype.element, shape, DimsAttr(spec.shape))
    _SPECS[made] = spec
    _BY_ID[id(made)] = (made, spec)
    return made


_SPECS: dict[Attribute, TensorSpec] = {}
_BY_ID: dict[int, tuple[Attribute, TensorSpec]] = {}


def check_size(spec: TensorSpec) -> None:
    """Raise `TypeError` if the bytes of a tensor cannot be counted in 63 bits."""
    if spec.is_static and math.prod(spec.static_shape) * spec.dtype.size >= MAX_BYTES:
        raise TypeError(f"{spec} has more than {MAX_BYTES} bytes")


def spec_of(type_: Attribute) -> TensorSpec:
    """Return the spec of an IR tensor type, or raise `TypeError`."""
    known = _BY_ID.get(id(type_))
    if known is not None and known[0] is type_:
        return known[1]
    found = _SPECS.get(type_)
    if found is None:
        found = _spec_of(type_)
        _SPECS[type_] = found
    return found


def _spec_of(type_: Attribute) -> TensorSpec:
    if isinstance(type_, UnrankedTensorType):
        return TensorSpec(of_element(type_.element_type), None)
    if not isinstance(type_, TensorType | MemRefType):
        raise TypeError(f"expected a tensor, found {type_}")
    dtype, shape = of_element(type_.element_type), type_.get_shape()
    encoding = type_.encoding if isinstance(type_, TensorType) else type_.memory_space
    if isinstance(encoding, DimsAttr):
        dims = encoding.data
        if len(dims) != len(shape) or any(
            s != (d if isinstance(d, int) else DYNAMIC_INDEX)
            for s, d in zip(shape, dims, strict=True)
        ):
            raise TypeError(f"dimensions {encoding} do not fit the shape {shape}")
        return TensorSpec(dtype, dims)
    if DYNAMIC_INDEX in shape:
        raise TypeError(f"{type_} has a dynamic dimension without a name, expected #gv.dims")
    return TensorSpec(dtype, shape)


@lru_cache(maxsize=16384)
def memref_of(spec: TensorSpec) -> Attribute:
    """Return the IR type of the tensor in memory; symbols stand in the memory space."""
    shape = [d if isinstance(d, int) else DYNAMIC_INDEX for d in spec.dims]
    space = NoneAttr() if spec.is_static else DimsAttr(spec.dims)
    made = MemRefType(cast(Any, spec.dtype.element), shape, NoneAttr(), space)
    _BY_ID[id(made)] = (made, spec)
    return made


__all__ = [
    "Array",
    "Dim",
    "DimExpr",
    "DimsAttr",
    "TensorSpec",
    "memref_of",
    "parse_shape",
    "spec",
    "spec_of",
    "spec_of_array",
]
