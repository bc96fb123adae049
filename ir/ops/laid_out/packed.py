"""Products with weights that were laid out for the register tile ahead of time.

A panel holds `tile` columns of a matrix, row after row: panels[p, k, j] = w[k, p*tile + j],
zero beyond the last column. Packing itself is pad, reshape and transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ...facts import KernelForm, Work
from ...iteration import Affine, Iteration, dim
from ...op import REGISTRY, Array, Op, register
from ...samples import Sample
from ...types.dims import Dim, ceil_divide
from ...types.dtypes import bf16, f32, i8, i32, u8
from ...types.tensor import TensorSpec, spec_of_array

NARROW = ((f32, bf16), (f32, i8))
"""Element types of a tensor and of panels that are multiplied although they differ."""


DOTS = {2: (bf16, bf16, f32), 4: (u8, i8, i32)}
"""Element types of tensor, panels and result where panels hold groups of so many rows."""


def pack_groups(emit: Any, weight: Any, spec: TensorSpec, tile: int) -> Any:
    """Return panels of groups of rows that fill 4 bytes; groups divide the rows."""
    dots = 4 // spec.dtype.size
    panels = pack(emit, weight, spec, tile)
    rows, columns = spec.static_shape
    shape = (-(-columns // tile), rows // dots, dots, tile)
    grouped = emit(REGISTRY["gv.reshape"], panels, shape=shape)
    return emit(REGISTRY["gv.transpose"], grouped, order=(0, 1, 3, 2))


def pack(emit: Any, weight: Any, spec: TensorSpec, tile: int) -> Any:
    """Return the panels of a matrix [K, N], made by graph operations."""
    k, n = spec.dims
    panels = ceil_divide(n, tile)
    rest = panels * tile - n
    if rest != 0:
        weight = emit(REGISTRY["gv.pad"], weight, pads=((0, 0), (0, rest)))
    parts = emit(REGISTRY["gv.reshape"], weight, shape=(k, panels, tile))
    return emit(REGISTRY["gv.transpose"], parts, order=(1, 0, 2))


def unpack(panels: Array, columns: int) -> Array:
    """Return the matrix [K, columns] that panels were made from."""
    count, k, tile = panels.shape
    return panels.transpose(1, 0, 2).reshape(k, count * tile)[:, :columns]


def ungrouped(x: Array, panels: Array) -> tuple[Array, Array]:
    """Return a tensor and panels in the type of their products, panels without groups."""
    if panels.ndim == 3:
        return x, panels
    count, groups, tile, dots = panels.shape
    rows = panels.transpose(0, 1, 3, 2).reshape(count, groups * dots, tile)
    cast, wide = REGISTRY["gv.cast"].evaluate, DOTS[dots][2]
    return cast(x, dtype=wide)[0], cast(rows, dtype=wide)[0]


def summed(x: TensorSpec, weight: TensorSpec) -> TensorSpec:
    """Return a tensor in the type that its products with integers of 8 bits are added up in."""
    return TensorSpec(i32, x.dims) if (x.dtype, weight.dtype) == (u8, i8) else x


@register
class MatmulPacked(Op):
    """The product of a tensor [..., M, K] and a packed matrix [K, columns].

    Panels of fewer bits become what the tensor is, which is exact. Panels [P, K/D, tile, D] hold D
    rows beside each other, for instructions that add up D products: 2 of bf16, in f32, or 4 of
    u8 by i8, in i32.
    """

    name = "gv.matmul_packed"
    KERNEL: ClassVar = KernelForm("gemm", strides=1, converts=True)
    SAMPLES: ClassVar = (
        Sample(((5, 6), (2, 6, 4)), {"columns": 7}),
        Sample(((2, 3, 6), (1, 6, 16)), {"columns": 10}),
    )

    @classmethod
    def infer(cls, lhs: TensorSpec, panels: TensorSpec, *, columns: Dim) -> Sequence[TensorSpec]:
        """Return [..., M, columns]."""
        if panels.rank == 4:
            return (cls._grouped(lhs, panels, columns),)
        if lhs.dtype != panels.dtype and (lhs.dtype, panels.dtype) not in NARROW:
            raise TypeError(f"element types differ: {lhs.dtype} and {panels.dtype}")
        if lhs.rank < 2 or panels.rank != 3:
            raise TypeError(f"operands {lhs} and {panels}, expected [..., M, K] and [P, K, tile]")
        if lhs.dims[-1] != panels.dims[1]:
            raise TypeError(f"inner dimensions differ: {lhs.dims[-1]} and {panels.dims[1]}")
        if ceil_divide(columns, int(panels.dims[2])) != panels.dims[0]:  # type: ignore[arg-type]
            raise TypeError(f"{panels.dims[0]} panels do not hold {columns} columns")
        return (lhs.with_shape((*lhs.dims[:-1], columns)),)

    @classmethod
    def _grouped(cls, lhs: TensorSpec, panels: TensorSpec, columns: Dim) -> TensorSpec:
        """Return the result for panels whose rows are grouped."""
        _, groups, tile, dots = panels.static_shape
        if DOTS.get(dots, ())[:2] != (lhs.dtype, panels.dtype):
            raise TypeError(f"groups of {dots} of {lhs.dtype} by {panels.dtype}")
        if lhs.rank < 2 or lhs.dims[-1] != groups * dots:
            raise TypeError(f"operands {lhs} and {panels}, expected [..., M, {groups * dots}]")
        if ceil_divide(columns, tile) != panels.dims[0]:
            raise TypeError(f"{panels.dims[0]} panels do not hold {columns} columns")
        return TensorSpec(DOTS[dots][2], (*lhs.dims[:-1], columns))

    @classmethod
    def evaluate(cls, lhs: Array, panels: Array, *, columns: int) -> Sequence[Array]:
        """Multiply by the unpacked matrix."""
        lhs, panels = ungrouped(lhs, panels)
        (panels,) = REGISTRY["gv.cast"].evaluate(panels, dtype=spec_of_array(lhs).dtype)
        return REGISTRY["gv.matmul"].evaluate(
            lhs, unpack(panels, columns), transpose_lhs=False, transpose_rhs=False
        )

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count the rows of a panel for each element of the result."""
        return Work.products(prod(results[0].static_shape) * operands[1].static_shape[1])


