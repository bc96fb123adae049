"""Values that are no tensors of numbers: sequences, optionals, and tensors of texts.

    !gv.sequence<tensor<?x3xf32, #gv.dims<"any, 3">>>     tensors of any number of rows
    !gv.sequence<tensor<*xf32>, empty>                    nothing is in it yet
    !gv.optional<tensor<4xf32>>                           a tensor, or nothing
    tensor<2x!gv.string>                                  texts

Only host steps compute with them (`host.py`). At run time a sequence is a list, nothing is
`None`, and a tensor of texts is an array of objects. Inside of a sequence or an optional a
dimension may be `any`: each tensor has its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, overload

from xdsl.dialects.builtin import MemRefType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from . import dims
from .dims import Dim
from .tensor import TensorSpec, spec_of

ANY = dims.symbol("any")
"""A dimension that each tensor in a sequence or an optional has for itself."""


@dataclass(frozen=True)
class SequenceSpec:
    """Any number of values of one kind."""

    element: Spec
    empty: bool = False
    """Whether nothing is in it yet, so that the element's shape says nothing."""

    @property
    def type(self) -> Attribute:
        """Return the IR type."""
        return SequenceType(self)

    def __str__(self) -> str:
        return f"sequence({self.element})"


@dataclass(frozen=True)
class OptionalSpec:
    """A value, or nothing."""

    element: Spec

    @property
    def type(self) -> Attribute:
        """Return the IR type."""
        return OptionalType(self)

    def __str__(self) -> str:
        return f"optional({self.element})"


Spec: TypeAlias = TensorSpec | SequenceSpec | OptionalSpec


@irdl_attr_definition
class SequenceType(Data[SequenceSpec], TypeAttribute):
    """The type of a sequence: `!gv.sequence<tensor<4xf32>>`."""

    name = "gv.sequence"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SequenceSpec:
        """Read `<element>` or `<element, empty>`."""
        with parser.in_angle_brackets():
            element = value_spec(parser.parse_type())
            empty = parser.parse_optional_punctuation(",") is not None
            if empty:
                parser.parse_keyword("empty")
            return SequenceSpec(element, empty)

    def print_parameter(self, printer: Printer) -> None:
        """Write the same."""
        with printer.in_angle_brackets():
            printer.print_attribute(self.data.element.type)
            printer.print_string(", empty" if self.data.empty else "")


@irdl_attr_definition
class OptionalType(Data[OptionalSpec], TypeAttribute):
    """The type of what may be there or not: `!gv.optional<tensor<4xf32>>`."""

    name = "gv.optional"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> OptionalSpec:
        """Read `<element>`."""
        with parser.in_angle_brackets():
            return OptionalSpec(value_spec(parser.parse_type()))

    def print_parameter(self, printer: Printer) -> None:
        """Write the same."""
        with printer.in_angle_brackets():
            printer.print_attribute(self.data.element.type)


_KINDS = frozenset((SequenceType, OptionalType))


def value_spec(type_: Attribute) -> Spec:
    """Return the spec of the type of any value, or raise `TypeError`."""
    if type(type_) in _KINDS:
        return type_.data  # type: ignore[attr-defined,no-any-return]
    return spec_of(type_)


def is_compilable(type_: Attribute) -> bool:
    """Say whether a value of this type may stand in compiled code: a tensor of real numbers."""
    if not isinstance(type_, TensorType | MemRefType | UnrankedTensorType):
        return not isinstance(type_, SequenceType | OptionalType)
    found = spec_of(type_)
    return found.shape is not None and not found.dtype.is_text and found.dtype.kind != "c"


def is_complex(type_: Attribute) -> bool:
    """Say whether a value of this type is a tensor of complex numbers, of known rank."""
    if not isinstance(type_, TensorType | MemRefType):
        return False
    return spec_of(type_).dtype.kind == "c"


@overload
def held(spec: TensorSpec) -> TensorSpec: ...
@overload
def held(spec: Spec) -> Spec: ...
def held(spec: Spec) -> Spec:
    """Return a spec as it stands inside of a sequence: without names of dimensions."""
    if isinstance(spec, SequenceSpec):
        return SequenceSpec(held(spec.element), spec.empty)
    if isinstance(spec, OptionalSpec):
        return OptionalSpec(held(spec.element))
    if spec.shape is None:
        return spec
    return spec.with_shape([dim if isinstance(dim, int) else ANY for dim in spec.shape])


def of_any_size(spec: Spec) -> Spec:
    """Return a spec whose dimensions may be of any size."""
    if isinstance(spec, SequenceSpec):
        return SequenceSpec(of_any_size(spec.element), spec.empty)
    if isinstance(spec, OptionalSpec):
        return OptionalSpec(of_any_size(spec.element))
    return spec if spec.shape is None else spec.with_shape([ANY] * len(spec.shape))


def join(a: Spec, b: Spec) -> Spec:
    """Return the narrowest spec that values of both have, or raise `TypeError`.

    >>> from .dtypes import f32
    >>> print(join(TensorSpec(f32, (2, 3)), TensorSpec(f32, (4, 3))))
    f32[any,3]
    >>> print(join(TensorSpec(f32, (2,)), OptionalSpec(TensorSpec(f32, (2,)))))
    optional(f32[2])
    """
    if isinstance(a, OptionalSpec) or isinstance(b, OptionalSpec):
        first, second = (x.element if isinstance(x, OptionalSpec) else x for x in (a, b))
        return OptionalSpec(join(held(first), held(second)))
    if isinstance(a, SequenceSpec) and isinstance(b, SequenceSpec):
        if a.empty or b.empty:
            return SequenceSpec(b.element if a.empty else a.element, a.empty and b.empty)
        return SequenceSpec(join(a.element, b.element))
    if isinstance(a, SequenceSpec) or isinstance(b, SequenceSpec) or a.dtype != b.dtype:
        raise TypeError(f"{a} and {b} have no kind in common")
    return _joined(a, b)


def _joined(a: TensorSpec, b: TensorSpec) -> TensorSpec:
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        return TensorSpec(a.dtype, None)
    pairs = zip(a.shape, b.shape, strict=True)
    shape: list[Dim] = [x if x == y else ANY for x, y in pairs]
    return a.with_shape(shape)


def fits(given: Spec, wanted: Spec) -> bool:
    """Say whether a value of one spec may stand where another is declared.

    Names of dimensions are not compared: they are bound where the value comes to stand.
    """
    try:
        return held(join(held(given), held(wanted))) == held(wanted)
    except TypeError:
        return False


__all__ = [
    "ANY",
    "OptionalSpec",
    "OptionalType",
    "SequenceSpec",
    "SequenceType",
    "Spec",
    "fits",
    "held",
    "is_compilable",
    "join",
    "of_any_size",
    "value_spec",
]
