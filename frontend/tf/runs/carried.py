"""What a loop of a graph carries where its variables are composites: their tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...values import nest
from ..core.shapes import ShapeLike, TensorShape
from ..core.specs import Specified, TensorSpec, TypeSpec

Stated = TensorShape | TypeSpec | None
"""What may be said of a variable: its shape, what it is like, or nothing."""


class Apart:
    """The variables of a loop, some of them composite, and what is said of them in all turns.

    What is stated are shapes and descriptions, one for each variable; without, each composite
    goes on being like it is at the beginning.
    """

    def __init__(self, tree: Sequence[object], stated: Sequence[Stated] | None) -> None:
        self.tree = list(tree)
        self.leaves = nest.wholes(self.tree)
        self.is_stated = stated is not None
        given = [None] * len(self.leaves) if stated is None else stated
        self.specs = [_described(*pair) for pair in zip(self.leaves, given, strict=True)]

    def tensors(self, values: object) -> list[object]:
        """Return values with a list of tensors for each composite."""
        leaves = nest.wholes(values)
        return [list(x.components()) if isinstance(x, nest.Parted) else x for x in leaves]

    def whole(self, values: Iterable[object]) -> list[object]:
        """Return the values with composites where lists of tensors stand for them."""
        made = []
        for x, spec, value in zip(self.leaves, self.specs, values, strict=True):
            like = spec if isinstance(spec, nest.TensorGroup) else x
            if isinstance(like, nest.Parted) and isinstance(value, list | tuple):
                made.append(like.with_components(value))
            else:
                made.append(value)
        return nest.pack_wholes(self.tree, made)

    def shapes(self, own: Callable[[object], ShapeLike]) -> list[object]:
        """Return the shapes of all tensors in all turns, given what says a variable's own."""
        made: list[object] = []
        for x, spec in zip(self.leaves, self.specs, strict=True):
            if isinstance(x, nest.Parted):
                parts = (spec if isinstance(spec, nest.Parted) else x).components()
                made.append([TensorShape(getattr(each, "shape", None)) for each in parts])
            elif isinstance(spec, TensorSpec):
                made.append(spec.shape)
            else:
                made.append(spec if self.is_stated else TensorShape(own(x)))
        return made


def _described(value: object, stated: Stated) -> Stated:
    """Return the description of a composite, or the shape that is stated for a tensor."""
    if not isinstance(value, nest.Parted) or isinstance(stated, TypeSpec):
        return stated
    spec = value.type_spec() if isinstance(value, Specified) else None
    return spec if stated is None or spec is None else spec.as_invariant(stated)
