"""Watched training: sessions with hooks, supervisors, and what they leave in a folder."""

import logging
import os
from pathlib import Path

import pytest

import gravure.tf as tf

v1 = tf.compat.v1
train = v1.train


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def model():
    """Return what makes a step, and the loss: 2 times 0.64 to the power of the steps."""
    step = train.get_or_create_global_step()
    w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
    loss = tf.reduce_sum(w * w, name="loss")
    v1.summary.scalar("loss", loss)
    return train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step), loss


class Noting(train.SessionRunHook):
    def __init__(self, loss):
        self.loss, self.log = loss, []

    def begin(self):
        self.log.append("begin")

    def after_create_session(self, session, coord):
        self.log.append("created")

    def before_run(self, run_context):
        return train.SessionRunArgs({"loss": self.loss})

    def after_run(self, run_context, run_values):
        self.log.append(round(float(run_values.results["loss"]), 4))

    def end(self, session):
        self.log.append("end")


def names(folder, ending):
    return sorted(f for f in os.listdir(folder) if f.endswith(ending))


def test_hooks_and_files(graph, tmp_path, caplog):
    op, loss = model()
    noting = Noting(loss)
    told = train.LoggingTensorHook({"is": "loss:0"}, every_n_iter=2)
    hooks = [noting, train.StopAtStepHook(last_step=5), train.NanTensorHook(loss), told]
    folder = str(tmp_path)
    made = train.MonitoredTrainingSession(
        checkpoint_dir=folder, save_checkpoint_steps=2, save_summaries_steps=1, hooks=hooks
    )
    with caplog.at_level(logging.INFO, "tensorflow"), made as session:
        while not session.should_stop():
            session.run(op)
    assert noting.log == ["begin", "created", 2.0, 1.28, 0.8192, 0.5243, 0.3355, "end"]
    assert caplog.messages[0] == "is = 2.0"
    assert caplog.messages[1].startswith("is = 0.8192")
    state = train.get_checkpoint_state(folder)
    assert state.model_checkpoint_path == os.path.join(folder, "model.ckpt-5")
    kept = [os.path.basename(path) for path in state.all_model_checkpoint_paths]
    assert kept == [f"model.ckpt-{n}" for n in (0, 2, 4, 5)]
    assert names(folder, ".meta") == [f"model.ckpt-{n}.meta" for n in (0, 2, 4, 5)]
    assert names(folder, "pbtxt") == ["graph.pbtxt"]
    [events] = [f for f in os.listdir(folder) if "tfevents" in f]
    found = [
        (event.step, round(event.summary.value[0].simple_value, 4))
        for event in train.summary_iterator(os.path.join(folder, events))
        if event.WhichOneof("what") == "summary"
    ]
    assert found == [(1, 2.0), (2, 1.28), (3, 0.8192), (4, 0.5243), (5, 0.3355)]


def test_a_session_goes_on_where_the_last_one_ended(tmp_path):
    for expected in (3, 5):
        with tf.Graph().as_default():
            op, _ = model()
            stop = train.StopAtStepHook(last_step=expected)
            with train.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path), save_checkpoint_steps=100, hooks=[stop]
            ) as session:
                steps = 0
                while not session.should_stop():
                    session.run(op)
                    steps += 1
        assert steps == (3 if expected == 3 else 2)
    assert train.latest_checkpoint(str(tmp_path)).endswith("-5")


def test_what_hooks_feed_and_how_a_loop_ends(graph):
    x = v1.placeholder(tf.float32, [])
    y = x * 2.0
    given = iter([{x: 1.0}, {x: 2.0}])
    final = train.FinalOpsHook(y, {x: 5.0})
    hooks = [train.FeedFnHook(lambda: next(given)), final]
    with train.SingularMonitoredSession(hooks=hooks) as session:
        assert session.run(y) == 2.0
        with pytest.raises(RuntimeError, match="fed by a SessionRunHook and user"):
            session.run(y, {x: 1.0})
        raise StopIteration  # what ends a loop is no error
    assert final.final_ops_values == 10.0
    with pytest.raises(RuntimeError, match="closed"):
        session.run(y)


