"""Time single operations, carried out at once, beside TensorFlow.

    python tools/measuring/eager_operations.py --peer VENV/bin/python

Each Python carries out the same operations on one thread, on operands of about ten, a thousand and
a million elements; a row is the least processor time of each in microseconds and gravure's as a
part of TensorFlow's. The last line is their geometric mean, and how many are above 1.2. `--only`
takes the rows whose names have one of some texts in them, as in `--only 'qr 1e1,gamma'`. The two
Pythons take turns, `--rounds` times. With `--staged` each operation is a function of its tensors,
called often enough to be compiled; what can be carried out at once only is left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time, sleep
from types import CellType, FunctionType
from typing import Any

import numpy as np

SIZES = {"1e1": (2, 5), "1e3": (10, 100), "1e6": (1000, 1000)}
PATIENCE = 0.05
"""Seconds of the processor that an operation is repeated for."""
FEWEST = 5
"""How often it is carried out at least."""
OFTEN = 600
"""How often it is carried out before, ..."""
BEFORE = 0.2
"""... unless that takes more seconds than these."""
LEAST = 0.05
"""The microseconds below which the clock says nothing."""
ONE_THREAD = dict.fromkeys(("GRAVURE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""Of compiled code, of TensorFlow, and of numpy, whose threads spin beside it."""


def operations(tf: Any, rows: int, columns: int) -> dict[str, Callable[[], object]]:
    """Return the operations by name, on matrices of so many rows and columns."""
    random = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return tf.constant(random.random(shape, np.float32))

    x, y = draw(rows, columns), draw(rows, columns)
    side = 10 if rows < 100 else 250
    image, window = draw(1, side, side, 16), draw(3, 3, 16, 16)
    numbers = tf.constant(random.integers(0, rows, rows, np.int32))
    many = tf.constant(random.integers(0, 50, rows * columns, np.int32))
    chosen = x > 0.5
    return {
        "add": lambda: x + y,
        "exp": lambda: tf.exp(x),
        "tanh": lambda: tf.tanh(x),
        "relu": lambda: tf.nn.relu(x),
        "gelu": lambda: tf.nn.gelu(x),
        "lgamma": lambda: tf.math.lgamma(x),
        "pow": lambda: x**y,
        "mod": lambda: x % y,
        "cast": lambda: tf.cast(x, tf.int32),
        "where": lambda: tf.where(chosen, x, y),
        "where is": lambda: tf.where(chosen),
        "clip": lambda: tf.clip_by_value(x, 0.2, 0.8),
        "sum": lambda: tf.reduce_sum(x),
        "sum of rows": lambda: tf.reduce_sum(x, 1),
        "max of rows": lambda: tf.reduce_max(x, 1),
        "argmax": lambda: tf.argmax(x, 1),
        "std": lambda: tf.math.reduce_std(x, 1),
        "moments": lambda: tf.nn.moments(x, [0]),
        "logsumexp": lambda: tf.reduce_logsumexp(x, 1),
        "softmax": lambda: tf.nn.softmax(x),
        "cross entropy": lambda: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
        "cumsum": lambda: tf.cumsum(x, 1),
        "sort": lambda: tf.sort(x, 1),
        "top_k": lambda: tf.math.top_k(x, 2),
        "unique": lambda: tf.unique(many),
        "bincount": lambda: tf.math.bincount(many),
        "histogram": lambda: tf.histogram_fixed_width(x, [0.0, 1.0]),
        "segment sum": lambda: tf.math.unsorted_segment_sum(x, numbers, rows),
        "gather": lambda: tf.gather(x, numbers),
        "one_hot": lambda: tf.one_hot(numbers, columns),
        "transpose": lambda: tf.transpose(x),
        "concat": lambda: tf.concat([x, y], 1),
        "tile": lambda: tf.tile(x, [2, 1]),
        "slice": lambda: x[:, 1:],
        "range": lambda: tf.range(rows * columns),
        "uniform": lambda: tf.random.uniform([rows, columns]),
        "normal": lambda: tf.random.normal([rows, columns]),
        "dropout": lambda: tf.nn.dropout(x, 0.5),
        "matmul": lambda: tf.matmul(x, y, transpose_b=True),
        "einsum": lambda: tf.einsum("ij,kj->ik", x, y),
        "conv2d": lambda: tf.nn.conv2d(image, window, 1, "SAME"),
        "max_pool": lambda: tf.nn.max_pool2d(image, 2, 2, "SAME"),
        "avg_pool": lambda: tf.nn.avg_pool2d(image, 2, 2, "SAME"),
        "resize": lambda: tf.image.resize(image, [64, 64]),
    }


