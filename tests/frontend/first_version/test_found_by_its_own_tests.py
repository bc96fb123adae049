"""What programs ask of sessions, savers, optimisers and variables, as tests of TensorFlow do."""

import copy
import pickle

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def test_a_session_manager_takes_the_older_check_of_variables(tmp_path):
    with tf.Graph().as_default():
        v = v1.Variable([1.0, 2.0])
        manager = v1.train.SessionManager(ready_op=v1.assert_variables_initialized())
        session = manager.prepare_session("", init_op=v1.global_variables_initializer())
        assert session.run(v).tolist() == [1.0, 2.0]
        saver = v1.train.Saver()
        manager = v1.train.SessionManager(recovery_wait_secs=0.01)
        found, there = manager.recover_session(
            "", saver, str(tmp_path), wait_for_checkpoint=True, max_wait_secs=0.03
        )
        assert not there
        saver.save(session, str(tmp_path / "model"))
        found, there = manager.recover_session("", saver, str(tmp_path), wait_for_checkpoint=True)
        assert there
        assert found.run(v).tolist() == [1.0, 2.0]


def test_variables_of_a_graph_are_equal_to_themselves_only():
    with tf.Graph().as_default():
        v, w = v1.Variable(1.0), v1.Variable(1.0)
        assert v in [w, v]
        assert v not in [w]
        assert v != w
    assert bool(tf.Variable(1.0) == tf.Variable(1.0))


def test_rmsprop_keeps_its_change_without_momentum():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.Variable([1.0, 2.0])
        optimiser = v1.train.RMSPropOptimizer(0.5, decay=0.9, momentum=0.0, epsilon=0.0)
        step = optimiser.apply_gradients([(tf.constant([0.1, 0.2]), v)])
        session.run(v1.global_variables_initializer())
        session.run(step)
        kept = session.run(optimiser.get_slot(v, "momentum"))
        grads = np.array([0.1, 0.2])
        np.testing.assert_allclose(kept, 0.5 * grads / np.sqrt(0.9 + 0.1 * grads**2), rtol=1e-6)
        np.testing.assert_allclose(session.run(v), [1.0, 2.0] - kept, rtol=1e-6)


def test_rows_of_a_gradient_belong_to_the_variable_whatever_their_shape_says():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.Variable([3.0, 4.0])
        rows = tf.IndexedSlices(tf.constant([0.5]), tf.constant([1]), tf.constant([1]))
        step = v1.train.AdagradOptimizer(0.1).apply_gradients([(rows, v)])
        session.run(v1.global_variables_initializer())
        session.run(step)
        after = session.run(v)
        assert after[0] == 3.0
        assert after[1] < 4.0


def test_options_of_savers(tmp_path):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        tf.constant(1)
        assert v1.train.Saver(allow_empty=True).save(session, str(tmp_path / "empty")) is None
        v = v1.Variable(1.0)
        with pytest.raises(ValueError, match="defer_build"):
            v1.train.Saver([v], defer_build=True)
        with pytest.raises(RuntimeError, match="build"):
            v1.train.Saver(defer_build=True).save(session, str(tmp_path / "late"))
        saver = v1.train.Saver([v], filename="elsewhere")
        name = saver.saver_def.filename_tensor_name
        assert session.run(graph.get_tensor_by_name(name)) == b"elsewhere"


def test_a_checkpoint_may_be_named_by_its_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    v = tf.Variable(1.0)
    path = v1.train.Saver([v]).save(None, f"file://{tmp_path}/model")
    assert {each.name for each in tmp_path.iterdir()} == {
        *("checkpoint", "model.index", "model.safetensors")
    }
    v.assign(2.0)
    v1.train.Saver([v]).restore(None, f"file://{path}")
    assert float(v) == 1.0


def test_a_graph_from_a_file_has_a_saver_of_its_variables(tmp_path):
    with tf.Graph().as_default():
        v1.Variable(3.0, name="v")
        v1.train.export_meta_graph(str(tmp_path / "graph.meta"))
    graph = tf.Graph()
    saver = v1.train.import_meta_graph(str(tmp_path / "graph.meta"), graph=graph)
    with v1.Session(graph=graph) as session:
        (variable,) = graph.get_collection("variables")
        session.run(variable.initializer)
        path = saver.save(session, str(tmp_path / "model"))
    assert tf.train.list_variables(path) == [("v", [])]
    assert b"v (DT_FLOAT)" in tf.train.load_checkpoint(path).debug_string()


