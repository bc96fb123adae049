"""Sessions whose target is a server of this process: what they share, and what servers refuse."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.function.staged import Staged

v1 = tf.compat.v1


@pytest.fixture
def server():
    made = v1.train.Server.create_local_server()
    yield made
    made.close()


def test_local_servers_have_targets_of_their_own(server):
    other = v1.train.Server({"other": ["localhost:0"]})
    try:
        assert server.target != other.target
        assert not server.target.endswith(":0")
        with tf.Graph().as_default():
            v = v1.Variable(1.0, name="v")
            with v1.Session(server.target) as mine, v1.Session(other.target) as theirs:
                mine.run(v.initializer)
                with pytest.raises(tf.errors.FailedPreconditionError):
                    theirs.run(v)
    finally:
        other.close()


def test_one_address_has_one_server(server):
    with pytest.raises(tf.errors.UnknownError, match="another one is there"):
        v1.train.Server({"other": [server.target.removeprefix("grpc://")]})


def test_an_address_without_a_port_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="port"):
        v1.train.Server({"local": ["localhost"]}, job_name="local", task_index=0)


def test_isolated_sessions_share_no_variables(server):
    apart = v1.ConfigProto(isolate_session_state=True)
    with tf.Graph().as_default():
        first = v1.placeholder(tf.int32)
        v = v1.Variable(first, validate_shape=False, name="v")
        shared = [v1.Session(server.target) for _ in range(2)]
        alone = [v1.Session(server.target, config=apart) for _ in range(2)]
        shared[0].run(v.initializer, {first: 86})
        assert [each.run(v) for each in shared] == [86, 86]
        for each in alone:
            with pytest.raises(tf.errors.FailedPreconditionError):
                each.run(v)
        alone[0].run(v.initializer, {first: [1, 2]})
        np.testing.assert_array_equal(alone[0].run(v), [1, 2])
        assert shared[1].run(v) == 86
        with pytest.raises(tf.errors.FailedPreconditionError):
            alone[1].run(v)
    with tf.Graph().as_default():
        v = v1.Variable([1, 2, 3], name="w")
        v1.Session(server.target).run(v.initializer)
    with tf.Graph().as_default():
        v = v1.Variable(37, name="w")
        with v1.Session(server.target, config=apart) as session:
            session.run(v.initializer)
            assert session.run(v) == 37


def test_a_variable_may_have_another_shape_when_its_container_was_reset(server):
    for value in ([1, 2, 3], 37):
        with tf.Graph().as_default(), v1.Session(server.target) as session:
            v = v1.Variable(value, name="w")
            session.run(v.initializer)
            np.testing.assert_array_equal(session.run(v), value)
        v1.Session.reset(server.target)


def test_what_is_not_there_is_not_reset():
    with pytest.raises(tf.errors.NotFoundError):
        v1.Session.reset("nonexistent", ["a"])
    told = v1.ConfigProto(operation_timeout_in_ms=5)
    with pytest.raises(tf.errors.DeadlineExceededError):
        v1.Session.reset("grpc://localhost:0", ["a"], config=told)


def test_sessions_are_configured_as_their_server_where_they_say_nothing():
    told = v1.ConfigProto(allow_soft_placement=True, operation_timeout_in_ms=700)
    made = v1.train.Server.create_local_server(config=told)
    try:
        assert made.server_def.default_session_config.operation_timeout_in_ms == 700
        again = v1.train.Server(made.server_def, start=False)
        assert again.server_def.default_session_config.allow_soft_placement
        with tf.Graph().as_default():
            assert v1.Session(made.target).config.timeout == 0.7
            assert not v1.Session(made.target, config=v1.ConfigProto()).config.timeout
    finally:
        made.close()
    with pytest.raises(tf.errors.UnimplementedError, match="rpc_options"):
        v1.train.Server.create_local_server(
            config=v1.ConfigProto(rpc_options={"use_rpc_for_inprocess_master": True})
        )


@pytest.mark.parametrize("level", ["ON_1", "OFF"])
def test_what_a_session_wishes_of_compiling_holds_on_tasks(server, level):
    levels, config = v1.OptimizerOptions, v1.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = getattr(levels, level)
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [3])
        y = tf.exp(x) * 2.0
        with v1.Session(server.target, config=config) as session:
            for _ in range(2 if level == "ON_1" else 200):
                session.run(y, {x: [1.0, 2.0, 3.0]})
            [part] = session.client.own.values()
            [made] = part.plans[0].compiled.values() or [None]
            assert isinstance(made, Staged) == (level == "ON_1")
