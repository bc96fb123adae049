"""Functions that move elements, join arrays and cut them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from ..core.bridge import TfTensor
from ..core.values import static
from ..ops import array_ops as _a
from ..ops import linear_ops as _l
from ..ops.composed import roll as _moved
from ..ops.creation import meshgrid as _meshgrid
from ..ops.gathering import gather
from ..ops.math_ops import cast
from .elementwise import nonzero
from .promoting import Together, Value, as_type, promoted, tensor


def _rank(x: TfTensor) -> int:
    return len(x.shape)


def reshape(a: Value, newshape: object, order: str = "C") -> TfTensor:
    """Return the elements in another shape."""
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order {order}")
    with Together(a, newshape):
        x = tensor(a)
        if order == "C":
            return _a.reshape(x, _extents(newshape))
        return _a.transpose(_a.reshape(_a.transpose(x), _extents(newshape)[::-1]))


def _extents(given: Value) -> Value:
    return [given] if isinstance(given, int) else given


def ravel(a: Value, order: str = "C") -> TfTensor:
    """Return all elements along one axis."""
    return reshape(a, [-1], order)


def flatten(a: Value, order: str = "C") -> TfTensor:
    """Return all elements along one axis; the orders `A` and `K` are that of `C`."""
    if order not in ("C", "A", "K", "F"):
        raise ValueError("order can only be C, A, K (all row major) or F (column major).")
    return ravel(a, "F" if order == "F" else "C")


def transpose(a: Value, axes: Sequence[int] | None = None) -> TfTensor:
    """Exchange axes."""
    with Together(a):
        return _a.transpose(tensor(a), axes)


def swapaxes(a: Value, axis1: int, axis2: int) -> TfTensor:
    """Exchange two axes."""
    with Together(a):
        order = [*range(_rank(tensor(a)))]
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return _a.transpose(tensor(a), order)


def moveaxis(a: Value, source: Value, destination: Value) -> TfTensor:
    """Put axes to other places; the others keep their order."""
    with Together(a):
        count = _rank(tensor(a))
        places = [[n % count for n in np.ravel(static(each))] for each in (source, destination)]
        order = [n for n in range(count) if n not in places[0]]
        for to, axis in sorted(zip(places[1], places[0], strict=True)):
            order.insert(to, axis)
        return _a.transpose(tensor(a), order)


def expand_dims(a: Value, axis: Value) -> TfTensor:
    """Return an array with another axis of one element, or several."""
    with Together(a):
        made = tensor(a)
        count = _rank(made) + len(np.ravel(axis))
        for place in sorted(int(n) % count for n in np.ravel(axis)):
            made = _a.expand_dims(made, place)
        return made


def squeeze(a: Value, axis: Value = None) -> TfTensor:
    """Leave axes of one element out."""
    with Together(a):
        return _a.squeeze(tensor(a), axis)


def _at_least(rank: int) -> Callable[..., object]:
    def one(a: Value) -> TfTensor:
        x = tensor(a)
        while _rank(x) < rank:
            x = _a.expand_dims(x, -1 if _rank(x) == 2 else 0)
        return x

    def public(*arys: Value) -> object:
        """Return arrays with so many axes at least."""
        with Together(*arys):
            made = [one(a) for a in arys]
            return made[0] if len(made) == 1 else made

    return public


def flip(m: Value, axis: Value = None) -> TfTensor:
    """Turn the order of elements round."""
    with Together(m):
        x = tensor(m)
        given = [*range(_rank(x))] if axis is None else np.ravel(axis).tolist()
        return _a.reverse(x, [n % _rank(x) for n in given])


def rot90(m: Value, k: int = 1, axes: tuple[int, int] = (0, 1)) -> TfTensor:
    """Turn by quarters, from the first of two axes to the second."""
    made = tensor(m)
    for _ in range(k % 4):
        made = swapaxes(flip(made, axes[1]), *axes)
    return made


def roll(a: Value, shift: Value, axis: Value = None) -> TfTensor:
    """Move elements along axes, or along all of them as one."""
    with Together(a):
        x = tensor(a)
        if axis is None:
            return _a.reshape(_moved(_a.reshape(x, [-1]), shift, 0), _a.shape(x))
        return _moved(x, shift, axis)


def repeat(a: Value, repeats: Value, axis: int | None = None) -> TfTensor:
    """Repeat each element."""
    with Together(a, repeats):
        return _a.repeat(tensor(a), repeats, axis)


def tile(a: Value, reps: Value) -> TfTensor:
    """Repeat an array along its axes."""
    with Together(a):
        x, times = tensor(a), [int(n) for n in np.ravel(static(reps))]
        while _rank(x) < len(times):
            x = _a.expand_dims(x, 0)
        return _a.tile(x, [1] * (_rank(x) - len(times)) + times)


def broadcast_to(array: Value, shape: Value) -> TfTensor:
    """Repeat elements until an array has a shape."""
    with Together(array, shape):
        return _a.broadcast_to(tensor(array), shape)


def broadcast_arrays(*args: Value, subok: bool = False) -> list[TfTensor]:
    """Return arrays in the shape that they have together."""
    if subok:
        raise ValueError("subok=True is not supported. Received: subok=True")
    with Together(*args):
        given = [tensor(a) for a in args]
        shape = _a.shape(given[0])
        for each in given[1:]:
            shape = _a.broadcast_dynamic_shape(shape, _a.shape(each))
        return [_a.broadcast_to(each, shape) for each in given]


def concatenate(arys: Sequence[Value], axis: int | None = 0) -> TfTensor:
    """Join arrays along an axis, or all their elements."""
    with Together(*arys):
        given = promoted(*arys)
        if axis is None:
            return _a.concat([_a.reshape(x, [-1]) for x in given], 0)
        return _a.concat(given, axis)


def stack(arrays: Sequence[Value], axis: int = 0) -> TfTensor:
    """Put arrays of one shape side by side along a new axis."""
    with Together(arrays):
        return _a.stack(promoted(*arrays) if isinstance(arrays, list | tuple) else arrays, axis)


def _stacked(rank: int, axis: int) -> Callable[..., TfTensor]:
    def public(tup: Sequence[Value]) -> TfTensor:
        """Join arrays along an axis that they have, or get."""
        with Together(*tup):
            given = [AT_LEAST[rank](x) for x in promoted(*tup)]
            along = 0 if axis == 1 and all(_rank(x) == 1 for x in given) else axis  # type: ignore[arg-type]
            return _a.concat(given, along)

    return public


AT_LEAST = {rank: _at_least(rank) for rank in (1, 2, 3)}


def split(ary: Value, indices_or_sections: Value, axis: int = 0) -> list[TfTensor]:
    """Cut an array into pieces of one size, or at places."""
    with Together(ary):
        x = tensor(ary)
        if isinstance(indices_or_sections, int | np.integer):
            return list(_a.split(x, int(indices_or_sections), axis))
        cuts = [0, *(int(n) for n in np.ravel(static(indices_or_sections))), None]
        before = [slice(None)] * (axis % _rank(x))
        return [x[(*before, slice(a, b))] for a, b in itertools.pairwise(cuts)]


def _split_along(axis: int) -> Callable[..., list[TfTensor]]:
    def public(ary: Value, indices_or_sections: Value) -> list[TfTensor]:
        """Cut an array into pieces along an axis."""
        along = 0 if axis == 1 and _rank(tensor(ary)) == 1 else axis
        return split(ary, indices_or_sections, along)

    return public


def take(
    a: Value, indices: Value, axis: int | None = None, out: None = None, mode: str = "clip"
) -> TfTensor:
    """Return elements at places along an axis; places beyond the ends are the last ones."""
    if out is not None or mode not in ("clip", "wrap"):
        raise ValueError(f"mode {mode!r} is not supported, expected 'clip' or 'wrap', and no out")
    with Together(a, indices):
        x, at = tensor(a), tensor(indices)
        if axis is None:
            x, axis = _a.reshape(x, [-1]), 0
        size = cast(_a.shape(x)[axis], at.dtype)
        from ..ops.nn_ops import clip_by_value  # noqa: PLC0415

        inside = at % size if mode == "wrap" else clip_by_value(at, 0, size - 1)
        return gather(x, inside, axis=axis)


def take_along_axis(arr: Value, indices: Value, axis: int | None) -> TfTensor:
    """Return elements at places of their own along an axis."""
    with Together(arr, indices):
        x, at = tensor(arr), tensor(indices)
        if axis is None:
            x, at, axis = _a.reshape(x, [-1]), _a.reshape(at, [-1]), 0
        last = _rank(x) - 1
        x, at = swapaxes(x, axis, last), swapaxes(at, axis, last)
        outer = _a.broadcast_dynamic_shape(_a.shape(x)[:-1], _a.shape(at)[:-1])
        x = _a.broadcast_to(x, _a.concat([outer, _a.shape(x)[-1:]], 0))
        at = _a.broadcast_to(at, _a.concat([outer, _a.shape(at)[-1:]], 0))
        at = cast(at, "int64") % cast(_a.shape(x)[-1], "int64")
        return swapaxes(gather(x, at, axis=last, batch_dims=last), axis, last)


def pad(array: Value, pad_width: Value, mode: str = "constant", **kwargs: Value) -> TfTensor:
    """Put elements around an array: zeros or what `constant_values` says, or mirrored ones."""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    filled = kwargs.pop("constant_values", 0)
    if kwargs:
        raise TypeError(f"pad has no options {sorted(kwargs)}")
    with Together(array):
        x = tensor(array)
        widths = np.broadcast_to(static(pad_width), (_rank(x), 2)).tolist()
        return _a.pad(x, widths, mode.upper(), constant_values=filled)


def compress(condition: Value, a: Value, axis: int | None = None) -> TfTensor:
    """Return the elements along an axis where a condition holds."""
    with Together(condition, a):
        x = tensor(a)
        if axis is None:
            x, axis = _a.reshape(x, [-1]), 0
        return gather(x, nonzero(condition)[0], axis=axis)


def diag(v: Value, k: int = 0) -> TfTensor:
    """Return the diagonal of a matrix, or a matrix with a diagonal."""
    with Together(v):
        x = tensor(v)
        if _rank(x) > 2:
            raise ValueError("Input must be 1-d or 2-d only.")
        if _rank(x) == 2:
            return _line(x, k)
        if x.shape.as_list() == [0]:
            return as_type(np.zeros([abs(k)] * 2), x.dtype.as_numpy_dtype)
        return _l.diag(x, k=k)


def _line(x: TfTensor, k: int) -> TfTensor:
    """Return diagonals of matrices: nothing of those that are beyond the corners."""
    *outer, rows, columns = x.shape.as_list()
    if rows is None or columns is None or min(rows + min(k, 0), columns - max(k, 0)) > 0:
        return _l.diag_part(x, k=k)
    return as_type(np.zeros([*outer, 0]), x.dtype.as_numpy_dtype)


def diagonal(a: Value, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TfTensor:
    """Return the diagonals of matrices along two axes."""
    with Together(a):
        return _line(moveaxis(tensor(a), (axis1, axis2), (-2, -1)), offset)


def diagflat(v: Value, k: int = 0) -> TfTensor:
    """Return a matrix with all elements along a diagonal."""
    return diag(ravel(v), k)


def _triangle(lower: bool) -> Callable[..., TfTensor]:
    def public(m: Value, k: int = 0) -> TfTensor:
        """Return the elements on one side of a diagonal, zeros on the other."""
        from .making import tri  # noqa: PLC0415

        with Together(m):
            x = tensor(m)
            rows, columns = x.shape[-2:].known()
            inside = as_type(tri(rows, columns, k if lower else k - 1), np.bool_)
            return _a.where(inside, x, x * 0) if lower else _a.where(inside, x * 0, x)

    return public


def meshgrid(
    *xi: Value, sparse: bool = False, copy: bool = True, indexing: str = "xy"
) -> list[TfTensor]:
    """Return the coordinates of all places of a grid."""
    if sparse or not copy:
        raise ValueError("Function `meshgrid` supports neither sparse=True nor copy=False.")
    if not xi:
        return []
    with Together(*xi):
        return list(_meshgrid(*[tensor(x) for x in xi], indexing=indexing))


def kron(a: Value, b: Value) -> TfTensor:
    """Return blocks of b, each times an element of a."""
    with Together(a, b):
        x, y = promoted(a, b)
        count = max(_rank(x), _rank(y))
        shapes = [[1] * (count - _rank(v)) + v.shape.known() for v in (x, y)]
        wide = _a.reshape(x, [n for d in shapes[0] for n in (d, 1)])
        fine = _a.reshape(y, [n for d in shapes[1] for n in (1, d)])
        return _a.reshape(wide * fine, [p * q for p, q in zip(*shapes, strict=True)])


SHAPING: dict[str, Callable[..., object]] = {
    **{f"atleast_{rank}d": made for rank, made in AT_LEAST.items()},
    "broadcast_arrays": broadcast_arrays,
    "broadcast_to": broadcast_to,
    "compress": compress,
    "concatenate": concatenate,
    "diag": diag,
    "diagflat": diagflat,
    "diagonal": diagonal,
    "dsplit": _split_along(2),
    "dstack": _stacked(3, 2),
    "expand_dims": expand_dims,
    "flatten": flatten,
    "ravel": ravel,
    "flip": flip,
    "fliplr": lambda m: flip(m, 1),
    "flipud": lambda m: flip(m, 0),
    "hsplit": _split_along(1),
    "hstack": _stacked(1, 1),
    "kron": kron,
    "meshgrid": meshgrid,
    "moveaxis": moveaxis,
    "pad": pad,
    "repeat": repeat,
    "reshape": reshape,
    "roll": roll,
    "rot90": rot90,
    "split": split,
    "squeeze": squeeze,
    "stack": stack,
    "swapaxes": swapaxes,
    "take": take,
    "take_along_axis": take_along_axis,
    "tile": tile,
    "transpose": transpose,
    "tril": _triangle(lower=True),
    "triu": _triangle(lower=False),
    "vsplit": _split_along(0),
    "vstack": _stacked(2, 0),
}
