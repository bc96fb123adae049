"""Small parts of the runtime that larger tests came by without looking."""

import fcntl
import math
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gravure.errors import ArtifactError, RuntimeInputError
from gravure.runtime import devices
from gravure.runtime.arguments import _from_numbers, numpy_dtype
from gravure.runtime.artifact import TensorInfo
from gravure.runtime.comm.progress import Progress
from gravure.runtime.container import _check_header
from gravure.runtime.elf import soname_of
from gravure.runtime.expression import affine
from gravure.runtime.library import open_file
from gravure.runtime.measure import sample, warm_up
from gravure.runtime.model import _as_they_are
from gravure.runtime.ptx_emulator.block_races import BlockRaces
from gravure.runtime.ptx_emulator.faults import KernelFault
from gravure.runtime.ptx_emulator.machine import BYTES_AT_ONCE, LANES_AT_ONCE, batch_size
from gravure.runtime.ptx_emulator.machine import _check as refuse
from gravure.runtime.ptx_emulator.memory import Heap
from gravure.runtime.ptx_emulator.numbers.floats import odd_sum
from gravure.runtime.traces.recorder import Clock


def test_files_are_closed_for_programs_that_are_started(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    descriptor = open_file(str(tmp_path / "f"))
    assert fcntl.fcntl(descriptor, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    assert fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_NONBLOCK
    os.close(descriptor)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no Linux")
def test_a_library_has_a_name_whatever_its_file_is_called(tmp_path: Path) -> None:
    rows = Path("/proc/self/maps").read_text().split()
    math = next(row for row in rows if "/libm.so" in row or "/libm-" in row)
    shutil.copy(math, tmp_path / "other.so")
    assert soname_of(str(tmp_path / "other.so")) == "libm.so.6"


def test_a_sample_is_the_time_of_its_calls() -> None:
    found = sample(lambda: time.sleep(0.002), 3)
    assert 6e6 <= found < 5e9


def test_calls_are_warmed_up_for_a_time() -> None:
    calls: list[int] = []
    assert warm_up(lambda: calls.append(0), 0.005) < 1e6
    assert len(calls) > 2


def test_ticks_are_moments_between_two_looks_at_the_clock() -> None:
    clock = Clock()
    clock.first, clock.last, clock.read = (10**9, 500), (3 * 10**9, 1500), lambda: None
    assert clock.moments(np.int64([500, 750, 1500])) == [10**9, 15 * 10**8, 3 * 10**9]


def test_masked_arrays_are_not_bound() -> None:
    info = TensorInfo("x", "f32", (2,))
    x = np.float32([1, 2])
    assert _as_they_are([x], [info], "argument")[0] is x
    for wrong in (np.ma.masked_array(x), x.tolist(), x.astype(np.float64)):
        with pytest.raises(RuntimeInputError):
            _as_they_are([wrong], [info], "argument")


def test_libraries_of_other_machines_are_refused_by_their_first_bytes() -> None:
    for width, order in ((1, 1), (2, 2), (1, 2)):
        data = b"\x7fELF" + bytes([width, order]) + bytes(100)
        with pytest.raises(ArtifactError, match="not a 64-bit little-endian ELF file"):
            _check_header(data)
    with pytest.raises(ArtifactError, match="of type 0, expected a shared library"):
        _check_header(b"\x7fELF" + bytes([2, 1]) + bytes(100))


def test_lists_without_elements_are_of_any_type() -> None:
    for dtype in ("i64", "u8", "bool", "f16"):
        found = _from_numbers([], np.array([]), TensorInfo("x", dtype, (0,)), "argument")
        assert (found.shape, found.dtype) == ((0,), numpy_dtype(dtype))
    for wrong in ([0.5], 0.5):
        with pytest.raises(RuntimeInputError):
            _from_numbers(wrong, np.asarray(wrong), TensorInfo("x", "i64", (1,)), "argument")


def test_factors_of_a_symbol_may_be_taken_away() -> None:
    assert affine("3*N - N - 2", "N") == (2, -2)
    assert affine("5 - N", "N") is None
    assert affine("2 - (3 - N)", "N") == (1, -1)


def test_the_first_failure_of_a_rank_is_kept_and_the_last_of_other_notes(tmp_path: Path) -> None:
    progress = Progress()
    progress.folder, progress.rank = tmp_path, 1
    for text in ("first", "second"):
        progress.note("failed", text)
        progress.note("saved", text)
    assert (tmp_path / "1.failed").read_text() == "first"
    assert (tmp_path / "1.saved").read_text() == "second"


def test_gaps_of_a_heap_are_used_again_by_what_fits_into_them() -> None:
    heap = Heap()
    first, gap, last = (heap.allocate(1000) for _ in range(3))
    heap.free(gap)
    wide = heap.allocate(1100)
    assert wide > last
    assert heap.allocate(1000) == gap
    assert first < gap < last


def test_blocks_that_run_at_once_fit_into_a_number_of_lanes() -> None:
    program: Any = SimpleNamespace(shared_bytes=0, local_bytes=0)
    for block in ((32, 4, 8), (1024, 1, 1), (1, 1, 2)):
        launch: Any = SimpleNamespace(block=block, shared=0, races=False)
        assert batch_size(program, launch) == LANES_AT_ONCE // math.prod(block)
    program.local_bytes = BYTES_AT_ONCE // 4096
    launch = SimpleNamespace(block=(32, 4, 8), shared=0, races=False)
    assert batch_size(program, launch) == 4
    program.local_bytes = 0
    launch = SimpleNamespace(block=(32, 1, 1), shared=BYTES_AT_ONCE // 3, races=False)
    assert batch_size(program, launch) == 3


def test_blocks_of_more_threads_than_there_may_be_are_refused() -> None:
    kernel = SimpleNamespace(name="k", block=(), cluster=1)
    program: Any = SimpleNamespace(kernel=kernel, shared_bytes=0, most_shared=1 << 16)
    for block in ((64, 32, 1), (32, 32, 2), (1025, 1, 1)):
        launch: Any = SimpleNamespace(block=block, grid=(1, 1, 1), shared=0)
        with pytest.raises(KernelFault, match="grid"):
            refuse(program, launch)


def test_sums_that_are_exact_stay_so_and_others_are_made_odd() -> None:
    x = np.array([1.0, 0.5, -3.0, np.inf, 1.0, 1.0])
    y = np.array([2.0, 0.25, -1.5, 1.0, 2.0**-60, -(2.0**-60)])
    with np.errstate(invalid="ignore"):
        found = odd_sum(x, y)
    np.testing.assert_array_equal(found[:4], [3.0, 0.75, -4.5, np.inf])
    assert found[4] == 1.0 + 2.0**-52
    assert found[5] == 1.0 - 2.0**-53


def test_other_blocks_must_not_write_what_one_reads() -> None:
    lanes: Any = SimpleNamespace(
        block_of=np.arange(2), blocks=np.arange(2), lanes=np.arange(1), races=None
    )
    heap = Heap()
    heap.allocate(64)
    places = np.array([8])
    for reads in (1, 2):
        races, lanes.lanes = BlockRaces(heap, 4), np.arange(1)
        for _ in range(reads):
            races.read(lanes, places, 4)
        races.write(lanes, places, 4)
    lanes.lanes = np.array([1])
    with pytest.raises(KernelFault, match="reads what"):
        races.read(lanes, places, 4)
    races.read(lanes, places + 4, 4)
    lanes.lanes = np.array([0])
    with pytest.raises(KernelFault, match="writes what"):
        races.write(lanes, places + 4, 4)


def test_devices_stand_in_for_each_other_and_come_back() -> None:
    one: Any = SimpleNamespace(name="one")
    other: Any = SimpleNamespace(name="other")
    with devices.standing_in(93, one):
        with devices.standing_in(93, other):
            assert devices._open[93] is other
        assert devices._open[93] is one
    assert 93 not in devices._open
