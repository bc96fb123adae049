"""Operations whose arguments TensorFlow's first version names or counts in another way."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ...eager.remembered import remembered
from ...graph.inference import Given
from ...values.context import executing_eagerly
from ...values.dispatch import handles
from ...values.dtypes import DTypeLike
from ..core import names as _scopes
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor
from ..core.calls import perform, rule, truths
from ..core.shapes import ShapeLike
from ..core.space import Space
from ..core.values import InGraph, convert, graph_of, same
from ..draws.candidates import SAMPLERS
from ..draws.fractional import FIRST as _FRACTIONAL
from ..graph import debugging
from ..graph.flow import cond as structured_cond
from ..graph.flow import stop_gradient
from ..graph.loops import while_loop as structured_loop
from ..image import cutting as _cut
from ..image import resizing as _re
from ..image.drawing import FIRST as _FIRST_IMAGE
from ..image.names import NAMES as _IMAGE
from ..image.sizes import height_and_width
from ..io.names import CHANGED as _CHANGED
from ..io.names import PICTURES as _PICTURES
from ..nondense import embeddings as _em
from ..nondense.ctc_decoding import V1 as _CTC
from ..nondense.sparse_tensor import SparseTensor
from ..ops import array_ops as _a
from ..ops import gathering as _g
from ..ops import math_ops as _m
from ..ops import nn_ops as _n
from ..ops import strings
from ..ops import window_ops as _w
from ..ops.random_ops import categorical
from ..ragged.embeddings import of_rows
from ..ragged.gathering import first_where
from ..ragged.resizing import resized
from ..ragged.tensor import RaggedTensor
from ..rnn.names import NN as _RNN
from ..text.names import V1 as TEXTS
from ..variables.partitioned import PartitionedVariable
from .aliases import ALIASES
from .first_calls import first_space
from .namespaces import linalg as _linalg
from .namespaces import math as _math
from .namespaces import nn as _nn
from .namespaces import random as _random
from .raw_layers import FIRST as _WAYS_BACK


def dropout(
    x: object,
    keep_prob: Any = None,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> TfTensor:
    """Set elements to 0 by chance, and scale the others up; `keep_prob` says how many stay."""
    if keep_prob is None and rate is None:
        raise ValueError(f"Argument `rate` must be provided. Received: rate={rate}.")
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'")
    if isinstance(keep_prob, list | tuple):
        raise ValueError(
            "`keep_prob` must be a floating point number or Tensor. Received: keep_prob="
            f"{keep_prob}"
        )
    gone = 1 - keep_prob if rate is None else rate
    return _n.dropout(x, gone, noise_shape, seed, name)


def embedding_lookup(
    params: object,
    ids: TfTensor,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> TfTensor:
    """Take rows of a table, whose parts have rows in turn ("mod") or one after another ("div")."""
    is_cut = isinstance(params, list | tuple | PartitionedVariable)
    parts: list[object] = list(params) if is_cut else [params]  # type: ignore[call-overload]
    if len(parts) <= 1 or partition_strategy == "div":
        return _w.embedding_lookup(parts, ids, max_norm, name)
    with InGraph(graph_of([*parts, ids])):
        places, tables = convert(ids), [convert(part) for part in parts]
        begins = [0, *accumulate(table.shape.as_list()[0] for table in tables[:-1])]
        row = _g.gather(convert(begins, places.dtype), places % len(parts)) + places // len(parts)
        return _w.embedding_lookup(_a.concat(tables, 0), row, max_norm, name)


def _in_parts(strategy: str) -> Callable[..., TfTensor]:
    """Return what takes rows of a table whose parts are filled by a strategy."""
    return functools.partial(embedding_lookup, partition_strategy=strategy)


@remembered
def embedding_lookup_sparse(
    params: object,
    sp_ids: object,
    sp_weights: object,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
    allow_fast_lookup: bool = False,
) -> TfTensor:
    """Combine the rows of each line of ids: their sum, mean, or sum over the root of the count."""
    how = _em.Combining(combiner or "mean", max_norm, name, _in_parts(partition_strategy))
    return _em.looked_up(params, sp_ids, sp_weights, how)


@remembered
def safe_embedding_lookup_sparse(
    embedding_weights: object,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str | None = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
    allow_fast_lookup: bool = False,
) -> TfTensor:
    """Combine rows as `embedding_lookup_sparse` does; lines without valid ids have a default."""
    how = _em.Combining(combiner or "mean", max_norm, name, _in_parts(partition_strategy))
    return _em.safely_looked_up(embedding_weights, sparse_ids, sparse_weights, default_id, how)


for _lookup in (embedding_lookup_sparse, safe_embedding_lookup_sparse):
    handles(RaggedTensor, _lookup)(of_rows(_lookup))


@remembered
def fused_batch_norm(
    x: object,
    scale: object,
    offset: object,
    mean: object = None,
    variance: object = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Normalise images by the moments of the batch, or by those given; return them too."""
    if not data_format.endswith("C"):
        with InGraph(graph_of([x, scale, offset, mean, variance])):
            given = convert(x)
            order = [0, *range(2, len(data_format)), 1]
            turned = _a.transpose(given, order)
            found = fused_batch_norm(turned, scale, offset, mean, variance, epsilon, "NHWC",
                                     is_training, name, exponential_avg_factor)  # fmt: skip
            back = [0, len(order) - 1, *range(1, len(order) - 1)]
            return (_a.transpose(found[0], back), *found[1:])
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
            f"`exponential_avg_factor` != 1.0. Received: mean={mean}, variance={variance}"
        )
    with InGraph(graph_of([x, scale, offset, mean, variance])):
        given, factor = convert(x), convert(scale)
        image = _m.cast(given, factor.dtype)  # halves are summed up as f32, by its moments' type
        add, least = convert(offset, factor.dtype), max(epsilon, LEAST_EPSILON)
        if is_training:
            centre, spread = _n.moments(image, list(range(len(image.shape) - 1)))
        else:
            centre, spread = convert(mean, factor.dtype), convert(variance, factor.dtype)
        made = _w.batch_normalization(image, centre, spread, add, factor, least)
        made = _m.cast(made, given.dtype, name=name)
        if not is_training:
            return made, centre, spread
        count = _m.cast(_m.REDUCTIONS["reduce_prod"](_a.shape(image)[:-1]), image.dtype)
        spread = spread * (count / _m.FUNCTIONS["maximum"](count - 1.0, 1.0))
        if exponential_avg_factor != 1.0:
            share = exponential_avg_factor
            centre = centre * share + convert(mean, factor.dtype) * (1.0 - share)
            spread = spread * share + convert(variance, factor.dtype) * (1.0 - share)
        return made, centre, spread


