"""Into how many parts variables of parameter servers are cut, by classes."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ...values.dtypes import DTypeLike
from ..core.shapes import ShapeLike
from ..core.space import Space
from ..variables import partitioned as _p


class Partitioner:
    """Says into how many parts each axis of a variable is cut: one axis, by its size."""

    def __post_init__(self) -> None:
        """Refuse what is not positive."""
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is not None and value < 1:
                raise ValueError(f"Argument `{field.name}` must be positive. Received: {value}")

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        """Return the parts of each axis."""
        raise NotImplementedError


@dataclass
class FixedShardsPartitioner(Partitioner):
    """So many parts, or as many as there are elements."""

    num_shards: int

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        """Return the parts of each axis."""
        del dtype
        return list(_p.fixed_size_partitioner(self.num_shards, axis)(shape=shape))


@dataclass
class MinSizePartitioner(Partitioner):
    """At most so many parts that have at least so many bytes."""

    min_shard_bytes: int = 256 << 10
    max_shards: int = 1
    bytes_per_string: int = 16

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        """Return the parts of each axis."""
        given = (self.max_shards, axis, self.min_shard_bytes, self.bytes_per_string)
        return list(_p.min_max_variable_partitioner(*given)(shape=shape, dtype=dtype))


@dataclass
class MaxSizePartitioner(Partitioner):
    """Parts that have at most so many bytes."""

    max_shard_bytes: int
    max_shards: int | None = None
    bytes_per_string: int = 16

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        """Return the parts of each axis."""
        given = (self.max_shard_bytes, axis, self.bytes_per_string, self.max_shards)
        return list(_p.variable_axis_size_partitioner(*given)(shape=shape, dtype=dtype))


partitioners = Space(
    "distribute.experimental.partitioners",
    Partitioner=Partitioner,
    FixedShardsPartitioner=FixedShardsPartitioner,
    MinSizePartitioner=MinSizePartitioner,
    MaxSizePartitioner=MaxSizePartitioner,
)
