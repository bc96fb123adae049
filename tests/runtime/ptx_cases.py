"""Kernels of a few instructions of PTX, run on the emulator."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from gravure.runtime.ptx_emulator import Heap, Image, Launch, Order, read_module

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
    launch = Launch(
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
    block = 32
    assert count % block == 0
    text = module("\n".join(lines), len(arrays))
    return run(text, arrays, grid=count // block, block=block)[-1]
