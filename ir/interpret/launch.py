"""Interpret `gv.launch`: tensor kernels at `planned`, flat kernels at `loops`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, MemRefType, StringAttr, TensorType
from xdsl.dialects.func import FuncOp

from ..op import Op
from ..program import find_function
from ..types import dims
from ..types.dtypes import of_element

if TYPE_CHECKING:
    from .graph import Interpreter

SYMBOLS = "gv.symbols"
"""Attribute of a kernel function: the names of its own dimension symbols."""
UNITS = "gv.units"
"""Attribute of a `loops` kernel: the extent of its parallel range, an expression of its symbols."""
SIZES = "gv.sizes"
"""Attribute of a `loops` kernel: the elements of each buffer but the scratch, expressions too."""
DEMANDS = "gv.demands"
"""Attribute of a kernel: expressions that are at least 0 in every launch of it."""
ROUNDS = "gv.rounds"
"""Attribute of a `loops` kernel: how often its whole range is run, one time after the other.

Where it is there, the number of the round is an argument behind the symbols.
"""
SCRATCH = "gv.scratch"
"""Attribute of a `loops` kernel: bytes of scratch that each slot needs.

Where it is not 0, the function has one more buffer behind its outputs: the scratch of all
slots, of which a call uses the part that starts at `slot` times these bytes.
"""


GUARDED = "gv.guarded"
"""Attribute of a `loops` kernel: how many accesses are looked at in the run; absent if none is."""


def kernel_symbols(kernel: FuncOp) -> list[str]:
    """Return the names of a kernel function's own symbols."""
    row = kernel.attributes.get(SYMBOLS)
    assert row is None or isinstance(row, ArrayAttr), f"{SYMBOLS} is {row}"
    return [name.data for name in row.data if isinstance(name, StringAttr)] if row else []


def interpret_launch(launch: Op, machine: Interpreter, operands: Sequence[Any]) -> None:
    """Run the kernel on arrays; results are written into the last operands."""
    attributes = launch.plain_attributes()
    assert machine.module is not None, "a launch needs a module"
    kernel = find_function(machine.module, str(attributes["kernel"]))
    values = [dims.evaluate(d, machine.symbols) for d in attributes["dims"]]
    symbols = dict(zip(kernel_symbols(kernel), values, strict=True))
    count = attributes["inputs"]
    if all(isinstance(t, TensorType) for t in kernel.function_type.inputs):
        for out, made in zip(
            operands[count:], machine.call(kernel, operands[:count], symbols), strict=True
        ):
            out[...] = made
        return
    from .loops import interpret_kernel  # noqa: PLC0415  (only this level needs it)

    flat = [np.reshape(x, -1) for x in operands]
    assert all(np.shares_memory(a, b) or not a.size for a, b in zip(flat, operands, strict=True))
    units = kernel.attributes[UNITS]
    assert isinstance(units, StringAttr), f"{UNITS} is {units}"
    extent = dims.evaluate(dims.parse(units.data), symbols)
    buffers = len(flat)
    scratch = kernel.attributes.get(SCRATCH)
    if isinstance(scratch, StringAttr) and scratch.data != "0":
        kind = kernel.function_type.inputs.data[buffers]
        assert isinstance(kind, MemRefType), f"scratch is {kind}"
        dtype = of_element(kind.element_type)
        flat.append(np.full(int(scratch.data) // dtype.size, 77, dtype.numpy))
    # Two calls instead of one: a kernel must not depend on how its range is cut.
    middle = extent // 2
    for numbers in rounds_of(kernel, symbols):
        for low, high in ((0, middle), (middle, extent)):
            interpret_kernel(kernel, [*flat, *values, *numbers, low, high, 0])


def rounds_of(kernel: FuncOp, symbols: dict[str, int]) -> list[tuple[int, ...]]:
    """Return what each round of a kernel has as arguments of its own: its number, or nothing."""
    rounds = kernel.attributes.get(ROUNDS)
    if not isinstance(rounds, StringAttr):
        return [()]
    return [(number,) for number in range(dims.evaluate(dims.parse(rounds.data), symbols))]
