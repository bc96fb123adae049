"""Losses, normalisation and attention."""

from __future__ import annotations

import warnings as _warnings
from collections.abc import Sequence

import numpy as _np
from keras.src.backend.common.dtypes import result_type as _result_type
from keras.src.backend.config import epsilon as _epsilon

from ...eager.tensor import Tensor
from ...graph.graph import GraphTensor
from ...graph.kinds import Composite
from ...tf.distribute.replicas import ReplicaContext as _Replica
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import gathering as _g
from ...tf.ops import math_ops as _m
from ...tf.ops import nn_ops as _n
from ...tf.ops import sorting as _sorting
from ...values.context import STATE as _STATE
from ...values.given import TensorLike
from .activations import one_hot as _one_hot
from .numbers import clip as _clip
from .tensors import (
    Axes,
    cast,
    convert_to_numpy,
    convert_to_tensor,
    largest,
    name_of,
    rank,
)

_F, _R = _m.FUNCTIONS, _m.REDUCTIONS


def _same_shapes(target: Tensor, output: Tensor) -> None:
    if rank(target) < 1 or rank(output) < 1 or rank(target) != rank(output):
        raise ValueError(
            "Arguments `target` and `output` must have the same rank of at least 1, got "
            f"target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}"
        )
    for a, b in zip(target.shape, output.shape, strict=True):
        if a is not None and b is not None and a != b:
            raise ValueError(
                "Arguments `target` and `output` must have the same shape. Received: "
                f"target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}"
            )


def categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Return the cross entropy of distributions along an axis."""
    wanted, given = convert_to_tensor(target), convert_to_tensor(output)
    _same_shapes(wanted, given)
    given, from_logits = _logits_of(given, "Softmax", "categorical_crossentropy", from_logits)
    if from_logits:
        return _n.softmax_cross_entropy_with_logits(cast(wanted, name_of(given)), given, axis)
    logs = _log_shares(given, axis)
    return -_R["reduce_sum"](cast(wanted, name_of(logs)) * logs, axis)


def _logits_of(output: Tensor, kind: str, loss: str, from_logits: bool) -> tuple[Tensor, bool]:
    """Return what a softmax or sigmoid was computed from, and whether these are logits.

    Keras does so for TensorFlow's tensors: shares that are rounded to 0 or 1 have lost what
    their logits still say. Of an activation of Keras it does not ask which of the two it was.
    """
    logits = getattr(output, "_keras_logits", None)
    if logits is None and isinstance(output, GraphTensor) and _is_last(output, kind):
        logits = output.op.inputs[0]
    if logits is None:
        return output, from_logits
    if from_logits:
        _warnings.warn(
            f'"`{loss}` received `from_logits=True`, but the `output` argument was produced by a '
            f"{kind} activation and thus does not represent logits. Was this intended?",
            stacklevel=3,
        )
    return logits, True


def _is_last(output: GraphTensor, kind: str) -> bool:
    """Say whether a softmax or sigmoid is the operation that TensorFlow ends with, too.

    Behind a softmax along an axis before the last one TensorFlow exchanges the axes again.
    """
    made = output.op.kind
    axis = made.options.get("axis", -1) if isinstance(made, Composite) else -1
    return output.op.type == kind and axis in {-1, rank(output) - 1}


def _log_shares(x: Tensor, axis: int) -> Tensor:
    """Return the logarithms of shares, which are made to add up to one."""
    shares = x / _R["reduce_sum"](x, axis, keepdims=True)
    return _F["log"](_clip(shares, _epsilon(), 1.0 - _epsilon()))


def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Return the cross entropy of the numbers of classes."""
    wanted, given = cast(convert_to_tensor(target), "int32"), convert_to_tensor(output)
    given, from_logits = _logits_of(
        given, "Softmax", "sparse_categorical_crossentropy", from_logits
    )
    if rank(wanted) == rank(given) and wanted.shape[-1] == 1:
        wanted = _a.squeeze(wanted, [-1])
    if rank(given) < 1:
        raise ValueError(f"Argument `output` must be at least rank 1, got {tuple(given.shape)}")
    rest = [n for i, n in enumerate(given.shape) if i != axis % rank(given)]
    if rank(wanted) != len(rest):
        raise ValueError(
            "Argument `output` must have rank (ndim) `target.ndim - 1`. Received: "
            f"target.shape={tuple(wanted.shape)}, output.shape={tuple(given.shape)}"
        )
    for a, b in zip(wanted.shape, rest, strict=True):
        if a is not None and b is not None and a != b:
            raise ValueError(
                "Arguments `target` and `output` must have the same shape up until the last "
                f"dimension: target.shape={tuple(wanted.shape)}, "
                f"output.shape={tuple(given.shape)}"
            )
    if not from_logits:
        given = _F["log"](_clip(given, _epsilon(), 1.0 - _epsilon()))
    if axis % rank(given) == rank(given) - 1 and rest:
        return _n.sparse_softmax_cross_entropy_with_logits(wanted, given)
    logs: Tensor = _n.log_softmax(given, axis)
    hot = _one_hot(wanted, given.shape[axis], axis=axis, dtype=name_of(logs))
    return -_R["reduce_sum"](hot * logs, axis)