LEAST_EPSILON = 1.001e-5
"""What is added to variances at the least, as in TensorFlow."""


def xw_plus_b(x: object, weights: object, biases: object, name: str | None = None) -> TfTensor:
    """Return x times weights plus biases."""
    with _scopes.name_scope(name or "xw_plus_b") as scope:
        return _n.bias_add(_m.matmul(x, weights), biases, name=scope)


def relu_layer(x: object, weights: object, biases: object, name: str | None = None) -> TfTensor:
    """Return what is positive of x times weights plus biases."""
    with _scopes.name_scope(name or "relu_layer") as scope:
        return _n.relu(_n.bias_add(_m.matmul(x, weights), biases), name=scope)


def softmax_cross_entropy_with_logits(
    labels: object = None,
    logits: object = None,
    dim: int = -1,
    name: str | None = None,
    axis: object = None,
    *,
    through_labels: bool = False,
) -> TfTensor:
    """Return the cross entropy of labels, through which no gradient goes, and softmax."""
    if labels is None or logits is None:
        raise ValueError("Both `labels` and `logits` must be provided.")
    given = labels if through_labels else stop_gradient(labels)
    at = dim if axis is None else axis
    return _n.softmax_cross_entropy_with_logits(given, logits, axis=at, name=name)


def multinomial(
    logits: object,
    num_samples: object,
    seed: int | None = None,
    name: object = None,
    output_dtype: DTypeLike | None = None,
) -> TfTensor:
    """Draw classes by their logits."""
    return categorical(logits, num_samples, dtype=output_dtype or "int64", seed=seed)


