"""Operations that only move elements, on elements that they do not know: dimensions, text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.op import Array, Op


def is_moved(op: type[Op], operands: Sequence[Array]) -> bool:
    """Say whether results are elements of operands, by indices that are numbers."""
    count = op.moved(len(operands))
    return count is not None and all(index.dtype != object for index in operands[count:])


def move(op: type[Op], operands: Sequence[Array], attributes: Mapping[str, object]) -> list[Array]:
    """Return the results of an operation that moves, which is given places instead of elements."""
    count = op.moved(len(operands))
    assert count is not None, f"{op.name} computes"
    table: list[object] = []
    places: list[Array] = []
    for operand in operands[:count]:
        places.append(np.arange(len(table), len(table) + operand.size).reshape(operand.shape))
        table.extend(operand.ravel().tolist())
    elements = objects(table)
    made = op.evaluate(*places, *operands[count:], **attributes)
    return [elements[np.asarray(to)] if np.ndim(to) else objects([elements[to]]).reshape(())
            for to in made]  # fmt: skip


def objects(values: Sequence[object]) -> Array:
    """Return a vector of any objects."""
    made = np.empty(len(values), object)
    made[:] = list(values)
    return made
