"""The memory planner's index of lives: what it finds is what looking at all lives finds."""

from __future__ import annotations

import random

import pytest

from gravure.passes.analysis.memory.alive import Alive

TIMES = 45


@pytest.mark.parametrize("seed", range(20))
def test_what_lives_together_is_found_once(seed: int) -> None:
    choose = random.Random(seed)
    alive, lives = Alive(TIMES), list[tuple[int, int]]()
    for number in range(60):
        start = choose.randrange(TIMES)
        end = min(TIMES - 1, start + choose.choice([0, 1, 2, 5, 30]))
        wanted = [(n, n + 1) for n, (a, b) in enumerate(lives) if a <= end and b >= start]
        assert sorted(alive.with_(start, end)) == wanted
        alive.add(start, end, (number, number + 1))
        lives.append((start, end))


def test_a_long_life_is_kept_at_a_few_places() -> None:
    alive = Alive(1 << 12)
    starts = range(0, 1 << 12, 3)
    for start in starts:
        alive.add(start, min((1 << 12) - 1, start + 1000), (start, start + 1))
    assert sum(map(len, alive.whole)) < 24 * len(starts)
    assert len(alive.with_(5, 5)) == 2
