"""`TensorSpec`: what a function is traced by in place of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.types.tensor import TensorSpec as Traced
from ...graph.graph import GraphTensor
from ...values.dtypes import DTypeLike
from ...values.nest import TensorGroup
from .bridge import Common, row_of
from .element_types import as_dtype
from .shapes import ShapeLike, TensorShape
from .values import convert, shape_spec


class TypeSpec:
    """What a value is like: one tensor, or several."""

    def as_invariant(self, shape: ShapeLike) -> TypeSpec:
        """Return what a loop carries where a shape is stated for it, or raise `TypeError`."""
        raise TypeError(f"a loop carries {self!r}, of which no shape {shape} can be stated")


class Specified:
    """A value of several tensors that says what it is like."""

    def type_spec(self) -> TypeSpec:
        """Return what it is like."""
        raise NotImplementedError


class TensorSpec(TypeSpec):
    """Element type, shape and name of an argument."""

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike = "float32", name: str | None = None
    ) -> None:
        self.shape, self.name = TensorShape(shape), name
        self._row = row_of(dtype)
        self.dtype = as_dtype(dtype)
        self.argument_name = name
        self._spec = shape_spec(dtype, shape)

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """Return a spec like another one, with another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Common, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor; in a graph its name is that of its operation."""
        own = tensor.op.name if isinstance(tensor, GraphTensor) else None
        return cls(tensor.shape, tensor.dtype, name or own)

    def traced_spec(self) -> Traced:
        """Return what a function is traced by."""
        return self._spec

    def is_subtype_of(self, other: TensorSpec) -> bool:
        """Say whether all values that can be given for this can be given for the other one."""
        named = self.name is None or self.name == other.name
        alike = named and self.dtype == other.dtype
        return bool(alike and self.shape.is_subtype_of(other.shape))

    def most_specific_common_supertype(self, others: Sequence[TensorSpec]) -> TensorSpec | None:
        """Return the spec of all that this and others describe, None if types differ."""
        found = self
        for other in others:
            if (other.dtype, other.name) != (self.dtype, self.name):
                return None
            shape = found.shape.most_specific_compatible_shape(other.shape)
            found = TensorSpec(shape, self.dtype, self.name)
        return found

    def most_specific_compatible_type(self, other: TensorSpec) -> TensorSpec:
        """Return the spec of what both describe."""
        if self.dtype != other.dtype:
            raise ValueError(f"no spec describes {self} and {other}: their types differ")
        return TensorSpec(self.shape.most_specific_compatible_shape(other.shape), self.dtype)

    def is_compatible_with(self, spec_or_tensor: Common | TensorSpec) -> bool:
        """Say whether a value can be given for this."""
        alike = spec_or_tensor.dtype == self.dtype
        return bool(alike and self.shape.is_compatible_with(spec_or_tensor.shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self.shape, self.dtype, self.name) == (
            other.shape,
            other.dtype,
            other.name,
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class VariableSpec(TypeSpec):
    """What variables have in common that a function is traced once for."""

    def __init__(
        self,
        shape: ShapeLike,
        dtype: DTypeLike = "float32",
        trainable: bool = True,
        alias_id: int | None = None,
    ) -> None:
        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)
        self.trainable, self.alias_id = trainable, alias_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariableSpec) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.trainable, self.alias_id))

    def __repr__(self) -> str:
        return (
            f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, trainable={self.trainable}, "
            f"alias_id={self.alias_id})"
        )


def type_spec_from_value(value: object) -> TypeSpec | TensorGroup:
    """Return the spec of a value that is a tensor, becomes one, or is made of several."""
    if isinstance(value, Specified):
        return value.type_spec()
    if isinstance(value, TensorGroup):
        return value.described()
    found = convert(value)
    return TensorSpec(found.shape, found.dtype)
