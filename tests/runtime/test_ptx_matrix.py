"""The matrix instructions of the emulator, against products by numpy."""

import struct
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gravure.runtime.gpu.driver import Driver, Tiles
from gravure.runtime.gpu.emulated import EmulatedDriver
from gravure.runtime.ptx_emulator import Heap, Image, KernelFault, KernelRun, TensorBox, read_module

sys.path.insert(0, str(Path(__file__).parent))
from ptx_cases import module, on_driver, put, run

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(3)
LANE = np.arange(32)
ROW, PART = LANE // 4, LANE % 4
TYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "s8": np.int8,
    "u8": np.uint8,
    "e4m3": ml_dtypes.float8_e4m3fn,
}


def random(kind: str, *shape: int) -> Array:
    """Return small numbers that each type has exactly."""
    low = 0 if kind == "u8" else -7
    return RNG.integers(low, 8, shape).astype(np.float32).astype(TYPES[kind])


def fragments(matrix: Array, order: list[tuple[int, int]]) -> Array:
    """Return, for each lane, registers of 4 bytes: blocks of 8 rows and 16 bytes in order."""
    count = 4 // matrix.itemsize
    words = []
    for rows, columns in order:
        block = matrix[8 * rows : 8 * rows + 8, 4 * count * columns : 4 * count * (columns + 1)]
        words.append(np.ascontiguousarray(block).view(np.uint32).reshape(-1))
    return np.stack(words, axis=1)


def accumulators(matrix: Array) -> Array:
    """Return, for each lane, its 4 elements of a matrix of 16 by 8."""
    rows = [matrix[ROW + 8 * half, 2 * PART + odd] for half in (0, 1) for odd in (0, 1)]
    return np.stack(rows, axis=1)


def registers(name: str, count: int) -> str:
    return ", ".join(f"%{name}{number}" for number in range(count))


CASES = [
    ("m16n8k16", "f16", "f32"),
    ("m16n8k16", "bf16", "f32"),
    ("m16n8k8", "f16", "f32"),
    ("m16n8k8", "tf32", "f32"),
    ("m16n8k4", "tf32", "f32"),
    ("m16n8k32", "s8", "s32"),
    ("m16n8k16", "u8", "s32"),
    ("m16n8k32", "e4m3", "f32"),
]


def product_case(shape: str, kind: str, total: str) -> tuple[str, list[Array], Array]:
    """Return a kernel of one product, its operands and room for the result, and what it is."""
    inner = int(shape.rpartition("k")[2])
    a, b = random(kind, 16, inner), random(kind, 8, inner)
    c = RNG.integers(-9, 9, (16, 8)).astype(np.float32 if total == "f32" else np.int32)
    depth = inner * a.itemsize // 16
    left = fragments(a, [(row, column) for column in range(depth) for row in (0, 1)])
    right = fragments(b, [(0, column) for column in range(depth)])
    given = np.concatenate([left, right, accumulators(c).view(np.uint32)], axis=1)
    x, y = left.shape[1], right.shape[1]
    width = given.shape[1]
    loads = "\n".join(f"ld.global.b32 %r{n}, [%d1+{4 * n}];" for n in range(width))
    names = [f"%r{n}" for n in range(width)]
    parts = [names[:x], names[x : x + y], names[x + y :], names[x + y :]]
    text = [f"{{{', '.join(part)}}}" for part in parts]
    body = f"""
    mul.wide.u32 %d1, %r90, {4 * width};
    add.s64 %d1, %d1, %d20;
    {loads}
    mma.sync.aligned.{shape}.row.col.{total}.{kind}.{kind}.{total} {text[3]}, {", ".join(text[:3])};
    mul.wide.u32 %d2, %r90, 16;
    add.s64 %d2, %d2, %d21;
    st.global.v4.b32 [%d2], {text[2]};
"""
    expected = accumulators(a.astype(np.float32) @ b.astype(np.float32).T + c).astype(c.dtype)
    return module(body, 2), [given, np.zeros((32, 4), np.uint32)], expected


@pytest.mark.parametrize(("shape", "kind", "total"), CASES)
def test_products_of_a_warp(shape: str, kind: str, total: str) -> None:
    text, arrays, expected = product_case(shape, kind, total)
    np.testing.assert_array_equal(run(text, arrays)[1].view(expected.dtype), expected)


