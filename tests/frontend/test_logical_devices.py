"""Several devices of one processor, and places that are not there, refused by their names."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.frontend.values.devices import MACHINE, PlacementError, parse_device
from gravure.frontend.values.run_errors import NotFoundError, UnimplementedError

v1 = tf.compat.v1
HOST = "/job:localhost/replica:0/task:0/device:"


@pytest.fixture(autouse=True)
def machine() -> Iterator[None]:
    before = replace(MACHINE)
    MACHINE.used = False
    yield
    MACHINE.__dict__.update(before.__dict__)


def four() -> None:
    [processor] = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        processor, [tf.config.LogicalDeviceConfiguration()] * 4
    )


def test_a_processor_appears_as_several_devices() -> None:
    four()
    assert [each.name for each in tf.config.list_logical_devices("CPU")] == [
        f"/device:CPU:{index}" for index in range(4)
    ]
    assert len(tf.config.list_physical_devices("CPU")) == 1
    with tf.device("/cpu:2"):
        x = tf.constant([1.0, 2.0])
        v = tf.Variable(1.0)
    assert (x.device, v.device) == (f"{HOST}CPU:2", f"{HOST}CPU:2")
    assert ((x + x).device, x.cpu().device) == (f"{HOST}CPU:0", f"{HOST}CPU:0")
    with tf.device("/cpu:1"):
        y = x * 3.0
        with tf.device("/cpu:3"):
            inner = y + 1.0
        with tf.device(None):
            outside = y + 1.0
    assert [t.device[-5:] for t in (y, inner, outside)] == ["CPU:1", "CPU:3", "CPU:0"]
    np.testing.assert_array_equal(inner.numpy(), [4.0, 7.0])
    with pytest.raises(RuntimeError, match="cannot be modified after being initialized"):
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
        )


def test_a_function_gives_its_results_where_it_is_called() -> None:
    four()

    @tf.function
    def twice(x: Any) -> Any:
        return x * 2.0

    with tf.device("/cpu:3"):
        found = [twice(tf.constant(2.0)) for _ in range(4)]
    assert {x.device for x in found} == {f"{HOST}CPU:3"}
    assert twice(found[0]).device == f"{HOST}CPU:0"
    with gv.device("cpu:1"):
        y = gv.asarray([1.0]) + 1.0
    assert (y.device, y.to_device("cpu:2").device, y.cpu().device) == ("cpu:1", "cpu:2", "cpu:0")


def test_gradients_go_over_devices_of_the_processor() -> None:
    four()
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.device("/cpu:1"):
            y = x * x
        with tf.device("/cpu:2"):
            z = y * x
    assert float(tape.gradient(z, x)) == 27.0


@pytest.mark.parametrize("name", ["/job:training/task:0", "/task:1", "/replica:1", "/job:ps/cpu:0"])
def test_another_task_is_never_meant(name: str) -> None:
    with pytest.raises(PlacementError, match="is unknown, available devices are"), tf.device(name):
        pass

    @tf.function
    def inside(x: Any) -> Any:
        def there() -> Any:
            with tf.device(name):
                return x + 1.0

        return tf.cond(x > 0.0, there, lambda: x)

    with pytest.raises(PlacementError, match=r"explicitly assigned to /"):
        inside(tf.constant(1.0))
    with tf.Graph().as_default():
        with tf.device(name):
            y = tf.constant(1.0) + 1.0
        for soft in (False, True):
            config = v1.ConfigProto(allow_soft_placement=soft)
            with v1.Session(config=config) as session, pytest.raises(PlacementError):
                session.run(y)


@pytest.mark.parametrize("name", ["/cpu:9", "/tpu:0"])
def test_what_is_soft_may_be_elsewhere_and_what_is_hard_may_not(name: str) -> None:
    @tf.function
    def inside(x: Any) -> Any:
        def there(x: Any) -> Any:
            with tf.device(name):
                return x * 2.0

        return tf.while_loop(lambda x: x < 10.0, lambda x: (there(x),), (x,))[0]

    with tf.device(name):
        assert tf.constant(1.0).device == f"{HOST}CPU:0"
    assert float(inside(tf.constant(1.0))) == 16.0
    tf.config.set_soft_device_placement(False)
    assert tf.config.get_soft_device_placement() is False
    with pytest.raises(PlacementError, match=f"device '.*{name[1:4].upper()}.*' is unknown"):
        tf.device(name).__enter__()
    with pytest.raises(PlacementError, match="explicitly assigned"):
        inside(tf.constant(1.0))


def test_a_session_has_the_devices_that_it_was_given() -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:3"):
            y = tf.constant(1.0) + 1.0
        with v1.Session(config=v1.ConfigProto(device_count={"CPU": 4})) as session:
            assert [session.run(y) for _ in range(6)] == [2.0] * 6
            assert [each.name for each in session.list_devices()][3] == f"{HOST}CPU:3"
        with v1.Session() as session, pytest.raises(PlacementError, match=r"CPU:3.*\[/job:local"):
            session.run(y)
        config = v1.ConfigProto(device_count={"CPU": 3}, log_device_placement=True)
        with v1.Session(config=config) as session, pytest.raises(PlacementError):
            session.run(y)


def test_the_placement_of_operations_is_logged(capfd: Any) -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:1"):
            y = tf.add(1.0, 1.0, name="sum")
        config = v1.ConfigProto(device_count={"CPU": 2}, log_device_placement=True)
        with v1.Session(config=config) as session:
            session.run(y)
    assert f"sum: (AddV2): {HOST}CPU:1" in capfd.readouterr().err


def test_what_a_session_is_told_is_known_or_refused() -> None:
    config = v1.ConfigProto()
    config.gpu_options.allow_growth = True
    config.graph_options.optimizer_options.global_jit_level = v1.OptimizerOptions.ON_1
    config.device_count["CPU"] = 2
    v1.Session(graph=tf.Graph(), config=config).close()
    assert config.HasField("gpu_options")
    with pytest.raises(ValueError, match='ConfigProto has no "nope" field'):
        v1.ConfigProto(nope=1)
    with pytest.raises(AttributeError, match="alow_growth"):
        config.gpu_options.alow_growth = True
    with pytest.raises(UnimplementedError, match=r"rpc_options\..*: tasks talk by MPI"):
        v1.Session(config=v1.ConfigProto(rpc_options={"compression_algorithm": "zip"}))
    with pytest.raises(TypeError, match=r"must be a tf\.ConfigProto"):
        v1.Session(graph=tf.Graph(), config={"device_count": {}})
    with pytest.raises(ValueError, match="device_count"):
        v1.Session(graph=tf.Graph(), config=v1.ConfigProto(device_count={"TPU": 1}))
    with pytest.raises(NotFoundError, match="target 'grpc://localhost:1'"):
        v1.Session("grpc://localhost:1")


def test_the_parts_of_a_name() -> None:
    spec = tf.DeviceSpec(job="worker", replica=1, task=2, device_type="gpu", device_index=3)
    assert spec.to_string() == "/job:worker/replica:1/task:2/device:GPU:3"
    assert tf.DeviceSpec.from_string("/job:a/cpu:1").to_string() == "/job:a/device:CPU:1"
    assert spec.replace(task=9).task == 9
    assert spec.make_merged_spec(tf.DeviceSpec(job="x")).job == "x"
    assert repr(tf.DeviceSpec(task=1)) == "<DeviceSpec(task=1)>"
    assert parse_device("/job:a/replica:1/cpu:1").replica == 1
    for wrong in ("/nope", "/task:x", "bad"):
        with pytest.raises(ValueError, match="is not the name of a device"):
            tf.DeviceSpec.from_string(wrong)
    with tf.Graph().as_default(), tf.device(tf.DeviceSpec(device_type="CPU", device_index=1)):
        assert tf.constant(1.0).op.device == "/device:CPU:1"
