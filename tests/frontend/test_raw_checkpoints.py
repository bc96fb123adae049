"""Row C5: nodes that save and restore tensors by their names, without a Saver."""

from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
raw = tf.raw_ops


def test_c5_nodes_save_and_restore_in_a_graph(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=np.arange(3.0, dtype=np.float32))
        step = v1.placeholder(tf.int64, [])
        save = raw.SaveV2(
            prefix=path, tensor_names=["v", "step"], shape_and_slices=["", ""],
            tensors=[v.read_value(), step], name="save",
        )  # fmt: skip
        values = raw.RestoreV2(
            prefix=path, tensor_names=["v", "step"], shape_and_slices=["", ""],
            dtypes=[tf.float32, tf.int64],
        )  # fmt: skip
        back = v.assign(tf.reshape(values[0], [3]))
        assert (save.type, values[0].op.type) == ("SaveV2", "RestoreV2")
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(save, {step: 57})
            session.run(v.assign(np.zeros(3, np.float32)))
            session.run(back)
            kept, number = session.run([v, values[1]])
    assert kept.tolist() == [0.0, 1.0, 2.0]
    assert number == 57


def test_what_nodes_write_eagerly_functions_and_savers_read(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    raw.SaveV2(
        prefix=path, tensor_names=["w"], shape_and_slices=[""], tensors=[tf.constant([1.0, 2.0])]
    )

    @tf.function
    def double() -> object:
        (w,) = raw.RestoreV2(
            prefix=path, tensor_names=["w"], shape_and_slices=[""], dtypes=[tf.float32]
        )
        return w * 2.0

    assert [double().numpy().tolist() for _ in range(3)] == [[2.0, 4.0]] * 3
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", [2])
        v1.train.Saver().restore(session, path)
        assert session.run(w).tolist() == [1.0, 2.0]


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    given = {"prefix": path, "tensor_names": ["w"], "shape_and_slices": [""]}
    raw.SaveV2(**given, tensors=[tf.constant([1.0])])
    with pytest.raises(tf.errors.NotFoundError, match="Key x not found in checkpoint"):
        raw.RestoreV2(**{**given, "tensor_names": ["x"]}, dtypes=[tf.float32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="elements of float32, expected i64"):
        raw.RestoreV2(**given, dtypes=[tf.int64])
    with pytest.raises(tf.errors.InvalidArgumentError, match="the part is 2 0,1"):
        raw.RestoreV2(**{**given, "shape_and_slices": ["2 0,1"]}, dtypes=[tf.float32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected 2: one for each tensor"):
        raw.SaveV2(**given, tensors=[1.0, 2.0])
    with pytest.raises(tf.errors.OpError, match="not a valid checkpoint"):
        raw.RestoreV2(**{**given, "prefix": path + "x"}, dtypes=[tf.float32])