@pytest.mark.parametrize("turned", [False, True])
def test_matrices_are_loaded_and_stored_in_blocks(turned: bool) -> None:
    x = np.arange(16 * 16, dtype=np.uint16).reshape(16, 16)
    trans = ".trans" if turned else ""
    body = f"""
    mov.u64 %d1, tile;
    mul.wide.u32 %d2, %r90, 16;
    add.s64 %d3, %d20, %d2;
    add.s64 %d4, %d1, %d2;
    ld.global.v4.b32 {{%r1, %r2, %r3, %r4}}, [%d3];
    st.shared.v4.b32 [%d4], {{%r1, %r2, %r3, %r4}};
    bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r1, %r2, %r3, %r4}}, [%d4];
    bar.sync 0;
    stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%d4+512], {{%r1, %r2, %r3, %r4}};
    bar.sync 0;
    ld.shared.v4.b32 {{%r5, %r6, %r7, %r8}}, [%d4+512];
    add.s64 %d3, %d21, %d2;
    st.global.v4.b32 [%d3], {{%r1, %r2, %r3, %r4}};
    add.s64 %d3, %d22, %d2;
    st.global.v4.b32 [%d3], {{%r5, %r6, %r7, %r8}};
"""
    outside = ".shared .align 16 .b8 tile[1024];"
    empty = np.zeros((32, 4), np.uint32)
    _, lanes, back = run(module(body, 3, outside=outside), [x, empty, empty], races=True)
    blocks = x.reshape(4, 8, 8)
    if turned:
        blocks = blocks.transpose(0, 2, 1)
    expected = np.ascontiguousarray(blocks).view(np.uint32).reshape(4, 32).T
    np.testing.assert_array_equal(lanes, expected)
    np.testing.assert_array_equal(back.view(np.uint16).reshape(16, 16), x)


WARPGROUP = """.version 8.0
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tiles[{size}];
.shared .align 8 .b8 phase[8];
.visible .entry test(.param .align 64 .b8 left[128], .param .align 64 .b8 right[128],
    .param .u64 a, .param .u64 b, .param .u64 .ptr .global .align 16 out)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .f32 %f<{count}>;
    .reg .b64 %d<12>;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    mov.b64 %d1, left;
    mov.b64 %d2, right;
    cvta.param.u64 %d3, %d1;
    cvta.param.u64 %d4, %d2;
    mov.u64 %d5, tiles;
    @%p1 bra $ready;
    mbarrier.init.shared.b64 [phase], 1;
    fence.mbarrier_init.release.cluster;
$ready:
    bar.sync 0;
    @%p1 bra $wait;
    mov.b32 %r2, 0;
    mbarrier.arrive.expect_tx.shared.b64 %d6, [phase], {bytes};
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%d5], [%d3, {{%r2, %r2}}], [phase];
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%d5+{behind}], [%d4, {{%r2, %r2}}], [phase];
$wait:
    mbarrier.try_wait.parity.shared.b64 %p2, [phase], 0;
    @!%p2 bra $wait;
    shr.u64 %d7, %d5, 4;
    and.b64 %d7, %d7, 0x3FFF;
    or.b64 %d7, %d7, {left};
    add.s64 %d8, %d7, {step};
    and.b64 %d8, %d8, {mask};
    or.b64 %d8, %d8, {right};
    {zero}
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.bf16.bf16
        {{{sums}}}, %d7, %d8, 1, 1, 1, 0, {turned};
    wgmma.commit_group.sync.aligned;
    {wait}
    ld.param.u64 %d9, [out];
    mul.wide.u32 %d10, %r1, {row};
    add.s64 %d11, %d9, %d10;
    {store}
    ret;
}}
"""


def descriptor(leading: int, stride: int, swizzle: int) -> int:
    """Return all of a descriptor but where the operand begins."""
    kinds = {0: 0, 128: 1, 64: 2, 32: 3}
    return (leading >> 4) << 16 | (stride >> 4) << 32 | kinds[swizzle] << 62