@register
class ConvPacked(Op):
    """A convolution of a channels-last tensor [N, *S, C] with packed weights.

    panels is [groups * P, taps * C/groups, tile]: for each group the panels of its matrix
    [*K, C/groups] x [columns / groups]; or with groups of rows, as in `MatmulPacked`.
    """

    name = "gv.conv_packed"
    KERNEL: ClassVar = KernelForm("conv", converts=True)
    SAMPLES: ClassVar = (
        Sample(
            ((2, 5, 6, 3), (1, 27, 8)),
            {
                "columns": 8, "window": (3, 3), "strides": (1, 1), "pads": ((1, 1), (1, 1)),
                "dilations": (1, 1), "groups": 1,
            },
        ),
        Sample(
            ((1, 7, 7, 4), (4, 18, 4)),
            {
                "columns": 10, "window": (3, 3), "strides": (2, 2), "pads": ((1, 1), (0, 1)),
                "dilations": (1, 1), "groups": 2,
            },
        ),
    )  # fmt: skip

    @classmethod
    def infer(
        cls, x: TensorSpec, panels: TensorSpec, *, columns: int, window: tuple[int, ...],
        strides: tuple[int, ...], pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...],
        groups: int = 1,
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return [N, *S, columns]."""
        if panels.rank == 4:
            if DOTS.get(int(panels.dims[3]), ())[:2] != (x.dtype, panels.dtype):  # type: ignore[arg-type]
                raise TypeError(f"groups of {panels.dims[3]} of {x.dtype} by {panels.dtype}")
            x = TensorSpec(DOTS[int(panels.dims[3])][2], x.dims)  # type: ignore[arg-type]
        weight = _weight_spec(x, columns, window, groups)
        return REGISTRY["gv.conv"].infer(
            x, weight, strides=strides, pads=pads, dilations=dilations, groups=groups,
            channels_last=True,
        )  # fmt: skip

    @classmethod
    def evaluate(
        cls, x: Array, panels: Array, *, columns: int, window: tuple[int, ...],
        strides: tuple[int, ...], pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...],
        groups: int = 1,
    ) -> Sequence[Array]:  # fmt: skip
        """Convolve with the unpacked weights."""
        x, panels = ungrouped(x, panels)
        each = panels.reshape(groups, panels.shape[0] // groups, *panels.shape[1:])
        inner = x.shape[-1] // groups
        rank = len(window)
        weights = [
            np.moveaxis(
                unpack(group, columns // groups).reshape(*window, inner, columns // groups),
                (rank + 1, rank),
                (0, 1),
            )
            for group in each
        ]
        return REGISTRY["gv.conv"].evaluate(
            x, np.concatenate(weights), strides=strides, pads=pads, dilations=dilations,
            groups=groups, channels_last=True,
        )  # fmt: skip

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count the rows of a panel for each element of the result."""
        return Work.products(prod(results[0].static_shape) * operands[1].static_shape[1])


