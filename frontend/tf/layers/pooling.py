"""Pools of the first version's layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, SupportsInt, Unpack

from ..core.bridge import TfTensor
from ..ops import window_ops as _w
from .base import InputSpec, Layer, LayerOptions
from .convolution import FORMS, tuple_of


class Pooling(Layer):
    """Combines the elements of windows."""

    axes: ClassVar[int] = 0
    kind: ClassVar[str] = "max"

    def __init__(
        self,
        pool_size: int | Iterable[SupportsInt],
        strides: int | Iterable[SupportsInt] | None,
        padding: str = "valid",
        data_format: str = "channels_last",
        **more: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**more)
        self.pool_size = tuple_of(pool_size, self.axes)
        self.strides = tuple_of(pool_size if strides is None else strides, self.axes)
        self.padding, self.data_format = padding.upper(), data_format
        self.input_spec = InputSpec(ndim=self.axes + 2)

    def call(self, inputs: TfTensor) -> TfTensor:
        """Combine."""
        function: Callable[..., TfTensor] = getattr(_w, f"{self.kind}_pool{self.axes}d")
        form = FORMS[self.axes][self.data_format != "channels_last"]
        return function(inputs, self.pool_size, self.strides, self.padding, form)


def _pooling(name: str, axes: int, kind: str) -> type[Pooling]:
    """Return the class of a pool over so many axes."""
    words = {"max": "The greatest", "avg": "The mean"}
    known = {"axes": axes, "kind": kind, "__doc__": f"{words[kind]} of windows of {axes} axes."}
    label = f"{'max' if kind == 'max' else 'average'}_pooling{axes}d"
    return type(name, (Pooling,), {**known, "named": label})


MaxPooling1D = _pooling("MaxPooling1D", 1, "max")
MaxPooling2D = _pooling("MaxPooling2D", 2, "max")
MaxPooling3D = _pooling("MaxPooling3D", 3, "max")
AveragePooling1D = _pooling("AveragePooling1D", 1, "avg")
AveragePooling2D = _pooling("AveragePooling2D", 2, "avg")
AveragePooling3D = _pooling("AveragePooling3D", 3, "avg")
