"""Sparse tensors as texts: three for each, the messages of its places, elements and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ....ir.op import Array
from ....ir.types.dtypes import DType
from ....ir.types.tensor import TensorSpec
from ...formats.examples import parsed_as
from ...formats.messages import TensorProto
from ...formats.tensors import from_bytes, from_message, head, to_bytes
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ...values.texts import TEXT
from ..core.bridge import TfTensor, row_of
from ..core.element_types import as_dtype
from ..core.host_ops import host, of_elements, unknown
from ..core.values import InGraph, convert, graph_of
from .row_loops import order_of
from .sparse_tensor import SparseTensor, sparse_of


def _texts(*parts: Array) -> Array:
    """Return the messages of arrays."""
    made = np.empty(len(parts), object)
    made[:] = [to_bytes(part) for part in parts]
    return made


def _refuse_variants(out_type: DTypeLike) -> None:
    if as_dtype(out_type).name != "string":
        raise NotImplementedError(f"sparse tensors as {out_type}: they are written as texts")


def serialize_sparse(
    sp_input: object, out_type: DTypeLike = "string", name: str | None = None
) -> TfTensor:
    """Return a sparse tensor as three texts."""
    _refuse_variants(out_type)
    given = sparse_of(sp_input)
    with InGraph(graph_of(given.components())):
        return host("SerializeSparse", lambda *parts: (_texts(*parts),), given.components(),
                    [unknown(TEXT, 3)], name=name)[0]  # fmt: skip


def _parts_of_rows(indices: Array, values: Array, extents: Array) -> Sequence[Array]:
    if len(extents) < 2:
        raise InvalidArgumentError("Rank of input SparseTensor should be > 1, but saw rank: 1")
    return _slices(indices, values, extents)


def _slices(indices: Array, values: Array, extents: Array) -> Sequence[Array]:
    """Return each slice along the first axis, which may be a single element, as three texts."""
    made = np.empty((int(extents[0]), 3), object)
    order = order_of(indices[:, :1])
    if order is not None:
        indices, values = indices.take(order, axis=0), values.take(order)
    ends = np.searchsorted(indices[:, 0], np.arange(len(made) + 1)).tolist()
    made[:, 0] = _parts(np.ascontiguousarray(indices[:, 1:]), ends)
    made[:, 1] = _parts(values, ends)
    made[:, 2] = to_bytes(extents[1:])
    return (made,)


def _parts(array: Array, ends: Sequence[int]) -> list[bytes]:
    """Return the messages of the parts between some ends, of which all have heads of their own."""
    width = array[:1].nbytes
    if array.dtype == object or not width:
        return [to_bytes(array[a:b]) for a, b in pairwise(ends)]
    every, inner = array.tobytes(), array.shape[1:]
    return [
        head(array.dtype, (b - a, *inner)) + every[a * width : b * width] for a, b in pairwise(ends)
    ]


def serialize_many_sparse(
    sp_input: object, out_type: DTypeLike = "string", name: str | None = None
) -> TfTensor:
    """Return each slice along the first axis of a sparse tensor as three texts."""
    _refuse_variants(out_type)
    given = sparse_of(sp_input)

    def specs(_: object) -> Sequence[TensorSpec]:
        count = given.shape.as_list()[0] if given.shape.rank else None
        return [unknown(TEXT, count, 3)]

    parts = given.components()
    with InGraph(graph_of(parts)):
        return host("SerializeManySparse", _parts_of_rows, parts, specs, name=name)[0]


def queued(sparse: SparseTensor, *, many: bool) -> TfTensor:
    """Return what lies in a queue for a sparse tensor, or for each slice along its first axis."""
    compute = _slices if many else lambda *parts: (_texts(*parts),)
    shape = (None, 3) if many else (3,)
    return host("QueuedSparse", compute, sparse.components(), [unknown(TEXT, *shape)])[0]


def _name(values: Array) -> str:
    """Return the name of an array's element type; texts are objects."""
    return "string" if values.dtype == object else str(values.dtype)


