"""Operations that are read in place by more than a linear index: padding, gathering, counting.

Each has two rules: what it reads (`trace`, before there are loops) and its element (`build`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ...ir import Op, dtypes
from ...ir.dims import Dim
from .elements import Element
from .index import Linear, Opaque, of

if TYPE_CHECKING:
    from .read import Indices, Reader, Tracer


@dataclass(frozen=True)
class Special:
    """How an operation is traced and built."""

    trace: Callable[[Tracer, Op, Indices], None]
    build: Callable[[Reader, Op, Indices], Element]


# -- values -------------------------------------------------------------------------------


def _trace_nothing(tracer: Tracer, op: Op, index: Indices) -> None:
    """Record nothing: a splat needs no memory."""


def _build_constant(reader: Reader, op: Op, index: Indices) -> Element:
    value = op.plain_attributes()["value"]
    assert value.size == 1 or not any(value.strides), "only splat constants stay in kernels"
    scalar = np.asarray(value)[(0,) * value.ndim]
    return reader.math.constant(scalar.item(), op.result_specs[0].dtype)


def _trace_iota(tracer: Tracer, op: Op, index: Indices) -> None:
    tracer.use_alone(index[op.plain_attributes()["axis"]])


def _build_iota(reader: Reader, op: Op, index: Indices) -> Element:
    value, lanes = reader.number(index[op.plain_attributes()["axis"]])
    return reader.math.from_index(value, op.result_specs[0].dtype, lanes)


def _trace_extent(tracer: Tracer, op: Op, index: Indices) -> None:
    tracer.use_alone(*index)


def _build_extent(reader: Reader, op: Op, index: Indices) -> Element:
    values = op.plain_attributes()["values"]
    at, lanes = reader.number(index[0])
    where = reader.math.from_index(at, dtypes.i64, lanes)
    total = reader.math.from_index(reader.loops.index(values[0] if values else 0), dtypes.i64, 0)
    for position, value in enumerate(values[1:], 1):
        here = reader.math.compare("eq", where, reader.math.constant(position, dtypes.i64))
        other = reader.math.from_index(reader.loops.index(value), dtypes.i64, 0)
        total = reader.math.select(here, other, total)
    return total


# -- padding ------------------------------------------------------------------------------


def _pads(op: Op) -> Sequence[tuple[Dim, Dim]]:
    pads: Sequence[tuple[Dim, Dim]] = op.plain_attributes()["pads"]
    return pads


def _moved(op: Op, index: Indices) -> list[Linear]:
    return [i + (0 - low) for i, (low, _) in zip(index, _pads(op), strict=True)]


def _trace_pad(tracer: Tracer, op: Op, index: Indices) -> None:
    source = _moved(op, index)
    padded = [s for s, (low, high) in zip(source, _pads(op), strict=True) if low or high]
    tracer.use_alone(*padded)
    if op.plain_attributes()["mode"] != "constant":
        source = [
            of(Opaque(None, d)) if low or high else s
            for s, d, (low, high) in zip(source, op.specs[0].dims, _pads(op), strict=True)
        ]
    else:
        source = [Linear() if d == 1 else s for s, d in zip(source, op.specs[0].dims, strict=True)]
    tracer.visit(op.operands[0], tuple(source))


def _build_pad(reader: Reader, op: Op, index: Indices) -> Element:
    if op.plain_attributes()["mode"] != "constant":
        return _build_mirrored(reader, op, index)
    spec = op.specs[0]
    source: list[Linear] = []
    outside: list[Element] = []
    saved = reader.mask
    for moved, (low, high), extent in zip(_moved(op, index), _pads(op), spec.dims, strict=True):
        if low == 0 and high == 0:
            source.append(Linear() if extent == 1 else moved)
            continue
        value, lanes, inside = reader.inside(moved, extent)
        outside.append(Element(inside, dtypes.bool_, lanes))
        if extent == 1:
            source.append(Linear())
        elif lanes and reader.space.is_contiguous(moved):
            mask = reader.mask
            reader.mask = (
                inside
                if mask is None
                else reader.loops.pure(arith.AndIOp, (mask, inside), inside.type)
            )
            source.append(moved)
        else:
            source.append(of(Opaque(reader.clamp(value, lanes, extent), extent, lanes)))
    element = reader.element(op.operands[0], tuple(source))
    reader.mask = saved
    fill = reader.math.constant(op.plain_attributes()["value"], spec.dtype)
    for condition in outside:
        element = reader.math.select(condition, element, fill)
    return element


def _build_mirrored(reader: Reader, op: Op, index: Indices) -> Element:
    mode = op.plain_attributes()["mode"]
    source: list[Linear] = []
    dims = op.specs[0].dims
    for moved, (low, high), extent in zip(_moved(op, index), _pads(op), dims, strict=True):
        if low == 0 and high == 0:
            source.append(moved)
            continue
        value, lanes = reader.number(moved)
        at = reader.math.from_index(value, dtypes.i64, lanes)
        size = reader.math.from_index(reader.loops.index(extent), dtypes.i64, 0)
        placed = reader.math.to_index(_FOLDS[mode](reader.math, at, size))
        source.append(of(Opaque(reader.clamp(placed, lanes, extent), extent, lanes)))
    return reader.element(op.operands[0], tuple(source))


def _reflect(math: Any, at: Element, size: Element) -> Element:
    """Fold with period 2 (size - 1): the edge is not repeated."""
    one, zero = math.constant(1, dtypes.i64), math.constant(0, dtypes.i64)
    last = math.sub(size, one)
    period = math.maximum(math.add(last, last), one)
    rest = math.mod(at, period)
    folded: Element = math.maximum(math.minimum(rest, math.sub(period, rest)), zero)
    return folded


def _edge(math: Any, at: Element, size: Element) -> Element:
    """Leave it to clamping."""
    return at


def _wrap(math: Any, at: Element, size: Element) -> Element:
    """Start again at the other end."""
    made: Element = math.mod(at, size)
    return made


_FOLDS: dict[str, Callable[[Any, Element, Element], Element]] = {
    "reflect": _reflect,
    "edge": _edge,
    "wrap": _wrap,
}


# -- gathering ----------------------------------------------------------------------------


def wrap_negative(reader: Reader, at: Element, extent: Dim) -> SSAValue:
    """Return a data-dependent index counted from the front and clamped into the axis."""
    if at.dtype.kind == "i":
        size = reader.math.from_index(reader.loops.index(extent), dtypes.i64, 0)
        wide = reader.math.cast(at, dtypes.i64)
        negative = reader.math.compare("lt", wide, reader.math.constant(0, dtypes.i64))
        at = reader.math.select(negative, reader.math.add(wide, size), wide)
    elif at.dtype.name == "u64":
        most = reader.math.constant((1 << 63) - 1, dtypes.u64)
        at = reader.math.cast(reader.math.minimum(at, most), dtypes.i64)
    return reader.clamp(reader.math.to_index(at), at.lanes, extent)


def _picked(reader: Reader, indices: SSAValue, index: Indices, extent: Dim) -> Linear:
    """Return the index that an element of the indices names."""
    at = reader.element(indices, index)
    return of(Opaque(wrap_negative(reader, at, extent), extent, at.lanes))


def _trace_gather(tracer: Tracer, op: Op, index: Indices) -> None:
    axis, rank = op.plain_attributes()["axis"], op.specs[1].rank
    tracer.visit(op.operands[1], index[axis : axis + rank])
    picked = of(Opaque(None, op.specs[0].dims[axis]))
    tracer.visit(op.operands[0], (*index[:axis], picked, *index[axis + rank :]))


def _build_gather(reader: Reader, op: Op, index: Indices) -> Element:
    axis, rank = op.plain_attributes()["axis"], op.specs[1].rank
    picked = _picked(reader, op.operands[1], index[axis : axis + rank], op.specs[0].dims[axis])
    return reader.element(op.operands[0], (*index[:axis], picked, *index[axis + rank :]))


def _trace_gather_elements(tracer: Tracer, op: Op, index: Indices) -> None:
    axis = op.plain_attributes()["axis"]
    tracer.visit(op.operands[1], index)
    picked = of(Opaque(None, op.specs[0].dims[axis]))
    tracer.visit(op.operands[0], (*index[:axis], picked, *index[axis + 1 :]))


def _build_gather_elements(reader: Reader, op: Op, index: Indices) -> Element:
    axis = op.plain_attributes()["axis"]
    picked = _picked(reader, op.operands[1], index, op.specs[0].dims[axis])
    return reader.element(op.operands[0], (*index[:axis], picked, *index[axis + 1 :]))


def _gather_nd_parts(op: Op, index: Indices) -> tuple[Indices, Indices, Indices, int, int]:
    batch = op.plain_attributes()["batch_dims"]
    leading = op.specs[1].rank - 1
    depth = int(op.specs[1].dims[-1])  # type: ignore[arg-type]
    return index[:batch], index[:leading], index[leading:], batch, depth


def _trace_gather_nd(tracer: Tracer, op: Op, index: Indices) -> None:
    before, at, behind, batch, depth = _gather_nd_parts(op, index)
    for number in range(depth):
        tracer.visit(op.operands[1], (*at, Linear((), number)))
    dims = op.specs[0].dims
    picked = tuple(of(Opaque(None, dims[batch + n])) for n in range(depth))
    tracer.visit(op.operands[0], (*before, *picked, *behind))


def _build_gather_nd(reader: Reader, op: Op, index: Indices) -> Element:
    before, at, behind, batch, depth = _gather_nd_parts(op, index)
    dims = op.specs[0].dims
    picked = tuple(
        _picked(reader, op.operands[1], (*at, Linear((), n)), dims[batch + n]) for n in range(depth)
    )
    return reader.element(op.operands[0], (*before, *picked, *behind))


SPECIAL: dict[str, Special] = {
    "gv.constant": Special(_trace_nothing, _build_constant),
    "gv.iota": Special(_trace_iota, _build_iota),
    "gv.pad": Special(_trace_pad, _build_pad),
    "gv.extent": Special(_trace_extent, _build_extent),
    "gv.gather": Special(_trace_gather, _build_gather),
    "gv.gather_elements": Special(_trace_gather_elements, _build_gather_elements),
    "gv.gather_nd": Special(_trace_gather_nd, _build_gather_nd),
}
"""Operations with rules of their own."""
