"""The namespace `tf.ragged`, and the names of the first version."""

from __future__ import annotations

from ..core.space import Space
from . import crossing as _c
from . import elementwise as _e
from . import embeddings as _b  # noqa: F401
from . import gathering as _g  # noqa: F401  (lets functions of tensors take ragged ones)
from . import lists as _l
from . import making as _m
from . import moving as _v
from . import products as _p  # noqa: F401
from . import reducing as _r  # noqa: F401
from . import resizing as _z  # noqa: F401
from . import slicing as _s  # noqa: F401
from . import splitting as _t  # noqa: F401
from .partition import RowPartition
from .shapes import DynamicRaggedShape
from .tensor import RaggedTensor, RaggedTensorSpec, RaggedTensorValue

BOTH: dict[str, object] = {
    "cross": _c.cross,
    "cross_hashed": _c.cross_hashed,
    "boolean_mask": _v.boolean_mask,
    "map_flat_values": _e.map_flat_values,
    "constant": _l.constant,
    "range": _m.range_,
    "stack": _v.stack,
    **{
        n: getattr(_m, n)
        for n in (
            *("row_splits_to_segment_ids", "segment_ids_to_row_splits"),
            "stack_dynamic_partitions",
        )
    },
}
ragged = Space("ragged", **BOTH)
first_ragged = Space(
    "compat.v1.ragged",
    **BOTH,
    constant_value=_l.constant_value,
    placeholder=_m.placeholder,
    RaggedTensorValue=RaggedTensorValue,
)
experimental: dict[str, object] = {
    "DynamicRaggedShape": DynamicRaggedShape,
    "RowPartition": RowPartition,
}
"""What `tf.experimental` has of it."""

__all__ = ["RaggedTensor", "RaggedTensorSpec", "experimental", "first_ragged", "ragged"]
