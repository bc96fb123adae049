"""Devices of other tasks, used eagerly: results stay where they are until somebody wants them."""

import gc
import json
import threading
import time
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.devices import MACHINE, PlacementError

from .test_servers import on_tasks

CLUSTER = {"chief": ["h:1"], "worker": ["h:2", "h:3"]}
FIRST, SECOND = (f"/job:worker/replica:0/task:{n}/device:CPU:0" for n in range(2))
HERE = "/job:localhost/replica:0/task:0/device:CPU:0"
SERVERS: dict[str, Any] = {}


def to_cluster() -> None:
    tf.config.experimental_connect_to_cluster(CLUSTER, "chief", 0)


def as_client(work: Any, connect: Any = to_cluster) -> Any:
    """Return what a function of the chief's server gives; the workers serve."""

    def each(server: Any, index: int) -> Any:
        SERVERS[server.name] = server
        if server.name != "chief:0":
            return None
        while len(SERVERS) < 3:
            time.sleep(0.001)
        connect()
        return work(server)

    try:
        return on_tasks(CLUSTER, each)["chief:0"]
    finally:
        assert not MACHINE.others
        SERVERS.clear()


def kept(task: str) -> int:
    return len(SERVERS[task].task.kept.values)


def test_e12_results_stay_where_they_are_computed() -> None:
    def work(server: Any) -> None:
        names = [each.name for each in tf.config.list_logical_devices("CPU")]
        assert names == ["/device:CPU:0", FIRST, SECOND]
        with tf.device("/job:worker/task:1/device:CPU:0"):
            x = tf.constant([1.0, 2.0, 3.0])
            y = x * 2.0 + 1.0
            assert (x.device, y.device, y.shape, y.dtype) == (SECOND, SECOND, [3], tf.float32)
        assert (kept("worker:0"), kept("worker:1") >= 2) == (0, True)
        sent = server.task.box.counted
        with tf.device(SECOND):
            z = tf.reduce_sum(y * y)
        assert server.task.box.counted == sent  # nothing of x, y or z went over
        assert z.device == SECOND
        np.testing.assert_array_equal(y.numpy(), [3.0, 5.0, 7.0])
        assert float(z) == 83.0
        here = y + 1.0
        assert here.device == HERE
        with tf.device("/job:worker/task:0"):
            other = y - x
            assert other.device == FIRST
            with tf.device("/cpu:0"):  # of the same task
                assert (other + 1.0).device == FIRST
            with tf.device("/job:chief/task:0/cpu:0"):
                assert (other + 1.0).device == HERE
        np.testing.assert_array_equal(other.numpy(), [2.0, 3.0, 4.0])
        copied = tf.identity(y).cpu()
        assert copied.device == HERE
        del x, y, z, other, copied, here
        gc.collect()
        with tf.device(FIRST):
            tf.constant(1.0).numpy()
        with tf.device(SECOND):
            tf.constant(1.0).numpy()
        gc.collect()
        assert max(kept("worker:0"), kept("worker:1")) <= 2

    as_client(work)


def test_e12_operations_of_all_sorts_give_the_same_there() -> None:
    def program() -> list[Any]:
        x = tf.constant(np.arange(12, dtype=np.float32).reshape(3, 4) / 7)
        made = [
            tf.matmul(x, x, transpose_b=True), tf.concat([x, x], 0), tf.nn.softmax(x), x[1:, ::2],
            tf.gather(x, [2, 0]), tf.cast(x, tf.int32), tf.argmax(x, 1), tf.where(x > 0.5, x, 0.0),
            tf.cast(x, tf.bfloat16), tf.range(5), tf.zeros([2, 3]), tf.one_hot([1, 2], 4),
            *tf.split(x, 2, axis=1), *tf.nn.top_k(x, 2), tf.reshape(x, [-1, 2]), tf.exp(-x),
            tf.strings.join(["a", "b"]), tf.reduce_any(x > 1.0), tf.complex(x, x) * 2.0,
        ]  # fmt: skip
        return [np.asarray(each.numpy()) for each in made]

    def work(server: Any) -> None:
        wanted = program()
        with tf.device(FIRST):
            found = program()
        for a, b in zip(found, wanted, strict=True):
            assert (a.dtype, a.shape, a.tobytes() if a.dtype.kind != "O" else a.tolist()) == (
                b.dtype, b.shape, b.tobytes() if b.dtype.kind != "O" else b.tolist(),
            )  # fmt: skip

    as_client(work)


