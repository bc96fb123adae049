"""The same operations eagerly, in a session, in a function, ahead of time (rows A8, I2, I24)."""

import shutil
import subprocess
import threading

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.errors import UnsupportedOp
from gravure.frontend.function.libraries import NotCompilableError

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


# The rest of table 1 of the white paper: shuffles, state, files, queues, locks, nodes of control.

FOUR = np.float32([1, 2, 3, 4])
SPEC = tf.TensorSpec([4], name="x")


def chosen(x):
    no, yes = tf.raw_ops.Switch(data=x, pred=tf.reduce_sum(x) > 3.0)
    return tf.raw_ops.Merge(inputs=[no * 2.0, yes * 3.0]).output


def repeated(x):
    raw = tf.raw_ops
    entered = [raw.Enter(data=v, frame_name="f") for v in (tf.constant(0), x)]
    merges = [raw.Merge(inputs=[v, v]) for v in entered]
    goes_on = raw.LoopCond(input=merges[0].output < 3)
    switches = [raw.Switch(data=m.output, pred=goes_on) for m in merges]
    following = switches[0].output_true + 1, switches[1].output_true * 2.0
    for merge, value in zip(merges, following, strict=True):
        merge.output.op.update_input(1, raw.NextIteration(data=value))
    return raw.Exit(data=switches[1].output_false)


@pytest.mark.parametrize(("body", "factor"), [(chosen, 3.0), (repeated, 8.0)])
def test_a8_single_nodes_of_control(body, factor, tmp_path):
    with pytest.raises(TypeError, match="is an operation of graphs"):
        body(tf.constant(FOUR))
    with tf.Graph().as_default():
        assert np.array_equal(v1.Session().run(body(tf.constant(FOUR))), FOUR * factor)
    f = tf.function(body)
    for _ in range(4):
        assert np.array_equal(f(tf.constant(FOUR)), FOUR * factor)
    f.save(tmp_path / "f.so", SPEC, frozen=True)
    assert np.array_equal(gv.load(tmp_path / "f.so")(FOUR), FOUR * factor)


def test_a8_shuffle(tmp_path):
    x = tf.constant(FOUR)
    staged = tf.function(tf.random.shuffle)
    with tf.Graph().as_default():
        node, session = tf.random.shuffle(tf.constant(FOUR)), v1.Session()
        runs = [session.run(node) for _ in range(8)]
    for made in (
        [tf.random.shuffle(x).numpy() for _ in range(8)],
        runs,
        [staged(x).numpy() for _ in range(8)],
    ):
        assert all(np.array_equal(np.sort(m), FOUR) for m in made)
        assert len({m.tobytes() for m in made}) > 1
    # TensorFlow's order is drawn by a step of the host, which a library has none of
    with pytest.raises(UnsupportedOp, match="Permutation"):
        staged.save(tmp_path / "f.so", SPEC)
    with pytest.raises(NotCompilableError, match="draws random numbers"):
        staged.save(tmp_path / "g.so", SPEC, frozen=True)


def test_a8_variables(tmp_path):
    def step(v, x):
        changed = v.assign_add(x)
        with tf.control_dependencies([changed] if v.graph is not None else []):
            return v.read_value() * 2.0

    v = tf.Variable(FOUR)
    assert np.array_equal(step(v, FOUR), FOUR * 4)
    with tf.Graph().as_default():
        inside = v1.Variable(FOUR)
        made = step(inside, tf.constant(FOUR))
        with v1.Session() as session:
            session.run(inside.assign(FOUR * 2))
            assert np.array_equal(session.run(made), FOUR * 6)
    f = tf.function(lambda x: step(v, x))
    assert np.array_equal(f(tf.constant(FOUR)), FOUR * 6)
    f.save(tmp_path / "f.so", SPEC)
    result, state = gv.load(tmp_path / "f.so")(FOUR, FOUR * 9)
    assert np.array_equal(result, FOUR * 20)
    assert np.array_equal(state, FOUR * 10)
    with pytest.raises(NotCompilableError, match="it changes variable"):
        f.save(tmp_path / "g.so", SPEC, frozen=True)