def binary_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False
) -> Tensor:
    """Return the cross entropy of truths."""
    wanted, given = convert_to_tensor(target), convert_to_tensor(output)
    if rank(wanted) != rank(given):
        raise ValueError(
            "Arguments `target` and `output` must have the same rank. Received: "
            f"target.shape={tuple(wanted.shape)}, output.shape={tuple(given.shape)}"
        )
    for a, b in zip(wanted.shape, given.shape, strict=True):
        if a is not None and b is not None and a != b:
            raise ValueError(
                "Arguments `target` and `output` must have the same shape. Received: "
                f"target.shape={tuple(wanted.shape)}, output.shape={tuple(given.shape)}"
            )
    given, from_logits = _logits_of(given, "Sigmoid", "binary_crossentropy", from_logits)
    wanted = cast(wanted, name_of(given))
    if from_logits:
        return _n.sigmoid_cross_entropy_with_logits(wanted, given)
    given = _clip(given, _epsilon(), 1.0 - _epsilon())
    return -(wanted * _F["log"](given) + (1.0 - wanted) * _F["log"](1.0 - given))


def _moments_of_all(
    replica: _Replica, x: Tensor, axes: Axes, keepdims: bool
) -> tuple[Tensor, Tensor]:
    """Return means and variances of what all replicas have, by sums over them."""
    kind = name_of(x)
    wide = cast(x, "float32") if kind in ("float16", "bfloat16") else x
    listed = list(axes) if isinstance(axes, tuple) else axes
    total = _R["reduce_sum"]
    ones = total(_made.ones_like(wide), listed, keepdims)
    sums = [total(wide, listed, keepdims), total(wide * wide, listed, keepdims), ones]
    whole, squares, count = replica.all_reduce("SUM", sums)
    mean = whole / count
    variance = _F["maximum"](squares / count - mean * mean, 0.0)
    return cast(mean, kind), cast(variance, kind)


