"""Plans for GPUs, made by hand, run on the emulated driver."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure.errors import ArtifactError, RuntimeInputError
from gravure.runtime.artifact import DimInfo, Pointer, Scalar, TensorInfo
from gravure.runtime.gpu.device_array import DeviceArray
from gravure.runtime.gpu.driver import Driver, GpuError, argument_bytes, make_nodes
from gravure.runtime.gpu.emulated import EmulatedDriver
from gravure.runtime.gpu.model import PREPARED, GpuModel
from gravure.runtime.gpu.plan import GpuKernel, GpuLaunch, GpuModule, GpuPlan, TensorMap
from gravure.runtime.ptx_emulator import KernelFault

sys.path.insert(0, str(Path(__file__).parent))
from ptx_cases import module

Array = np.ndarray[Any, Any]
BLOCK = 64
N = (f"(N + {BLOCK - 1}) // {BLOCK}", 1, 1)
EACH = """
    ld.param.u64 %d10, [p2];
    cvt.u64.u32 %d11, %r93;
    setp.ge.u64 %p1, %d11, %d10;
    @%p1 bra $end;
    mul.wide.u32 %d1, %r93, 4;
    add.s64 %d2, %d20, %d1;
    add.s64 %d3, %d21, %d1;
    ld.global.f32 %r1, [%d2];
    {body}
    st.global.f32 [%d3], %r1;
