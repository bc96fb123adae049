"""Kernels of a few instructions of PTX, run on the emulator."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gravure.runtime.gpu.driver import Driver, Node, Tiles
from gravure.runtime.gpu.plan import GpuKernel, GpuModule
from gravure.runtime.ptx_emulator import Heap, Image, KernelRun, Order, read_module

Array = np.ndarray[Any, Any]
HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"
REGISTERS = """
    .reg .pred %p<9>;
    .reg .b16 %h<9>;
    .reg .b32 %r<99>;
    .reg .b64 %d<30>;
"""
INDEX = """
    mov.u32 %r90, %tid.x;
    mov.u32 %r91, %ctaid.x;
    mov.u32 %r92, %ntid.x;
    mad.lo.s32 %r93, %r91, %r92, %r90;
"""


def module(body: str, pointers: int, *, outside: str = "") -> str:
    """Return a kernel that has its pointers in %d20 and on, and its thread's number in %r93."""
    parameters = ", ".join(f".param .u64 p{number}" for number in range(pointers))
    loads = "\n".join(f"ld.param.u64 %d{20 + n}, [p{n}];" for n in range(pointers))
    return f"""{HEAD}{outside}
.visible .entry test({parameters})
{{{REGISTERS}{loads}{INDEX}{body}
    ret;
}}
"""


def put(heap: Heap, array: Array) -> int:
    """Return where an array is copied to."""
    plain = np.ascontiguousarray(array)
    at = heap.allocate(plain.nbytes)
    heap.bytes_at(at, plain.nbytes)[:] = plain.reshape(-1).view(np.uint8)
    return at


def run(
    text: str,
    arrays: Sequence[Array],
    *,
    grid: int = 1,
    block: int = 32,
    shared: int = 0,
    seed: int | None = None,
    races: bool = False,
    before: bytes = b"",
    limit: int = 1_000_000,
) -> list[Array]:
    """Run the kernel `test` on copies of arrays, and return them afterwards."""
    heap = Heap()
    image = Image(read_module(text), heap)
    places = [put(heap, array) for array in arrays]
    arguments = before + struct.pack(f"{len(places)}Q", *places)
    launch = KernelRun(
        (grid, 1, 1), (block, 1, 1), shared, arguments, Order(seed), races=races, limit=limit
    )
    image.launch("test", launch)
    return [
        heap.bytes_at(at, array.nbytes).copy().view(array.dtype).reshape(array.shape)
        for at, array in zip(places, arrays, strict=True)
    ]


BITS = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}
NAMES = {1: "h", 2: "h", 4: "r", 8: "d"}


def apply(instruction: str, inputs: Sequence[Array], result: Any) -> Array:
    """Return what an instruction gives: its operands are `$0` (the result), `$1`, and so on."""
    text, arrays = case_of(instruction, inputs, result)
    return run(text, arrays, grid=len(inputs[0]) // 32, block=32)[-1]


def on_driver(
    driver: Driver,
    text: str,
    arrays: Sequence[Array],
    *,
    grid: int = 1,
    block: int = 32,
    maps: Sequence[Callable[[list[int]], Tiles]] = (),
) -> list[Array]:
    """Run the kernel `test` on a device; `maps` of the arrays' places are its first arguments."""
    places = [driver.allocate(array.nbytes) for array in arrays]
    for at, array in zip(places, arrays, strict=True):
        driver.write(at, np.ascontiguousarray(array))
    arguments = (
        *(driver.tensor_map(make(places)) for make in maps),
        *(struct.pack("Q", place) for place in places),
    )
    code = driver.load([GpuModule("test", text, "sm_90a", (8, 0))])
    node = Node(GpuKernel("test", 0, (block, 1, 1)), (grid, 1, 1), arguments, (), ())
    driver.replay(code, [node], check=True).launch()
    results = [np.empty_like(array) for array in arrays]
    for at, found in zip(places, results, strict=True):
        driver.read(at, found)
        driver.free(at)
    code.close()
    return results


def case_of(instruction: str, inputs: Sequence[Array], result: Any) -> tuple[str, list[Array]]:
    """Return a kernel of one instruction for each element, and its arrays: the result is last."""
    count = len(inputs[0])
    arrays = [*inputs, np.zeros(count, result)]
    lines = []
    for number, array in enumerate(arrays):
        lines.append(f"mul.wide.u32 %d{number}, %r93, {array.itemsize};")
        lines.append(f"add.s64 %d{number}, %d{number}, %d{20 + number};")
    names = {}
    for number, array in enumerate(arrays):
        place = (number + 1) % len(arrays)
        names[place] = f"%{NAMES[array.itemsize]}{8 - place if array.itemsize < 4 else 15 + place}"
        if place:
            lines.append(f"ld.global.{BITS[array.itemsize]} {names[place]}, [%d{number}];")
    for place, name in names.items():
        instruction = instruction.replace(f"${place}", name)
    last = len(inputs)
    lines.append(f"{instruction};")
    lines.append(f"st.global.{BITS[arrays[last].itemsize]} [%d{last}], {names[0]};")
    assert count % 32 == 0
    return module("\n".join(lines), len(arrays)), arrays
