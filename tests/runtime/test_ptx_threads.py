"""How threads of the emulator meet, wait and share memory, and what is caught when they err."""

import re
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure.runtime.ptx_emulator import (
    Heap,
    Image,
    KernelFault,
    KernelRun,
    UnsupportedPtx,
    read_module,
)

sys.path.insert(0, str(Path(__file__).parent))
from ptx_cases import HEAD, module, run

Array = np.ndarray[Any, Any]
ADDRESSES = """
    mul.wide.u32 %d1, %r93, 4;
    add.s64 %d2, %d20, %d1;
    add.s64 %d3, %d21, %d1;
    ld.global.b32 %r1, [%d2];
"""
STORE = "st.global.b32 [%d3], %r2;"


def of_each(body: str, x: Array, **options: Any) -> Array:
    """Return what a kernel makes of %r1, its element of x, in %r2."""
    text = module(ADDRESSES + body + STORE, 2, outside=options.pop("outside", ""))
    return run(text, [x, np.zeros_like(x)], **options)[1]


X = np.arange(100, 164, dtype=np.uint32)


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("bfly.b32 %r2, %r1, 5, 31", lambda lane: lane ^ 5),
        ("down.b32 %r2, %r1, 3, 31", lambda lane: min(lane + 3, lane if lane > 28 else 31)),
        ("up.b32 %r2, %r1, 4, 0", lambda lane: lane - 4 if lane >= 4 else lane),
        ("idx.b32 %r2, %r1, 7, 31", lambda lane: 7),
        ("idx.b32 %r2, %r1, 2, 0x181f", lambda lane: lane // 8 * 8 + 2),
        ("bfly.b32 %r2, %r1, 1, 0x1f1f", lambda lane: lane - lane % 2),
    ],
)
def test_shuffles(text: str, source: Any, seed: int | None) -> None:
    found = of_each(f"shfl.sync.{text}, -1;", X, block=64, seed=seed)
    assert found.tolist() == [X[n // 32 * 32 + source(n % 32)] for n in range(64)]


def test_a_shuffle_waits_for_lanes_that_went_another_way() -> None:
    body = """
    and.b32 %r3, %r90, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra $even;
    add.u32 %r1, %r1, 1000;
    shfl.sync.idx.b32 %r2, %r1, 3, 31, 0xAAAAAAAA;
    bra.uni $join;
$even:
    shfl.sync.idx.b32 %r2, %r1, 4, 31, 0x55555555;
$join:
    shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1;
"""
    found = of_each(body, X[:32])
    assert found.tolist() == [1103, 104] * 16


def test_votes_and_sums() -> None:
    body = """
    setp.gt.u32 %p1, %r1, 120;
    vote.sync.ballot.b32 %r3, %p1, -1;
    popc.b32 %r4, %r3;
    redux.sync.max.u32 %r5, %r1, -1;
    mad.lo.u32 %r2, %r4, 1000, %r5;
"""
    found = of_each(body, X, block=64)
    assert found.tolist() == [11131] * 32 + [32163] * 32


def test_a_guard_keeps_lanes_out() -> None:
    body = "mov.b32 %r2, 7; setp.lt.u32 %p1, %r90, 5; @%p1 mov.b32 %r2, 9; @!%p1 bra $end; $end:"
    assert of_each(body, X[:32]).tolist() == [9] * 5 + [7] * 27


def test_loops_that_lanes_leave_at_different_times() -> None:
    body = """
    mov.b32 %r2, 0;
$again:
    add.u32 %r2, %r2, 2;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $again;
"""
    x = np.arange(1, 33, dtype=np.uint32)
    for seed in (None, 3):
        assert of_each(body, x, seed=seed).tolist() == (2 * x).tolist()


REVERSE = """
    mov.u64 %d4, buffer;
    mul.wide.u32 %d5, %r90, 4;
    add.s64 %d6, %d4, %d5;
    st.shared.b32 [%d6], %r1;
    bar.sync 0;
    sub.s64 %d7, %d4, %d5;
    ld.shared.b32 %r2, [%d7+508];
"""
SHARED = ".shared .align 16 .b8 buffer[512];"


@pytest.mark.parametrize(("seed", "races"), [(None, False), (7, False), (None, True), (7, True)])
def test_threads_share_memory_over_a_barrier(seed: int | None, races: bool) -> None:
    x = np.arange(256, dtype=np.uint32)
    found = of_each(REVERSE, x, grid=2, block=128, seed=seed, races=races, outside=SHARED)
    np.testing.assert_array_equal(found.reshape(2, -1), x.reshape(2, -1)[:, ::-1])


def test_a_missing_barrier_is_a_race_and_gives_wrong_numbers_to_a_seed() -> None:
    x = np.arange(128, dtype=np.uint32)
    body = REVERSE.replace("bar.sync 0;", "")
    assert (of_each(body, x, block=128, outside=SHARED) == x[::-1]).all()
    assert (of_each(body, x, block=128, seed=1, outside=SHARED) != x[::-1]).any()
    with pytest.raises(KernelFault, match=r"line \d+: race: warp \d reads what warp \d writes"):
        of_each(body, x, block=128, races=True, outside=SHARED)


def test_a_missing_second_barrier_is_a_race() -> None:
    x = np.arange(128, dtype=np.uint32)
    body = REVERSE + "st.shared.b32 [%d6], %r2;"
    with pytest.raises(KernelFault, match=r"writes what warp . still reads"):
        of_each(body, x, block=128, races=True, outside=SHARED)


def test_a_barrier_that_some_threads_do_not_reach_is_a_fault() -> None:
    x = np.arange(128, dtype=np.uint32)
    body = "setp.lt.u32 %p1, %r90, 64; @%p1 bra $go; bar.sync 0; $go: bar.sync 0; mov.b32 %r2, 1;"
    with pytest.raises(KernelFault, match="meet at barrier 0 in lines"):
        of_each(body, x, block=128)
    body = "setp.lt.u32 %p1, %r90, 64; @%p1 bra $go; bar.sync 1, 128; $go: mov.b32 %r2, 1;"
    with pytest.raises(KernelFault, match=r"deadlock: 64 threads wait at line \d+ \(bar.sync 1"):
        of_each(body, x, block=128)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("st.global.b32 [%d21], %r1;", "writes where block"),
        ("ld.global.b32 %r5, [%d21+128]; st.global.b32 [%d3], %r5;", "reads what|writes what"),
    ],
)
def test_blocks_that_use_the_same_memory_race(body: str, message: str) -> None:
    x = np.arange(64, dtype=np.uint32)
    arrays = [x, np.zeros_like(x)]
    text = module(ADDRESSES + body, 2)
    run(text, arrays, grid=2, block=32)
    with pytest.raises(KernelFault, match=rf"race: block \d ({message}).* of global memory"):
        run(text, arrays, grid=2, block=32, races=True)