def moments(
    x: TensorLike, axes: Axes, keepdims: bool = False, synchronized: bool = False
) -> tuple[Tensor, Tensor]:
    """Return means and variances along axes; of half floats computed in f32.

    With `synchronized` they are of the rows of all replicas that run.
    """
    if synchronized and isinstance(_STATE.replica, _Replica):
        return _moments_of_all(_STATE.replica, convert_to_tensor(x), axes, keepdims)
    tensor = convert_to_tensor(x)
    kind = name_of(tensor)
    wide = cast(tensor, "float32") if kind in ("float16", "bfloat16") else tensor
    listed = list(axes) if isinstance(axes, tuple) else axes
    mean: Tensor
    variance: Tensor
    mean, variance = _n.moments(wide, listed, keepdims=keepdims)
    if kind != name_of(wide):
        limit = largest(kind)
        mean, variance = _clip(mean, -limit, limit), _clip(variance, -limit, limit)
    return cast(mean, kind), cast(variance, kind)


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    axis: int,
    offset: TensorLike | None = None,
    scale: TensorLike | None = None,
    epsilon: float = 1e-3,
) -> Tensor:
    """Return values with a mean taken off and divided by a deviation, along an axis."""
    tensor = convert_to_tensor(x)
    along = [1] * rank(tensor)
    along[axis] = -1

    def fitted(each: TensorLike) -> Tensor:
        return cast(_a.reshape(convert_to_tensor(each), along), name_of(tensor))

    factor = _F["rsqrt"](fitted(variance) + epsilon)
    if scale is not None:
        factor = factor * fitted(scale)
    shift = -fitted(mean) * factor
    if offset is not None:
        shift = shift + fitted(offset)
    return tensor * factor + shift


def ctc_loss(
    target: TensorLike,
    output: TensorLike,
    target_length: TensorLike,
    output_length: TensorLike,
    mask_index: int = 0,
) -> Tensor:
    """Return the negative logarithm of the probability of labels (Graves et al., 2006).

    `target` [B, L] are labels, `output` [B, T, C] logits; `mask_index` is the blank.
    """
    labels, logits = convert_to_tensor(target, "int32"), convert_to_tensor(output)
    if rank(labels) != 2 or rank(logits) != 3:
        raise ValueError(
            f"Not enough dimensions: target {tuple(labels.shape)} must be [B, L], "
            f"output {tuple(logits.shape)} [B, T, C]"
        )
    kind = str(_result_type(name_of(logits), "float32"))
    logs = _n.log_softmax(cast(logits, kind), -1)
    lengths = convert_to_tensor(target_length, "int32")
    steps = convert_to_tensor(output_length, "int32")
    most = labels.shape[1]
    # Blanks stand before, between and behind the labels.
    blanks = _made.zeros_like(labels) + mask_index
    wide = _a.reshape(_a.stack([blanks, labels], -1), [-1, 2 * most])
    wide = _a.concat([wide, blanks[:, :1]], 1)
    emitted = _g.gather(logs, _spread(wide, logs), axis=2, batch_dims=2)
    least = float(_np.finfo(kind).min) / 4
    before = _a.pad(wide, [(0, 0), (2, 0)], constant_values=-1)[:, :-2]
    # A label may be the blank's number: what stands at an even place is a blank, nothing else is.
    skips = _F["logical_and"](_np.arange(2 * most + 1) % 2 == 1, _F["not_equal"](wide, before))
    first = _np.arange(2 * most + 1) < 2
    state = _a.where(first, emitted[:, 0], _made.zeros_like(emitted[:, 0]) + least)

    def moved(x: Tensor, by: int) -> Tensor:
        return _a.pad(x, [(0, 0), (by, 0)], constant_values=least)[:, : 2 * most + 1]

    for step in range(1, logits.shape[1]):
        one, two = moved(state, 1), moved(state, 2)
        two = _a.where(skips, two, _made.zeros_like(two) + least)
        every = _R["reduce_logsumexp"](_a.stack([state, one, two], 0), 0)
        going = _a.expand_dims(_F["less"](step, steps), -1)
        state = _a.where(going, every + emitted[:, step], state)
    ends = _a.stack([2 * lengths, _F["maximum"](2 * lengths - 1, 0)], -1)
    last = _g.gather(state, ends, axis=1, batch_dims=1)
    none = _a.expand_dims(_F["equal"](lengths, 0), -1)
    alone = _a.concat([last[:, :1], _made.zeros_like(last[:, :1]) + least], 1)
    return -_R["reduce_logsumexp"](_a.where(none, alone, last), -1)


def _spread(wide: Tensor, logs: Tensor) -> Tensor:
    """Return the labels for each step."""
    return _a.tile(_a.expand_dims(wide, 1), [1, logs.shape[1], 1])


