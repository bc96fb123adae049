"""pycuda and our own driver calls: on a fake library, and on a GPU where there is one."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure.runtime.gpu import cuda
from gravure.runtime.gpu.driver import GpuError
from gravure.runtime.gpu.model import GpuModel

sys.path.insert(0, str(Path(__file__).parent))
from fake_cuda import build, implemented
from test_gpu_model import BODIES, CHAIN, plan_of

HERE = Path(__file__).parent
PYCUDA = importlib.util.find_spec("pycuda")
COMPILER = shutil.which("cc") or shutil.which("gcc")


def symbols_of(package: Path) -> list[str]:
    """Return the driver functions that pycuda's own library wants to find."""
    [extension] = package.glob("_driver*.so")
    data = extension.read_bytes()
    names = {part.decode() for part in data.split(b"\0") if part[:2] == b"cu" and part.isalnum()}
    more = {part.decode() for part in data.split(b"\0") if part[:2] == b"cu" and b"_v" in part}
    wanted = {name for name in names | more if name[2:3].isupper() and name.isidentifier()}
    return sorted(wanted | {*implemented()})


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if PYCUDA is None or PYCUDA.origin is None:
        pytest.skip("pycuda is not installed")
    if COMPILER is None:
        pytest.skip("there is no C compiler to build the fake library")
    names = symbols_of(Path(PYCUDA.origin).parent)
    library = build(tmp_path_factory.mktemp("fake"), names, COMPILER)
    command = [sys.executable, str(HERE / "cuda_session.py"), str(library)]
    path = os.pathsep.join([str(HERE), *filter(None, sys.path), str(HERE.parents[1])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=100, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return {**found, "said": done.stderr}


def test_a_device_says_what_it_is(session: dict[str, Any]) -> None:
    assert session["devices"] == 2
    assert session["name"] == "Fake GPU (gpu:0)"
    assert (session["sm"], session["version"]) == ("sm_90a", [8, 7])


def test_a_run_is_one_launch_of_a_graph(session: dict[str, Any]) -> None:
    assert session["results"] == [True, True, True]
    assert (session["graphs"], session["launches"]) == (2, 3)
    assert session["edges"] == [list(launch.after) for launch in CHAIN]
    calls = [name for name in session["calls of a bound run"] if not name.startswith("cuCtx")]
    assert calls == ["cuGraphLaunch"]
    assert session["bound"] == [3.0] * 5


def test_the_next_batch_is_copied_while_the_last_one_is_computed(session: dict[str, Any]) -> None:
    def kinds(what: str) -> list[str]:
        names = ("cuMemcpyHtoDAsync_v2", "cuStreamWaitEvent", "cuGraphLaunch")
        return [name for name in session[f"calls of a copy to {what} memory"] if name in names]

    assert kinds("new") == ["cuMemcpyHtoDAsync_v2", "cuStreamWaitEvent"]
    assert kinds("old") == [
        *("cuGraphLaunch", "cuStreamWaitEvent"),
        *("cuMemcpyHtoDAsync_v2", "cuStreamWaitEvent"),
    ]


def test_there_are_several_devices(session: dict[str, Any]) -> None:
    assert session["second"] == [3.0, 3.0]
    assert session["second context"] == "context of 1"


def test_large_arrays_go_through_both_pinned_buffers(session: dict[str, Any]) -> None:
    assert session["large copy"]
    assert session["seconds"] == pytest.approx(0.002)


def test_what_fails_says_what_and_where(session: dict[str, Any]) -> None:
    assert session["map"] == 128
    assert session["bad map"].startswith("tensor map of f64 (8 bytes) (64, 64) in (64, 8): CUDA")
    assert "no memory for 1099511627776 bytes" in session["no memory"]
    assert session["no device"] == "there is no device gpu:3: CUDA has 2"
    assert "module broken: CUDA_ERROR: said by the fake: line 3: functions" in session["bad module"]
    assert "cuGraphLaunch: CUDA_ERROR_LAUNCH_FAILED" in session["plain"]
    assert "kernel twice (double): CUDA_ERROR_LAUNCH_FAILED" in session["checked"]


@pytest.mark.parametrize("key", ["plain", "checked"])
def test_after_a_kernel_failed_everything_says_so(session: dict[str, Any], key: str) -> None:
    for what in ("again", "in a block"):
        assert "Fake GPU (gpu:0): cuEventRecord failed" in session[f"{key} {what}"]
        assert "CUDA_LAUNCH_BLOCKING=1" in session[f"{key} {what}"]


def test_a_forked_process_is_told(session: dict[str, Any]) -> None:
    assert "was opened by the process that this one was forked from" in session["forked"]


def test_everything_is_given_back(session: dict[str, Any]) -> None:
    assert (session["left"], session["contexts left"]) == (0, 0)
    assert "clean-up operation failed" not in session["said"]


@pytest.mark.skipif(PYCUDA is not None, reason="pycuda is installed")
def test_without_pycuda_the_message_says_how_to_get_it() -> None:
    with pytest.raises(GpuError, match=r"pycuda is not installed(.|\n)*pip install gravure\[gpu\]"):
        cuda.CudaDriver()
    assert cuda.device_count() == 0


@pytest.fixture(scope="module")
def device() -> cuda.CudaDriver:
    if cuda.device_count() == 0:
        pytest.skip("there is no CUDA device, or no pycuda")
    return cuda.CudaDriver()


@pytest.mark.gpu
@pytest.mark.parametrize("check", [False, True])
def test_a_plan_runs_on_the_device(device: cuda.CudaDriver, check: bool) -> None:
    with GpuModel(plan_of(BODIES, CHAIN), None, device, check=check) as model:
        for size in (1, 300):
            x = np.arange(size, dtype=np.float32)
            np.testing.assert_array_equal(model.run([x])[0], 2 * x + 1)
