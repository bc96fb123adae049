"""Host steps on sequences and optionals. A position may be negative: it counts from the end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np

from ...families import INTEGER, expect
from ...host import HostOp, sized
from ...op import Array, register
from ...types.dims import Dim
from ...types.dtypes import DType, bool_, i64
from ...types.tensor import TensorSpec
from ...types.values import ANY, OptionalSpec, SequenceSpec, Spec, held, join
from ..layout import check_axis


def expect_sequence(spec: Spec) -> SequenceSpec:
    """Return the spec of a sequence, or raise `TypeError`."""
    if not isinstance(spec, SequenceSpec):
        raise TypeError(f"{spec}, expected a sequence")
    return spec


def place_in(place: Array | None, count: int, *, behind: bool = False) -> int:
    """Return a position counted from the front, or raise `LookupError`; None is the end."""
    if place is None:
        return count if behind else count - 1
    index = int(place.item())
    found = index + count if index < 0 else index
    if not 0 <= found < count + behind:
        raise LookupError(f"position {index} of a sequence of {count}")
    return found


@register
class SequenceOf(HostOp):
    """A sequence of values of one kind."""

    name = "gv.sequence"
    MOVES: ClassVar = True

    @classmethod
    def infer(cls, *xs: Spec) -> Sequence[Any]:
        """Return what all values have in common."""
        if not xs:
            raise TypeError("no values, expected at least one")
        element = held(xs[0])
        for other in xs[1:]:
            element = join(element, held(other))
        return (SequenceSpec(element),)

    @classmethod
    def evaluate(cls, *xs: Any) -> Sequence[Any]:
        """Make a list."""
        return (list(xs),)


@register
class EmptySequence(HostOp):
    """A sequence without values."""

    name = "gv.empty_sequence"

    @classmethod
    def infer(cls, *, dtype: DType) -> Sequence[Any]:
        """Return a sequence of tensors of any shape."""
        return (SequenceSpec(TensorSpec(dtype, None), empty=True),)

    @classmethod
    def evaluate(cls, *, dtype: DType) -> Sequence[Any]:
        """Make a list."""
        return ([],)


@register
class SequenceInsert(HostOp):
    """The sequence with one more value, at a position or at the end."""

    name = "gv.sequence_insert"
    MOVES: ClassVar = True

    @classmethod
    def infer(cls, xs: Spec, x: Spec, *place: TensorSpec) -> Sequence[Any]:
        """Return what all values have in common."""
        check_place(place)
        return (join(expect_sequence(xs), SequenceSpec(held(x))),)

    @classmethod
    def evaluate(cls, xs: list[Any], x: Any, *place: Array) -> Sequence[Any]:
        """Make another list."""
        at = place_in(place[0] if place else None, len(xs), behind=True)
        return ([*xs[:at], x, *xs[at:]],)


@register
class SequenceErase(HostOp):
    """The sequence without one value, by default the last."""

    name = "gv.sequence_erase"

    @classmethod
    def infer(cls, xs: Spec, *place: TensorSpec) -> Sequence[Any]:
        """Return the same kind."""
        check_place(place)
        return (expect_sequence(xs),)

    @classmethod
    def evaluate(cls, xs: list[Any], *place: Array) -> Sequence[Any]:
        """Make another list."""
        if not xs:
            raise LookupError("the sequence is empty, expected a value to erase")
        at = place_in(place[0] if place else None, len(xs))
        return ([*xs[:at], *xs[at + 1 :]],)


@register
class SequenceAt(HostOp):
    """One value of a sequence."""

    name = "gv.sequence_at"
    MOVES: ClassVar = True

    @classmethod
    def infer(cls, xs: Spec, place: TensorSpec, *, sizes: tuple[Dim, ...]) -> Sequence[Any]:
        """Return the element with its open dimensions named."""
        check_place((place,))
        return (sized(expect_sequence(xs).element, sizes),)

    @classmethod
    def evaluate(cls, xs: list[Any], place: Array, *, sizes: Any = ()) -> Sequence[Any]:
        """Return it."""
        return (xs[place_in(place, len(xs))],)


@register
class SequenceLength(HostOp):
    """The number of values in a sequence."""

    name = "gv.sequence_length"

    @classmethod
    def infer(cls, xs: Spec) -> Sequence[Any]:
        """Return a number."""
        expect_sequence(xs)
        return (TensorSpec(i64, ()),)

    @classmethod
    def evaluate(cls, xs: list[Any]) -> Sequence[Any]:
        """Count."""
        return (np.array(len(xs), np.int64),)


@register
class SequenceConcat(HostOp):
    """The tensors of a sequence joined along an axis, or along a new one."""

    name = "gv.sequence_concat"

    @classmethod
    def infer(
        cls, xs: Spec, *, axis: int, sizes: tuple[Dim, ...], new: bool = False
    ) -> Sequence[Any]:
        """Return the element with the axis open, or with one more open axis."""
        element = expect_sequence(xs).element
        if not isinstance(element, TensorSpec):
            raise TypeError(f"a sequence of {element}, expected one of tensors")
        shape = list(element.dims)
        check_axis(axis, len(shape) + new)
        shape[axis : axis + (not new)] = [ANY]
        return (sized(element.with_shape(shape), sizes),)

    @classmethod
    def evaluate(
        cls, xs: list[Any], *, axis: int, sizes: Any = (), new: bool = False
    ) -> Sequence[Any]:
        """Join."""
        if not xs:
            raise ValueError("the sequence is empty, expected a tensor")
        return (np.stack(xs, axis) if new else np.concatenate(xs, axis),)


@register
class SplitToSequence(HostOp):
    """A tensor cut along an axis: into parts of one size, or of the sizes in a vector.

    Without `keep` the parts, which are slices of one, lose the axis.
    """

    name = "gv.split_to_sequence"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls, x: TensorSpec, *parts: TensorSpec, axis: int, keep: bool = True
    ) -> Sequence[Any]:
        """Return a sequence in which the axis is open."""
        check_axis(axis, x.rank)
        shape = list(x.dims)
        shape[axis : axis + 1] = [] if not (keep or parts) else [ANY] if parts else [1]
        return (SequenceSpec(held(x.with_shape(shape))),)

    @classmethod
    def evaluate(cls, x: Array, *parts: Array, axis: int, keep: bool = True) -> Sequence[Any]:
        """Cut."""
        extent = x.shape[axis]
        if not parts or not parts[0].ndim:
            size = int(parts[0]) if parts else 1
            if size < 1:
                raise ValueError(f"parts of {size} elements, expected 1 or more")
            ends = [*range(size, extent, size), *([extent] if extent else [])]
        else:
            sizes = parts[0].tolist()
            if min(sizes, default=0) < 0 or sum(sizes) != extent:
                raise ValueError(f"parts of {sizes}, expected {extent} in all")
            ends = list(accumulate(sizes))
        before = (slice(None),) * axis
        made = [np.array(x[*before, i:j]) for i, j in pairwise([0, *ends])]
        return ([p if keep or parts else np.squeeze(p, axis) for p in made],)


@register
class Nothing(HostOp):
    """An optional without a value."""

    name = "gv.none"

    @classmethod
    def infer(cls, *, dtype: DType, sequence: bool = False) -> Sequence[Any]:
        """Return an optional tensor, or an optional sequence of tensors, of any shape."""
        tensor = TensorSpec(dtype, None)
        return (OptionalSpec(SequenceSpec(tensor, empty=True) if sequence else tensor),)

    @classmethod
    def evaluate(cls, *, dtype: DType, sequence: bool = False) -> Sequence[Any]:
        """Return None."""
        return (None,)


@register
class HasElement(HostOp):
    """Whether an optional has a value."""

    name = "gv.has_element"

    @classmethod
    def infer(cls, x: Spec) -> Sequence[Any]:
        """Return a flag."""
        return (TensorSpec(bool_, ()),)

    @classmethod
    def evaluate(cls, x: Any) -> Sequence[Any]:
        """Look."""
        return (np.array(x is not None),)


@register
class GetElement(HostOp):
    """The value of an optional that has one."""

    name = "gv.get_element"

    @classmethod
    def infer(cls, x: Spec, *, sizes: tuple[Dim, ...]) -> Sequence[Any]:
        """Return the element with its open dimensions named."""
        return (sized(x.element if isinstance(x, OptionalSpec) else x, sizes),)

    @classmethod
    def evaluate(cls, x: Any, *, sizes: Any = ()) -> Sequence[Any]:
        """Return it, or raise `ValueError`."""
        if x is None:
            raise ValueError("the optional has no element")
        return (x,)


@register
class Same(HostOp):
    """A value of any kind as it is."""

    name = "gv.same"

    @classmethod
    def infer(cls, x: Spec) -> Sequence[Any]:
        """Return the same kind."""
        return (x,)

    @classmethod
    def evaluate(cls, x: Any) -> Sequence[Any]:
        """Return it."""
        return (x,)


def check_place(place: Sequence[Any]) -> None:
    """Raise `TypeError` unless a position is one integer, or left out."""
    if len(place) > 1:
        raise TypeError(f"{len(place)} positions, expected 1")
    for spec in place:
        expect(spec, INTEGER)
        if spec.dims not in ((), (1,)):
            raise TypeError(f"position {spec}, expected one integer")