def test_blocks_may_read_the_same_memory() -> None:
    x = np.arange(64, dtype=np.uint32)
    text = module(ADDRESSES + "ld.global.b32 %r2, [%d20+4];" + STORE, 2)
    found = run(text, [x, np.zeros_like(x)], grid=2, block=32, races=True)[1]
    assert set(found.tolist()) == {1}


def test_named_barriers_of_some_warps() -> None:
    x = np.arange(128, dtype=np.uint32)
    body = """
    mov.u64 %d4, buffer;
    mul.wide.u32 %d5, %r90, 4;
    add.s64 %d6, %d4, %d5;
    setp.lt.u32 %p1, %r90, 64;
    @%p1 bra $consume;
    st.shared.b32 [%d6], %r1;
    bar.arrive 3, 128;
    mov.b32 %r2, 0;
    bra.uni $end;
$consume:
    bar.sync 3, 128;
    ld.shared.b32 %r2, [%d6+256];
$end:
"""
    for seed, races in ((None, False), (2, True)):
        found = of_each(body, x, block=128, seed=seed, races=races, outside=SHARED)
        assert found.tolist() == [*range(64, 128), *[0] * 64]


def test_threads_may_leave_before_a_barrier() -> None:
    x = np.arange(128, dtype=np.uint32)
    body = "mov.b32 %r2, 5; setp.ge.u32 %p1, %r90, 96; @%p1 exit; bar.sync 0;"
    assert of_each(body, x, block=128).tolist() == [5] * 96 + [0] * 32


