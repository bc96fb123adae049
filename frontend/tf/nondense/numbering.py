"""Indices of elements as one number each, which numpy sorts and compares far faster than rows."""

from __future__ import annotations

import numpy as np

from ....ir.op import Array

MOST = 1 << 62
"""So many places can be told apart by a number."""


def numbered(*tables: Array) -> list[Array] | None:
    """Return a number for each row of tables, which are ordered as the rows are; None: too many.

    >>> numbered(np.array([[0, 2], [1, 0]]), np.array([[1, 1]]))
    [array([2, 3]), array([4])]
    """
    width = tables[0].shape[1]
    if any(x.size and x.min() < 0 for x in tables):
        return None
    sizes = np.max([x.max(axis=0, initial=0) for x in tables], axis=0).tolist() if width else []
    made = [np.zeros(len(x), np.int64) for x in tables]
    places = 1
    for column, largest in enumerate(sizes):
        places *= largest + 1
        if places > MOST:
            return None
        made = [
            number * (largest + 1) + x[:, column] for number, x in zip(made, tables, strict=True)
        ]
    return made


def different(table: Array) -> tuple[Array, Array]:
    """Return the different rows of a table in order, and which one each row is.

    >>> [x.tolist() for x in different(np.array([[1, 0], [0, 5], [1, 0]]))]
    [[[0, 5], [1, 0]], [1, 0, 1]]
    """
    numbers = numbered(table)
    if numbers is None:
        there, place = np.unique(table, axis=0, return_inverse=True)
        return there, place.reshape(-1).astype(np.int64)
    _, first, place = np.unique(numbers[0], return_index=True, return_inverse=True)
    return table[first], place.reshape(-1).astype(np.int64)
