"""Host steps on spectra: transforms of as many points as a run tells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...host import HostOp
from ...op import Array, register
from ...types.dtypes import f32, f64
from ...types.tensor import TensorSpec


@register
class TransformRows(HostOp):
    """The Fourier transform along the axis before the last, which has the real and imaginary part.

    Nothing is divided. `gv.fourier` is the same of a number of points that is known.
    """

    name = "gv.transform_rows"

    @classmethod
    def infer(cls, x: TensorSpec, *, inverse: bool = False) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        if x.dtype not in (f32, f64) or x.rank < 2 or x.dims[-1] != 2:
            raise TypeError(f"{x}, expected pairs of f32 or f64")
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, *, inverse: bool = False) -> Sequence[Array]:
        """Transform; no points have no transform."""
        if not x.size:
            return (x.copy(),)
        whole = x[..., 0] + 1j * x[..., 1]
        made = np.fft.ifft(whole, norm="forward") if inverse else np.fft.fft(whole)
        return (np.stack([made.real, made.imag], -1).astype(x.dtype, copy=False),)
