"""`tf.raw_ops`: the ways back of layers, and losses with theirs, by their own names.

A way back is taken through the layer itself, at what it was given; of a layer that is linear, at
zeros of the shape that is said.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from inspect import unwrap

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.gradient.tape import Tape
from ....ir.op import Array, Op
from ....ir.types.tensor import TensorSpec
from ...eager.remembered import remembered
from ...graph.graph import GraphTensor
from ...graph.inference import Abstract, Given, emit_abstract
from ...graph.kinds import RULES, Rule
from ...values.arrays import as_listed
from ...values.run_errors import InvalidArgumentError
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor
from ..core.calls import PUBLIC, compute, op
from ..core.host_ops import host, unknown
from ..core.shapes import TensorShape
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, same, static
from ..graph.flow import GradientTape
from ..ops import array_ops as _a
from ..ops import composed as _co
from ..ops import gathering as _g
from ..ops import math_ops as _m
from ..ops import nn_ops as _n
from ..ops import window_ops as _w
from ..ops.creation import ints, one_hot, range_, zeros

Entropy = namedtuple("Entropy", "loss backprop")
Forward = Callable[[TfTensor], TfTensor]


def way_back(forward: Forward, at: TfTensor, grad: TfTensor, name: str | None) -> TfTensor:
    """Return the gradient of what a function takes, given that of what it makes there."""
    with GradientTape() as tape:
        tape.watch(at)
        made = forward(at)
    _expect_shape("grad", made.shape, grad)
    found = tape.gradient(made, at, grad)
    return _m.identity(found, name=name)


def _expect_shape(what: str, wanted: TensorShape, found: TfTensor) -> None:
    if not wanted.is_compatible_with(found.shape):
        sizes, others = (as_listed(x.as_list()) for x in (wanted, found.shape))
        raise InvalidShapesError(f"Expected {what} shape to be {sizes}, but got {others}")


def forth_again(forward: Forward, at: TfTensor, change: TfTensor, name: str | None) -> TfTensor:
    """Return how what a function makes changes with what it takes: the way back of its way back."""
    made = forward(at)
    return way_back(lambda g: way_back(forward, at, g, None), made, change, name)


def _entropy_shapes(features: TfTensor, labels: TfTensor) -> None:
    for x in (features, labels):
        if x.shape.rank not in (None, 2):
            raise InvalidShapesError(f"Shape must be rank 2, but is rank {x.shape.rank}: {x.shape}")


def softmax_cross_entropy(features: object, labels: object, name: str | None = None) -> Entropy:
    """Return the cross entropy of each row of labels and softmax, and the way back to the rows."""
    with InGraph(graph_of([features, labels])):
        x, truth = same(features, labels)
        _entropy_shapes(x, truth)
        loss = _n.softmax_cross_entropy_with_logits(truth, x, axis=-1, name=name)
        return Entropy(loss, _n.softmax(x) - truth)


def sparse_softmax_cross_entropy(
    features: object, labels: object, name: str | None = None
) -> Entropy:
    """Return the cross entropy of a class and softmax for each row, and the way back to them."""
    with InGraph(graph_of([features, labels])):
        x, truth = convert(features), convert(labels)
        if x.shape.rank not in (None, 2):
            raise InvalidShapesError(f"logits must be 2-D, but got shape {x.shape}")
        loss = _n.sparse_softmax_cross_entropy_with_logits(truth, x, name=name)
        there = one_hot(truth, _a.shape(x)[1], dtype=x.dtype)
        return Entropy(loss, _n.softmax(x) - there)


@remembered
def _back_at_once(
    type_: str, is_first: bool, sizes: tuple[int, ...], grad: TfTensor, other: TfTensor | None,
    given: Sequence[tuple[str, object]],
) -> TfTensor:  # fmt: skip
    """Go back through a layer to the one of its operands that it is linear in, of some sizes.

    What it makes of that operand is not computed: the way back does not need it.
    """

    def back(m: Maker, grad: object, *others: object) -> object:
        def emit(op: type[Op], *operands: object, **attributes: object) -> object:
            if not any(isinstance(x, Abstract) for x in operands):
                return m.emit(op, *operands, **attributes)
            known = [x if isinstance(x, Abstract) else Abstract(spec_of_value(x)) for x in operands]
            return emit_abstract(op, *known, **attributes)

        tape, at = Tape(emit), Abstract(TensorSpec(spec_of_value(grad).dtype, sizes))
        operands = (at, *others) if is_first else (*others, at)
        made = RULES[type_].function(Maker(tape.emit), *operands, **dict(given))
        sizes_made, sizes_given = (spec_of_value(x).dims for x in (made, grad))
        if sizes_made != sizes_given:
            raise InvalidShapesError(
                f"Expected grad shape to be {[*sizes_made]}, but got {[*sizes_given]}"
            )
        return tape.backward([made], [grad], [at])[0]

    rule = Rule(type_, back)
    operands = [grad] if other is None else [grad, other]
    found = compute(rule, operands, {})
    assert not isinstance(found, list), "there is one result"
    return found


def _sizes_at_once(sizes: object) -> tuple[int, ...] | None:
    """Return sizes if they are known ones of something that is not empty."""
    known = static(sizes)
    if not isinstance(known, list | tuple) or not all(isinstance(n, int) for n in known):
        return None
    return tuple(known) if all(n > 0 for n in known) else None


def _through_linear(
    type_: str, is_first: bool, sizes: object, grad: TfTensor, other: TfTensor | None,
    name: str | None, given: dict[str, object],
) -> TfTensor:  # fmt: skip
    """Go back through a layer that is linear in its first operand, or in its last one."""
    known = _sizes_at_once(sizes)
    if known is not None and grad.eager and (other is None or other.eager):
        return _back_at_once(type_, is_first, known, grad, other, [*given.items()])
    others = [] if other is None else [other]

    def layer(x: TfTensor) -> TfTensor:
        made = PUBLIC[type_](*((x, *others) if is_first else (*others, x)), **given)
        return convert(made)

    return way_back(layer, zeros(sizes, grad.dtype), grad, name)


def _sized(type_: str, *linear: str) -> Callable[..., TfTensor]:
    """Return the way back to a linear operand: its shape, the other operand, and the gradient."""
    shape_name, other_name = linear

    def operation(*, name: str | None = None, **given: object) -> TfTensor:
        """Go back through a layer that is linear in what is asked for."""
        sizes, other = given.pop(shape_name), given.pop(other_name)
        if convert(sizes).shape.rank not in (1, None):
            raise InvalidArgumentError(f"{shape_name} shape must be rank 1, got {sizes!r}")
        grad = given.pop("out_backprop") if "out_backprop" in given else given.pop("grad")
        given.pop("use_cudnn_on_gpu", None)
        is_first = shape_name == "input_sizes"
        with InGraph(graph_of([sizes, other, grad])):
            back = convert(grad)
            if is_first:
                sizes = _n.of_images(sizes, back, other, given.get("data_format"))
            fixed = None if other is None else convert(other)
            return _through_linear(type_, is_first, sizes, back, fixed, name, given)

    return operation


def _filters(type_: str) -> Callable[..., TfTensor]:
    return _sized(type_, "filter_sizes", "input")


def _images(type_: str) -> Callable[..., TfTensor]:
    return _sized(type_, "input_sizes", "filter")


def _pooled(
    way: Callable[..., TfTensor], function: Callable[..., TfTensor]
) -> Callable[..., TfTensor]:
    """Return the operation that goes a way through a layer of greatest elements."""

    def operation(
        orig_input: object, orig_output: object, grad: object, ksize: object, strides: object,
        padding: str, explicit_paddings: Sequence[int] = (), data_format: str = "NHWC",
        name: str | None = None,
    ) -> TfTensor:  # fmt: skip
        """Go through greatest elements; what they were is found anew."""
        if len(explicit_paddings):
            raise NotImplementedError("explicit_paddings of a way through pooling")
        with InGraph(graph_of([orig_input, grad])):
            x, back, made = convert(orig_input), convert(grad), convert(orig_output)
            options = {"data_format": data_format}

            def forward(y: TfTensor) -> TfTensor:
                found = function(y, ksize, strides, padding, **options)
                _expect_shape("orig_output", found.shape, made)
                return found

            return way(forward, x, back, name)

    return operation


def avg_pool_grad(
    orig_input_shape: object, grad: object, ksize: object, strides: object, padding: str,
    data_format: str = "NHWC", name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Go back through means of windows."""
    with InGraph(graph_of([orig_input_shape, grad])):
        back = convert(grad)
        type_ = "AvgPool" if len(data_format) == 4 else "AvgPool3D"
        given = {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format}
        return _through_linear(type_, True, orig_input_shape, back, None, name, given)