Runs = dict[str, Callable[[], object]]


class Operands:
    """What the operations are carried out on, of about so many rows and columns."""

    def __init__(self, tf: Any, rows: int, columns: int) -> None:
        random = np.random.default_rng(0)

        def draw(*shape: int) -> Any:
            return tf.constant(random.random(shape, np.float32))

        self.rows, self.columns = rows, columns
        self.x, self.y = draw(rows, columns), draw(rows, columns)
        self.half = [tf.cast(z, tf.float16) for z in (self.x, self.y)]
        self.brain = [tf.cast(z, tf.bfloat16) for z in (self.x, self.y)]
        side = {2: 4, 10: 10}.get(rows, 250)
        self.image = draw(1, side, side, 16)
        self.numbers = tf.constant(np.sort(random.integers(0, rows, rows)).astype(np.int32))
        corners = random.random((min(rows, 500), 2), np.float32)
        self.boxes = tf.constant(np.concatenate([corners, corners + np.float32(0.2)], 1))
        self.scores, self.zeros = draw(len(corners)), tf.zeros(len(corners), tf.int32)
        self.square = draw(min(rows, 100), min(rows, 100)) + 9 * tf.eye(min(rows, 100))


def rarer(tf: Any, given: Operands) -> Runs:
    """Return the operations by name."""
    groups = (narrow, segments, drawn, images, special, matrices, places, texts, sparse)
    every = (*groups, parsed, uneven, once_slow, still_slow)
    return {name: run for group in every for name, run in group(tf, given).items()}


def narrow(tf: Any, given: Operands) -> Runs:
    """Return those on floats of 16 bits."""
    x, half, brain = given.x, given.half, given.brain
    return {
        "f16 multiply": lambda: half[0] * half[1],
        "f16 add": lambda: half[0] + half[1],
        "f16 exp": lambda: tf.exp(half[0]),
        "f16 sum": lambda: tf.reduce_sum(half[0], 1),
        "f16 matmul": lambda: tf.matmul(half[0], half[1], transpose_b=True),
        "bf16 multiply": lambda: brain[0] * brain[1],
        "bf16 tanh": lambda: tf.tanh(brain[0]),
        "bf16 sum": lambda: tf.reduce_sum(brain[0], 1),
        "bf16 matmul": lambda: tf.matmul(brain[0], brain[1], transpose_b=True),
        "bf16 cast": lambda: tf.cast(brain[0], tf.float32),
        "f16 cast": lambda: tf.cast(x, tf.float16),
    }


def segments(tf: Any, given: Operands) -> Runs:
    """Return those on rows that belong together."""
    x, numbers, rows = given.x, given.numbers, given.rows
    return {
        "sorted segment sum": lambda: tf.math.segment_sum(x, numbers),
        "sorted segment mean": lambda: tf.math.segment_mean(x, numbers),
        "sorted segment max": lambda: tf.math.segment_max(x, numbers),
        "sparse segment mean": lambda: tf.sparse.segment_mean(x, numbers, numbers),
        "unsorted segment max": lambda: tf.math.unsorted_segment_max(x, numbers, rows),
        "unsorted segment mean": lambda: tf.math.unsorted_segment_mean(x, numbers, rows),
    }


