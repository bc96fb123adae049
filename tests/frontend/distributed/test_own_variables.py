"""Variables that are no strategy's, or that a replica makes, and generators of replicas.

The numbers are TensorFlow's, of a `MirroredStrategy` of two virtual processors.
"""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.values.devices import MACHINE


@pytest.fixture
def strategy(monkeypatch):
    monkeypatch.setattr(MACHINE, "processors", 2)
    monkeypatch.setattr(MACHINE, "used", False)
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def each(strategy, result):
    return [np.asarray(x).tolist() for x in strategy.experimental_local_results(result)]


def test_what_is_made_outside_is_changed_by_each_replica_in_turn(strategy) -> None:
    v = tf.Variable(0.0)
    assert each(strategy, strategy.run(lambda: v.assign_add(1.0) * 1.0)) == [1.0, 2.0]

    @tf.function
    def step():
        return strategy.run(lambda: v.assign_add(1.0) * 1.0)

    assert [each(strategy, step()) for _ in range(3)] == [[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]
    assert float(v) == 8.0


@pytest.mark.parametrize("staged", [False, True])
def test_what_each_replica_makes_is_changed_for_each(strategy, staged: bool) -> None:
    def function():
        w = tf.Variable(1.0)
        w.assign_add(2.0)
        return w.read_value() * 10.0

    if staged:
        kept = []

        def function():
            if not kept:
                kept.append(tf.Variable(1.0))
            return kept[0].assign_add(2.0) * 10.0

        function = tf.function(function)
    assert each(strategy, strategy.run(function)) == [30.0, 30.0]


def test_what_each_replica_makes_may_be_its_own(strategy) -> None:
    def function():
        w = tf.Variable(
            1.0, synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )  # fmt: skip
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        w.assign_add(2.0 + tf.cast(number, tf.float32))
        return w.read_value()

    assert each(strategy, strategy.run(function)) == [3.0, 4.0]


def test_generators_of_a_scope_draw_other_numbers_for_each_replica(strategy) -> None:
    with strategy.scope():
        g = tf.random.Generator.from_seed(1)
    made = each(strategy, strategy.run(lambda: tf.stack([g.normal([]), g.normal([])])))
    wanted = [[-0.87930447, -1.5822568], [0.02066157, 0.77539235]]
    np.testing.assert_allclose(made, wanted, rtol=1e-6)


def test_they_do_so_in_functions(strategy) -> None:
    with strategy.scope():
        g = tf.random.Generator.from_seed(1)
    step = tf.function(lambda: strategy.run(lambda: g.normal([2])))
    wanted = [
        [[-0.87930447, 1.46807885], [0.02066157, 1.94733453]],
        [[-0.50397032, -0.17300826], [0.12518381, -0.25414044]],
    ]
    for rows in wanted:
        np.testing.assert_allclose(each(strategy, step()), rows, rtol=1e-5)


def test_generators_from_outside_go_on_from_replica_to_replica(strategy) -> None:
    g, alone = (tf.random.Generator.from_seed(1) for _ in range(2))
    made = [each(strategy, strategy.run(lambda: g.normal([]))) for _ in range(2)]
    assert np.ravel(made).tolist() == [float(alone.normal([])) for _ in range(4)]


def test_generators_that_replicas_make_draw_on(strategy) -> None:
    def function():
        g = tf.random.Generator.from_seed(1)
        first = g.normal([])
        return first + 10 * g.normal([])

    made = each(strategy, strategy.run(function))
    np.testing.assert_allclose(made, [-16.70187187, 7.77458477], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "way", "expected"),
    [
        ("scatter_add", "SUM", [3.0, 5.0, 3.0]), ("scatter_add", "MEAN", [2.0, 3.5, 3.0]),
        ("scatter_sub", "SUM", [-1.0, -1.0, 3.0]), ("scatter_sub", "MEAN", [0.0, 0.5, 3.0]),
        ("scatter_add", "ONLY_FIRST_REPLICA", [3.0, 2.0, 3.0]),
        ("scatter_add", "NONE", [3.0, 2.0, 3.0]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("staged", [False, True])
def test_rows_of_all_replicas_are_changed(strategy, name, way, expected, staged: bool) -> None:
    with strategy.scope():
        v = tf.Variable([1.0, 2.0, 3.0], aggregation=tf.VariableAggregation[way])

    def function():
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        slices = tf.stack([tf.cast(number, tf.float32) + 2.0])
        getattr(v, name)(tf.IndexedSlices(slices, tf.stack([number])))

    run = tf.function(lambda: strategy.run(function)) if staged else lambda: strategy.run(function)
    run()
    assert v.numpy().tolist() == expected


@pytest.mark.parametrize("name", ["scatter_update", "scatter_max", "scatter_min", "scatter_mul"])
@pytest.mark.parametrize("way", ["SUM", "MEAN"])
def test_rows_that_replicas_cannot_change_together_are_refused(strategy, name, way) -> None:
    with strategy.scope():
        v = tf.Variable([1.0, 2.0, 3.0], aggregation=tf.VariableAggregation[way])
    with pytest.raises(NotImplementedError, match=f"{name} is only supported for"):
        strategy.run(lambda: getattr(v, name)(tf.IndexedSlices([4.0], [1])))
