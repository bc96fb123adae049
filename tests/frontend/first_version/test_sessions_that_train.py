"""What makes sessions ready to train, and the graphs beside checkpoints: as TensorFlow has it."""

import os
import time

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
train = v1.train


@pytest.fixture
def references():
    v1.disable_resource_variables()
    yield
    v1.enable_resource_variables()


def test_a_manager_uses_the_graph_it_was_made_in(tmp_path):
    path = str(tmp_path / "c")
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=[1.0, 2.0])
        manager = train.SessionManager(ready_op=v1.report_uninitialized_variables())
        with manager.prepare_session("", init_op=v1.global_variables_initializer()) as session:
            train.Saver({"v": v}).save(session, path)
    with tf.Graph().as_default():
        saver = train.Saver({"v": v1.get_variable("v", initializer=[6.0, 7.0])})
        with manager.prepare_session(
            "", saver=saver, checkpoint_filename_with_path=path
        ) as session:
            assert session.graph is v.graph
            np.testing.assert_array_equal(session.run(v), [1.0, 2.0])


def test_whether_a_variable_has_a_value_is_asked_in_its_own_graph():
    with tf.Graph().as_default() as graph:
        v = v1.get_variable("v", initializer=1.0)
    with tf.Graph().as_default(), v1.Session(graph=graph) as session:
        there = v1.is_variable_initialized(session.graph.get_tensor_by_name("v:0"))
        assert not session.run(there)
        session.run(v.initializer)
        assert session.run(v1.is_variable_initialized(v))


def test_a_manager_tells_errors_that_are_not_about_missing_values():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        manager = train.SessionManager(local_init_op=tf.no_op(), ready_op=tf.cast(x, tf.int32))
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
            manager.prepare_session("", init_op=tf.no_op())


def test_first_values_of_variables_without_a_value_are_their_first_values(references):
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=2.0)
        w = v1.Variable(3 * v, collections=["local_variables"], name="w")
        x = v1.Variable(w + v, collections=["local_variables"], name="x")
        with v1.Session() as session:
            session.run(x.initializer)
            assert session.run(x) == 8.0
            session.run(v.initializer)
            session.run(v.assign(10.0))
            session.run(w.initializer)
            session.run(x.initializer)
            assert session.run([w, x]) == [30.0, 40.0]
        manager = train.SessionManager(
            ready_op=v1.report_uninitialized_variables(), local_init_op=w.initializer,
            recovery_wait_secs=0.1,
        )  # fmt: skip
        with pytest.raises(tf.errors.DeadlineExceededError, match="not ready after waiting"):
            manager.wait_for_session("", max_wait_secs=0.3)


def test_resources_are_read_as_they_are_by_first_values():
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.Variable(3 * v1.get_variable("v", initializer=2.0), name="w")
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            session.run(w.initializer)


def test_the_count_of_steps_may_only_be_named_so():
    with tf.Graph().as_default():
        assert train.get_global_step() is None
        step = v1.Variable(7, name="global_step")
        assert train.get_global_step() is step is train.get_or_create_global_step()


def test_the_count_of_steps_is_one_integer():
    for first in (1.0, [1, 2]):
        with tf.Graph().as_default():
            v1.Variable(first, name="global_step")
            with pytest.raises(TypeError, match=r"does not have integer type|is not scalar"):
                train.get_global_step()


def test_steps_of_replicas_are_counted_in_any_integer():
    with tf.Graph().as_default():
        made = train.SyncReplicasOptimizer(train.GradientDescentOptimizer(1.0), 1)
        hook = made.make_session_run_hook(True)
        with pytest.raises(ValueError, match="apply_gradient should be called"):
            hook.begin()
        v = v1.Variable([0.0])
        made.minimize(v, global_step=v1.Variable(0, name="global_step", trainable=False))
        hook.begin()


def test_an_optimiser_tells_the_variables_of_the_present_graph():
    made = train.MomentumOptimizer(0.1, 0.5)
    for names in (["b", "a"], ["d", "c"]):
        with tf.Graph().as_default():
            found = [v1.Variable([1.0], name=name) for name in names]
            made.minimize(tf.add_n(found))
            kept = [each.name for each in made.variables()]
            assert kept == [f"{name}/Momentum:0" for name in sorted(names)]


def test_queues_are_filled_with_rows_of_a_known_shape():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, None)
        with pytest.raises(ValueError, match="fully defined shape"):
            train.input_producer(x)
        assert train.input_producer(x, element_shape=[2]).shapes[0].as_list() == [2]


def test_files_are_matched_once(tmp_path):
    for name in ("a.1", "a.2"):
        (tmp_path / name).write_text("")
    with tf.Graph().as_default(), v1.Session() as session:
        found = train.match_filenames_once(str(tmp_path / "a.*"))
        session.run(v1.local_variables_initializer())
        (tmp_path / "a.3").write_text("")
        assert sorted(session.run(found)) == [str(tmp_path / f"a.{i}").encode() for i in (1, 2)]


def test_notes_of_checkpoints_may_say_that_they_are_here(tmp_path):
    note = 'model_checkpoint_path: "./m-2"\nall_model_checkpoint_paths: "./m-1"\n'
    (tmp_path / "checkpoint").write_text(note)
    state = train.get_checkpoint_state(str(tmp_path))
    assert state.model_checkpoint_path == os.path.join(tmp_path, "./m-2")
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("/./m-2")


