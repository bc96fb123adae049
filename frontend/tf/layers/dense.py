"""`dense`, `dropout`, `flatten` and `batch_normalization` of the first version."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Unpack

from ..core.bridge import TfTensor, row_of
from ..core.shapes import ShapeLike
from ..core.values import convert, static
from ..graph.flow import cond
from ..graph.state import Variable, group
from ..ops import array_ops as _a
from ..ops import math_ops as _m
from ..ops import window_ops as _w
from ..ops.initial_values import Ones
from ..ops.nn_ops import bias_add, dropout, moments
from ..variables.scopes import First, Penalty
from .base import ZEROS, Activation, InputSpec, Layer, LayerOptions, activated, extent, settled

ONES = Ones()


class Dense(Layer):
    """A matrix and a bias for the last axis."""

    def __init__(
        self,
        units: int,
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
        self.units, self.activation, self.use_bias = int(units), activation, use_bias
        self._kernel = (kernel_initializer, kernel_regularizer, kernel_constraint)
        self._bias = (bias_initializer, bias_regularizer, bias_constraint)
        self.kernel: Variable | None = None
        self.bias: Variable | None = None
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        shape = [extent(input_shape, -1, self), self.units]
        first, penalty, limit = self._kernel
        self.kernel = self.add_weight(
            "kernel", shape, None, first, penalty, constraint=limit, trainable=True
        )
        if self.use_bias:
            first, penalty, limit = self._bias
            self.bias = self.add_weight("bias", [self.units], None, first, penalty, True, limit)

    def call(self, inputs: TfTensor) -> TfTensor:
        """Multiply and add."""
        rank = inputs.shape.rank
        if rank in (None, 2):
            made = _m.matmul(inputs, self.kernel)
        else:
            made = _w.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            settled(made, [*inputs.shape.as_list()[:-1], self.units])
        return activated(self.activation, made if self.bias is None else bias_add(made, self.bias))


class Dropout(Layer):
    """Sets elements to 0 by chance in training, and scales the others up."""

    def __init__(
        self,
        rate: float | TfTensor = 0.5,
        noise_shape: ShapeLike = None,
        seed: int | None = None,
        **more: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**more)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: TfTensor, training: bool | TfTensor = False) -> TfTensor:
        """Drop in training; `training` may be a tensor."""

        def dropped() -> TfTensor:
            return dropout(inputs, self.rate, self.noise_shape, self.seed)

        known = static(training)
        if isinstance(known, bool | int):
            return dropped() if known else _m.identity(inputs)
        made: TfTensor = cond(training, dropped, lambda: _m.identity(inputs))
        return settled(made, inputs.shape)


class Flatten(Layer):
    """All axes but the first as one."""

    def __init__(self, data_format: str = "channels_last", **more: Unpack[LayerOptions]) -> None:
        super().__init__(**more)
        self.data_format = data_format
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: TfTensor) -> TfTensor:
        """Give it another shape."""
        dims, x = inputs.shape.as_list(), inputs
        if self.data_format == "channels_first" and len(dims) > 2:
            x = _a.transpose(x, [0, *range(2, len(dims)), 1])
        if None not in dims[1:]:
            return _a.reshape(x, [-1 if dims[0] is None else dims[0], prod(dims[1:])])
        return settled(_a.reshape(x, [_a.shape(x)[0], -1]), [dims[0], None])


class BatchNormalization(Layer):
    """Centres and scales by the moments of the batch in training, by their averages otherwise."""

    named = "batch_normalization"

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        momentum: object = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: First = ZEROS,
        gamma_initializer: First = ONES,
        moving_mean_initializer: First = ZEROS,
        moving_variance_initializer: First = ONES,
        beta_regularizer: Penalty | None = None,
        gamma_regularizer: Penalty | None = None,
        beta_constraint: object = None,
        gamma_constraint: object = None,
        renorm: bool = False,
        renorm_clipping: object = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        virtual_batch_size: int | None = None,
        adjustment: object = None,
        **more: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**more)
        if renorm or renorm_clipping is not None or virtual_batch_size or adjustment is not None:
            raise NotImplementedError(
                "batch_normalization: renorm, virtual_batch_size and adjustment are not supported"
            )
        at = axis[0] if isinstance(axis, list | tuple) and len(axis) == 1 else axis
        if not isinstance(at, int):
            raise NotImplementedError(f"batch_normalization: axis {axis!r}, expected one number")
        self.axis = at
        self.momentum, self.epsilon, self.fused = momentum, epsilon, fused
        self._gamma = (gamma_initializer, gamma_regularizer, gamma_constraint) if scale else None
        self._beta = (beta_initializer, beta_regularizer, beta_constraint) if center else None
        self._moving = (moving_mean_initializer, moving_variance_initializer)
        self.gamma: Variable | None = None
        self.beta: Variable | None = None
        self.moving_mean: Variable | None = None
        self.moving_variance: Variable | None = None

    def _kind(self) -> str | None:
        """Return the type of the variables: averages of halves need more digits than these."""
        row = row_of(self.dtype)
        return "float32" if row is not None and row.size < 4 else None

    def build(self, input_shape: ShapeLike) -> None:
        """Make scale and offset, and the averages."""
        shape, kind = [extent(input_shape, self.axis, self)], self._kind()
        if self._gamma is not None:
            first, penalty, limit = self._gamma
            self.gamma = self.add_weight("gamma", shape, kind, first, penalty, True, limit)
        if self._beta is not None:
            first, penalty, limit = self._beta
            self.beta = self.add_weight("beta", shape, kind, first, penalty, True, limit)
        centre, spread = self._moving
        self.moving_mean = self.add_weight("moving_mean", shape, kind, centre, trainable=False)
        self.moving_variance = self.add_weight(
            "moving_variance", shape, kind, spread, trainable=False
        )

    def call(self, inputs: TfTensor, training: bool | TfTensor = False) -> TfTensor:
        """Normalise; `training` may be a tensor."""
        known = static(training)
        if isinstance(known, bool | int):
            return self._trained(inputs) if known else self._applied(inputs)
        kept = (self.moving_mean, self.moving_variance) * 2
        found = cond(
            training, lambda: self._moments(inputs), lambda: [_m.identity(x) for x in kept]
        )
        mean, variance, new_mean, new_variance = found
        self._move(new_mean, new_variance)
        return self._normalised(inputs, mean, variance)

    def _axes(self, x: TfTensor) -> tuple[list[int], int]:
        rank = len(x.shape)
        at = self.axis % rank
        return [i for i in range(rank) if i != at], at

    def _moments(self, x: TfTensor) -> list[TfTensor]:
        """Return the moments to normalise by, and what the averages go towards."""
        axes, at = self._axes(x)
        mean, variance = moments(x, axes)
        return [mean, variance, *self._targets(x, axes, at, mean, variance)]

    def _targets(
        self, x: TfTensor, axes: Sequence[int], at: int, mean: TfTensor, variance: TfTensor
    ) -> list[TfTensor]:
        moved = variance
        if x.shape.rank == 4 and at in (1, 3) and self.fused is not False:
            sizes = _a.shape(x)
            count = _m.cast(
                _m.REDUCTIONS["reduce_prod"](_a.stack([sizes[i] for i in axes])), x.dtype
            )
            moved = variance * (count / (count - 1.0))  # the variance of what was drawn from
        keep = _m.cast(self.momentum, x.dtype)
        old_mean, old_variance = _m.identity(self.moving_mean), _m.identity(self.moving_variance)
        return [
            old_mean - (old_mean - mean) * (1.0 - keep),
            old_variance - (old_variance - moved) * (1.0 - keep),
        ]

    def _trained(self, x: TfTensor) -> TfTensor:
        mean, variance, new_mean, new_variance = self._moments(x)
        self._move(new_mean, new_variance)
        return self._normalised(x, mean, variance)

    def _applied(self, x: TfTensor) -> TfTensor:
        return self._normalised(x, self.moving_mean, self.moving_variance)

    def _move(self, mean: object, variance: object) -> None:
        """Let the averages move with each step of training."""
        assert self.moving_mean is not None, "the layer was built"
        assert self.moving_variance is not None, "the layer was built"
        made = [self.moving_mean.assign(mean), self.moving_variance.assign(variance)]
        if group(*made) is not None:
            self.add_update([m.op if hasattr(m, "op") else m for m in made])

    def _normalised(self, x: TfTensor, mean: object, variance: object) -> TfTensor:
        _, at = self._axes(x)
        shape = [1] * len(x.shape)
        shape[at] = -1
        parts: list[object] = [mean, variance, self.beta, self.gamma]
        if at != len(x.shape) - 1:
            parts = [None if p is None else _a.reshape(p, shape) for p in parts]
        centre, spread, offset, scale = parts
        made = _w.batch_normalization(
            x,
            convert(centre),
            spread,
            None if offset is None else convert(offset),
            scale,
            self.epsilon,
        )
        return settled(made, x.shape)