def div(x: object, y: object, name: str | None = None) -> TfTensor:
    """Divide as Python's second version did: integers to integers, floats to floats."""
    with InGraph(graph_of([x, y])):
        a, b = same(x, y)
        whole = a.spec.dtype.is_integer
        return (_m.FUNCTIONS["floordiv"] if whole else _m.truediv)(a, b, name=name)


@remembered
def where(
    condition: object, x: object = None, y: object = None, name: str | None = None
) -> TfTensor:
    """Choose elements by a condition, or rows by one for each; alone, return where it holds."""
    if x is None or y is None:
        return _a.where(condition, x, y, name=name)
    with InGraph(graph_of([condition, x, y])):
        return perform("Select", [convert(truths(condition)), *same(x, y)], name=name)


handles(RaggedTensor, where)(first_where)


@rule("Select", shapes=lambda given: shapes_of.alike(Given(given.specs[1:], {}, {})))
def _select(m: Maker, test: object, x: object, y: object) -> object:
    """Choose rows where there is one truth value for each row, else elements."""
    rank = spec_of_value(x).rank
    if spec_of_value(test).rank == 1 and rank > 1:
        test = m.reshape(test, shape=(*spec_of_value(test).dims, *[1] * (rank - 1)))
    return m.select(test, x, y)


RESIZE_METHOD = SimpleNamespace(BILINEAR=0, NEAREST_NEIGHBOR=1, BICUBIC=2, AREA=3)