def test_supervisors_write_their_graph_once(tmp_path):
    folder = str(tmp_path)
    with tf.Graph().as_default():
        summary = v1.summary.scalar("c", tf.constant(1.0))
        made = train.Supervisor(logdir=folder)
        for _ in range(2):
            with made.managed_session(
                close_summary_writer=False, start_standard_services=False
            ) as session:
                made.summary_computed(session, session.run(summary))
        made.summary_writer.close()
    (file,) = [x for x in os.listdir(folder) if x.startswith("events")]
    kinds = [e.WhichOneof("what") for e in train.summary_iterator(os.path.join(folder, file))]
    assert kinds == ["file_version", "graph_def", "meta_graph_def", "summary", "summary"]


def test_each_file_of_a_supervisor_has_the_graph(tmp_path):
    folder = str(tmp_path)
    with tf.Graph().as_default():
        made = train.Supervisor(logdir=folder)
        for _ in range(2):
            with made.managed_session(start_standard_services=False):
                time.sleep(1.1)  # (files are named by seconds)
    files = [x for x in os.listdir(folder) if x.startswith("events")]
    assert len(files) == 2
    for file in files:
        kinds = [e.WhichOneof("what") for e in train.summary_iterator(os.path.join(folder, file))]
        assert kinds == ["file_version", "graph_def", "meta_graph_def", "session_log"]


def test_variables_of_supervisors_that_wait_are_on_a_device(tmp_path, references):
    with tf.Graph().as_default():
        v1.Variable(1.0)
        with pytest.raises(ValueError, match="must have their device set"):
            train.Supervisor(logdir=str(tmp_path), is_chief=False)
    with tf.Graph().as_default(), tf.device("/job:ps"):
        v1.Variable(1.0)
        assert not train.Supervisor(logdir=str(tmp_path), is_chief=False).is_chief


def test_supervisors_write_the_graph_twice_and_go_on_from_its_file(tmp_path):
    folder = str(tmp_path)
    with tf.Graph().as_default():
        v1.Variable(3.0, name="v")
        made = train.Supervisor(logdir=folder)
        with made.managed_session() as session:
            path = made.saver.save(session, made.save_path)
    (file,) = [x for x in os.listdir(folder) if x.startswith("events")]
    events = list(train.summary_iterator(os.path.join(folder, file)))
    assert [e.WhichOneof("what") for e in events[:3]] == [
        "file_version", "graph_def", "meta_graph_def",
    ]  # fmt: skip
    with tf.Graph().as_default():
        saver = train.import_meta_graph(f"{path}.meta")
        made = train.Supervisor(logdir=folder, saver=saver)
        with made.managed_session() as session:
            assert session.run("v:0") == 3.0


def test_a_graph_that_is_imported_inside_of_a_scope_is_in_it(tmp_path):
    path = str(tmp_path / "c")
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("v", initializer=5.0)
        session.run(v1.global_variables_initializer())
        train.Saver().save(session, path)
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.name_scope("inner"):
            train.import_meta_graph(f"{path}.meta").restore(session, path)
        assert session.run("inner/v:0") == 5.0


def test_devices_are_cleared_in_branches_too():
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            x = tf.constant(2.0)
            tf.cond(x > 1, lambda: tf.constant(3.0) * x, lambda: x, name="which")
            tf.identity(tf.random.uniform([]), name="random")
        kept = train.export_meta_graph()
        cleared = train.export_meta_graph(clear_devices=True, graph_def=graph.as_graph_def())
    for meta, options in ((kept, {"clear_devices": True}), (cleared, {})):
        with tf.Graph().as_default(), v1.Session() as session:
            train.import_meta_graph(meta, **options)
            assert session.run("which:0") == 6.0
            session.run("random:0")
    with tf.Graph().as_default(), v1.Session() as session:
        train.import_meta_graph(kept)
        with pytest.raises(tf.errors.InvalidArgumentError, match="/job:ps"):
            session.run("which:0")


def test_graphs_without_variables_are_written_beside_no_checkpoint(tmp_path):
    path = str(tmp_path / "c")
    with tf.Graph().as_default(), v1.Session() as session:
        tf.constant(1.0, name="x")
        assert train.Saver(allow_empty=True).save(session, path) is None
    assert os.listdir(tmp_path) == ["c.meta"]
    with tf.Graph().as_default():
        assert train.import_meta_graph(f"{path}.meta", import_scope="a") is None
        v1.Variable(1.0, name="b/v")
        assert train.import_meta_graph(f"{path}.meta", import_scope="c") is None
        assert isinstance(train.import_meta_graph(f"{path}.meta", import_scope="b"), train.Saver)


def test_what_is_no_file_of_a_graph_cannot_be_parsed(tmp_path):
    with tf.Graph().as_default():
        v1.Variable(1.0)
        saver, path = train.Saver(), str(tmp_path / "meta")
        saver.export_meta_graph(path, as_text=True)
        assert train.import_meta_graph(path) is not None
        train.write_graph(saver.as_saver_def(), str(tmp_path), "meta")
        with pytest.raises(OSError, match="Cannot parse file"):
            train.import_meta_graph(path)


class Placed(tf.test.TestCase):
    def test_devices_need_not_be_there(self):
        with tf.Graph().as_default():
            with tf.device("/cpu:1"):
                x = tf.constant(1.0)
            assert self.evaluate(x) == 1.0
