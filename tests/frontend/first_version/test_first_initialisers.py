"""Initialisers of the first version draw TensorFlow's numbers: seeds are those of operations."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
NUMBERS = {  # (as TensorFlow 2.21 draws them, in graphs of seed 1)
    "orthogonal_initializer [4, 2]": (
        lambda: v1.orthogonal_initializer(seed=3),
        [4, 2],
        [-0.4584, 0.0728, 0.5448, 0.2969, 0.4941, 0.5352, -0.4989, 0.7875],
    ),
    "uniform_unit_scaling_initializer [4, 2]": (
        lambda: v1.uniform_unit_scaling_initializer(seed=4),
        [4, 2],
        [-0.1985, -0.239, -0.0912, -0.7979, 0.3424, 0.6357, -0.6077, 0.5984],
    ),
    "orthogonal_initializer [2, 4]": (
        lambda: v1.orthogonal_initializer(seed=3, gain=2.0),
        [2, 4],
        [-0.9168, 1.0896, 0.9883, -0.9977, 0.1457, 0.5938, 1.0704, 1.5749],
    ),
    "random_uniform_initializer [1, 3]": (
        lambda: v1.random_uniform_initializer(seed=4),
        [1, 3],
        [0.3854, 0.362, 0.4473],
    ),
    "he_normal [3, 2]": (
        lambda: v1.initializers.he_normal(seed=1),
        [3, 2],
        [0.2616, -0.2865, -0.4155, -0.7492, -0.2694, 0.4799],
    ),
    "lecun_uniform [3, 2]": (
        lambda: v1.initializers.lecun_uniform(seed=1),
        [3, 2],
        [-0.8889, -0.9626, -0.8584, -0.4572, 0.3064, 0.1612],
    ),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_first_initialisers(case):
    made, shape, wanted = NUMBERS[case]
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        v = v1.get_variable("v", shape, initializer=made())
        session.run(v1.global_variables_initializer())
        np.testing.assert_allclose(session.run(v).ravel(), wanted, atol=1e-4)


def test_rows_or_columns_are_orthogonal():
    for shape in ([4, 2], [2, 4], [2, 2, 3]):
        made = np.reshape(v1.orthogonal_initializer(seed=2)(shape), [-1, shape[-1]])
        square = made @ made.T if made.shape[0] < made.shape[1] else made.T @ made
        np.testing.assert_allclose(square, np.eye(len(square)), atol=1e-5)


def test_integers_need_the_upper_bound_of_an_even_draw():
    with pytest.raises(ValueError, match="Must specify maxval for integer"):
        v1.random_uniform_initializer()([2], dtype=tf.int32)
    made = v1.random_uniform_initializer(0, 5)([100], dtype=tf.int32)
    assert set(made.numpy()) == set(range(5))