def test_a_loss_that_is_no_number(graph):
    step = train.get_or_create_global_step()
    x = v1.placeholder(tf.float32, [])
    loss, op = tf.math.log(x), v1.assign_add(step, 1)
    hooks = [train.NanTensorHook(loss)]
    session = train.MonitoredSession(hooks=hooks)
    session.run(op, {x: 1.0})
    with pytest.raises(train.NanLossDuringTrainingError), session:
        session.run(op, {x: -1.0})
    assert session.should_stop()


def test_a_session_that_is_lost_begins_anew(graph):
    step = train.get_or_create_global_step()
    op = v1.assign_add(step, 1)

    class Losing(train.SessionRunHook):
        made = 0

        def after_create_session(self, session, coord):
            self.made += 1

        def after_run(self, run_context, run_values):
            if self.made == 1:
                raise tf.errors.AbortedError(None, None, "gone")

    losing = Losing()
    with train.MonitoredSession(hooks=[losing]) as session:
        assert session.run(op) == 1
    assert losing.made == 2


def test_steps_of_a_function(graph):
    step = train.get_or_create_global_step()
    op = v1.assign_add(step, 1)
    counted = []

    class Counting(train.SessionRunHook):
        def after_run(self, run_context, run_values):
            counted.append(run_context.original_args.fetches)

    def some(step_context):
        step_context.session.run(op)
        found = step_context.run_with_hooks(op)
        if found >= 4:
            step_context.request_stop()
        return found

    with train.MonitoredSession(hooks=[Counting()]) as session:
        assert session.run_step_fn(some) == 2
        assert session.run_step_fn(some) is None
        assert session.should_stop()
    assert counted == [op, op]


def test_what_is_missing_is_said(graph):
    v1.get_variable("w", [2])
    never = train.Scaffold(init_op=tf.no_op())
    with pytest.raises(RuntimeError, match="Variables not initialized: w"):
        train.MonitoredSession(train.ChiefSessionCreator(never))
    with pytest.raises(RuntimeError, match="Global step should be created"):
        train.MonitoredSession(hooks=[train.StopAtStepHook(last_step=1)])


def test_supervisors(graph, tmp_path):
    op, loss = model()
    supervisor = train.Supervisor(logdir=str(tmp_path), save_model_secs=0)
    with supervisor.managed_session() as session:
        while not supervisor.should_stop():
            _, found = session.run([op, loss])
            if found < 1:
                supervisor.saver.save(session, supervisor.save_path, supervisor.global_step)
                supervisor.request_stop()
    assert names(tmp_path, ".meta") == ["model.ckpt-3.meta"]
    with pytest.raises(ZeroDivisionError), train.Supervisor().managed_session():
        raise ZeroDivisionError


def test_looping_threads():
    coordinator, seen = train.Coordinator(), []

    def count(most):
        seen.append(len(seen))
        if len(seen) == most:
            coordinator.request_stop()

    thread = train.LooperThread.loop(coordinator, 0.001, count, (3,))
    coordinator.join([thread])
    assert seen == [0, 1, 2]


def saved(folder):
    """Save a graph with a placeholder, a summary and two variables; return the path."""
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        with v1.variable_scope("layer"):
            w = v1.get_variable("w", [2, 1], initializer=v1.constant_initializer(3.0))
        y = tf.identity(x @ w, name="y")
        v1.summary.scalar("sum", tf.reduce_sum(y))
        v1.add_to_collection("wanted", y)
        saver = train.Saver(max_to_keep=2)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for n in (1, 2, 3):
                path = saver.save(session, os.path.join(folder, "net"), global_step=n)
    return path


def test_graphs_beside_checkpoints(graph, tmp_path):
    path = saved(str(tmp_path))
    assert names(tmp_path, ".meta") == ["net-2.meta", "net-3.meta"]
    saver = train.import_meta_graph(path + ".meta")
    with v1.Session() as session:
        saver.restore(session, path)
        [y] = v1.get_collection("wanted")
        assert y is graph.get_tensor_by_name("y:0")
        assert session.run(y, {"x:0": [[1.0, 2.0]]}).tolist() == [[9.0]]
        [w] = v1.trainable_variables()
        assert (w.name, w.dtype, w.shape.as_list()) == ("layer/w:0", tf.float32, [2, 1])
        loss = tf.reduce_sum(y)
        step = train.GradientDescentOptimizer(1.0).minimize(loss)
        session.run(step, {"x:0": [[1.0, 2.0]]})
        assert session.run(w).tolist() == [[2.0], [1.0]]
        assert saver.save(session, str(tmp_path / "more")).endswith("more")
        with pytest.raises(tf.errors.UnimplementedError, match="ScalarSummary"):
            session.run("sum_1:0", {"x:0": [[1.0, 2.0]]})