@pytest.mark.parametrize("seed", [None, 4])
def test_atomic_additions(seed: int | None) -> None:
    body = """
    and.b32 %r3, %r93, 3;
    mul.wide.u32 %d4, %r3, 4;
    add.s64 %d4, %d21, %d4;
    atom.global.add.u32 %r4, [%d4], %r1;
    red.global.max.u32 [%d4+16], %r93;
"""
    x = np.ones(192, np.uint32)
    out = np.zeros(8, np.uint32)
    found = run(module(ADDRESSES + body, 2), [x, out], grid=3, block=64, seed=seed)[1]
    assert found.tolist() == [48] * 4 + [188, 189, 190, 191]


def test_the_old_values_of_atomic_additions_are_all_different() -> None:
    body = "atom.global.add.u32 %r2, [%d21], 1; st.global.b32 [%d2], %r2;"
    x = np.zeros(64, np.uint32)
    found, count = run(module(ADDRESSES + body, 2), [x, np.zeros(1, np.uint32)], block=64)
    assert sorted(found.tolist()) == [*range(64)]
    assert count.tolist() == [64]


def test_reading_outside_of_an_allocation_is_a_fault() -> None:
    text = module("ld.global.b32 %r1, [%d20+128]; st.global.b32 [%d20], %r1;", 1)
    message = r"test, line \d+: 4 bytes of global memory at 0x\w+: not allocated, 0 bytes behind"
    with pytest.raises(KernelFault, match=message):
        run(text, [np.zeros(32, np.uint32)])


def test_misaligned_and_shared_accesses_are_checked() -> None:
    x = np.zeros(32, np.uint32)
    with pytest.raises(KernelFault, match="is not a multiple of 16"):
        run(module("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d20+4];", 1), [x])
    with pytest.raises(KernelFault, match="4 bytes of shared memory at 512: there are 512 bytes"):
        of_each("ld.shared.b32 %r2, [buffer+512];", x, outside=SHARED)


def test_memory_that_was_given_back_is_not_read() -> None:
    heap = Heap()
    first, second = heap.allocate(64), heap.allocate(64)
    heap.free(first)
    with pytest.raises(KernelFault, match="not allocated"):
        heap.places(np.array([first]), 4)
    assert heap.places(np.array([second]), 4).size == 1
    with pytest.raises(KernelFault, match="never allocated"):
        heap.free(first)


def test_a_kernel_that_does_not_end_is_a_fault() -> None:
    with pytest.raises(KernelFault, match="does not end"):
        run(module("$again: add.u32 %r1, %r1, 1; bra.uni $again;", 1), [X], limit=1000)


def test_vectors_locals_and_generic_addresses() -> None:
    body = """
    .local .align 16 .b8 depot[16];
    mov.b64 %d4, depot;
    st.local.v2.b32 [%d4+8], {%r1, %r93};
    cvta.local.u64 %d5, %d4;
    ld.b32 %r2, [%d5+8];
    ld.b32 %r3, [%d5+12];
    sub.u32 %r2, %r2, %r3;
"""
    assert of_each(body, X, block=64).tolist() == [100] * 64


def test_variables_of_a_module_begin_with_their_values() -> None:
    outside = ".global .align 4 .b32 table[4] = {5, 0x10, 0f3F800000, -1};"
    body = "ld.global.b32 %r2, [table+4]; ld.global.b32 %r3, [table+8]; add.u32 %r2, %r2, %r3;"
    assert of_each(body, X[:32], outside=outside).tolist() == [0x3F800010] * 32


def test_branches_by_a_table() -> None:
    body = """
    and.b32 %r3, %r93, 1;
$table: .branchtargets $first, $second;
    brx.idx %r3, $table;
$first: mov.b32 %r2, 10; bra.uni $end;
$second: mov.b32 %r2, 20;
$end:
"""
    assert of_each(body, X[:32]).tolist() == [10, 20] * 16


def test_what_is_launched_wrongly_is_a_fault() -> None:
    text = module("", 1).replace(")\n{", ")\n.reqntid 64\n{")
    with pytest.raises(KernelFault, match=re.escape("made for (64, 1, 1)")):
        run(text, [X], block=32)
    with pytest.raises(KernelFault, match="8 bytes of arguments, expected 16"):
        run(module("", 2), [X])


def test_functions_and_nonsense_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedPtx, match=r"no .version"):
        read_module("hello")
    with pytest.raises(UnsupportedPtx, match=r"line 5: functions that are not inlined"):
        read_module(".version 8.0\n.target sm_80\n\n\n.func f() { ret; }\n")


