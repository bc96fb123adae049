"""Run `loops` kernels on numpy arrays: the reference that compiled code is checked against.

Every access is checked: one that leaves its buffer names the operation, the index and the size.
Pure operations are in `interpret_loops_values`; here are memory, control flow and the gvk ops.

    >>> from gravure.ir.dialects.kernel import loops_context
    >>> from xdsl.parser import Parser
    >>> module = Parser(loops_context(), '''
    ...   func.func @f(%x: memref<?xf32>, %y: memref<?xf32>, %lo: index, %hi: index, %_: index) {
    ...     %one = arith.constant 1 : index
    ...     scf.for %i = %lo to %hi step %one {
    ...       %v = memref.load %x[%i] : memref<?xf32>
    ...       %w = arith.addf %v, %v : f32
    ...       memref.store %w, %y[%i] : memref<?xf32>
    ...     }
    ...     func.return
    ...   }''').parse_module()
    >>> x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    >>> interpret_kernel(module.body.block.first_op, [x, y, 1, 4, 0])
    >>> y.tolist()
    [0.0, 2.0, 4.0, 6.0]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, MemRefType, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...errors import UnsupportedOp
from ..dialects.kernel import GemmPair, GemmTile, LibraryGemm
from ..types.words import numbers_of_words
from .loop_values import PURE, Value, fused_multiply_add, numpy_dtype


class OutOfBoundsError(IndexError):
    """A kernel reads or writes outside of a buffer: a mistake of the pass that made it."""


Memory = np.ndarray[Any, Any]
Values = dict[SSAValue, Value]


def interpret_kernel(function: FuncOp, arguments: Sequence[Memory | int]) -> None:
    """Run a kernel on flat arrays (for its memrefs) and numbers (for its indices), in place."""
    block = function.body.block
    assert len(block.args) == len(arguments), (
        f"@{function.sym_name.data}: {len(block.args)} arguments, {len(arguments)} given"
    )
    values: Values = {
        parameter: bind(parameter.type, argument)
        for parameter, argument in zip(block.args, arguments, strict=True)
    }
    with np.errstate(all="ignore"):
        run_block(block, values)


def bind(kind: Attribute, argument: Memory | int) -> Value:
    """Return an argument as the interpreter keeps it: signless, a bool one byte."""
    if isinstance(kind, IndexType):
        return np.int64(int(argument))
    assert isinstance(kind, MemRefType), f"no kernel takes a {kind}"
    assert isinstance(argument, np.ndarray), f"{kind}: expected an array"
    assert argument.ndim == 1, f"{kind}: expected a flat array"
    assert argument.flags.c_contiguous, f"{kind}: expected a contiguous array"
    dtype = numpy_dtype(kind)
    if argument.dtype == dtype:
        return argument
    kinds = argument.dtype.kind + dtype.kind
    fits = kinds in ("ii", "ui") and argument.dtype.itemsize == dtype.itemsize
    assert fits, f"{kind}: found an array of {argument.dtype}"
    return argument.view(dtype)


def run_block(block: Block, values: Values) -> Sequence[Value]:
    """Run a block and return what its terminator passes on."""
    for op in block.ops:
        pure = PURE.get(op.name)
        if pure is not None:
            values[op.results[0]] = pure(op, *[values[operand] for operand in op.operands])
            continue
        run = EFFECTS.get(op.name)
        if run is None:
            raise UnsupportedOp(f"{op.name}: not an operation of the loops level")
        outcome = run(op, values)
        if outcome is not None:
            return outcome
    return ()


# Control flow. Only terminators return something.


def _terminate(op: Operation, values: Values) -> Sequence[Value]:
    return [values[operand] for operand in op.operands]


def _for(op: Operation, values: Values) -> None:
    assert isinstance(op, scf.ForOp)
    low, high, step = (int(values[operand]) for operand in op.operands[:3])
    if step <= 0:
        raise OutOfBoundsError(f"{op.name}: step {step} is not positive")
    carried: Sequence[Value] = [values[operand] for operand in op.operands[3:]]
    block = op.body.block
    dtype = numpy_dtype(block.args[0].type).type
    for index in range(low, high, step):
        values[block.args[0]] = dtype(index)
        values.update(zip(block.args[1:], carried, strict=True))
        carried = run_block(block, values)
    values.update(zip(op.results, carried, strict=True))


def _if(op: Operation, values: Values) -> None:
    assert isinstance(op, scf.IfOp)
    region = op.true_region if values[op.operands[0]] else op.false_region
    chosen = run_block(region.block, values) if region.blocks else ()
    values.update(zip(op.results, chosen, strict=True))


def _while(op: Operation, values: Values) -> None:
    assert isinstance(op, scf.WhileOp)
    carried: Sequence[Value] = [values[operand] for operand in op.operands]
    before, after = op.before_region.block, op.after_region.block
    while True:
        values.update(zip(before.args, carried, strict=True))
        condition, *passed = run_block(before, values)
        if not condition:
            values.update(zip(op.results, passed, strict=True))
            return
        values.update(zip(after.args, passed, strict=True))
        carried = run_block(after, values)


# Memory.


def _check(op: Operation, memory: Memory, *indices: int) -> None:
    """Refuse an access at any of the indices that is not inside of the buffer."""
    for index in indices:
        if not 0 <= index < len(memory):
            raise OutOfBoundsError(f"{op.name}: index {index} of a buffer of {len(memory)}")


def _span(op: Operation, memory: Memory, first: int, count: int) -> slice:
    """Return where `count` elements from `first` are, all inside of the buffer."""
    if count:
        _check(op, memory, first, first + count - 1)
    return slice(first, first + count)


def _alloca(op: Operation, values: Values) -> None:
    kind = op.results[0].type
    assert isinstance(kind, MemRefType)
    size = kind.get_shape()[0]
    # Filled with bytes that are unlikely to give a right result by chance.
    raw = np.full(size * numpy_dtype(kind).itemsize, 0xA5, np.uint8)
    values[op.results[0]] = raw.view(numpy_dtype(kind))


def _load(op: Operation, values: Values) -> None:
    memory, index = (values[operand] for operand in op.operands)
    _check(op, memory, int(index))
    values[op.results[0]] = memory[index]


def _store(op: Operation, values: Values) -> None:
    value, memory, index = (values[operand] for operand in op.operands)
    _check(op, memory, int(index))
    memory[index] = value


def _vector_load(op: Operation, values: Values) -> None:
    memory, first = (values[operand] for operand in op.operands)
    kind = op.results[0].type
    assert isinstance(kind, VectorType)
    values[op.results[0]] = memory[_span(op, memory, int(first), kind.get_shape()[0])].copy()


def _vector_store(op: Operation, values: Values) -> None:
    value, memory, first = (values[operand] for operand in op.operands)
    memory[_span(op, memory, int(first), len(value))] = value


def _read(op: Operation, memory: Memory, where: Value, mask: Value, other: Value) -> Value:
    """Return the elements at `where`, `other` where the mask is false."""
    _check(op, memory, *where[mask].tolist())
    result = np.array(other)
    result[mask] = memory[where[mask]]
    return result


def _masked_load(op: Operation, values: Values) -> None:
    memory, first, mask, other = (values[operand] for operand in op.operands)
    values[op.results[0]] = _read(op, memory, first + np.arange(len(mask)), mask, other)


def _masked_store(op: Operation, values: Values) -> None:
    memory, first, mask, value = (values[operand] for operand in op.operands)
    where = (first + np.arange(len(mask)))[mask]
    _check(op, memory, *where.tolist())
    memory[where] = value[mask]


def _gather(op: Operation, values: Values) -> None:
    memory, base, offsets, *masking = (values[operand] for operand in op.operands)
    if not masking:
        masking = [np.ones(len(offsets), np.bool_), np.zeros(len(offsets), memory.dtype)]
    values[op.results[0]] = _read(op, memory, base + offsets, *masking)


def _scatter(op: Operation, values: Values) -> None:
    value, memory, base, offsets, *masking = (values[operand] for operand in op.operands)
    for lane, index in enumerate((base + offsets).tolist()):
        if not masking or masking[0][lane]:
            _check(op, memory, index)
            memory[index] = value[lane]


def _prefetch(_: Operation, __: Values) -> None:
    """Do nothing: a prefetch has no effect that a program can see."""


def _place(op: Operation, values: Values) -> None:
    values[op.results[0]] = np.int64(values[op.operands[0]].ctypes.data)


# Micro-kernels.


def _grid(first: Value, rows: int, distance: Value, columns: int, step: Value = 1) -> Value:
    """Return the indices of a block of a matrix that lies in memory by rows."""
    return int(first) + np.arange(rows)[:, None] * int(distance) + np.arange(columns) * int(step)


def _check_grid(op: Operation, memory: Memory, grid: Value) -> Value:
    if grid.size:
        _check(op, memory, int(grid.min()), int(grid.max()))
    return grid


def _gemm_tile(op: Operation, values: Values) -> None:
    assert isinstance(op, GemmTile)
    tile, numbers = op.tile, [values[operand] for operand in op.operands]
    a, a_first, lda, b, b_first, ldb, c, c_first, ldc, k, segments, *strides = numbers
    a_segment, b_segment, columns, a_step = strides[:4]
    width = tile.vectors * tile.lanes
    shown = min(max(int(columns), 0), width) if tile.masked else width
    out = _check_grid(op, c, _grid(c_first, tile.rows, ldc, shown))
    total = np.zeros((tile.rows, width), c.dtype)
    if tile.accumulate:
        total[:, :shown] = c[out]
    else:
        total[:, :shown] += _bias(op, values, shown)
    if tile.dots > 1:
        counts = (int(k), int(segments), tile.dots)
        walks = ((a, a_first, lda, a_segment, a_step), (b, b_first, ldb, b_segment))
        c[out] = _finished(op, _dots(op, total, counts, walks)[:, :shown], values, out)
        return
    for segment in range(int(segments)):
        left = _grid(a_first + segment * a_segment, tile.rows, lda, int(k), a_step)
        right = _grid(b_first + segment * b_segment, int(k), ldb, width)
        total = _summed(op, (a, left), (b, right), total)
    c[out] = _finished(op, total[:, :shown], values, out)


def _summed(op: Operation, left: Any, right: Any, total: Value) -> Value:
    """Return sums and what a product adds to them, step by step; operands are memory, indices."""
    lefts, rights = (memory[_check_grid(op, memory, grid)] for memory, grid in (left, right))
    for step, row in enumerate(rights):
        total = fused_multiply_add(lefts[:, step, None], row.astype(total.dtype), total)
    return total


def _gemm_pair(op: Operation, values: Values) -> None:
    assert isinstance(op, GemmPair)
    tile, numbers = op.tile, [values[operand] for operand in op.operands]
    a, a_first, b, b_first, ldb, c, c_first, *others, k, a_step = numbers
    x, x_first, ldx, w, w_first, ldw, g, g_first, ldg, bias, bias_first = others
    width, depth = tile.vectors * tile.lanes, int(k)
    row, rows = _grid(c_first, 1, 0, width), _grid(g_first, tile.rows, ldg, tile.lanes)
    first = np.zeros((1, width), c.dtype)
    left, right = _grid(a_first, 1, 0, depth, a_step), _grid(b_first, depth, ldb, width)
    c[_check_grid(op, c, row)] = _summed(op, (a, left), (b, right), first)
    row = _check_grid(op, bias, _grid(bias_first, 1, 0, tile.lanes))
    first = np.repeat(bias[row], tile.rows, 0)
    left, right = _grid(x_first, tile.rows, ldx, depth), _grid(w_first, depth, ldw, tile.lanes)
    g[_check_grid(op, g, rows)] = _summed(op, (x, left), (w, right), first)


def _finished(op: GemmTile, total: Value, values: Values, places: Value) -> Value:
    """Return what the sums of a tile become."""
    tile = op.tile
    if tile.accumulate:
        total = total + _bias(op, values, total.shape[1])
    if tile.added:
        beside = values[op.beside[0]]
        total = total + beside[_check_grid(op, beside, places)]
    if tile.low is not None:
        total = np.where(tile.low > total, total.dtype.type(tile.low), total)
    if tile.high is not None:
        total = np.where(tile.high < total, total.dtype.type(tile.high), total)
    return total


def _bias(op: GemmTile, values: Values, columns: int) -> Value:
    """Return the row that is added to each of the tile, zeros where there is none."""
    for bias, offset in zip(op.bias, op.bias_offset, strict=True):
        row = _grid(values[offset], 1, 0, columns)
        return values[bias][_check_grid(op, values[bias], row)]
    return np.zeros((1, columns), values[op.c].dtype)


def _dots(op: GemmTile, total: Any, counts: tuple[int, int, int], walks: Any) -> Any:
    """Return the sums of a tile whose operands are walked in groups of neighbours."""
    k, segments, dots = counts
    (a, a_first, lda, a_segment, a_step), (b, b_first, ldb, b_segment) = walks
    (rows, width), neighbours = total.shape, np.arange(dots)
    source = a.view(np.uint8) if a.dtype == np.int8 else a
    for segment in range(segments):
        for step in range(k):
            low = a_first + dots * (segment * a_segment + step * a_step)
            left = low + dots * lda * np.arange(rows)[:, None] + neighbours
            lefts = source[_check_grid(op, a, left)].astype(total.dtype)
            low = segment * b_segment + step * ldb
            if dots == 8:
                words = b[_check_grid(op, b, b_first + low + np.arange(width))]
                rights = numbers_of_words(words).astype(total.dtype)
            else:
                right = b_first + dots * (low + np.arange(width)[:, None]) + neighbours
                rights = b[_check_grid(op, b, right)].astype(total.dtype)
            total = total + np.einsum("rd,cd->rc", lefts, rights)
    return total


def _transpose_tile(op: Operation, values: Values) -> None:
    source, s_first, ls, target, d_first, ld, rows, columns = (
        values[operand] for operand in op.operands
    )
    block = source[_check_grid(op, source, _grid(s_first, int(rows), ls, int(columns)))]
    target[_check_grid(op, target, _grid(d_first, int(columns), ld, int(rows)))] = block.T


def _library_gemm(op: Operation, values: Values) -> None:
    assert isinstance(op, LibraryGemm)
    m, n, k = (int(values[each]) for each in (op.m, op.n, op.k))
    transpose_a, transpose_b = op.transposed
    left = _matrix(op, (op.a, op.a_offset), (k, m) if transpose_a else (m, k), values)
    right = _matrix(op, (op.b, op.b_offset), (n, k) if transpose_b else (k, n), values)
    made = (left.T if transpose_a else left) @ (right.T if transpose_b else right)
    out = _check_grid(op, values[op.c], _grid(values[op.c_offset], m, n, n))
    values[op.c][out] = made


def _matrix(
    op: Operation, place: tuple[SSAValue, SSAValue], shape: tuple[int, int], values: Values
) -> Value:
    """Return a matrix that lies in memory by rows without gaps."""
    memory, (rows, columns) = values[place[0]], shape
    grid = _grid(values[place[1]], rows, columns, columns)
    return memory[_check_grid(op, memory, grid)]


EFFECTS: Mapping[str, Callable[[Operation, Values], Sequence[Value] | None]] = {
    "func.return": _terminate,
    "scf.yield": _terminate,
    "scf.condition": _terminate,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "memref.alloca": _alloca,
    "memref.extract_aligned_pointer_as_index": _place,
    "memref.load": _load,
    "memref.store": _store,
    "vector.load": _vector_load,
    "vector.store": _vector_store,
    "vector.maskedload": _masked_load,
    "vector.maskedstore": _masked_store,
    "gvk.gather": _gather,
    "gvk.scatter": _scatter,
    "gvk.prefetch": _prefetch,
    "gvk.gemm_tile": _gemm_tile,
    "gvk.gemm_pair": _gemm_pair,
    "gvk.transpose_tile": _transpose_tile,
    "gvk.library_gemm": _library_gemm,
}
"""Operation name to what it does; a terminator returns what it passes on."""

assert not set(EFFECTS) & set(PURE)
