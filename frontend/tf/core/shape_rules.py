"""What is known of results whose operands have an unknown rank, or values that are not known yet.

A rule stands beside its operation (`op(..., shapes=...)`). It is asked only where the operation
itself, tried on what is known of its operands, cannot say. It returns specs: None for a rank that
stays open, and for a size that does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim, product
from ....ir.types.dtypes import DType
from ....ir.types.tensor import TensorSpec
from ...dims.unknown import unknown_dim
from ...graph.inference import Given
from .bridge import row_of

Shapes = Callable[[Given], Sequence[TensorSpec]]
Dims = Sequence[Any] | None


def made(dtype: DType, dims: Dims) -> TensorSpec:
    """Return a spec; each size that is None gets a symbol of its own."""
    if dims is None:
        return TensorSpec(dtype, None)
    return TensorSpec(dtype, tuple(unknown_dim() if d is None else d for d in dims))


def all_but_one_known(dims: list[Dim], size: int) -> list[Dim]:
    """Return a wanted shape in which the one size that is not known follows from the others."""
    known = product([d for d in dims if isinstance(d, int)])
    is_one = sum(not isinstance(d, int) for d in dims) == 1 and -1 not in dims
    if not is_one or not known or size % known:
        return dims
    return [d if isinstance(d, int) else size // known for d in dims]


def dims_of(spec: TensorSpec) -> list[Any] | None:
    """Return the sizes of a spec, None of an unknown rank."""
    return None if spec.shape is None else list(spec.dims)


def merged(shapes: Sequence[Dims]) -> list[Any] | None:
    """Return what shapes of one shape say together, None if none has a known rank."""
    known = [list(s) for s in shapes if s is not None]
    if not known:
        return None
    if len({len(s) for s in known}) > 1:
        raise TypeError(f"Shapes must be equal rank, but are {sorted({len(s) for s in known})}")
    return [_one_of(sizes) for sizes in zip(*known, strict=True)]


def _one_of(sizes: Sequence[object]) -> object:
    numbers = {d for d in sizes if isinstance(d, int)}
    if len(numbers) > 1:
        raise TypeError(f"Dimensions must be equal, but are {sorted(numbers)}")
    return next(iter(numbers), sizes[0])


def like(index: int = 0, dtype: DType | None = None) -> Shapes:
    """Return the rule of results with the shape of one operand."""
    return lambda given: (given.specs[index].with_dtype(dtype or given.specs[index].dtype),)


def alike(given: Given) -> Sequence[TensorSpec]:
    """Results have the shape that all operands have."""
    return (made(given.specs[0].dtype, merged([dims_of(s) for s in given.specs])),)


def ranked(rank: int, dtype: DType | None = None) -> Shapes:
    """Return the rule of one result with so many axes."""
    return lambda given: (made(dtype or given.specs[0].dtype, (None,) * rank),)


def reduced(dtype: DType | None = None) -> Shapes:
    """Return the rule of reductions: along all axes they leave none, whatever comes in."""

    def rule(given: Given) -> Sequence[TensorSpec]:
        spec, axis = given.specs[0], given.options.get("axis")
        row = dtype or spec.dtype
        if given.options.get("keepdims"):
            rank = None if spec.shape is None else spec.rank
            return (made(row, None if rank is None else (None,) * rank),)
        return (made(row, () if axis is None else None),)

    return rule


def rows_of(index: int = 0) -> Shapes:
    """Return the rule of one number for each row of logits, or of what goes with them."""

    def rule(given: Given) -> Sequence[TensorSpec]:
        row = given.specs[1].dtype
        cut = [None if s.shape is None else list(s.dims)[:-1] for s in given.specs]
        if not index and None not in cut and len(cut[0] or ()) != len(cut[1] or ()):
            return (made(row, cut[1]),)  # (labels of another rank are rows of classes, too)
        if not index:
            return (made(row, merged(cut)),)
        return (made(row, merged([dims_of(given.specs[0]), cut[1]])),)

    return rule


def transposed(given: Given) -> Sequence[TensorSpec]:
    """Count the axes by the order, or by the operand."""
    spec, order = given.specs[0], given.options.get("perm")
    listed = order if isinstance(order, list | tuple | np.ndarray) else None
    rank = len(listed) if listed is not None else None if spec.shape is None else spec.rank
    return (made(spec.dtype, None if rank is None else (None,) * rank),)


def split(given: Given) -> Sequence[TensorSpec]:
    """As many parts as there are sizes."""
    sizes = given.options["sizes"]
    count = sizes if isinstance(sizes, int) else len(sizes)
    if isinstance(given.specs[0].shape, tuple):
        spec, axis = given.specs[0], given.options["axis"]
        dims = [None if i == axis % spec.rank else d for i, d in enumerate(spec.dims)]
        return [made(spec.dtype, dims) for _ in range(count)]
    return [TensorSpec(given.specs[0].dtype, None)] * count


def repeated(given: Given) -> Sequence[TensorSpec]:
    """As the first operand, but along one axis."""
    spec, axis = given.specs[0], given.options["axis"]
    if spec.shape is None:
        return (spec,)
    return (
        made(spec.dtype, [None if i == axis % spec.rank else d for i, d in enumerate(spec.dims)]),
    )


def unstacked(given: Given) -> Sequence[TensorSpec]:
    """As many slices as are asked for, each without the axis."""
    (spec,), count = given.specs, given.options["num"]
    if not isinstance(count, int):
        raise TypeError("Cannot infer argument `num` from an unknown shape")
    dims = None if spec.shape is None else (None,) * (spec.rank - 1)
    return [made(spec.dtype, dims)] * count


def joined_dims(shapes: Sequence[Sequence[Dim]], axis: int) -> tuple[Dim, ...]:
    """Return the shape of what is joined; where one extent is known, the others have it too."""
    made: list[Dim] = []
    for place, extents in enumerate(zip(*shapes, strict=True)):
        known = [d for d in extents if isinstance(d, int)]
        if place == axis:
            made.append(sum(known) if len(known) == len(extents) else unknown_dim())
        elif len(set(known)) > 1:
            raise TypeError(f"Dimension {place} in both shapes must be equal: {known}")
        else:
            made.append(known[0] if known else extents[0])
    return tuple(made)


def joined(given: Given) -> Sequence[TensorSpec]:
    """Parts have one rank, and one size along each axis but that which they are joined along."""
    known = [list(s.dims) for s in given.specs if s.shape is not None]
    at = given.options["axis"] % max(1, len(known[0])) if known else 0
    sizes = [[None if i == at else d for i, d in enumerate(dims)] for dims in known]
    return (made(given.specs[0].dtype, merged(sizes)),)


def stacked(given: Given) -> Sequence[TensorSpec]:
    """Parts have one shape; a new axis counts them."""
    dims = merged([dims_of(s) for s in given.specs])
    if dims is not None:
        axis = given.options["axis"]
        dims.insert(axis if axis >= 0 else axis + len(dims) + 1, len(given.specs))
    return (made(given.specs[0].dtype, dims),)


def of_length(index: int, given: Given) -> int | None:
    """Return how many numbers an operand has that lists something for each axis."""
    spec = given.specs[index]
    if spec.shape is None or not spec.rank:
        return None
    return spec.dims[0] if isinstance(spec.dims[0], int) else None


def counted(index: int, like: int = 0) -> Shapes:
    """Return the rule of results with an axis for each number (or row) of an operand."""

    def rule(given: Given) -> Sequence[TensorSpec]:
        spec, count = given.specs[like], of_length(index, given)
        if count is not None and spec.shape is not None and spec.rank != count:
            raise TypeError(f"{count} numbers for a tensor of rank {spec.rank}")
        rank = count if count is not None else None if spec.shape is None else spec.rank
        return (made(spec.dtype, None if rank is None else (None,) * rank),)

    return rule


def filled(index: int, like: int | str) -> Shapes:
    """Return the rule of results whose shape an operand lists: known sizes are kept.

    Their type is that of an operand, or of an option.
    """

    def rule(given: Given) -> Sequence[TensorSpec]:
        row = given.specs[like].dtype if isinstance(like, int) else given.options[like]
        count, sizes = of_length(index, given), given.known.get(index)
        if sizes is not None:
            listed = np.ravel(np.asarray(sizes, object)).tolist()
            return (made(row, [d if isinstance(d, int) and d >= 0 else None for d in listed]),)
        return (made(row, None if count is None else (None,) * count),)

    return rule


def sliced(given: Given) -> Sequence[TensorSpec]:
    """Keep the sizes that are stated; -1 is what is left."""
    spec, count = given.specs[0], of_length(1, given) or of_length(2, given)
    sizes = given.known.get(2)
    if sizes is not None:
        listed = np.ravel(np.asarray(sizes, object)).tolist()
        return (made(spec.dtype, [d if isinstance(d, int) and d >= 0 else None for d in listed]),)
    rank = count if count is not None else None if spec.shape is None else spec.rank
    return (made(spec.dtype, None if rank is None else (None,) * rank),)


def places(given: Given) -> Sequence[TensorSpec]:
    """Rows of indices; how long they are the rank says."""
    spec = given.specs[0]
    return (made(rows.i64, (None, None if spec.shape is None else spec.rank)),)


def windows(rank: int) -> Shapes:
    """Return the rule of windows that slide over images: batch and channels are kept."""

    def rule(given: Given) -> Sequence[TensorSpec]:
        image, form = given.specs[0], given.options.get("data_format")
        at = -1 if form is None or form.endswith("C") else 1
        dims: list[Any] = [None] * (rank + 2)
        if image.shape is not None:
            dims[0] = image.dims[0]
        if len(given.specs) > 1:
            dims[at] = None if given.specs[1].shape is None else given.specs[1].dims[-1]
        elif image.shape is not None:
            dims[at] = image.dims[at]
        return (made(image.dtype, dims),)

    return rule


def partitioned(given: Given) -> Sequence[TensorSpec]:
    """As many parts as are asked for, of rows like those that came."""
    values, numbers = given.specs
    if values.shape is None or numbers.shape is None:
        part = TensorSpec(values.dtype, None)
        return [part] * given.options["count"]
    rest = values.dims[numbers.rank :]
    return [made(values.dtype, (None, *rest)) for _ in range(given.options["count"])]


def stitched(given: Given) -> Sequence[TensorSpec]:
    """Rows like those that came, behind as many lists of their places."""
    count = len(given.specs) // 2
    data, numbers = given.specs[count], given.specs[0]
    if data.shape is None or numbers.shape is None:
        return (TensorSpec(data.dtype, None),)
    return (made(data.dtype, (None, *data.dims[numbers.rank :])),)


def segments(given: Given) -> Sequence[TensorSpec]:
    """Rows like those that came; how many there are the numbers say."""
    data, numbers = given.specs
    if data.shape is None:
        return (TensorSpec(data.dtype, None),)
    behind = 1 if numbers.shape is None else numbers.rank
    return (made(data.dtype, (None, *data.dims[behind:])),)


def slices_at(given: Given) -> Sequence[TensorSpec]:
    """Keep what of values is behind the axes that rows of indices name."""
    values, places = given.specs
    width = None if not places.shape else places.dims[-1]
    if values.shape is None or places.shape is None or not isinstance(width, int):
        return (TensorSpec(values.dtype, None),)
    behind = given.options.get("batch_dims", 0) + width
    return (made(values.dtype, (*places.dims[:-1], *values.dims[behind:])),)


def blocks(*, apart: bool) -> Shapes:
    """Pixels of blocks become images of their own, or the other way round."""

    def rule(given: Given) -> Sequence[TensorSpec]:
        data, sizes, _ = given.specs
        if data.shape is None:  # (one number is for height and width of images)
            images = (None,) * 4 if sizes.shape == () else None
            return (made(data.dtype, images),)
        batch, *rest = dims_of(data) or [None]
        told, ends = given.known.get(1), given.known.get(2)
        count = sizes.dims[0] if sizes.shape is not None and sizes.rank else 2
        if not isinstance(count, int):
            return (made(data.dtype, (None,) * data.rank),)
        each = [None] * count if told is None else np.resize(told, count).tolist()
        pairs = [(None, None)] * count if ends is None else np.asarray(ends).tolist()
        triples = zip(rest, each, pairs, strict=False)
        inner = [_of_blocks(n, b, pair, apart) for n, b, pair in triples]
        whole = None if None in each else math.prod(each)
        first = None
        if isinstance(batch, int) and whole:
            first = batch * whole if apart else batch // whole
        return (made(data.dtype, (first, *inner, *rest[count:])),)

    return rule


def _of_blocks(
    size: object, block: int | None, ends: Sequence[int | None], apart: bool
) -> int | None:
    """Return how large an axis becomes, None if that is not known."""
    around = [n for n in ends if n is not None]
    if not isinstance(size, int) or not block or len(around) < len(ends):
        return None
    return (size + sum(around)) // block if apart else size * block - sum(around)


def grid(given: Given) -> Sequence[TensorSpec]:
    """Each has as many axes as there are vectors."""
    count = len(given.specs)
    return [made(s.dtype, (None,) * count) for s in given.specs]


def equation(given: Given) -> Sequence[TensorSpec]:
    """Letters that operands of a known rank name have their sizes."""
    text: str = given.options["equation"]
    if "..." in text:
        return (TensorSpec(given.specs[0].dtype, None),)
    inputs, _, output = text.partition("->")
    if not _:
        letters = inputs.replace(",", "")
        output = "".join(sorted(x for x in set(letters) if letters.count(x) == 1))
    sizes: dict[str, Any] = {}
    for term, spec in zip(inputs.split(","), given.specs, strict=True):
        if spec.shape is not None:
            for letter, extent in zip(term, spec.dims, strict=True):
                sizes[letter] = extent if letter not in sizes else _one_of((sizes[letter], extent))
    return (made(given.specs[0].dtype, [sizes.get(x) for x in output]),)


def hot(given: Given) -> Sequence[TensorSpec]:
    """Give indices one axis more."""
    spec, depth = given.specs[0], given.known.get(1)
    dims = dims_of(spec)
    if dims is not None:
        axis = given.options["axis"]
        dims.insert(axis if axis >= 0 else len(dims) + 1 + axis, None if depth is None else depth)
    return (made(given.options["dtype"], dims),)


def masked(given: Given) -> Sequence[TensorSpec]:
    """Lengths get an axis more, of the greatest length."""
    dims, most = dims_of(given.specs[0]), given.options.get("maxlen")
    row = row_of(given.options.get("dtype", "bool"))
    return (made(row or rows.bool_, None if dims is None else [*dims, most]),)


def unranked(given: Given) -> Sequence[TensorSpec]:
    """Nothing is known but the element type."""
    return (TensorSpec(given.specs[0].dtype, None),)


def extents(given: Given) -> Sequence[TensorSpec]:
    """List as many sizes as there are axes."""
    return (made(given.options["dtype"], (None,)),)


def count(given: Given) -> Sequence[TensorSpec]:
    """One number."""
    return (TensorSpec(row_of(given.options.get("out_type", "int32")) or rows.i32, ()),)


def counts(given: Given) -> Sequence[TensorSpec]:
    """List what is counted or added up."""
    row = given.options["dtype"] if "dtype" in given.options else given.specs[1].dtype
    return (made(row, (None,)),)


def counts_of_rows(given: Given) -> Sequence[TensorSpec]:
    """List what is counted or added up of each row."""
    row = given.options["dtype"] if "dtype" in given.options else given.specs[1].dtype
    dims = dims_of(given.specs[0])
    return (made(row, None if dims is None else [*dims[:-1], None]),)


def square(given: Given) -> Sequence[TensorSpec]:
    """Matrices of so many rows and columns, in batches."""
    sizes = [np.asarray(given.known[i]).tolist() if i in given.known else None for i in range(2)]
    return (made(given.options["dtype"], [*given.options["batch"], *sizes]),)


def nonzero(given: Given) -> Sequence[TensorSpec]:
    """As a reduction, of the type that is asked for."""
    spec, axis = given.specs[0], given.options.get("axis")
    row = row_of(given.options.get("dtype", "int64")) or rows.i64
    if spec.shape is None or axis is None:
        return reduced(row)(given)
    along = {a % spec.rank for a in np.ravel(axis).tolist()}
    kept = given.options.get("keepdims")
    dims = [1 if i in along else d for i, d in enumerate(spec.dims) if kept or i not in along]
    return (made(row, dims),)


def backward(given: Given) -> Sequence[TensorSpec]:
    """Keep the sizes that are asked for, which an operand may list."""
    row, asked = given.specs[0].dtype, given.options["wanted"]
    if asked is not None:
        return (made(row, asked),)
    return filled(2, 0)(given)
