"""Datasets as parts of elements: what they are like, and lists and batches of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from ...data.batches import StageRows
from ...data.sources import Literal
from ...data.stages import Given, Stage, part
from ...values import nest
from ..core.bridge import TfTensor
from ..core.host_ops import host
from ..core.nested import flatten
from ..core.shapes import ShapeLike, TensorShape
from ..core.specs import TensorSpec, TypeSpec
from ..core.structures import Part, PartSpec, Pipeline, alike, is_below, joined_spec
from .handles import HANDLE


class DatasetSpec(TypeSpec, nest.TensorGroup, PartSpec):
    """What a dataset is like that is a part of an element."""

    def __init__(self, element_spec: object, dataset_shape: ShapeLike = ()) -> None:
        self.element_spec, self.shape = element_spec, TensorShape(dataset_shape)

    value_type: ClassVar[type[Pipeline]] = Pipeline

    def components(self) -> list[TensorSpec]:
        """Return the spec of the tensor that stands for it."""
        return [TensorSpec((), "string")]

    def with_components(self, parts: Sequence[object]) -> object:
        """Return the dataset of a tensor; of anything else, the description."""
        (tensor,) = parts
        return self.part_of(tensor) if isinstance(tensor, TfTensor) else self

    def described(self) -> DatasetSpec:
        """Return the description: it is one."""
        return self

    def form(self) -> Hashable:
        """Return the description: there is nothing else."""
        return self

    def takes(self, other: nest.TensorGroup) -> bool:
        """Say whether datasets that another spec describes can stand for those of this one."""
        return isinstance(other, DatasetSpec) and other.is_subtype_of(self)

    def part_of(self, tensor: TfTensor) -> Part:
        """Return the dataset that a tensor stands for, or those in rows."""
        if self.shape.rank:
            return DatasetRows(tensor, self)
        return self.dataset_of(tensor)

    def dataset_of(self, tensor: TfTensor) -> Pipeline:
        """Return the dataset that a tensor stands for."""
        return self.value_type(Stage(Literal, (), {"of": Given(tensor)}), self.element_spec)

    def stacked(self, extent: int | None) -> DatasetSpec:
        """Return what several of them are like in a batch."""
        dims = self.shape._dims
        return DatasetSpec(self.element_spec, None if dims is None else (extent, *dims))

    def is_subtype_of(self, other: object) -> bool:
        """Say whether all datasets that this describes are described by the other one."""
        if not isinstance(other, DatasetSpec) or not self.shape.is_subtype_of(other.shape):
            return False
        mine, theirs = flatten(self.element_spec), flatten(other.element_spec)
        return alike(self.element_spec, other.element_spec) and all(map(is_below, mine, theirs))

    def most_specific_common_supertype(self, others: Sequence[object]) -> DatasetSpec | None:
        """Return the spec of all that this and others describe, None if there is none."""
        found = self
        for other in others:
            if not isinstance(other, DatasetSpec):
                return None
            shape = found.shape.most_specific_compatible_shape(other.shape)
            try:
                spec = joined_spec(found.element_spec, other.element_spec)
            except TypeError:
                return None
            found = DatasetSpec(spec, shape)
        return found

    def unstacked(self) -> DatasetSpec:
        """Return what one row of them is like."""
        dims = self.shape._dims
        if dims == ():
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(self.element_spec, None if dims is None else dims[1:])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DatasetSpec) or self.element_spec != other.element_spec:
            return False
        return bool(self.shape == other.shape)

    def __hash__(self) -> int:
        return hash(str(self.element_spec))

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, {self.shape!r})"


class DatasetRows(Part):
    """Datasets in rows, whose elements are alike; a dataset of its rows gives each of them."""

    def __init__(self, tensor: TfTensor, spec: PartSpec) -> None:
        self._tensor, self._spec = tensor, spec

    @property
    def part_spec(self) -> PartSpec:
        """Return what they are like."""
        return self._spec

    def part_tensor(self) -> TfTensor:
        """Return the tensor that stands for them."""
        return self._tensor

    rows = part_tensor
    """Says that there are rows."""


def in_rows(tree: list[object]) -> DatasetRows:
    """Return what stands for a list of datasets, or of lists of as many of them."""
    parts = [in_rows(each) if isinstance(each, list) else each for each in tree]
    inner = [each for each in parts if isinstance(each, Part)]
    spec = inner[0].part_spec
    for each in inner[1:]:
        found = joined_spec(spec, each.part_spec)
        assert isinstance(found, PartSpec), "both are"
        spec = found
    tensors = [each.part_tensor() for each in inner]
    made = host("Pack", lambda *stages: (part(StageRows([x.item() for x in stages])),), tensors,
                [HANDLE])[0]  # fmt: skip
    return DatasetRows(made, spec.stacked(len(inner)))


__all__ = ["DatasetRows", "DatasetSpec", "in_rows"]
