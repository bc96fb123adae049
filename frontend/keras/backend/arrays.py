"""Shapes, parts, joins and products of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise as _pairwise
from typing import Any as _Any

import numpy as _np
from keras.src import tree as _tree
from keras.src.backend.common.backend_utils import vectorize_impl as _vectorize

from ...eager.tensor import Tensor
from ...graph.symbolic import SymbolicTensor as _Symbolic
from ...tf.graph import loops as _loops
from ...tf.linalg import decompositions as _de
from ...tf.ops import array_ops as _a
from ...tf.ops import composed as _co
from ...tf.ops import creation as _made
from ...tf.ops import gathering as _g
from ...tf.ops import linear_ops as _la
from ...tf.ops import math_ops as _m
from ...values.given import TensorLike
from .making import tri_mask
from .tensors import (
    Axes,
    axes_of,
    cast,
    convert_to_tensor,
    floating,
    is_dense,
    name_of,
    promoted,
    rank,
    sizes,
)

_F, _R = _m.FUNCTIONS, _m.REDUCTIONS


def ndim(x: TensorLike) -> int:
    """Return the number of axes."""
    return rank(x)


def size(x: TensorLike) -> int | Tensor:
    """Return the number of elements."""
    tensor = convert_to_tensor(x)
    known = tuple(tensor.shape)
    return _a.size(tensor) if None in known else int(_np.prod(known))


def copy(x: TensorLike) -> Tensor:
    """Return a tensor of the same values."""
    return _m.identity(convert_to_tensor(x))


def reshape(x: TensorLike, newshape: TensorLike) -> Tensor:
    """Return the elements in another shape; one size may be -1, or None if it was open."""
    tensor = convert_to_tensor(x)
    if isinstance(newshape, int):
        newshape = (newshape,)
    if isinstance(newshape, tuple | list) and newshape.count(None) == 1:
        newshape = [-1 if each is None else each for each in newshape]
    return _a.reshape(tensor, newshape)


def ravel(x: TensorLike) -> Tensor:
    """Return the elements in one row."""
    return _a.reshape(convert_to_tensor(x), [-1])


def expand_dims(x: TensorLike, axis: Axes) -> Tensor:
    """Return a tensor with new axes of size 1."""
    tensor = convert_to_tensor(x)
    listed = [axis] if isinstance(axis, int) else list(axis or ())
    many = rank(tensor) + len(listed)
    for each in sorted(int(i) % many for i in listed):
        tensor = _a.expand_dims(tensor, each)
    return tensor


def squeeze(x: TensorLike, axis: Axes = None) -> Tensor:
    """Return a tensor without axes of size 1."""
    tensor = convert_to_tensor(x)
    if axis is None:
        return _a.squeeze(tensor)
    for each in axes_of(tensor, axis):
        if tensor.shape[each] not in (1, None):
            raise ValueError(
                f"Cannot squeeze axis={axis}, because the dimension is not 1 but "
                f"{tensor.shape[each]}"
            )
    return _a.squeeze(tensor, axes_of(tensor, axis))


def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """Return a tensor with its axes in another order."""
    tensor = convert_to_tensor(x)
    return _a.transpose(tensor, None if axes is None else axes_of(tensor, axes))


def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Tensor:
    """Return a tensor with two axes changed over."""
    tensor = convert_to_tensor(x)
    order = [*range(rank(tensor))]
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return _a.transpose(tensor, order)


def moveaxis(x: TensorLike, source: Axes, destination: Axes) -> Tensor:
    """Return a tensor with axes at other places."""
    tensor = convert_to_tensor(x)
    old, new = axes_of(tensor, source), axes_of(tensor, destination)
    order = [i for i in range(rank(tensor)) if i not in old]
    for place, each in sorted(zip(new, old, strict=True)):
        order.insert(place, each)
    return _a.transpose(tensor, order)


def broadcast_to(x: TensorLike, shape: TensorLike) -> Tensor:
    """Return a tensor repeated to a shape."""
    return _a.broadcast_to(convert_to_tensor(x), shape)


def flip(x: TensorLike, axis: Axes = None) -> Tensor:
    """Return a tensor turned around along axes."""
    tensor = convert_to_tensor(x)
    return _a.reverse(tensor, axes_of(tensor, axis))


def fliplr(x: TensorLike) -> Tensor:
    """Return a tensor turned around along its second axis."""
    return flip(x, 1)


def flipud(x: TensorLike) -> Tensor:
    """Return a tensor turned around along its first axis."""
    return flip(x, 0)


def rot90(array: TensorLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """Return a tensor turned by k quarters in a plane."""
    tensor = convert_to_tensor(array)
    if rank(tensor) < 2:
        raise ValueError(
            f"Input array must have at least 2 dimensions. Received: array.ndim={rank(tensor)}"
        )
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions.")
    first, second = axes_of(tensor, list(axes))
    turns = k % 4
    if turns == 2:
        return flip(tensor, [first, second])
    if turns == 1:
        return swapaxes(flip(tensor, second), first, second)
    return flip(swapaxes(tensor, first, second), second) if turns == 3 else tensor


def roll(x: TensorLike, shift: Axes, axis: Axes = None) -> Tensor:
    """Return a tensor whose elements are moved around along axes."""
    tensor = convert_to_tensor(x)
    if axis is None:
        return _a.reshape(_co.roll(ravel(tensor), shift, 0), _a.shape(tensor))
    return _co.roll(tensor, shift, axis)


def tile(x: TensorLike, repeats: TensorLike) -> Tensor:
    """Return a tensor repeated as a whole."""
    tensor = convert_to_tensor(x)
    times = [repeats] if isinstance(repeats, int) else repeats
    if isinstance(times, Tensor):
        times = list(_a.unstack(times))
    counts = list(times) if isinstance(times, tuple | list) else list(_np.asarray(times))
    counts = [1] * (rank(tensor) - len(counts)) + counts
    for _ in range(len(counts) - rank(tensor)):
        tensor = _a.expand_dims(tensor, 0)
    return _a.tile(tensor, counts)


def repeat(x: TensorLike, repeats: TensorLike, axis: int | None = None) -> Tensor:
    """Return a tensor whose elements are repeated."""
    tensor = convert_to_tensor(x)
    if isinstance(repeats, list | tuple) and len(repeats) == 1:
        (repeats,) = repeats
    return _a.repeat(tensor, repeats, axis)


def append(x1: TensorLike, x2: TensorLike, axis: int | None = None) -> Tensor:
    """Return one tensor behind the other."""
    a, b = promoted(convert_to_tensor(x1), convert_to_tensor(x2))
    return _a.concat([ravel(a), ravel(b)], 0) if axis is None else _a.concat([a, b], axis)


def concatenate(xs: Sequence[TensorLike], axis: int | None = 0) -> Tensor:
    """Return tensors one behind the other."""
    parts = promoted(*map(convert_to_tensor, xs))
    if axis is None:
        return _a.concat([ravel(x) for x in parts], 0)
    return _a.concat(parts, axis)


def stack(x: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Return tensors along a new axis."""
    return _a.stack(promoted(*map(convert_to_tensor, x)), axis)