COPY = """
    mov.u64 %d4, buffer;
    mul.wide.u32 %d5, %r90, 16;
    add.s64 %d6, %d4, %d5;
    add.s64 %d7, %d20, %d5;
    cp.async.cg.shared.global [%d6], [%d7], 16;
    cp.async.commit_group;
    cp.async.wait_group 0;
    ld.shared.b32 %r2, [%d6+4];
"""


def test_copies_of_threads_are_done_when_they_are_waited_for() -> None:
    x = np.arange(128, dtype=np.uint32)
    text = module(ADDRESSES + COPY + STORE, 2, outside=SHARED)
    out = np.zeros(32, np.uint32)
    assert run(text, [x, out])[1].tolist() == [*range(1, 128, 4)]
    assert run(text.replace("wait_group 0", "wait_all"), [x, out])[1].tolist() == [
        *range(1, 128, 4)
    ]
    late = text.replace("wait_group 0", "wait_group 1")
    assert set(run(late, [x, out])[1].tolist()) == {0xFFFFFFFF}
    short = text.replace("[%d7], 16;", "[%d7], 16, 0;")
    assert set(run(short, [x, out])[1].tolist()) == {0}


PIPE = """
    setp.ne.u32 %p1, %r90, 0;
    @%p1 bra $ready;
    mbarrier.init.shared.b64 [buffer], 1;
    fence.mbarrier_init.release.cluster;
$ready:
    bar.sync 0;
    @%p1 bra $wait;
    mbarrier.arrive.expect_tx.shared.b64 %d4, [buffer], 128;
    mov.u64 %d5, buffer;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d5+128], [%d20], 128, [%d5];
$wait:
    mbarrier.try_wait.parity.shared.b64 %p2, [buffer], 0;
    @!%p2 bra $wait;
    ld.shared.b32 %r2, [buffer+132];
"""


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_bulk_copies_are_awaited_at_a_phase(seed: int | None) -> None:
    x = np.arange(64, dtype=np.uint32)
    options: dict[str, Any] = {"block": 64, "seed": seed, "races": True, "outside": SHARED}
    assert set(of_each(PIPE, x, **options).tolist()) == {1}
    with pytest.raises(KernelFault, match="deadlock: 64 threads wait at line"):
        of_each(PIPE.replace("[buffer], 128;", "[buffer], 192;"), x, **options)
    with pytest.raises(KernelFault, match="deadlock"):
        of_each(PIPE.replace("b64 [buffer], 1;", "b64 [buffer], 2;"), x, **options)
    wait = "mbarrier.try_wait.parity.shared.b64 %p2, [buffer], 0;"
    unguarded = PIPE.replace(wait, "setp.eq.u32 %p2, 0, 0;")
    with pytest.raises(KernelFault, match=r"race: warp . reads what the copy writes"):
        of_each(unguarded, x, block=64, races=True, outside=SHARED)


def test_arguments_are_read_where_their_sizes_put_them() -> None:
    text = """.version 8.0
.target sm_80
.address_size 64
.visible .entry test(.param .u32 n, .param .align 64 .b8 map[128],
    .param .u64 .ptr .global .align 16 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    ld.param.b32 %r1, [n];
    ld.param.b32 %r2, [map+124];
    ld.param.b64 %d1, [out];
    add.u32 %r3, %r1, %r2;
    st.global.b32 [%d1], %r3;
    ret;
}
"""
    before = struct.pack("I60x124xI", 5, 37)
    assert run(text, [np.zeros(1, np.uint32)], before=before)[0].tolist() == [42]


def test_copies_must_be_let_see_a_barrier() -> None:
    x = np.arange(64, dtype=np.uint32)
    text = PIPE.replace("fence.mbarrier_init.release.cluster;", "")
    with pytest.raises(KernelFault, match="an mbarrier that it may not see"):
        of_each(text, x, block=64, outside=SHARED)


OUT = """
    mul.wide.u32 %d1, %r90, 4;
    mov.u64 %d2, buffer;
    add.s64 %d3, %d2, %d1;
    st.shared.b32 [%d3], %r90;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p1, %r90, 0;
    @%p1 bra $end;
    cp.async.bulk.global.shared::cta.bulk_group [%d20], [%d2], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    st.shared.b32 [%d2], 7;
$end:
"""


