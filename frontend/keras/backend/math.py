"""Segments, transforms and special functions."""

from __future__ import annotations

from collections.abc import Callable

from ...eager.tensor import Tensor
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import gathering as _g
from ...tf.ops import linear_ops as _la
from ...tf.ops import math_ops as _m
from ...tf.ops import signal_ops as _si
from ...tf.ops import sorting as _sorting
from ...tf.ops import special as _special
from ...tf.ops import window_ops as _w
from ...tf.special import inverse_erf as _inverse
from ...values.given import TensorLike
from .tensors import Axes, cast, convert_to_tensor, floating, name_of, rank, sizes, sizes_but_batch

_F, _R = _m.FUNCTIONS, _m.REDUCTIONS


def _segment(name: str) -> Callable[..., Tensor]:
    def function(
        data: TensorLike, segment_ids: TensorLike, num_segments: int | None = None,
        sorted: bool = False,
    ) -> Tensor:  # fmt: skip
        values, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        ids = ids if name_of(ids) in ("int32", "int64") else cast(ids, "int32")
        count = _R["reduce_max"](ids) + 1 if num_segments is None else num_segments
        return getattr(_g, f"unsorted_segment_{name}")(values, ids, count)

    function.__name__ = f"segment_{name}"
    return function


segment_sum, segment_max = _segment("sum"), _segment("max")
segment_min, segment_prod = _segment("min"), _segment("prod")


