"""Memory of results that are gone is used again, unless the user told glibc what to do."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

import gravure as gv
from gravure.runtime.artifact import ALIGNMENT
from gravure.runtime.buffer import HUGE, RecycledBytes, address

PROGRAM = """
import resource
import numpy as np
import gravure as gv

x = gv.asarray(np.ones(1_000_000, np.float32))
for _ in range(5):
    y = gv.exp(x) + x
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    y = gv.exp(x) + x
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20)
"""

glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator alone")


def faults(**environment: str) -> float:
    """Return how many pages the system gives for each repetition."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return float(done.stdout)


@glibc
def test_pages_of_freed_results_are_used_again() -> None:
    assert faults() < 20  # of the 977 that a result has


@glibc
def test_what_the_user_told_glibc_holds() -> None:
    assert faults(MALLOC_MMAP_THRESHOLD_="100000", MALLOC_TRIM_THRESHOLD_="100000") > 900


def test_memory_is_used_again_once_nothing_looks_at_it() -> None:
    room = RecycledBytes()
    first = room.take(2 * HUGE)
    first[:] = 7
    part, where = first[64:128].view(np.int64), address(first)
    del first
    other = room.take(2 * HUGE)
    assert address(other) != where, "a part is still looked at"
    assert (part == 0x0707070707070707).all()
    del part
    assert address(room.take(2 * HUGE - 5)) == where
    assert room.take(2 * HUGE - 5).size == 2 * HUGE - 5
    large = room.take(5 * HUGE)
    assert address(large) % ALIGNMENT == 0
    assert len(room.blocks) == 2, "what did not fit is given back, what is looked at is kept"
    assert room.take(100).size == 100
    assert len(room.blocks) == 2


def test_arrays_that_share_a_block_lie_apart_in_it() -> None:
    room, single, double = RecycledBytes(), np.dtype(np.float32), np.dtype(np.float64)
    rows = [((1024, 1024), single), ((3,), double), ((0, 5), single), ((1024, 512), double)]
    arrays = room.arrays(rows, [True, True, True, False])
    for number, array in enumerate(arrays):
        assert address(array) % ALIGNMENT == 0 or not array.size
        assert (array.shape, array.dtype) == rows[number]
        array[...] = number
    assert [float(array.sum()) for array in arrays] == [0, 3, 0, 3 * 1024 * 512]
    [block] = room.blocks
    assert [np.may_share_memory(block, array) for array in arrays] == [True, True, False, False]
    where, small = address(arrays[0]), arrays[1]
    del arrays, array
    assert address(room.arrays(rows[:1], [True])[0]) != where, "the small one is still looked at"
    assert (small == 1).all()


def test_large_results_of_models_take_their_memory_in_turns() -> None:
    model = gv.compile(b"model m(x: f32[9000000]) -> (y) { y = relu(x) }")
    x = np.arange(-4_500_000, 4_500_000, dtype=np.float32)
    first, second = model(x), model(-x)
    assert address(first) != address(second), "both are looked at"
    part, where = first[-3:], address(first)
    del first
    assert address(model(x)) != where, "a part is still looked at"
    assert part.tolist() == x[-3:].tolist()
    del part
    one, other = model(x), model(x)
    assert where in (address(one), address(other)), "nothing looked at it any more"
    np.testing.assert_array_equal(second, np.maximum(-x, 0))
