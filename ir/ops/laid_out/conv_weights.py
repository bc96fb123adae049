"""The gradient of a convolution's weights: what each tap saw, times the gradient of what it made.

It has its own operation because a convolution in its place, with the gradient as a window, would
have results of a few elements and a window as large as an image.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ...facts import KernelForm, Work
from ...families import FLOAT, expect, expect_same
from ...iteration import Affine, Iteration, dim
from ...op import REGISTRY, Array, Call, Op, register
from ...samples import Sample
from ...types.dims import product
from ...types.dtypes import bf16, f32, f64
from ...types.numerics import round_to, widen
from ...types.tensor import TensorSpec, spec_of_array
from ...windows import Windows, channel_axis, image, spatial

Pairs = tuple[tuple[int, int], ...]


def _moves(window: tuple[int, ...], **changes: Any) -> dict[str, Any]:
    """Return the attributes of windows that move by 1 without padding, with changes."""
    rank = len(window)
    plain = {"strides": (1,) * rank, "pads": ((0, 0),) * rank, "dilations": (1,) * rank}
    return {"window": window, **plain, **changes}


@register
class ConvWeights(Op):
    """The gradient of the weights of `gv.conv`, from its image and the gradient of its result.

    x is [N, C, *S] and grad [N, O, *P] (or [N, *S, C] and [N, *P, O]); the result is always
    [O, C / groups, *window].
    """

    name = "gv.conv_weights"
    COMPILED_FIXED: ClassVar = True
    SLIDES: ClassVar = True
    CONTRACTS: ClassVar = True
    WIDENS: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((2, 3, 6, 5), (2, 4, 4, 4)), _moves((3, 2)), (f32, f64, bf16)),
        Sample(((1, 2, 7, 6), (1, 3, 4, 3)), _moves((3, 3), pads=((1, 1), (1, 1)), strides=(2, 2))),
        Sample(
            ((1, 2, 7, 8), (1, 3, 5, 6)), _moves((3, 2), pads=((2, 0), (0, 1)), dilations=(2, 3))
        ),
        Sample(((2, 4, 5, 5), (2, 6, 5, 4)), _moves((3, 3), groups=2, pads=((1, 1), (1, 0)))),
        Sample(((2, 3, 9), (2, 4, 3)), _moves((3,), strides=(3,), dilations=(2,), pads=((0, 2),))),
        Sample(
            ((2, 6, 5, 4), (2, 3, 5, 4)),
            _moves((3, 2), channels_last=True, groups=2, strides=(2, 1), pads=((1, 1), (0, 1))),
        ),
        Sample(
            ((2, 6, 5, 3), (2, 3, 5, 20)),
            _moves((3, 2), channels_last=True, strides=(2, 1), pads=((1, 1), (0, 1))),
        ),
        Sample(
            ((1, 5, 6, 20), (1, 5, 6, 16)),
            _moves((3, 3), channels_last=True, pads=((1, 1), (1, 1))),
        ),
        Sample(((2, 4, 4, 17), (2, 4, 4, 3)), _moves((1, 1), channels_last=True)),
        Sample(((0, 2, 4, 4), (0, 3, 2, 2)), _moves((3, 3))),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        grad: TensorSpec,
        *,
        window: tuple[int, ...],
        strides: tuple[int, ...],
        pads: Pairs,
        dilations: tuple[int, ...],
        groups: int = 1,
        channels_last: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the spec of the weights."""
        expect(x, FLOAT)
        expect_same(x, grad)
        if x.rank < 3 or grad.rank != x.rank or len(window) != x.rank - 2:
            raise TypeError(
                f"ranks {x.rank} and {grad.rank}, a window of {len(window)} axes, expected two "
                "equal ranks from 3 and two axes less"
            )
        windows = Windows(window, strides, pads, dilations)
        windows.check()
        axis = channel_axis(x.rank, channels_last=channels_last)
        channels, filters = x.dims[axis], grad.dims[axis]
        if groups < 1 or channels % groups != 0 or filters % groups != 0:
            raise TypeError(f"{channels} channels and {filters} filters in {groups} groups")
        counts = windows.counts(spatial(x, channels_last=channels_last))
        wanted = image(x.dims[0], filters, counts, channels_last=channels_last)
        if grad.dims != wanted:
            raise TypeError(f"a gradient of {grad}, expected {grad.with_shape(wanted)}")
        return (x.with_shape((filters, channels // groups, *window)),)

    @classmethod
    def evaluate(
        cls, x: Array, grad: Array, *, window: tuple[int, ...], groups: int, **attributes: Any
    ) -> Sequence[Array]:
        """Multiply the matrix of what the windows see by that of the gradient."""
        if attributes["channels_last"]:
            x, grad = np.moveaxis(x, -1, 1), np.moveaxis(grad, -1, 1)
        seen = Windows.of(window, attributes).view(widen(x), 0)
        batch, channels = x.shape[:2]
        filters, places = grad.shape[1], prod(grad.shape[2:])
        shape = (batch, groups, channels // groups, places, prod(window))
        apart = np.transpose(seen.reshape(shape), (1, 0, 3, 2, 4))
        columns = apart.reshape(groups, batch * places, channels // groups * prod(window))
        parts = widen(grad).reshape(batch, groups, filters // groups, places)
        rows = np.moveaxis(parts, 0, 2).reshape(groups, filters // groups, batch * places)
        made = np.matmul(rows, columns).reshape(filters, channels // groups, *window)
        return (round_to(made, spec_of_array(x).dtype),)

    @classmethod
    def iteration(
        cls,
        x: TensorSpec,
        grad: TensorSpec,
        *,
        window: tuple[int, ...],
        groups: int,
        **attributes: Any,
    ) -> Iteration:
        """Loop over group, filter, channel and tap, and inside over image and place."""
        last: bool = attributes["channels_last"]
        windows = Windows.of(window, attributes)
        (made,) = cls.infer(x, grad, window=window, groups=groups, **attributes)
        rank, (filters, depth) = len(window), made.dims[:2]
        size = filters // groups
        places = tuple(dim(4 + rank + i) for i in range(rank))
        channel, which = Affine(((0, depth), (2, 1))), Affine(((0, size), (1, 1)))
        seen = windows.indices(4 + rank, 3)
        return Iteration(
            parallel=(groups, size, depth, *window),
            reduce=(x.dims[0], *spatial(grad, channels_last=last)),
            reads=(
                image(dim(3 + rank), channel, seen, channels_last=last),
                image(dim(3 + rank), which, places, channels_last=last),
            ),
            write=(which, dim(2), *(dim(3 + i) for i in range(rank))),
            combiner="add",
            body=lambda math, a, b: math.mul(a, b),
            guarded=(windows.is_padded, False),
        )

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Spread the gradient by the given weights; convolve the image with them."""
        (x, grad), (given,) = call.operands, grads
        kept = {name: value for name, value in call.attributes.items() if name != "window"}
        windows = Windows.of(call.attributes["window"], kept)
        extents = spatial(call.specs[0], channels_last=kept["channels_last"])
        more = windows.leftovers(extents)
        for_x = call.emit(REGISTRY["gv.conv_transpose"], grad, given, **kept, output_pads=more)
        return (for_x, call.emit(REGISTRY["gv.conv"], x, given, **kept))


@register
class ConvWeightsPacked(Op):
    """The gradient of weights [KH, KW, C, O], from images [N, H, W, C] and [N, P, Q, O].

    O is a multiple of what a register holds.
    """

    name = "gv.conv_weights_packed"
    KERNEL: ClassVar = KernelForm("conv_weights")
    SAMPLES: ClassVar = (
        Sample(
            ((2, 5, 6, 3), (2, 5, 6, 16)),
            {
                "window": (3, 3), "strides": (1, 1), "pads": ((1, 1), (1, 1)),
                "dilations": (1, 1),
            },
        ),
    )  # fmt: skip

    @classmethod
    def infer(
        cls, x: TensorSpec, grad: TensorSpec, *, window: tuple[int, ...],
        strides: tuple[int, ...], pads: Pairs, dilations: tuple[int, ...],
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return [*window, C, O]."""
        (made,) = ConvWeights.infer(
            x, grad, window=window, strides=strides, pads=pads, dilations=dilations,
            channels_last=True,
        )  # fmt: skip
        filters, channels, *taps = made.dims
        if len(taps) != 2 or not isinstance(product(made.dims), int):
            raise TypeError(f"a window {window} on {x}, expected two axes and known sizes")
        return (made.with_shape((*taps, channels, filters)),)

    @classmethod
    def evaluate(cls, x: Array, grad: Array, **attributes: Any) -> Sequence[Array]:
        """Transpose what `gv.conv_weights` gives."""
        (made,) = ConvWeights.evaluate(x, grad, groups=1, channels_last=True, **attributes)
        return (np.ascontiguousarray(np.moveaxis(made, (1, 0), (-2, -1))),)

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count a product for each weight and place: images are [N, *P, O]."""
        places = prod(operands[1].static_shape[:-1])
        return Work.products(prod(results[0].static_shape) * places)


@register
class ConvWeightsRows(Op):
    """The gradient of a filter for each channel, from each row of places by itself.

    x is [N, *S, C], grad [N, *P, C]; the result is [N, *P without the last axis, *window, C].
    While a row's taps are gone through, what they see of the image stays in a processor's cache.
    """

    name = "gv.conv_weights_rows"
    KERNEL: ClassVar = KernelForm("contract")
    """Operands are read from memory: once for each tap."""
    SAMPLES: ClassVar = (
        Sample(((2, 5, 6, 3), (2, 3, 5, 3)), _moves((3, 2)), (f32, f64)),
        Sample(((1, 7, 9, 17), (1, 3, 3, 17)), _moves((3, 3), strides=(2, 2), dilations=(1, 2))),
        Sample(((2, 9, 4), (2, 3, 4)), _moves((3,), strides=(3,), pads=((0, 1),))),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, grad: TensorSpec, *, window: tuple[int, ...],
        strides: tuple[int, ...], pads: Pairs, dilations: tuple[int, ...],
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return the rows, the window, and the channels."""
        if x.rank < 3 or x.dims[-1] != grad.dims[-1]:
            raise TypeError(f"{x} and {grad}: expected images of as many channels")
        ConvWeights.infer(
            x, grad, window=window, strides=strides, pads=pads, dilations=dilations,
            channels_last=True,
        )  # fmt: skip
        return (x.with_shape((*grad.dims[:-2], *window, x.dims[-1])),)

    @classmethod
    def evaluate(
        cls, x: Array, grad: Array, *, window: tuple[int, ...], **attributes: Any
    ) -> Sequence[Array]:
        """Multiply what the windows see by the gradient, and add up along the rows."""
        rank, first = len(window), np.moveaxis(x, -1, 1)
        seen = Windows.of(window, attributes).view(widen(first), 0)
        places = np.moveaxis(widen(grad), -1, 1).reshape(*seen.shape[: 2 + rank], *(1,) * rank)
        made = np.moveaxis((seen * places).sum(1 + rank), 1, -1)
        return (round_to(made, spec_of_array(x).dtype),)

    @classmethod
    def iteration(
        cls, x: TensorSpec, grad: TensorSpec, *, window: tuple[int, ...], **attributes: Any
    ) -> Iteration:
        """Loop over image, row, tap and channel, and inside along the row."""
        rank = len(window)
        windows = Windows.of(window, attributes)
        rows, channel, along = tuple(map(dim, range(rank))), dim(2 * rank), 2 * rank + 1
        *seen, last = windows.indices(1, rank)
        (_, step), tap = last.terms
        seen.append(Affine(((along, step), tap), last.offset))
        return Iteration(
            parallel=(*grad.dims[:-2], *window, x.dims[-1]),
            reduce=(grad.dims[-2],),
            reads=((dim(0), *seen, channel), (*rows, dim(along), channel)),
            write=tuple(dim(i) for i in range(2 * rank + 1)),
            combiner="add",
            body=lambda math, a, b: math.mul(a, b),
            guarded=(windows.is_padded, False),
        )

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count a product for each weight and place."""
        return Work.products(prod(results[0].static_shape) * operands[1].static_shape[-2])


__all__ = ["ConvWeights", "ConvWeightsPacked", "ConvWeightsRows"]
