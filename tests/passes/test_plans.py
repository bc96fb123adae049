"""Plans of memory: nothing that lives at one time overlaps, and little is wasted."""

import random
from collections.abc import Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest

from gravure.passes.analysis.memory.storage import Storage
from gravure.passes.plan_memory import best_plan, max_live, place_by_start
from gravure.passes.split_reductions import parts_of_rows


def storage(size: int, *spans: tuple[int, int]) -> Storage:
    life: Any = SimpleNamespace(spans=spans)
    return Storage(size, life)


def together(one: Storage, other: Storage) -> bool:
    return any(a <= d and c <= b for a, b in one.spans for c, d in other.spans)


def drawn(seed: int) -> Sequence[Storage]:
    """Return storages whose lives have a gap now and then."""
    choose = random.Random(seed)
    made = []
    for _ in range(choose.choice([2, 6, 20])):
        start = choose.randrange(12)
        end = start + choose.randrange(4)
        spans = [(start, end), (end + 3, end + 4)] if choose.random() < 0.2 else [(start, end)]
        made.append(storage(choose.randrange(1, 9) * 64, *spans))
    return made


@pytest.mark.parametrize("seed", range(12))
def test_what_lives_together_lies_apart(seed: int) -> None:
    storages = drawn(seed)
    times = range(20)
    most = max(sum(s.size for s in storages if any(a <= t <= b for a, b in s.spans)) for t in times)
    assert max_live(storages) == most
    peak, offsets = best_plan(storages)
    assert peak == max(at + s.size for at, s in zip(offsets, storages, strict=True)) >= most
    for (at, one), (to, other) in combinations(zip(offsets, storages, strict=True), 2):
        assert not together(one, other) or at + one.size <= to or to + other.size <= at


def test_of_those_that_begin_at_once_the_largest_lies_lowest() -> None:
    storages = [storage(1, (0, 0)), storage(4, (0, 2)), storage(2, (1, 2))]
    assert place_by_start(storages) == (6, [4, 0, 4])


@pytest.mark.parametrize(
    ("extents", "wanted", "found"),
    [((8, 512), 30, (1, 4)), ((8, 512), 4, (0, 4)), ((8, 512), 1, None), ((3, 5), 4, None)],
)
def test_rows_are_cut_along_the_first_axis_that_gives_enough_parts(
    extents: tuple[int, ...], wanted: int, found: tuple[int, int] | None
) -> None:
    assert parts_of_rows(extents, wanted) == found