def _read(texts: Array, row: DType, number: int) -> list[Array]:
    """Return places, elements and sizes of three texts, which have to fit together."""
    fault = "Could not parse serialized proto"
    made = []
    for text in texts.tolist():
        found = from_bytes(text)
        made.append(from_message(parsed_as(TensorProto, text, fault)) if found is None else found)
    indices, values, extents = made
    if indices.dtype != np.int64 or extents.dtype != np.int64:
        raise InvalidArgumentError("places and sizes of a sparse tensor have to be of int64")
    if values.dtype != row.numpy:
        raise InvalidArgumentError(
            f"Requested SparseTensor of type {as_dtype(row).name} but "
            f"SparseTensor[{number}].values.dtype() == {_name(values)}"
        )
    if indices.ndim != 2 or values.ndim != 1 or extents.ndim != 1:
        raise InvalidArgumentError("places must be a matrix, elements and sizes vectors")
    if len(indices) != len(values) or indices.shape[1] != len(extents):
        raise InvalidArgumentError(
            f"places of shape {indices.shape} for {len(values)} elements of {len(extents)} axes"
        )
    return made


def deserialize_many_sparse(
    serialized_sparse: object,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Return the sparse tensor whose slices along a new first axis are written as texts [n, 3].

    `rank` is that of the result, if it is known.
    """
    row = row_of(dtype)
    assert row is not None, "a type was given"

    def compute(texts: Array) -> Sequence[Array]:
        if texts.ndim != 2 or texts.shape[1] != 3:
            raise InvalidArgumentError(
                f"Serialized sparse should have 3 as the last dimension but saw {texts.shape}"
            )
        parts = [_read(each, row, number) for number, each in enumerate(texts)]
        count = len(parts[0][2]) if parts else 0
        for number, (_, _, sizes) in enumerate(parts):
            if len(sizes) != count:
                raise InvalidArgumentError(
                    "Inconsistent shape across SparseTensors: rank prior to "
                    f"SparseTensor[{number}] was: {count} but rank of SparseTensor[{number}] is: "
                    f"{len(sizes)}"
                )
        lengths = [len(places) for places, _, _ in parts]
        indices = np.empty((sum(lengths), count + 1), np.int64)
        if parts:
            indices[:, 0] = np.repeat(np.arange(len(parts)), lengths)
            np.concatenate([places for places, _, _ in parts], out=indices[:, 1:])
        extents = np.max([e for _, _, e in parts], axis=0) if parts else np.zeros(0, np.int64)
        values = [v for _, v, _ in parts]
        return (
            indices,
            np.concatenate(values) if parts else np.zeros(0, row.numpy),
            np.array([len(parts), *extents], np.int64),
        )

    with InGraph(graph_of([serialized_sparse])):
        specs = of_elements(row, rank)
        given = [convert(serialized_sparse, "string")]
        return SparseTensor(*host("DeserializeManySparse", compute, given, specs, name=name))


def first_serialize_sparse(
    sp_input: object, name: str | None = None, out_type: DTypeLike = "string"
) -> TfTensor:
    """Return a sparse tensor as three texts, by the first version's order of arguments."""
    return serialize_sparse(sp_input, out_type, name)


def first_serialize_many_sparse(
    sp_input: object, name: str | None = None, out_type: DTypeLike = "string"
) -> TfTensor:
    """Return each slice as three texts, by the first version's order of arguments."""
    return serialize_many_sparse(sp_input, out_type, name)


SECOND: dict[str, object] = {
    "deserialize_many_sparse": deserialize_many_sparse,
    "serialize_many_sparse": serialize_many_sparse,
    "serialize_sparse": serialize_sparse,
}
"""What `tf.io` has of it."""
FIRST: dict[str, object] = {
    "deserialize_many_sparse": deserialize_many_sparse,
    "serialize_many_sparse": first_serialize_many_sparse,
    "serialize_sparse": first_serialize_sparse,
}
"""By the first version's order of arguments: at its top, and in `compat.v1.io`."""
