"""Convolutions of images in groups of few channels, with weights laid out as vectors.

A panel holds the weights of `width` channels of the result beside each other: those of several
groups, where that comes out even, or as many of one group as there are, and zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from ...facts import KernelForm, Work
from ...op import REGISTRY, Array, Op, register
from ...samples import Sample
from ...types.tensor import TensorSpec


def panels_of(filters: int, columns: int, width: int) -> tuple[int, int]:
    """Return how many panels there are, and of how many channels all but the last are filled.

    `filters` are the channels of a group, and `columns` those of all.

    >>> panels_of(4, 20, 8), panels_of(24, 48, 16), panels_of(3, 6, 4)
    ((3, 20), (4, 24), (2, 3))
    """
    if has_several(filters, width):
        return -(-columns // width), columns
    return columns // filters * -(-filters // width), filters


def has_several(filters: int, width: int) -> bool:
    """Say whether several groups are in a panel."""
    return width > filters and width % filters == 0


def pack_groups_of_channels(
    emit: Any, weight: Any, spec: TensorSpec, width: int, groups: int
) -> Any:
    """Return the panels [P, KH, I, KW, width] of weights [O, I, KH, KW]."""
    columns, depth, *window = spec.static_shape
    _, run = panels_of(columns // groups, columns, width)
    taps = emit(REGISTRY["gv.transpose"], weight, order=(2, 1, 3, 0))
    taps = emit(
        REGISTRY["gv.reshape"], taps, shape=(window[0], depth, window[1], columns // run, run)
    )
    if rest := -run % width:
        taps = emit(REGISTRY["gv.pad"], taps, pads=(*((0, 0),) * 4, (0, rest)))
    panels = columns // run * ((run + rest) // width)
    shape = (window[0], depth, window[1], panels, width)
    taps = emit(REGISTRY["gv.reshape"], taps, shape=shape)
    return emit(REGISTRY["gv.transpose"], taps, order=(3, 0, 1, 2, 4))


def unpack_groups_of_channels(panels: Array, columns: int, groups: int) -> Array:
    """Return the weights [O, I, KH, KW] that panels were made of."""
    _, rows, depth, across, width = panels.shape
    _, run = panels_of(columns // groups, columns, width)
    taps = panels.transpose(0, 4, 2, 1, 3).reshape(columns // run, -1, depth, rows, across)
    return taps[:, :run].reshape(columns, depth, rows, across)


@register
class ConvGroupsPacked(Op):
    """A convolution of [N, H, W, C] in `groups` with panels [P, KH, C / groups, KW, width]."""

    name = "gv.conv_groups_packed"
    KERNEL: ClassVar = KernelForm("conv_groups", converts=True)
    SAMPLES: ClassVar = (
        Sample(
            ((2, 6, 5, 8), (1, 3, 4, 3, 8)),
            {
                "columns": 8, "groups": 2, "strides": (1, 1), "pads": ((1, 1), (1, 1)),
                "dilations": (1, 1),
            },
        ),
        Sample(
            ((1, 7, 9, 6), (3, 3, 2, 2, 4)),
            {
                "columns": 9, "groups": 3, "strides": (2, 1), "pads": ((1, 0), (0, 2)),
                "dilations": (1, 2),
            },
        ),
    )  # fmt: skip

    @classmethod
    def infer(
        cls, x: TensorSpec, panels: TensorSpec, *, columns: int, groups: int,
        strides: tuple[int, ...], pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...],
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return [N, H', W', columns]."""
        if x.rank != 4 or panels.rank != 5 or not panels.is_static:
            raise TypeError(
                f"operands {x} and {panels}, expected [N, H, W, C] and [P, KH, I, KW, width]"
            )
        count, rows, depth, across, width = panels.static_shape
        if columns % groups or panels_of(columns // groups, columns, width)[0] != count:
            raise TypeError(f"{count} panels do not hold {columns} columns in {groups} groups")
        return REGISTRY["gv.conv"].infer(
            x, panels.with_shape((columns, depth, rows, across)), strides=strides, pads=pads,
            dilations=dilations, groups=groups, channels_last=True,
        )  # fmt: skip

    @classmethod
    def evaluate(
        cls, x: Array, panels: Array, *, columns: int, groups: int,
        strides: tuple[int, ...], pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...],
    ) -> Sequence[Array]:  # fmt: skip
        """Convolve with the unpacked weights."""
        return REGISTRY["gv.conv"].evaluate(
            x, unpack_groups_of_channels(panels, columns, groups), strides=strides, pads=pads,
            dilations=dilations, groups=groups, channels_last=True,
        )  # fmt: skip

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count the taps of a channel's group for each element of the result."""
        _, rows, depth, across, _ = operands[1].static_shape
        return Work.products(prod(results[0].static_shape) * rows * depth * across)


__all__ = ["ConvGroupsPacked", "has_several", "pack_groups_of_channels", "panels_of"]
