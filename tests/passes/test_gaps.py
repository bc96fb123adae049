"""The free places of memory, while places are taken and given back."""

import random

from gravure.passes.analysis.memory.gaps import Gaps


def test_the_lowest_place_is_found_while_others_come_and_go() -> None:
    draw = random.Random(0)
    gaps, taken, free = Gaps(), list[tuple[int, int]](), [True] * 400
    for _ in range(300):
        if taken and draw.random() < 0.45:
            low, high = taken.pop(draw.randrange(len(taken)))
            gaps.release(low, high)
            free[low:high] = [True] * (high - low)
        else:
            size = draw.randint(1, 12)
            low = next(at for at in range(400) if all(free[at : at + size]))
            assert gaps.lowest(size) == low
            gaps.take(low, low + size)
            taken.append((low, low + size))
            free[low : low + size] = [False] * size
        assert gaps.taken == free.count(False)
    for span in taken:
        gaps.release(*span)
    assert gaps.starts == [0]
