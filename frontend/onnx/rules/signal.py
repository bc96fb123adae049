"""Rules of Fourier transforms and what goes with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ....ir import Dim
from ....ir.compose import functions as c
from ....ir.compose.fourier import transform
from ....ir.compose.maker import Emit
from ....ir.ops.host.mel import MelWeights
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axis
from ..node import Node, Value
from ..registry import rule


@rule("DFT", until=19)
def transform_along_attribute(node: Node, x: Value, length: Value | None = None) -> Value:
    """Return the Fourier transform along an axis that is an attribute."""
    return _along(node, x, length, node.integer("axis", 1))


@rule("DFT", since=20)
def transform_along_input(
    node: Node, x: Value, length: Value | None = None, axis: Value | None = None
) -> Value:
    """Return the Fourier transform along an axis that is an input."""
    return _along(node, x, length, -2 if axis is None else node.integers_of(axis, "axis")[0])


def _along(node: Node, x: Value, length: Value | None, axis: int) -> Value:
    inverse, onesided = bool(node.integer("inverse", 0)), bool(node.integer("onesided", 0))
    rank = node.rank(x)
    at = normalize_axis(axis, rank)
    extent = node.shape(x)[at]
    halved = inverse and onesided
    points = 2 * (extent - 1) if halved else extent
    if length is not None:
        (points,) = node.sizes(length, "dft_length")
    if isinstance(points, int) and points < 1:
        node.fail(f"a transform of {points} points")
    needed = points // 2 + 1 if halved else points
    pads = [(0, needed - extent) if i == at else (0, 0) for i in range(rank)]
    moved = c.move_axis(node.emit, c.resize_edges(node.emit, x, pads), at, rank - 2)
    real, imag = _parts(node, moved)
    if halved:
        real, imag = _whole(node, real, imag, points)
    by = transform if isinstance(points, int) else partial(_transform_open, node)
    parts = fourier(node, real, imag, inverse=inverse, by=by)
    if halved:
        parts = parts[:1]
    elif onesided:
        parts = [c.cut(node.emit, p, rank - 2, 0, points // 2 + 1) for p in parts]
    return c.move_axis(node.emit, c.stack(node.emit, parts, rank - 1), rank - 2, at)


def _parts(node: Node, x: Value) -> tuple[Value, Value | None]:
    """Return the real and the imaginary part that the last axis has; None where it has one only."""
    count = node.shape(x)[-1]
    if not isinstance(count, int):
        node.refuse_sizes(f"numbers of {count} parts, expected 1 or 2", count)
    if count not in (1, 2):
        node.fail(f"numbers of {count} parts, expected 1 or 2")
    return _part(node, x, 0), _part(node, x, 1) if count == 2 else None


def _part(node: Node, x: Value, index: int) -> Value:
    last = node.rank(x) - 1
    return c.squeeze(node.emit, c.cut(node.emit, x, last, index, index + 1), (last,))


def _whole(node: Node, real: Value, imag: Value | None, points: Dim) -> tuple[Value, Value | None]:
    """Return the spectrum of so many points whose first half is given: it mirrors itself."""
    axis = node.rank(real) - 1
    mirrored = points - (points // 2 + 1)

    def joined(x: Value, *, negated: bool) -> Value:
        other = c.flip(node.emit, c.cut(node.emit, x, axis, 1, 1 + mirrored), (axis,))
        other = node.make.neg(other) if negated else other
        return node.make.concat(x, other, axis=axis) if mirrored else x

    return joined(real, negated=False), None if imag is None else joined(imag, negated=True)


def fourier(
    node: Node, real: Value, imag: Value | None, *, inverse: bool,
    by: Callable[..., tuple[Value, Value]] = transform,
) -> list[Value]:  # fmt: skip
    """Return real and imaginary part of the transform along the last axis.

    As the standard's own results are: forward in f64, rounded once; back in at least f32.
    """
    make, dtype = node.make, node.dtype(real)
    wide = d.f64 if dtype == d.f64 or not inverse else d.f32
    other = None if imag is None else make.to(imag, wide)
    made: Sequence[Value] = by(node.emit, make.to(real, wide), other, inverse=inverse)
    if inverse:
        points = make.extent_of(node.shape(real)[-1], wide)
        made = [make.div(part, points) for part in made]
    return [make.to(part, dtype) for part in made]


def _transform_open(
    node: Node, _: Emit, real: Value, imag: Value | None, *, inverse: bool
) -> tuple[Value, Value]:
    """Return the transform along the last axis, whose extent a run tells; nothing is divided."""
    last = node.rank(real)
    if imag is None:
        imag = node.make.filled(0, node.dtype(real), node.shape(real))
    pairs = node.make.transform_rows(c.stack(node.emit, [real, imag], last), inverse=inverse)
    return _part(node, pairs, 0), _part(node, pairs, 1)


def _places(node: Node, extent: Dim, stride: int, points: int) -> Value:
    """Return [windows, points]: what each window sees; an open signal may be too short for one."""
    make = node.make
    count = dim_rules.maximum(dim_rules.floor_divide(extent - points, stride) + 1, 0)
    starts = make.mul(make.iota(shape=(count, 1), axis=0, dtype=d.i64), make.number(stride, d.i64))
    return make.add(starts, make.iota(shape=(1, points), axis=1, dtype=d.i64))


@rule("STFT")
def short_time(
    node: Node, x: Value, step: Value, window: Value | None = None, length: Value | None = None
) -> Value:
    """Return the Fourier transforms of windows that move over a signal.

    A real one may lack the axis for its parts: exporters write it so, and onnxruntime takes it.
    """
    make = node.make
    if node.rank(x) == 2:
        x = c.unsqueeze(node.emit, x, (2,))
    extent = node.shape(x)[1]
    (stride,) = node.integers_of(step, "frame_step")
    if length is not None:
        (points,) = node.integers_of(length, "frame_length")
    elif window is not None:
        points = node.static_shape(window, "for a Fourier transform")[0]
    elif isinstance(extent, int):
        points = extent
    else:
        node.refuse(f"a window of {extent} points, expected a number")
    if stride < 1 or points < 1 or (isinstance(extent, int) and points > extent):
        node.fail(f"windows of {points} points, every {stride}, on {extent} points")
    frames = make.gather(x, _places(node, extent, stride, points), axis=1)
    if window is not None:
        frames = make.mul(frames, c.unsqueeze(node.emit, window, (1,)))
    real, imag = _parts(node, frames)
    parts = fourier(node, real, imag, inverse=False)
    if node.integer("onesided", 1) and imag is None:
        parts = [c.cut(node.emit, p, 2, 0, points // 2 + 1) for p in parts]
    return c.stack(node.emit, parts, 3)


@rule("MelWeightMatrix")
def mel_weights(
    node: Node, bins: Value, length: Value, rate: Value, lower: Value, upper: Value
) -> Value:
    """Return the matrix that turns a spectrum into bins of the mel scale."""
    dtype = node.element_type("output_datatype", d.f32)
    given = (bins, length, rate, lower, upper)
    found = [x for x in map(node.known, given) if x is not None and x.dtype != object]
    if len(found) < len(given):
        return node.make.mel_weights(*given, dtype=dtype, sizes=node.unknown(2))
    (made,) = MelWeights.evaluate(*found, dtype=dtype)
    return node.stored(f"{node.label}.weights", made)


@rule("Det")
def determinant(node: Node, x: Value) -> Value:
    """Return the determinants of matrices."""
    expect_rows(node, x)
    return node.make.determinant(x)


def expect_rows(node: Node, x: Value) -> None:
    """Refuse square matrices of a size that is no number; a model for each may be made."""
    rows, columns = node.shape(x)[-2:] if node.rank(x) > 1 else (1, 1)
    if rows == columns and not isinstance(rows, int):
        node.refuse_sizes(f"matrices of {rows} rows, expected a known number", rows)
