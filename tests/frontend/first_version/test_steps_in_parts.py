"""Steps of sessions in parts, and values that stay in a session between its steps."""

import re

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def graph() -> tf.Graph:
    return tf.Graph()


def test_a_step_goes_on_from_where_it_stopped() -> None:
    with graph().as_default(), v1.Session() as session:
        a, b, c = (v1.placeholder(tf.float32, []) for _ in range(3))
        first = a + b
        second = first * c
        handle = session.partial_run_setup([first, second], [a, b, c])
        other = session.partial_run_setup([first, second], [a, b, c])
        assert session.partial_run(handle, first, {a: 1, b: 2}) == 3
        assert session.partial_run(other, [first], {a: 5, b: 2}) == [7]
        assert session.partial_run(handle, second, {c: 51}) == 153
        assert session.partial_run(other, {"x": second}, {c: 2}) == {"x": 14}


def test_no_operation_of_a_step_in_parts_runs_twice() -> None:
    with graph().as_default(), v1.Session() as session:
        drawn = v1.random_uniform([3], seed=1)
        x = v1.placeholder(tf.float32, [])
        scaled = drawn * x
        handle = session.partial_run_setup([drawn, scaled], [x])
        before = session.partial_run(handle, drawn)
        after = session.partial_run(handle, scaled, {x: 2.0})
        np.testing.assert_array_equal(after, before * 2)


def test_a_step_in_parts_may_be_fed_without_a_fetch() -> None:
    with graph().as_default(), v1.Session() as session:
        a = v1.placeholder(tf.float32)
        handle = session.partial_run_setup([a * 2.0], [a])
        assert session.partial_run(handle, [], {a: 3.0}) == []


WRONG = {
    "was not specified in partial_run_setup.$": lambda s, h, x, y, z: s.partial_run(h, x, {z: 1}),
    "The fetch .* was not specified": lambda s, h, x, y, z: s.partial_run(h, z * 2.0, {}),
    "has already been fed.$": lambda s, h, x, y, z: [s.partial_run(h, [], {y: 1}) for _ in "ab"],
    "has already been fetched.$": lambda s, h, x, y, z: [
        s.partial_run(h, x, {y: 1}), s.partial_run(h, x, {}),
    ],
    "can't be computed from the feeds": lambda s, h, x, y, z: s.partial_run(h, x, {}),
    "Must run 'setup'": lambda s, h, x, y, z: s.partial_run("no handle", x, {}),
    "at least one target": lambda s, h, x, y, z: s.partial_run_setup([], [y]),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_what_a_step_in_parts_was_not_made_for_is_refused(message: str) -> None:
    with graph().as_default(), v1.Session() as session:
        y, z = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
        x = y + 1.0
        handle = session.partial_run_setup([x], [y])
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            WRONG[message](session, handle, x, y, z)


def test_a_placeholder_that_was_not_named_has_to_be_fed() -> None:
    with graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, ())
        made = x * 2.0
        handle = session.partial_run_setup([made])
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
            session.partial_run(handle, made)


def test_a_value_stays_in_its_session_by_its_handle() -> None:
    with graph().as_default(), v1.Session() as session:
        product = tf.constant(10) * tf.constant(5)
        handle, value = session.run([v1.get_session_handle(product), product])
        assert (handle.eval(), value) == (50, 50)
        holder, x = v1.get_session_tensor(handle.handle, tf.int32)
        assert x.dtype == tf.int32
        more = v1.get_session_handle(x + 1)
        for _ in range(6):
            handle = session.run(more, {holder: handle.handle})
        assert handle.eval() == 56
        assert len(session.store.kept) == 1  # what no handle is for is gone


def test_a_handle_is_fed_in_place_of_its_value() -> None:
    with graph().as_default(), v1.Session() as session:
        c = tf.constant(10.0) * 5.0
        handle = session.run(v1.get_session_handle(c))
        assert session.run(c * c, {c: handle}) == 2500


def test_a_value_that_was_let_go_is_refused_by_its_handle() -> None:
    with graph().as_default(), v1.Session() as session:
        c = tf.constant(2.0)
        kept = v1.get_session_handle(c)
        first, second = session.run(kept), session.run(kept)
        first.delete()
        raw = second.get_raw_handle()
        holder, gone = v1.delete_session_tensor(raw)
        session.run(gone, {holder: raw})
        for handle in (first, second):
            with pytest.raises(
                tf.errors.InvalidArgumentError, match=re.escape("not in the session store")
            ):
                handle.eval()


def test_only_tensors_of_graphs_stay() -> None:
    with pytest.raises(TypeError, match="must be of type Tensor"):
        v1.get_session_handle(3.0)