def _at_least(x: TensorLike, many: int) -> Tensor:
    tensor = convert_to_tensor(x)
    for _ in range(many - rank(tensor)):
        tensor = _a.expand_dims(tensor, 0 if rank(tensor) < 2 else -1)
    return tensor


def hstack(xs: Sequence[TensorLike]) -> Tensor:
    """Return tensors beside each other."""
    parts = [_at_least(x, 1) for x in xs]
    return concatenate(parts, 0 if rank(parts[0]) == 1 else 1)


def vstack(xs: Sequence[TensorLike]) -> Tensor:
    """Return tensors below each other."""
    return concatenate([_at_least(x, 2) for x in xs], 0)


def dstack(xs: Sequence[TensorLike]) -> Tensor:
    """Return tensors behind each other along the third axis."""
    return concatenate([_at_least(x, 3) for x in xs], 2)


def split(x: TensorLike, indices_or_sections: TensorLike, axis: int = 0) -> list[Tensor]:
    """Return parts of equal size, or those between places."""
    tensor = convert_to_tensor(x)
    if isinstance(indices_or_sections, int):
        length = tensor.shape[axis]
        if length is not None and length % indices_or_sections:
            raise ValueError(
                f"an axis of {length} cannot be split into {indices_or_sections} equal parts"
            )
        return list(_a.split(tensor, indices_or_sections, axis))
    places = [int(i) for i in _np.asarray(indices_or_sections)]
    length = sizes(tensor)[axis]
    edges = [0, *(_cut(i, length) for i in places), length]
    return [_part(tensor, low, high, axis) for low, high in _pairwise(edges)]