@remembered
def resize_images(
    images: object,
    size: object,
    method: object = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Return images of another height and width, by a method or its number."""
    modes = ("bilinear", "nearest", "bicubic", "area")
    mode = modes[method] if isinstance(method, int) and method < len(modes) else method
    if mode not in modes:
        raise ValueError(f"Resize method is not implemented: {method}")
    before, wanted = height_and_width(convert(images)), _re.wanted_size(size)
    if preserve_aspect_ratio:
        wanted = _re.in_proportion(before, wanted)
    if all(isinstance(v, int) for v in (*before, *wanted)) and before == wanted:
        return convert(images)
    return _re.old_resize(mode)(images, wanted, align_corners)


@handles(RaggedTensor, resize_images)
def _resize_images(
    images: RaggedTensor,
    size: object,
    method: object = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> TfTensor:
    more = align_corners, preserve_aspect_ratio
    return resized(images, size, lambda x, n: resize_images(x, n, method, *more))


def cond(
    pred: object,
    true_fn: object = None,
    false_fn: object = None,
    strict: bool = False,
    name: str | None = None,
    fn1: object = None,
    fn2: object = None,
) -> object:
    """Run one of two functions, which have older names too.

    Where operations run at once, a list of one value gives the value unless it is `strict`.
    """
    if isinstance(pred, bool) and not executing_eagerly():
        raise TypeError("pred must not be a Python bool")
    for what, function, older in (("true_fn", true_fn, fn1), ("false_fn", false_fn, fn2)):
        if function is not None and older is not None:
            raise TypeError(f"cond(): {what!r} may be given by one of its names only")
    made = structured_cond(pred, true_fn or fn1, false_fn or fn2, name)
    alone = isinstance(made, list | tuple) and len(made) == 1 and executing_eagerly()
    return made[0] if alone and not strict else made


def while_loop(
    cond: object,
    body: object,
    loop_vars: object,
    shape_invariants: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: object = None,
    return_same_structure: bool = False,
) -> object:
    """Run the body as long as the condition holds; a list of one variable gives the variable."""
    how = (shape_invariants, parallel_iterations, back_prop, swap_memory)
    made = structured_loop(cond, body, loop_vars, *how, maximum_iterations, name)
    alone = isinstance(made, list | tuple) and len(made) == 1 and not return_same_structure
    return made[0] if alone else made


def _cast_to(dtype: str) -> Callable[..., object]:
    return lambda x, name=None: _m.cast(x, dtype, name=name)


AT_THE_TOP = (
    *("segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod", "rint"),
    *("unsorted_segment_sum", "unsorted_segment_max", "lgamma", "digamma", "erf", "erfc"),
    *("count_nonzero", "invert_permutation", "squared_difference", "bincount", "zeta"),
    *("confusion_matrix", "lbeta", "accumulate_n", "cumprod", "polygamma", "igamma", "igammac"),
    "betainc",
)
"""Functions of `tf.math` that stood at the top."""
MATRICES = {
    "matrix_inverse": "inv",
    "matrix_determinant": "det",
    "matrix_solve": "solve",
    "matrix_triangular_solve": "triangular_solve",
    "matrix_band_part": "band_part",
    "matrix_transpose": "matrix_transpose",
    "matrix_diag": "diag",
    "matrix_diag_part": "diag_part",
    "matrix_set_diag": "set_diag",
    "cholesky": "cholesky",
    "cholesky_solve": "cholesky_solve",
    "diag": "tensor_diag",
    "diag_part": "tensor_diag_part",
    "trace": "trace",
    "svd": "svd",
    "qr": "qr",
    "self_adjoint_eig": "eigh",
    "self_adjoint_eigvals": "eigvalsh",
    "matrix_solve_ls": "lstsq",
    "norm": "norm",
    "cross": "cross",
    "global_norm": "global_norm",
}
"""Functions of `tf.linalg` by their names at the top."""
NN = first_space(
    "nn",
    {
        **vars(_nn),
        **_RNN,
        **_CTC,
        **{n: getattr(_random, n) for n in SAMPLERS},
        "dropout": dropout,
        "embedding_lookup": embedding_lookup,
        "embedding_lookup_sparse": embedding_lookup_sparse,
        "safe_embedding_lookup_sparse": safe_embedding_lookup_sparse,
        "fused_batch_norm": fused_batch_norm,
        "xw_plus_b": xw_plus_b,
        "relu_layer": relu_layer,
        "softmax_cross_entropy_with_logits": softmax_cross_entropy_with_logits,
        "softmax_cross_entropy_with_logits_v2": functools.partial(
            softmax_cross_entropy_with_logits, through_labels=True
        ),
        "dilation2d": functools.partial(_nn.dilation2d, data_format="NHWC"),
        "erosion2d": functools.partial(_nn.erosion2d, data_format="NHWC"),
        **_WAYS_BACK,
        **_FRACTIONAL,
        "conv2d_backprop_input": _w.conv2d_backprop_input,
        "max_pool": _w.max_pool2d,
        "avg_pool": _w.avg_pool2d,
    },
)
CHECKS = {
    name: debugging.first_version(check)
    for name, check in vars(debugging).items()
    if name.startswith("assert_")
}
TOP = {
    **ALIASES,
    **CHECKS,
    "add_check_numerics_ops": debugging.add_check_numerics_ops,
    **{name: getattr(_math, name) for name in AT_THE_TOP},
    **{old: getattr(_linalg, new) for old, new in MATRICES.items()},
    "cond": cond,
    "where": where,
    "string_to_number": strings.to_number,
    "image": Space(
        "compat.v1.image",
        **{
            **_IMAGE,
            **_FIRST_IMAGE,
            "resize": resize_images,
            "ResizeMethod": RESIZE_METHOD,
            "extract_glimpse": _cut.first_glimpse,
        },
        **_PICTURES,
        **{n: f for n, f in _CHANGED.items() if not n.startswith("stateless")},
        **{f"resize_{mode}": _re.old_resize(mode) for mode in ("bilinear", "bicubic")},
        resize_nearest_neighbor=_re.old_resize("nearest"),
        resize_area=_re.old_resize("area"),
        resize_images=resize_images,
        transpose_image=_cut.turned,
        extract_image_patches=ALIASES["extract_image_patches"],
    ),
    "while_loop": while_loop,
    "arg_max": _m.argmax,
    "arg_min": _m.argmin,
    "string_join": strings.join,
    **TEXTS,
    "multinomial": multinomial,
    "div": div,
    "to_float": _cast_to("float32"),
    "to_double": _cast_to("float64"),
    "to_int32": _cast_to("int32"),
    "to_int64": _cast_to("int64"),
    "nn": NN,
}
"""The names of the first version that differ from those at the top."""
