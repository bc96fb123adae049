"""The namespace `tf.sparse`, and the names of the first version."""

from __future__ import annotations

from ..core.space import Space
from . import crossing as _c
from . import sparse_dense as _d
from . import sparse_first as _f
from . import sparse_functions as _o
from . import sparse_math as _m
from . import sparse_places as _p
from .serialised import FIRST as _TEXTS
from .sets import FIRST_SETS, edit_distance, sets
from .sparse_tensor import SparseTensor, SparseTensorSpec, SparseTensorValue

sparse = Space(
    "sparse",
    SparseTensor=SparseTensor,
    cross=_c.cross,
    cross_hashed=_c.cross_hashed,
    **{n: getattr(_d, n) for n in ("eye", "from_dense", "sparse_dense_matmul", "to_dense")},
    **{
        n: getattr(_p, n)
        for n in (
            *("concat", "expand_dims", "fill_empty_rows", "reorder", "reset_shape", "reshape"),
            *("retain", "split", "transpose"),
        )
    },
    slice=_p.slice_,
    **{
        n: getattr(_m, n)
        for n in (
            *("add", "map_values", "maximum", "minimum", "reduce_max", "reduce_sum", "softmax"),
            "to_indicator",
        )
    },
    **{
        n: getattr(_o, n)
        for n in ("bincount", "mask", "segment_mean", "segment_sqrt_n", "segment_sum")
    },
)
first_sets = Space("compat.v1.sets", **vars(sets), **FIRST_SETS)
_OTHER = ("add", "concat", "merge", "placeholder", "split")
_SUMS = ("reduce_max", "reduce_max_sparse", "reduce_sum", "reduce_sum_sparse")
_SEGMENTS = ("segment_mean", "segment_sqrt_n", "segment_sum")
first_sparse = Space(
    "compat.v1.sparse",
    **{
        **vars(sparse),
        **{name: _f.NAMES[f"sparse_{name}"] for name in (*_OTHER, *_SUMS, *_SEGMENTS)},
        "matmul": _d.sparse_dense_matmul,
    },
)
V1: dict[str, object] = {
    "SparseTensorValue": SparseTensorValue,
    "edit_distance": edit_distance,
    "sets": first_sets,
    "sparse": first_sparse,
    **_f.NAMES,
    **_TEXTS,
}

__all__ = ["V1", "SparseTensor", "SparseTensorSpec", "edit_distance", "sets", "sparse"]