def drawn(tf: Any, given: Operands) -> Runs:
    """Return draws."""
    x, rows, columns = given.x, given.rows, given.columns
    return {
        "gamma": lambda: tf.random.gamma([rows, columns], 2.0),
        "poisson": lambda: tf.random.poisson([rows, columns], 2.0),
        "truncated": lambda: tf.random.truncated_normal([rows, columns]),
        "categorical": lambda: tf.random.categorical(x, 3),
        "shuffle": lambda: tf.random.shuffle(x),
        "randint": lambda: tf.random.uniform([rows, columns], 0, 9, tf.int32),
        "stateless": lambda: tf.random.stateless_normal([rows, columns], [1, 2]),
    }


def images(tf: Any, given: Operands) -> Runs:
    """Return those on images."""
    image, boxes, scores, zeros = given.image, given.boxes, given.scores, given.zeros
    return {
        "suppression": lambda: tf.image.non_max_suppression(boxes, scores, 50),
        "crop_and_resize": lambda: tf.image.crop_and_resize(image, boxes, zeros, [7, 7]),
        "lrn": lambda: tf.nn.local_response_normalization(image),
        "fused batch_norm": lambda: tf.compat.v1.nn.fused_batch_norm(
            image, image[0, 0, 0], image[0, 0, 1]
        ),
        "depthwise": lambda: tf.nn.depthwise_conv2d(
            image, image[0, :3, :3, :, None], [1] * 4, "SAME"
        ),
        "rgb_to_hsv": lambda: tf.image.rgb_to_hsv(image[..., :3]),
        "nearest": lambda: tf.image.resize(image, [64, 64], "nearest"),
        "bicubic": lambda: tf.image.resize(image, [64, 64], "bicubic"),
        "extract_patches": lambda: tf.image.extract_patches(
            image, [1, 3, 3, 1], [1, 2, 2, 1], [1] * 4, "SAME"
        ),
        "space_to_depth": lambda: tf.nn.space_to_depth(image, 2),
        "adjust_hue": lambda: tf.image.adjust_hue(image[..., :3], 0.1),
        "adjust_contrast": lambda: tf.image.adjust_contrast(image, 0.5),
        "dilation": lambda: tf.nn.dilation2d(
            image, image[0, :3, :3], [1] * 4, "SAME", "NHWC", [1] * 4
        ),
        "conv3d": lambda: tf.nn.conv3d(
            image[:, None], image[:, :3, :3, :, None] * tf.ones([4]), [1] * 5, "SAME"
        ),
        "max_pool3d": lambda: tf.nn.max_pool3d(image[:, None], [1, 2, 2], [1, 2, 2], "SAME"),
        "argmax pool": lambda: tf.nn.max_pool_with_argmax(image, 2, 2, "SAME"),
    }


def special(tf: Any, given: Operands) -> Runs:
    """Return element-wise ones."""
    x, y, numbers = given.x, given.y, given.numbers
    many, others = tf.cast(x * 1e5, tf.int32), tf.cast(y * 100, tf.int32) + 1
    return {
        "erfinv": lambda: tf.math.erfinv(x),
        "ndtri": lambda: tf.math.ndtri(x),
        "erf": lambda: tf.math.erf(x),
        "digamma": lambda: tf.math.digamma(x),
        "igamma": lambda: tf.math.igamma(x, y),
        "log1p": lambda: tf.math.log1p(x),
        "atan2": lambda: tf.math.atan2(x, y),
        "batch_norm": lambda: tf.nn.batch_normalization(x, 0.1, 1.0, 0.2, 1.1, 1e-3),
        "fft": lambda: tf.signal.fft(tf.complex(x, y)),
        "rfft": lambda: tf.signal.rfft(x),
        "i32 multiply": lambda: numbers * numbers,
        "i32 floordiv": lambda: numbers // 3,
        "i32 divide": lambda: many // others,
        "i32 truncdiv": lambda: tf.truncatediv(many, others),
        "equal": lambda: tf.equal(x, y),
        "selu": lambda: tf.nn.selu(x),
        "softplus": lambda: tf.nn.softplus(x),
        "bitcast": lambda: tf.bitcast(x, tf.int32),
        "add_n": lambda: tf.add_n([x, y, x]),
        "zeta": lambda: tf.math.zeta(x + 1, y),
        "polygamma": lambda: tf.math.polygamma(tf.round(y * 3), x + 1),
        "complex multiply": lambda: tf.complex(x, y) * tf.complex(y, x),
        "xor": lambda: tf.bitwise.bitwise_xor(numbers, numbers),
    }