@register
class DepthwisePacked(Op):
    """A depthwise convolution of [N, *S, C] with weights [*K, C]; of u8 by i8 in i32."""

    name = "gv.depthwise_packed"
    KERNEL: ClassVar = KernelForm("depthwise", converts=True)
    SAMPLES: ClassVar = (
        Sample(
            ((2, 6, 5, 8), (3, 3, 8)),
            {"strides": (1, 1), "pads": ((1, 1), (1, 1)), "dilations": (1, 1)},
        ),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, w: TensorSpec, *, strides: tuple[int, ...],
        pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...],
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return [N, *S, C]."""
        if summed(x, w) is not x:
            x, w = summed(x, w), TensorSpec(i32, w.dims)
        weight = w.with_shape((w.dims[-1], 1, *w.dims[:-1]))
        return REGISTRY["gv.conv"].infer(
            x, weight, strides=strides, pads=pads, dilations=dilations,
            groups=int(w.dims[-1]), channels_last=True,  # type: ignore[arg-type]
        )  # fmt: skip

    @classmethod
    def evaluate(
        cls, x: Array, w: Array, *, strides: tuple[int, ...],
        pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...],
    ) -> Sequence[Array]:  # fmt: skip
        """Convolve."""
        wide = summed(spec_of_array(x), spec_of_array(w)).dtype
        x, w = (REGISTRY["gv.cast"].evaluate(each, dtype=wide)[0] for each in (x, w))
        return REGISTRY["gv.conv"].evaluate(
            x, np.moveaxis(w, -1, 0)[:, None], strides=strides, pads=pads, dilations=dilations,
            groups=w.shape[-1], channels_last=True,
        )  # fmt: skip

    @classmethod
    def iteration(
        cls, x: TensorSpec, w: TensorSpec, *, strides: tuple[int, ...],
        pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...],
    ) -> Iteration:  # fmt: skip
        """Return the loops over image, place and channel, and inside over the taps."""
        (result,) = cls.infer(x, w, strides=strides, pads=pads, dilations=dilations)
        rank = len(strides)
        channel = dim(rank + 1)
        taps = [dim(rank + 2 + i) for i in range(rank)]
        places = [
            Affine(((1 + i, strides[i]), (rank + 2 + i, dilations[i])), -pads[i][0])
            for i in range(rank)
        ]
        return Iteration(
            parallel=result.dims,
            reduce=w.dims[:-1],
            reads=((dim(0), *places, channel), (*taps, channel)),
            write=tuple(dim(i) for i in range(rank + 2)),
            combiner="add",
            body=lambda math, a, b: math.mul(
                math.cast(a, result.dtype), math.cast(b, result.dtype)
            ),
            guarded=(any(low or high for low, high in pads), False),
        )


def _weight_spec(x: TensorSpec, columns: int, window: tuple[int, ...], groups: int) -> TensorSpec:
    channels = x.dims[-1]
    if not isinstance(channels, int):
        raise TypeError(f"the channels are {channels}, expected a number")
    return x.with_shape((columns, channels // groups, *window))


__all__ = ["ConvPacked", "DepthwisePacked", "MatmulPacked", "pack", "unpack"]
