"""Functions of functions, matrices solved on the host, and partitions by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.compositions import Maker
from ...ir.ops.families import spec_of_value
from .. import nest
from .array_ops import stack, unstack
from .core import convert, op, perform
from .nn_ops import inv


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    fn_output_signature: Any = None,
    name: Any = None,
    **_: Any,
) -> Any:
    """Apply a function to the slices along the first axis."""
    del dtype, fn_output_signature, name
    made = [fn(nest.pack(elems, row)) for row in _rows(elems)]
    return _stacked(made)


vectorized_map = map_fn


def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, **_: Any) -> Any:
    """Combine the slices from the first to the last."""
    return _fold(fn, [nest.pack(elems, row) for row in _rows(elems)], initializer)


def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, **_: Any) -> Any:
    """Combine the slices from the last to the first."""
    return _fold(fn, [nest.pack(elems, row) for row in _rows(elems)][::-1], initializer)


def _fold(fn: Callable[..., Any], rows: list[Any], initial: Any) -> Any:
    total = rows.pop(0) if initial is None else nest.map_structure(convert, initial)
    for row in rows:
        total = fn(total, row)
    return total


def scan(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, reverse: bool = False, **_: Any
) -> Any:
    """Return all states on the way of combining the slices."""
    rows = [nest.pack(elems, row) for row in _rows(elems)]
    rows = rows[::-1] if reverse else rows
    made = []
    if initializer is None:
        total = rows.pop(0)
        made.append(total)
    else:
        total = nest.map_structure(convert, initializer)
    for row in rows:
        total = fn(total, row)
        made.append(total)
    return _stacked(made[::-1] if reverse else made)


def _rows(elems: Any) -> list[tuple[Any, ...]]:
    return list(zip(*[unstack(x) for x in nest.flatten(elems)], strict=True))


def _stacked(made: list[Any]) -> Any:
    columns = zip(*map(nest.flatten, made), strict=True)
    return nest.pack(made[0], [stack(list(column)) for column in columns])


def _host(type_: str, function: Callable[..., Any], *operands: str) -> Any:
    @op(type_, "x", strict=False, differentiable=False)
    def made(m: Maker, x: Any) -> Any:
        """Compute on the host."""
        array = np.asarray(x)
        return np.asarray(function(array), array.dtype)

    return made


det = _host("MatrixDeterminant", np.linalg.det)
cholesky = _host("Cholesky", np.linalg.cholesky)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: Any = None) -> Any:
    """Solve linear equations."""
    from .math_ops import matmul  # noqa: PLC0415

    return matmul(inv(matrix), rhs, transpose_a=adjoint)


def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: Any = None
) -> Any:
    """Solve linear equations of which only a triangle counts."""
    from .nn_ops import band_part  # noqa: PLC0415

    kept = band_part(matrix, -1, 0) if lower else band_part(matrix, 0, -1)
    return solve(kept, rhs, adjoint)


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: Any = None
) -> list[Any]:
    """Part rows by numbers."""

    def rule(m: Maker, x: Any, p: Any) -> Any:
        ids = np.asarray(p)
        places = [np.flatnonzero(ids == i) for i in range(num_partitions)]
        return tuple(m.gather(x, m.constant(value=at), axis=0) for at in places)

    return list(perform("DynamicPartition", rule, [convert(data), convert(partitions)], name=name))


def dynamic_stitch(indices: Any, data: Any, name: Any = None) -> Any:
    """Put rows where indices say; later ones win."""
    count = len(indices)

    def rule(m: Maker, *xs: Any) -> Any:
        ids = [np.asarray(i) for i in xs[:count]]
        flat = np.concatenate([i.ravel() for i in ids])
        rest = spec_of_value(xs[count]).dims[ids[0].ndim :]
        parts = [m.reshape(x, shape=(i.size, *rest)) for i, x in zip(ids, xs[count:], strict=True)]
        last = {int(at): place for place, at in enumerate(flat)}
        order = np.array([last.get(i, 0) for i in range(int(flat.max()) + 1)])
        return m.gather(m.concat(*parts, axis=0), m.constant(value=order), axis=0)

    values = [*map(convert, indices), *map(convert, data)]
    return perform("DynamicStitch", rule, values, name=name)


def hessians(ys: Any, xs: Any, **_: Any) -> list[Any]:
    """Return the second derivatives of a number by each element."""
    from .array_ops import reshape  # noqa: PLC0415
    from .flow import gradients  # noqa: PLC0415

    made = []
    for x in nest.flatten(xs):
        [first] = gradients(ys, x)
        flat = reshape(first, [-1])
        rows = [gradients(flat[i], x)[0] for i in range(int(flat.shape[0]))]
        dims = x.shape.as_list()
        made.append(reshape(stack(rows), [*dims, *dims]))
    return made
