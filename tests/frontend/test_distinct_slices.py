"""Distinct slices of few elements are found in a loop, with what sorting them gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gravure.frontend.values.distinct as loops
from gravure import tf
from gravure.frontend.values.distinct import distinct
from gravure.ir.ops.selecting import Unique


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "i8", "u1", "u8", "?"])
def test_distinct_slices_along_any_axis(dtype: str) -> None:
    random = np.random.default_rng(0)
    for _ in range(40):
        shape = tuple(random.integers(0, 6, random.integers(1, 4)))
        axis = int(random.integers(0, len(shape)))
        x = random.integers(0, 3, shape).astype(dtype)
        if x.dtype.kind == "f":
            x[random.random(shape) < 0.15] = np.nan
            x[random.random(shape) < 0.1] = -0.0
        for in_order in (True, False):
            found = distinct(x, axis=axis, sorted=in_order)
            wanted = Unique.evaluate(x, axis=axis, sorted=in_order)
            for one, other in zip(found, wanted, strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                assert one.tobytes() == other.tobytes()


def test_few_slices_are_not_sorted_and_many_are(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    evaluate = Unique.evaluate
    monkeypatch.setattr(
        Unique, "evaluate", lambda *xs, **how: calls.append(xs) or evaluate(*xs, **how)
    )
    few, many = np.arange(40.0).reshape(20, 2) // 4, np.arange(400.0).reshape(200, 2)
    assert distinct(few, axis=0)[0].shape == (10, 2)
    assert not calls
    assert distinct(many, axis=0)[0].shape == (200, 2)
    assert len(calls) == 1


def test_the_loops_mean_the_same_in_python() -> None:
    keys = np.array([3, 1, 3, 1, 2, 1, 3, 1], np.int64)
    for given, width in ((keys, 2), (keys.astype(np.float64), 4)):
        rows = []
        for run in (loops._number_slices, loops._number_slices.function):
            room, place = np.zeros(4 * 8, np.int64), np.zeros(8 // width, np.int64)
            made = np.zeros(16, np.int64)
            rows.append((run(given, width, 1, room, place, made), place.tolist(), made.tolist()))
        assert rows[0] == rows[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64"])
def test_numbers_that_lie_apart_are_told_apart_without_sorting(dtype, monkeypatch) -> None:
    """Sorting a thousand of them took longer than a table of twice as many."""
    numbers = np.random.default_rng(0).integers(-100, 100, 1000).astype(float) * 2**40
    if dtype != "int64":
        numbers /= 2**42
        numbers[::50], numbers[1:4] = np.nan, [-0.0, 0.0, np.inf]
    x = np.asarray(tf.constant(numbers, dtype))
    known: dict[object, int] = {}
    wanted = [known.setdefault(each, len(known)) for each in x.astype(float).tolist()]
    monkeypatch.setattr(np, "unique", None)
    found, places = map(np.asarray, tf.unique(x))
    first = [wanted.index(number) for number in range(len(known))]
    assert (found.dtype, found.tobytes()) == (x.dtype, x[first].tobytes())
    assert places.tolist() == wanted


def test_keys_in_python_are_those_of_compiled_code() -> None:
    x = np.array([1.5, np.nan, 0.0, 1.5, np.nan, 2.0, 0.0])
    first, places = loops.as_they_come(x)
    bits, table, begins, each = x.view(np.uint64).tolist(), [-1] * 16, [0] * 7, [0] * 7
    assert loops._enter.function(x.tolist(), bits, table, begins, each) == len(first) == 5
    assert (begins[:5], each) == (first.tolist(), places.tolist())