def test_a_variable_in_parts_begins_with_a_value_of_the_shape_that_is_stated():
    with tf.Graph().as_default(), v1.Session() as session:
        first = np.arange(6.0, dtype=np.float32).reshape(3, 2)
        cut = v1.fixed_size_partitioner(3)
        made = v1.get_variable("v", shape=[3, 2], initializer=first, partitioner=cut)
        session.run(v1.global_variables_initializer())
        assert session.run(tf.convert_to_tensor(made)).tolist() == first.tolist()


def test_variables_are_copied_and_pickled_with_their_values():
    v = tf.Variable([1.0, 2.0], name="v", trainable=False, shape=[None])
    for made in (copy.deepcopy({"v": v})["v"], pickle.loads(pickle.dumps(v))):
        assert (made.name, made.trainable, made.shape.as_list()) == ("v:0", False, [None])
        made.assign([3.0])
        assert v.numpy().tolist() == [1.0, 2.0]
    with tf.Graph().as_default(), pytest.raises(NotImplementedError, match="neither copied"):
        copy.deepcopy(v1.Variable(1.0))


def test_rows_of_variables_are_divided_and_values_loaded():
    v = tf.Variable([4.0, 6.0])
    v.scatter_div(tf.IndexedSlices(tf.constant([2.0]), tf.constant([1])))
    assert v.numpy().tolist() == [4.0, 3.0]
    v.load([5.0, 6.0])
    assert v.numpy().tolist() == [5.0, 6.0]
    with pytest.raises(ValueError, match="callable"):
        tf.Variable(1.0, constraint=0)


def test_a_choice_of_the_first_version_is_no_python_bool():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="Python bool"):
        v1.cond(True, lambda: 1.0, lambda: 2.0)


@pytest.mark.parametrize("change", [lambda x: x.clear(), lambda x: x.append(1.0)])
def test_a_function_does_not_change_a_list_that_it_was_given(change):
    given = [tf.constant(0.0), tf.constant(1.0)]
    with pytest.raises(ValueError, match="should not modify"):
        tf.function(change)(given)
    assert len(given) == 2


class Values(tf.test.TestCase):
    """What tests are given of values that are several tensors."""

    def test_values(self):
        """They are those that a session gives."""
        sparse = tf.SparseTensor([[0, 1]], [2.0], [2, 3])
        assert self.evaluate(sparse).dense_shape.tolist() == [2, 3]
        rows = self.evaluate(tf.ragged.constant([[1], [2, 3]]))
        assert rows.values.tolist() == [1, 2, 3]
        with self.cached_session() as session:
            assert session.graph is v1.get_default_graph()


def test_averages_are_named_in_the_scope_that_they_are_made_in():
    with tf.Graph().as_default() as graph:
        v, w = v1.Variable(1.0, name="v"), v1.Variable(2.0, name="w")
        total = tf.add(v, w, name="total")
        averages = tf.train.ExponentialMovingAverage(0.5, name="average")
        assert set(averages.variables_to_restore([v, total])) == {"v/average", "total/average", "w"}
        with graph.name_scope("scope"):
            averages.apply([v, total])
            assert averages.average_name(v) == "scope/v/average"
        assert averages.average(v).op.name == averages.average_name(v) == "scope/v/average"
        assert v1.moving_average_variables() == [v]


def test_a_call_waits_for_what_its_function_waits_for():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.Variable(1.0)
        change = v.assign_add(1.0)

        @tf.function
        def waiting():
            with tf.control_dependencies([change]):
                return 1.0

        made = waiting()
        session.run(v.initializer)
        session.run(made)
        assert session.run(v) == 2.0


def test_arguments_by_name_are_parameters_before_they_are_inputs():
    function = tf.function(lambda x, y: x * 10 + y)
    first, second = tf.TensorSpec(None, tf.int32, name="y"), tf.TensorSpec(None, tf.int32, name="x")
    trace = function.get_concrete_function(x=first, y=second)
    five, six = tf.constant(5), tf.constant(6)
    assert int(trace(x=five, y=six)) == int(trace(five, six)) == int(trace(five, x=six)) == 56
