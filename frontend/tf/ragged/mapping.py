"""Functions of the rows of ragged tensors, and rows of different lengths as what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from ...values import nest
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.shapes import TensorShape
from ..core.values import convert, graph_of
from ..graph import loops
from ..graph.tensor_array import TensorArray
from ..nondense.sparse_places import concat as concat_sparse
from ..nondense.sparse_places import expand_dims as expand_sparse
from ..nondense.sparse_places import reshape as reshape_sparse
from ..nondense.sparse_places import slice_ as slice_sparse
from ..nondense.sparse_tensor import SparseTensor, SparseTensorSpec
from ..ops.array_ops import concat, shape, unstack
from ..ops.array_ops import stack as stack_dense
from ..ops.creation import zeros
from ..runs.turns import AllAtOnce
from .making import from_row_lengths
from .moving import stack as stack_ragged
from .tensor import RaggedTensor, RaggedTensorSpec

COMPOSITES = (RaggedTensor, RaggedTensorSpec, SparseTensor, SparseTensorSpec)


Held: TypeAlias = "TensorArray | TfTensor"
"""Where results are kept until there are all."""


def _leaves(structure: object) -> list[object]:
    """Return the leaves of a structure; ragged tensors and specs are leaves."""
    if isinstance(structure, Mapping):
        return [leaf for value in structure.values() for leaf in _leaves(value)]
    if isinstance(structure, list | tuple):
        return [leaf for value in structure for leaf in _leaves(value)]
    return [structure]


def _packed(structure: object, leaves: Iterable[object]) -> object:
    """Return a structure like another one with other leaves."""
    given = iter(leaves)

    def packed(part: object) -> object:
        if isinstance(part, Mapping):
            return {key: packed(value) for key, value in part.items()}
        if isinstance(part, list | tuple):
            return nest.pack_level(part, [packed(value) for value in part])
        return next(given)

    return packed(structure)


def _extent(x: object) -> tuple[object, object]:
    """Return how many rows there are, None if that is not known, and as a tensor."""
    if isinstance(x, RaggedTensor):
        return x.shape[0], x.nrows("int32")
    if isinstance(x, SparseTensor):
        return (x.shape[0] if x.shape.rank else None), x.dense_shape[0]
    made = convert(x)
    dims = made.shape._dims
    return None if dims is None else dims[0], shape(made)[0]


def map_fn(
    fn: Callable[[object], object],
    elems: object,
    dtype: DTypeLike | None = None,
    parallel_iterations: object = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: object = None,
) -> object:
    """Apply a function to the slices along the first axis, rows of ragged tensors among them.

    Results are ragged where `fn_output_signature` has a `RaggedTensorSpec`, and sparse where it
    has a `SparseTensorSpec`. Of sparse tensors the number of rows is to be known.
    """
    signature = fn_output_signature if fn_output_signature is not None else dtype
    given = _leaves(elems)
    every = (*given, *_leaves(signature))
    if not any(isinstance(x, COMPOSITES) for x in every):
        return loops.map_fn(
            fn, elems, back_prop=back_prop, name=name, fn_output_signature=signature
        )
    if signature is None:
        signature = _packed(elems, [_like(x) for x in given])
    known, count = _extent(given[0])
    if not isinstance(known, int):
        if any(isinstance(x, SparseTensor | SparseTensorSpec) for x in every):
            raise NotImplementedError("map_fn: sparse tensors of which the rows are not counted")
        return _in_a_loop(fn, elems, signature, count, name)
    made = [fn(_packed(elems, [_row(x, i) for x in given])) for i in range(known)]
    columns = zip(*[_leaves(each) for each in made], strict=True)
    pairs = zip(columns, _leaves(signature), strict=True)
    return _packed(signature, [_joined(list(column), spec) for column, spec in pairs])


def vectorized_map(
    fn: Callable[[object], object],
    elems: object,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> object:
    """Apply a function to the slices along the first axis; its results may be of any types.

    Of tensors with one slice, beside others with more, each call gets this one. Slices of ragged
    and sparse tensors are such tensors; the number of them is to be known.
    """
    given = _leaves(elems)
    composite = any(isinstance(x, COMPOSITES) for x in given)
    extents = [_extent(x)[0] for x in given if isinstance(x, COMPOSITES) or _has_slices(x)]
    known = [n for n in extents if isinstance(n, int)]
    if not known or len(known) < len(given) or max(known) == 0:
        if composite:
            raise NotImplementedError("vectorized_map: ragged or sparse rows that are not counted")
        return loops.vectorized_map(fn, elems)
    count = max(known)
    if any(n not in (1, count) for n in known):
        raise InvalidArgumentError(
            f"vectorized_map: elements have {known} slices, expected {count} or one"
        )
    every = [_rows(x, n, count) for x, n in zip(given, known, strict=True)]
    graph = graph_of([leaf for x in given for leaf in nest.flatten(x)])
    called = loops.in_trips(graph, fn, count, AllAtOnce)
    made = [called(_packed(elems, row)) for row in zip(*every, strict=True)]
    columns = zip(*[_leaves(each) for each in made], strict=True)
    return _packed(made[0], [_side_by_side(list(column)) for column in columns])


def _has_slices(x: object) -> bool:
    """Say whether a leaf becomes one tensor, which is no number, and is no class of several."""
    flat = nest.flatten(x)
    return len(flat) == 1 and flat[0] is x and convert(x).shape.rank != 0


def _rows(x: object, known: int, count: int) -> list[object]:
    if known < count:
        return [_row(x, 0)] * count
    return [_row(x, i) for i in range(count)] if isinstance(x, COMPOSITES) else [*unstack(x)]


def _side_by_side(column: list[object]) -> object:
    """Return results of all slices as one; None stays what it is."""
    if column[0] is None:
        return None
    if isinstance(column[0], RaggedTensor | SparseTensor):
        return _joined(column, column[0].type_spec())
    parts = zip(*map(nest.flatten, column), strict=True)
    return nest.pack(column[0], [stack_dense([convert(x) for x in part]) for part in parts])


def _like(x: object) -> object:
    """Return what results are that are like the rows of a tensor."""
    if isinstance(x, SparseTensor):
        return SparseTensorSpec(x.shape[1:], x.dtype)
    if not isinstance(x, RaggedTensor):
        return convert(x).dtype
    return RaggedTensorSpec([None] * (x.ragged_rank + 1), x.dtype, x.ragged_rank)


def _row(x: object, index: object) -> object:
    if isinstance(x, SparseTensor):
        assert isinstance(index, int), "sparse rows are counted"
        rank = len(x.shape)
        whole = convert(x.dense_shape)
        start = [index, *[0] * (rank - 1)]
        size = concat([convert([1], "int64"), whole[1:]], 0)
        return reshape_sparse(slice_sparse(x, start, size), whole[1:])
    return x[index] if isinstance(x, RaggedTensor) else convert(x)[index]


def _joined(column: list[object], spec: object) -> object:
    if isinstance(spec, SparseTensorSpec):
        return concat_sparse(0, [expand_sparse(x, 0) for x in column])
    if isinstance(spec, RaggedTensorSpec) or any(isinstance(x, RaggedTensor) for x in column):
        return stack_ragged(column)
    return stack_dense([convert(x) for x in column])


def _in_a_loop(
    fn: Callable[[object], object],
    elems: object,
    signature: object,
    count: object,
    name: str | None,
) -> object:
    """Apply a function to rows of which only the run knows how many there are."""
    given = _leaves(elems)
    specs = _leaves(signature)
    for spec in specs:
        if isinstance(spec, RaggedTensorSpec) and spec.ragged_rank > 1:
            raise NotImplementedError(
                f"map_fn: results of ragged rank {spec.ragged_rank} from rows whose number is not "
                "known, expected ragged rank 1"
            )
    arrays = [_beginning(spec, count) for spec in specs]
    sizes = [TensorArray("int64", size=count) for spec in specs if _varies(spec)]

    def body(i: TfTensor, held: Sequence[Held], lengths: Sequence[TensorArray]) -> object:
        made = [convert(x) for x in _leaves(fn(_packed(elems, [_row(x, i) for x in given])))]
        varied = [x for x, spec in zip(made, specs, strict=True) if _varies(spec)]
        return (
            i + 1,
            [_with(a, i, x) for a, x in zip(held, made, strict=True)],
            [a.write(i, shape(x, "int64")[0]) for a, x in zip(lengths, varied, strict=True)],
        )

    start = (convert(0), arrays, sizes)
    forms = (
        TensorShape([]),
        [TensorShape(None if isinstance(a, TensorArray) else [None, *a.shape[1:]]) for a in arrays],
        [TensorShape(None) for _ in sizes],
    )
    _, held, lengths = loops.while_loop(
        lambda i, *_: i < count, body, start, shape_invariants=forms, name=name
    )
    ends = iter(lengths)
    return _packed(
        signature,
        [
            a.stack() if isinstance(a, TensorArray) else from_row_lengths(a, next(ends).stack())
            for a in held
        ],
    )


def _beginning(spec: object, count: object) -> Held:
    """Return what results are put into: rows of different lengths one behind the other."""
    if isinstance(spec, RaggedTensorSpec):
        return zeros([0, *spec.shape.as_list()[2:]], spec.dtype)
    return TensorArray(getattr(spec, "dtype", spec), size=count)


def _with(held: Held, index: TfTensor, made: TfTensor) -> Held:
    if isinstance(held, TensorArray):
        return held.write(index, made)
    return concat([held, made], 0)


def _varies(spec: object) -> bool:
    return isinstance(spec, RaggedTensorSpec)