def matrices(tf: Any, given: Operands) -> Runs:
    """Return those on matrices."""
    x, y, square = given.x, given.y, given.square
    return {
        "band_part": lambda: tf.linalg.band_part(x, 1, 1),
        "diag_part": lambda: tf.linalg.diag_part(x),
        "diag": lambda: tf.linalg.diag(x[:1]),
        "tensor_diag": lambda: tf.linalg.tensor_diag(x[0, :100]),
        "cholesky": lambda: tf.linalg.cholesky(tf.linalg.matmul(square, square, True)),
        "inverse": lambda: tf.linalg.inv(square),
        "det": lambda: tf.linalg.det(square),
        "l2_normalize": lambda: tf.nn.l2_normalize(x, 1),
        "norm": lambda: tf.norm(x),
        "svd": lambda: tf.linalg.svd(square),
        "qr": lambda: tf.linalg.qr(square),
        "eigh": lambda: tf.linalg.eigh(square),
        "solve": lambda: tf.linalg.solve(square, square),
        "triangular": lambda: tf.linalg.triangular_solve(square, square),
        "cross": lambda: tf.linalg.cross(x[:, :3], y[:, :3]),
        "einsum3": lambda: tf.einsum("ij,ij->i", x, y),
        "tensordot": lambda: tf.tensordot(x, y, [[0, 1], [0, 1]]),
    }


def places(tf: Any, given: Operands) -> Runs:
    """Return those that look elements up, or bring them elsewhere."""
    x, y, numbers, rows = given.x, given.y, given.numbers, given.rows
    columns = given.columns
    return {
        "gather_nd": lambda: tf.gather_nd(x, numbers[:, None]),
        "scatter_nd": lambda: tf.scatter_nd(numbers[:, None], x, [rows, columns]),
        "scatter update": lambda: tf.tensor_scatter_nd_update(x, numbers[:, None], y),
        "reverse": lambda: tf.reverse(x, [1]),
        "roll": lambda: tf.roll(x, 3, 1),
        "pad": lambda: tf.pad(x, [[1, 1], [1, 1]], "REFLECT"),
        "cumprod": lambda: tf.math.cumprod(x, 0),
        "in_top_k": lambda: tf.math.in_top_k(numbers % columns, x, 2),
        "sparse xent": lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=numbers % columns, logits=x
        ),
        "searchsorted": lambda: tf.searchsorted(tf.range(100.0) / 100, x[0]),
        "bool mask": lambda: tf.boolean_mask(x, x > 0.5),
        "split": lambda: tf.split(x, 2, 0),
        "stack": lambda: tf.stack([x, y]),
        "reduce_any": lambda: tf.reduce_any(x > 2),
        "reduce_prod": lambda: tf.reduce_prod(x, 0),
        "variance": lambda: tf.math.reduce_variance(x, 0),
        "embedding": lambda: tf.nn.embedding_lookup(x, numbers),
        "linspace": lambda: tf.linspace(0.0, 1.0, rows * columns),
        "meshgrid": lambda: tf.meshgrid(x[0], x[:, 0]),
        "sequence_mask": lambda: tf.sequence_mask(numbers, columns),
        "dynamic_partition": lambda: tf.dynamic_partition(x, numbers % 2, 2),
        "dynamic_stitch": lambda: tf.dynamic_stitch([tf.range(rows)], [x]),
        "unique with counts": lambda: tf.unique_with_counts(numbers),
        "argsort": lambda: tf.argsort(x, 1),
        "confusion": lambda: tf.math.confusion_matrix(numbers, numbers, rows),
    }


