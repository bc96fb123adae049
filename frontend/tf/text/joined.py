"""Texts put together: along axes, by segments, into a template; and texts as numbers of buckets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ....codegen.serial.function import Serial
from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ...formats.fingerprints import farms
from ...formats.hashing import hashes
from ...graph.graph import spec_with_unknowns
from ...values.run_errors import InvalidArgumentError, OpError, OutOfRangeError
from ...values.texts import TEXT, Text, made_text
from ..core.bridge import TfTensor
from ..core.host_ops import host, like_input, unknown
from ..core.values import InvalidShapesError, convert, convert_text, graph_of, static
from ..graph.printing import shown
from ..ragged.moving import expand_dims
from ..ragged.planning import assembled, rows_read
from ..ragged.reducing import without_axis
from ..ragged.tensor import Ragged, RaggedTensor, same_graph
from .hashes import murmurs, sips
from .pieces import array, texts_of


def reduce_join(
    inputs: object,
    axis: object = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Ragged:
    """Put the texts along axes together, along all of them if none is named."""
    with same_graph(inputs, axis):
        x = texts_of(inputs, "inputs", "ReduceJoin")
        rank = x.shape.rank
        known = static(axis)
        if rank is None or isinstance(known, TfTensor):
            if isinstance(x, RaggedTensor):
                raise NotImplementedError("axis: rows are joined along axes that are known")
            return _open_join(x, axis, separator.encode(), name, keepdims=keepdims)
        listed = range(rank - 1, -1, -1) if known is None else np.ravel(known).tolist()
        in_graph = graph_of([x.flat_values if isinstance(x, RaggedTensor) else x]) is not None
        axes = _axes(list(listed), rank, InvalidShapesError if in_graph else OutOfRangeError)
        sign = separator.encode()
        if isinstance(x, TfTensor):
            return _dense_join(x, axes, sign, name, keepdims=keepdims)
        found: Ragged = x
        for number in sorted(axes, reverse=True):
            if isinstance(found, RaggedTensor):
                found = _ragged_join(found, number, sign)
            else:
                found = _dense_join(found, [number], sign, name, keepdims=False)
        for number in sorted(axes) if keepdims else ():
            found = expand_dims(found, number)
        return found


def _axes(listed: Sequence[int], rank: int, wrong: type[OpError] = OutOfRangeError) -> list[int]:
    """Return the axes that texts are joined along, counted from the front."""
    axes = [_axis(int(n), rank, wrong) for n in listed]
    again = [axis for i, axis in enumerate(axes) if axis in axes[:i]]
    if again:
        raise InvalidArgumentError(f"Duplicate reduction dimension {again[0]}")
    return axes


def _open_join(
    x: TfTensor, axis: object, sign: bytes, name: str | None, *, keepdims: bool
) -> TfTensor:
    """Put texts together along axes, or of a rank, that only a run knows."""

    def compute(given: Array | Text, *chosen: Array | Text) -> Sequence[object]:
        rank = len(given.shape)
        every = [np.arange(rank)[::-1], *map(np.asarray, chosen)][-1]
        axes = _axes(np.ravel(every).tolist(), rank)
        return (_joined(given, axes, sign, keepdims=keepdims),)

    given = [x] if axis is None else [x, convert(axis)]
    specs = [spec_with_unknowns(TEXT, None)]
    return host("ReduceJoin", compute, given, specs, reads_text=True, name=name)[0]


def _joined(given: Array | Text, axes: Sequence[int], sign: bytes, *, keepdims: bool) -> object:
    """Return texts put together along axes, the first one outermost."""
    dims = given.shape
    others = [i for i in range(len(dims)) if i not in axes]
    order, front = [*others, *reversed(axes)], [dims[i] for i in others]
    count, each = math.prod(front), math.prod([dims[i] for i in axes])
    ends = [1 if i in axes else n for i, n in enumerate(dims)] if keepdims else front
    if isinstance(given, Text) and given.is_long:
        if order == [*range(len(dims))]:
            return Text(given.row.grouped(each, sign), ends)
        places = np.arange(count * each).reshape(dims).transpose(order).ravel()
        return Text(given.row.in_runs(places, np.full(count, each), sign), ends)
    flat = np.transpose(np.asarray(given), order).reshape(count, each)
    return array([sign.join(row) for row in flat.tolist()], TEXT).reshape(ends)


def _axis(axis: int, rank: int, wrong: type[OpError]) -> int:
    if not -rank <= axis < rank:
        raise wrong(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)")
    return axis % rank


def _dense_join(
    x: TfTensor, axes: Sequence[int], sign: bytes, name: str | None, *, keepdims: bool
) -> TfTensor:
    dims = x.shape.as_list()
    kept = [1 if i in axes else n for i, n in enumerate(dims)]
    left = kept if keepdims else [n for i, n in enumerate(dims) if i not in axes]

    def compute(given: Array | Text) -> Sequence[object]:
        return (_joined(given, axes, sign, keepdims=keepdims),)

    specs = [unknown(TEXT, *left)]
    return host("ReduceJoin", compute, [x], specs, reads_text=True, name=name)[0]


def _ragged_join(x: RaggedTensor, axis: int, sign: bytes) -> Ragged:
    """Put texts along one axis of rows together."""
    levels = x.ragged_rank
    if axis > levels:
        inner = _dense_join(x.flat_values, [axis - levels], sign, None, keepdims=False)
        return x.with_flat_values(inner)
    if x.flat_values.shape.rank != 1:
        raise NotImplementedError("texts are joined along axes of rows that hold single texts")

    def compute(texts: Array, *arrays: Array) -> Sequence[Array]:
        rows = rows_read([np.array([len(texts)]), *arrays], levels)
        made, total = without_axis(rows, axis)
        parts: list[list[bytes]] = [[] for _ in range(total)]
        for text, place in zip(texts.tolist(), made.places.tolist(), strict=True):
            parts[place].append(text)
        return [array([sign.join(p) for p in parts], TEXT), *made.splits]

    specs = [unknown(TEXT, None), *[unknown(kinds.i64, None)] * (levels - 1)]
    given = [x.flat_values, *x.nested_row_splits]
    flat, *splits = host("ReduceJoin", compute, given, specs)
    return assembled(flat, splits)


def unsorted_segment_join(
    inputs: object,
    segment_ids: object,
    num_segments: object,
    separator: str = "",
    name: str | None = None,
) -> TfTensor:
    """Put the texts of each segment together."""
    with same_graph(inputs, segment_ids, num_segments):
        texts = convert_text(inputs, "UnsortedSegmentJoin")
        given = [texts, convert(segment_ids), convert(num_segments)]
        sign = separator.encode()

        def compute(given: Array | Text, *numbers: Array | Text) -> Sequence[object]:
            texts = made_text(given)
            ids, count = map(np.asarray, numbers)
            rank = len(texts.shape)
            if ids.ndim > rank:
                raise OutOfRangeError(
                    f"Invalid segment_id rank {ids.ndim} for input with {rank} dimension(s)"
                )
            for axis, (size, wanted) in enumerate(zip(texts.shape, ids.shape, strict=False)):
                if size != wanted:
                    raise InvalidArgumentError(
                        f"Segment dimension is {wanted} while input dimension is {size} in rank "
                        f"{axis}"
                    )
            total = int(count)
            if ids.size and not 0 <= ids.min() <= ids.max() < total:
                raise InvalidArgumentError(f"segment_ids are not in [0, {total})")
            rest = texts.shape[ids.ndim :]
            size = int(np.prod(rest, dtype=np.int64))
            places = (ids.ravel()[:, None].astype(np.int64) * size + np.arange(size)).ravel()
            counts = np.bincount(places, minlength=total * size)
            made = Text(
                texts.row.in_runs(places.argsort(kind="stable"), counts, sign), (total, *rest)
            )
            return (made if isinstance(given, Text) else made.array,)

        number = static(given[2])
        for pair in zip(given[0].shape._dims or (), given[1].shape._dims or (), strict=False):
            if not given[0].eager and None not in pair and pair[0] != pair[1]:
                raise ValueError(f"Dimensions must be equal, but are {pair[0]} and {pair[1]}")
        dims = given[0].shape._dims
        rank = given[1].shape.rank
        rest = None if dims is None or rank is None else dims[rank:]
        first = number if isinstance(number, int) else None
        spec = unknown(TEXT, first, *rest) if rest is not None else unknown(TEXT, first)
        return host("UnsortedSegmentJoin", compute, given, [spec], reads_text=True, name=name)[0]


def format(
    template: str,
    inputs: object,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> TfTensor:
    """Write values into a text where it has placeholders."""
    values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if template.count(placeholder) != len(values):
        raise ValueError(
            f"The template expects {template.count(placeholder)} tensors, but the inputs only has "
            f"{len(values)}. Please ensure the number of placeholders in template matches inputs "
            "length."
        )
    with same_graph(*values):
        tensors = [_rows_text(x) if isinstance(x, RaggedTensor) else convert(x) for x in values]
        plain = [isinstance(x, RaggedTensor) for x in values]

        def compute(*arrays: Array) -> Sequence[Array]:
            parts = template.split(placeholder)
            made = parts[0]
            for x, is_text, part in zip(arrays, plain, parts[1:], strict=True):
                made += (
                    x.item().decode() if is_text else shown(np.asarray(x), summarize, quoted=True)
                )
                made += part
            return (array([made.encode()], TEXT).reshape(()),)

        return host("StringFormat", compute, tensors, [unknown(TEXT)], name=name)[0]


def _rows_text(x: RaggedTensor) -> TfTensor:
    """Return rows as a text."""

    def compute(flat: Array, *splits: Array) -> Sequence[Array]:
        rows: list[object] = [shown(np.asarray(v), 3, quoted=True) for v in flat]
        for ends in reversed(splits):
            rows = [f"[{', '.join(map(str, rows[i:j]))}]" for i, j in pairwise(ends)]
        return (array([f"[{', '.join(map(str, rows))}]".encode()], TEXT).reshape(()),)

    return host("RaggedFormat", compute, x.components(), [unknown(TEXT)])[0]


def _buckets(
    type_: str, input: object, function: Serial, name: str | None, count: int, *key: int
) -> Ragged:
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"num_buckets must be a positive int, got {count!r}")

    def compute(given: Array | Text) -> Sequence[Array]:
        texts = made_text(given)
        row = texts.row
        found = hashes(function, row.every, row.sizes, *key, count)
        return (found.view(np.int64).reshape(texts.dims),)

    with same_graph(input):
        x = texts_of(input, type_=type_)
        flat = x.flat_values if isinstance(x, RaggedTensor) else x
        spec = like_input(kinds.i64)
        made = host(type_, compute, [flat], spec, reads_text=True, name=name)[0]
        return x.with_flat_values(made) if isinstance(x, RaggedTensor) else made


def to_hash_bucket(input: object, num_buckets: int, name: str | None = None) -> Ragged:
    """Return the bucket of each text by TensorFlow's own hash, which may change with versions."""
    return _buckets("StringToHashBucket", input, murmurs, name, num_buckets)


def to_hash_bucket_fast(input: object, num_buckets: int, name: str | None = None) -> Ragged:
    """Return the bucket of each text by its fingerprint."""
    return _buckets("StringToHashBucketFast", input, farms, name, num_buckets)


def to_hash_bucket_strong(
    input: object, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Ragged:
    """Return the bucket of each text by a hash with a key, against which texts are not made."""
    if len(key) != 2:
        raise InvalidArgumentError(f"Key must have 2 elements, got {len(key)}")
    pair = int(key[0]), int(key[1])
    return _buckets("StringToHashBucketStrong", input, sips, name, num_buckets, *pair)


def first_reduce_join(
    inputs: object,
    axis: object = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: object = None,
    keepdims: bool | None = None,
) -> Ragged:
    """Put the texts along axes together by the first version's names."""
    along = reduction_indices if axis is None else axis
    return reduce_join(inputs, along, bool(keepdims or keep_dims), separator, name)


def first_to_hash_bucket(
    string_tensor: object = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: object = None,
) -> Ragged:
    """Return the bucket of each text by the first version's names."""
    if num_buckets is None:
        raise ValueError("num_buckets is required")
    return to_hash_bucket(string_tensor if input is None else input, num_buckets, name)
