"""Nodes that write and read tensors of a checkpoint by their names: `SaveV2`, `RestoreV2`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ....ir.op import Array
from ....ir.types.dtypes import DType
from ...graph.checkpoint_ops import PART, Share, part_of, path_of, read, write
from ...graph.graph import Operation, spec_with_unknowns
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError, NotFoundError, UnimplementedError
from ..core.bridge import TfTensor, row_of
from ..core.host_ops import host, host_effect
from ..core.values import convert


def _names(tensor_names: Array, slices: Array, count: int) -> list[str]:
    """Return what names tensors in a file, each whole or as a part."""
    names = [x.decode() for x in tensor_names.ravel().tolist()]
    parts = slices.ravel().tolist()
    if not len(names) == len(parts) == count:
        raise InvalidArgumentError(
            f"{len(names)} names and {len(parts)} slices, expected {count}: one for each tensor"
        )
    pairs = zip(names, (part.decode() for part in parts), strict=True)
    return [f"{name}{PART}{Share.parse(part)}" if part else name for name, part in pairs]


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
        for key, value in zip(found, values, strict=True):
            share = part_of(key)[1]
            if share is not None and value.shape != share.shape:
                raise InvalidArgumentError(
                    f"{part_of(key)[0]} has shape {list(value.shape)}, its part is {share}"
                )
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
        for given, row in zip(_names(names, slices, len(rows)), rows, strict=True):
            key, share = part_of(given)
            if key not in found:
                raise NotFoundError(f"Key {key} not found in checkpoint {where}")
            if found[key].dtype != row.numpy:
                raise InvalidArgumentError(
                    f"{key} of {where} has elements of {found[key].dtype}, expected {row}"
                )
            if share is not None and found[key].shape != share.whole:
                raise InvalidArgumentError(
                    f"{key} of {where} has shape {list(found[key].shape)}, the part is {share}"
                )
            made.append(found[key] if share is None else found[key][share.places])
        return made

    given = [convert(x, "string") for x in (prefix, tensor_names, shape_and_slices)]
    specs = [spec_with_unknowns(row, None) for row in rows]
    return host("RestoreV2", restore, given, specs, effect=True, name=name)


def _row(dtype: DTypeLike) -> DType:
    row = row_of(dtype)
    assert row is not None, "an element type was given"
    return row


def load_and_remap_matrix(
    ckpt_path: object,
    old_tensor_name: object,
    row_remapping: object,
    col_remapping: object,
    initializing_values: object,
    num_rows: int,
    num_cols: int,
    max_rows_in_memory: int = -1,
    name: str | None = None,
) -> TfTensor:
    """Return a matrix of a checkpoint with rows and columns in other places.

    Where -1 stands, values are taken one after the other. A checkpoint's tensors are read whole.
    """
    del max_rows_in_memory

    def compute(path: Array, key: Array, down: Array, across: Array, new: Array) -> Sequence[Array]:
        where, text = path_of(path.reshape(-1)[:1].reshape(())), key.item().decode()
        found = read(where)
        if text not in found:
            raise NotFoundError(f"Key {text} not found in checkpoint {where}")
        across = across if len(across) else np.arange(num_cols)
        for places, count, what in ((down, num_rows, "row"), (across, num_cols, "column")):
            used = places[places >= 0]
            if len(places) != count:
                raise InvalidArgumentError(f"{len(places)} {what}s are remapped, expected {count}")
            if len(np.unique(used)) != len(used):
                raise UnimplementedError(f"a {what} that is taken more than once: {places}")
        open_ = (down < 0)[:, None] | (across < 0)[None, :]
        if len(new) != open_.sum():
            raise InvalidArgumentError(
                f"{len(new)} initializing values, expected {open_.sum()}: one for each new element"
            )
        made = found[text][np.maximum(down, 0)][:, np.maximum(across, 0)].astype(np.float32)
        made[open_] = new
        return (made,)

    given = [convert(x, "string") for x in (ckpt_path, old_tensor_name)]
    given += [convert(x, "int64") for x in (row_remapping, col_remapping)]
    given.append(convert(initializing_values, "float32"))
    spec = spec_with_unknowns(_row("float32"), (num_rows, num_cols))
    return host("LoadAndRemapMatrix", compute, given, [spec], effect=True, name=name)[0]


def generate_vocab_remapping(
    new_vocab_file: object,
    old_vocab_file: object,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int = -1,
    name: str | None = None,
) -> tuple[TfTensor, TfTensor]:
    """Return where lines of a new file stand in an old one (-1: nowhere), and how many do."""

    def compute(new: Array, old: Array) -> Sequence[Array]:
        before = Path(path_of(old)).read_bytes().splitlines()
        after = Path(path_of(new)).read_bytes().splitlines()
        known = {x: i for i, x in enumerate(before if old_vocab_size < 0 else
                                            before[:old_vocab_size])}  # fmt: skip
        wanted = after[new_vocab_offset : new_vocab_offset + num_new_vocab]
        if len(wanted) != num_new_vocab:
            raise InvalidArgumentError(
                f"{path_of(new)} has {len(after)} lines, expected {num_new_vocab} from line "
                f"{new_vocab_offset} on"
            )
        made = np.array([known.get(x, -1) for x in wanted], np.int64)
        return made, np.array((made >= 0).sum(), np.int32)

    given = [convert(x, "string") for x in (new_vocab_file, old_vocab_file)]
    specs = [spec_with_unknowns(_row("int64"), (num_new_vocab,))]
    specs.append(spec_with_unknowns(_row("int32"), ()))
    found, count = host("GenerateVocabRemapping", compute, given, specs, effect=True, name=name)
    return found, count


REMAPPING: dict[str, object] = {
    "GenerateVocabRemapping": generate_vocab_remapping,
    "LoadAndRemapMatrix": load_and_remap_matrix,
}
"""By the type of an operation: its function."""
