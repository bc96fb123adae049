"""Functions that move elements, of the array API standard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import SupportsIndex

import numpy as np

from ...ir.compose import functions as compositions
from ...ir.compose.maker import Maker
from ...ir.types import dims as dim_rules
from ...ir.types import dtypes as rows
from ...ir.types.dims import Dim, DimExpr
from ...ir.types.shapes import broadcast
from ..eager.kernels import OperandError, host
from ..eager.remembered import remember_all
from ..eager.tensor import Tensor, apply, as_tensor, computed, promoted
from ..values.given import Axes, Axis, Extent, ShapeLike, TensorLike

MAKE: Maker = Maker(apply)


def axis_of(axis: int, rank: int, *, extra: int = 0) -> int:
    """Return an axis counted from the front, or raise `IndexError`."""
    if not -rank - extra <= axis < rank + extra:
        raise IndexError(f"axis {axis} is out of range for rank {rank}")
    return int(axis) % (rank + extra) if rank + extra else 0


def axes_of(axis: Axes, rank: int) -> tuple[int, ...]:
    """Return distinct axes counted from the front; None means all."""
    if axis is None:
        return tuple(range(rank))
    given = [axis_of(a, rank) for a in (axis if isinstance(axis, list | tuple) else (axis,))]
    if len({*given}) < len(given):
        raise ValueError(f"axes {axis} name one axis twice")
    return tuple(given)


def broadcast_to(x: TensorLike, /, shape: Iterable[Dim]) -> Tensor:
    """Return the tensor repeated along axes of extent 1 and new leading axes."""
    made: Tensor = MAKE.broadcast_to(as_tensor(x), shape=tuple(shape))
    return made


def broadcast_arrays(*arrays: TensorLike) -> list[Tensor]:
    """Return the tensors broadcast against each other."""
    tensors = [as_tensor(x) for x in arrays]
    shape = broadcast_shapes(*(x.shape for x in tensors))
    return [broadcast_to(x, shape) for x in tensors]


def broadcast_shapes(*shapes: Sequence[Dim]) -> tuple[Dim, ...]:
    """Return the shape that shapes broadcast to."""
    try:
        return broadcast(*shapes)
    except TypeError as error:
        raise OperandError(str(error)) from None


def concat(arrays: Sequence[TensorLike], /, *, axis: int | None = 0) -> Tensor:
    """Return tensors joined along an axis; with `axis=None`, flattened and joined."""
    tensors = promoted(*map(as_tensor, arrays))
    if axis is None:
        tensors = [reshape(x, (-1,)) for x in tensors]
    made: Tensor = MAKE.concat(*tensors, axis=axis_of(axis or 0, tensors[0].ndim))
    return made


def stack(arrays: Sequence[TensorLike], /, *, axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis."""
    tensors = promoted(*map(as_tensor, arrays))
    place = axis_of(axis, tensors[0].ndim + 1)
    made: Tensor = compositions.stack(apply, tensors, place)
    return made