def test_e12_variables_are_where_they_are_made() -> None:
    def work(server: Any) -> None:
        with tf.device("/job:worker/task:1"):
            v = tf.Variable([1.0, 2.0], name="far")
        assert (v.device, v.name, v.shape) == (SECOND, "far:0", [2])
        v.assign_add([1.0, 1.0])
        assert v.read_value().device == SECOND
        with tf.device("/job:worker/task:1"):
            sent = server.task.box.counted
            v.assign(v * 2.0 - v)
            assert server.task.box.counted - sent <= 8  # only the constant 2.0
        np.testing.assert_array_equal(v.numpy(), [2.0, 3.0])
        np.testing.assert_array_equal((v + 1.0).numpy(), [3.0, 4.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        np.testing.assert_array_equal(tape.gradient(loss, v).numpy(), [4.0, 6.0])
        tf.optimizers.SGD(0.5).apply_gradients([(tf.constant([2.0, 2.0]), v)])
        np.testing.assert_array_equal(v.numpy(), [1.0, 2.0])
        with pytest.raises(ValueError, match="Shape mismatch"):
            v.assign([1.0, 2.0, 3.0])

    as_client(work)


def test_e12_functions_run_where_they_are_called() -> None:
    traces = []

    @tf.function
    def steps(x: Any, n: Any) -> Any:
        traces.append(1)
        return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 2.0), (0, x))[1], n

    def work(server: Any) -> None:
        x = tf.constant([1.0, 3.0])
        for _ in range(6):
            with tf.device(FIRST):
                y, n = steps(x, tf.constant(3))
                assert (y.device, n.device) == (FIRST, FIRST)
                z, _ = steps(y, tf.constant(1))
            np.testing.assert_array_equal(y.numpy(), [8.0, 24.0])
            np.testing.assert_array_equal(z.numpy(), [16.0, 48.0])
        assert steps(x, tf.constant(1))[0].device == HERE
        assert len(traces) == 1
        with tf.device(FIRST):
            v, w = tf.Variable(1.0), tf.Variable(5.0)
        near = tf.Variable(1.0)

        @tf.function
        def change(x: Any) -> Any:
            v.assign_add(x)
            return v * w

        with tf.device(FIRST):
            found = [float(change(tf.constant(2.0))) for _ in range(6)]
        assert found == [15.0, 25.0, 35.0, 45.0, 55.0, 65.0]
        assert float(v) == 13.0
        assert float(change(tf.constant(1.0))) == 70.0  # the same here, with copies
        assert float(v) == 14.0
        reads = tf.function(lambda: near + 1.0)
        why = r"uses variable 'Variable', which is not on /job:worker.*run where their variables"
        with tf.device(FIRST), pytest.raises(PlacementError, match=why):
            reads()

    as_client(work)


def test_e12_gradients_of_what_runs_there() -> None:
    def work(server: Any) -> None:
        x = tf.constant([1.0, 2.0])
        square = tf.function(lambda x: x * x * 3.0)
        for function in (square, lambda x: x * x * 3.0):
            with tf.GradientTape() as tape:
                tape.watch(x)
                with tf.device(SECOND):
                    y = function(x)
                assert y.device == SECOND
            np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [6.0, 12.0])

    as_client(work)


