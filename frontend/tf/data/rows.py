"""Datasets in rows as one part of an element: lists of datasets, and batches of them."""

from __future__ import annotations

from ...data.batches import StageRows
from ...data.stages import part
from ..core.bridge import TfTensor
from ..core.host_ops import host
from ..core.structures import Part, PartSpec, joined_spec
from .handles import HANDLE


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


__all__ = ["DatasetRows", "in_rows"]
