"""`gravure.nn`: activations, normalisations, convolutions, pooling and losses.

Images are [N, C, *S], or [N, *S, C] with `channels_last`; filters are [O, I / groups, *K].
Padding is `"valid"` (none), `"same"` (a window for each stride), a number, or a pair of numbers
for each spatial axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypedDict, Unpack

from ...ir.compose.maker import Maker
from ...ir.op import REGISTRY
from ...ir.types import dtypes as rows
from ...ir.types.dims import Dim
from ...ir.windows import spatial_axes
from ..eager.kernels import OperandError
from ..eager.remembered import remember_all, remembered
from ..eager.tensor import Tensor, apply, as_tensor, cast, operate, promoted
from ..values.given import Axes, TensorLike
from . import reduction
from .elementwise import clip
from .manipulation import axes_of, axis_of, reshape

MAKE: Maker = Maker(apply)
Padding: TypeAlias = str | int | Sequence[int | Sequence[int]]
"""`valid`, `same`, a number, or a number or a pair of them for each spatial axis."""
Many = int | Sequence[int]


def _activation(name: str) -> Callable[..., Tensor]:
    """Return the function of one tensor that an operation is, with its attributes as keywords."""
    op = REGISTRY[f"gv.{name}"]
    defaults = op.signature().defaults

    def function(x: TensorLike, /, **attributes: object) -> Tensor:
        made: Tensor
        if not attributes:
            made = operate(op, x)
            return made
        given = {k: type(defaults[k])(v) if k in defaults else v for k, v in attributes.items()}
        made = apply(op, *promoted(as_tensor(x)), **given)
        return made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.__doc__
    return remembered(function)


relu, sigmoid, softplus, softsign = map(_activation, ("relu", "sigmoid", "softplus", "softsign"))
gelu, silu, mish, hard_swish = map(_activation, ("gelu", "silu", "mish", "hard_swish"))
elu, selu, celu, leaky_relu = map(_activation, ("elu", "selu", "celu", "leaky_relu"))
hard_sigmoid, thresholded_relu = _activation("hard_sigmoid"), _activation("thresholded_relu")
tanh = _activation("tanh")
swish = silu


def relu6(x: TensorLike, /) -> Tensor:
    """Return min(max(x, 0), 6)."""
    made: Tensor = clip(x, 0, 6)
    return made


def softmax(x: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Return exp(x) over its sum along an axis."""
    x = as_tensor(x)
    made: Tensor = MAKE.softmax(x, axis=axis_of(axis, x.ndim))
    return made


