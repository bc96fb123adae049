"""Fourier transforms, windows and frames by TensorFlow's names: `tf.signal`.

The transforms are carried out on the host, by numpy or compiled code; their gradients are
transforms too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TypeAlias

import numpy as np

from ....ir.compose.functions import cut
from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.op import Array
from ....ir.ops.fourier import has_kernel, turns
from ....ir.types import dtypes as rows
from ....runtime.tracing import EARS
from ...eager.fourier import cosines, transformed, transformed_along, transformed_half
from ...eager.remembered import notes_of, remember_all, remembered
from ...graph.kinds import PyFunction
from ...values.context import STATE
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import EagerTensor, TfTensor, custom_gradient, dressed, wrap
from ..core.calls import perform, rule
from ..core.host_ops import host
from ..core.values import InGraph, InvalidTypesError, convert, graph_of, shape_spec, static, whole
from .array_ops import concat, expand_dims, pad, reshape, shape, transpose, where
from .composed import roll
from .creation import constant, ones_like, range_, zeros
from .gathering import gather
from .gathering import unsorted_segment_sum as segment_sum
from .math_ops import FUNCTIONS, REDUCTIONS, cast, identity, matmul, real

Gradient: TypeAlias = Callable[[TfTensor], TfTensor]
Dims: TypeAlias = Sequence[int | None] | None
"""Extents as far as they are known."""
COMPLEX = {"float32": "complex64", "float64": "complex128"}
REAL = {wide: narrow for narrow, wide in COMPLEX.items()}


def _count(dims: Sequence[int | None]) -> int:
    """Return how many elements there are where an axis that is not known is empty."""
    return prod(0 if d is None else d for d in dims)


def _host(function: Callable[[Array], Array], x: TfTensor, dims: Dims, dtype: str) -> TfTensor:
    """Carry out a function of an array whose result has these extents and this type."""
    spec = shape_spec(dtype, dims)

    def on_host(array: Array) -> Sequence[Array]:
        if not array.size and (dims is None or not _count(dims)):
            sizes = array.shape if dims is None else [0 if d is None else d for d in dims]
            return (np.zeros(sizes, spec.dtype.numpy),)
        return (np.asarray(function(array)).astype(spec.dtype.numpy, copy=False),)

    graph = graph_of([x])
    if graph is None and (notes := notes_of([x])) is not None:
        return dressed(notes.step(on_host, [x], is_open=False)[0])
    if graph is None:
        return wrap(on_host(np.asarray(x))[0])
    with InGraph(graph):
        kind = PyFunction(on_host, [spec.dtype], pure=True)
        kind.type = "FFT"
        return dressed(graph.add(kind, [graph.owned(x)], specs=[spec]).outputs[0])


FEW = 1 << 14
"""So few numbers are transformed by compiled code of functions, beside which a step costs more."""


@rule("FFT")
def _compiled(m: Maker, x: object, inverse: bool) -> object:
    """Transform rows of complex numbers whose length has a kernel."""
    spec = spec_of_value(x)
    count, part = spec.static_shape[-1], rows.PARTS[spec.dtype]
    deep = (*spec.dims, 1)
    sides = [m.reshape(side, shape=deep) for side in (m.real(x), m.imag(x))]
    table = m.constant(value=turns(count, inverse=inverse).astype(part.numpy))
    parts = count if inverse else 1
    made = m.fourier(m.concat(*sides, axis=spec.rank), table, inverse=inverse, parts=parts)
    found = (cut(m.emit, made, spec.rank, i, i + 1) for i in range(2))
    return m.complex(*(m.reshape(side, shape=spec.dims) for side in found))


def _is_compiled(x: TfTensor) -> bool:
    """Say whether the code of a function transforms the rows of a tensor."""
    if graph_of([x]) is None or not x.spec.is_static or not x.spec.dims:
        return False
    return 0 < prod(x.spec.static_shape) <= FEW and has_kernel(x.spec.static_shape[-1])


def _turned(name: str, x: TfTensor, axes: tuple[int, ...]) -> TfTensor:
    """Return what numpy's transform of complex numbers along axes gives."""
    if axes == (-1,) and _is_compiled(x):
        return perform("FFT", [x], inverse=name == "ifftn")
    compute = partial(_along_last, rank=len(axes), inverse=name == "ifftn")
    return _host(compute, x, x.shape._dims, x.dtype.name)


