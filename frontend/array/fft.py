"""The Fourier transform extension of the array API standard: numpy's, on computed values only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..eager.kernels import host
from ..eager.remembered import remember_all
from ..eager.tensor import Tensor, as_tensor, single
from ..values.devices import placing
from ..values.dtypes import DTypeLike, as_dtype, float32
from ..values.given import Axes, DeviceLike, TensorLike
from .manipulation import axes_of, roll

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]


def _along_axis(name: str) -> Callable[..., Tensor]:
    op = host(f"fft.{name}", getattr(np.fft, name))

    def function(
        x: TensorLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
    ) -> Tensor:
        return single(op, as_tensor(x), n=n, axis=axis, norm=norm)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Transform along an axis by numpy's `{name}`."
    return function


def _along_axes(name: str) -> Callable[..., Tensor]:
    op = host(f"fft.{name}", getattr(np.fft, name))

    def function(
        x: TensorLike,
        /,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> Tensor:
        x = as_tensor(x)
        if s is not None and axes is None:
            axes = tuple(range(x.ndim - len(s), x.ndim))
        return single(op, x, s=s, axes=axes, norm=norm)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Transform along axes by numpy's `{name}`."
    return function


fft, ifft, rfft, irfft = map(_along_axis, ("fft", "ifft", "rfft", "irfft"))
hfft, ihfft = map(_along_axis, ("hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_along_axes, ("fftn", "ifftn", "rfftn", "irfftn"))


@placing
def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: DeviceLike = None
) -> Tensor:
    """Return the frequencies of the results of `fft`."""
    row = as_dtype(float32 if dtype is None else dtype).row
    return Tensor(np.fft.fftfreq(n, d).astype(row.numpy))


@placing
def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: DeviceLike = None
) -> Tensor:
    """Return the frequencies of the results of `rfft`."""
    row = as_dtype(float32 if dtype is None else dtype).row
    return Tensor(np.fft.rfftfreq(n, d).astype(row.numpy))


def fftshift(x: TensorLike, /, *, axes: Axes = None) -> Tensor:
    """Put the zero frequency into the middle."""
    x = as_tensor(x)
    chosen = axes_of(axes, x.ndim)
    return roll(x, tuple(x.shape[a] // 2 for a in chosen), axis=chosen) if chosen else x


def ifftshift(x: TensorLike, /, *, axes: Axes = None) -> Tensor:
    """Undo `fftshift`."""
    x = as_tensor(x)
    chosen = axes_of(axes, x.ndim)
    return roll(x, tuple(-(x.shape[a] // 2) for a in chosen), axis=chosen) if chosen else x


remember_all(globals())
