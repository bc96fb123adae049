"""Medians with intervals, and ratios of measurements in turns."""

from __future__ import annotations

import numpy as np

from gravure.tools.measuring.statistics import median_interval, ratio, turns


def test_the_interval_of_a_median_holds_it_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    for count in (9, 40, 900):
        held = 0
        for _ in range(300):
            low, high = median_interval(random.exponential(1.0, count).tolist())
            held += low <= np.log(2) <= high
        assert 0.9 <= held / 300 <= 1


def test_what_disturbs_both_sides_of_a_round_does_not_change_the_ratio() -> None:
    random = np.random.default_rng(2)
    noise = random.uniform(1, 5, 15)
    found = ratio((2 * noise).tolist(), noise.tolist())
    assert (found.value, found.low, found.high) == (2, 2, 2)
    assert found.is_significant
    same = ratio(random.uniform(1, 2, 40).tolist(), random.uniform(1, 2, 40).tolist())
    assert not same.is_significant


def test_every_round_has_each_contender_once_and_orders_change() -> None:
    rounds = turns(3, 20)
    assert all(sorted(order) == [0, 1, 2] for order in rounds)
    assert len({tuple(order) for order in rounds}) > 3
