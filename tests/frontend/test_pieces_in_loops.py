"""Pieces whose ends are as far apart in each turn of a loop have one size, if that is there."""

import warnings

import numpy as np
import pytest

import gravure.tf as tf

X = np.arange(24, dtype=np.float32).reshape(4, 6)
SIGNATURE = [tf.TensorSpec([None, None], tf.float32)]
PIECES = {  # what is read in turn t, of how many turns, and what all turns give (of TensorFlow)
    "one": (lambda x, t: x[:, t : t + 1], 6, [[57], [435], [813], [1191]]),
    "slice": (lambda x, t: tf.slice(x, [0, t], [-1, 1]), 6, [[57], [435], [813], [1191]]),
    "backwards": (
        lambda x, t: x[:, -t - 1 : tf.shape(x)[1] - t],
        6,
        [[258], [636], [1014], [1392]],
    ),
    "steps": (lambda x, t: x[:, t : t + 3 : 2], 4, [[11, 41], [101, 131], [191, 221], [281, 311]]),
    "turned": (
        lambda x, t: x[:, t + 2 : t : -1],
        4,
        [[41, 26], [131, 116], [221, 206], [311, 296]],
    ),
    "blocks": (
        lambda x, t: x[:, t * 2 : (t + 1) * 2],
        3,
        [[8, 15], [50, 57], [92, 99], [134, 141]],
    ),
}


@pytest.mark.parametrize("piece", PIECES)
def test_pieces_of_one_extent_leave_nothing_to_python(piece):
    part, turns, wanted = PIECES[piece]
    width = len(wanted[0])

    @tf.function(input_signature=SIGNATURE)
    def whole(x):
        total = tf.zeros([tf.shape(x)[0], width])
        for t in tf.range(turns):
            both = tf.concat([total, part(x, t)], 1) @ tf.tile(tf.eye(width), [2, 1])
            total = tf.ensure_shape(total + both, [None, width])
        return total

    for _ in range(3):
        np.testing.assert_array_equal(whole(X), wanted)
    assert len(whole.explain()) == 1
    (staged,) = whole.get_concrete_function().compiled.values()
    assert not staged.calls


ENDS = {  # some are outside of the axis
    "behind": (lambda x, t: x[:, t : t + 3], [[44], [134], [224], [314]]),
    "before": (lambda x, t: x[:, t - 1 : t], [[10], [40], [70], [100]]),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_run_in_which_one_is_cut_goes_on_and_writes_once(end):
    part, wanted = ENDS[end]
    turns = tf.Variable(0)

    @tf.function(input_signature=SIGNATURE)
    def whole(x):
        total = tf.zeros([tf.shape(x)[0], 1])
        for t in tf.range(tf.shape(x)[1]):
            turns.assign_add(1)
            total += tf.reduce_sum(part(x, t), 1, keepdims=True)
        return total

    for count in range(1, 5):
        np.testing.assert_array_equal(whole(X), wanted)
        assert turns.numpy() == 6 * count


def test_a_piece_has_the_size_that_a_run_gives_it():
    @tf.function
    def piece(x, t):
        return x[t : t + 2] * 2

    x = X[:, 0]
    for at in (0, 1, 2, 3, 9, -1, -3, 0):
        np.testing.assert_array_equal(piece(x, tf.constant(at)), x[at : at + 2] * 2)


def test_boxes_begin_where_a_run_says():
    @tf.function
    def box(x, t):
        return tf.slice(x, [t, t + 1], [-1, 2])

    for at in (0, 1, 2, 3, 0):
        np.testing.assert_array_equal(box(X, tf.constant(at)), X[at:, at + 1 : at + 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected begin\[1\] in \[0, 4\]"):
        box(X, tf.constant(4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected begin"):
        box(X, tf.constant(-1))


@pytest.mark.parametrize("piece", ["one", "slice"])
def test_pieces_in_loops_have_gradients(piece):
    part = PIECES[piece][0]

    @tf.function(input_signature=SIGNATURE)
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.zeros([tf.shape(x)[0], 1])
            for t in tf.range(tf.shape(x)[1]):
                total = tf.ensure_shape(total * 1.5 + part(x, t) ** 2, [None, 1])
            loss = tf.reduce_sum(total)
        return tape.gradient(loss, x)

    for _ in range(3):
        found = slope(X)
    np.testing.assert_array_equal(found, 2 * X * 1.5 ** np.arange(5, -1, -1))


def test_steps_of_python_in_loops_are_said_once():
    @tf.function
    def drawn(x):
        total = tf.constant(0.0)
        for t in tf.range(600):
            total += tf.reduce_sum(tf.linalg.diag(x, k=t % 3))
        return total

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(4):
            drawn(X[:1, :2])
    told = [str(each.message) for each in found]
    assert len([each for each in told if "by Python in each turn of a loop" in each]) == 1
    assert "carried out by Python" in drawn.explain()[-1]
