"""Sounds as they are heard, and signals made of transforms again: `tf.signal`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....ir.op import Array
from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.values import convert, static, whole
from .array_ops import concat, pad, reshape, reverse, split, tile
from .creation import constant
from .math_ops import FUNCTIONS, REDUCTIONS, square
from .signal_ops import (
    dct,
    enclosing,
    frame,
    hann_window,
    hosted_window,
    idct,
    irfft,
    overlap_and_add,
)

Window = Callable[..., TfTensor]


def vorbis_window(
    window_length: object, dtype: DTypeLike | None = "float32", name: str | None = None
) -> TfTensor:
    """Return the window of Vorbis, whose squares with those half a window away are 1."""

    def compute(length: int) -> Array:
        rise = np.sin(np.pi / length * (np.arange(length) + 0.5))
        return np.asarray(np.sin(np.pi / 2 * rise**2))

    return hosted_window(compute, window_length, dtype, name)


def _seen_through(window_fn: Window | None, length: int, pieces: TfTensor) -> TfTensor:
    """Return a window, or the number whose square twice is 1."""
    if window_fn is None:
        return constant(np.sqrt(0.5), pieces.dtype)
    return window_fn(length, dtype=pieces.dtype)


def mdct(
    signals: object,
    frame_length: object,
    window_fn: Window | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> TfTensor:
    """Return cosine transforms of pieces that overlap by half: as many numbers as half a piece."""
    length = int(static(frame_length))
    if length % 4:
        raise ValueError(f"frame_length is {length}, expected a multiple of 4")
    pieces = frame(signals, length, length // 2, pad_end)
    pieces *= _seen_through(window_fn, length, pieces)
    a, b, c, d = split(pieces, 4, axis=-1)
    last = [len(pieces.shape) - 1]
    first, second = -reverse(c, last) - d, a - reverse(b, last)
    return dct(concat([first, second], -1), 4, norm=norm, name=name)


def inverse_mdct(
    mdcts: object,
    window_fn: Window | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> TfTensor:
    """Return the signal whose overlapping pieces have these transforms."""
    x = convert(mdcts)
    half, last = x.shape.as_list()[-1], [len(x.shape) - 1]
    if half is None:
        raise ValueError(f"the transforms have shape {x.shape}, expected a known last size")
    back = idct(x, 4, norm=norm)
    if norm is None:
        back *= constant(0.5 / half, back.dtype)
    front, rear = split(back, 2, axis=-1)
    pieces = concat([rear, -reverse(rear, last), -reverse(front, last), -front], -1)
    pieces *= _seen_through(window_fn, 2 * half, pieces)
    return overlap_and_add(pieces, half)


def _mel(hertz: np.ndarray | float) -> np.ndarray:
    """Return frequencies as they are heard."""
    return np.asarray(1127.0 * np.log1p(np.asarray(hertz) / 700.0))


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: object = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike | None = "float32",
    name: str | None = None,
) -> TfTensor:
    """Return the matrix that makes bands as they are heard of a spectrum: triangles."""
    rate = float(static(sample_rate))
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if not 0.0 <= lower_edge_hertz < upper_edge_hertz <= rate / 2:
        raise ValueError(
            f"the edges {lower_edge_hertz} and {upper_edge_hertz} are not in order within 0 and "
            f"half of the sample rate {rate}"
        )
    heard = _mel(np.linspace(0.0, rate / 2, num_spectrogram_bins)[1:])[:, None]
    edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    rise, fall = (heard - low) / (middle - low), (high - heard) / (high - middle)
    weights = np.maximum(0.0, np.minimum(rise, fall))
    return constant(np.pad(weights, [[1, 0], [0, 0]]), dtype)


def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: object, name: str | None = None
) -> TfTensor:
    """Return the cepstra of logarithms of bands."""
    x = convert(log_mel_spectrograms)
    bands = x.shape.as_list()[-1]
    if not bands:
        raise ValueError(f"num_mel_bins must be positive. Got: {bands}")
    return dct(x, 2) * constant(1 / np.sqrt(2.0 * bands), x.dtype)


def inverse_stft_window_fn(
    frame_step: object, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """Return the window with which pieces seen through another one add up to the signal."""

    def window(frame_length: object, dtype: DTypeLike | None = "float32") -> TfTensor:
        """Return the window of a length."""
        length, step = whole(frame_length), whole(frame_step)
        forward = forward_window_fn(length, dtype=dtype)
        times = (length + step - 1) // step
        squares = pad(square(forward), [[0, times * step - length]])
        total = REDUCTIONS["reduce_sum"](reshape(squares, [times, step]), axis=0, keepdims=True)
        return forward / reshape(tile(total, [times, 1]), [-1])[:length]

    return window


def inverse_stft(
    stfts: object,
    frame_length: object,
    frame_step: object,
    fft_length: object = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> TfTensor:
    """Return the signal whose pieces have these transforms."""
    x, length = convert(stfts), whole(frame_length)
    size = enclosing(length) if fft_length is None else whole(fft_length)
    outer = [[0, 0]] * (len(x.shape) - 1)
    more = FUNCTIONS["maximum"](length - size, 0)
    pieces = pad(irfft(x, [size]), [*outer, [0, more]])[..., :length]
    if window_fn is not None:
        pieces *= window_fn(length, dtype=pieces.dtype)
    return overlap_and_add(pieces, frame_step)
