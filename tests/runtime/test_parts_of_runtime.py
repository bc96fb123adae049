"""Small parts of the runtime that larger tests came by without looking."""

import fcntl
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from gravure.errors import RuntimeInputError
from gravure.runtime.artifact import TensorInfo
from gravure.runtime.elf import soname_of
from gravure.runtime.library import open_file
from gravure.runtime.measure import sample, warm_up
from gravure.runtime.model import _as_they_are
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
