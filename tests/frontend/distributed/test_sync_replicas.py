"""Gradients that are waited for: accumulators, and the optimiser of replicas that step together."""

import threading
from typing import Any

import numpy as np
import pytest

from gravure import tf

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