def log_softmax(x: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Return the logarithm of `softmax`."""
    x = as_tensor(x)
    made: Tensor = MAKE.log_softmax(x, axis=axis_of(axis, x.ndim))
    return made


def layer_norm(
    x: TensorLike, scale: TensorLike, bias: TensorLike, /, *, axis: int = -1, epsilon: float = 1e-5
) -> Tensor:
    """Return the axes from `axis` on with mean 0 and variance 1, scaled and shifted."""
    x, scale, bias = promoted(*map(as_tensor, (x, scale, bias)))
    made: Tensor = MAKE.layer_norm(
        x, scale, bias, axis=axis_of(axis, x.ndim), epsilon=float(epsilon)
    )
    return made


def rms_norm(
    x: TensorLike, scale: TensorLike, /, *, axis: int = -1, epsilon: float = 1e-5
) -> Tensor:
    """Return the axes from `axis` on divided by the root of their mean square, scaled."""
    x, scale = promoted(*map(as_tensor, (x, scale)))
    made: Tensor = MAKE.rms_norm(x, scale, axis=axis_of(axis, x.ndim), epsilon=float(epsilon))
    return made


def group_norm(
    x: TensorLike, scale: TensorLike, bias: TensorLike, /, *, groups: int, epsilon: float = 1e-5
) -> Tensor:
    """Return [N, C, *S] with groups of channels of mean 0 and variance 1, scaled and shifted."""
    operands = promoted(*map(as_tensor, (x, scale, bias)))
    made: Tensor = MAKE.group_norm(*operands, groups=groups, epsilon=float(epsilon))
    return made


def batch_norm(  # noqa: PLR0913  (as many as there are)
    x: TensorLike,
    scale: TensorLike,
    bias: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    /,
    *,
    axis: int = 1,
    epsilon: float = 1e-5,
) -> Tensor:
    """Return channels shifted and scaled by statistics that are given."""
    operands = promoted(*map(as_tensor, (x, scale, bias, mean, variance)))
    place = axis_of(axis, operands[0].ndim)
    made: Tensor = MAKE.batch_norm(*operands, axis=place, epsilon=float(epsilon))
    return made


def moments(
    x: TensorLike, /, *, axes: Axes = None, keepdims: bool = False
) -> tuple[Tensor, Tensor]:
    """Return mean and variance."""
    x = as_tensor(x)
    chosen = axes_of(axes, x.ndim)
    return (
        reduction.mean(x, axis=chosen, keepdims=keepdims),
        reduction.var(x, axis=chosen, keepdims=keepdims),
    )


def conv(  # noqa: PLR0913  (as many as there are)
    x: TensorLike,
    filters: TensorLike,
    /,
    *,
    strides: Many = 1,
    padding: Padding = "valid",
    dilations: Many = 1,
    groups: int = 1,
    channels_last: bool = False,
) -> Tensor:
    """Return the image seen through filters that move over it."""
    x, filters = promoted(as_tensor(x), as_tensor(filters))
    rank = filters.ndim - 2
    moved = {"strides": _each(strides, rank), "dilations": _each(dilations, rank)}
    extents = _extents(x, channels_last)
    pads = pads_of(padding, extents, filters.shape[2:], **moved)
    made: Tensor = MAKE.conv(
        x, filters, pads=pads, groups=groups, channels_last=channels_last, **moved
    )
    return made


def conv_transpose(  # noqa: PLR0913  (as many as there are)
    x: TensorLike,
    filters: TensorLike,
    /,
    *,
    strides: Many = 1,
    padding: Padding = "valid",
    dilations: Many = 1,
    groups: int = 1,
    output_padding: Many = 0,
    channels_last: bool = False,
) -> Tensor:
    """Return what `conv` with filters [I, O / groups, *K] would be the gradient of."""
    x, filters = promoted(as_tensor(x), as_tensor(filters))
    rank = filters.ndim - 2
    pads = ((0, 0),) * rank if padding == "valid" else _pairs(padding, rank)
    made: Tensor = MAKE.conv_transpose(
        x,
        filters,
        strides=_each(strides, rank),
        pads=pads,
        dilations=_each(dilations, rank),
        output_pads=_each(output_padding, rank),
        groups=groups,
        channels_last=channels_last,
    )
    return made


class Sliding(TypedDict, total=False):
    """How windows lie on an image."""

    strides: Many
    padding: Padding
    dilations: Many
    channels_last: bool


def max_pool(x: TensorLike, /, window: Many, **options: Unpack[Sliding]) -> Tensor:
    """Return the largest element of each window; options as of `avg_pool`."""
    return _pool("max_pool", x, window, **options)


def avg_pool(
    x: TensorLike, /, window: Many, *, count_padding: bool = False, **options: Unpack[Sliding]
) -> Tensor:
    """Return the mean of each window.

    Options: `strides` (by default the window), `padding`, `dilations`, `channels_last`.
    """
    return _pool("avg_pool", x, window, count_padding=count_padding, **options)


def _pool(  # noqa: PLR0913  (as many as there are)
    name: str,
    x: TensorLike,
    window: Many,
    *,
    strides: Many | None = None,
    padding: Padding = "valid",
    dilations: Many = 1,
    channels_last: bool = False,
    **more: bool,
) -> Tensor:
    x = as_tensor(x)
    rank = x.ndim - 2
    kernel = _each(window, rank)
    moved = {
        "strides": kernel if strides is None else _each(strides, rank),
        "dilations": _each(dilations, rank),
    }
    pads = pads_of(padding, _extents(x, channels_last), kernel, **moved)
    made: Tensor = apply(
        REGISTRY[f"gv.{name}"],
        x,
        window=kernel,
        pads=pads,
        channels_last=channels_last,
        **moved,
        **more,
    )
    return made


def _each(value: Many, rank: int) -> tuple[int, ...]:
    """Return one number for each spatial axis."""
    made = (int(value),) * rank if isinstance(value, int) else tuple(map(int, value))
    if len(made) != rank:
        raise OperandError(f"{value}, expected one number or {rank}")
    return made


def _extents(x: Tensor, channels_last: bool) -> list[Dim]:
    return [x.shape[axis] for axis in spatial_axes(x.ndim, channels_last=channels_last)]


def _pairs(padding: Padding, rank: int) -> tuple[tuple[int, int], ...]:
    if isinstance(padding, int):
        return ((padding, padding),) * rank
    return tuple(
        (int(p), int(p)) if isinstance(p, int) else (int(p[0]), int(p[1])) for p in padding
    )


def pads_of(
    padding: Padding,
    extents: Sequence[Dim],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> tuple[tuple[int, int], ...]:
    """Return the pads of each spatial axis that a padding means.

    >>> pads_of("same", [5, 6], [3, 3], [2, 2], [1, 1])
    ((1, 1), (0, 1))
    """
    if not isinstance(padding, str):
        return _pairs(padding, len(kernel))
    if padding.lower() not in ("valid", "same"):
        raise OperandError(f"padding {padding!r}, expected 'valid', 'same' or numbers")
    if padding.lower() == "valid":
        return ((0, 0),) * len(kernel)
    pads = []
    for extent, size, step, spread in zip(extents, kernel, strides, dilations, strict=True):
        span = (size - 1) * spread + 1
        if isinstance(extent, int):
            total = max((-(-extent // step) - 1) * step + span - extent, 0)
        elif step == 1:
            total = span - 1
        else:
            raise OperandError(f"padding 'same' of {extent} elements by {step}, expected a number")
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def cross_entropy(logits: TensorLike, labels: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Return -sum(labels * log_softmax(logits)) along an axis; labels are probabilities."""
    shares = log_softmax(logits, axis=axis)
    weighted = as_tensor(labels, shares.row) * shares
    made: Tensor = MAKE.neg(reduction.sum(weighted, axis=axis))
    return made


def sparse_cross_entropy(logits: TensorLike, labels: TensorLike, /) -> Tensor:
    """Return -log_softmax(logits)[label] along the last axis; labels are integers."""
    shares, at = log_softmax(logits), as_tensor(labels)
    chosen = MAKE.gather_elements(
        shares, cast(reshape(at, (*at.shape, 1)), rows.i64), axis=shares.ndim - 1
    )
    made: Tensor = MAKE.neg(reshape(chosen, at.shape))
    return made


def binary_cross_entropy(logits: TensorLike, labels: TensorLike, /) -> Tensor:
    """Return the cross entropy of labels from 0 to 1 and sigmoid(logits), without overflow."""
    x, z = promoted(as_tensor(logits), labels)
    far = MAKE.log1p(MAKE.exp(MAKE.neg(MAKE.abs(x))))
    made: Tensor = relu(x) - MAKE.mul(x, z) + far
    return made


remember_all(globals())
