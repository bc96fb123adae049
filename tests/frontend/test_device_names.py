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


def test_a_device_in_full_has_a_number() -> None:
    assert SPEC.from_string("/gpu").to_string() == "/device:GPU:*"
    for name in ("/device:GPU", "/job:a/device:CPU"):
        with pytest.raises(ValueError, match="is not the name of a device"):
            SPEC.from_string(name)


def test_specs_of_the_first_version_can_be_changed() -> None:
    spec = v1.DeviceSpec.from_string("/job:a/task:1/gpu:0")
    spec.merge_from(SPEC.from_string("/task:4/cpu:0"))
    assert spec.to_string() == "/job:a/task:4/device:CPU:0"
    spec.job, spec.replica, spec.task = "w", 1, None
    spec.device_type, spec.device_index = "gpu", "3"
    assert spec.to_string() == "/job:w/replica:1/device:GPU:3"
    assert spec.parse_from_string("/cpu:0") is spec
    assert spec.to_string() == "/device:CPU:0"
    with pytest.raises(AttributeError):
        SPEC().job = "w"


def test_what_is_beside_another_operation_leaves_what_was_asked_for_around() -> None:
    setter = tf.train.replica_device_setter(3, worker_device="/job:worker/gpu:0")
    with tf.Graph().as_default(), tf.device(setter):
        v = v1.get_variable("v", [1])
        with v1.colocate_with(v):
            assert tf.constant(1.0).op.device == v.device == "/job:ps/task:0"
        with tf.device(None):
            assert v1.get_variable("w", [1]).device == ""
        with v1.colocate_with(v), v1.colocate_with(v.op, ignore_existing=True):
            assert len(tf.constant(1.0).op.graph.colocated) == 1


def test_a_partitioned_variable_is_a_tensor_of_its_name() -> None:
    setter = tf.train.replica_device_setter(2)
    with tf.Graph().as_default(), tf.device(setter):
        w = v1.get_variable("w", [7, 3], partitioner=v1.fixed_size_partitioner(3))
        assert [part.device[-6:] for part in w] == ["task:0", "task:1", "task:0"]
        whole = tf.convert_to_tensor(w)
    assert (whole.name, whole.device) == ("w:0", "/job:worker")


def test_what_is_no_cluster_is_refused_and_gaps_are_told() -> None:
    cluster = tf.train.ClusterSpec({"w": ["a:1", b"b:2"], "ps": {1: "x:1", 3: "y:1"}})
    assert cluster.jobs == ["w", "ps"]
    assert cluster.job_tasks("ps") == [None, "x:1", None, "y:1"]
    assert tf.train.ClusterSpec(cluster.as_cluster_def()) == cluster
    assert [job.name for job in cluster.as_cluster_def().job] == ["ps", "w"]
    for wrong in ({"w": [3]}, {1: ["a:1"]}):
        with pytest.raises(TypeError, match="is text, not"):
            tf.train.ClusterSpec(wrong)
    with pytest.raises(TypeError, match="ps_strategy is a function"):
        tf.train.replica_device_setter(2, ps_strategy=3)