def texts(tf: Any, given: Operands) -> Runs:
    """Return those on texts, of which there are a hundred thousand at most."""
    random = np.random.default_rng(0)
    count = min(given.rows * given.columns, 100_000)
    words = tf.constant([b"word%d" % i for i in random.integers(0, 5000, count)])
    numbers = tf.reshape(given.x, [-1])[:count]
    written = tf.constant([b"%f" % x for x in random.random(count)])
    order = tf.constant(random.permutation(count))
    pairs = tf.reshape(words, [-1, 2])
    return {
        "length": lambda: tf.strings.length(words),
        "characters": lambda: tf.strings.length(words, "UTF8_CHAR"),
        "substr": lambda: tf.strings.substr(words, 1, 2),
        "lower": lambda: tf.strings.lower(words),
        "join texts": lambda: tf.strings.join([words, words], "-"),
        "bucket": lambda: tf.strings.to_hash_bucket_fast(words, 100),
        "strong bucket": lambda: tf.strings.to_hash_bucket_strong(words, 100, [1, 2]),
        "regex_replace": lambda: tf.strings.regex_replace(words, "[0-9]", "#"),
        "as_string": lambda: tf.as_string(numbers),
        "to_number": lambda: tf.strings.to_number(written),
        "unique texts": lambda: tf.unique(words),
        "strip": lambda: tf.strings.strip(words),
        "texts alike": lambda: words == b"word7",
        "texts looked up": lambda: tf.gather(words, order),
        "encode_base64": lambda: tf.io.encode_base64(words),
        "ngrams": lambda: tf.strings.ngrams(words, 2),
        "reduce_join": lambda: tf.strings.reduce_join(pairs, 1),
    }


def parsed(tf: Any, given: Operands) -> Runs:
    """Return those that read texts, or make texts of numbers, of which there are as many."""
    random = np.random.default_rng(0)
    count = min(given.rows * given.columns, 100_000)
    numbers = random.integers(0, 5000, count)
    words = tf.constant([b"word%d" % i for i in numbers])
    lines = tf.constant([b"%d,%f,word%d" % (i, i / 7, i) for i in numbers])
    quoted = tf.constant([b'"%d","a, ""b""",x%d' % (i, i) for i in numbers])
    accented = tf.constant([f"w{i}\u00e9-x y".encode() for i in numbers])
    raw = tf.constant([x.tobytes() for x in random.random((count, 4), np.float32)])
    keys, ids = np.arange(5000), tf.constant(numbers)
    named = [b"word%d" % i for i in keys]
    tables = [
        tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(tf.constant(a), tf.constant(b)), d
        )
        for a, b, d in ((keys, named, "none"), (named, keys, -1))
    ]
    return {
        "decode_csv": lambda: tf.io.decode_csv(lines, [[0], [0.0], [""]]),
        "decode_csv quoted": lambda: tf.io.decode_csv(quoted, [[0], [""], [""]]),
        "transcode": lambda: tf.strings.unicode_transcode(accented, "UTF-8", "UTF-16-BE"),
        "transcode back": lambda: tf.strings.unicode_transcode(accented, "UTF-8", "UTF-8"),
        "texts of numbers": lambda: tables[0].lookup(ids),
        "numbers of texts": lambda: tables[1].lookup(words),
        "full match": lambda: tf.strings.regex_full_match(words, "word[0-9]+"),
        "zeros_like texts": lambda: tf.zeros_like(words),
        "decode_raw": lambda: tf.io.decode_raw(raw, tf.float32),
        "split to_tensor": lambda: tf.strings.split(accented).to_tensor(),
    }