def test_copies_find_what_threads_wrote_behind_a_fence() -> None:
    options: dict[str, Any] = {"block": 64, "races": True}
    text, x = module(OUT, 1, outside=SHARED), np.zeros(64, np.uint32)
    assert run(text, [x], **options)[0].tolist() == [*range(64)]
    for missing, fault in (
        ("fence.proxy.async.shared::cta;", "meets what threads wrote(.|\n)*fence.proxy.async"),
        ("bar.sync 0;", "meets what threads wrote|race: the copy reads what warp 1 writes"),
        ("cp.async.bulk.wait_group 0;", "race: warp 0 writes what the copy still reads"),
    ):
        with pytest.raises(KernelFault, match=fault):
            run(text.replace(missing, ""), [x], **options)


def test_copies_that_are_in_no_group_are_not_waited_for() -> None:
    text, x = module(OUT, 1, outside=SHARED), np.zeros(64, np.uint32)
    assert run(text, [x], block=64)[0].tolist() == [*range(64)]
    open_ = text.replace("cp.async.bulk.commit_group;", "")
    assert run(open_, [x], block=64)[0].tolist() != [*range(64)]


def test_each_word_of_a_wide_store_is_written() -> None:
    body = """
    setp.eq.u32 %p1, %r90, 0;
    setp.eq.u32 %p2, %r90, 32;
    @%p1 st.shared.v4.b32 [buffer+16], {%r1, %r1, %r1, %r1};
    @%p2 ld.shared.b32 %r2, [buffer+PLACE];
"""
    x = np.arange(64, dtype=np.uint32)
    for place in (12, 32):
        of_each(body.replace("PLACE", str(place)), x, block=64, races=True, outside=SHARED)
    for place in (16, 20, 28):
        with pytest.raises(KernelFault, match="race"):
            of_each(body.replace("PLACE", str(place)), x, block=64, races=True, outside=SHARED)


def test_the_low_bytes_of_a_register_are_stored() -> None:
    x = np.arange(32, dtype=np.uint32) * 0x01020304
    for kind, mask in (("u8", 0xFF), ("u16", 0xFFFF)):
        text = module(f"{ADDRESSES} st.global.{kind} [%d3], %r1;", 2)
        assert run(text, [x, np.zeros_like(x)])[1].tolist() == (x & mask).tolist()


REGISTERS = f"""{HEAD}
.visible .entry test() .reqntid 256 .maxnreg 64
{{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 128;
    @%p1 bra $gives;
    setmaxnreg.inc.sync.aligned.u32 96;
    ret;
$gives:
    setmaxnreg.dec.sync.aligned.u32 32;
    ret;
}}
"""


def test_warpgroups_take_no_more_registers_than_others_give() -> None:
    run(REGISTERS, [], block=256)
    run(REGISTERS.replace(" 96;", " 64;").replace(" 32;", " 64;"), [], block=256)
    for before, after, fault in (
        (" 96;", " 104;", "warps wait for 17408 registers, the block has 16384"),
        (" 32;", " 72;", "setmaxnreg from 64 to 72"),
        (".maxnreg 64", "", "without .maxnreg"),
        ("r1, 128", "r1, 96", "deadlock"),
    ):
        with pytest.raises(KernelFault, match=fault):
            run(REGISTERS.replace(before, after), [], block=256)


def test_what_is_loaded_as_constant_stays_as_it_is() -> None:
    body = "st.global.b32 [%d20], 7; ld.global.nc.b32 %r2, [%d20]; st.global.b32 [%d20+4], %r2;"
    x = np.zeros(2, np.uint32)
    assert run(module(body.replace(".nc", ""), 1), [x], races=True)[0].tolist() == [7, 7]
    with pytest.raises(KernelFault, match=r"ld.global.nc reads what this launch wrote"):
        run(module(body, 1), [x], races=True)


@pytest.mark.parametrize(("grid", "shared"), [(1, 200_000), (1, 230_000), (2**31, 0)])
def test_launches_that_hardware_refuses_are_refused(grid: int, shared: int) -> None:
    heap = Heap()
    image = Image(read_module(module("", 0).replace("sm_90a", "sm_80")), heap)
    with pytest.raises(KernelFault, match=r"shared memory|grid"):
        image.launch("test", KernelRun((grid, 1, 1), (32, 1, 1), shared, b""))
