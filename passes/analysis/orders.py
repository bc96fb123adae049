"""Orders of axes: how they compose, and how a tensor is brought into one.

An order is what `gv.transpose` takes: axis i of the result is axis order[i] of the source.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...ir import REGISTRY, GraphEmit
from ...ir.types.dims import Dim
from .rewrite import spec

Order = tuple[int, ...]


def compose(first: Order, second: Sequence[int]) -> Order:
    """Return the order that is `first` and then `second`."""
    return tuple(first[axis] for axis in second)


def inverse(order: Order) -> Order:
    """Return the order that undoes another."""
    return tuple(order.index(axis) for axis in range(len(order)))


def is_plain(order: Sequence[int]) -> bool:
    """Say whether an order changes nothing."""
    return all(axis == place for place, axis in enumerate(order))


def to_last(rank: int) -> Order:
    """Return the order that brings [N, C, *S] to [N, *S, C]."""
    return (0, *range(2, rank), 1)


def moves_units_only(shape: Sequence[Dim], order: Order) -> bool:
    """Say whether only axes of extent 1 change places, so that the elements stay in order."""
    moved = [axis for axis in order if shape[axis] != 1]
    return moved == sorted(moved)


def move(emit: GraphEmit, value: SSAValue, order: Order) -> SSAValue:
    """Return the value in another order of axes, by a reshape where that does it."""
    if is_plain(order):
        return value
    shape = spec(value).dims
    if moves_units_only(shape, order):
        return reshape(emit, value, compose_shape(shape, order))
    moved: SSAValue = emit(REGISTRY["gv.transpose"], value, order=order)
    return moved


def reshape(emit: GraphEmit, value: SSAValue, shape: tuple[Dim, ...]) -> SSAValue:
    """Return the value in another shape."""
    if spec(value).dims == shape:
        return value
    made: SSAValue = emit(REGISTRY["gv.reshape"], value, shape=shape)
    return made


def compose_shape(shape: Sequence[Dim], order: Sequence[int]) -> tuple[Dim, ...]:
    """Return a shape in another order of axes."""
    return tuple(shape[axis] for axis in order)


def segments(
    source: Sequence[Dim], target: Sequence[Dim]
) -> list[tuple[list[int], list[int]]] | None:
    """Cut two shapes of a reshape into the smallest runs of axes that hold as many elements.

    Returns pairs of source axes and target axes, None if symbols make it impossible to tell.
    Axes of extent 1 join the run before them.

    >>> segments((2, 6, 5), (2, 2, 3, 5, 1))
    [([0], [0]), ([1], [1, 2]), ([2], [3, 4])]
    """
    pairs: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(source) or j < len(target):
        left, right = [*range(i, min(i + 1, len(source)))], [*range(j, min(j + 1, len(target)))]
        a: Dim = source[i] if left else 1
        b: Dim = target[j] if right else 1
        i, j = i + len(left), j + len(right)
        while a != b:
            less = _is_less(a, b)
            if less is None or (i == len(source) if less else j == len(target)):
                return None
            if less:
                a, i = a * source[i], i + 1
                left.append(i - 1)
            else:
                b, j = b * target[j], j + 1
                right.append(j - 1)
        pairs.append((left, right))
    return _join_units(pairs, source, target)


def runs_of_axes(source: Sequence[Dim], target: Sequence[Dim]) -> list[tuple[slice, slice]]:
    """Return these runs as slices; where it is impossible to tell, all axes are one.

    >>> [(x.stop, y.stop) for x, y in runs_of_axes((29, 2, 29, 2, 1, 32), (58, 58, 32))]
    [(2, 1), (4, 2), (6, 3)]
    """
    found = segments(source, target)
    if found is None:
        return [(slice(0, len(source)), slice(0, len(target)))]
    made, i, j = [], 0, 0
    for left, right in found:
        made.append((slice(i, i + len(left)), slice(j, j + len(right))))
        i, j = i + len(left), j + len(right)
    return made


def _is_less(a: Dim, b: Dim) -> bool | None:
    """Say which of two different numbers of elements is a part of the other."""
    difference = a - b
    if isinstance(difference, int):
        return difference < 0
    if (b // a) * a == b:
        return True
    return False if (a // b) * b == a else None


def _join_units(
    pairs: list[tuple[list[int], list[int]]], source: Sequence[Dim], target: Sequence[Dim]
) -> list[tuple[list[int], list[int]]]:
    """Give each run that lacks axes on one side, and has units on the other, to a neighbour."""
    joined: list[tuple[list[int], list[int]]] = []
    for left, right in pairs:
        if joined and (not left or not right):
            joined[-1] = (joined[-1][0] + left, joined[-1][1] + right)
        else:
            joined.append((left, right))
    return joined


__all__ = [
    "Order",
    "compose",
    "compose_shape",
    "inverse",
    "is_plain",
    "move",
    "moves_units_only",
    "reshape",
    "runs_of_axes",
    "segments",
    "to_last",
]
