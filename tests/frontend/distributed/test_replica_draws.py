"""What replicas draw, and what each of them may ask for."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.devices import MACHINE
from gravure.runtime.comm.local import run_ranks


@pytest.fixture(autouse=True)
def two_devices() -> Iterator[None]:
    before = replace(MACHINE)
    MACHINE.processors, MACHINE.used = 2, False
    yield
    MACHINE.__dict__.update(before.__dict__)


@pytest.mark.parametrize("how", ["at once", "a function", "a function inside", "of a seed"])
def test_replicas_draw_the_same_on_any_number_of_ranks(how: str) -> None:
    def run(comm: Any) -> bytes:
        strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=4, ordered=True)

        def drawn() -> Any:
            if how == "of a seed":
                return tf.random.normal([1, 3], seed=4)
            x = tf.cond(
                tf.constant(True), lambda: tf.random.uniform([1, 3]), lambda: tf.ones([1, 3])
            )
            return tf.nn.dropout(x, 0.5) + tf.random.normal([1, 3])

        function = tf.function(drawn)

        def calling() -> Any:
            return function() * 1.0

        step = {"a function": function, "a function inside": calling}.get(how, drawn)
        rows = [np.asarray(strategy.gather(strategy.run(step), axis=0)) for _ in range(6)]
        assert len({row.tobytes() for each in rows for row in each}) == 6 * 4
        return np.concatenate(rows).tobytes()

    found = set()
    for count in (1, 2, 4):
        tf.random.set_seed(7)
        found |= set(run_ranks(count, run))
    assert len(found) == 1


def test_a_replica_reduces_by_its_context_and_single_values_are_no_sum() -> None:
    strategy = tf.distribute.MirroredStrategy()
    with pytest.raises(RuntimeError, match="`reduce` is called between the replicas"):
        strategy.run(lambda: strategy.reduce("SUM", tf.constant(1.0), axis=None))
    with pytest.raises(ValueError, match="is one value, and there are 2 replicas"):
        strategy.reduce("SUM", tf.constant(2.0), axis=None)
    assert float(strategy.reduce("MEAN", tf.constant([2.0, 4.0]), axis=0)) == 3.0
    assert float(strategy.reduce("SUM", 0.0, axis=None)) == 0.0
    with strategy.scope():
        v = tf.Variable(2.0)
    with pytest.raises(ValueError, match="is one value, and there are 2 replicas"):
        strategy.reduce("SUM", v, axis=None)


@pytest.mark.parametrize("staged", [False, True])
def test_values_of_replicas_that_differ_in_shape_are_not_added_up(*, staged: bool) -> None:
    strategy = tf.distribute.MirroredStrategy()
    batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(3))
    batch = next(iter(batches))  # (of two rows, and of one)

    def total(batch: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(lambda x: x * 2, (batch,)), axis=None)

    with pytest.raises(tf.errors.InvalidArgumentError, match="of one shape"):
        (tf.function(total) if staged else total)(batch)
    assert int(strategy.reduce("SUM", batch, axis=0)) == 3


@pytest.mark.parametrize("whole", [False, True])
def test_ranks_whose_data_ends_earlier_go_on_without_rows(*, whole: bool) -> None:
    def run(comm: Any) -> Any:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()

        def of_rank(context: Any) -> Any:
            data = tf.data.Dataset.range(13).shard(comm.size, context.input_pipeline_id)
            return data.batch(2, drop_remainder=whole)

        batches = strategy.distribute_datasets_from_function(of_rank)

        def total(batch: Any) -> Any:
            return strategy.reduce("SUM", strategy.run(tf.reduce_sum, (batch,)), axis=None)

        @tf.function
        def epoch(batches: Any) -> Any:
            found = tf.constant(0, tf.int64)
            for batch in batches:
                found += total(batch)
            return found

        rows, optional = iter(batches), []
        while (batch := rows.get_next_as_optional()).has_value():
            optional.append(int(total(batch.get_value())))
        assert optional == [int(total(batch)) for batch in batches]
        return optional, [int(epoch(batches)) for _ in range(3)]

    totals = [15, 51] if whole else [15, 51, 12]
    assert run_ranks(3, run) == [(totals, [sum(totals)] * 3)] * 3
