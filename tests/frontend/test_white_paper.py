"""The white paper's program (section 4.1 and figure 1) prints the numbers it should."""

import numpy as np
import pytest

import gravure.tf as tf

A = [3.761257318, 4.283470421, 3.583297107, 3.971001119, 3.867376677]
A += [4.301331524, 9.884665997, 3.761257318, 4.283470421, 3.583297107]
B = [3.761257318, 4.186824707, 3.480053154, 3.756278390, 3.656016207]
B += [3.964894461, 9.643298740, 3.177955710, 3.563504346, 2.933792551]
C = [42.212918791, 32.346328115, 41.904092007, 32.594852405, 28.772765168]
C += [31.249987973, 84.733035659, 42.212918791, 32.346328115, 41.904092007]


def first_weights():
    state, made = 12345, np.empty(78400)
    for i in range(made.size):
        state = (1103515245 * state + 12345) % 2**31
        made[i] = state / 2**30 - 1
    return made.astype(np.float32).reshape(784, 100)


def example(step, count):
    return (((np.arange(count) * (step + 1)) % 7 - 3) / 4).astype(np.float32)


@pytest.fixture(scope="module")
def weights():
    return first_weights()


def program(weights):
    b = tf.Variable(tf.zeros([100]))
    w = tf.Variable(weights)
    x = tf.placeholder(name="x")
    relu = tf.nn.relu(tf.matmul(w, x) + b)
    cost = tf.reduce_mean(tf.square(relu))
    return b, w, x, relu, cost


def test_table_a_with_one_plan_for_ten_runs(weights):
    _, _, x, relu, cost = program(weights)
    s = tf.Session()
    made = [s.run(cost, feed_dict={x: example(i, 100).reshape(100, 1)}) for i in range(10)]
    assert np.allclose(made, A, rtol=1e-5)
    assert s.compiles == 1
    assert s.run(relu, {x: example(0, 100).reshape(100, 1)}).shape == (784, 100)


def test_table_b_and_the_gradients(weights):
    b, w, x, _, cost = program(weights)
    db, dw, dx = tf.gradients(cost, [b, w, x])
    train = [w.assign_sub(0.5 * dw), b.assign_sub(0.5 * db)]
    s, made = tf.Session(), []
    for i in range(10):
        feeds = {x: example(i, 100).reshape(100, 1)}
        if i == 0:
            found = s.run([db, dw, dx], feeds)
        made.append(s.run(cost, feeds))
        s.run(train, feeds)
    assert np.allclose(made, B, rtol=1e-5)
    norms = [np.linalg.norm(g) for g in found]
    assert np.allclose(norms, [0.215771600, 0.696957037, 1.706472731], rtol=1e-5)
    assert [g.shape for g in found] == [(100,), (784, 100), (100, 1)]


def test_table_c_the_intended_orientation(weights):
    b, w = tf.Variable(tf.zeros([100])), tf.Variable(weights)
    x = tf.placeholder(name="x")
    cost = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, w) + b)))
    s = tf.Session()
    made = [s.run(cost, {x: example(i, 784).reshape(1, 784)}) for i in range(10)]
    assert np.allclose(made, C, rtol=1e-5)


def test_a_vector_that_is_fed_to_a_product_is_named(weights):
    _, _, x, _, cost = program(weights)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"rank 1.*feed shape \(100,1\)"):
        tf.Session().run(cost, {x: example(0, 100)})