def warpgroup_product(
    swizzle: int,
    columns: int,
    *,
    turned: bool = False,
    wait: bool = True,
    driver: Driver | None = None,
) -> tuple[Array, Array]:
    """Return a product of two tiles that are copied into shared memory, and what it should be."""
    inner = swizzle // 2
    a = random("bf16", 64, inner)
    b = random("bf16", inner, columns) if turned else random("bf16", columns, inner)
    shape = (columns, inner) if turned else (inner, columns)

    def left(places: list[int]) -> Tiles:
        return Tiles(places[0], "bf16", (inner, 64), (2 * inner,), (inner, 64), swizzle)

    def right(places: list[int]) -> Tiles:
        return Tiles(places[1], "bf16", shape, (2 * shape[0],), shape, swizzle)

    count = columns // 2
    behind = -(-64 * swizzle // 1024) * 1024
    text = WARPGROUP.format(
        size=behind + b.nbytes,
        count=count,
        bytes=a.nbytes + b.nbytes,
        behind=behind,
        left=descriptor(16, 8 * swizzle, swizzle),
        step=behind >> 4,
        mask=0x3FFF,
        right=descriptor(16, 8 * swizzle, swizzle),
        zero="\n".join(f"mov.b32 %f{n}, 0f3F800000;" for n in range(count)),
        columns=columns,
        sums=registers("f", count),
        turned=int(turned),
        wait="wgmma.wait_group.sync.aligned 0;" if wait else "",
        row=4 * count,
        store="\n".join(f"st.global.f32 [%d11+{4 * n}], %f{n};" for n in range(count)),
    )
    out = np.zeros((128, count), np.float32)
    device = driver or EmulatedDriver(races=True)
    results = on_driver(device, text, [a, b, out], block=128, maps=(left, right))
    lanes = results[2].reshape(4, 8, 4, columns // 8, 2, 2)
    found = lanes.transpose(0, 4, 1, 3, 2, 5).reshape(64, columns)
    x, y = a[:, :16].astype(np.float32), b.astype(np.float32)
    return found, 1 + (x @ y[:16] if turned else x @ y[:, :16].T)


@pytest.mark.parametrize(("swizzle", "columns"), [(128, 8), (128, 64), (64, 16), (32, 24)])
def test_products_of_a_warpgroup_from_swizzled_tiles(swizzle: int, columns: int) -> None:
    np.testing.assert_array_equal(*warpgroup_product(swizzle, columns))


def test_the_right_operand_may_lie_turned() -> None:
    np.testing.assert_array_equal(*warpgroup_product(128, 64, turned=True))


def test_products_are_there_only_when_they_were_waited_for() -> None:
    found, _ = warpgroup_product(128, 8, wait=False)
    assert (found == 1).all()


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_tiles_that_reach_over_the_edge_are_zero_there_and_are_not_written(
    swizzle: int, waits: bool
) -> None:
    body = """
    ld.param.u64 %d20, [p0];
    mov.b64 %d1, map;
    cvta.param.u64 %d1, %d1;
    mov.u64 %d2, tile;
    setp.ne.u32 %p1, %r90, 0;
    @%p1 bra $wait;
    mbarrier.init.shared.b64 [tile+1024], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 %d3, [tile+1024], 128;
    mov.b32 %r1, 8;
    mov.b32 %r2, -2;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%d2], [%d1, {%r1, %r2}], [tile+1024];
$again:
    mbarrier.try_wait.parity.shared.b64 %p2, [tile+1024], 0;
    @!%p2 bra $again;
    mov.b32 %r2, 3;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1, {%r1, %r2}], [%d2];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
$wait:
"""
    text = module(body, 1, outside=".shared .align 1024 .b8 tile[1032];")
    text = text.replace(".param .u64 p0", ".param .align 64 .b8 map[128], .param .u64 p0")
    if not waits:  # the copy is done at the end of the kernel
        text = text.replace("cp.async.bulk.wait_group 0;", "")
    x = np.arange(5 * 16, dtype=np.int16).reshape(5, 16)
    heap = Heap()
    at = put(heap, x)
    tensor = TensorBox(at, 2, (12, 5), (32,), (16, 4), swizzle)
    arguments = tensor.encode() + struct.pack("Q", at)
    image = Image(read_module(text), heap)
    image.launch("test", KernelRun((1, 1, 1), (32, 1, 1), 0, arguments))
    expected = x.copy()
    expected[3:5, 8:12] = 0  # the first two rows of the tile were outside
    found = heap.bytes_at(at, x.nbytes).view(np.int16).reshape(x.shape)
    np.testing.assert_array_equal(found, expected)


def test_maps_that_hardware_refuses_are_refused() -> None:
    with pytest.raises(KernelFault, match="whole 16 bytes"):
        TensorBox(0, 2, (8, 8), (20,), (8, 8), 0)
    with pytest.raises(KernelFault, match="rows of 256 bytes swizzled over 128"):
        TensorBox(0, 2, (128, 8), (256,), (128, 8), 128)
    with pytest.raises(KernelFault, match="is none"):
        TensorBox.decode(bytes(128))
