"""Run a program of the levels `planned` and `loops` on the reference interpreter.

Memory is real: one array of bytes for the workspace and one for the weights, so that a
wrong memory plan gives wrong numbers. The workspace starts filled with a pattern.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp

from ..placement import ALIGNMENT, HOST, WORKSPACE, raw_names, roles, weight_rows
from ..program import Program, optional_function
from ..types import dims
from ..types.tensor import Array, spec_of
from .graph import Interpreter, bind_symbols

PATTERN = 0xA5


def interpret_planned(
    program: Program, inputs: Sequence[Array], weights: Array | None = None
) -> list[Array]:
    """Return the outputs of `@main` for these inputs, after running `@prepare`.

    `weights` is what `weight_blob` gave before, so that they are not prepared again.
    """
    machine = Interpreter(program.module, program.weights)
    weights = weight_blob(program, machine) if weights is None else weights
    return _run(program.main, machine, list(inputs), weights)


def weight_blob(program: Program, machine: Interpreter) -> Array:
    """Return the bytes of all weights: raw ones copied, prepared ones computed."""
    rows = weight_rows(program.module)
    blob = aligned(max((offset + size for _, offset, size in rows), default=0))
    for name, offset, size in rows:
        if name in program.weights:
            raw = np.ascontiguousarray(program.weights[name])
            blob[offset : offset + size] = raw.reshape(-1).view(np.uint8)
    prepare = optional_function(program.module, "prepare")
    if prepare is not None:
        given = [
            [np.ascontiguousarray(program.weights[name]) for name in names]
            for _, names in raw_names(prepare)
        ]
        _run(prepare, machine, [each if len(each) > 1 else each[0] for each in given], blob)
    return blob


def _run(
    function: FuncOp, machine: Interpreter, inputs: Sequence[Array | list[Array]], weights: Array
) -> list[Array]:
    """Run a function; an input that is several arrays is an argument that stands for them."""
    kinds, specs = roles(function), _shapes_and_dtypes(function)
    shapes = [x[0].shape if isinstance(x, list) else x.shape for x in inputs]
    symbols = bind_symbols([s for s, _ in specs[: len(inputs)]], shapes)
    outputs = [
        np.zeros([dims.evaluate(d, symbols) for d in shape], dtype)
        for (shape, dtype), role in zip(specs, kinds, strict=True)
        if role == "output"
    ]
    size = function.attributes.get(WORKSPACE)
    workspace = aligned(size.value.data if isinstance(size, IntegerAttr) else 1 << 26)
    spaces = [workspace, weights]
    if kinds[-1] == "host":
        host = function.attributes[HOST]
        assert isinstance(host, IntegerAttr), "what uses memory of the host says how much"
        spaces.append(aligned(host.value.data))
    inner = Interpreter(machine.module, machine.weights, symbols)
    inner.block(function.body.block, [*inputs, *outputs, *spaces])
    return outputs


def _shapes_and_dtypes(
    function: FuncOp,
) -> list[tuple[tuple[dims.Dim, ...], np.dtype[np.generic]]]:
    """Return shape and dtype of each argument; a space counts as one without dims."""
    rows: list[tuple[tuple[dims.Dim, ...], np.dtype[np.generic]]] = []
    for role, kind in zip(roles(function), function.function_type.inputs, strict=True):
        if role in ("workspace", "weights", "host"):
            rows.append(((), np.dtype(np.uint8)))
        else:
            rows.append((spec_of(kind).dims, spec_of(kind).dtype.numpy))
    return rows


def aligned(size: int) -> Array:
    """Return bytes that start at a cache line, filled with a pattern."""
    raw = np.full(size + ALIGNMENT, PATTERN, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]