def _flat(argmax: TfTensor, x: TfTensor, in_batch: bool) -> TfTensor:
    """Return places in all of a tensor, of those in each of its images."""
    places = _m.cast(argmax, "int64")
    if in_batch:
        return places
    size = _m.REDUCTIONS["reduce_prod"](_a.shape(x, "int64")[1:])
    first = range_(_a.shape(x, "int64")[0], dtype="int64") * size
    return places + _a.reshape(first, [-1, *[1] * (len(argmax.shape) - 1)])


def _open_sizes(given: Given) -> Sequence[TensorSpec]:
    """Return images of which only the batch is known."""
    image = given.specs[0]
    return (shapes_of.made(image.dtype, [image.dims[0] if image.shape else None, *[None] * 3]),)


@op("MaxPoolV2", "input", "ksize", "strides", strict=False, slides=True, shapes=_open_sizes)
def _pool_of_computed(
    m: Maker, input: object, ksize: object, strides: object, padding: str, data_format: str
) -> object:
    """Take the greatest of windows whose sizes a run computes."""
    return unwrap(_w.max_pool2d)(m, input, ints(ksize), ints(strides), padding, data_format)


def max_pool_v2(
    *, input: object, ksize: object, strides: object, padding: str, data_format: str = "NHWC",
    name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Take the greatest of windows."""
    if any(isinstance(static(x), GraphTensor) for x in (ksize, strides)):
        return _pool_of_computed(input, ksize, strides, padding, data_format, name=name)
    return _w.max_pool2d(input, ksize, strides, padding, data_format, name=name)


def _pooled_shape(x: TfTensor, ksize: object, strides: object, padding: str) -> TensorShape:
    """Return the shape of what images are pooled to, as far as theirs is known."""
    if x.shape.rank is None:
        return x.shape
    windows, steps = ints(static(ksize)), ints(static(strides))
    less = [0 if padding == "SAME" else k - 1 for k in windows]
    each = zip(x.shape.as_list(), less, steps, strict=True)
    return TensorShape([None if n is None else -(-(n - k) // s) for n, k, s in each])


def max_pool_grad_with_argmax(
    input: object, grad: object, argmax: object, ksize: object, strides: object, padding: str,
    include_batch_in_index: bool = False, name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Bring each gradient to the place that the greatest element had."""
    with InGraph(graph_of([input, grad, argmax])):
        x, back, places = convert(input), convert(grad), convert(argmax)
        wanted = _pooled_shape(x, ksize, strides, padding)
        _expect_shape("grad", wanted, back)
        _expect_shape("argmax", wanted, places)
        flat = _a.reshape(_flat(places, x, include_batch_in_index), [-1, 1])
        count = _a.reshape(_a.size(x, "int64"), [1])
        made = _g.scatter_nd(flat, _a.reshape(back, [-1]), count)
        return _a.reshape(made, _a.shape(x), name=name)


def max_pool_grad_grad_with_argmax(
    input: object, grad: object, argmax: object, ksize: object, strides: object, padding: str,
    include_batch_in_index: bool = False, name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Take the changes at the places that the greatest elements had."""
    del ksize, strides, padding
    with InGraph(graph_of([input, grad, argmax])):
        x, change, places = convert(input), convert(grad), convert(argmax)
        flat = _flat(places, x, include_batch_in_index)
        return _g.gather(_a.reshape(change, [-1]), flat, name=name)


def bias_add_grad(
    out_backprop: object, data_format: str = "NHWC", name: str | None = None
) -> TfTensor:
    """Add gradients up over all axes but that of the channels."""
    with InGraph(graph_of([out_backprop])):
        back = convert(out_backprop)
        rank = len(back.shape)
        if rank < 2:
            raise InvalidShapesError(f"Input tensor must be at least 2D: {back.shape}")
        channels = 1 if data_format.startswith("NC") else rank - 1
        axes = [axis for axis in range(rank) if axis != channels]
        return _m.REDUCTIONS["reduce_sum"](back, axis=axes, name=name)


def mirror_pad_grad(
    input: object, paddings: object, mode: str, name: str | None = None
) -> TfTensor:
    """Go back through mirrored edges."""
    with InGraph(graph_of([input, paddings])):
        back, edges = convert(input), convert(paddings)
        sizes = _a.shape(back) - _m.cast(_m.REDUCTIONS["reduce_sum"](edges, axis=1), "int32")
        # Integers have no slopes; all sums of those below 2**53 are exact.
        wide = back if back.dtype.is_floating or back.dtype.is_complex else _m.cast(back, "float64")
        at = zeros(sizes, wide.dtype)
        found = way_back(lambda x: _a.pad(x, edges, mode=mode), at, wide, name)
        return found if wide is back else _m.cast(found, back.dtype)


def concat_offset(
    concat_dim: object, shape: Sequence[object], name: str | None = None
) -> list[TfTensor]:
    """Return where each of several tensors, whose shapes are given, begins in all of them."""

    def compute(axis: Array, *shapes: Array) -> Sequence[Array]:
        first, place = shapes[0], int(axis)
        for number, each in enumerate(shapes):
            if each.ndim != 1:
                raise InvalidArgumentError(f"input {number} should be a vector, not {each.shape}")
            if len(each) != len(first):
                raise InvalidArgumentError(
                    f"input {number} should contain {len(first)} elements, but got {len(each)}"
                )
        if not -len(first) <= place < len(first):
            raise InvalidArgumentError(f"Concat dim is out of range: {place} vs. {len(first)}")
        made, begin = [], np.zeros_like(first)
        for number, each in enumerate(shapes):
            differs = each != first
            differs[place] = False
            if differs.any():
                texts = [" ".join(map(str, x.tolist())) for x in (each, first)]
                raise InvalidArgumentError(
                    f"All dimensions except {place % len(first)} must match. Input {number} has "
                    f"shape [{texts[0]}] and doesn't match input 0 with shape [{texts[1]}]."
                )
            made.append(begin.copy())
            begin[place] += each[place]
        return made

    with InGraph(graph_of([concat_dim, *shape])):
        shapes = [convert(each) for each in shape]
        specs = [unknown(x.spec.dtype, *x.shape.as_list()) for x in shapes]
        return host("ConcatOffset", compute, [convert(concat_dim), *shapes], specs, name=name)


def space_to_batch(
    input: object, paddings: object, block_size: int, name: str | None = None
) -> TfTensor:
    """Move blocks of height and width into the first axis."""
    return _of_images(_co.space_to_batch(input, [block_size, block_size], paddings, name=name))


def batch_to_space(
    input: object, crops: object, block_size: int, name: str | None = None
) -> TfTensor:
    """Move blocks of the first axis into height and width."""
    return _of_images(_co.batch_to_space(input, [block_size, block_size], crops, name=name))


def _of_images(made: TfTensor) -> TfTensor:
    """Return a tensor, of which is known that it has four axes."""
    if made.shape.rank is None:
        made.set_shape([None] * 4)
    return made


OPERATIONS: dict[str, object] = {
    "AvgPool3DGrad": avg_pool_grad,
    "AvgPoolGrad": avg_pool_grad,
    "BatchToSpace": batch_to_space,
    "BiasAddGrad": bias_add_grad,
    "ConcatOffset": concat_offset,
    "Conv2DBackpropFilter": _filters("Conv2D"),
    "Conv2DBackpropInput": _images("Conv2D"),
    "Conv3DBackpropFilterV2": _filters("Conv3D"),
    "Conv3DBackpropInputV2": _images("Conv3D"),
    "DepthwiseConv2dNativeBackpropFilter": _filters("DepthwiseConv2dNative"),
    "DepthwiseConv2dNativeBackpropInput": _images("DepthwiseConv2dNative"),
    "MaxPool3DGrad": _pooled(way_back, _w.max_pool3d),
    "MaxPool3DGradGrad": _pooled(forth_again, _w.max_pool3d),
    "MaxPoolGrad": _pooled(way_back, _w.max_pool2d),
    "MaxPoolGradGrad": _pooled(forth_again, _w.max_pool2d),
    "MaxPoolGradGradV2": _pooled(forth_again, _w.max_pool2d),
    "MaxPoolGradGradWithArgmax": max_pool_grad_grad_with_argmax,
    "MaxPoolGradV2": _pooled(way_back, _w.max_pool2d),
    "MaxPoolGradWithArgmax": max_pool_grad_with_argmax,
    "MaxPoolV2": max_pool_v2,
    "MirrorPadGrad": mirror_pad_grad,
    "SoftmaxCrossEntropyWithLogits": softmax_cross_entropy,
    "SpaceToBatch": space_to_batch,
    "SparseSoftmaxCrossEntropyWithLogits": sparse_softmax_cross_entropy,
}
"""By the type of an operation: its function."""


@remembered
def conv2d_backprop_filter(
    input: object, filter_sizes: object, out_backprop: object, strides: object = None,
    padding: object = None, use_cudnn_on_gpu: bool = True, data_format: str = "NHWC",
    dilations: object = 1, name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Return the gradient of a convolution's filters."""
    del use_cudnn_on_gpu
    back = _filters("Conv2D")
    return back(input=input, filter_sizes=filter_sizes, out_backprop=out_backprop, name=name,
                strides=strides, padding=padding, data_format=data_format,
                dilations=dilations)  # fmt: skip


@remembered
def conv3d_backprop_filter(
    input: object, filter_sizes: object, out_backprop: object, strides: object,
    padding: object, data_format: str = "NDHWC", dilations: object = 1,
    name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Return the gradient of a convolution's filters, over three axes."""
    back = _filters("Conv3D")
    return back(input=input, filter_sizes=filter_sizes, out_backprop=out_backprop, name=name,
                strides=strides, padding=padding, data_format=data_format,
                dilations=dilations)  # fmt: skip


@remembered
def depthwise_conv2d_backprop_filter(
    input: object, filter_sizes: object, out_backprop: object, strides: object,
    padding: object, data_format: str = "NHWC", dilations: object = 1,
    name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Return the gradient of the filters that slide over each channel by itself."""
    back = _filters("DepthwiseConv2dNative")
    return back(input=input, filter_sizes=filter_sizes, out_backprop=out_backprop, name=name,
                strides=strides, padding=padding, data_format=data_format,
                dilations=dilations)  # fmt: skip


@remembered
def depthwise_conv2d_backprop_input(
    input_sizes: object, filter: object, out_backprop: object, strides: object,
    padding: object, data_format: str = "NHWC", dilations: object = 1,
    name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Return the gradient of the images that filters slide over, each channel by itself."""
    back = _images("DepthwiseConv2dNative")
    return back(input_sizes=input_sizes, filter=filter, out_backprop=out_backprop, name=name,
                strides=strides, padding=padding, data_format=data_format,
                dilations=dilations)  # fmt: skip


@remembered
def atrous_conv2d_transpose(
    value: object, filters: object, output_shape: object, rate: object, padding: object,
    name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Go back through filters whose elements are apart."""
    back = _images("Conv2D")
    return back(input_sizes=output_shape, filter=filters, out_backprop=value, name=name,
                strides=1, padding=padding, dilations=rate)  # fmt: skip


SECOND: dict[str, object] = {
    "atrous_conv2d_transpose": atrous_conv2d_transpose,
    "depthwise_conv2d_backprop_filter": depthwise_conv2d_backprop_filter,
    "depthwise_conv2d_backprop_input": depthwise_conv2d_backprop_input,
}
"""Ways back that are in `tf.nn`."""
FIRST: dict[str, object] = {
    **SECOND,
    "conv2d_backprop_filter": conv2d_backprop_filter,
    "conv3d_backprop_filter": conv3d_backprop_filter,
    "conv3d_backprop_filter_v2": conv3d_backprop_filter,
    "depthwise_conv2d_native": _w.depthwise_conv2d,
    "depthwise_conv2d_native_backprop_filter": depthwise_conv2d_backprop_filter,
    "depthwise_conv2d_native_backprop_input": depthwise_conv2d_backprop_input,
    "max_pool_v2": _w.max_pool,
}
"""Those of the first version, with what it calls otherwise."""
