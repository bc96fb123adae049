"""What strategies can be asked for besides `run` and `reduce`, and what can be wished of them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.devices import MACHINE
from gravure.frontend.values.run_errors import UnimplementedError
from gravure.runtime.comm import protocol
from gravure.runtime.comm.local import run_ranks

dist = tf.distribute


@pytest.fixture(autouse=True)
def two_devices() -> Iterator[None]:
    before = replace(MACHINE)
    MACHINE.processors, MACHINE.used = 2, False
    yield
    MACHINE.__dict__.update(before.__dict__)


def numbers(strategy: Any) -> Any:
    return strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(context.replica_id_in_sync_group + 1.0)
    )


def test_variables_are_updated_between_replicas() -> None:
    strategy = dist.MirroredStrategy()
    extended = strategy.extended
    outside = tf.Variable(0.0)
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    assert extended.variable_created_in_scope(v)
    assert not extended.variable_created_in_scope(outside)

    def step() -> None:
        def merged(between: Any, x: Any) -> None:
            total = between.extended.reduce_to("SUM", x, v)
            between.extended.update(v, lambda var, by: var.assign_add(by), args=(total,))

        context = dist.get_replica_context()
        context.merge_call(merged, (tf.fill([2], context.replica_id_in_sync_group + 1.0),))

    for made in (step, tf.function(step)):
        strategy.run(made)
    assert v.numpy().tolist() == [7.0, 8.0]
    strategy.run(lambda: extended.update(v, lambda var: var.assign_sub([1.0, 1.0])))
    extended.update(v, lambda var: var.assign_add([1.0, 1.0]))
    means = extended.batch_reduce_to("MEAN", [(numbers(strategy), v), (numbers(strategy), v)])
    assert [float(x) for x in means] == [1.5, 1.5]
    assert float(tf.reduce_sum(extended.read_var(v))) == 15.0
    assert extended.value_container(v) is v
    assert extended.broadcast_to(3.0, v) == 3.0
    host = "/job:localhost/replica:0/task:0/device:CPU"
    assert extended.worker_devices == extended.parameter_devices == (f"{host}:0", f"{host}:1")
    with extended.colocate_vars_with(v):
        assert float(tf.Variable(1.0)) == 1.0
    with pytest.raises(ValueError, match="created in this"), extended.colocate_vars_with(outside):
        pass


@pytest.mark.parametrize("drops", [False, True])
def test_a_signature_takes_the_parts_of_batches(drops: bool) -> None:
    strategy = dist.MirroredStrategy()
    rows = tf.data.Dataset.range(10).batch(4, drop_remainder=drops)
    shared = strategy.experimental_distribute_dataset(rows.map(lambda x: {"x": x, "y": (x, x)}))
    spec = shared.element_spec
    one = f"TensorSpec(shape=({2 if drops else None},), dtype=tf.int64, name=None)"
    assert repr(spec["x"]) == f"PerReplicaSpec({one}, {one})"
    traces = []

    @tf.function(input_signature=[spec])
    def total(batch: Any) -> Any:
        traces.append(1)
        per = strategy.run(lambda b: tf.reduce_sum(b["x"] * b["y"][1]), args=(batch,))
        return strategy.reduce("SUM", per, axis=None)

    found = [int(total(batch)) for batch in shared]
    assert found == [14, 126] + [145] * (not drops)
    assert len(traces) == 1
    assert iter(shared).element_spec["y"] == spec["y"]
    alone = dist.OneDeviceStrategy("CPU:0").experimental_distribute_dataset(rows)
    assert alone.element_spec == rows.element_spec


def test_there_may_be_no_further_batch() -> None:
    strategy = dist.MirroredStrategy()

    def of_rank(context: Any) -> Any:
        return tf.data.Dataset.range(6).batch(context.get_per_replica_batch_size(4))

    whole = strategy.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(4))
    parts = strategy.distribute_datasets_from_function(of_rank)
    assert (len(whole), len(parts)) == (2, 2)
    last = {whole: [[4], [5]], parts: [[4, 5], []]}  # (each has whole batches, but for the last)
    for shared, expected in ((each, [[0, 1], [2, 3], *last[each]]) for each in last):
        rows, found = iter(shared), []
        while True:
            batch = rows.get_next_as_optional()
            if not batch.has_value():
                break
            assert len(batch.get_value()) == 2
            found += [x.numpy().tolist() for x in batch.get_value()]
        assert found == expected
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
            batch.get_value()


def test_functions_take_batches_of_any_size() -> None:
    strategy = dist.MirroredStrategy()
    shared = strategy.experimental_distribute_dataset(tf.data.Dataset.range(1, 8).batch(4))

    def total(batch: Any) -> Any:
        per = strategy.run(lambda x: tf.reduce_sum(x * x), args=(batch,))
        return strategy.reduce("SUM", per, axis=None)

    @tf.function
    def next_of(rows: Any) -> Any:
        return total(next(rows))

    @tf.function
    def epoch(batches: Any) -> Any:
        found, count = tf.constant(0, tf.int64), 0
        for batch in batches:
            found += total(batch)
            count += 1
        return found, count

    rows = iter(shared)
    assert [int(next_of(rows)) for _ in range(2)] == [1 + 4 + 9 + 16, 25 + 36 + 49]
    for _ in range(2):
        found, count = epoch(shared)
        assert (int(found), int(count)) == (140, 2)
    parts = strategy.distribute_datasets_from_function(lambda _: tf.data.Dataset.range(4).batch(1))
    found, count = epoch(parts)
    assert (int(found), int(count)) == (14, 2)


def test_values_of_replicas_are_one_leaf() -> None:
    strategy = dist.MirroredStrategy()

    @tf.function
    def step() -> Any:
        def replica() -> Any:
            context = dist.get_replica_context()
            own = tf.cast(context.replica_id_in_sync_group, tf.float32)
            return context.all_reduce("MEAN", {"a": own, "b": [own * 2]})

        return strategy.run(replica)

    found = step()
    flat = tf.nest.flatten(found)
    assert [[float(x) for x in each.values] for each in flat] == [[0.5, 0.5], [1.0, 1.0]]
    assert len(tf.nest.flatten(found, expand_composites=True)) == 4
    sums = tf.nest.map_structure(lambda x: float(strategy.reduce("SUM", x, axis=None)), found)
    assert sums == {"a": 1.0, "b": [2.0]}


def test_variables_of_one_device_are_there() -> None:
    strategy = dist.OneDeviceStrategy("CPU:1")
    with strategy.scope():
        v = tf.Variable(2.0)
    assert v.device.endswith("CPU:1")
    assert float(strategy.run(lambda: v + 1.0)) == 3.0


def test_scopes_are_not_mixed() -> None:
    strategy = dist.MirroredStrategy()
    with strategy.scope(), strategy.scope():
        with pytest.raises(RuntimeError, match="Mixing different"), dist.MirroredStrategy().scope():
            pass
        assert dist.get_strategy() is strategy
    central = dist.experimental.CentralStorageStrategy()
    with central.scope():
        assert dist.get_strategy() is central
        assert central.num_replicas_in_sync == 2
    with pytest.raises(UnimplementedError, match="parameter_device='CPU:1'"):
        dist.experimental.CentralStorageStrategy(parameter_device="CPU:1")


def test_wishes_that_are_met_are_taken() -> None:
    for ops in (dist.ReductionToOneDevice(), dist.HierarchicalCopyAllReduce(num_packs=2)):
        strategy = dist.MirroredStrategy(cross_device_ops=ops)
        assert float(strategy.reduce("SUM", numbers(strategy), axis=None)) == 3.0
    options = dist.InputOptions(experimental_fetch_to_device=False)
    rows = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4), options)
    assert [np.asarray(x).tolist() for x in next(iter(rows)).values] == [[0, 1], [2, 3]]
    assert dist.RunOptions().experimental_enable_dynamic_batch_size
    way = dist.experimental.CommunicationImplementation
    assert (
        dist.experimental.CommunicationOptions(implementation=way.RING).implementation is way.RING
    )


@pytest.mark.parametrize(
    ("wish", "match"),
    [
        (lambda: dist.ReductionToOneDevice(accumulation_fn=tf.add_n), "accumulation_fn"),
        (lambda: dist.ReductionToOneDevice("CPU:1"), "reduce_to_device"),
        (
            lambda: dist.InputOptions(
                experimental_replication_mode=dist.InputReplicationMode.PER_REPLICA
            ),
            "experimental_replication_mode",
        ),
        (lambda: dist.RunOptions(experimental_bucketizing_dynamic_shape=True), "TPUs"),
    ],
)
def test_wishes_that_are_not_met_are_refused(wish: Any, match: str) -> None:
    with pytest.raises(UnimplementedError, match=match):
        wish()


def test_options_are_of_their_classes() -> None:
    with pytest.raises(TypeError, match="cross_device_ops is a str"):
        dist.MirroredStrategy(cross_device_ops="nccl")
    with pytest.raises(TypeError, match="communication_options is a str"):
        dist.MultiWorkerMirroredStrategy(communication_options="ring")
    with pytest.raises(ValueError, match="num_packs"):
        dist.HierarchicalCopyAllReduce(-1)
    with pytest.raises(ValueError, match="timeout_seconds=0"):
        dist.experimental.CommunicationOptions(timeout_seconds=0)
    with pytest.raises(ValueError, match="bytes_per_pack=-1"):
        dist.experimental.CommunicationOptions(bytes_per_pack=-1)


def test_a_strategy_says_how_long_ranks_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol.Limit, "seconds", None)
    options = dist.experimental.CommunicationOptions(timeout_seconds=7.0)
    dist.MultiWorkerMirroredStrategy(communication_options=options)
    assert protocol.patience() == 7.0
    assert protocol.Wait("sum", "rank 1").seconds == 7.0


def test_a_server_says_as_a_message_which_task_it_is() -> None:
    server = tf.distribute.Server.create_local_server(start=False)
    told = server.server_def
    assert (told.job_name, told.task_index, told.protocol) == ("localhost", 0, "grpc")
    assert tf.train.ClusterSpec(told.cluster).as_dict() == {"localhost": ["localhost:0"]}
    again = tf.distribute.Server(told, start=False)
    assert again.server_def == told
    assert again.target != server.target  # (port 0 is any that is free)


def test_what_is_beside_an_operation_is_of_the_group_of_that() -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:1"):
            a = tf.constant(1.0, name="a")
        with tf.compat.v1.colocate_with(a.op):
            b = tf.constant(2.0, name="b")
        with tf.compat.v1.colocate_with(b.op):
            c = tf.constant(3.0, name="c")
    assert b.op.colocation_groups() == c.op.colocation_groups() == [b"loc:@a"]
    assert c.device == "/device:CPU:1"


@pytest.mark.parametrize("where", ["distribute", "experimental_distribute"])
def test_ranks_that_are_each_to_read_all_are_refused_by_name(where: str) -> None:
    def run(comm: protocol.Comm) -> None:
        options = tf.data.Options()
        getattr(options, where).auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
        data = tf.data.Dataset.range(8).with_options(options).map(lambda x: x + 1).batch(4)
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        if comm.size == 1:
            assert len(list(strategy.experimental_distribute_dataset(data))) == 2
            return
        with pytest.raises(UnimplementedError, match="auto_shard_policy OFF"):
            strategy.experimental_distribute_dataset(data)

    run_ranks(1, run)
    run_ranks(2, run)


def test_ranks_of_no_cluster_are_workers_of_which_one_is_the_chief() -> None:
    """Programs let the first worker write, and each that is of no job."""

    def run(comm: protocol.Comm) -> tuple[object, object, int]:
        found = tf.distribute.MultiWorkerMirroredStrategy().cluster_resolver
        assert isinstance(found, tf.distribute.cluster_resolver.ClusterResolver)
        workers = found.cluster_spec().as_dict().get("worker", [])
        return found.task_type, found.task_id, len(workers)

    assert run_ranks(2, run) == [("worker", 0, 2), ("worker", 1, 2)]
    assert run_ranks(1, run) == [(None, None, 0)]
