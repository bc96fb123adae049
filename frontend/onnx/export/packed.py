"""Products with packed weights, which are unpacked again: other runtimes pack in their own way."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Block
from xdsl.rewriter import InsertPoint

from ....ir import GraphEmit, Op, spec_of
from ....ir.compose.functions import cut
from ....ir.compose.maker import Maker
from ....ir.ops.laid_out.conv_groups import panels_of
from .extents import NotWritableError
from .rules import write_block, writes
from .writer import CODES, Writer


@writes("gv.matmul_packed")
def matmul(out: Writer, op: Op, x: str, panels: str) -> str:
    """Multiply by the matrix that the panels hold."""
    columns = op.plain_attributes()["columns"]
    return _in_parts(out, op, lambda make, x, w: make.matmul(x, _unpacked(make, w, columns)))


@writes("gv.conv_packed")
def conv(out: Writer, op: Op, x: str, panels: str) -> str:
    """Convolve with the weights that the panels hold: for each group [*K, C / groups, columns]."""
    rules = op.plain_attributes()
    groups, window, columns = rules["groups"], rules["window"], rules["columns"]
    rank = len(window)

    def parts(make: Maker, x: object, w: object) -> object:
        count, inner, tile = (int(n) for n in op.specs[1].static_shape)
        each = make.reshape(w, shape=(groups, count // groups, inner, tile))
        wide = make.transpose(each, order=(0, 2, 1, 3))
        wide = make.reshape(wide, shape=(groups, inner, count // groups * tile))
        wide = cut(make.emit, wide, 2, 0, columns // groups)
        depth = op.specs[0].dims[-1] // groups
        wide = make.reshape(wide, shape=(groups, *window, depth, columns // groups))
        order = (0, rank + 2, rank + 1, *range(1, rank + 1))
        wide = make.transpose(wide, order=order)
        wide = make.reshape(wide, shape=(columns, depth, *window))
        kept = {name: rules[name] for name in ("strides", "pads", "dilations", "groups")}
        return make.conv(x, wide, channels_last=True, **kept)

    return _in_parts(out, op, parts)


@writes("gv.conv_groups_packed")
def conv_groups(out: Writer, op: Op, x: str, panels: str) -> str:
    """Convolve in groups with the weights that the panels hold, of which the last are zeros."""
    rules, (_, rows, depth, across, width) = op.plain_attributes(), op.specs[1].static_shape
    columns, groups = rules["columns"], rules["groups"]
    count, run = panels_of(columns // groups, columns, width)
    runs = columns // run

    def parts(make: Maker, x: object, w: object) -> object:
        wide = make.transpose(w, order=(0, 4, 2, 1, 3))
        wide = make.reshape(wide, shape=(runs, count // runs * width, depth, rows, across))
        wide = cut(make.emit, wide, 1, 0, run)
        wide = make.reshape(wide, shape=(columns, depth, rows, across))
        kept = {name: rules[name] for name in ("strides", "pads", "dilations", "groups")}
        return make.conv(x, wide, channels_last=True, **kept)

    return _in_parts(out, op, parts)


@writes("gv.depthwise_packed")
def depthwise(out: Writer, op: Op, x: str, w: str) -> str:
    """Convolve each channel with its own window."""
    rules, shape = op.plain_attributes(), op.specs[1].static_shape

    def parts(make: Maker, x: object, w: object) -> object:
        rank = len(shape) - 1
        turned = make.transpose(w, order=(rank, *range(rank)))
        turned = make.reshape(turned, shape=(shape[-1], 1, *shape[:-1]))
        kept = {name: rules[name] for name in ("strides", "pads", "dilations")}
        return make.conv(x, turned, groups=shape[-1], channels_last=True, **kept)

    return _in_parts(out, op, parts)


@writes("gv.winograd_packed", "gv.lstm_packed", "gv.gru_packed", "gv.rnn_packed")
def refuse(out: Writer, op: Op, *xs: str) -> str:
    """Refuse what was transformed for kernels of our own."""
    passes = "winograd" if "winograd" in op.name else "pack-recurrent"
    raise NotWritableError(f"ONNX has nothing like {op.name}: leave the pass {passes} out")


@writes("gv.bitcast")
def bitcast(out: Writer, op: Op, x: str) -> str:
    """Write the operator itself."""
    dtype = op.result_specs[0].dtype
    if dtype not in CODES:
        raise NotWritableError(f"ONNX has no tensors of {dtype}")
    return str(out.node("BitCast", x, dtype=dtype, to=CODES[dtype]))


def _unpacked(make: Maker, panels: Any, columns: Any) -> object:
    """Return the matrix [K, columns] of panels [P, K, tile]."""
    count, inner, tile = spec_of(panels.type).dims
    wide = make.transpose(panels, order=(1, 0, 2))
    wide = make.reshape(wide, shape=(inner, count * tile))
    return wide if count * tile == columns else cut(make.emit, wide, 1, 0, columns)


def _in_parts(out: Writer, op: Op, parts: Any) -> str:
    """Write what stands for an operation."""
    block = Block(arg_types=[operand.type for operand in op.operands])
    for argument, operand in zip(block.args, op.operands, strict=True):
        argument.name_hint = operand.name_hint
        if (array := out.known(operand)) is not None:
            out.arrays[argument] = array
        else:
            out.values[argument] = out.name(operand)
    made = parts(Maker(GraphEmit(InsertPoint.at_end(block))), *block.args)
    write_block(out, block.ops, 1)
    return out.name(made)
