"""Convolutions of the first version's layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, SupportsInt, Unpack

from ..core.bridge import TfTensor
from ..core.shapes import ShapeLike
from ..graph.state import Variable
from ..ops import array_ops as _a
from ..ops import window_ops as _w
from ..ops.nn_ops import bias_add
from ..variables.scopes import First, Penalty
from .base import ZEROS, Activation, InputSpec, Layer, LayerOptions, activated, extent, settled

FORMS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}
FUNCTIONS: dict[int, Callable[..., TfTensor]] = {1: _w.conv1d, 2: _w.conv2d, 3: _w.conv3d}


def tuple_of(value: int | Iterable[SupportsInt], count: int) -> tuple[int, ...]:
    """Return a number for each axis."""
    return (int(value),) * count if isinstance(value, int) else tuple(int(v) for v in value)


class Convolution(Layer):
    """Slides filters over images of some axes."""

    axes: ClassVar[int] = 0

    def __init__(
        self,
        filters: int,
        kernel_size: int | Iterable[SupportsInt],
        strides: int | Iterable[SupportsInt] = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: int | Iterable[SupportsInt] = 1,
        activation: Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: First = None,
        bias_initializer: First = ZEROS,
        kernel_regularizer: Penalty | None = None,
        bias_regularizer: Penalty | None = None,
        activity_regularizer: Penalty | None = None,
        kernel_constraint: object = None,
        bias_constraint: object = None,
        **more: Unpack[LayerOptions],
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **more)
        count = self.axes
        self.filters, self.activation, self.use_bias = int(filters), activation, use_bias
        self.kernel_size, self.strides = tuple_of(kernel_size, count), tuple_of(strides, count)
        self.padding, self.data_format = padding.upper(), data_format
        self.dilation_rate = tuple_of(dilation_rate, count)
        self._kernel = (kernel_initializer, kernel_regularizer, kernel_constraint)
        self._bias = (bias_initializer, bias_regularizer, bias_constraint)
        self.kernel: Variable | None = None
        self.bias: Variable | None = None
        self.input_spec = InputSpec(ndim=count + 2)

    @property
    def last(self) -> bool:
        """Say whether the channels come last."""
        return self.data_format == "channels_last"

    @property
    def form(self) -> str:
        """Return the order of axes as operations name it."""
        return FORMS[self.axes][not self.last]

    def channels(self, input_shape: ShapeLike) -> int:
        """Return how many channels an image has."""
        return extent(input_shape, -1 if self.last else 1, self)

    def kernel_shape(self, channels: int) -> list[int]:
        """Return the shape of the filters."""
        return [*self.kernel_size, channels, self.filters]

    def build(self, input_shape: ShapeLike) -> None:
        """Make filters and bias."""
        first, penalty, limit = self._kernel
        shape = self.kernel_shape(self.channels(input_shape))
        self.kernel = self.add_weight("kernel", shape, None, first, penalty, True, limit)
        self.build_bias()

    def build_bias(self) -> None:
        """Make the bias."""
        if self.use_bias:
            first, penalty, limit = self._bias
            self.bias = self.add_weight("bias", [self.filters], None, first, penalty, True, limit)

    def slid(self, inputs: TfTensor) -> TfTensor:
        """Slide the filters."""
        steps = self.strides[0] if self.axes == 1 else self.strides
        apart = self.dilation_rate[0] if self.axes == 1 else self.dilation_rate
        return FUNCTIONS[self.axes](inputs, self.kernel, steps, self.padding, self.form, apart)

    def call(self, inputs: TfTensor) -> TfTensor:
        """Slide, and add the bias."""
        made = self.slid(inputs)
        if self.bias is not None:
            made = bias_add(made, self.bias, data_format=self.form)
        return activated(self.activation, made)


class Conv1D(Convolution):
    """Over sequences."""

    named, axes = "conv1d", 1


class Conv2D(Convolution):
    """Over images."""

    named, axes = "conv2d", 2


class Conv3D(Convolution):
    """Over volumes."""

    named, axes = "conv3d", 3


class Transposed(Convolution):
    """The gradient of a convolution: images become larger."""

    def kernel_shape(self, channels: int) -> list[int]:
        """Return the shape of the filters."""
        return [*self.kernel_size, self.filters, channels]

    def slid(self, inputs: TfTensor) -> TfTensor:
        """Spread the filters."""
        x = inputs if self.last else _a.transpose(inputs, [0, *range(2, self.axes + 2), 1])
        dims = x.shape.as_list()
        sizes = [
            self._length(d if d is not None else _a.shape(x)[i + 1], i)
            for i, d in enumerate(dims[1:-1])
        ]
        batch = dims[0] if dims[0] is not None else _a.shape(x)[0]
        function = _w.conv2d_transpose if self.axes == 2 else _w.conv3d_transpose
        made = function(x, self.kernel, [batch, *sizes, self.filters], self.strides, self.padding)
        known = [s if isinstance(s, int) else None for s in sizes]
        settled(made, [dims[0], *known, self.filters])
        return (
            made if self.last else _a.transpose(made, [0, self.axes + 1, *range(1, self.axes + 1)])
        )

    def _length(self, size: int | TfTensor, axis: int) -> int | TfTensor:
        step, window = self.strides[axis], self.kernel_size[axis]
        return size * step + (max(window - step, 0) if self.padding == "VALID" else 0)


class Conv2DTranspose(Transposed):
    """Over images."""

    named, axes = "conv2d_transpose", 2


class Conv3DTranspose(Transposed):
    """Over volumes."""

    named, axes = "conv3d_transpose", 3


class SeparableConv2D(Convolution):
    """Filters over each channel, then a combination of the channels."""

    named, axes = "separable_conv2d", 2

    def __init__(
        self,
        filters: int,
        kernel_size: int | Iterable[SupportsInt],
        strides: int | Iterable[SupportsInt] = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: int | Iterable[SupportsInt] = 1,
        depth_multiplier: int = 1,
        activation: Activation | None = None,
        use_bias: bool = True,
        depthwise_initializer: First = None,
        pointwise_initializer: First = None,
        bias_initializer: First = ZEROS,
        depthwise_regularizer: Penalty | None = None,
        pointwise_regularizer: Penalty | None = None,
        bias_regularizer: Penalty | None = None,
        activity_regularizer: Penalty | None = None,
        depthwise_constraint: object = None,
        pointwise_constraint: object = None,
        bias_constraint: object = None,
        **more: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation,
            use_bias, bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, **more,
        )  # fmt: skip
        self.times = depth_multiplier
        self._deep = (depthwise_initializer, depthwise_regularizer, depthwise_constraint)
        self._point = (pointwise_initializer, pointwise_regularizer, pointwise_constraint)
        self.depthwise_kernel: Variable | None = None
        self.pointwise_kernel: Variable | None = None

    def build(self, input_shape: ShapeLike) -> None:
        """Make both filters and the bias."""
        channels = self.channels(input_shape)
        shapes: Sequence[tuple[str, Any, list[int]]] = (
            ("depthwise_kernel", self._deep, [*self.kernel_size, channels, self.times]),
            ("pointwise_kernel", self._point, [1, 1, channels * self.times, self.filters]),
        )
        for name, (first, penalty, limit), shape in shapes:
            setattr(self, name, self.add_weight(name, shape, None, first, penalty, True, limit))
        self.build_bias()

    def slid(self, inputs: TfTensor) -> TfTensor:
        """Slide over each channel, then combine."""
        given = (self.depthwise_kernel, self.pointwise_kernel, self.strides, self.padding)
        return _w.separable_conv2d(inputs, *given, self.form, self.dilation_rate)
