"""Variables by their handles, as raw operations name them."""

from typing import Any

import pytest

import gravure.tf as tf

R: Any = tf.raw_ops


def test_a_name_stands_for_a_variable() -> None:
    handle = R.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="named")
    assert (repr(handle.dtype), handle.shape) == ("<dtype: 'resource'>", [])
    assert not R.VarIsInitializedOp(resource=handle)
    with pytest.raises(tf.errors.FailedPreconditionError, match="Could not find variable named"):
        R.ReadVariableOp(resource=handle, dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected float32 got int32"):
        R.AssignVariableOp(resource=handle, value=[1, 2])
    assert R.AssignVariableOp(resource=handle, value=[1.0, 2.0]) is None
    R.AssignAddVariableOp(resource=handle, value=[1.0, 2.0])
    R.AssignSubVariableOp(resource=handle, value=[0.5, 0.0])
    again = R.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="named")
    found = R.ReadVariableOp(resource=again, dtype=tf.float32)
    assert found.numpy().tolist() == [1.5, 4.0]
    other = R.VarHandleOp(dtype=tf.float32, shape=[2])
    assert not R.VarIsInitializedOp(resource=other)
    R.DestroyResourceOp(resource=again)
    assert not R.VarIsInitializedOp(resource=handle)


def test_a_variable_has_a_handle() -> None:
    variable: Any = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    handle = variable.handle
    assert handle is variable.handle
    assert R.VariableShape(input=handle).numpy().tolist() == [2, 2]
    gathered = R.ResourceGather(resource=handle, indices=[1], dtype=tf.float32)
    assert gathered.numpy().tolist() == [[3.0, 4.0]]
    R.ResourceScatterAdd(resource=handle, indices=[0], updates=[[1.0, 1.0]])
    R.ResourceApplyGradientDescent(var=handle, alpha=0.5, delta=[[0.0, 0.0], [2.0, 2.0]])
    assert variable.numpy().tolist() == [[2.0, 3.0], [2.0, 3.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected int32 got float32"):
        R.ReadVariableOp(resource=handle, dtype=tf.int32)


def test_handles_lead_to_variables_in_functions_and_sessions() -> None:
    variable: Any = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        R.AssignAddVariableOp(resource=variable.handle, value=x)
        return R.ReadVariableOp(resource=variable.handle, dtype=tf.float32)

    assert [step(tf.constant(2.0)).numpy() for _ in range(4)] == [3.0, 5.0, 7.0, 9.0]
    with tf.Graph().as_default():
        other: Any = tf.compat.v1.get_variable("v", initializer=1.0)
        read = R.ReadVariableOp(resource=other.handle, dtype=tf.float32)
        more = R.AssignVariableOp(resource=other.handle, value=5.0)
        with pytest.raises(tf.errors.UnimplementedError, match="variables of sessions"):
            R.VarHandleOp(dtype=tf.float32, shape=[], shared_name="of a session")
        with tf.compat.v1.Session() as session:
            session.run(other.initializer)
            assert session.run(read) == 1.0
            session.run(more)
            assert session.run(read) == 5.0
