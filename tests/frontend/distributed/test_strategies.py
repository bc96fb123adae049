"""Strategies: replicas in one process and in several, eagerly and compiled."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.frontend.values.devices import MACHINE
from gravure.frontend.values.run_errors import InvalidArgumentError, UnimplementedError
from gravure.runtime.comm.local import run_ranks
from gravure.target import TargetError

STAGED = [pytest.param(False, id="eager"), pytest.param(True, id="staged")]


@pytest.fixture(autouse=True)
def two_devices() -> Iterator[None]:
    before = replace(MACHINE)
    MACHINE.processors, MACHINE.used = 2, False
    yield
    MACHINE.__dict__.update(before.__dict__)


def numbered(strategy: Any) -> Any:
    return strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(float(context.replica_id_in_sync_group + 1))
    )


def maybe(staged: bool, function: Any) -> Any:
    return tf.function(function) if staged else function


@pytest.mark.parametrize("staged", STAGED)
def test_replicas_see_each_other(staged: bool) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    assert strategy.num_replicas_in_sync == 2
    x = numbered(strategy)

    def step(x: Any) -> Any:
        context = tf.distribute.get_replica_context()
        return context.all_reduce("sum", x), context.all_reduce("MEAN", x * 2.0), x * 2.0

    run = maybe(staged, lambda x: strategy.run(step, (x,)))
    for _ in range(4):
        total, mean, own = run(x)
        assert [float(v) for v in strategy.experimental_local_results(total)] == [3, 3]
        assert [float(v) for v in strategy.experimental_local_results(mean)] == [3, 3]
        assert [float(v) for v in own.values] == [2, 4]
    assert float(strategy.reduce("SUM", own, axis=None)) == 6
    assert float(strategy.reduce(tf.distribute.ReduceOp.MEAN, own, axis=None)) == 3
    rows = strategy.run(lambda x: tf.reshape(x, [1]), (x,))
    assert strategy.gather(rows, axis=0).numpy().tolist() == [1, 2]
    if not staged:
        assert [v.device[-5:] for v in own.values] == ["CPU:0", "CPU:1"]


@pytest.mark.parametrize("staged", STAGED)
def test_variables_are_changed_once_for_all_replicas(staged: bool) -> None:
    strategy = tf.distribute.MirroredStrategy()
    ways = tf.VariableAggregation
    with strategy.scope():
        made = [tf.Variable(0.0, aggregation=way) for way in ways]
    x = numbered(strategy)

    def step(x: Any) -> Any:
        for variable in made:
            variable.assign_add(x)
        return made[1] + 0.0

    found = maybe(staged, lambda x: strategy.run(step, (x,)))(x)
    # one of them, their sum, their mean, the first one's
    assert [float(v) for v in made] == [1, 3, 1.5, 1]
    assert [float(v) for v in strategy.experimental_local_results(found)] == [3, 3]


X = np.random.default_rng(1).normal(size=(8, 3)).astype(np.float32)
Y = (X @ np.float32([1, -2, 3]) + 0.5)[:, None]


def train(strategy: Any, staged: bool = True, steps: int = 6) -> list[bytes]:
    """Return the weights after some steps of a strategy, as bytes."""
    with strategy.scope():
        w, b = tf.Variable(np.zeros((3, 1), np.float32)), tf.Variable(np.float32(0))
        optimizer = tf.optimizers.Adam(0.05)

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ w + b - y) ** 2.0) / 8.0
        grads = tape.gradient(loss, [w, b])
        optimizer.apply_gradients(zip(grads, [w, b], strict=True))
        return loss

    run = maybe(staged, lambda x, y: strategy.run(step, (x, y)))
    batches = tf.data.Dataset.from_tensor_slices((X, Y)).repeat(steps).batch(8)
    losses = []
    for x, y in strategy.experimental_distribute_dataset(batches):
        losses.append(float(strategy.reduce("SUM", run(x, y), axis=None)))
    assert losses[-1] < losses[0]
    return [v.numpy().tobytes() for v in (w, b)]


@pytest.mark.parametrize("staged", STAGED)
def test_b8_two_replicas_train_as_one_does_on_all_rows(staged: bool) -> None:
    one = train(tf.distribute.get_strategy(), staged)
    two = train(tf.distribute.MirroredStrategy(), staged)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(np.frombuffer(a, "f4"), np.frombuffer(b, "f4"), rtol=1e-5)


RECORDED = {
    "Adam": [0.29883942, -0.16651365, 0.29677042, 0.20515522, 0.89093196, 48.0],
    "SGD": [0.63210791, -0.02670716, 0.41772478, 0.16948264, 0.74716508, 48.0],
    "RMSprop": [0.54042702, -0.23157772, 0.54972142, 0.21333812, 0.66316008, 48.0],
}
"""Weights, bias, last loss and count of rows of the same program on TensorFlow 2.21."""


@pytest.mark.parametrize("name", RECORDED)
def test_training_gives_the_values_that_tensorflow_gives(name: str) -> None:
    options = {"momentum": 0.9} if name == "SGD" else {}
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        w, b = tf.Variable(np.zeros((3, 1), np.float32)), tf.Variable(np.float32(0))
        count = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
        optimizer = getattr(tf.optimizers, name)(0.05, **options)
        optimizer.build([w, b])

    @tf.function  # it is given to `run`: the replicas meet in one trace of it
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ w + b - y) ** 2.0) / 8.0
        grads = tape.gradient(loss, [w, b])
        optimizer.apply_gradients(zip(grads, [w, b], strict=True))
        count.assign_add(tf.cast(tf.shape(x)[0], tf.float32))
        return loss

    batches = tf.data.Dataset.from_tensor_slices((X, Y)).repeat(6).batch(8)
    for x, y in strategy.experimental_distribute_dataset(batches):
        losses = strategy.run(step, (x, y))
    loss = strategy.reduce("SUM", losses, axis=None)
    found = [*w.numpy().ravel(), b.numpy(), loss.numpy(), count.numpy()]
    np.testing.assert_allclose(found, RECORDED[name], rtol=1e-5)


def test_a_restart_does_not_change_a_bit(tmp_path: Path) -> None:
    def steps(first: int, last: int) -> list[bytes]:
        strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=2, ordered=True)
        with strategy.scope():
            w = tf.Variable(np.zeros((3, 1), np.float32))
            optimizer = tf.optimizers.Adam(0.05)
        kept = tf.train.Checkpoint(w=w, optimizer=optimizer)
        kept.restore(tf.train.latest_checkpoint(str(tmp_path)) if first else None)

        @tf.function
        def step(x: Any, y: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((tf.tanh(x @ w) - y) ** 2.0)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])

        batches = tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(4)
        batches = batches.skip(first).take(last - first)
        for x, y in strategy.experimental_distribute_dataset(batches):
            strategy.run(step, (x, y))
        kept.save(str(tmp_path / "ckpt"))
        return [w.numpy().tobytes(), *(v.numpy().tobytes() for v in optimizer.variables)]

    whole = steps(0, 9)
    steps(0, 5)
    assert steps(5, 9) == whole


def test_ordered_training_is_the_same_bit_for_bit_on_any_number_of_ranks() -> None:
    def run(comm: Any) -> Any:
        return train(tf.distribute.MultiWorkerMirroredStrategy(replicas=4, ordered=True))

    found = {tuple(weights) for count in (1, 2, 4) for weights in run_ranks(count, run)}
    assert len(found) == 1


def test_fast_training_gives_the_same_weights_on_all_ranks() -> None:
    def run(comm: Any) -> Any:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        assert strategy.num_replicas_in_sync == 2
        return train(strategy)

    first, second = run_ranks(2, run)
    assert first == second


def test_variables_begin_with_the_value_of_the_first_rank() -> None:
    def run(comm: Any) -> Any:
        with tf.distribute.MultiWorkerMirroredStrategy().scope():
            inside = tf.Variable(float(comm.rank + 5))
        return float(inside), float(tf.Variable(float(comm.rank + 5)))

    assert run_ranks(2, run) == [(5, 5), (5, 6)]


def test_gradients_go_through_reductions_of_replicas() -> None:
    strategy = tf.distribute.MirroredStrategy()
    x = numbered(strategy)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.distribute.get_replica_context().all_reduce("sum", x * x)
            loss = total * x
        return tape.gradient(loss, x)

    # losses are 5 x: each depends on both x, and on its own once more
    found = strategy.run(step, (x,))
    assert [float(v) for v in found.values] == [5 + 2 * 1 * 3, 5 + 2 * 2 * 3]


@pytest.mark.parametrize("staged", STAGED)
def test_values_of_all_ranks_are_gathered_on_any_axis(*, staged: bool) -> None:
    def run(comm: Any) -> Any:
        strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=4)

        def step() -> Any:
            context = tf.distribute.get_replica_context()
            x = tf.fill([2, 1, 3], float(context.replica_id_in_sync_group))
            return [context.all_gather(x, axis=axis) for axis in (0, 1, -1)]

        found = maybe(staged, lambda: strategy.run(step))()
        return [strategy.experimental_local_results(x)[0].numpy() for x in found]

    parts = [np.full((2, 1, 3), float(n)) for n in range(4)]
    for rank in run_ranks(2, run):
        for axis, found in zip((0, 1, -1), rank, strict=True):
            np.testing.assert_array_equal(found, np.concatenate(parts, axis))


@pytest.mark.parametrize("staged", STAGED)
@pytest.mark.parametrize("ranks", [1, 2])
def test_each_replica_gets_the_gradient_of_its_share_of_what_is_gathered(
    ranks: int, *, staged: bool
) -> None:
    def run(comm: Any) -> Any:
        strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=2)

        def step() -> Any:
            context = tf.distribute.get_replica_context()
            number = float(context.replica_id_in_sync_group + 1)
            x = tf.ones([1, 2]) * number
            with tf.GradientTape() as tape:
                tape.watch(x)
                made = context.all_gather({"x": x, "twice": [x * 2.0]}, axis=1)
                loss = tf.reduce_sum(made["x"] * [[1.0, 2.0, 3.0, 4.0]] * number)
                loss += tf.reduce_sum(made["twice"][0] ** 2.0)
            return made["twice"][0], tape.gradient(loss, x)

        found = maybe(staged, lambda: strategy.run(step))()
        return [x.numpy().tolist() for y in found for x in strategy.experimental_local_results(y)]

    whole, slopes = [[2.0, 2.0, 4.0, 4.0]], [[[19.0, 22.0]], [[41.0, 44.0]]]
    found = run_ranks(ranks, run)
    assert found == [[whole, slope] for slope in slopes] or found == [[whole, whole, *slopes]]


def test_batches_are_shared_out_to_replicas() -> None:
    def run(comm: Any) -> Any:
        strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=4)
        batches = tf.data.Dataset.range(7).batch(6)
        found = []
        for part in strategy.experimental_distribute_dataset(batches):
            values = strategy.experimental_local_results(part)
            found.append([v.numpy().tolist() for v in values])
            assert int(strategy.reduce("SUM", part, axis=0)) == (15 if len(found) == 1 else 6)
        return found

    first, second = run_ranks(2, run)
    assert first == [[[0, 1], [2, 3]], [[6], []]]
    assert second == [[[4], [5]], [[], []]]


def test_contexts_are_those_of_the_strategy() -> None:
    dist = tf.distribute
    assert not dist.has_strategy()
    assert dist.get_replica_context().num_replicas_in_sync == 1
    strategy = dist.MirroredStrategy()
    with strategy.scope():
        assert dist.get_strategy() is strategy
        assert dist.in_cross_replica_context()
    seen = strategy.run(lambda: (dist.get_strategy() is strategy, dist.in_cross_replica_context()))
    assert seen == (True, False) or [x.values for x in seen] == [(True,) * 2, (False,) * 2]
    merged = strategy.run(
        lambda: dist.get_replica_context().merge_call(
            lambda s, x: tf.constant(float(sum(x.values))),
            (dist.get_replica_context().replica_id_in_sync_group + 1,),
        )
    )
    assert {float(x) for x in strategy.experimental_local_results(merged)} == {3.0}


def test_what_replicas_do_wrong_is_said() -> None:
    strategy = tf.distribute.MirroredStrategy()

    def uneven() -> Any:
        context = tf.distribute.get_replica_context()
        if context.replica_id_in_sync_group == 0:
            context.all_reduce("sum", tf.constant(1.0))

    with pytest.raises(InvalidArgumentError, match="replica 0 waits for the others, and replica 1"):
        strategy.run(uneven)

    def failing() -> Any:
        context = tf.distribute.get_replica_context()
        context.all_reduce("sum", tf.constant(1.0))
        raise ZeroDivisionError(str(context.replica_id_in_sync_group))

    with pytest.raises(ZeroDivisionError, match="0"):
        strategy.run(failing)

    @tf.function
    def nested() -> Any:
        return tf.distribute.get_replica_context().all_reduce("sum", tf.constant(1.0))

    with pytest.raises(RuntimeError, match="merge_call in function 'nested': replicas meet where"):
        strategy.run(lambda: nested() + 1.0)
    with pytest.raises(ValueError, match="reduce_op 'max', expected 'SUM' or 'MEAN'"):
        strategy.reduce("max", tf.constant(1.0), axis=None)
    with pytest.raises(ValueError, match="0 replicas on 1 ranks, expected a multiple"):
        tf.distribute.MultiWorkerMirroredStrategy(replicas=0)
    with pytest.raises(ValueError, match="expected different ones"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:0"])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("TPUStrategy", "no backend for TPUs"),
        ("ParameterServerStrategy", "replica_device_setter"),
        ("cluster_resolver.TPUClusterResolver", "no backend for TPUs"),
        ("cluster_resolver.SlurmClusterResolver", "gravure launch"),
        ("cluster_resolver.KubernetesClusterResolver", "gravure launch"),
        ("cluster_resolver.GCEClusterResolver", "gravure launch"),
        ("experimental.ParameterServerStrategy", "replica_device_setter"),
    ],
)
def test_e9_what_there_is_not_is_refused_by_its_name(name: str, reason: str) -> None:
    found = tf.distribute
    for part in name.split("."):
        found = getattr(found, part)
    name = name.removeprefix("experimental.")
    with pytest.raises(UnimplementedError, match=f"{name}: .*{reason}"):
        found()


@pytest.mark.parametrize("protocol", ["grpc+verbs", "grpc+gdr", "grpc+mpi"])
def test_e9_transports_are_refused_by_their_names(protocol: str) -> None:
    why = rf"protocol '{re.escape(protocol)}': tasks talk by MPI"
    with pytest.raises(UnimplementedError, match=why):
        tf.distribute.Server({"a": ["x:1"]}, "a", 0, protocol=protocol)
    with pytest.raises(UnimplementedError, match=why):
        tf.config.experimental_connect_to_cluster({"a": ["x:1"]}, "a", 0, protocol)


@pytest.mark.parametrize("name", ["lite", "distribute.coordinator"])
def test_e9_names_that_are_not_here_say_so(name: str) -> None:
    found: Any = tf
    *parts, last = name.split(".")
    for part in parts:
        found = getattr(found, part)
    with pytest.raises(AttributeError, match=rf"has no '{last}': .+ (here|libraries)"):
        getattr(found, last)


def test_e9_devices_of_tpus_are_refused() -> None:
    v1 = tf.compat.v1
    assert tf.config.list_physical_devices("TPU") == []
    with tf.Graph().as_default():
        with tf.device("/device:TPU:0"):
            y = tf.constant(1.0) + 1.0
        why = "assigned to /device:TPU:0"
        with v1.Session() as session, pytest.raises(InvalidArgumentError, match=why):
            session.run(y)
    with pytest.raises(ValueError, match="device_count"):
        v1.Session(graph=tf.Graph(), config=v1.ConfigProto(device_count={"TPU": 1}))


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("tpu", "no backend for TPUs"),
        ("tpu-v4", "no backend for TPUs"),
        ("aarch64-linux-android", "for Android are not made"),
        ("x86_64-linux-android21", "for Android are not made"),
        ("armv7a-linux-androideabi", "for Android are not made"),
        ("arm64-apple-ios14.0", "for iOS are not made"),
    ],
)
def test_e9_platforms_are_refused_by_their_names(target: str, why: str) -> None:
    with pytest.raises(TargetError, match=f"target '{target}' is not supported: .*{why}"):
        gv.compile(b"model m(x: f32[2]) -> (y) { y = exp(x) }", target=target)


def test_clusters_are_described() -> None:
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"], "ps": {0: "c:1"}})
    assert (spec.jobs, spec.num_tasks("worker")) == (["worker", "ps"], 2)
    assert spec.as_dict() == {"ps": ["c:1"], "worker": ["a:1", "b:1"]}
    assert spec.task_address("worker", 1) == "b:1"
    assert spec.all_tasks() == [("ps", 0), ("worker", 0), ("worker", 1)]
    with pytest.raises(ValueError, match="No such job in cluster: 'x', there are worker, ps"):
        spec.num_tasks("x")
    with pytest.raises(ValueError, match="No task with index 7"):
        spec.task_address("ps", 7)
    with pytest.raises(TypeError, match="a list or a dict"):
        tf.train.ClusterSpec({"worker": "a:1"})


def shared_on_read(strategy: Any) -> dict[str, Any]:
    """Return a variable of each way in which values of replicas become one."""
    with strategy.scope():
        return {
            way: tf.Variable(
                1.0,
                trainable=False,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=getattr(tf.VariableAggregation, way),
            )
            for way in ("SUM", "MEAN", "ONLY_FIRST_REPLICA")
        }


@pytest.mark.parametrize("staged", STAGED)
def test_values_of_replicas_become_one_when_they_are_read(staged: bool, tmp_path: Path) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    made = shared_on_read(strategy)

    def values() -> list[float]:
        return [float(v) for v in made.values()]

    assert values() == [2, 1, 1]
    for v in made.values():
        v.assign(6.0)
    assert values() == [6, 6, 6]

    def step(x: Any) -> Any:
        for v in made.values():
            v.assign_add(x)
        return [v.read_value() for v in made.values()]

    run = maybe(staged, lambda x: (strategy.run(step, (x,)), made["SUM"].read_value()))
    for times in (1, 2, 3):
        found, total = run(numbered(strategy))
        own = [[float(v) for v in each.values] for each in found]
        assert own == [[3 + times, 3 + 2 * times], *[[6 + times, 6 + 2 * times]] * 2]
        assert values() == [float(total), 6 + 1.5 * times, 6 + times]
        assert float(total) == 6 + 3 * times == made["SUM"].numpy()
    parts = strategy.experimental_local_results(made["SUM"])
    assert [float(v) for v in parts] == [6, 9]
    kept = tf.train.Checkpoint(**made)
    path = kept.save(str(tmp_path / "kept"))
    strategy.run(lambda: made["SUM"].assign(0.0))
    assert values()[0] == 0
    kept.restore(path)
    assert values() == [15, 10.5, 9]


def test_what_replicas_have_of_a_variable_is_not_changed_in_every_way() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with pytest.raises(ValueError, match="AssignAddVariableOp of variable 'Variable:0' between"):
        shared_on_read(strategy)["SUM"].assign_add(1.0)
    with strategy.scope():
        none = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ)
    for use in (none.read_value, lambda: none.assign(2.0)):
        with pytest.raises(ValueError, match="has aggregation NONE"):
            use()
    other = tf.distribute.MirroredStrategy(["/cpu:0"])
    with pytest.raises(ValueError, match="made in the scope of another strategy"):
        other.run(none.read_value)


def test_metrics_count_what_all_replicas_see() -> None:
    keras = tf.keras
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        mean, right = keras.metrics.Mean(), keras.metrics.SparseCategoricalAccuracy()
    x = np.arange(24, dtype=np.float32).reshape(12, 2)
    data = tf.data.Dataset.from_tensor_slices((x, np.arange(12) % 2)).batch(6)

    def step(x: Any, y: Any) -> Any:
        mean.update_state(tf.reduce_sum(x, 1))
        right.update_state(y, x)
        return mean.result()

    run = tf.function(lambda batch: strategy.run(step, batch))
    found = [
        ([float(v) for v in run(batch).values], float(mean.result()), float(right.result()))
        for batch in strategy.experimental_distribute_dataset(data)
    ]
    # (as TensorFlow 2.21 says with Keras 3)
    assert found == [([5, 17], 11, 0.5), ([17, 29], 23, 0.5)]
    mean.reset_state()
    assert float(mean.result()) == 0
    strategy.run(lambda: mean.update_state([5.0]))
    assert [float(v) for v in mean.variables] == [10, 2]


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_what_is_shared_out_adds_up_to_the_whole(dtype: str) -> None:
    MACHINE.processors = 3
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1", "/cpu:2"])
    with strategy.scope():
        total = tf.Variable(
            tf.zeros([], dtype),
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    for n in range(1, 200):
        total.assign(tf.cast(n, dtype))
        assert total.numpy() == n
    keras = tf.keras
    with strategy.scope():
        mean = keras.metrics.Mean()
    for _ in range(100):
        mean.update_state([1.0])  # between replicas, as `fit` of one process does
    assert float(mean.result()) == 1
    assert [float(v) for v in mean.variables] == [100, 100]


def test_results_of_this_process_are_a_structure_of_each_replica() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    data = tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0, 3.0], "y": [4, 5, 6]}).batch(2)
    first, last = strategy.experimental_distribute_dataset(data)
    found = strategy.experimental_local_results(first)
    assert [{k: v.numpy().tolist() for k, v in each.items()} for each in found] == [
        {"x": [1.0], "y": [4]}, {"x": [2.0], "y": [5]},
    ]  # fmt: skip
    assert [len(each["x"]) for each in strategy.experimental_local_results(last)] == [1, 0]
    same = strategy.experimental_local_results([tf.constant(1.0), (first["y"],)])
    assert [(float(one), int(y[0])) for one, (y,) in same] == [(1.0, 4), (1.0, 5)]
    assert strategy.experimental_local_results(7) == (7,)