def test_a8_save_and_restore(tmp_path):
    v = tf.Variable(FOUR)
    checkpoint = tf.train.Checkpoint(v=v)
    path = str(tmp_path / "now")
    write = tf.function(lambda: checkpoint.write(path))
    for number, save in enumerate([checkpoint.write, lambda _: write(), lambda _: write()]):
        v.assign(FOUR * number)
        save(path)
        v.assign(FOUR)
        checkpoint.read(path).assert_consumed()
        assert np.array_equal(v, FOUR * number)
    with pytest.raises(UnsupportedOp, match="a Python function"):
        write.save(tmp_path / "f.so")
    with tf.Graph().as_default():
        inside = v1.Variable(FOUR, name="inside")
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run(inside.initializer)
            where = saver.save(session, str(tmp_path / "graph"))
            session.run(inside.assign(FOUR * 3))
            saver.restore(session, where)
            assert np.array_equal(session.run(inside), FOUR)


def test_a8_queues_and_mutexes(tmp_path):
    raw = tf.raw_ops

    def through(queue, mutex, x):
        raw.MutexAcquire(mutex=mutex)
        queue.enqueue(x)
        y = queue.dequeue() * 2.0
        raw.MutexRelease(mutex=mutex)
        return y

    def made():
        return tf.queue.FIFOQueue(3, tf.float32, [[4]]), raw.Mutex()

    kept = made()
    f = tf.function(lambda x: through(*kept, x))
    for _ in range(2):
        assert np.array_equal(through(*kept, tf.constant(FOUR)), FOUR * 2)
        assert np.array_equal(f(tf.constant(FOUR)), FOUR * 2)
    with pytest.raises(UnsupportedOp, match="a queue"):
        f.save(tmp_path / "f.so", SPEC)
    with pytest.raises(tf.errors.InvalidArgumentError, match="nobody has it"):
        raw.MutexRelease(mutex=kept[1])
    with tf.Graph().as_default():
        queue, mutex = made()
        takes, gives = raw.MutexAcquire(mutex=mutex), raw.MutexRelease(mutex=mutex)
        session, total = v1.Session(), []

        def client():
            for _ in range(20):
                session.run(takes)
                seen = len(total)
                session.run(queue.enqueue(FOUR))
                total.append(session.run(queue.dequeue()))
                assert len(total) == seen + 1, "nobody else is between the two"
                session.run(gives)

        threads = [threading.Thread(target=client) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(total) == 60


def test_x6_a_saved_function_has_open_sizes(tmp_path):
    weights = tf.Variable(np.arange(12, dtype="f").reshape(4, 3) / 7)
    spec = tf.TensorSpec([None, 4], tf.float32)

    @tf.function
    def f(x):
        rows = tf.cast(tf.shape(x)[0], tf.float32)
        return tf.nn.softmax(x @ weights), tf.concat([x, x], 0), tf.reduce_sum(x, 0) / rows

    path = tmp_path / "f.so"
    f.save(path, spec, frozen=True, shapes={"x": ("N", 4)}, dims={"N": (1, 64)})
    model = gv.load(path)
    assert [str(info) for info in model.outputs] == ["f32[N, 3]", "f32[2*N, 4]", "f32[4]"]
    for count in (1, 5, 64):
        x = np.linspace(-1, 1, count * 4, dtype="f").reshape(count, 4)
        for found, wanted in zip(model(x), f(tf.constant(x)), strict=True):
            np.testing.assert_allclose(found, wanted.numpy(), rtol=2e-6, atol=1e-6)
    with pytest.raises(gv.GravureError, match="N"):
        model(np.zeros((65, 4), "f"))


def test_x6_open_sizes_that_do_not_fit_are_named(tmp_path):
    spec = tf.TensorSpec([None, 4], tf.float32)
    add = tf.function(lambda x, y: x + y)
    same = {"x": ("N", 4), "y": ("N", 4)}
    add.save(tmp_path / "f.so", spec, spec, frozen=True, shapes=same, dims={"N": (1, 8)})
    for message, options in (
        ("x_d0 against y_d0", {"dims": {"x_d0": (1, 8), "y_d0": (1, 8)}}),
        ("no dimension 'M'", {"shapes": same, "dims": {"N": (1, 8), "M": 3}}),
        ("not of shape", {"shapes": {"x": ("N",)}}),
        ("no upper bound", {"shapes": same}),
    ):
        with pytest.raises(gv.GravureError, match=message):
            add.save(tmp_path / "f.so", spec, spec, frozen=True, **options)
