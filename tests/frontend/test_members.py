"""Members of tensors, variables, shapes, types and initializers that TensorFlow's have."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def test_tensors_stand_in_dictionaries_by_their_references() -> None:
    x = tf.constant(1.0)
    assert {x.ref(): 1}[x.experimental_ref()] == 1

    @tf.function
    def function(a, b):
        known = {a.ref(): 2, b.experimental_ref(): 3}
        return a * known[a.ref()] + b * known[b.ref()]

    assert function(x, x).numpy() == 5.0
    v = tf.Variable(1.0)
    assert v.experimental_ref() == v.ref()


@pytest.mark.parametrize(("how", "wanted"), [("max", [3, 5, 7]), ("min", [1, 5, 2])])
def test_slices_are_compared_with_those_of_a_variable(how: str, wanted: list[int]) -> None:
    def changed() -> list[float]:
        v = tf.Variable([1.0, 5.0, 7.0])
        getattr(v, f"scatter_nd_{how}")([[0], [2]], [3.0, 2.0])
        return v

    assert changed().numpy().tolist() == wanted
    v = tf.Variable([1.0, 5.0, 7.0])
    tf.function(lambda: getattr(v, f"scatter_nd_{how}")([[0], [2]], [3.0, 2.0]))()
    assert v.numpy().tolist() == wanted


def test_shapes_have_at_most_so_many_axes() -> None:
    assert tf.TensorShape([1, 2]).with_rank_at_most(2).as_list() == [1, 2]
    assert tf.TensorShape(None).with_rank_at_most(0).rank is None
    with pytest.raises(ValueError, match="at most 1"):
        tf.TensorShape([1, 2]).with_rank_at_most(1)


def test_types_of_numbers() -> None:
    numeric = [tf.float32, tf.bfloat16, tf.int8, tf.uint64, tf.complex64, tf.float64]
    assert all(dtype.is_numeric for dtype in numeric)
    assert not any(dtype.is_numeric for dtype in (tf.bool, tf.string))


def test_slices_of_a_graph_have_a_name() -> None:
    with v1.Graph().as_default():
        w = v1.get_variable("w", [3])
        grad = tf.gradients(tf.gather(w, [0]), w)[0]
        assert isinstance(grad, tf.IndexedSlices)
        assert grad.name == grad.values.name
        assert grad.device == grad.values.device


INITIALIZERS = [
    tf.zeros_initializer(), tf.ones_initializer(), tf.constant_initializer(2.0),
    tf.random_uniform_initializer(-1.0, 2.0, seed=3), tf.random_normal_initializer(1.0, 2.0, 5),
    v1.constant_initializer(4.0, tf.float64), v1.truncated_normal_initializer(0.5, 0.25, 7),
    v1.variance_scaling_initializer(2.0, "fan_out", "uniform", 9),
    v1.glorot_uniform_initializer(11), v1.orthogonal_initializer(2.0, 13),
]  # fmt: skip


@pytest.mark.parametrize("one", INITIALIZERS, ids=lambda x: type(x).__name__)
def test_initializers_are_made_again_by_what_they_tell(one) -> None:
    again = type(one).from_config(one.get_config())
    assert again.get_config() == one.get_config()
    if getattr(one, "stateless", True):
        np.testing.assert_array_equal(again([4, 3]).numpy(), one([4, 3]).numpy())


def test_initializers_refuse_what_they_do_not_know() -> None:
    for kind in (tf.zeros_initializer, tf.random_normal_initializer, v1.orthogonal_initializer):
        with pytest.raises(TypeError, match="sed"):
            kind(sed=3)
