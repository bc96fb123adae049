"""What the emulator takes for true, tried on each driver: on a GPU this compares it with hardware.

Without a GPU the same kernels run in another order of warps, which must change nothing.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure.runtime.gpu.cuda import CudaDriver, device_count
from gravure.runtime.gpu.driver import Driver
from gravure.runtime.gpu.emulated import EmulatedDriver

sys.path.insert(0, str(Path(__file__).parent))
from ptx_cases import case_of, module, on_driver
from test_ptx_arithmetic import integers, numbers
from test_ptx_matrix import CASES, product_case, warpgroup_product
from test_ptx_threads import ADDRESSES, REVERSE, SHARED, STORE


@pytest.fixture(scope="module", params=["emulated", pytest.param("gpu", marks=pytest.mark.gpu)])
def driver(request: pytest.FixtureRequest) -> Driver:
    if request.param == "emulated":
        return EmulatedDriver(seed=5)
    if device_count() == 0:
        pytest.skip("there is no CUDA device, or no pycuda")
    found = CudaDriver()
    if found.architecture != "sm_90a":
        pytest.skip(f"the kernels are for sm_90a, the device is {found.architecture}")
    return found


EXACT: list[tuple[str, int, Any, Any]] = [
    ("mul.hi.s32 $0, $1, $2", 2, np.int32, np.int32),
    ("bfe.s32 $0, $1, 5, 40", 1, np.int32, np.int32),
    ("bfe.u32 $0, $1, 30, 7", 1, np.uint32, np.uint32),
    ("bfi.b32 $0, $1, $2, 28, 9", 2, np.uint32, np.uint32),
    ("prmt.b32 $0, $1, $2, 0xB3F0", 2, np.uint32, np.uint32),
    ("shf.l.wrap.b32 $0, $1, $2, 37", 2, np.uint32, np.uint32),
    ("bfind.s32 $0, $1", 1, np.int32, np.uint32),
    ("cvt.rzi.s32.f32 $0, $1", 1, np.float32, np.int32),
    ("cvt.rni.u32.f32 $0, $1", 1, np.float32, np.uint32),
    ("cvt.rn.f32.u64 $0, $1", 1, np.uint64, np.float32),
    ("cvt.rn.bf16x2.f32 $0, $1, $2", 2, np.float32, np.uint32),
    ("cvt.rna.tf32.f32 $0, $1", 1, np.float32, np.uint32),
    ("fma.rn.f32 $0, $1, $2, $1", 2, np.float32, np.float32),
    ("fma.rn.f16x2 $0, $1, $2, $1", 2, np.uint32, np.uint32),
    ("fma.rn.bf16x2 $0, $1, $2, $1", 2, np.uint32, np.uint32),
    ("add.ftz.f32 $0, $1, $2", 2, np.float32, np.float32),
    ("max.f32 $0, $1, $2", 2, np.float32, np.float32),
    ("min.NaN.f32 $0, $1, $2", 2, np.float32, np.float32),
    ("div.rn.f32 $0, $1, $2", 2, np.float32, np.float32),
    ("div.s32 $0, $1, $2", 2, np.int32, np.int32),
    ("add.s16x2 $0, $1, $2", 2, np.uint32, np.uint32),
    ("max.s16x2 $0, $1, $2", 2, np.uint32, np.uint32),
    ("min.u16x2 $0, $1, $2", 2, np.uint32, np.uint32),
]


def operands(dtype: Any, count: int) -> list[Any]:
    make = numbers if np.dtype(dtype).kind == "f" else integers
    return [make(dtype) for _ in range(count)]


@pytest.mark.parametrize(("text", "count", "come", "to"), EXACT)
def test_exact_instructions(driver: Driver, text: str, count: int, come: Any, to: Any) -> None:
    kernel, arrays = case_of(text, operands(come, count), to)
    grid = len(arrays[0]) // 32
    found = on_driver(driver, kernel, arrays, grid=grid)[-1]
    wanted = on_driver(EmulatedDriver(), kernel, arrays, grid=grid)[-1]
    np.testing.assert_array_equal(floats_of(found, text), floats_of(wanted, text))


def floats_of(found: Any, text: str) -> Any:
    """Return packed floats as numbers, so that a NaN may have any bits, and those that count."""
    if "tf32" in text:
        return (found & 0xFFFFE000).view(np.float32)
    if "bf16x2" in text:
        return (found.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return found.view(np.float16) if "f16x2" in text else found


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("ex2.approx.ftz.f32 $0, $1", 2.0**-21),
        ("lg2.approx.ftz.f32 $0, $1", 2.0**-20),
        ("rcp.approx.ftz.f32 $0, $1", 2.0**-22),
        ("rsqrt.approx.ftz.f32 $0, $1", 2.0**-21),
        ("sqrt.approx.ftz.f32 $0, $1", 2.0**-21),
        ("tanh.approx.f32 $0, $1", 2.0**-10),
        ("div.full.f32 $0, $1, $1", 2.0**-21),
    ],
)
def test_approximate_instructions(driver: Driver, text: str, bound: float) -> None:
    x = np.linspace(0.01, 8, 96).astype(np.float32)
    kernel, arrays = case_of(text, [x], np.float32)
    found = on_driver(driver, kernel, arrays, grid=3)[-1]
    wanted = on_driver(EmulatedDriver(), kernel, arrays, grid=3)[-1]
    np.testing.assert_allclose(found, wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize(
    "text",
    [
        "shfl.sync.bfly.b32 %r2, %r1, 5, 31, -1;",
        "shfl.sync.down.b32 %r2, %r1, 3, 31, -1;",
        "shfl.sync.up.b32 %r2, %r1, 4, 0, -1;",
        "shfl.sync.idx.b32 %r2, %r1, 2, 0x181f, -1;",
        "shfl.sync.bfly.b32 %r2, %r1, 1, 0x1f1f, -1;",
        "redux.sync.add.u32 %r2, %r1, -1;",
        "setp.gt.u32 %p1, %r1, 9; vote.sync.ballot.b32 %r2, %p1, -1;",
        REVERSE,
    ],
)
def test_threads_together(driver: Driver, text: str) -> None:
    kernel = module(ADDRESSES + text + STORE, 2, outside=SHARED)
    arrays = [np.arange(128, dtype=np.uint32), np.zeros(128, np.uint32)]
    found = on_driver(driver, kernel, arrays, block=128)[1]
    np.testing.assert_array_equal(found, on_driver(EmulatedDriver(), kernel, arrays, block=128)[1])


@pytest.mark.parametrize(("shape", "kind", "total"), [c for c in CASES if c[1] != "e4m3"])
def test_products_of_a_warp(driver: Driver, shape: str, kind: str, total: str) -> None:
    text, arrays, expected = product_case(shape, kind, total)
    found = on_driver(driver, text, arrays)[1].view(expected.dtype)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("swizzle", "columns"), [(128, 8), (128, 64), (64, 16), (32, 24)])
def test_products_of_a_warpgroup(driver: Driver, swizzle: int, columns: int) -> None:
    np.testing.assert_array_equal(*warpgroup_product(swizzle, columns, driver=driver))


def test_a_turned_operand_of_a_warpgroup(driver: Driver) -> None:
    np.testing.assert_array_equal(*warpgroup_product(128, 64, turned=True, driver=driver))