$end:
"""


def kernel_text(name: str, body: str) -> str:
    return module(EACH.format(body=body), 3).replace(".entry test(", f".entry {name}(")


def plan_of(bodies: dict[str, str], launches: Sequence[GpuLaunch], **fields: Any) -> GpuPlan:
    modules = [
        GpuModule(name, kernel_text(name, body), "sm_80", (8, 0)) for name, body in bodies.items()
    ]
    kernels = [GpuKernel(name, number, (BLOCK, 1, 1)) for number, name in enumerate(bodies)]
    given = {
        "inputs": (TensorInfo("x", "f32", ("N",)),),
        "outputs": (TensorInfo("y", "f32", ("N",)),),
        "dims": (DimInfo("N", 0, 1000),),
        "workspace": 4096,
    }
    return GpuPlan(
        tag="hand",
        modules=tuple(modules),
        kernels=tuple(kernels),
        steps=tuple(launches),
        **(given | fields),
    )


X, Y, ROOM = Pointer("input", 0), Pointer("output", 0), Pointer("workspace")
WEIGHT = "ld.param.u64 %d12, [p2]; mul.lo.u64 %d12, %d12, 0;"
BODIES = {"twice": "add.f32 %r1, %r1, %r1;", "more": "add.f32 %r1, %r1, 0f3F800000;"}
CHAIN = (
    GpuLaunch("twice", (X, ROOM, Scalar("N")), N, source=("double",)),
    GpuLaunch("more", (ROOM, Y, Scalar("N")), N, after=(0,), source=("add_one",)),
)


def chain(driver: Driver | None = None, **fields: Any) -> GpuModel:
    return GpuModel(plan_of(BODIES, CHAIN, **fields), None, driver or EmulatedDriver())


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_a_run_gives_what_the_kernels_compute_for_any_size(seed: int | None) -> None:
    driver = EmulatedDriver(seed=seed)
    with chain(driver) as model:
        for size in (1, 64, 200, 64, 1000):
            x = np.arange(size, dtype=np.float32)
            np.testing.assert_array_equal(model.run({"x": x})[0], 2 * x + 1)
        np.testing.assert_array_equal(model([1.0, 2.0]), [3, 5])
        assert driver.launched == 12
    assert not driver.heap.starts


def test_a_launch_without_blocks_is_left_out() -> None:
    driver = EmulatedDriver()
    with chain(driver) as model:
        assert model.run([np.zeros(0, np.float32)])[0].shape == (0,)
    assert driver.launched == 0


def test_what_waits_for_a_launch_left_out_waits_for_what_that_waits_for() -> None:
    steps = (
        GpuLaunch("twice", (X, ROOM, Scalar("N")), N),
        GpuLaunch("twice", (ROOM, ROOM, Scalar(0)), (0, 1, 1), after=(0,)),
        GpuLaunch("more", (ROOM, Y, Scalar("N")), N, after=(1,)),
    )
    plan = plan_of(BODIES, steps)
    nodes = make_nodes(plan, plan.launches, {"N": 5}, lambda pointer: 0, EmulatedDriver())
    assert [node.after for node in nodes] == [(), (0,)]


def test_memory_is_kept_for_some_sizes_only() -> None:
    driver = EmulatedDriver()
    with chain(driver) as model:
        for size in range(1, PREPARED + 4):
            model.run([np.zeros(size, np.float32)])
        assert len(driver.heap.starts) == 1 + 2 * PREPARED


def test_a_dependency_that_is_missing_shows_in_another_order() -> None:
    launches = (CHAIN[0], replace(CHAIN[1], after=()))
    x = np.arange(64, dtype=np.float32)
    results = []
    for seed in range(6):
        with GpuModel(plan_of(BODIES, launches), None, EmulatedDriver(seed=seed)) as model:
            results.append(bool((model.run([x])[0] == 2 * x + 1).all()))
    assert True in results
    assert False in results


def test_a_fault_names_the_nodes_of_the_model() -> None:
    wrong = (replace(CHAIN[0], arguments=(X, ROOM, Scalar("N + 64"))), CHAIN[1])
    with (
        GpuModel(plan_of(BODIES, wrong), None, EmulatedDriver()) as model,
        pytest.raises(KernelFault, match=r"twice, line \d+: kernel twice \(double\): 4 bytes of"),
    ):
        model.run([np.zeros(100, np.float32)])


def test_bound_arrays_are_read_and_written_at_every_call() -> None:
    x, y = np.ones(10, np.float32), np.zeros(10, np.float32)
    with chain() as model:
        again = model.bind([x], [y])
        assert again()[0] is y
        assert y.tolist() == [3] * 10
        x[:] = 2
        again()
        assert y.tolist() == [5] * 10
    with pytest.raises(ArtifactError, match="closed"):
        again()


def test_arrays_on_the_device_stay_there() -> None:
    driver = EmulatedDriver()
    with chain(driver) as model:
        x = DeviceArray.of(driver, np.ones(10, np.float32))
        [y] = model.bind([x])()
        assert isinstance(y, DeviceArray)
        assert y.numpy().tolist() == [3] * 10
        [z] = model.bind([y])()
        assert isinstance(z, DeviceArray)
        assert z.numpy().tolist() == [7] * 10
        assert model.run([z])[0].tolist() == [15] * 10
        with pytest.raises(RuntimeInputError, match="'x' lies on another device"):
            model.bind([DeviceArray.of(EmulatedDriver(), np.ones(10, np.float32))])
        with pytest.raises(RuntimeInputError, match=r"called with f64\[10\] on emulated GPU"):
            model.bind([DeviceArray.of(driver, np.ones(10))])


def test_what_cannot_be_bound_is_refused() -> None:
    with chain() as model:
        with pytest.raises(RuntimeInputError, match="would have to be copied"):
            model.bind([np.ones(10, np.float32)[::2]])
        with pytest.raises(RuntimeInputError, match=r"output 'y' compiled with f32\[10\]"):
            model.bind([np.ones(10, np.float32)], [np.ones(9, np.float32)])
        with pytest.raises(RuntimeInputError, match="with N from 0 to 1000"):
            model.run([np.ones(1001, np.float32)])


def test_weights_are_copied_once() -> None:
    launches = [GpuLaunch("more", (Pointer("weights", 0, 64), Y, Scalar("N")), N)]
    plan = plan_of(BODIES, launches, weights=128)
    blob = np.zeros(128, np.uint8)
    blob[64:] = np.arange(16, dtype=np.float32).view(np.uint8)
    with GpuModel(plan, blob, EmulatedDriver()) as model:
        assert model.run([np.zeros(4, np.float32)])[0].tolist() == [1, 2, 3, 4]
    with pytest.raises(ArtifactError, match="weights of 0 bytes, expected 128"):
        GpuModel(plan, None, EmulatedDriver())


def test_code_that_the_device_does_not_run_is_refused() -> None:
    with pytest.raises(GpuError, match=r"module twice is for sm_80: emulated GPU is sm_75"):
        chain(EmulatedDriver("sm_75"))
    old = EmulatedDriver()
    old.version = 7, 8
    with pytest.raises(GpuError, match=r"module twice is PTX 8.0: the driver knows up to 7.8"):
        chain(old)


def test_arguments_are_made_one_by_one() -> None:
    tiles = TensorMap(Pointer("input", 0, "64*N"), "bf16", ("N", 8), ("2*N",), (64, 8), swizzle=128)
    arguments = (Pointer("workspace", 0, 16), Scalar("N - 1"), Scalar(7), tiles, X)
    place, last, seven, box, x = (
        argument_bytes(each, {"N": 64}, lambda pointer: 4096, EmulatedDriver())
        for each in arguments
    )
    assert np.frombuffer(place + last + seven, np.int64).tolist() == [4112, 63, 7]
    assert len(box) == 128
    assert np.frombuffer(x, np.int64).tolist() == [4096]


def test_a_plan_with_memory_that_gpus_do_not_have_is_refused() -> None:
    launches = [replace(CHAIN[0], arguments=(X, Pointer("raw"), Scalar("N")))]
    with (
        GpuModel(plan_of(BODIES, launches), None, EmulatedDriver()) as model,
        pytest.raises(GpuError, match="no memory of kind 'raw'"),
    ):
        model.run([np.zeros(4, np.float32)])
