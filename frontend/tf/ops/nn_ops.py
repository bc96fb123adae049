"""Neural-network operations, linear algebra and clipping by TensorFlow's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ....ir.compose import functions as c
from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dims import product
from ...eager.kernels import MANY
from ...eager.remembered import remember_all
from ...eager.tensor import Tensor, computed
from ...graph.graph import Graph, GraphTensor
from ...values.context import STATE
from ...values.diagonals import band, is_narrow
from ...values.run_errors import UnimplementedError
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor
from ..core.calls import op, perform, rule
from ..core.required import require_within
from ..core.shapes import TensorShape
from ..core.values import InGraph, at_once, axis_in, convert, graph_of, same, static
from .creation import zeros_like
from .indexed_slices import IndexedSlices, of_slices


def _unary(type_: str, gv: str, **attributes: object) -> Callable[..., TfTensor]:
    @op(type_, "features", strict=False)
    def function(m: Maker, features: object) -> object:
        """Apply the activation to each element."""
        return getattr(m, gv)(features, **attributes)

    return function


relu, elu = _unary("Relu", "relu"), _unary("Elu", "elu")


@op("Swish", "features", strict=False)
def _swish(m: Maker, features: object, beta: float = 1.0) -> object:
    if beta == 1.0:
        return m.silu(features)
    scaled = m.mul(features, m.number(beta, spec_of_value(features).dtype))
    return m.mul(features, m.sigmoid(scaled))


def swish(features: object, beta: object = 1.0, name: str | None = None) -> TfTensor:
    """Multiply by the logistic function of beta times the element; beta may be a tensor."""
    with InGraph(graph_of([features, beta])):
        x = convert(features)
        if isinstance(beta, int | float):
            return _swish(x, float(beta), name=name)
        from .math_ops import FUNCTIONS  # noqa: PLC0415

        logistic = FUNCTIONS["sigmoid"](FUNCTIONS["multiply"](convert(beta, x.dtype), x))
        return FUNCTIONS["multiply"](x, logistic, name=name)


@op("CRelu", "features", strict=False)
def crelu(m: Maker, features: object, axis: int = -1) -> object:
    """Join what is positive and what is negative."""
    both = m.relu(features), m.relu(m.neg(features))
    return m.concat(*both, axis=axis_in(axis, spec_of_value(features).rank))


@op("Selu", "features", strict=False)
def selu(m: Maker, features: object) -> object:
    """Scaled exponential unit."""
    return m.selu(features)


@op("Relu6", "features", strict=False)
def relu6(m: Maker, features: object) -> object:
    """Clip to 0 and 6."""
    row = spec_of_value(features).dtype
    six = m.number(6, row)
    return m.relu(m.select(m.greater_equal(features, six), six, features))  # flat at the ends


@op("LeakyRelu", "features", strict=False)
def leaky_relu(m: Maker, features: object, alpha: float = 0.2) -> object:
    """Keep a part of what is negative."""
    if spec_of_value(features).dtype.kind in "iu":
        features = m.to(features, rows.f32)
    return m.leaky_relu(features, alpha=float(alpha))


@op("Gelu", "features", strict=False)
def gelu(m: Maker, features: object, approximate: bool = False) -> object:
    """Gaussian error linear unit."""
    return m.gelu(features, approximate="tanh" if approximate else "none")


@op("Softmax", "logits", strict=False, shapes=shapes_of.like())
def softmax(m: Maker, logits: object, axis: int = -1) -> object:
    """Exponentials that sum to one."""
    return m.softmax(logits, axis=axis_in(axis, spec_of_value(logits).rank))


@op("LogSoftmax", "logits", strict=False, shapes=shapes_of.like())
def log_softmax(m: Maker, logits: object, axis: int = -1) -> object:
    """Return the logarithm of softmax."""
    return m.log_softmax(logits, axis=axis_in(axis, spec_of_value(logits).rank))


@op(
    "SoftmaxCrossEntropyWithLogits",
    *("labels", "logits"),
    strict=False,
    shapes=shapes_of.rows_of(),
)
def softmax_cross_entropy_with_logits(
    m: Maker, labels: object, logits: object, axis: int = -1
) -> object:
    """Return the cross entropy of labels and softmax.

    TensorFlow's gradient is that of labels that add up to one, softmax less labels, also where
    they do not: what they lack is taken of the total less itself. That of labels, the logarithms
    of softmax, has a gradient of its own.
    """
    if spec_of_value(labels).dtype != spec_of_value(logits).dtype:
        labels = m.to(labels, spec_of_value(logits).dtype)
    axis, dims = axis_in(axis, spec_of_value(logits).rank), spec_of_value(logits).dims
    others = spec_of_value(labels).dims
    if len(others) == len(dims):
        return _entropy(m, labels, logits, (axis,))
    if axis != len(dims) - 1 or not others:
        raise ValueError(f"Shapes must be equal rank, but are {sorted({len(dims), len(others)})}")
    # What are rows of classes in one of them is so in the other one.
    labels = m.reshape(labels, shape=(product(others[:-1]), others[-1]))
    logits = m.reshape(logits, shape=(product(dims[:-1]), dims[-1]))
    return m.reshape(_entropy(m, labels, logits, (1,)), shape=dims[:-1])


def _entropy(m: Maker, labels: object, logits: object, axes: tuple[int]) -> object:
    """Return the cross entropy of labels of the rank of logits."""
    if spec_of_value(logits).dims[axes[0]] == 0:
        return m.sum(m.mul(labels, logits), axes=axes)  # (what has no elements has no largest)
    above = m.sub(logits, m.stop_gradient(m.max(logits, axes=axes, keepdims=True)))
    total = m.log(m.sum(m.exp(above), axes=axes, keepdims=True))
    nothing = m.sub(total, m.stop_gradient(total))
    given = m.stop_gradient(m.sum(labels, axes=axes, keepdims=True))
    missing = m.sub(m.number(1.0, spec_of_value(total).dtype), given)
    parts = m.sum(m.mul(labels, m.sub(above, total)), axes=axes, keepdims=True)
    return c.squeeze(m.emit, m.sub(m.mul(missing, nothing), parts), axes)


@op(
    "SparseSoftmaxCrossEntropyWithLogits",
    *("labels", "logits"),
    strict=False,
    refuses=True,
    shapes=shapes_of.rows_of(1),
)
def sparse_softmax_cross_entropy_with_logits(m: Maker, labels: object, logits: object) -> object:
    """Return the cross entropy of numbered classes and softmax."""
    at = spec_of_value(logits).rank - 1
    if at < 0:
        raise ValueError("`logits` cannot be a scalar")
    if spec_of_value(labels).rank != at:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape="
            f"{spec_of_value(labels).dims} of rank {spec_of_value(labels).rank} and logits.shape="
            f"{spec_of_value(logits).dims} of rank {at + 1}"
        )
    if spec_of_value(labels).dtype.kind not in "iu":
        raise TypeError("Value for attr 'Tlabels' is not in the list of allowed values: integers")
    require_within(m, labels, spec_of_value(logits).dims[at], "labels")
    logs = m.log_softmax(logits, axis=at)
    column = c.unsqueeze(m.emit, m.to(labels, rows.i64), (at,))
    return m.neg(c.squeeze(m.emit, m.gather_elements(logs, column, axis=at), (at,)))


@op("SigmoidCrossEntropyWithLogits", "labels", "logits", shapes=shapes_of.alike)
def sigmoid_cross_entropy_with_logits(m: Maker, labels: object, logits: object) -> object:
    """Return the cross entropy of labels and sigmoid."""
    dims = spec_of_value(logits).shape
    known = (*(dims or ()), *(spec_of_value(labels).shape or ()))
    if all(isinstance(d, int) for d in known) and dims != spec_of_value(labels).shape:
        raise TypeError(
            f"`logits` and `labels` must have the same shape, received ({dims} vs "
            f"{spec_of_value(labels).shape})"
        )
    return m.sub(m.softplus(logits), m.mul(logits, labels))


@op("BiasAdd", "value", "bias", shapes=shapes_of.like())
def bias_add(m: Maker, value: object, bias: object, data_format: str | None = None) -> object:
    """Add a vector along the channels."""
    spec, count = spec_of_value(value), spec_of_value(bias).dims
    first = data_format is not None and data_format.startswith("NC")
    extent = spec.dims[1 if first else -1]
    if isinstance(extent, int) and isinstance(count[0], int) and extent != count[0]:
        raise TypeError(f"Dimensions must be equal, but are {extent} and {count[0]}")
    if first:
        bias = m.reshape(bias, shape=(*count, *[1] * (spec.rank - 2)))
    return m.add(value, bias)


@op("L2Loss", "t", strict=False, shapes=shapes_of.ranked(0))
def l2_loss(m: Maker, t: object) -> object:
    """Half of the sum of squares."""
    spec = spec_of_value(t)
    total = m.sum(m.mul(t, t), axes=tuple(range(spec.rank)))
    return m.mul(total, m.number(0.5, spec.dtype))


@of_slices
@op("ClipByValue", "t", "clip_value_min", "clip_value_max", shapes=shapes_of.like())
def clip_by_value(m: Maker, t: object, clip_value_min: object, clip_value_max: object) -> object:
    """Limit the elements."""
    made = m.minimum(m.maximum(t, clip_value_min), clip_value_max)
    _keep_shape(t, made)
    return made


def _keep_shape(t: object, made: object) -> None:
    """Raise if limits have made a tensor larger."""
    before, after = spec_of_value(t).dims, spec_of_value(made).dims
    known = all(isinstance(d, int) for d in (*before, *after))
    if known and tuple(before) != tuple(after):
        raise TypeError(f"Shapes {list(before)} and {list(after)} are incompatible")


@of_slices
@op("ClipByNorm", "t", "clip_norm", shapes=shapes_of.like())
def clip_by_norm(m: Maker, t: object, clip_norm: object, axes: object = None) -> object:
    """Scale down to a norm."""
    spec = spec_of_value(t)
    along = tuple(range(spec.rank))
    if axes is not None:
        along = tuple(axis_in(a, spec.rank) for a in np.ravel(static(axes)).tolist())
    square = m.sum(m.mul(t, t), axes=along, keepdims=True) if along else m.mul(t, t)
    some = m.greater(square, m.number(0, spec.dtype))
    root = m.sqrt(m.select(some, square, m.number(1, spec.dtype)))  # its slope at 0 is infinite
    norm = m.select(some, root, square)
    made = m.div(m.mul(t, clip_norm), m.maximum(norm, clip_norm))
    _keep_shape(t, made)
    return made


@rule("GlobalNorm", label="global_norm", shapes=shapes_of.ranked(0))
def _global_norm(m: Maker, *xs: object) -> object:
    total = None
    for x in xs:
        part = m.sum(m.mul(x, x), axes=tuple(range(spec_of_value(x).rank)))
        total = part if total is None else m.add(total, part)
    return m.sqrt(total)


def global_norm(t_list: Iterable[object], name: str | None = None) -> TfTensor:
    """Return the norm of several tensors together; rows that slices give twice count twice."""
    given = [t.values if isinstance(t, IndexedSlices) else t for t in t_list if t is not None]
    return perform("GlobalNorm", [convert(t) for t in given], name=name)


def clip_by_global_norm(
    t_list: object, clip_norm: object, use_norm: object = None, name: str | None = None
) -> tuple[list[TfTensor | IndexedSlices | None], object]:
    """Scale several tensors down together."""
    if not isinstance(t_list, Sequence):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    norm = global_norm(t_list) if use_norm is None else convert(use_norm)
    scale = clip_norm / _maximum(norm, clip_norm)
    scale = scale + (norm - norm)  # a norm that is not finite leaves no number
    return [None if t is None else _scaled(t, scale) for t in t_list], norm


def _scaled(value: object, scale: TfTensor) -> TfTensor | IndexedSlices:
    """Return a tensor times a factor; slices stay slices, at the same places."""
    if isinstance(value, IndexedSlices):
        return value.with_values(convert(value.values) * scale)
    return convert(value) * scale


def _maximum(a: object, b: object) -> TfTensor:
    from .math_ops import FUNCTIONS  # noqa: PLC0415

    return FUNCTIONS["maximum"](a, b)


def moments(
    x: object,
    axes: object,
    shift: object = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[TfTensor, TfTensor]:
    """Mean and variance; `shift` is of no use any more, as in TensorFlow.

    In a graph they are called as there: moving averages of them are saved under these names.
    """
    del shift
    from .math_ops import reduce_mean, reduce_variance  # noqa: PLC0415

    with InGraph(graph_of([x])):
        graph = STATE.context
        if not isinstance(graph, Graph):
            return reduce_mean(x, axes, keepdims), reduce_variance(x, axes, keepdims)
        labels = ("mean", "variance") if keepdims else ("Squeeze", "Squeeze")
        with graph.name_scope(name or "moments"):
            mean = reduce_mean(x, axes, keepdims, name=labels[0])
            return mean, reduce_variance(x, axes, keepdims, name=labels[1])


def _shared(total: TfTensor, count: TfTensor) -> TfTensor:
    """Divide; 0 where nothing counts."""
    return perform("DivNoNan", [total, count])


def weighted_moments(
    x: object,
    axes: object,
    frequency_weights: object,
    keepdims: bool = False,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> tuple[TfTensor, TfTensor]:
    """Mean and variance of elements that count as often as their weights say."""
    from .math_ops import REDUCTIONS  # noqa: PLC0415

    total, keep = REDUCTIONS["reduce_sum"], keepdims if keep_dims is None else keep_dims
    with InGraph(graph_of([x, frequency_weights])):
        value = convert(x)
        weights = convert(frequency_weights, value.dtype) + zeros_like(value)
        count = total(weights, axis=axes, keepdims=True)
        mean = _shared(total(weights * value, axis=axes, keepdims=True), count)
        away = value - mean
        variance = _shared(total(weights * away * away, axis=axes, keepdims=True), count)
        if keep:
            return mean, variance
        return total(mean, axis=axes), total(variance, axis=axes)


def sufficient_statistics(
    x: object,
    axes: object,
    shift: object = None,
    keepdims: bool = False,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> tuple[TfTensor, TfTensor, TfTensor, TfTensor | None]:
    """Return how many elements there are, their sum and that of squares, less a shift."""
    from .math_ops import REDUCTIONS  # noqa: PLC0415

    total, keep = REDUCTIONS["reduce_sum"], keepdims if keep_dims is None else keep_dims
    with InGraph(graph_of([x, shift])):
        value = convert(x)
        count = total(value * 0.0 + 1.0, axis=axes)
        one = total(count * 0.0, axis=None) + REDUCTIONS["reduce_max"](count)
        away = value if shift is None else value - convert(shift, value.dtype)
        sums = total(away, axis=axes, keepdims=keep)
        squares = total(away * away, axis=axes, keepdims=keep)
        return one, sums, squares, None if shift is None else convert(shift, value.dtype)


def normalize_moments(
    counts: object,
    mean_ss: object,
    variance_ss: object,
    shift: object,
    name: str | None = None,
) -> tuple[TfTensor, TfTensor]:
    """Mean and variance of sums and of sums of squares, less a shift."""
    with InGraph(graph_of([counts, mean_ss, variance_ss, shift])):
        share = 1.0 / convert(counts)
        away = convert(mean_ss) * share
        mean = away if shift is None else away + convert(shift)
        return mean, convert(variance_ss) * share - away * away


@op(
    "ZeroFraction",
    "value",
    strict=False,
    differentiable=False,
    shapes=shapes_of.ranked(0, rows.f32),
)
def zero_fraction(m: Maker, value: object) -> object:
    """Return how much of a tensor is 0."""
    spec = spec_of_value(value)
    hits = m.cast(m.equal(value, m.number(0, spec.dtype)), dtype=rows.f32)
    return m.mean(hits, axes=tuple(range(spec.rank)))


SOME = 1 << 10
"""So many elements take numpy longer in steps; from `MANY` on, those are compiled."""


@op("BandPart", "input", strict=False)
def _band_part(m: Maker, input: object, lower: int, upper: int) -> object:
    if isinstance(input, Tensor) and computed(input):
        dims = spec_of_value(input).static_shape
        size = prod(dims)
        if size >= SOME and (size < MANY or is_narrow(lower, upper, dims[-1])):
            return at_once(partial(band, lower, upper), input)
    kept = c.triangle(m.emit, input, -lower, upper=True) if lower >= 0 else input
    return c.triangle(m.emit, kept, upper, upper=False) if upper >= 0 else kept


@rule("BandPartComputed", label="band_part")
def _band_computed(m: Maker, input: object, lower: object, upper: object) -> object:
    """Keep a band whose ends a run computes; a negative one keeps all."""
    zero = m.number(0, rows.i64)
    ends = [m.to(end, rows.i64) for end in (lower, upper)]
    below = c.triangle(m.emit, input, m.neg(ends[0]), upper=True)
    kept = m.select(m.less(ends[0], zero), input, below)
    above = c.triangle(m.emit, kept, ends[1], upper=False)
    return m.select(m.less(ends[1], zero), kept, above)


def band_part(
    input: object, num_lower: object, num_upper: object, name: str | None = None
) -> TfTensor:
    """Keep a band around the diagonal."""
    ends = [static(num_lower), static(num_upper)]
    if not any(isinstance(end, GraphTensor) for end in ends):
        return _band_part(input, *map(int, ends), name=name)
    with InGraph(graph_of([input, *ends])):
        tensors = [convert(input), *(convert(end, None) for end in ends)]
        return perform("BandPartComputed", tensors, name=name)


@rule("Einsum", label="einsum", shapes=shapes_of.equation)
def _einsum(m: Maker, *xs: object, equation: str) -> object:
    """Multiply and sum; a letter that the result repeats names a diagonal, with zeros around it."""
    terms, arrow, result = equation.partition("->")
    named = LABEL.findall(result)
    once = [*dict.fromkeys(named)]
    if len(once) == len(named) or named.count(DOTS) > 1:  # (the second is refused below)
        return m.einsum(*xs, equation=equation)
    made = m.einsum(*xs, equation=f"{terms}{arrow}{''.join(once)}")
    spec = spec_of_value(made)
    under_dots = [f".{i}" for i in range(spec.rank - sum(c != DOTS for c in once))]
    letters = [c for label in named for c in (under_dots if label == DOTS else [label])]
    extents = dict(zip([*dict.fromkeys(letters)], spec.dims, strict=True))
    again = [axis for axis, c in enumerate(letters) if c in letters[:axis]]
    lined = [1 if axis in again else extents[c] for axis, c in enumerate(letters)]
    made = m.reshape(made, shape=tuple(lined))
    for axis in again:
        places = []
        for at in (letters.index(letters[axis]), axis):
            shape = tuple(extents[letters[axis]] if i == at else 1 for i in range(len(letters)))
            places.append(m.iota(shape=shape, axis=at, dtype=rows.i64))
        made = m.select(m.equal(*places), made, m.number(0, spec.dtype))
    return made


DOTS = "..."
LABEL = re.compile(r"\.{3}|.")
"""A letter of an equation's result, or the dots that stand for several axes."""