def test_graphs_as_data(graph, tmp_path):
    w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
    tf.reduce_sum(w, name="total")
    message = train.export_meta_graph(str(tmp_path / "g.meta"), clear_devices=True)
    with tf.Graph().as_default() as other:
        assert train.import_meta_graph(message, import_scope="again") is not None
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert session.run(other.get_tensor_by_name("again/total:0")) == 2.0
    with pytest.raises(OSError, match="does not exist"):
        train.import_meta_graph(str(tmp_path / "none.meta"))
    path = train.write_graph(graph, str(tmp_path), "g.pbtxt")
    assert "total" in Path(path).read_text()


@pytest.mark.parametrize(
    "pairs", [{"layer/w": "new/w"}, {"layer/": "new/"}, [("layer/w", "new/w")]]
)
def test_variables_that_start_with_a_checkpoint(graph, tmp_path, pairs):
    saved(str(tmp_path))
    with v1.variable_scope("new"):
        w = v1.get_variable("w", [2, 1])
    train.init_from_checkpoint(str(tmp_path), pairs)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run(w).tolist() == [[3.0], [3.0]]


def test_checkpoints_that_do_not_fit(graph, tmp_path):
    path = saved(str(tmp_path))
    w = v1.get_variable("w", [3])
    with pytest.raises(ValueError, match="doesn't match with shape"):
        train.init_from_checkpoint(path, {"layer/w": w})
    with pytest.raises(ValueError, match="not found"):
        train.init_from_checkpoint(path, {"none": "w"})
    with pytest.raises(ValueError, match="not found in current graph"):
        train.init_from_checkpoint(path, {"layer/w": "none"})


def test_what_a_folder_knows(tmp_path):
    path, folder = saved(str(tmp_path)), str(tmp_path)
    assert train.get_checkpoint_state(str(tmp_path / "none")) is None
    train.update_checkpoint_state(folder, f"{folder}/net-2", [path])
    assert train.latest_checkpoint(folder) == f"{folder}/net-2"
    assert len(train.get_checkpoint_mtimes([path, "none"])) == 1
    found = list(train.checkpoints_iterator(folder, timeout=0.05))
    assert found == [f"{folder}/net-2"]
    train.remove_checkpoint(path)
    assert not train.checkpoint_exists(path)
    assert train.generate_checkpoint_state_proto("d", "d/a", ["d/b"]).model_checkpoint_path == "a"


def test_timers():
    timer = train.SecondOrStepTimer(every_steps=3)
    due = [n for n in range(8) if timer.should_trigger_for_step(n) and _noted(timer, n)]
    assert due == [0, 3, 6]
    with pytest.raises(ValueError, match="both"):
        train.SecondOrStepTimer(1.0, 1)


def _noted(timer, step):
    timer.update_last_triggered_step(step)
    return True


@pytest.mark.parametrize("resource", [True, False])
def test_summaries_are_as_many_steps_apart_as_was_asked_for(graph, tmp_path, resource):
    (v1.enable_resource_variables if resource else v1.disable_resource_variables)()
    try:
        minimise, _ = model()
        hooks = [train.StopAtStepHook(last_step=12)]
        options = {"save_summaries_steps": 5, "log_step_count_steps": None}
        with train.MonitoredTrainingSession("", True, str(tmp_path), hooks=hooks, **options) as s:
            while not s.should_stop():
                s.run(minimise)
    finally:
        v1.enable_resource_variables()
    (file,) = tmp_path.glob("events*")
    events = list(train.summary_iterator(str(file)))
    assert [e.step for e in events if len(e.summary.value)] == [1, 6, 11]
