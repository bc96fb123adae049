"""Who writes to an array that he was given changes no tensor, no variable and no constant."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def test_writing_to_the_array_of_a_tensor_leaves_the_tensor():
    x = tf.constant([1.0, 2.0])
    x.numpy()[0] = 9.0
    variable = tf.Variable([1.0, 2.0])
    variable.read_value().numpy()[0] = 9.0
    constant = tf.function(lambda: tf.constant([1.0, 2.0]))
    constant().numpy()[0] = 9.0
    for value in (x, variable, constant()):
        assert value.numpy().tolist() == [1.0, 2.0]


def test_numpys_view_of_a_tensor_cannot_be_written_to():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 9.0
    np.array(x)[0] = 9.0
    assert x.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("structure", [lambda x: x, lambda x: [x], lambda x: {"x": x}])
@pytest.mark.parametrize(
    "make",
    [
        lambda _: tf.constant([1.0, 2.0]),
        lambda _: v1.get_variable("v", initializer=[1.0, 2.0]),
        lambda _: tf.reshape(v1.get_variable("v", initializer=[1.0, 2.0]), [2, 1]),
        tf.identity,
        lambda x: tf.reverse(x, [0]),
        lambda _: tf.io.decode_raw("ab", tf.uint8),
    ],
)
def test_what_a_session_gives_is_the_callers(make, structure):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        fetch = make(x)
        session.run(v1.global_variables_initializer())
        fed = np.array([1.0, 2.0], np.float32)
        first = session.run(fetch, {x: fed})
        for _ in range(4):
            (array,) = tf.nest.flatten(session.run(structure(fetch), {x: fed}))
            assert array.tolist() == first.tolist()
            array += 1
        assert fed.tolist() == [1.0, 2.0]


def test_what_a_session_computed_is_not_copied():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        found = session.run(x * 2, {x: [1.0, 2.0]})
    assert found.base is None
    assert found.flags.writeable


def test_what_a_checkpoint_gives_is_the_callers(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(tmp_path / "c")
    reader = tf.train.load_checkpoint(path)
    name = next(n for n in reader.get_variable_to_shape_map() if n.startswith("v/"))
    reader.get_tensor(name)[0] = 9.0
    assert reader.get_tensor(name).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "make",
    [
        tf.convert_to_tensor,
        tf.identity,
        tf.transpose,
        tf.stop_gradient,
        lambda x: tf.cast(x, tf.float32),
        lambda x: tf.reshape(x, [1, 2]),
        tf.function(lambda x: x),
        lambda x: tf.RaggedTensor.from_row_lengths(x, [1, 1]).flat_values,
        lambda x: tf.convert_to_tensor(x[:]),
    ],
)
def test_writing_to_an_array_leaves_the_tensors_that_were_made_of_it(make):
    array = np.array([1.0, 2.0], np.float32)
    made = make(array)
    array[:] = 9.0
    assert sorted(made.numpy().ravel()) == [1.0, 2.0]


def test_writing_to_an_array_leaves_the_graphs_that_were_given_it():
    array = np.array([1.0, 2.0], np.float32)
    with tf.Graph().as_default(), v1.Session() as session:
        constants = [tf.identity(array), tf.constant(array)]
        array[:] = 9.0
        assert [x.tolist() for x in session.run(constants)] == [[1.0, 2.0]] * 2
