"""Batches, checkpoints, hooks and optimisers of sessions, as TensorFlow's own tests use them.

Each test passes with TensorFlow 2.21 in the place of `gravure.tf`.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def counted(limit: int) -> object:
    """Return a number that is one more in each run, and is at its end after so many."""
    return v1.train.limit_epochs(v1.train.range_input_producer(limit, 1, shuffle=False).dequeue())


def taken(batch: object, runs: int) -> list[object]:
    """Return what batches are in runs of a session with its queues."""
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        found = [session.run(batch) for _ in range(runs)]
        coordinator.request_stop()
        coordinator.join(threads)
    return found


def test_sparse_tensors_are_batched_along_a_new_axis() -> None:
    with tf.Graph().as_default():
        number = tf.cast(counted(4), tf.float32)
        sparse = tf.SparseTensor([[1]], tf.stack([number]), [3])
        one, two = taken(v1.train.batch([sparse], 2), 2)
    assert one.indices.tolist() == two.indices.tolist() == [[0, 1], [1, 1]]
    assert [one.values.tolist(), two.values.tolist()] == [[0.0, 1.0], [2.0, 3.0]]
    assert one.dense_shape.tolist() == [2, 3]


def test_rows_of_a_sparse_tensor_are_kept_by_a_vector() -> None:
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0, 1], [0, 2], [1, 0], [1, 3]], [5, 4, 7, 2], [2, 4])
        kept = v1.train.maybe_batch([sparse], tf.constant([True, False]), 1, enqueue_many=True)
        assert kept.dense_shape.shape.as_list() == [2]
        (found,) = taken(kept, 1)
    assert found.indices.tolist() == [[0, 1], [0, 2]]
    assert found.values.tolist() == [5, 4]
    assert found.dense_shape.tolist() == [1, 4]


def test_runs_are_kept_by_a_condition() -> None:
    with tf.Graph().as_default():
        number = counted(8)
        even = tf.equal(number % 2, 0)
        batches = v1.train.maybe_batch({"n": number, "t": "x"}, even, 2)
        found = taken(batches, 2)
    assert [each["n"].tolist() for each in found] == [[0, 2], [4, 6]]
    assert found[0]["t"].tolist() == [b"x", b"x"]


@pytest.mark.parametrize("name", ["shuffle_batch_join", "maybe_shuffle_batch_join"])
def test_batches_of_several_lists_are_shuffled(name: str) -> None:
    kept = [True] if name.startswith("maybe") else []
    with tf.Graph().as_default():
        rows = [[tf.range(3)], [tf.range(10, 13)]]
        batch = getattr(v1.train, name)(rows, 6, 60, 0, *kept, enqueue_many=True, seed=1)
        (found,) = taken(batch, 1)
    assert set(found.tolist()) <= {0, 1, 2, 10, 11, 12}


@pytest.mark.parametrize(
    ("keep", "many", "match"),
    [
        ([True, False], False, "`keep_input` cannot be a vector"),
        ([[True]], True, "must be 0 or 1 dimensions"),
        (None, True, "must be known at graph construction"),
    ],
)
def test_what_cannot_say_what_is_kept_is_refused(keep: object, many: bool, match: str) -> None:
    with tf.Graph().as_default():
        said = v1.placeholder(tf.bool) if keep is None else tf.constant(keep)
        with pytest.raises(ValueError, match=match):
            v1.train.maybe_batch([tf.zeros(5)], said, 1, enqueue_many=many)


def test_dictionaries_of_one_batch_have_the_same_keys() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must have the same keys"):
        v1.train.batch_join([{"c": 12}, {"d": 12}], 8)


def test_sparse_tensors_become_texts_and_come_back() -> None:
    sparse = tf.SparseTensor([[0, 1], [2, 0]], ["a", "b"], [3, 2])
    texts = tf.io.serialize_many_sparse(sparse)
    assert texts.shape == (3, 3)
    assert tf.io.serialize_sparse(sparse).shape == (3,)
    found = tf.io.deserialize_many_sparse(texts, tf.string)
    assert found.indices.numpy().tolist() == [[0, 1], [2, 0]]
    assert found.values.numpy().tolist() == [b"a", b"b"]
    assert found.dense_shape.numpy().tolist() == [3, 2]


def test_a_checkpoint_of_a_graph_is_written_by_its_session(tmp_path: Path) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        weight = v1.Variable(2.0)
        session.run(weight.initializer)
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(w=weight), str(tmp_path), 2)
        paths = [manager.save() for _ in range(3)]
        assert [Path(p).name for p in paths] == ["ckpt-1", "ckpt-2", "ckpt-3"]
        assert manager.checkpoints == paths[1:]
    with tf.Graph().as_default(), v1.Session() as session:
        weight, other = v1.Variable(7.0), v1.Variable(5.0)
        restored = tf.train.Checkpoint(w=weight, other=other)
        restored.restore(paths[-1]).initialize_or_restore(session)
        assert session.run([weight, other, restored.save_counter]) == [2.0, 5.0, 3]
        assert restored.save(str(tmp_path / "more")).endswith("more-4")


def test_a_saver_keeps_away_from_the_name_of_its_note(tmp_path: Path) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v1.Variable(0.0)
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver()
        with pytest.raises(ValueError, match="collides with"):
            saver.save(session, str(tmp_path / "checkpoint"))
        assert saver.save(session, str(tmp_path / "checkpoint"), global_step=1).endswith("-1")
        said = saver.as_saver_def()
    assert (said.max_to_keep, said.version) == (5, v1.train.SaverDef.V2)


def test_errors_behind_the_end_are_raised_at_once() -> None:
    coordinator = v1.train.Coordinator()
    coordinator.join([])
    with pytest.raises(RuntimeError, match="too late"), coordinator.stop_on_exception():
        raise RuntimeError("too late")


def test_threads_of_a_queue_are_named_and_made_once() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        with tf.name_scope("of"):
            queue = v1.FIFOQueue(10, tf.float32, name="queue")
        runner = v1.train.QueueRunner(queue, [queue.enqueue(1.0)])
        coordinator = v1.train.Coordinator()
        threads = runner.create_threads(session, coordinator)
        assert runner.create_threads(session, coordinator) == []
        assert "QueueRunnerThread-of/queue-close_on_stop" in {t.name for t in threads}
        with pytest.raises(TypeError, match=r"tf\.Session"):
            v1.train.start_queue_runners("no session")


@pytest.mark.parametrize("rule", ["MomentumOptimizer", "RMSPropOptimizer"])
def test_factors_may_be_functions_and_tensors_of_another_type(rule: str) -> None:
    made = []
    for wrap in (float, lambda x: lambda: x, tf.constant):
        weight = tf.Variable(np.float16([1.0, 2.0]))
        optimiser = getattr(v1.train, rule)(learning_rate=wrap(0.5), momentum=wrap(0.25))
        for _ in range(2):
            optimiser.apply_gradients([(tf.constant([0.5, 1.0], tf.float16), weight)])
        made.append(weight.numpy().tolist())
    assert made[0] == made[1] == made[2]


def test_what_an_optimiser_cannot_change_is_named() -> None:
    optimiser = v1.train.GradientDescentOptimizer(3.0)
    x = tf.constant(1.0)
    pairs = optimiser.compute_gradients(lambda: x * x, [x])
    assert pairs[0][0].numpy() == 2.0
    with pytest.raises(NotImplementedError):
        optimiser.apply_gradients(pairs)
    with pytest.raises(ValueError, match="No variables"):
        optimiser.apply_gradients([])


def test_adam_has_powers_in_each_graph() -> None:
    optimiser = v1.train.AdamOptimizer()
    for _ in range(2):
        with tf.Graph().as_default(), v1.Session() as session:
            weight = v1.Variable([1.0, 2.0])
            step = optimiser.apply_gradients([(tf.constant([0.1, 0.1]), weight)])
            assert v1.get_collection("train_op") == [step]
            session.run(v1.global_variables_initializer())
            session.run(step)
            assert session.run(weight).tolist() == pytest.approx([0.999, 1.999])


def test_the_basic_loop_begins_anew_when_it_is_aborted(tmp_path: Path) -> None:
    calls = []

    def step(session: object, word: str) -> None:
        calls.append(word)
        if len(calls) == 2:
            raise tf.errors.AbortedError(None, None, "once more")
        if len(calls) == 4:
            raise RuntimeError("enough")

    with tf.Graph().as_default():
        supervisor = v1.train.Supervisor(logdir=str(tmp_path))
        with pytest.raises(RuntimeError, match="enough"):
            v1.train.basic_train_loop(supervisor, step, kwargs={"word": "w"})
    assert calls == ["w"] * 4


def test_a_hook_writes_when_operations_were_carried_out(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        count = v1.train.get_or_create_global_step()
        step = v1.assign_add(count, 1)
        hook = v1.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            for _ in range(5):
                session.run(step)
    files = sorted(path.name for path in tmp_path.glob("timeline-*.json"))
    assert files == ["timeline-2.json", "timeline-4.json"]
    events = json.loads((tmp_path / files[0]).read_text())["traceEvents"]
    assert any(event["ph"] == "X" for event in events)


def test_a_monitored_session_recovers_from_what_stopped_its_threads() -> None:
    class Stops(v1.train.SessionRunHook):
        """Stops the threads of the session by an error, once."""

        calls = 0

        def after_create_session(self, session: object, coord: object) -> None:
            self.coordinator = coord

        def after_run(self, run_context: object, run_values: object) -> None:
            self.calls += 1
            if self.calls == 2:
                with self.coordinator.stop_on_exception():
                    raise tf.errors.AbortedError(None, None, "lost")

    with tf.Graph().as_default() as graph:
        value = tf.constant(3)
        with v1.train.MonitoredSession(hooks=[Stops()]) as session:
            found = []
            while not session.should_stop() and len(found) < 4:
                found.append(session.run(value))
        assert found == [3] * 4
        assert not graph.finalized


def test_a_function_of_steps_takes_their_context_alone() -> None:
    with tf.Graph().as_default():
        with v1.train.MonitoredSession() as session:
            with pytest.raises(ValueError, match="may either have one `step_context` argument"):
                session.run_step_fn(lambda step_context, other: None)
            with pytest.raises(StopIteration):
                session.run_step_fn(lambda step_context: step_context.request_stop())
        session = v1.train.MonitoredSession()
        with pytest.raises(RuntimeError, match="already closed"), session:
            session.close()


def test_whether_variables_have_values_is_asked_by_their_tensors_and_all_at_once() -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        weight = v1.Variable([1.0, 2.0], name="v", use_resource=False)
        there = v1.is_variable_initialized(graph.get_tensor_by_name("v:0"))
        ready = v1.assert_variables_initialized()
        assert not session.run(there)
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(ready)
        session.run(weight.initializer)
        assert session.run(there)
        assert session.run(ready).tolist() == [1]
        assert v1.assert_variables_initialized([]) is None


def test_moving_averages_in_a_branch_move_where_it_is_taken() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x, training = v1.placeholder(tf.float32, [2, 1]), v1.placeholder(tf.bool, [])
        mean, _ = tf.nn.moments(x, [0])
        average = v1.train.ExponentialMovingAverage(0.5)

        def updated() -> object:
            with tf.control_dependencies([average.apply([mean])]):
                return tf.identity(mean)

        found = tf.cond(training, updated, lambda: average.average(mean).read_value())
        session.run(v1.global_variables_initializer())
        held = [session.run(found, {x: [[2.0], [4.0]], training: t}) for t in (True, False, False)]
        assert held == [[3.0], [1.5], [1.5]]
        names = [v.op.name for v in v1.global_variables()]
        assert names == ["moments/Squeeze/ExponentialMovingAverage"]


@pytest.mark.parametrize("kind", ["AdamOptimizer", "MomentumOptimizer", "FtrlOptimizer"])
def test_gradients_are_applied_in_the_branch_that_asks_for_it(kind: str) -> None:
    more = {"momentum": 0.5} if kind == "MomentumOptimizer" else {}
    with tf.Graph().as_default(), v1.Session() as session:
        w, wanted = v1.get_variable("w", [2], initializer=v1.ones_initializer()), [1.0, 1.0]
        holds, step = v1.placeholder(tf.bool, []), v1.train.get_or_create_global_step()
        optimiser = getattr(v1.train, kind)(0.1, **more)

        def applied() -> object:
            train = optimiser.apply_gradients([(w + 1.0, w)], global_step=step)
            with tf.control_dependencies([train]):
                return tf.constant(1)

        done = tf.cond(holds, applied, lambda: tf.constant(0))
        session.run(v1.global_variables_initializer())
        for i, each in enumerate((False, True, False, True)):
            before = wanted
            assert session.run(done, {holds: each}) == int(each)
            wanted = session.run(w).tolist()
            assert (wanted != before) == each
            assert session.run(step) == (i + 1) // 2


def test_an_optimiser_is_made_and_used_in_a_loop() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())

        def turn(i: object, _: object) -> tuple[object, object]:
            loss = tf.square(w - 3.0)
            train = v1.train.GradientDescentOptimizer(0.25).minimize(loss, var_list=[w])
            with tf.control_dependencies([train]):
                return i + 1, tf.identity(loss)

        loop = tf.while_loop(lambda i, _: i < 3, turn, (0, 0.0), parallel_iterations=1)
        session.run(v1.global_variables_initializer())
        assert session.run(loop)[1] == pytest.approx(0.25)
        assert session.run(w) == pytest.approx(2.75)


def test_adam_takes_away_factors_as_the_type_of_the_variable_rounds_them() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        train = v1.train.AdamOptimizer(0.1).apply_gradients([(tf.constant([3.0, 40.0]), w)])
        session.run(v1.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(w), [0.9, 0.9], rtol=1e-7)


def test_what_holds_is_traced_first() -> None:
    seen: list[str] = []

    def noting(name: str) -> object:
        return lambda: seen.append(name) or tf.constant(1)

    with tf.Graph().as_default():
        tf.cond(v1.placeholder(tf.bool, []), noting("true"), noting("false"))
    assert seen == ["true", "false"]


def saved_before(folder):
    """Write a checkpoint of a matrix of words and a bias; return its path."""
    (folder / "old").write_text("apple\nbanana\ncherry\n")
    (folder / "new").write_text("cherry\norange\napple\n")
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("words", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        v1.get_variable("layer/bias", initializer=tf.constant([3.0]))
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(folder / "before"))


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [[[1, 2], [3, 4], [5, 6]], [3]]),
        ({"vars_to_warm_start": "words"}, [[[1, 2], [3, 4], [5, 6]], [8]]),
        ({"vars_to_warm_start": ["layer/bias"]}, [[[9, 9], [9, 9], [9, 9]], [3]]),
        ({"vars_to_warm_start": None, "words": 0}, [[[5, 6], [9, 9], [1, 2]], [8]]),
    ],
)
def test_a_model_starts_warm_as_in_tensorflow(tmp_path, options, wanted):
    path = saved_before(tmp_path)
    if "words" in options:
        files = {"new_vocab": str(tmp_path / "new"), "old_vocab": str(tmp_path / "old")}
        nines = v1.constant_initializer(9.0)
        info = v1.train.VocabInfo(
            **files, new_vocab_size=3, num_oov_buckets=options.pop("words"),
            backup_initializer=nines,
        )  # fmt: skip
        options = {**options, "var_name_to_vocab_info": {"words": info}}
    with tf.Graph().as_default(), v1.Session() as session:
        words = v1.get_variable("words", initializer=tf.fill([3, 2], 9.0))
        bias = v1.get_variable("layer/bias", initializer=tf.constant([8.0]))
        v1.train.warm_start(path, **options)
        session.run(v1.global_variables_initializer())
        assert [x.tolist() for x in session.run([words, bias])] == wanted
        with pytest.raises(ValueError, match="were not used"):
            v1.train.warm_start(path, var_name_to_prev_var_name={"none": "words"})
