"""Convolutions of images in groups of few channels, with weights whose last axis is the result's."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ...facts import KernelForm, Work
from ...op import REGISTRY, Array, Op, register
from ...samples import Sample
from ...types.tensor import TensorSpec


@register
class ConvGroupsPacked(Op):
    """A convolution of [N, H, W, C] in `groups` with weights [KH, KW, C / groups, columns]."""

    name = "gv.conv_groups_packed"
    KERNEL: ClassVar = KernelForm("conv_groups", converts=True)
    SAMPLES: ClassVar = (
        Sample(
            ((2, 6, 5, 8), (3, 3, 4, 8)),
            {"strides": (1, 1), "pads": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": 2},
        ),
        Sample(
            ((1, 7, 9, 6), (3, 2, 2, 9)),
            {"strides": (2, 1), "pads": ((1, 0), (0, 2)), "dilations": (1, 2), "groups": 3},
        ),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, w: TensorSpec, *, strides: tuple[int, ...],
        pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...], groups: int,
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return [N, H', W', columns]."""
        if x.rank != 4 or w.rank != 4:
            raise TypeError(f"operands {x} and {w}, expected [N, H, W, C] and [KH, KW, I, O]")
        rows, columns, depth, filters = w.dims
        return REGISTRY["gv.conv"].infer(
            x, w.with_shape((filters, depth, rows, columns)), strides=strides, pads=pads,
            dilations=dilations, groups=groups, channels_last=True,
        )  # fmt: skip

    @classmethod
    def evaluate(
        cls, x: Array, w: Array, *, strides: tuple[int, ...],
        pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...], groups: int,
    ) -> Sequence[Array]:  # fmt: skip
        """Convolve."""
        return REGISTRY["gv.conv"].evaluate(
            x, np.transpose(w, (3, 2, 0, 1)), strides=strides, pads=pads, dilations=dilations,
            groups=groups, channels_last=True,
        )  # fmt: skip

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count the taps of a channel's group for each element of the result."""
        return Work.products(prod(results[0].static_shape) * prod(operands[1].static_shape[:3]))


__all__ = ["ConvGroupsPacked"]
