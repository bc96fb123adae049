"""Names of devices, and where operations of a graph are put."""

from collections.abc import Iterator
from typing import Any

import pytest

from gravure import tf
from gravure.frontend.graph.placement import (
    PlacementError,
    groups_of,
    list_devices,
    parse_device,
    place,
)

HOST = "/job:localhost/replica:0/task:0/device:"
BOTH = (f"{HOST}CPU:0", f"{HOST}GPU:0", f"{HOST}GPU:1")


@pytest.mark.parametrize(
    "name", ["/job:worker/task:17/device:GPU:3", "/device:CPU:0", "/job:ps", "/device:GPU:*", ""]
)
def test_e1_names_are_written_as_they_are_read(name: str) -> None:
    assert str(parse_device(name)) == name
    assert parse_device(str(parse_device(name))) == parse_device(name)


@pytest.mark.parametrize(
    ("outer", "inner", "both"),
    [
        ("/job:worker", "/gpu:1", "/job:worker/device:GPU:1"),
        ("/job:worker/gpu:1", "/task:2", "/job:worker/task:2/device:GPU:1"),
        ("/gpu:1", "/device:GPU:*", "/device:GPU:1"),
        ("/gpu:1", "/cpu", "/device:CPU:*"),
        ("/job:a/task:1", "/job:b", "/job:b/task:1"),
    ],
)
def test_e1_the_inner_name_says_what_it_says_and_the_outer_the_rest(
    outer: str, inner: str, both: str
) -> None:
    assert str(parse_device(outer).merge(parse_device(inner))) == both


def test_e1_the_devices_of_this_machine_begin_with_the_processor() -> None:
    assert list_devices()[0] == BOTH[0]
    assert all(parse_device(name).job == "localhost" for name in list_devices())


@pytest.fixture
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made


def names(found: dict[Any, str]) -> dict[str, str]:
    return {op.name: name.removeprefix(HOST) for op, name in found.items()}


def test_operations_go_where_they_ask_for_and_else_to_the_first_device(graph: Any) -> None:
    a = tf.constant(1.0, name="a")
    with tf.device("/gpu:1"):
        b = tf.add(a, a, name="b")
    with tf.device("/gpu"):
        tf.add(b, a, name="c")
    found = names(place(graph.get_operations(), BOTH))
    assert found == {"a": "CPU:0", "b": "GPU:1", "c": "GPU:0"}


def test_e2_what_is_colocated_goes_where_any_of_them_must(graph: Any) -> None:
    a = tf.constant(1.0, name="a")
    b = tf.constant(2.0, name="b")
    with graph.colocate_with(a):
        c = tf.add(b, b, name="c")
    with graph.colocate_with(c), tf.device("/gpu:1"):
        tf.add(b, c, name="d")
    ops = graph.get_operations()
    assert [[op.name for op in group] for group in groups_of(ops)] == [["a", "c", "d"], ["b"]]
    found = names(place(ops, BOTH))
    assert found == {"a": "GPU:1", "b": "CPU:0", "c": "GPU:1", "d": "GPU:1"}


def test_e2_constraints_that_contradict_each_other_name_all_of_a_group(graph: Any) -> None:
    with tf.device("/gpu:0"):
        a = tf.constant(1.0, name="a")
    with graph.colocate_with(a), tf.device("/cpu:0"):
        tf.add(a, a, name="b")
    ops = graph.get_operations()
    with pytest.raises(
        PlacementError, match=r"colocate operations 'a' \(/device:GPU:0\), 'b' \(/device:CPU:0\)"
    ):
        place(ops, BOTH)
    assert set(names(place(ops, BOTH, soft=True)).values()) == {"CPU:0"}


def test_e2_a_device_that_is_not_there_is_an_error_unless_it_may_be_another(graph: Any) -> None:
    with tf.device("/gpu:0"):
        y = tf.add(tf.constant(1.0), tf.constant(1.0), name="y")
    with pytest.raises(PlacementError, match=r"operation 'Const' .* assigned to /device:GPU:0"):
        tf.compat.v1.Session(graph=graph).run(y)
    soft = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    assert tf.compat.v1.Session(graph=graph, config=soft).run(y) == 2.0


def test_variables_and_what_is_beside_them_say_where_they_are_asked_to_be(graph: Any) -> None:
    v1 = tf.compat.v1
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": ["c:1"]})
    with tf.device("/cpu:1"):
        w = v1.get_variable("w", [2])
    with tf.device(v1.train.replica_device_setter(cluster=cluster)):
        found = [v1.Variable(float(n)) for n in range(3)]
    with tf.device("/cpu:0"), v1.colocate_with(w.op):
        beside = tf.constant(2.0)
        with tf.device("/cpu:2"):
            inner = tf.constant(2.0)
    assert w.device == beside.device == "/device:CPU:1"
    assert inner.device == "/device:CPU:2"
    assert tf.add(beside, 1.0).device == ""
    assert [v.device for v in found] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