def ctc_decode(
    inputs: TensorLike,
    sequence_lengths: TensorLike,
    strategy: str = "greedy",
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
    mask_index: int = 0,
) -> tuple[Tensor, Tensor]:
    """Return the likeliest labels [paths, B, L], filled up by -1, and their scores."""
    logits = convert_to_tensor(inputs)
    logits = cast(logits, str(_result_type(name_of(logits), "float32")))
    lengths = convert_to_tensor(sequence_lengths, "int32")
    if strategy == "greedy":
        return _greedy(logits, lengths, merge_repeated=merge_repeated, mask_index=mask_index)
    if strategy == "beam_search":
        return _beams(logits, lengths, beam_width, top_paths, mask_index)
    raise ValueError(
        f"Invalid strategy {strategy}. Supported values are 'greedy' and 'beam_search'."
    )


def _greedy(
    logits: Tensor, lengths: Tensor, *, merge_repeated: bool, mask_index: int | None
) -> tuple[Tensor, Tensor]:
    count = logits.shape[1]
    blank = logits.shape[2] - 1 if mask_index is None else mask_index
    best = _m.argmax(logits, -1, output_type="int32")
    top = _R["reduce_max"](logits, -1)
    inside = _F["less"](_made.range_(count), _a.expand_dims(lengths, -1))
    scores = -_R["reduce_sum"](_a.where(inside, top, _made.zeros_like(top)), 1, keepdims=True)
    kept = _F["logical_and"](inside, _F["not_equal"](best, blank))
    if merge_repeated:
        before = _a.pad(best, [(0, 0), (1, 0)], constant_values=-1)[:, :-1]
        kept = _F["logical_and"](kept, _F["not_equal"](best, before))
    # What is kept goes to the front in its order: a stable sort by being kept.
    order = _sorting.argsort(_a.where(kept, _made.range_(count), _made.range_(count) + count), -1)
    named = _a.where(kept, best, _made.zeros_like(best) - 1)
    labels = _g.gather(named, order, axis=1, batch_dims=1)
    return _a.expand_dims(labels, 0), scores


def _beams(
    logits: Tensor, lengths: Tensor, width: int, paths: int, mask_index: int | None
) -> tuple[Tensor, Tensor]:
    """Search prefixes on the host (Graves and Jaitly, 2014)."""
    logs = convert_to_numpy(_n.log_softmax(logits, -1))
    counts = convert_to_numpy(lengths)
    blank = logs.shape[2] - 1 if mask_index is None else mask_index
    labels = _np.full((paths, logs.shape[0], logs.shape[1]), -1, _np.int32)
    scores = _np.zeros((logs.shape[0], paths), logs.dtype)
    for row, (steps, count) in enumerate(zip(logs, counts, strict=True)):
        found = _prefixes(steps[:count], width, blank)
        for path, (prefix, score) in enumerate(found[:paths]):
            labels[path, row, : len(prefix)] = prefix
            scores[row, path] = score
    return convert_to_tensor(labels), convert_to_tensor(scores)


def _add(
    into: dict[tuple[int, ...], tuple[float, float]],
    prefix: tuple[int, ...],
    ends_blank: float,
    ends_label: float,
) -> None:
    """Add the probabilities of a prefix that ends with a blank, and with a label."""
    one, two = into.get(prefix, (-_np.inf, -_np.inf))
    into[prefix] = (_np.logaddexp(one, ends_blank), _np.logaddexp(two, ends_label))


def _prefixes(
    steps: Sequence[Sequence[float]], width: int, blank: int
) -> list[tuple[tuple[int, ...], float]]:
    """Return the likeliest prefixes with the logarithms of their probabilities."""
    never = -_np.inf
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, never)}
    for logs in steps:
        new: dict[tuple[int, ...], tuple[float, float]] = {}
        for prefix, (ends_blank, ends_label) in beams.items():
            whole = _np.logaddexp(ends_blank, ends_label)
            for label, log in enumerate(logs):
                if label == blank:
                    _add(new, prefix, whole + log, never)
                elif prefix and label == prefix[-1]:
                    _add(new, prefix, never, ends_label + log)
                    _add(new, (*prefix, label), never, ends_blank + log)
                else:
                    _add(new, (*prefix, label), never, whole + log)
        ranked = sorted(new.items(), key=lambda each: -_np.logaddexp(*each[1]))
        beams = dict(ranked[:width])
    return [(prefix, float(_np.logaddexp(*ends))) for prefix, ends in beams.items()]


