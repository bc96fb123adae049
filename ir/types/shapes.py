"""Arithmetic on shapes."""

from __future__ import annotations

from collections.abc import Sequence

from .dims import Dim


class UnequalError(TypeError):
    """Two sizes that must be equal are not."""

    def __init__(self, message: str, a: Dim, b: Dim) -> None:
        super().__init__(message)
        self.sizes = a, b


class BroadcastError(UnequalError):
    """Two sizes that stand in one column when shapes broadcast are not equal, and neither is 1."""

    def __init__(self, message: str, a: Dim, b: Dim, behind: int) -> None:
        super().__init__(message, a, b)
        self.behind = behind
        """How many columns are behind theirs."""


def broadcast(*shapes: Sequence[Dim], behind: int = 0) -> tuple[Dim, ...]:
    """Return the shape that shapes broadcast to, by numpy's rule, or raise `TypeError`.

    There are so many axes `behind` that are not looked at.

    >>> broadcast((4, 1), (3,))
    (4, 3)
    """
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    result: list[Dim] = []
    for at, column in enumerate(zip(*padded, strict=True), 1):
        wide = [d for d in column if d != 1]
        if any(d != wide[0] for d in wide):
            names = " and ".join(_shape(s) for s in shapes)
            others = [d for d in wide if d != wide[0]]
            message = f"shapes {names} do not broadcast: {wide[0]} against {others[0]}"
            raise BroadcastError(message, wide[0], others[0], rank - at + behind)
        result.append(wide[0] if wide else 1)
    return tuple(result)


def _shape(shape: Sequence[Dim]) -> str:
    inner = ", ".join(map(str, shape))
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def normalize_axis(axis: int, rank: int) -> int:
    """Return the axis counted from the front, or raise `TypeError`."""
    if not -rank <= axis < max(rank, 1):
        raise TypeError(f"axis {axis} is out of range for rank {rank}")
    return axis % rank if rank else 0


def normalize_axes(axes: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Return distinct axes counted from the front and sorted; None means all."""
    if axes is None:
        return tuple(range(rank))
    found = tuple(sorted([normalize_axis(axis, rank) for axis in axes]))
    if len(set(found)) != len(found):
        raise TypeError(f"axes {tuple(axes)} name an axis twice")
    return found


def few_axes(shape: tuple[int, ...], shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return shapes that broadcast to one, with neighbours joined along which the same ones do.

    >>> few_axes((2, 3, 4), [(2, 3, 4), (3, 4)])
    [(2, 12), (1, 12)]
    """
    deep = [(1,) * (len(shape) - len(each)) + each for each in shapes]
    joined: list[tuple[tuple[bool, ...], int]] = []
    for size, *sizes in zip(shape, *deep, strict=True):
        which = tuple([each != 1 for each in sizes])
        if size == 1:
            continue
        if joined and joined[-1][0] == which:
            joined[-1] = which, joined[-1][1] * size
        else:
            joined.append((which, size))
    return [tuple([size if which[i] else 1 for which, size in joined]) for i in range(len(shapes))]