def unstack(x: TensorLike, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the slices along an axis."""
    x = as_tensor(x)
    place = axis_of(axis, x.ndim)
    extent = x.shape[place]
    if not isinstance(extent, int):
        raise TypeError(f"axis {axis} has {extent} elements, expected a known number")
    return tuple(x[(slice(None),) * place + (i,)] for i in range(extent))


def expand_dims(x: TensorLike, /, axis: int = 0) -> Tensor:
    """Return the tensor with a new axis of extent 1."""
    x = as_tensor(x)
    made: Tensor = compositions.unsqueeze(apply, x, (axis_of(axis, x.ndim + 1),))
    return made


def squeeze(x: TensorLike, /, axis: int | tuple[int, ...]) -> Tensor:
    """Return the tensor without some axes of extent 1."""
    x = as_tensor(x)
    try:
        made: Tensor = compositions.squeeze(apply, x, axes_of(axis, x.ndim))
    except TypeError as error:
        raise OperandError(f"squeeze: {error}") from None
    return made


def flip(x: TensorLike, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Return the tensor with axes reversed."""
    x = as_tensor(x)
    made: Tensor = compositions.flip(apply, x, axes_of(axis, x.ndim))
    return made


def permute_dims(x: TensorLike, /, axes: tuple[int, ...]) -> Tensor:
    """Return the tensor with its axes in another order."""
    x = as_tensor(x)
    made: Tensor = MAKE.transpose(x, order=tuple(axis_of(a, x.ndim) for a in axes))
    return made


def matrix_transpose(x: TensorLike, /) -> Tensor:
    """Return each matrix with its axes exchanged: the last two."""
    x = as_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"a tensor of {x.ndim} axes, expected at least 2")
    return permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def moveaxis(
    x: TensorLike, source: Axis | Sequence[Axis], destination: Axis | Sequence[Axis], /
) -> Tensor:
    """Return the tensor with some axes at other places; the others keep their order."""
    x = as_tensor(x)
    old, new = axes_of(_many(source), x.ndim), axes_of(_many(destination), x.ndim)
    if len(old) != len(new):
        raise ValueError(f"{len(old)} axes to {len(new)} places, expected as many")
    order = [axis for axis in range(x.ndim) if axis not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return permute_dims(x, tuple(order))


def _many(value: SupportsIndex | Sequence[SupportsIndex]) -> tuple[SupportsIndex, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,)


def reshape(x: TensorLike, /, shape: ShapeLike, *, copy: bool | None = None) -> Tensor:
    """Return the elements in another shape, of which one extent may be -1."""
    x = as_tensor(x)
    wanted = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    made: Tensor = MAKE.reshape(x, shape=_completed(wanted, x))
    if copy is not None and computed(made):
        shared = np.may_share_memory(made._array, x._array) or not x.size
        if copy is False and not shared:
            raise ValueError("the elements do not lie in order, expected a copy to be allowed")
        return Tensor(np.array(made._array)) if copy and shared else made
    return made


def _completed(shape: tuple[Extent, ...], x: Tensor) -> tuple[Dim, ...]:
    """Return a shape with its -1 replaced by what is left."""
    dims = tuple(d if isinstance(d, DimExpr) else int(d) for d in shape)
    unknown = [axis for axis, d in enumerate(dims) if isinstance(d, int) and d == -1]
    if not unknown:
        return dims
    known = dim_rules.product([d for axis, d in enumerate(dims) if axis not in unknown])
    size = dim_rules.product(x.shape)
    fits = isinstance(known, DimExpr) or isinstance(size, DimExpr) or not known or not size % known
    if len(unknown) > 1 or known == 0 or not fits:
        raise OperandError(f"reshape: shape {shape} does not fit {x.spec}")
    rest = dim_rules.floor_divide(size, known)
    return tuple(rest if axis in unknown else d for axis, d in enumerate(dims))


def repeat(x: TensorLike, repeats: object, /, *, axis: int | None = None) -> Tensor:
    """Return the tensor with each element repeated, along an axis or flattened."""
    x = as_tensor(x)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    place = axis_of(axis, x.ndim)
    counts = repeats if isinstance(repeats, int | DimExpr) else as_tensor(repeats)
    if isinstance(counts, Tensor):
        if not counts.eager:
            made: Tensor = apply(host("repeat", np.repeat), x, counts, axis=place)
            return made
        if counts.ndim == 0 or counts.shape == (1,):
            counts = int(counts.item())
        else:
            chosen = np.repeat(np.arange(len(counts)), counts.numpy())
            gathered: Tensor = MAKE.gather(x, Tensor(chosen), axis=place)
            return gathered
    times: list[Dim] = [1] * x.ndim
    times[place] = counts
    repeated: Tensor = compositions.repeat(apply, x, times)
    return repeated


def tile(x: TensorLike, repetitions: tuple[int, ...], /) -> Tensor:
    """Return the whole tensor repeated along each axis."""
    x, times = as_tensor(x), tuple(repetitions)
    lacking = len(times) - x.ndim
    if lacking > 0:
        x = MAKE.reshape(x, shape=(1,) * lacking + x.shape)
    made: Tensor = compositions.tile(apply, x, (1,) * -min(lacking, 0) + times)
    return made


def roll(
    x: TensorLike,
    /,
    shift: SupportsIndex | Sequence[SupportsIndex],
    *,
    axis: Axis | Sequence[Axis] | None = None,
) -> Tensor:
    """Return the tensor with its elements moved up along axes, the last ones to the front."""
    x = as_tensor(x)
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    axes = [axis_of(index(a), x.ndim) for a in _many(axis)]
    shifts = _many(shift) if len(_many(shift)) > 1 else _many(shift) * len(axes)
    rolled: Tensor = x
    for place, steps in zip(axes, shifts, strict=True):
        if x.shape[place] != 0:
            rolled = compositions.roll(apply, rolled, place, index(steps))
    return rolled


def pad(
    x: TensorLike, pads: Iterable[tuple[Dim, Dim]], /, *, mode: str = "constant", value: float = 0.0
) -> Tensor:
    """Return the tensor with elements around it: `pads` gives two numbers for each axis."""
    made: Tensor = MAKE.pad(
        as_tensor(x), pads=tuple((a, b) for a, b in pads), mode=mode, value=float(value)
    )
    return made


def take(x: TensorLike, indices: TensorLike, /, *, axis: int | None = None) -> Tensor:
    """Return slices along an axis at indices, which may count from the end."""
    x = as_tensor(x)
    if axis is None and x.ndim != 1:
        raise ValueError(f"no axis for a tensor of {x.ndim} axes, expected one")
    place = axis_of(axis or 0, x.ndim)
    made: Tensor = MAKE.gather(x, _indices(indices), axis=place)
    return made


def take_along_axis(x: TensorLike, indices: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Return elements at indices along an axis, each at its own place along the others."""
    x, at = as_tensor(x), _indices(indices)
    place = axis_of(axis, x.ndim)
    shape = broadcast_shapes(*((*s[:place], 1, *s[place + 1 :]) for s in (x.shape, at.shape)))
    x = broadcast_to(x, (*shape[:place], x.shape[place], *shape[place + 1 :]))
    at = broadcast_to(at, (*shape[:place], at.shape[place], *shape[place + 1 :]))
    made: Tensor = MAKE.gather_elements(x, at, axis=place)
    return made


def _indices(value: TensorLike) -> Tensor:
    tensor = as_tensor(value, rows.i64)
    if not tensor.row.is_integer:
        raise TypeError(f"indices of {tensor.dtype}, expected integers")
    return tensor


remember_all(globals())
