"""Nodes that write and read tensors of a checkpoint by their names: `SaveV2`, `RestoreV2`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types.dtypes import DType
from ...graph.checkpoint_ops import path_of, read, write
from ...graph.graph import Operation, spec_with_unknowns
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError, NotFoundError, UnimplementedError
from ..core.bridge import TfTensor, row_of
from ..core.host_ops import host, host_effect
from ..core.values import convert


def _names(tensor_names: Array, slices: Array, count: int) -> list[str]:
    """Return the names of tensors, each of which is wanted whole."""
    names = [x.decode() for x in tensor_names.ravel().tolist()]
    parts = slices.ravel().tolist()
    if not len(names) == len(parts) == count:
        raise InvalidArgumentError(
            f"{len(names)} names and {len(parts)} slices, expected {count}: one for each tensor"
        )
    for name, part in zip(names, parts, strict=True):
        if part:
            raise UnimplementedError(
                f"the slice {part.decode()!r} of {name!r}, expected '': tensors are written whole"
            )
    return names


def save_v2(
    prefix: object,
    tensor_names: object,
    shape_and_slices: object,
    tensors: Sequence[object],
    name: str | None = None,
) -> Operation | None:
    """Write tensors into a checkpoint by their names."""

    def save(path: Array, names: Array, slices: Array, *values: Array) -> Sequence[Array]:
        found = _names(names, slices, len(values))
        write(path_of(path), dict(zip(found, map(np.array, values), strict=True)))
        return ()

    given = [convert(x, "string") for x in (prefix, tensor_names, shape_and_slices)]
    return host_effect("SaveV2", save, [*given, *map(convert, tensors)], name)


def restore_v2(
    prefix: object,
    tensor_names: object,
    shape_and_slices: object,
    dtypes: Sequence[DTypeLike],
    name: str | None = None,
) -> list[TfTensor]:
    """Return the tensors of a checkpoint that have names."""
    rows = [_row(dtype) for dtype in dtypes]

    def restore(path: Array, names: Array, slices: Array) -> Sequence[Array]:
        where = path_of(path)
        found = read(where)
        made = []
        for key, row in zip(_names(names, slices, len(rows)), rows, strict=True):
            if key not in found:
                raise NotFoundError(f"Key {key} not found in checkpoint {where}")
            if found[key].dtype != row.numpy:
                raise InvalidArgumentError(
                    f"{key} of {where} has elements of {found[key].dtype}, expected {row}"
                )
            made.append(found[key])
        return made

    given = [convert(x, "string") for x in (prefix, tensor_names, shape_and_slices)]
    specs = [spec_with_unknowns(row, None) for row in rows]
    return host("RestoreV2", restore, given, specs, effect=True, name=name)


def _row(dtype: DTypeLike) -> DType:
    row = row_of(dtype)
    assert row is not None, "an element type was given"
    return row