def _along_last(array: Array, rank: int, inverse: bool) -> Array:
    if not array.size:
        return array
    if rank == 1:
        return transformed(array, inverse=inverse)
    return transformed_along(array, rank, inverse=inverse)


def _adjoint(name: str, grad: Array, x: Array, lengths: Sequence[int] | None, rank: int) -> Array:
    """Return the gradient of numpy's transform of or to real numbers, in the operand's shape."""
    axes = tuple(range(-rank, 0))
    if name == "rfftn":
        sizes = list(lengths or x.shape[-rank:])
        full = np.zeros((*grad.shape[:-1], sizes[-1]), grad.dtype)
        full[..., : grad.shape[-1]] = grad
        found = np.fft.ifftn(full, axes=axes).real * np.prod(sizes)
    else:
        weights = np.full(grad.shape[-1] // 2 + 1, 2.0)
        weights[0] = 1.0
        if grad.shape[-1] % 2 == 0:
            weights[-1] = 1.0
        found = np.fft.rfftn(grad, axes=axes) * weights / np.prod(grad.shape[-rank:])
    made = np.zeros(x.shape, x.dtype)
    both = tuple(slice(0, min(n, m)) for n, m in zip(found.shape, x.shape, strict=True))
    made[both] = found[both]
    return made


def _when_run(name: str, x: TfTensor, rank: int, fft_length: object, dtype: str) -> TfTensor:
    """Return what numpy's transform of or to real numbers gives, where a run tells the sizes."""
    lengths = [] if fft_length is None else [cast(fft_length, "int32")]
    transform, axes = getattr(np.fft, name), tuple(range(-rank, 0))
    dims = None if x.shape.rank is None else [*x.shape.as_list()[:-rank], *[None] * rank]

    def compute(array: Array, *sizes: Array) -> Sequence[Array]:
        asked = sizes[0].ravel().tolist() if sizes else None
        return (transform(array, s=asked, axes=axes).astype(shape_spec(dtype, None).dtype.numpy),)

    @custom_gradient
    def function(x: TfTensor) -> tuple[TfTensor, Gradient]:
        made = host("FFT", compute, [x, *lengths], [shape_spec(dtype, dims)])[0]

        def gradient(grad: TfTensor) -> TfTensor:
            def adjoint(grad: Array, x: Array, *sizes: Array) -> Sequence[Array]:
                asked = sizes[0].ravel().tolist() if sizes else None
                return (_adjoint(name, grad, x, asked, rank),)

            spec = shape_spec(x.dtype, x.shape)
            return host("FFTGrad", adjoint, [grad, x, *lengths], [spec])[0]

        return made, gradient

    with InGraph(graph_of([x, *lengths])):
        return function(x)


def _is_open(x: TfTensor, rank: int, fft_length: object) -> bool:
    """Say whether only a run tells what sizes a transform is of."""
    if x.shape.rank is None:
        return True
    if fft_length is None:
        return not x.shape[-rank:].is_fully_defined()
    found = static(fft_length)
    return any(isinstance(n, TfTensor) for n in (found if isinstance(found, list) else [found]))


TRANSFORMS: dict[tuple[str, int], Callable[[TfTensor], TfTensor]] = {}
"""Transforms along the last axes, which have gradients, by their names and how many axes."""


def _back(name: str, grad: TfTensor, rank: int) -> TfTensor:
    """Return the transform of a gradient, which can be gone back through again."""
    if rank == 1 and _is_compiled(grad):  # an operation that says its own gradient
        return perform("FFT", [grad], inverse=name == "ifftn")
    return TRANSFORMS[name, rank](grad)


def _full(name: str, other: str, rank: int) -> Callable[..., TfTensor]:
    """Return a transform of complex numbers along the last axes."""
    axes = tuple(range(-rank, 0))

    @custom_gradient
    def function(x: TfTensor) -> tuple[TfTensor, Gradient]:
        made = _turned(name, x, axes)

        def gradient(grad: TfTensor) -> TfTensor:
            size = cast(REDUCTIONS["reduce_prod"](shape(x)[-rank:]), x.dtype)
            back = _back(other, grad, rank)
            return back * size if name == "fftn" else back / size

        return made, gradient

    TRANSFORMS[name, rank] = function

    def public(input: object, name: str | None = None) -> TfTensor:
        """Transform complex numbers along the last axes."""
        x = convert(input)
        if x.dtype.name not in REAL:
            raise InvalidTypesError(f"the transform is of complex numbers, not of {x.dtype.name}")
        return function(x)

    return remembered(public)


fft, ifft = _full("fftn", "ifftn", 1), _full("ifftn", "fftn", 1)
fft2d, ifft2d = _full("fftn", "ifftn", 2), _full("ifftn", "fftn", 2)
fft3d, ifft3d = _full("fftn", "ifftn", 3), _full("ifftn", "fftn", 3)


def _fitted(x: TfTensor, lengths: Sequence[int], rank: int) -> TfTensor:
    """Return a tensor whose last axes have these extents: cut off, or filled with zeros."""
    made = x[(..., *(slice(0, n) for n in lengths))]
    have = _extents(made)[-rank:]
    if all(isinstance(d, int) and n == d for n, d in zip(lengths, have, strict=True)):
        return made
    more = [[0, n - d] for n, d in zip(lengths, have, strict=True)]
    filled = pad(made, [[0, 0]] * (len(x.shape) - rank) + more)
    if not filled.eager:
        filled.set_shape([*made.shape.as_list()[:-rank], *lengths])
    return filled


def _extents(x: TfTensor) -> list[int | TfTensor]:
    """Return the extents: those that are not known are tensors."""
    return [shape(x)[i] if d is None else d for i, d in enumerate(x.shape.as_list())]


def _wanted(x: TfTensor, rank: int, fft_length: object) -> list[int]:
    """Return the extents of the last axes that a transform of real numbers is of."""
    if fft_length is not None:
        return [int(n) for n in np.ravel(static(fft_length))]
    return x.shape[-rank:].known()


@custom_gradient
def _half(x: TfTensor) -> tuple[TfTensor, Gradient]:
    dims, kind = x.shape.as_list(), x.dtype.name
    (n,) = x.shape[-1:].known()
    made = _host(transformed_half, x, [*dims[:-1], n // 2 + 1 if n else 0], COMPLEX[kind])

    def gradient(grad: TfTensor) -> TfTensor:
        filled = _fitted(grad, [n], 1)
        return real(_back("ifftn", filled, 1)) * float(n)

    return made, gradient


def _half_inverse(n: int) -> Callable[..., TfTensor]:
    @custom_gradient
    def function(x: TfTensor) -> tuple[TfTensor, Gradient]:
        dims, kind = x.shape.as_list(), REAL[x.dtype.name]
        made = _host(lambda a: np.fft.irfft(a, n), x, [*dims[:-1], n], kind)

        def gradient(grad: TfTensor) -> TfTensor:
            weights = np.full(n // 2 + 1 if n else 0, 2.0 / max(n, 1), kind)
            weights[:1] = 1.0 / max(n, 1)
            if n % 2 == 0:
                weights[-1:] = 1.0 / max(n, 1)
            return _half(grad) * cast(constant(weights), x.dtype)

        return made, gradient

    return function


def _rfft(rank: int) -> Callable[..., TfTensor]:
    def public(
        input_tensor: object, fft_length: object = None, name: str | None = None
    ) -> TfTensor:
        """Transform real numbers: the half of the result that says all."""
        x = convert(input_tensor)
        if x.dtype.name not in COMPLEX:
            raise ValueError(
                f"RFFT requires tf.float32 or tf.float64 inputs, got: {x.dtype.name}: the "
                "transform is of real numbers"
            )
        if _is_open(x, rank, fft_length):
            return _when_run("rfftn", x, rank, fft_length, COMPLEX[x.dtype.name])
        x = _fitted(x, _wanted(x, rank, fft_length), rank)
        made = _half(x)
        return made if rank == 1 else _along(made, fft, rank)

    return remembered(public)


def _along(x: TfTensor, transform: Callable[..., TfTensor], rank: int) -> TfTensor:
    """Apply a transform along the axes before the last one, one by one."""
    count = len(x.shape)
    for at in range(count - rank, count - 1):
        order = [*range(count)]
        order[at], order[-1] = order[-1], order[at]
        x = transpose(transform(transpose(x, order)), order)
    return x


def _irfft(rank: int) -> Callable[..., TfTensor]:
    def public(
        input_tensor: object, fft_length: object = None, name: str | None = None
    ) -> TfTensor:
        """Return the real numbers whose transform is given by its half."""
        x = convert(input_tensor)
        if x.dtype.name not in REAL:
            raise InvalidTypesError(f"the transform is of complex numbers, not of {x.dtype.name}")
        if _is_open(x, rank, fft_length):
            return _when_run("irfftn", x, rank, fft_length, REAL[x.dtype.name])
        lengths = _wanted(x, rank, fft_length)
        if fft_length is None:
            lengths[-1] = max(2 * (lengths[-1] - 1), 0)
        x = _fitted(x, [*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0], rank)
        return _half_inverse(lengths[-1])(x if rank == 1 else _along(x, ifft, rank))

    return remembered(public)


rfft, rfft2d, rfft3d = _rfft(1), _rfft(2), _rfft(3)
irfft, irfft2d, irfft3d = _irfft(1), _irfft(2), _irfft(3)


def _shifted(sign: int) -> Callable[..., TfTensor]:
    def public(x: object, axes: object = None, name: str | None = None) -> TfTensor:
        """Move the middle to the front, or back."""
        found = convert(x)
        every = range(len(found.shape)) if axes is None else np.ravel(static(axes)).tolist()
        extents = _extents(found)
        half = [extents[a] // 2 for a in every]
        by = half if sign > 0 else [-n for n in half]
        return roll(found, by, list(every), name=name)

    return remembered(public)


fftshift, ifftshift = _shifted(1), _shifted(-1)


def _window(first: float) -> Callable[..., TfTensor]:
    def public(
        window_length: object,
        periodic: bool = True,
        dtype: DTypeLike | None = "float32",
        name: str | None = None,
    ) -> TfTensor:
        """Return a window of one raised cosine."""
        count = whole(window_length)
        if not isinstance(count, int):
            return _cosine_of_open(first, count, periodic, dtype or "float32")
        if count == 1:
            return constant([1.0], dtype)
        turns = np.arange(count) / (count if periodic and count % 2 == 0 else count - 1)
        return constant(first - (1 - first) * np.cos(2 * np.pi * turns), dtype)

    return public


def _cosine_of_open(first: float, length: TfTensor, periodic: bool, dtype: DTypeLike) -> TfTensor:
    """Return a window of one raised cosine, of a length that only the run tells."""
    with InGraph(graph_of([length])):
        count = cast(length, "int32")
        period = count - 1 + (1 - count % 2 if periodic else 0)
        period = FUNCTIONS["maximum"](period, 1)
        turns = cast(range_(count), dtype) * (2 * np.pi) / cast(period, dtype)
        made = first - (1 - first) * FUNCTIONS["cos"](turns)
        return where(count > 1, made, ones_like(made))


def hosted_window(
    compute: Callable[[int], Array], length: object, dtype: DTypeLike | None, name: str | None
) -> TfTensor:
    """Return a window that a function of its length gives: at once, or when a run tells that."""
    count, kind = whole(length), dtype or "float32"
    if isinstance(count, int):
        return constant(compute(count), kind, name=name)
    spec = shape_spec(kind, [None])
    made: Callable[[Array], Sequence[Array]]
    made = lambda n: [np.asarray(compute(int(n))).astype(spec.dtype.numpy)]  # noqa: E731
    with InGraph(graph_of([count])):
        return host("Window", made, [convert(count)], [spec], name=name)[0]


hann_window, hamming_window = _window(0.5), _window(0.54)


def kaiser_window(
    window_length: object,
    beta: object = 12.0,
    dtype: DTypeLike | None = "float32",
    name: str | None = None,
) -> TfTensor:
    """Return Kaiser's window, whose sides fall the more the greater beta is."""
    width = float(static(beta))
    return hosted_window(lambda count: np.kaiser(count, width), window_length, dtype, name)


def kaiser_bessel_derived_window(
    window_length: object,
    beta: object = 12.0,
    dtype: DTypeLike | None = "float32",
    name: str | None = None,
) -> TfTensor:
    """Return the window made of sums of Kaiser's: squares half a window apart add up to 1."""
    width = float(static(beta))

    def compute(count: int) -> Array:
        sums = np.cumsum(np.kaiser(count // 2 + 1, width))
        half = np.sqrt(sums[:-1] / sums[-1])
        return np.concatenate([half, half[::-1]])

    return hosted_window(compute, window_length, dtype, name)


def frame(
    signal: object,
    frame_length: object,
    frame_step: object,
    pad_end: bool = False,
    pad_value: object = 0,
    axis: int = -1,
    name: str | None = None,
) -> TfTensor:
    """Cut an axis into pieces that may overlap."""
    with InGraph(graph_of([signal, frame_length, frame_step])):
        x = convert(signal)
        x.shape.with_rank_at_least(1)
        for value in (frame_length, frame_step):
            convert(value).shape.assert_has_rank(0)
        length, step = whole(frame_length), whole(frame_step)
        _check_frames(length, step)
        at = axis % len(x.shape)
        extent = _extents(x)[at]
        if pad_end:
            count = (extent + step - 1) // step
            missing = _or_none(length + step * (count - 1) - extent)
            paddings: list[list[object]] = [[0, 0]] * len(x.shape)
            paddings[at] = [0, missing]
            convert(pad_value).shape.assert_has_rank(0)
            x = pad(x, paddings, constant_values=pad_value)
        else:
            count = _or_none(1 + (extent - length) // step)
        places = _counted(count)[:, None] * step + _counted(length)
        return gather(identity(x), places, axis=at, name=name)  # its gradient is no slices


def _check_frames(length: int | TfTensor, step: int | TfTensor) -> None:
    """Raise where pieces are of less than no elements, or none comes behind another."""
    if isinstance(step, int) and step == 0:
        raise InvalidArgumentError("Integer division by zero: frame_step is 0")
    if isinstance(length, int) and length < 0:
        raise InvalidArgumentError(f"Requires start <= limit when delta > 0: 0/{length}")


def _counted(count: int | TfTensor) -> TfTensor:
    """Return the numbers from 0 on."""
    return constant(np.arange(count), "int32") if isinstance(count, int) else range_(count)


def _or_none(count: int | TfTensor) -> int | TfTensor:
    """Return a number of elements, 0 where it would be less."""
    return max(count, 0) if isinstance(count, int) else FUNCTIONS["maximum"](count, 0)


def overlap_and_add(signal: object, frame_step: object, name: str | None = None) -> TfTensor:
    """Add up pieces that overlap: what `frame` did is undone."""
    with InGraph(graph_of([signal, frame_step])):
        x, step = convert(signal), whole(frame_step)
        *outer, count, length = _extents(x)
        if x.shape.is_fully_defined() and isinstance(step, int):
            return _added_in_steps(x, step) if count else zeros([*outer, 0], x.dtype)
        return _added_up(x, step, outer, count, length)


def _added_in_steps(x: TfTensor, step: int) -> TfTensor:
    """Add up pieces that overlap: of each the first steps, the second ones, and so on together."""
    *outer, count, length = x.shape.known()
    times, rest = -(-length // step), [[0, 0]] * len(outer)
    whole_steps = pad(x, [*rest, [0, 0], [0, times * step - length]])
    steps = reshape(whole_steps, [*outer, count, times, step])
    parts = [
        pad(steps[..., k, :], [*rest, [k, times - 1 - k], [0, 0]]) for k in reversed(range(times))
    ]
    flat = reshape(sum(parts[1:], parts[0]), [*outer, (count + times - 1) * step])
    return flat[..., : length + step * (count - 1)]


def _added_up(
    x: TfTensor,
    step: int | TfTensor,
    outer: Sequence[int | TfTensor],
    count: int | TfTensor,
    length: int | TfTensor,
) -> TfTensor:
    """Add up pieces of which only the run knows how many there are."""
    total = _or_none(length + step * (count - 1))
    places = reshape(range_(count)[:, None] * step + range_(length), [-1])
    pieces = transpose(reshape(x, [-1, count * length]))
    made = transpose(segment_sum(pieces, places, total))
    return reshape(made, [*outer, total])


def stft(
    signals: object,
    frame_length: object,
    frame_step: object,
    fft_length: object = None,
    window_fn: Callable[..., TfTensor] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Transform each piece of a signal, seen through a window."""
    pieces = frame(signals, frame_length, frame_step, pad_end)
    if window_fn is not None:
        pieces *= window_fn(frame_length, dtype=pieces.dtype)
    return rfft(pieces, [enclosing(frame_length) if fft_length is None else fft_length])


def enclosing(length: object) -> int | TfTensor:
    """Return the least power of two that is no less than a length."""
    count = whole(length)
    if isinstance(count, int):
        return 1 << (count - 1).bit_length()
    powers = 1 << np.arange(31, dtype=np.int32)
    with InGraph(graph_of([count])):
        enough = where(cast(count, "int32") <= powers, powers, powers[-1])
        return REDUCTIONS["reduce_min"](enough)


def _basis(kind: int, count: int, ortho: bool) -> Array:
    """Return the matrix of a cosine transform: a column for each result."""
    n = np.arange(count)
    if kind == 1:
        made = 2 * np.cos(np.pi * np.outer(n, n) / (count - 1))
        made[[0, -1]] /= 2
        return np.asarray(made)
    if kind == 4:
        made = 2 * np.cos(np.pi * np.outer(n + 0.5, n + 0.5) / count)
        return np.asarray(made / np.sqrt(2 * count) if ortho else made)
    made = 2 * np.cos(np.pi / count * np.outer(n + 0.5, n))
    if ortho:
        made *= np.where(n == 0, 0.5, np.sqrt(0.5)) / np.sqrt(count)
    if kind == 2:
        return np.asarray(made)
    turned = made.T.copy()
    turned[0] /= 1 if ortho else 2
    return turned


def _basis_of(kind: int, count: TfTensor, ortho: bool) -> TfTensor:
    """Return the matrix of a cosine transform of as many numbers as a run computes."""
    whole = cast(count, "float64")
    n = cast(range_(count), "float64")
    half = n + 0.5
    left, right = {1: (n, n), 2: (half, n), 3: (n, half), 4: (half, half)}[kind]
    steps = whole - 1.0 if kind == 1 else whole
    ones = ones_like(n)
    first, last = FUNCTIONS["equal"](n, 0.0 * ones), FUNCTIONS["equal"](n, whole - 1.0)
    scale = 2.0 * ones
    if kind == 1:
        scale = where(FUNCTIONS["logical_or"](first, last), ones, scale)
    elif kind == 3 and not ortho:
        scale = where(first, ones, scale)
    elif ortho:
        usual = FUNCTIONS["rsqrt"](whole / 2.0) * ones
        scale = usual if kind == 4 else where(first, FUNCTIONS["rsqrt"](whole) * ones, usual)
    angles = expand_dims(left, 1) * expand_dims(right, 0) * np.pi / steps
    return FUNCTIONS["cos"](angles) * expand_dims(scale, 0 if kind == 2 else 1)


SHORT = 128
"""Rows of up to so many elements are multiplied by a matrix, which is remembered."""


def _is_at_once(x: TfTensor) -> bool:
    """Say whether floats are there to be looked at, and nobody takes note of what is done."""
    is_there = isinstance(x, EagerTensor) and x.direct and x.dtype.name in COMPLEX
    return is_there and bool(x._array.size) and not (STATE.busy or EARS.count)


def dct(
    input: object,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: object = None,
    name: str | None = None,
) -> TfTensor:
    """Return the cosine transform of a type from 1 to 4 along the last axis.

    With `n` that axis is cut to so many elements, or filled with zeros.
    """
    if n is not None and int(n) < 1:
        raise ValueError(f"n should be a positive integer or None, got {n}")
    if type not in (1, 2, 3, 4):
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported, not {type}")
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    x = convert(input)
    if n is not None:
        x = _fitted(x, [int(n)], 1)
    count = x.shape.as_list()[-1]
    if type == 1 and count is not None and count < 2:
        raise ValueError("DCT-I requires the dimension to be greater than one.")
    if type in (2, 3) and count is not None and count > SHORT and _is_at_once(x):
        return wrap(cosines(x._array, type, ortho=norm == "ortho"))
    if count is not None and count > SHORT and (type == 1 or (type == 4 and _is_at_once(x))):
        return _of_mirrored(x, count, type, ortho=norm == "ortho", name=name)
    with InGraph(graph_of([x])):
        if count is None:
            basis = cast(_basis_of(type, shape(x)[-1], norm == "ortho"), x.dtype)
            return identity(matmul(expand_dims(x, -2), basis)[..., 0, :], name=name)
        basis = constant(_basis(type, count, norm == "ortho"), x.dtype)
        return reshape(matmul(reshape(x, [-1, count]), basis), _extents(x), name=name)


def _of_mirrored(x: TfTensor, count: int, type: int, *, ortho: bool, name: str | None) -> TfTensor:
    """Return the cosine transform of type 1 or 4 of long rows by another transform of theirs."""
    with InGraph(graph_of([x])):
        if type == 1:
            return real(rfft(concat([x, x[..., -2:0:-1]], -1)), name=name)
        odd = dct(x, 2, 2 * count)[..., 1::2]
        return odd * float(1 / np.sqrt(2 * count)) if ortho else identity(odd, name=name)


def idct(
    input: object,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: object = None,
    name: str | None = None,
) -> TfTensor:
    """Undo the cosine transform of a type, without its factor."""
    return dct(input, {1: 1, 2: 3, 3: 2, 4: 4}.get(type, type), n, axis, norm, name)


remember_all(globals())
