"""`tf.raw_ops`: how often each number comes, in all of a tensor or in each of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....ir.op import Array
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import host, unknown
from ..core.values import (
    InGraph,
    InvalidShapesError,
    InvalidTypesError,
    convert,
    graph_of,
    static,
)
from ..ops import math_ops as _m
from ..ops.array_ops import expand_dims
from ..ops.composed import bitcast
from ..ops.creation import constant
from ..ops.math_ops import cast

Lines = Callable[..., tuple[Array, int | None]]
"""Of the operands that say where numbers stand: the row of each, and how many; None: all in one."""


def _refuse_rank(name: str, x: TfTensor, most: int, *, exactly: bool = False) -> None:
    rank = x.shape.rank
    if rank is not None and (rank > most or (exactly and rank != most)):
        raise InvalidShapesError(
            f"Shape must be {'' if exactly else 'at most '}rank {most} but is rank {rank} for "
            f"{name} with input shape {x.shape}"
        )


def _counted(
    type_: str, lines: Lines, given: Sequence[object], values: object, size: object,
    weights: object, binary: bool, dims: Sequence[int | None], name: str | None,
) -> TfTensor:  # fmt: skip
    """Count by a function that says in which row each value stands."""
    with InGraph(graph_of([*given, values, size, weights])):
        numbers, count, weight = convert(values), convert(size), convert(weights)
        _refuse_rank(type_, count, 0, exactly=True)
        known = static(size)
        if isinstance(known, int) and known < 0:
            raise InvalidShapesError(f"size ({known}) must be non-negative")
        row = weight.spec.dtype

        def compute(values: Array, size: Array, weights: Array, *places: Array) -> Sequence[Array]:
            if int(size) < 0:
                raise InvalidArgumentError(f"size ({int(size)}) must be non-negative")
            if (values < 0).any():
                raise InvalidArgumentError("Input arr must be non-negative!")
            if weights.size not in (0, values.size):
                raise InvalidArgumentError(
                    f"weights have shape {weights.shape} for input of shape {values.shape}"
                )
            line, count = lines(values, *places)
            used = values.ravel() < int(size)
            made = np.zeros((1 if count is None else count, int(size)), row.numpy)
            at = line[used], values.ravel()[used]
            if binary:
                made[at] = 1
            else:
                np.add.at(made, at, weights.ravel()[used] if weights.size else row.numpy.type(1))
            return (made[0] if count is None else made,)

        spec = unknown(row, *dims, known if isinstance(known, int) else None)
        tensors = [numbers, count, weight, *map(convert, given)]
        return host(type_, compute, tensors, [spec], name=name)[0]


def _in_one(values: Array, *_: Array) -> tuple[Array, None]:
    return np.zeros(values.size, np.int64), None


def _dense(values: Array) -> tuple[Array, int | None]:
    if values.ndim != 2:
        return _in_one(values)
    return np.repeat(np.arange(len(values)), values.shape[1]), len(values)


def _sparse(values: Array, places: Array, extents: Array) -> tuple[Array, int | None]:
    if len(extents) == 1:
        return _in_one(values)
    return places[:, 0], int(extents[0])


def _ragged(values: Array, splits: Array) -> tuple[Array, int | None]:
    if not len(splits) or splits[0] != 0 or splits[-1] != values.size:
        raise InvalidArgumentError(f"Splits must go from 0 to {values.size}, not {splits}")
    return np.repeat(np.arange(len(splits) - 1), np.diff(splits)), len(splits) - 1


def bincount(arr: object, size: object, weights: object, name: str | None = None) -> TfTensor:
    """Count each number below `size`, or add up the weights of each."""
    return _counted("Bincount", _in_one, [], arr, size, weights, False, (), name)


def dense_bincount(
    input: object, size: object, weights: object, binary_output: bool = False,
    name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Count each number below `size`, in all of a vector or in each row of a matrix."""
    with InGraph(graph_of([input, size, weights])):
        x = convert(input)
        _refuse_rank("DenseBincount", x, 2)
        outer = x.shape.as_list()[:1] if x.shape.rank == 2 else []
        return _counted("DenseBincount", _dense, [], x, size, weights, binary_output, outer, name)


def sparse_bincount(
    indices: object, values: object, dense_shape: object, size: object, weights: object,
    binary_output: bool = False, name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Count each number below `size` of a sparse vector, or of each row of a sparse matrix."""
    with InGraph(graph_of([indices, values, dense_shape, size, weights])):
        extents = convert(dense_shape, "int64")
        places = convert(indices, "int64")
        known = static(extents)
        outer = known[:1] if isinstance(known, list) and len(known) > 1 else []
        rank = extents.shape.as_list()[0] if extents.shape.rank else None
        outer = outer or ([None] if rank != 1 else [])
        return _counted("SparseBincount", _sparse, [places, extents], values, size, weights,
                        binary_output, outer, name)  # fmt: skip


def ragged_bincount(
    splits: object, values: object, size: object, weights: object, binary_output: bool = False,
    name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Count each number below `size` of each ragged row."""
    with InGraph(graph_of([splits, values, size, weights])):
        ends = convert(splits, "int64")
        count = ends.shape.as_list()[0] if ends.shape.rank else None
        outer = [None if count is None else count - 1]
        return _counted("RaggedBincount", _ragged, [ends], values, size, weights, binary_output,
                        outer, name)  # fmt: skip


def bucketize(input: object, boundaries: Sequence[float], name: str | None = None) -> TfTensor:
    """Return the number of the bucket of each value: how many boundaries are not above it."""
    ends = np.asarray(boundaries, np.float32)
    if (ends[1:] < ends[:-1]).any():
        raise InvalidArgumentError("Expected sorted boundaries")
    with InGraph(graph_of([input])):
        values = cast(convert(input), "float32")
        passed = _m.FUNCTIONS["logical_not"](expand_dims(values, -1) < ends)  # (NaN passes all)
        return _m.REDUCTIONS["reduce_sum"](cast(passed, "int32"), axis=-1, name=name)


def population_count(x: object, name: str | None = None) -> TfTensor:
    """Return how many bits of each integer are set: of pairs, of fours, and so on."""
    with InGraph(graph_of([x])):
        given = convert(x)
        if given.dtype.kind not in "iu":
            raise InvalidTypesError(f"Value for attr 'T' of {given.dtype.name} is no integer")
        bits = 8 * given.dtype.size
        count, width = bitcast(given, f"uint{bits}"), 1
        while width < bits:
            mask = sum(1 << at for at in range(bits) if at // width % 2 == 0)
            part = constant(np.array(mask, f"uint{bits}"))
            shift = constant(np.array(width, f"uint{bits}"))
            above = _m.FUNCTIONS["right_shift"](count, shift)
            count, width = (count & part) + (above & part), 2 * width
        return cast(count, "uint8", name)


COUNTS: dict[str, object] = {
    "PopulationCount": population_count,
    "Bincount": bincount,
    "Bucketize": bucketize,
    "DenseBincount": dense_bincount,
    "RaggedBincount": ragged_bincount,
    "SparseBincount": sparse_bincount,
}
"""By the type of an operation: its function."""
