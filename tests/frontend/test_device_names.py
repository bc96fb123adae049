"""Names of devices in parts, and within each other, as TensorFlow takes them."""

import pytest

from gravure import tf

v1 = tf.compat.v1
SPEC = tf.DeviceSpec


@pytest.mark.parametrize("inner", ["", SPEC(), SPEC.from_string("/")], ids=["", "spec", "slash"])
def test_a_device_that_says_nothing_leaves_what_was_asked_for(inner: object) -> None:
    with tf.Graph().as_default(), tf.device("/job:ps/task:1"), tf.device(inner):
        assert v1.placeholder(tf.float32).op.device == "/job:ps/task:1"
        with tf.device(None):
            assert v1.placeholder(tf.float32).op.device == ""


def test_at_once_it_does_as_well() -> None:
    with tf.device("/cpu:0"), tf.device(""), tf.device(SPEC()):
        assert tf.constant(1.0).device.endswith("CPU:0")


def test_parts_are_replaced_by_what_they_are_read_as() -> None:
    spec = SPEC.from_string("/job:w/task:3/cpu:0")
    assert spec.replace(task="1", device_type="gpu").to_string() == "/job:w/task:1/device:GPU:0"
    assert spec.replace(device_index=None).device_index is None
    with pytest.raises(TypeError):
        spec.replace(colour=1)


def test_a_name_has_one_device() -> None:
    with pytest.raises(ValueError, match="more than one device"):
        SPEC.from_string("/cpu:0/gpu:1")


def test_the_device_of_a_graph_is_so_as_well() -> None:
    with tf.Graph().as_default() as graph, graph.device("/job:ps"), graph.device(""):
        assert v1.placeholder(tf.float32).op.device == "/job:ps"
        with graph.device(None):
            assert v1.placeholder(tf.float32).op.device == ""
