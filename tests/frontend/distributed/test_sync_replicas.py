"""Gradients that are waited for: accumulators, and the optimiser of replicas that step together."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.distributed.crew import CREW

from .test_servers import CLUSTER, ONE_PS, on_tasks

v1 = tf.compat.v1


def test_an_accumulator_gives_the_mean_of_enough_gradients_and_drops_old_ones() -> None:
    with tf.Graph().as_default():
        kept = v1.ConditionalAccumulator(tf.float32, shape=[2])
        total = v1.ConditionalAccumulator(tf.float32, reduction_type="SUM")
        x, step = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.int64, [])
        give, take, size = kept.apply_grad(x, step), kept.take_grad(2), kept.num_accumulated()
        add, all_of = total.apply_grad(x), total.take_grad(1)
        later = kept.set_global_step(5)
        with v1.Session() as session:
            found: list[Any] = []
            waiting = threading.Thread(target=lambda: found.append(session.run(take)), daemon=True)
            waiting.start()
            session.run(give, {x: [1, 2], step: 0})
            assert session.run(size) <= 1
            session.run(give, {x: [3, 6], step: 0})
            waiting.join(20)
            np.testing.assert_array_equal(found, [[2, 4]])
            session.run(give, {x: [9, 9], step: 0})  # of the step that is over
            assert session.run(size) == 0
            session.run(later)
            session.run(give, {x: [9, 9], step: 4})
            session.run([give], {x: [1, 1], step: 5})
            assert session.run(size) == 1
            wrong = r"shape \[3\], expected \[2\]"
            with pytest.raises(tf.errors.InvalidArgumentError, match=wrong):
                session.run(give, {x: [1, 2, 3], step: 5})
            for _ in range(2):
                session.run(add, {x: [1, 2]})
            np.testing.assert_array_equal(session.run(all_of), [2, 4])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="expected 'MEAN' or 'SUM'"):
        v1.ConditionalAccumulator(tf.float32, reduction_type="MAX")


def test_e10_two_of_three_replicas_are_enough() -> None:
    with tf.Graph().as_default():
        w, count = v1.Variable([0.0, 0.0]), v1.train.get_or_create_global_step()
        x = v1.placeholder(tf.float32, [2])
        opt = v1.train.SyncReplicasOptimizer(
            v1.train.GradientDescentOptimizer(1.0), replicas_to_aggregate=2, total_num_replicas=3
        )
        train = opt.minimize(tf.reduce_sum(w * x), global_step=count)
        runner, tokens = opt.get_chief_queue_runner(), opt.get_init_tokens_op()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(opt.local_step_init_op)
            session.run(tokens)

            def replica(value: float) -> threading.Thread:
                run = threading.Thread(
                    target=lambda: session.run(train, {x: [value, 2 * value]}), daemon=True
                )
                run.start()
                return run

            replicas = [replica(1.0), replica(3.0)]  # the third one is late
            session.run(runner.enqueue_ops[0])  # the chief
            for each in replicas:
                each.join(20)
                assert not each.is_alive()
            np.testing.assert_array_equal(session.run(w), [-2.0, -4.0])
            assert session.run(count) == 1


def trained_alone(wanted: int, steps: int, **options: Any) -> tuple[Any, ...]:
    """Return what one replica makes of a table of which two rows are used, and the step."""
    with tf.Graph().as_default():
        table = v1.get_variable("table", [4, 2], initializer=v1.ones_initializer())
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        count = v1.train.get_or_create_global_step()
        average = v1.train.ExponentialMovingAverage(0.5)
        opt = v1.train.SyncReplicasOptimizer(
            v1.train.MomentumOptimizer(0.5, 0.5), wanted, 1, average, [w], **options
        )
        loss = tf.reduce_sum(tf.gather(table, [1, 1, 3]) * 2.0) + tf.reduce_sum(w)
        train = opt.minimize(loss, global_step=count)
        assert opt.get_slot_names() == ["momentum"]
        kept = [opt.get_slot(w, "momentum"), average.average(w)]
        hook = opt.make_session_run_hook(True)
        config = v1.ConfigProto(operation_timeout_in_ms=20_000)
        with v1.train.MonitoredTrainingSession(hooks=[hook], config=config) as session:
            for _ in range(steps):
                session.run(train)
            return (*map(np.ndarray.tolist, session.run([table, w, *kept])), session.run(count))


def test_one_replica_gives_all_gradients_that_are_waited_for() -> None:
    """Rows of a table are changed by the mean of those gradients that have them."""
    wanted = trained_alone(1, 2)
    table = [[1.0, 1.0], [-4.0, -4.0], [1.0, 1.0], [-1.5, -1.5]]
    assert wanted == (table, [-0.25, -0.25], [1.5, 1.5], [0.25, 0.25], 2)
    assert trained_alone(2, 4) == wanted


def test_too_few_tokens_for_the_first_step_are_refused() -> None:
    with tf.Graph().as_default():
        w, count = v1.Variable([1.0]), v1.train.get_or_create_global_step()
        opt = v1.train.SyncReplicasOptimizer(v1.train.GradientDescentOptimizer(1.0), 3, 1)
        opt.minimize(tf.reduce_sum(w), global_step=count)
        with pytest.raises(ValueError, match=r"Too few tokens to finish the first step: 0 .* vs 2"):
            opt.get_init_tokens_op(0)


def test_monitored_replicas_over_parameter_servers_make_each_step_together(tmp_path: Path) -> None:
    spec = tf.train.ClusterSpec(CLUSTER)

    def work(server: Any, index: int) -> Any:
        setter = v1.train.replica_device_setter(
            cluster=spec, worker_device=f"/job:worker/task:{index}"
        )
        with tf.Graph().as_default(), v1.device(setter):
            count = v1.train.get_or_create_global_step()
            x = v1.placeholder(tf.float32, [2])
            w = v1.get_variable("w", initializer=np.float32([1.0, 2.0]))
            b = v1.get_variable("b", initializer=np.float32([0.0, 0.0]))
            opt = v1.train.SyncReplicasOptimizer(
                v1.train.GradientDescentOptimizer(0.5), replicas_to_aggregate=2
            )
            with pytest.raises(ValueError, match="apply_gradient should be called"):
                opt.make_session_run_hook(index == 0).begin()
            train = opt.minimize(tf.reduce_sum(w * x + b), global_step=count)
            hooks = [opt.make_session_run_hook(index == 0), v1.train.StopAtStepHook(last_step=5)]
            made, steps = None, 0
            while index > 0 and v1.train.latest_checkpoint(str(tmp_path)) is None:
                time.sleep(0.02)  # (else it asks every 30 s whether the chief is ready)
            with v1.train.MonitoredTrainingSession(
                server.target,
                index == 0,
                str(tmp_path),
                hooks=hooks,
                save_checkpoint_secs=None,
                save_checkpoint_steps=2,
                max_wait_secs=60,
            ) as session:
                while not session.should_stop():
                    given = {x: [1.0 + index, 3.0 - index]}
                    _, at, made = session.run([train, count, [w, b]], given)
                    steps += 1
            return steps, int(at), np.asarray(made).tolist()

    rows = on_tasks(CLUSTER, work)
    assert [rows[f"worker:{n}"][0] for n in (0, 1)] == [5, 5]
    # each step goes along the mean of both gradients: 1.5 and 2.5, and 1
    reader = v1.train.NewCheckpointReader(v1.train.latest_checkpoint(str(tmp_path)))
    at = int(reader.get_tensor("global_step"))
    assert at >= 4
    np.testing.assert_allclose(reader.get_tensor("w"), [1 - 0.75 * at, 2 - 1.25 * at])
    np.testing.assert_allclose(reader.get_tensor("b"), [-0.5 * at] * 2)


def test_variables_of_servers_are_reported_by_those() -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            for n in (0, 1):
                with tf.device(f"/job:ps/task:{n}"):
                    made = v1.get_variable(f"r{index}{n}", initializer=np.float32(n))
            left = v1.report_uninitialized_variables()
            with v1.Session(server.target, graph=graph) as session:
                before = session.run(left)
                session.run(made.initializer)
                return [*before, *session.run(left)]

    for n, found in enumerate(on_tasks(CLUSTER, work)[f"worker:{n}"] for n in (0, 1)):
        assert found == [f"r{n}0".encode(), f"r{n}1".encode(), f"r{n}0".encode()]


@pytest.mark.parametrize("device", ["/job:ps/task:0", "/job:worker/task:0"])
@pytest.mark.parametrize("kind", ["queue", "accumulator"])
def test_a_session_that_is_closed_gives_up_steps_that_wait(kind: str, device: str) -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default(), v1.device(device):
            if kind == "queue":
                wanted = v1.FIFOQueue(1, [tf.float32], [[]], shared_name="never").dequeue()
            else:
                wanted = v1.ConditionalAccumulator(tf.float32, shape=[]).take_grad(1)
            session = v1.Session(server.target)
            wrong: list[Exception] = []

            def run() -> None:
                try:
                    session.run(wanted)
                except tf.errors.OpError as error:
                    wrong.append(error)

            waiting = threading.Thread(target=run, daemon=True)
            waiting.start()
            time.sleep(0.3)
            assert waiting.is_alive()
            session.close()
            waiting.join(20)
        return wrong

    wrong = on_tasks(ONE_PS, work)["worker:0"]
    assert [type(error) for error in wrong] == [tf.errors.CancelledError]
    end = time.monotonic() + 20
    while any(thread.name.startswith(CREW) for thread in threading.enumerate()):
        assert time.monotonic() < end, "a thread of a task still waits"
        time.sleep(0.02)


def test_a_step_that_waits_for_gradients_ends_with_its_session() -> None:
    with tf.Graph().as_default():
        wanted = v1.ConditionalAccumulator(tf.float32, shape=[]).take_grad(1)
        session, wrong = v1.Session(), list[Exception]()

        def run() -> None:
            try:
                session.run(wanted)
            except tf.errors.CancelledError as error:
                wrong.append(error)

        waiting = threading.Thread(target=run, daemon=True)
        waiting.start()
        time.sleep(0.2)
        session.close()
        waiting.join(20)
        assert len(wrong) == 1
