"""How fast this machine multiplies and reads at most, measured by loops that do nothing else.

multiply_rate(threads)        flops a second: fused multiply-adds of f32, all in registers
read_rate(threads)            bytes a second: reading more than the caches hold
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from time import perf_counter
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from ...target import Target
from .compile import parsed
from .cpu import target_machine
from .uninterrupted import uninterrupted

ACCUMULATORS = 12
"""Chains of multiply-adds that do not wait for each other."""
REPEATS = 12
SECONDS = 0.002
AT_LEAST = 1 << 26
"""Bytes that are read in one measurement, the same ones again if there are fewer."""


@cache
def multiply_rate(threads: int = 1) -> float:
    """Return the flops a second that so many threads do at most, in f32."""
    engine, multiply, _ = _functions()
    out = [np.zeros(64, np.float32) for _ in range(threads)]
    trips, seconds = 250, 0.0
    while seconds < SECONDS:
        trips *= 4
        calls = [partial(multiply, trips, each.ctypes.data) for each in out]
        seconds = min(_together(calls) for _ in range(REPEATS))
    assert engine is not None, "the code lives as long as its engine"
    return threads * trips * 2.0 * ACCUMULATORS * _lanes() / seconds


@cache
def read_rate(threads: int, size: int) -> float:
    """Return the bytes a second that so many threads read at most, of `size` bytes in all.

    The size is rounded down to a power of two. One within a cache tells how fast that cache
    is, one beyond all of them the memory.
    """
    engine, _, read = _functions()
    lanes = 8 * _lanes()
    each = 1 << max(size // threads // 4, lanes).bit_length() - 1
    data = [np.ones(each, np.float32) for _ in range(threads)]
    out = np.zeros(64, np.float32)
    trips = max(each, AT_LEAST // 4) // lanes
    calls = [partial(read, trips, each - 1, d.ctypes.data, out.ctypes.data) for d in data]
    seconds = min(_together(calls) for _ in range(REPEATS))
    assert engine is not None, "the code lives as long as its engine"
    return threads * trips * lanes * 4 / seconds


def _together(calls: Sequence[Callable[[], object]]) -> float:
    """Return how long calls take that run at the same time, each in a thread."""
    if len(calls) == 1:
        start = perf_counter()
        calls[0]()
        return perf_counter() - start
    gate = threading.Barrier(len(calls) + 1)

    def run(call: Callable[[], object]) -> None:
        gate.wait()
        call()

    workers = [threading.Thread(target=run, args=(call,)) for call in calls]
    for worker in workers:
        worker.start()
    gate.wait()
    start = perf_counter()
    for worker in workers:
        worker.join()
    return perf_counter() - start


def _lanes() -> int:
    return max(Target.parse("native").lanes, 4)


@cache
@uninterrupted
def _functions() -> tuple[Any, Any, Any]:
    """Return the engine that holds the code, and both functions."""
    target = Target.parse("native")
    module = parsed(_text(_lanes(), target.llvm_features), target, target_machine(target))
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.architecture.plain, features=target.llvm_features, opt=1, jit=True
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    word, pointer = ctypes.c_int64, ctypes.c_void_p
    multiply = ctypes.CFUNCTYPE(None, word, pointer)(engine.get_function_address("multiply"))
    read = ctypes.CFUNCTYPE(None, word, word, pointer, pointer)(engine.get_function_address("read"))
    return engine, multiply, read


def _text(lanes: int, features: str) -> str:
    """Return both loops for vectors of so many f32."""
    vector = f"<{lanes} x float>"
    fma = f"@llvm.fma.v{lanes}f32"
    head = f"declare {vector} {fma}({vector}, {vector}, {vector})\n"
    attributes = f'"target-features"="{features}" nounwind'
    return head + _multiply(vector, fma, attributes) + _read(vector, lanes, attributes)


def _loop(count: int, vector: str, body: Sequence[str]) -> str:
    """Return a loop with so many accumulators `%a0`, which the body makes `%b0`."""
    phis = "".join(
        f"  %a{i} = phi {vector} [zeroinitializer, %entry], [%b{i}, %loop]\n" for i in range(count)
    )
    sums = "".join(
        f"  %s{i} = fadd {vector} {'%b0' if i == 1 else f'%s{i - 1}'}, %b{i}\n"
        for i in range(1, count)
    )
    return (
        "entry:\n  br label %loop\nloop:\n  %i = phi i64 [0, %entry], [%j, %loop]\n"
        + phis + "".join(f"  {line}\n" for line in body)
        + "  %j = add i64 %i, 1\n  %more = icmp slt i64 %j, %n\n"
        + "  br i1 %more, label %loop, label %done\ndone:\n" + sums
        + f"  store {vector} %s{count - 1}, ptr %out, align 4\n  ret void\n}}\n"
    )  # fmt: skip


def _multiply(vector: str, fma: str, attributes: str) -> str:
    body = [
        f"%b{i} = call {vector} {fma}({vector} %a{i}, {vector} %x, {vector} %x)"
        for i in range(ACCUMULATORS)
    ]
    loop = _loop(ACCUMULATORS, vector, body)
    entry = f"entry:\n  %x = load {vector}, ptr %out, align 4\n"
    return f"define void @multiply(i64 %n, ptr %out) {attributes} {{\n" + loop.replace(
        "entry:\n", entry, 1
    )


def _read(vector: str, lanes: int, attributes: str) -> str:
    body = []
    for i in range(8):
        place = f"%p{i}"
        body.append(f"%k{i} = add i64 %base, {i * lanes}")
        body.append(f"{place} = getelementptr float, ptr %data, i64 %k{i}")
        body.append(f"%v{i} = load {vector}, ptr {place}, align 4")
        body.append(f"%b{i} = fadd {vector} %a{i}, %v{i}")
    first = [f"%far = mul i64 %i, {8 * lanes}", "%base = and i64 %far, %mask"]
    body = [*first, *body]
    loop = _loop(8, vector, body)
    return f"define void @read(i64 %n, i64 %mask, ptr %data, ptr %out) {attributes} {{\n" + loop