def test_e12_errors_come_back_with_the_line() -> None:
    def work(server: Any) -> None:
        with tf.device(FIRST):
            x = tf.constant([1.0, np.nan])
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_remote\.py:\d+.*odd"):
                tf.debugging.check_numerics(x, "odd")
            with pytest.raises(
                (tf.errors.InvalidArgumentError, ValueError), match=r"\(2,?\)|\[2\]"
            ):
                x + tf.constant([1.0, 2.0, 3.0])
            assert float(tf.reduce_sum(tf.zeros([2]))) == 0.0  # it goes on
        with tf.device("/job:worker/task:0/gpu:3"):  # soft: elsewhere on the same task
            assert tf.constant(1.0).device == FIRST
        for name in ("/job:worker/task:7", "/job:nobody"):
            with pytest.raises(PlacementError, match="is unknown, available devices are"):
                tf.device(name).__enter__()
        with pytest.raises(tf.errors.NotFoundError, match="no task of the cluster: y:0"):
            tf.config.experimental_connect_to_cluster({"x": ["a:1"]}, "y", 0)

    as_client(work)


def test_e12_a_fault_of_ours_there_is_no_wrong_argument(monkeypatch: Any) -> None:
    def broken(*_: Any) -> Any:
        raise TypeError("a rule is broken")

    def work(server: Any) -> None:
        with tf.device(FIRST):
            x = tf.constant([1.0])
            monkeypatch.setattr("gravure.frontend.distributed.kept.evaluate", broken)
            with pytest.raises(
                tf.errors.OpError, match=r"a rule is broken \(on worker:0\)"
            ) as made:
                tf.sin(x)
        assert not isinstance(made.value, tf.errors.InvalidArgumentError)

    as_client(work)


def test_e12_a_task_by_its_address() -> None:
    """A process knows the addresses that it was told; the devices of others are not there."""
    told = {"cluster": CLUSTER, "task": {"type": "chief", "index": 0}}

    def work(server: Any) -> None:
        host = CLUSTER["worker"][1]
        with tf.device(SECOND):
            x = tf.constant([1.0, 2.0]) * 2.0
        assert x.device == SECOND
        assert x.numpy().tolist() == [2.0, 4.0]
        with pytest.raises(PlacementError, match="is unknown, available devices are"):
            tf.device(FIRST).__enter__()
        for wrong, job in (("h:9", "worker"), (host, "ps")):
            missing = f"no task of job '{job}' has the address '{wrong}'"
            with pytest.raises(tf.errors.NotFoundError, match=missing):
                tf.config.experimental_connect_to_host(wrong, job)
        with pytest.raises(ValueError, match="Must provide at least one remote_host"):
            tf.config.experimental_connect_to_host()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TF_CONFIG", json.dumps(told))
        as_client(
            work, lambda: tf.config.experimental_connect_to_host("grpc://" + CLUSTER["worker"][1])
        )


def test_e12_what_cannot_be_connected_is_refused() -> None:
    def work(server: Any) -> None:
        connect = tf.config.experimental_connect_to_cluster
        with pytest.raises(tf.errors.UnimplementedError, match="protocol 'grpc\\+verbs'"):
            connect(CLUSTER, "chief", 0, protocol="grpc+verbs")
        with pytest.raises(tf.errors.UnimplementedError, match="cluster_device_filters"):
            connect(CLUSTER, "chief", 0, cluster_device_filters=[1])
        assert connect({}) is None  # nobody to connect to

    as_client(work)


def test_e12_a_task_that_is_gone_is_an_error_in_time(monkeypatch: Any) -> None:
    monkeypatch.setenv("GRAVURE_TIMEOUT", "0.5")
    over = threading.Event()

    def work(server: Any) -> None:
        SERVERS["worker:1"].task.box.handlers["eager"] = lambda *_: over.wait(20)
        try:
            with tf.device(SECOND), pytest.raises(tf.errors.AbortedError, match=r"\(worker:1\)"):
                tf.constant(1.0)
        finally:
            over.set()

    as_client(work)