def psnr(x1: TensorLike, x2: TensorLike, max_val: TensorLike) -> Tensor:
    """Return the ratio of the largest signal to the error, in decibels."""
    a, b = convert_to_tensor(x1), convert_to_tensor(x2)
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(
            f"Input shapes {tuple(a.shape)} and {tuple(b.shape)} must match for PSNR calculation. "
        )
    top = cast(max_val, name_of(b))
    error = _m.reduce_mean((a - b) * (a - b))
    return (20.0 * _F["log"](top) - 10.0 * _F["log"](error)) / float(_np.log(10.0))


def dot_product_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    bias: TensorLike | None = None,
    mask: TensorLike | None = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
    attn_logits_soft_cap: float | None = None,
) -> Tensor:
    """Return values weighted by the softmax of products of queries [B, T, N, H] and keys."""
    if flash_attention:
        raise ValueError("Flash attention is chosen by gravure's passes, it cannot be asked for.")
    q, k, v = map(convert_to_tensor, (query, key, value))
    if {rank(q), rank(k), rank(v)} != {4}:
        raise ValueError(
            "`dot_product_attention` only supports 4D inputs. Received: "
            f"query.shape={tuple(q.shape)}, key.shape={tuple(k.shape)}, "
            f"value.shape={tuple(v.shape)}."
        )
    kind = str(_result_type(name_of(q), name_of(k), name_of(v), float))
    q, k, v = (cast(x, kind) for x in (q, k, v))
    q, k, v = (_a.transpose(x, [0, 2, 1, 3]) for x in (q, k, v))
    heads, kept, features = (_known(x, axis) for x, axis in ((q, 1), (k, 1), (q, 3)))
    groups = heads // kept
    if groups > 1:
        k, v = _a.repeat(k, groups, 1), _a.repeat(v, groups, 1)
    factor = features**-0.5 if scale is None else scale
    logits = cast(_m.matmul(q * cast(factor, kind), k, transpose_b=True), _wide(kind))
    if attn_logits_soft_cap is not None:
        logits = _F["tanh"](logits / attn_logits_soft_cap) * attn_logits_soft_cap
    if bias is not None:
        logits = logits + cast(bias, name_of(logits))
    weights = _n.softmax(_masked(logits, mask, is_causal=is_causal), -1)
    return _a.transpose(_m.matmul(cast(weights, kind), v), [0, 2, 1, 3])


def _known(x: Tensor, axis: int) -> int:
    """Return a size of heads or features, which must be known before the run."""
    size = tuple(x.shape)[axis]
    if not isinstance(size, int):
        raise ValueError(f"heads and features must be known before the run, not {tuple(x.shape)}")
    return size


def _wide(kind: str) -> str:
    return str(_result_type(kind, "float32"))


def _masked(logits: Tensor, mask: TensorLike | None, *, is_causal: bool) -> Tensor:
    """Return logits with a large negative number where the mask does not hold."""
    if mask is None and not is_causal:
        return logits
    kept = None if mask is None else convert_to_tensor(mask, "bool")
    if is_causal:
        rows, columns = (_a.shape(logits)[i] for i in (-2, -1))
        below = _F["greater_equal"](
            _a.expand_dims(_made.range_(rows), 1), _a.expand_dims(_made.range_(columns), 0)
        )
        kept = below if kept is None else _F["logical_and"](kept, below)
    assert kept is not None
    least = -0.7 * float(_np.finfo(name_of(logits)).max)
    return _a.where(kept, logits, _made.zeros_like(logits) + least)
