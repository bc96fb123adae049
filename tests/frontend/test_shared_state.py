"""What graphs share by a name is one thing of one kind: another shape or type is refused."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def in_container(shape, name):
    """Return a session and a variable of a graph of its own whose value is in a container."""
    graph = tf.Graph()
    with graph.as_default(), graph.container(name):
        variable = v1.Variable(np.ones(shape, np.float32), name="v")
    return v1.Session(graph=graph), variable


@pytest.mark.parametrize("use", ["read", "changed", "computed with"])
def test_what_a_container_holds_must_fit(use):
    name = f"holds for {use}"
    session, variable = in_container([3], name)
    session.run(variable.initializer)
    same, other = in_container([3], name), in_container([5], name)
    assert same[0].run(same[1]).tolist() == [1, 1, 1]
    session, variable = other
    with session.graph.as_default():
        uses = {"read": variable, "changed": variable.assign_add(np.ones(5, np.float32))}
        uses["computed with"] = variable * 2.0
    for _ in range(4):
        with pytest.raises(tf.errors.OpError, match=r"3.*5|5.*3"):
            session.run(uses[use])
    assert same[0].run(same[1]).tolist() == [1, 1, 1]


def queue(kind=tf.queue.FIFOQueue, capacity=3, dtype=tf.float32, shape=()):
    more = {"min_after_dequeue": 1} if kind is tf.queue.RandomShuffleQueue else {}
    return kind(capacity=capacity, dtypes=dtype, shapes=[shape], shared_name="q", **more)


def test_a_queue_is_shared_by_its_name():
    with tf.Graph().as_default(), v1.Session() as session:
        session.run(queue().enqueue(4.0))
        assert session.run(queue().dequeue()) == 4


OTHERS = {
    "kind": {"kind": tf.queue.RandomShuffleQueue},
    "type": {"dtype": tf.int32},
    "shape": {"shape": (2,)},
    "capacity": {"capacity": 5},
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_shared_queue_must_be_of_one_kind(name):
    with tf.Graph().as_default(), v1.Session() as session:
        session.run(queue().enqueue(4.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shared queue 'q' is"):
            session.run(queue(**OTHERS[name]).size())
        assert session.run(queue().size()) == 1
