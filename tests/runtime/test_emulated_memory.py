"""The emulated device's memory and numbers at their edges."""

import sys
from pathlib import Path

import numpy as np
import pytest

from gravure.runtime.ptx_emulator import Heap, KernelFault
from gravure.runtime.ptx_emulator.numbers.floats import round_f32

sys.path.insert(0, str(Path(__file__).parent))
from ptx_cases import module, run


def test_bytes_are_of_one_allocation() -> None:
    heap = Heap()
    first, second = heap.allocate(16), heap.allocate(8)
    for start, size in ((first, 16), (first + 8, 8), (second, 8), (second + 8, 0)):
        assert heap.bytes_at(start, size).size == size
    for start, size in ((first, 17), (first + 8, 9), (second, 9), (first - 1, 1), (second + 8, 1)):
        with pytest.raises(KernelFault, match=f"{size} bytes at {start:#x} are not in one"):
            heap.bytes_at(start, size)


@pytest.mark.parametrize("mode", ["rn", "rz", "rp", "rm"])
def test_what_is_a_float_is_not_rounded(mode: str) -> None:
    x = np.array([0.0, 1.5, -1.5, 2.0**-149, -(2.0**127)])
    np.testing.assert_array_equal(round_f32(x, mode), x.astype(np.float32))


def test_what_is_none_is_rounded_in_its_direction() -> None:
    x = np.array([1 + 2.0**-40, 1 - 2.0**-40, -1 - 2.0**-40, -1 + 2.0**-40])
    below, above = np.float32(1 - 2.0**-24), np.float32(1 + 2.0**-23)
    np.testing.assert_array_equal(round_f32(x, "rz"), [1, below, -1, -below])
    np.testing.assert_array_equal(round_f32(x, "rp"), [above, 1, -1, -below])
    np.testing.assert_array_equal(round_f32(x, "rm"), [1, below, -above, -1])


def test_warps_that_write_one_place_at_once_race() -> None:
    x = np.arange(64, dtype=np.uint32)
    shared = ".shared .align 16 .b8 s[512];"
    text = module("mov.u32 %r5, s; st.shared.b32 [%r5], %r90;", 1, outside=shared)
    run(text, [x], block=32, races=True)
    with pytest.raises(KernelFault, match=r"race: warp \d writes where warp \d writes"):
        run(text, [x], block=64, races=True)