def einsum(equation: str, *inputs: object, name: str | None = None, **_: object) -> TfTensor:
    """Products and sums by an equation, whose result names each axis once."""
    terms, result = equation.replace(" ", "").partition("->")[::2]
    labels = LABEL.findall(result)
    if len({*labels}) < len(labels):
        text = "Output subscripts contain a label appearing more than once"
        raise ValueError(f"{text}: {equation}")
    if unknown := [c for c in labels if c != DOTS and c not in terms]:
        text = f"Output subscripts contain the label {unknown[0]}"
        raise ValueError(f"{text} not present in the input subscripts")
    return products(equation, *inputs, name=name)


def products(equation: str, *inputs: object, name: str | None = None) -> TfTensor:
    """Products and sums by an equation, whose result may repeat a letter: that is a diagonal."""
    from .math_ops import by_parts  # noqa: PLC0415

    with InGraph(graph_of(inputs)):
        xs, short = same(*inputs), equation.replace(" ", "")
        if not xs[0].dtype.is_complex:
            return perform("Einsum", xs, name=name, equation=short)
        return by_parts(lambda *parts: perform("Einsum", parts, equation=short), xs)


def of_images(sizes: object, slid: object, filters: object, data_format: object) -> Any:
    """Return the sizes of images; rows and columns alone stand for those of such a batch."""
    from .array_ops import concat, shape  # noqa: PLC0415

    known, window = static(sizes), convert(filters).shape
    given = TensorShape([len(known)] if isinstance(known, list) else convert(known).shape)
    image = convert(slid).shape
    if None in (window.rank, given.rank) or given[0] != len(window) - 2:
        return sizes
    batch, depth = None if image.rank is None else image[0], window[-2]
    last = str(data_format or "C")[-1] == "C"
    if isinstance(known, list) and None not in (batch, depth):
        return [batch, *known, depth] if last else [batch, depth, *known]
    ends, rows_ = [shape(slid)[:1], shape(filters)[-2:-1]], convert(sizes, "int32")
    return concat([ends[0], rows_, ends[1]] if last else [*ends, rows_], 0)