def _cut(place: int, length: int) -> int:
    return min(length, max(0, place + length if place < 0 else place))


def _part(x: Tensor, low: int, high: int, axis: int) -> Tensor:
    return x[(slice(None),) * (axis % rank(x)) + (slice(low, max(low, high)),)]


def array_split(x: TensorLike, indices_or_sections: TensorLike, axis: int = 0) -> list[Tensor]:
    """Return parts of as equal a size as can be."""
    if not isinstance(indices_or_sections, int):
        return split(x, indices_or_sections, axis)
    length = sizes(x)[axis]
    least, more = divmod(length, indices_or_sections)
    ends = _np.cumsum([least + (i < more) for i in range(indices_or_sections)])
    return split(x, [int(i) for i in ends[:-1]], axis)


def hsplit(x: TensorLike, indices_or_sections: TensorLike) -> list[Tensor]:
    """Return parts along the second axis."""
    return split(x, indices_or_sections, 0 if rank(x) == 1 else 1)


def vsplit(x: TensorLike, indices_or_sections: TensorLike) -> list[Tensor]:
    """Return parts along the first axis."""
    return split(x, indices_or_sections, 0)


def dsplit(x: TensorLike, indices_or_sections: TensorLike) -> list[Tensor]:
    """Return parts along the third axis."""
    return split(x, indices_or_sections, 2)


def pad(
    x: TensorLike,
    pad_width: TensorLike,
    mode: str = "constant",
    constant_values: TensorLike | None = None,
) -> Tensor:
    """Return a tensor with more around it."""
    tensor = convert_to_tensor(x)
    if constant_values is not None and mode != "constant":
        raise ValueError(
            "Argument `constant_values` can only be provided when `mode == 'constant'`. "
            f"Received: mode={mode}"
        )
    widths = _widths(pad_width, rank(tensor))
    if mode != "constant":
        return _a.pad(tensor, widths, mode.upper())
    fill = 0 if constant_values is None else constant_values
    if name_of(tensor) == "bool":
        return cast(_a.pad(cast(tensor, "uint8"), widths, constant_values=int(bool(fill))), "bool")
    if not is_dense(fill):
        return _a.pad(tensor, widths, constant_values=_np.asarray(fill, tensor.dtype.numpy).item())
    within = _a.pad(_made.ones_like(tensor, "bool"), widths, constant_values=False)
    return _a.where(within, _a.pad(tensor, widths), cast(fill, name_of(tensor)))


def _widths(given: TensorLike, many: int) -> TensorLike:
    """Return how much stands before and behind each axis: numbers, or a tensor of the run."""
    if any(is_dense(each) for each in _tree.flatten(given)):
        return _a.broadcast_to(convert_to_tensor(given, "int32"), (many, 2))
    return _np.broadcast_to(_np.asarray(given), (many, 2)).tolist()


