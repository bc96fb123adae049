"""Classes of a program's own that say of which parts they are made, in functions and loops."""

import collections
import dataclasses

import pytest

import gravure.tf as tf


@dataclasses.dataclass
class Masked:
    mask: object
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, leaves):
        return cls(metadata[0], leaves[0])


def test_a_function_takes_and_gives_them():
    traces = []

    @tf.function
    def f(x, y):
        traces.append(x.mask)
        return Masked(x.mask + y.mask, (x.value, y.value * 2.0))

    made = f(Masked([True], tf.constant([1.0])), Masked([False], tf.constant([2.0])))
    assert made.mask == [True, False]
    assert [x.numpy().tolist() for x in made.value] == [[1.0], [4.0]]
    f(Masked([True], tf.constant([3.0])), Masked([False], tf.constant([4.0])))
    assert len(traces) == 1
    f(Masked([False], tf.constant([3.0])), Masked([False], tf.constant([4.0])))
    assert traces == [[True], [False]]


def test_one_inside_of_another_is_given_back():
    inner = Masked(1, {"a": tf.constant(1.0)})
    made = tf.function(lambda x: x)(Masked(2, (inner, tf.constant([2.0]))))
    assert (made.mask, made.value[0].mask) == (2, 1)
    assert made.value[0].value["a"].numpy() == 1.0
    assert made.value[1].numpy() == [2.0]


@pytest.mark.parametrize("stage", [False, True])
def test_they_are_structures(stage):
    def loop(x):
        def turn(i, m):
            return i + 1, Masked(m.mask, m.value * 2.0)

        return tf.while_loop(lambda i, m: i < 3, turn, (0, Masked("m", x)))[1]

    made = (tf.function(loop) if stage else loop)(tf.constant(1.0))
    assert (made.mask, made.value.numpy()) == ("m", 8.0)
    assert [x.numpy() for x in tf.nest.flatten(made)] == [8.0]
    with pytest.raises(ValueError, match="same nested structure"):
        tf.nest.assert_same_structure(made, Masked("n", tf.constant(1.0)))
    with pytest.raises(TypeError, match="the same type"):
        tf.nest.assert_same_structure(made, [tf.constant(1.0)])


def test_what_has_no_hash_is_no_argument():
    f = tf.function(lambda x: 1.0)
    with pytest.raises(TypeError, match="Could not generate a generic TraceType"):
        f(set())


def test_names_of_arguments_are_told_apart():
    f = tf.function(lambda **rest: rest["a_b"] + rest["a/b"])
    with pytest.raises(ValueError, match="Name collision after sanitization"):
        f(**{"a_b": 1, "a/b": 2})


def test_a_part_of_another_type_is_named():
    f = tf.function(lambda x: x).get_concrete_function(tf.ragged.constant([[1]]))
    match = r"Binding inputs to tf\.function failed.*dtype=tf\.float32.* to .*dtype=tf\.int32"
    with pytest.raises(TypeError, match=match):
        f(tf.ragged.constant([[1.0]]))
    with pytest.raises(TypeError, match="don't have the same nested structure"):
        f(tf.ragged.constant([[[1]]]))


def test_what_was_taken_from_outside_may_be_taken_anew_at_each_call():
    x, y, z = (tf.constant(float(n)) for n in range(3))
    f = tf.function(lambda: x + y * z).get_concrete_function()
    assert f() == 2.0
    now = [tf.constant(3.0)]
    spec = tf.TensorSpec([], tf.float32)
    f.replace_capture_with_deferred_capture(y, lambda: now[0], spec)
    assert f() == 6.0
    now[0] = tf.constant(4.0)
    assert f() == 8.0
    with pytest.raises(ValueError, match="Attempting to substitute closure with spec"):
        f.replace_capture_with_deferred_capture(x, lambda: now, tf.TensorSpec([1], tf.float32))
    with pytest.raises(ValueError, match="Did not find"):
        f.replace_capture_with_deferred_capture(tf.constant(1.0), lambda: now, spec)
    now[0] = tf.constant(4)
    with pytest.raises(TypeError, match="Can not cast Tensor"):
        f()


def test_integers_go_back_through_mirrored_edges():
    grads = tf.constant([[1, 2, 3, 4]])
    made = tf.raw_ops.MirrorPadGrad(input=grads, paddings=[[0, 0], [1, 1]], mode="SYMMETRIC")
    assert made.numpy().tolist() == [[3, 7]]
    assert tf.raw_ops.Snapshot(input=grads).dtype == tf.int32


def test_without_types_structures_are_compared_by_their_parts_alone():
    nest, pair = tf.nest, collections.namedtuple("pair", "x y")
    for mine, theirs in (
        ({"a": 1}, {"b": 2}),
        ({"a": [1]}, [[2]]),
        (pair(1, 1), {"v": 2, "u": 2}),
        ([1, {"a": 1}], (2, {"z": 2})),
    ):
        with pytest.raises((TypeError, ValueError)):
            nest.assert_same_structure(mine, theirs)
        nest.assert_same_structure(mine, theirs, check_types=False)
        found = nest.map_structure(lambda x, y: x + y, mine, theirs, check_types=False)
        assert nest.map_structure(lambda x: x - 2, found) == mine
    for theirs in ({"a": 1, "b": 2}, {"a": [1]}, [1, 2]):
        with pytest.raises(ValueError, match="same"):
            nest.assert_same_structure({"a": 1}, theirs, check_types=False)
