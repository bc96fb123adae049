"""Convolutions whose weights lie as blocks of threads read them: filters are neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...facts import KernelForm
from ...iteration import Iteration
from ...op import Array, Op, register
from ...samples import Sample
from ...types.dtypes import bf16, f32
from ...types.tensor import TensorSpec
from ..conv import Conv


@register
class ConvTurned(Op):
    """A convolution of a channels-last tensor [N, *S, C] with weights [*K, C / groups, O]."""

    name = "gv.conv_turned"
    SLIDES: ClassVar = True
    CONTRACTS: ClassVar = True
    KERNEL: ClassVar = KernelForm("contract")
    SAMPLES: ClassVar = (
        Sample(
            ((2, 5, 6, 3), (3, 3, 3, 8)),
            {"strides": (1, 1), "pads": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": 1},
            (f32, bf16),
        ),
        Sample(
            ((1, 7, 7, 4), (3, 3, 2, 10)),
            {"strides": (2, 2), "pads": ((1, 1), (0, 1)), "dilations": (1, 1), "groups": 2},
        ),
        Sample(
            ((1, 9, 3), (2, 3, 4)),
            {"strides": (1,), "pads": ((0, 1),), "dilations": (2,), "groups": 1},
        ),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, w: TensorSpec, *, strides: tuple[int, ...],
        pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...], groups: int = 1,
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return [N, *S, O]."""
        if w.rank < 3:
            raise TypeError(f"weights {w}, expected [*K, C / groups, O]")
        return Conv.infer(
            x, plain_weights(w), strides=strides, pads=pads, dilations=dilations, groups=groups,
            channels_last=True,
        )  # fmt: skip

    @classmethod
    def evaluate(cls, x: Array, w: Array, **attributes: Any) -> Sequence[Array]:
        """Convolve with the weights turned back."""
        return Conv.evaluate(x, np.moveaxis(w, (-1, -2), (0, 1)), channels_last=True, **attributes)

    @classmethod
    def iteration(cls, x: TensorSpec, w: TensorSpec, **attributes: Any) -> Iteration:
        """Loop as a convolution does."""
        made = Conv.iteration(x, plain_weights(w), channels_last=True, **attributes)
        source, (which, channel, *taps) = made.reads
        return replace(made, reads=(source, (*taps, channel, which)))


def plain_weights(w: TensorSpec) -> TensorSpec:
    """Return the weights as `gv.conv` has them."""
    return w.with_shape((w.dims[-1], w.dims[-2], *w.dims[:-2]))