def top_k(x: TensorLike, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Return the largest values along the last axis, and their places."""
    return _sorting.top_k(convert_to_tensor(x), k, sorted=sorted)


def in_top_k(targets: TensorLike, predictions: TensorLike, k: int) -> Tensor:
    """Tell whether targets are among the largest predictions."""
    places = convert_to_tensor(targets)
    return _w.in_top_k(cast(places, "int32"), convert_to_tensor(predictions), k)


def logsumexp(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the logarithm of the sum of exponentials along axes."""
    listed = list(axis) if isinstance(axis, tuple) else axis
    return _R["reduce_logsumexp"](floating(x), listed, keepdims)


def cdist(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the distances of all pairs of rows."""
    a, b = convert_to_tensor(x), convert_to_tensor(y)
    if rank(a) < 2 or rank(b) < 2:
        raise ValueError("`cdist` inputs must have rank >= 2")
    if a.shape[-1] != b.shape[-1]:
        raise ValueError("Last dimension of inputs to `cdist` must match")
    apart = _a.expand_dims(a, -2) - _a.expand_dims(b, -3)
    return _F["sqrt"](_R["reduce_sum"](apart * apart, -1))


def extract_sequences(x: TensorLike, sequence_length: int, sequence_stride: int) -> Tensor:
    """Return windows of the last axis."""
    return _si.frame(convert_to_tensor(x), sequence_length, sequence_stride)


def _get_complex_tensor_from_tuple(x: tuple[TensorLike, TensorLike]) -> Tensor:
    if not isinstance(x, tuple | list) or len(x) != 2:
        raise ValueError(
            f"Input `x` should be a tuple of two tensors - real and imaginary. Received: x={x}"
        )
    one, other = map(convert_to_tensor, x)
    if tuple(one.shape) != tuple(other.shape):
        raise ValueError(
            "Input `x` should be a tuple of two tensors - real and imaginary. Both the real and "
            f"imaginary parts should have the same shape, got {one.shape} and {other.shape}"
        )
    if not all(name_of(each).startswith(("float", "bfloat")) for each in (one, other)):
        raise ValueError(f"At least one tensor in input `x` is not of type float. Received: x={x}.")
    return _m.complex_(one, other)


def _parts(x: Tensor) -> tuple[Tensor, Tensor]:
    return _m.real(x), _m.imag(x)


def fft(x: tuple[TensorLike, TensorLike]) -> tuple[Tensor, Tensor]:
    """Return the Fourier transform along the last axis."""
    return _parts(_si.fft(_get_complex_tensor_from_tuple(x)))


def fft2(x: tuple[TensorLike, TensorLike]) -> tuple[Tensor, Tensor]:
    """Return the Fourier transform along the last two axes."""
    return _parts(_si.fft2d(_get_complex_tensor_from_tuple(x)))


def ifft2(x: tuple[TensorLike, TensorLike]) -> tuple[Tensor, Tensor]:
    """Return the inverse transform along the last two axes."""
    return _parts(_si.ifft2d(_get_complex_tensor_from_tuple(x)))


def rfft(x: TensorLike, fft_length: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the transform of real numbers."""
    return _parts(_si.rfft(convert_to_tensor(x), None if fft_length is None else [fft_length]))


def irfft(x: tuple[TensorLike, TensorLike], fft_length: int | None = None) -> Tensor:
    """Return real numbers of a transform."""
    return _si.irfft(
        _get_complex_tensor_from_tuple(x), None if fft_length is None else [fft_length]
    )


def _weights(window: TensorLike | None, length: int, whole: int, kind: str) -> Tensor:
    """Return a window as long as the transform, with zeros around it."""
    if window is None:
        return _made.ones([whole], kind)
    values: Tensor
    if isinstance(window, str):
        if window not in ("hann", "hamming"):
            raise ValueError(
                'If a string is passed to `window`, it must be one of `"hann"`, '
                f'`"hamming"`. Received: window={window}'
            )
        made = _si.hann_window if window == "hann" else _si.hamming_window
        values = made(length, periodic=True, dtype=kind)
    else:
        values = convert_to_tensor(window, kind)
    if tuple(values.shape) != (length,):
        raise ValueError(
            "The shape of `window` must be equal to [sequence_length]. "
            f"Received: window shape={tuple(values.shape)}"
        )
    before = (whole - length) // 2
    return _a.pad(values, [(before, whole - length - before)])


def stft(
    x: TensorLike,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: TensorLike | None = "hann",
    center: bool = True,
) -> tuple[Tensor, Tensor]:
    """Return transforms of windows that move along the last axis."""
    tensor = convert_to_tensor(x)
    if name_of(tensor) not in ("float32", "float64"):
        raise TypeError(
            "Invalid input type. Expected `float32` or `float64`. "
            f"Received: input type={name_of(tensor)}"
        )
    if fft_length < sequence_length:
        raise ValueError(
            "`fft_length` must equal or larger than `sequence_length`. Received: "
            f"sequence_length={sequence_length}, fft_length={fft_length}"
        )
    if center:
        around = [(0, 0)] * (rank(tensor) - 1) + [(fft_length // 2, fft_length // 2)]
        tensor = _a.pad(tensor, around, "REFLECT")
    weights = _weights(window, sequence_length, fft_length, name_of(tensor))
    frames = _si.frame(tensor, fft_length, sequence_stride)
    return _parts(_si.rfft(frames * weights, [fft_length]))


def istft(
    x: tuple[TensorLike, TensorLike],
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: TensorLike | None = "hann",
    center: bool = True,
) -> Tensor:
    """Return the signal of which `stft` made the transforms."""
    given = _get_complex_tensor_from_tuple(x)
    frames = _si.irfft(given, [fft_length])
    kind = name_of(frames)
    weights = _weights(window, sequence_length, fft_length, kind)
    if window is not None:
        weights = weights / _overlapped(weights * weights, sequence_stride, fft_length)
    found = _si.overlap_and_add(frames * weights, sequence_stride)
    start = fft_length // 2 if center else 0
    whole = sizes_but_batch(found)[-1] if rank(found) > 1 else sizes(found)[-1]
    end = start + length if length is not None else whole - start
    return found[..., start:end]


def _overlapped(squares: Tensor, step: int, length: int) -> Tensor:
    """Return the sums of the squares of all windows that meet at each place."""
    turns = -(-length // step)
    padded = _a.pad(squares, [(0, turns * step - length)])
    summed = _R["reduce_sum"](_a.reshape(padded, [turns, step]), 0)
    return _a.tile(summed, [turns])[:length]


def rsqrt(x: TensorLike) -> Tensor:
    """Return one over the square root."""
    return _F["rsqrt"](convert_to_tensor(x))


def erf(x: TensorLike) -> Tensor:
    """Return the error function."""
    return _F["erf"](convert_to_tensor(x))


def erfc(x: TensorLike) -> Tensor:
    """Return one minus the error function."""
    return _special.erfc(convert_to_tensor(x))


def erfinv(x: TensorLike) -> Tensor:
    """Return the inverse of the error function."""
    tensor = convert_to_tensor(x)
    kind = name_of(tensor)
    if kind in ("float16", "bfloat16"):
        return cast(_inverse.erfinv(cast(tensor, "float32")), kind)
    return _inverse.erfinv(tensor)


def logdet(x: TensorLike) -> Tensor:
    """Return the logarithm of a determinant."""
    return _la.logdet(convert_to_tensor(x))