def depth_of(ksize: object, last: bool) -> int:
    """Return how many channels a window of images has."""
    listed = np.ravel(static(ksize)).tolist()
    return int(listed[-1 if last else 1]) if len(listed) > IMAGE else 1


IMAGE = 3
"""More numbers than axes of space, at the most, are those of batch and depth, too."""


def greatest_of_depth(
    m: Maker, input: object, ksize: object, strides: object, last: bool
) -> object:
    """Return the greatest of so many channels each that are beside each other."""
    window, steps = (np.ravel(static(x)).tolist() for x in (ksize, strides))
    dims, at, k = spec_of_value(input).dims, -1 if last else 1, depth_of(ksize, last)
    if sorted(window)[-2] != 1 or len(window) != len(dims):
        raise UnimplementedError(
            "MaxPooling supports exactly one of pooling across depth or pooling across "
            f"width/height: the window is {window}"
        )
    if len(steps) != len(window) or steps[at] != k:
        raise UnimplementedError(
            "Depthwise max pooling requires the depth window to equal the depth stride: "
            f"{window} and {steps}"
        )
    if isinstance(dims[at], int) and dims[at] % k:
        raise UnimplementedError(
            "Depthwise max pooling requires the depth window to evenly divide the input depth: "
            f"{k} and {dims[at]}"
        )
    axis = at % len(dims)
    cut = m.reshape(input, shape=(*dims[:axis], dims[axis] // k, k, *dims[axis + 1 :]))
    return m.max(cut, axes=(axis + 1,))


def dropout(
    x: object,
    rate: float | TfTensor = 0.5,
    noise_shape: object = None,
    seed: int | None = None,
    name: str | None = None,
) -> TfTensor:
    """Set elements to 0 by chance, and scale the others up."""
    from .random_ops import uniform  # noqa: PLC0415

    return general_dropout(x, rate, partial(uniform, seed=seed), noise_shape, name)


def stateless_dropout(
    x: object,
    rate: float | TfTensor,
    seed: object,
    rng_alg: str = "auto_select",
    noise_shape: object = None,
    name: str | None = None,
) -> TfTensor:
    """Set those elements to 0 that a seed says, and scale the others up."""
    from .random_ops import stateless_uniform  # noqa: PLC0415

    if rng_alg not in ("auto_select", "philox"):
        raise ValueError(f"rng_alg {rng_alg!r} is not here: numbers are drawn by philox")
    sampler = partial(stateless_uniform, seed=seed)
    return general_dropout(x, rate, sampler, noise_shape, name or "stateless_dropout")


def _noise_dims(x: TfTensor, noise_shape: object) -> object:
    """Return of what sizes chances are: those of the elements where none is said."""
    from .array_ops import shape  # noqa: PLC0415

    if noise_shape is None:
        return x.shape.as_list() if x.shape.is_fully_defined() else shape(x)
    if isinstance(noise_shape, TensorShape):
        noise_shape = noise_shape.as_list()
    if not isinstance(noise_shape, list | tuple) or None not in noise_shape:
        return noise_shape
    if x.shape.rank is not None and x.shape.rank != len(noise_shape):
        raise ValueError(f"noise_shape is {[*noise_shape]}, expected {x.shape.rank} sizes")
    known = x.shape.as_list() if x.shape.rank is not None else [None] * len(noise_shape)
    every = shape(x)
    return [
        every[i] if n is None and size is None else size if n is None else n
        for i, (n, size) in enumerate(zip(noise_shape, known, strict=True))
    ]


def general_dropout(
    x: object,
    rate: float | TfTensor,
    uniform_sampler: Callable[..., TfTensor],
    noise_shape: object = None,
    name: str | None = None,
) -> TfTensor:
    """Set elements to 0 where a sampler of a `shape` and a `dtype` gives less than the rate."""
    known = static(rate)
    if isinstance(rate, list | tuple | np.ndarray) and np.ndim(rate):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    if isinstance(rate, TfTensor) and rate.shape.rank not in (0, None):
        raise ValueError(f"Shape {rate.shape} must have rank 0")
    if isinstance(known, int | float) and not 0 <= known < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )
    if isinstance(known, int | float) and not known:
        return convert(x)
    graph = graph_of([x, rate])
    with InGraph(graph), nullcontext() if graph is None else graph.name_scope(name or "dropout"):
        return _dropped(convert(x), rate, uniform_sampler, noise_shape)


def _dropped(
    x: TfTensor,
    rate: float | TfTensor,
    uniform_sampler: Callable[..., TfTensor],
    noise_shape: object,
) -> TfTensor:
    """Return the elements of a tensor, or 0, by chance."""
    from .array_ops import where  # noqa: PLC0415

    if isinstance(rate, TfTensor) and rate.dtype != x.dtype:
        raise ValueError(
            f"`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype={x.dtype} and "
            f"rate.dtype={rate.dtype}"
        )
    dims = _noise_dims(x, noise_shape)
    kept = uniform_sampler(shape=dims, dtype=x.dtype) >= rate
    made = where(kept, x / (1.0 - rate), zeros_like(x))
    if not made.eager:
        made.set_shape(x.shape)
    return made


remember_all(globals())
