"""The same operations eagerly, in a session, in a function, ahead of time (rows A8, I2, I24)."""

import shutil
import subprocess

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.ahead import NotCompilableError

v1 = tf.compat.v1
X = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75], [1.0, 2.0, 4.0]], np.float32)
IMAGE = np.linspace(-1, 1, 32, dtype=np.float32).reshape(1, 4, 4, 2)


def pooled(x):
    return x.reshape(1, 2, 2, 2, 2, 2).max(axis=(2, 4))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


OPS = {
    "Add": (lambda x, i: x + x, lambda x, i: x + x),
    "Sub": (lambda x, i: x - 2.0, lambda x, i: x - 2.0),
    "Mul": (lambda x, i: x * x, lambda x, i: x * x),
    "Div": (lambda x, i: x / 3.0, lambda x, i: x / np.float32(3.0)),
    "Exp": (lambda x, i: tf.exp(x), lambda x, i: np.exp(x)),
    "Log": (lambda x, i: tf.math.log(tf.abs(x)), lambda x, i: np.log(np.abs(x))),
    "Greater": (lambda x, i: x > 1.0, lambda x, i: x > 1.0),
    "Less": (lambda x, i: tf.less(x, 1.0), lambda x, i: x < 1.0),
    "Equal": (lambda x, i: tf.equal(x, 2.0), lambda x, i: x == 2.0),
    "Concat": (lambda x, i: tf.concat([x, x], 1), lambda x, i: np.concatenate([x, x], 1)),
    "Slice": (lambda x, i: tf.slice(x, [1, 0], [2, 2]), lambda x, i: x[1:3, 0:2]),
    "Split": (lambda x, i: tf.split(x, 3)[1], lambda x, i: x[1:2]),
    "Constant": (lambda x, i: tf.constant([1.0, 2.0]), lambda x, i: np.float32([1.0, 2.0])),
    "Rank": (lambda x, i: tf.rank(x), lambda x, i: np.int32(2)),
    "Shape": (lambda x, i: tf.shape(x), lambda x, i: np.int32([3, 3])),
    "MatMul": (lambda x, i: tf.matmul(x, x), lambda x, i: x @ x),
    "MatrixInverse": (lambda x, i: tf.linalg.inv(x), lambda x, i: np.linalg.inv(x)),
    "MatrixDeterminant": (lambda x, i: tf.linalg.det(x), lambda x, i: np.linalg.det(x)),
    "SoftMax": (lambda x, i: tf.nn.softmax(x), lambda x, i: softmax(x)),
    "Sigmoid": (lambda x, i: tf.sigmoid(x), lambda x, i: 1 / (1 + np.exp(-x))),
    "ReLU": (lambda x, i: tf.nn.relu(x), lambda x, i: np.maximum(x, 0)),
    "Convolution2D": (
        lambda x, i: tf.nn.conv2d(i, tf.ones([1, 1, 2, 1]), 1, "VALID"),
        lambda x, i: i.sum(-1, keepdims=True),
    ),
    "MaxPool": (lambda x, i: tf.nn.max_pool2d(i, 2, 2, "VALID"), lambda x, i: pooled(i)),
    "Gather": (lambda x, i: tf.gather(x, [2, 0]), lambda x, i: x[[2, 0]]),
    "Sum": (lambda x, i: tf.reduce_sum(x, axis=0), lambda x, i: x.sum(0)),
    "Where": (lambda x, i: tf.where(x > 0.0, x, -x), lambda x, i: np.abs(x)),
}


def every(x, image):
    """Return what all operations give."""
    return {name: ours(x, image) for name, (ours, _) in OPS.items()}


def eagerly(folder):
    return every(tf.constant(X), tf.constant(IMAGE))


def in_a_session(folder):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, X.shape)
        image = v1.placeholder(tf.float32, IMAGE.shape)
        made = every(x, image)
        with v1.Session() as session:
            return session.run(made, {x: X, image: IMAGE})


def in_a_function(folder):
    f = tf.function(every)
    made = [f(tf.constant(X), tf.constant(IMAGE)) for _ in range(4)]
    [concrete] = f.cache.values()
    assert not concrete.graph.refusal
    return made[-1]


def ahead_of_time(folder):
    specs = tf.TensorSpec(X.shape, name="x"), tf.TensorSpec(IMAGE.shape, name="image")
    tf.function(every).save(folder / "every.so", *specs, frozen=True)
    found = gv.load(folder / "every.so")(X, IMAGE)
    return dict(zip(OPS, found, strict=True))


@pytest.mark.parametrize("way", [eagerly, in_a_session, in_a_function, ahead_of_time])
def test_a8_i2_every_way_gives_what_numpy_gives(way, tmp_path):
    found = way(tmp_path)
    for name, (_, numpy) in OPS.items():
        expected, made = np.asarray(numpy(X, IMAGE)), np.asarray(found[name])
        assert made.shape == expected.shape, name
        assert (made.dtype.kind == "f") == (expected.dtype.kind == "f"), name
        assert np.allclose(made, expected, rtol=2e-5, atol=1e-6), name


def test_a_part_of_a_graph_is_saved_from_a_session(tmp_path):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2], name="x")
        w = v1.Variable([10.0, 20.0], name="w")
        h = x * w
        y = tf.reduce_sum(h, name="y")
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.save(tmp_path / "part.so", [y], [x])
            session.save(tmp_path / "inner.so", ["y:0"], [h])
    assert gv.load(tmp_path / "part.so")(np.float32([1, 2])) == 50.0
    assert gv.load(tmp_path / "inner.so")(np.float32([1, 2])) == 3.0


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: tf.random.uniform([2]) + x, "random numbers"),
        (lambda x: tf.py_function(lambda q: q, [x], tf.float32), "a Python function"),
    ],
)
def test_i17_what_a_library_cannot_hold_is_named(function, reason, tmp_path):
    with pytest.raises(NotCompilableError, match=reason):
        tf.function(function).save(tmp_path / "f.so", tf.TensorSpec([2]), frozen=True)


PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "f.h"

int main(void) {
    float x[3] = {1.0f, -2.0f, 0.5f}, y[2], total[1];
    const int64_t shape[] = {1, 3}, made[] = {1, 2};
    const gravure_tensor inputs[] = {{x, shape, 2, GRAVURE_F32}};
    const gravure_tensor outputs[] = {
        {y, made, 2, GRAVURE_F32}, {total, NULL, 0, GRAVURE_F32}};
    void *workspace = aligned_alloc(64, F_WORKSPACE_BYTES);
    if (f_run(inputs, outputs, workspace, NULL) != 0) return 1;
    printf("%.6f %.6f %.6f\\n", y[0], y[1], total[0]);
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) here")
def test_i24_a_c_program_gives_what_the_function_gives(tmp_path):
    w = tf.Variable(np.linspace(-1, 2, 6, dtype=np.float32).reshape(3, 2))

    @tf.function(input_signature=[tf.TensorSpec([1, 3])])
    def f(x):
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y)), [0, x @ w])[1]
        return {"y": y, "total": tf.reduce_sum(y)}

    for suffix in ("o", "h"):
        f.save(tmp_path / f"f.{suffix}", frozen=True)
    (tmp_path / "main.c").write_text(PROGRAM)
    command = ["cc", "-std=c11", "-Wall", "-Werror", "main.c", "f.o", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    run = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    made = f(tf.constant([[1.0, -2.0, 0.5]]))
    expected = [*np.asarray(made["y"]).ravel(), float(made["total"])]
    assert np.allclose([float(x) for x in run.stdout.split()], expected, atol=2e-6)
