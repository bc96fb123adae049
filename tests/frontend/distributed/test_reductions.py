"""What reductions, updates and assignments of replicas make of one value, as TensorFlow does."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gravure import tf
from gravure.frontend.values.devices import MACHINE

ways = tf.VariableAggregation
dist = tf.distribute


@pytest.fixture(autouse=True)
def two_devices() -> Iterator[None]:
    before = replace(MACHINE)
    MACHINE.processors, MACHINE.used = 2, False
    yield
    MACHINE.__dict__.update(before.__dict__)


def merging(strategy: Any, merged: Any, *given: Any) -> Any:
    """Return what a function gives that is called once for all replicas."""
    return strategy.run(lambda: dist.get_replica_context().merge_call(merged, given))


def number() -> Any:
    return tf.cast(dist.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("kind", ["tensor", "variable", "of the strategy", "float"])
def test_one_value_is_not_added_up_between_replicas(kind: str, *, staged: bool) -> None:
    strategy = dist.MirroredStrategy()
    values: dict[str, Any] = {
        "tensor": tf.constant(2.0),
        "variable": tf.Variable(2.0),
        "float": 2.0,
    }
    with strategy.scope():
        values["of the strategy"] = tf.Variable(2.0)
    one = values[kind]

    def reduced(way: str) -> Any:
        return merging(strategy, lambda s, x: s.extended.reduce_to(way, x, "/cpu:0"), one)

    run = tf.function(reduced) if staged else reduced
    with pytest.raises(ValueError, match="is one value, and there are 2 replicas"):
        run("SUM")
    if not staged:
        with pytest.raises(ValueError, match="is one value, and there are 2 replicas"):
            strategy.extended.reduce_to("SUM", one, "/cpu:0")
        assert float(strategy.extended.reduce_to("MEAN", one, "/cpu:0")) == 2.0
    [found] = strategy.experimental_local_results(run("MEAN"))
    assert float(found) == 2.0


def test_what_each_replica_has_made_is_added_up() -> None:
    strategy = dist.MirroredStrategy()

    def step() -> Any:
        def merged(between: Any, x: Any) -> Any:
            return between.extended.reduce_to("SUM", x, "/cpu:0")

        return dist.get_replica_context().merge_call(merged, (number(),))

    assert float(strategy.run(step)) == 3.0
    kept = tf.constant(5.0)
    assert strategy.run(lambda: kept) is kept
    total = strategy.run(lambda: dist.get_replica_context().all_reduce("SUM", number()))
    assert [float(x) for x in strategy.experimental_local_results(total)] == [3.0, 3.0]


@pytest.mark.parametrize("way", [ways.SUM, ways.MEAN])
def test_what_replicas_have_of_a_variable_is_reduced_once(way: Any) -> None:
    strategy = dist.MirroredStrategy()
    with strategy.scope():
        v = tf.Variable(2.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=way)
    strategy.run(lambda: v.assign_add(number()))
    assert float(strategy.reduce("SUM", v, axis=None)) == 7.0
    assert float(strategy.reduce("MEAN", v, axis=None)) == 3.5


def test_one_value_is_reduced_on_an_axis_as_each_replica_has_it() -> None:
    strategy, x = dist.MirroredStrategy(), tf.constant([[1.0, 2.0], [3.0, 6.0]])
    assert float(strategy.reduce("SUM", x[0], axis=0)) == 6.0
    assert strategy.reduce("MEAN", x, axis=0).numpy().tolist() == [2.0, 4.0]
    each = strategy.run(lambda: x * 1.0)
    assert float(strategy.reduce("MEAN", each, axis=(0, 1))) == 3.0
    assert float(strategy.reduce("SUM", each, axis=[0, 1])) == 24.0


@pytest.mark.parametrize("value", [2.0, tf.constant(2.0)], ids=["number", "tensor"])
@pytest.mark.parametrize("how", ["assign", "assign_add", "assign_sub"])
def test_replicas_do_not_add_up_one_value_in_a_variable(how: str, value: Any) -> None:
    strategy = dist.MirroredStrategy()
    with strategy.scope():
        made = {way: tf.Variable(1.0, aggregation=way) for way in (ways.SUM, ways.MEAN)}
    with pytest.raises(ValueError, match="is one value, and there are 2 replicas"):
        strategy.run(lambda: getattr(made[ways.SUM], how)(value))
    assert float(made[ways.SUM]) == 1.0
    strategy.run(lambda: getattr(made[ways.MEAN], how)(value))
    assert float(made[ways.MEAN]) == {"assign": 2.0, "assign_add": 3.0, "assign_sub": -1.0}[how]
    strategy.run(lambda: getattr(made[ways.SUM], how)(number()))
    assert float(made[ways.SUM]) == {"assign": 3.0, "assign_add": 4.0, "assign_sub": -2.0}[how]


def test_updates_take_one_value() -> None:
    strategy = dist.MirroredStrategy()
    with strategy.scope():
        v = tf.Variable(2.0)
    with pytest.raises(ValueError, match="is shared by the replicas, which have values of their"):
        strategy.extended.update(v, lambda var, x: var.assign(x), args=(strategy.run(number),))

    def step() -> Any:
        total = dist.get_replica_context().all_reduce("SUM", number())
        return strategy.extended.update(v, lambda var, x: var.assign_add(x), args=(total,))

    strategy.run(step)
    assert float(v) == 5.0


def test_values_of_replicas_are_no_tensor() -> None:
    strategy = dist.MirroredStrategy()
    each = strategy.run(number)
    with pytest.raises(ValueError, match="value of replicas to one tensor"):
        tf.convert_to_tensor(each)
    with strategy.scope():
        v = tf.Variable([0.0, 0.0])
    with pytest.raises(ValueError, match="value of replicas to one tensor"):
        v.assign(each)
    for operate in (lambda x: x * 2, lambda x: 2 * x, lambda x: x - x, lambda x: x - 1.0):
        with pytest.raises(TypeError, match="replicas have a value each"):
            operate(each)


@pytest.mark.parametrize("value", [True, "a"])
def test_only_numbers_are_added_up(value: Any) -> None:
    strategy = dist.MirroredStrategy()
    each = strategy.run(lambda: tf.constant(value))
    with pytest.raises(tf.errors.InvalidArgumentError, match="only numbers are added up"):
        strategy.reduce("SUM", each, axis=None)
