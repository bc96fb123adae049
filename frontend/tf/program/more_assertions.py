"""Assertions that test cases have from absl, by its names."""

from __future__ import annotations

import re
import unittest
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager


class MoreAssertions(unittest.TestCase):
    """A test case that can say more."""

    def assertItemsEqual(
        self, first: Iterable[object], second: Iterable[object], msg: object = None
    ) -> None:
        """Fail unless the same things are in both, each as often."""
        self.assertCountEqual(first, second, msg)

    def assertSameElements(
        self, expected_seq: Iterable[object], actual_seq: Iterable[object], msg: object = None
    ) -> None:
        """Fail unless the same things are in both, however often."""
        one, other = list(expected_seq), list(actual_seq)
        same = all(x in other for x in one) and all(x in one for x in other)
        self.assertTrue(same, msg or f"{one} has others than {other}")

    def assertContainsSubset(
        self, expected_subset: Iterable[object], actual_set: Iterable[object], msg: object = None
    ) -> None:
        """Fail unless all of the first are in the second."""
        there = list(actual_set)
        left = [x for x in expected_subset if x not in there]
        self.assertFalse(left, msg or f"{left} not in {there}")

    def assertNoCommonElements(
        self, expected_seq: Iterable[object], actual_seq: Iterable[object], msg: object = None
    ) -> None:
        """Fail if something is in both."""
        there = list(actual_seq)
        both = [x for x in expected_seq if x in there]
        self.assertFalse(both, msg or f"{both} in both")

    def assertBetween(self, value: float, minv: float, maxv: float, msg: object = None) -> None:
        """Fail unless a value lies between two others, or is one of them."""
        self.assertTrue(minv <= value <= maxv, msg or f"{value} not in {minv} .. {maxv}")

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Sequence[float],
        actual_seq: Sequence[float],
        places: int | None = None,
        msg: object = None,
        delta: float | None = None,
    ) -> None:
        """Fail unless the numbers of two sequences are nearly equal."""
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for one, other in zip(expected_seq, actual_seq, strict=True):
            if delta is None:
                self.assertAlmostEqual(one, other, places=places, msg=msg)
            else:
                self.assertAlmostEqual(one, other, delta=delta, msg=msg)

    def assertRaisesWithLiteralMatch(
        self, expected_exception: type[Exception], expected_exception_message: str
    ) -> AbstractContextManager[object]:
        """Fail unless an error is raised with a message that is exactly this one."""
        pattern = f"^{re.escape(expected_exception_message)}$"
        return self.assertRaisesRegex(expected_exception, pattern)