def sparse(tf: Any, given: Operands) -> Runs:
    """Return those on sparse tensors that have a fifth of the elements."""
    random = np.random.default_rng(0)
    rows, columns = given.rows, given.columns

    def draw() -> Any:
        spots = np.unique(random.integers(0, rows * columns, -(-rows * columns // 5)))
        places = np.stack([spots // columns, spots % columns], 1)
        return tf.sparse.SparseTensor(places, tf.ones(len(spots)), [rows, columns])

    one, other, counted = draw(), draw(), tf.cast(given.x * 1000, tf.int32)
    return {
        "sparse add": lambda: tf.sparse.add(one, other),
        "sparse maximum": lambda: tf.sparse.maximum(one, other),
        "sparse bincount": lambda: tf.sparse.bincount(counted),
        "sparse softmax": lambda: tf.sparse.softmax(one),
        "sparse to_dense": lambda: tf.sparse.to_dense(one),
        "sparse matmul": lambda: tf.sparse.sparse_dense_matmul(one, given.y, adjoint_b=True),
    }


def uneven(tf: Any, given: Operands) -> Runs:
    """Return those on rows that differ in length, of a hundred thousand elements at most."""
    random = np.random.default_rng(0)
    count = min(given.rows * given.columns, 100_000)
    sizes = random.integers(0, 7, -(-count // 3))
    values = tf.constant(random.random(sizes.sum(), np.float32))
    rows, lengths = tf.RaggedTensor.from_row_lengths(values, sizes), tf.constant(sizes)
    order = tf.constant(random.permutation(len(sizes)))
    texts = tf.constant([f"w{i}\u00e9-x y".encode() for i in random.integers(0, 1000, count)])
    return {
        "uneven exp": lambda: tf.exp(rows),
        "uneven sum": lambda: tf.reduce_sum(rows, 1),
        "uneven gather": lambda: tf.gather(rows, order),
        "uneven concat": lambda: tf.concat([rows, rows], 1),
        "uneven slice": lambda: rows[:, 1:],
        "uneven to_tensor": rows.to_tensor,
        "to_tensor": lambda: tf.RaggedTensor.from_row_lengths(values, lengths).to_tensor(),
        "uneven to_sparse": rows.to_sparse,
        "words": lambda: tf.strings.split(texts),
        "bytes_split": lambda: tf.strings.bytes_split(texts),
        "unicode_decode": lambda: tf.strings.unicode_decode(texts, "UTF-8"),
        "unicode_split": lambda: tf.strings.unicode_split(texts, "UTF-8"),
    }


def once_slow(tf: Any, given: Operands) -> Runs:
    """Return what took more than thrice TensorFlow's time when all names were gone through."""
    x, y, rows, columns = given.x, given.y, given.rows, given.columns
    flat, count = tf.reshape(x, [-1]), rows * columns
    random = np.random.default_rng(0)
    order = tf.constant(random.permutation(count).astype(np.int32))
    ids = tf.constant(np.sort(random.integers(0, rows, count)).astype(np.int32))
    batch = tf.reshape(flat[: count // 10 * 10], [-1, 10])
    small = tf.einsum("bi,bj->bij", batch, batch)[:1000] + 5 * tf.eye(10)
    pieces = tf.signal.stft(tf.reshape(x, [-1]), 8, 4)
    return {
        "is_inf": lambda: tf.math.is_inf(x),
        "sign": lambda: tf.sign(x),
        "sqrt": lambda: tf.sqrt(x),
        "reciprocal": lambda: tf.math.reciprocal(x),
        "erfc": lambda: tf.math.erfc(x),
        "bessel_j0": lambda: tf.math.special.bessel_j0(x),
        "bessel_i0e": lambda: tf.math.bessel_i0e(x),
        "complex exp": lambda: tf.exp(tf.complex(x, y)),
        "complex sqrt": lambda: tf.sqrt(tf.complex(x, y)),
        "complex log": lambda: tf.math.log(tf.complex(x, y)),
        "betainc": lambda: tf.math.betainc(x, y, x),
        "cumulative_logsumexp": lambda: tf.math.cumulative_logsumexp(x, 1),
        "soft suppression": lambda: tf.image.non_max_suppression_with_scores(
            given.boxes, given.scores, 50, soft_nms_sigma=0.5
        ),
        "invert_permutation": lambda: tf.math.invert_permutation(order),
        "setdiff1d": lambda: tf.compat.v1.setdiff1d(order, order[:500]),
        "segments of numbers": lambda: tf.math.segment_sum(flat, ids),
        "fingerprint": lambda: tf.fingerprint(x),
        "lu": lambda: tf.linalg.lu(small),
        "inverse_stft": lambda: tf.signal.inverse_stft(pieces, 8, 4),
        "fake_quant": lambda: tf.quantization.fake_quant_with_min_max_vars(x, 0.0, 1.0),
        "quantize": lambda: tf.quantization.quantize_and_dequantize_v2(x, 0.0, 1.0),
        "area": lambda: tf.image.resize(given.image, [64, 64], "area"),
    }


def still_slow(tf: Any, given: Operands) -> Runs:
    """Return what took more than thrice TensorFlow's time when it got a row."""
    x, y, rows = given.x, given.y, given.rows
    random = np.random.default_rng(0)
    one, other = tf.complex(x, y), tf.complex(y, x)
    few = min(rows, 100)
    sets = [tf.constant(np.sort(random.integers(0, 50, (few, 8)), 1)) for _ in "ab"]
    pairs = [tf.sparse.from_dense(each + 1) for each in sets]
    scores = tf.nn.log_softmax(tf.constant(random.random((10, min(few, 20), 12), np.float32)))
    lengths = tf.fill([min(few, 20)], 10)
    classes = tf.constant(random.integers(0, 1000, (few, 1)))
    return {
        "complex divide": lambda: one / other,
        "complex tanh": lambda: tf.tanh(one),
        "edit_distance": lambda: tf.edit_distance(*pairs),
        "set intersection": lambda: tf.sets.intersection(*sets),
        "beam search": lambda: tf.nn.ctc_beam_search_decoder(scores, lengths, 10),
        "candidates": lambda: tf.random.log_uniform_candidate_sampler(classes, 1, 64, True, 1000),
    }


ROWS = Path(__file__).with_name("eager_rows.txt")


def listed(tf: Any, rows: int, columns: int) -> Runs:
    """Return the operations of `eager_rows.txt`: statements that make operands, then expressions.

    They were chosen for being none of the others: what nobody had looked at when they were noted.
    """
    random = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return tf.constant(random.random(shape, np.float32))

    def grad(function: Callable[..., object], *given: object) -> object:
        with tf.GradientTape() as tape:
            tape.watch(given)
            made = function(*given)
        return tape.gradient(made, given)

    names: dict[str, Any] = {
        **{"tf": tf, "np": np, "rows": rows, "columns": columns, "random": random},
        **{"draw": draw, "grad": grad},
    }
    operands, expressions = ROWS.read_text("utf-8").split("---\n")
    exec(operands, names)
    pairs = [line.split(" | ", 1) for line in expressions.splitlines()]
    return {name: eval(f"lambda: {expression}", names) for name, expression in pairs}


CALLS = 6
"""After so many calls a function is compiled, and has been called since."""


def staged(tf: Any, row: str, run: Callable[[], object]) -> Callable[[], object] | None:
    """Return a call of a function of the tensors that an operation is on; None if it is none."""
    if not isinstance(run, FunctionType):
        return None
    cells = [*(run.__closure__ or ())]
    given = [n for n, cell in enumerate(cells) if isinstance(cell.cell_contents, tf.Tensor)]

    def body(*tensors: object) -> object:
        for number, tensor in zip(given, tensors, strict=True):
            cells[number] = CellType(tensor)
        return FunctionType(run.__code__, run.__globals__, closure=tuple(cells))()

    tensors = [cells[number].cell_contents for number in given]
    function = tf.function(body, autograph=False)
    try:
        for _ in range(CALLS):
            function(*tensors)
            sleep(0.01)  # some are compiled beside it
    except (TypeError, ValueError, NotImplementedError, AttributeError) as error:
        sys.stderr.write(f"{row} fails in a function: {type(error).__name__}: {error}\n")
        return None
    return lambda: function(*tensors)


def measured(module: str, only: Sequence[str], *, in_functions: bool) -> dict[str, float]:
    """Return the least microseconds of each operation of a module of TensorFlow's names."""
    tf = importlib.import_module(module)
    if module == "tensorflow":
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    found = {}
    for size, (rows, columns) in SIZES.items():
        runs = operations(tf, rows, columns) | rarer(tf, Operands(tf, rows, columns))
        if not in_functions:  # which are of the tensors that a function closes over
            runs = listed(tf, rows, columns) | runs
        for name, run in runs.items():
            row = f"{name} {size}"
            if not any(text in row for text in only):
                continue
            call = staged(tf, row, run) if in_functions else run
            if call is not None:
                found[row] = max(1e6 * least(call), LEAST)
    return found


def least(run: Callable[[], object]) -> float:
    """Return the least seconds of the runs."""
    count, until = 0, process_time() + BEFORE
    while count < FEWEST or (count < OFTEN and process_time() < until):
        run()  # what is compiled or remembered is so from then on
        count += 1
    found, count, until = math.inf, 0, process_time() + PATIENCE
    while count < FEWEST or process_time() < until:
        start = process_time()
        run()
        found = min(found, process_time() - start)
        count += 1
    return found


def of_process(python: str, module: str, options: Sequence[str]) -> dict[str, float]:
    """Return what a Python of its own measures."""
    environment = {**os.environ, **ONE_THREAD, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [python, __file__, "--module", module, *options]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--peer", metavar="PYTHON", help="a Python that has TensorFlow")
    parser.add_argument("--module", help="measure the names of this module only, print JSON")
    parser.add_argument("--only", metavar="TEXTS", default="", help="what is in the rows' names")
    parser.add_argument("--rounds", type=int, default=1, help="how often each is measured")
    parser.add_argument("--staged", action="store_true", help="measure them in functions")
    args = parser.parse_args()
    if args.module:
        found = measured(args.module, args.only.split(","), in_functions=args.staged)
        sys.stdout.write(json.dumps(found) + "\n")
        return
    options = ["--only", args.only, *["--staged"] * args.staged]
    ours: dict[str, float] = {}
    theirs: dict[str, float] = {}
    for _ in range(args.rounds):
        take_least(ours, of_process(sys.executable, "gravure.tf", options))
        if args.peer:
            take_least(theirs, of_process(args.peer, "tensorflow", options))
    ratios = []
    for name, time in ours.items():
        row = f"{name:24}{time:10.1f}"
        if theirs:
            ratios.append(time / theirs[name])
            row += f"{theirs[name]:10.1f}{ratios[-1]:8.2f}"
        sys.stdout.write(row + "\n")
    for name in theirs.keys() - ours.keys():
        sys.stdout.write(f"{name:24}fails, and not in TensorFlow\n")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        above = sum(ratio > 1.2 for ratio in ratios)
        sys.stdout.write(f"{mean:.2f} in the mean of {len(ratios)}, {above} above 1.2\n")


def take_least(found: dict[str, float], more: dict[str, float]) -> None:
    """Keep the lesser of two times of each row."""
    for name, time in more.items():
        found[name] = min(time, found.get(name, time))


if __name__ == "__main__":
    main()