def where(
    condition: TensorLike, x1: TensorLike | None = None, x2: TensorLike | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Choose between values; without any return where the condition holds."""
    holds = convert_to_tensor(condition, "bool")
    if x1 is None or x2 is None:
        return nonzero(holds)
    a, b = promoted(x1, x2)
    return _a.where(holds, a, b)


def select(
    condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0
) -> Tensor:
    """Return for each place the first choice whose condition holds."""
    *choices, found = promoted(*choicelist, default)
    for holds, choice in reversed(list(zip(condlist, choices, strict=True))):
        found = _a.where(convert_to_tensor(holds, "bool"), choice, found)
    return found


def nonzero(x: TensorLike) -> tuple[Tensor, ...]:
    """Return the coordinates of what is not zero."""
    places = _a.where(convert_to_tensor(x, "bool"))
    return tuple(cast(each, "int32") for each in _a.unstack(places, rank(x), 1))


def take(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
    """Return the parts at places along an axis; negative ones count from the end."""
    tensor = convert_to_tensor(x)
    if axis is None:
        tensor, axis = ravel(tensor), 0
    places = convert_to_tensor(indices)
    if not name_of(places).startswith(("int", "uint")):
        places = cast(places, "int32")
    if name_of(places).startswith("int"):
        length = _a.shape(tensor, name_of(places) if name_of(places) == "int64" else "int32")[axis]
        places = places if name_of(places) in ("int32", "int64") else cast(places, "int32")
        below = _F["less"](places, _made.zeros_like(places))
        places = _a.where(below, places + length, places)
    return _g.gather(tensor, places, axis=axis)


def take_along_axis(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
    """Return the elements at places along an axis, each row having its own."""
    tensor, places = convert_to_tensor(x), convert_to_tensor(indices)
    if axis is None:
        if rank(places) != 1:
            raise ValueError(f"`indices` must be 1D if axis=None. Received: {places.shape}")
        tensor, axis = ravel(tensor), 0
    if rank(tensor) != rank(places):
        raise ValueError(
            f"x and indices must have as many axes, got {tensor.shape} and {places.shape}"
        )
    places = cast(places, "int32") if name_of(places) not in ("int32", "int64") else places
    length = _a.shape(tensor, name_of(places))[axis]
    places = _a.where(_F["less"](places, _made.zeros_like(places)), places + length, places)
    place = axis % rank(tensor)
    wide = [
        own if i == place else _F["maximum"](_a.shape(tensor)[i], own)
        for i, own in enumerate(_a.unstack(_a.shape(places), rank(tensor)))
    ]
    places = _a.broadcast_to(places, _a.stack(wide))
    wide[place] = _a.shape(tensor)[place]
    tensor = _a.broadcast_to(tensor, _a.stack(wide))
    order = [i for i in range(rank(tensor)) if i != place] + [place]
    back = [order.index(i) for i in range(rank(tensor))]
    found = _g.gather(
        _a.transpose(tensor, order),
        _a.transpose(places, order),
        axis=rank(tensor) - 1,
        batch_dims=rank(tensor) - 1,
    )
    return _a.transpose(found, back)


def isin(
    x1: TensorLike, x2: TensorLike, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Tell which values are among others."""
    a, b = promoted(convert_to_tensor(x1), convert_to_tensor(x2))
    if not sizes(b) or 0 not in sizes(b):
        same = _F["equal"](_a.expand_dims(a, -1), ravel(b))
        found = _R["reduce_any"](same, -1)
    else:
        found = _made.zeros_like(a, "bool")
    return _F["logical_not"](found) if invert else found


def unique(
    x: TensorLike,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: int | None = None,
    fill_value: TensorLike | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return different values in order, on the host; `size` cuts or fills to a fixed number."""
    tensor = convert_to_tensor(x)
    if isinstance(tensor, _Symbolic):
        raise ValueError("unique is not supported inside of compiled functions")
    values = _np.asarray(tensor)
    kind = values.dtype
    held = values.astype("float32") if kind.name == "bfloat16" else values
    found, index, inverse, counts = _np.unique(
        held,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=axis,
        equal_nan=False,
    )
    inverse = inverse.reshape(values.shape if axis is None else -1)
    if size is not None:
        along = 0 if axis is None else axis % values.ndim
        found, index, counts = _fitted(found, index, counts, size, along, fill_value)
    wanted = [(True, found.astype(kind)), (return_index, index.astype("int32"))]
    wanted += [(return_inverse, inverse.astype("int32")), (return_counts, counts.astype("int32"))]
    given = tuple(convert_to_tensor(each) for asked, each in wanted if asked)
    return given if len(given) > 1 else given[0]


def _fitted(
    found: _Any, index: _Any, counts: _Any, size: int, axis: int, fill: TensorLike | None
) -> tuple[_Any, _Any, _Any]:
    """Cut what is unique to a number, or fill it up by the least value."""
    there = found.shape[axis]
    if there >= size:
        cut = [slice(None)] * found.ndim
        cut[axis] = slice(size)
        return found[tuple(cut)], index[:size], counts[:size]
    widths = [(0, 0)] * found.ndim
    widths[axis] = (0, size - there)
    least = _np.take(found, [0], axis=axis) if fill is None else _np.asarray(fill, found.dtype)
    more = _np.broadcast_to(
        least, [size - there if i == axis else n for i, n in enumerate(found.shape)]
    )
    return (
        _np.concatenate([found, more], axis),
        _np.pad(index, (0, size - there), constant_values=index[0]),
        _np.pad(counts, (0, size - there)),
    )


# Diagonals and triangles.


def diag(x: TensorLike, k: int = 0) -> Tensor:
    """Return the diagonal of a matrix, or a matrix with a diagonal."""
    tensor = convert_to_tensor(x)
    if rank(tensor) == 1:
        return _la.diag(tensor, k=k)
    if rank(tensor) != 2:
        raise ValueError(f"`x` must be 1d or 2d. Received: x.shape={tuple(tensor.shape)}")
    return diagonal(tensor, k)


def diagflat(x: TensorLike, k: int = 0) -> Tensor:
    """Return a matrix with the elements on a diagonal."""
    return _la.diag(ravel(x), k=k)


def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the diagonals of two axes, as the last axis."""
    tensor = moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = sizes(tensor)[-2:]
    low = max(-offset, 0)
    count = max(0, min(rows - low, columns - max(offset, 0)))
    flat = _a.reshape(tensor, [*tensor.shape[:-2], rows * columns])
    start = low * columns + max(offset, 0)
    return _g.gather(flat, _np.arange(count, dtype=_np.int32) * (columns + 1) + start, axis=-1)


def trace(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the sums of diagonals."""
    from .reductions import sum as summed  # noqa: PLC0415

    return summed(diagonal(x, offset, axis1, axis2), -1)


def tril(x: TensorLike, k: int = 0) -> Tensor:
    """Return a matrix with zeros above a diagonal."""
    return _masked(x, lambda rows, columns: tri_mask(rows, columns, k, "less_equal"))


def triu(x: TensorLike, k: int = 0) -> Tensor:
    """Return a matrix with zeros below a diagonal."""
    return _masked(x, lambda rows, columns: tri_mask(rows, columns, k, "greater_equal"))


def _masked(x: TensorLike, mask: Callable[[TensorLike, TensorLike], Tensor]) -> Tensor:
    tensor = convert_to_tensor(x)
    rows, columns = (
        _a.shape(tensor)[i] if tensor.shape[i] is None else tensor.shape[i] for i in (-2, -1)
    )
    return _a.where(mask(rows, columns), tensor, _made.zeros_like(tensor))


def slogdet(x: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the sign of a determinant and the logarithm of its absolute value."""
    sign, size_ = _de.slogdet(floating(x))
    return sign, size_


def vectorize(
    pyfunc: Callable[..., object],
    *,
    excluded: set[int | str] | None = None,
    signature: str | None = None,
) -> Callable[..., object]:
    """Return a function of elements, or of the parts that a signature names, for whole tensors."""
    made: Callable[..., object] = _vectorize(
        pyfunc, _over_axes, excluded=excluded, signature=signature
    )
    return made


def _over_axes(fn: Callable[..., object], in_axes: Sequence[int | None] | int = 0) -> _Any:
    """Return a function that takes the first axis of the arguments that have one apart."""

    def function(*args: TensorLike) -> object:
        axes = [in_axes] * len(args) if isinstance(in_axes, int) else list(in_axes)
        over = [convert_to_tensor(x) for x, axis in zip(args, axes, strict=True) if axis == 0]

        def each(rows: Sequence[Tensor]) -> object:
            rest = iter(rows)
            return fn(*(next(rest) if a == 0 else x for x, a in zip(args, axes, strict=True)))

        return _loops.vectorized_map(each, over)

    return function
