"""What TensorFlow's own tests of kernels found: expected values are TensorFlow's."""

import numpy as np
import pytest

import gravure.tf as tf

V1 = tf.compat.v1
COMPLEX = tf.constant([1 + 2j, 3 - 1j, 0.5j], tf.complex64)


def test_the_factor_of_swish_has_a_gradient() -> None:
    x, beta = tf.constant([-3.0, -1.0, 0.0, 0.5, 2.0]), tf.Variable(0.25)
    with tf.GradientTape() as tape:
        y = tf.nn.swish(x, beta)
    assert float(tape.gradient(y, beta)) == pytest.approx(3.20946, rel=1e-5)
    np.testing.assert_allclose(y, tf.nn.swish(x, 0.25), rtol=1e-6)


def test_complex_numbers_have_variances_and_norms() -> None:
    assert float(tf.math.reduce_variance(COMPLEX)) == pytest.approx(3.0555556)
    assert float(tf.math.reduce_std(COMPLEX)) == pytest.approx(1.7480148)
    norm = tf.nn.l2_normalize(COMPLEX)
    np.testing.assert_allclose(norm[0], 0.25606998 + 0.51214998j, rtol=1e-5)
    staged = tf.function(tf.nn.l2_normalize)(COMPLEX)
    np.testing.assert_array_equal(staged, norm)
    with tf.Graph().as_default(), pytest.raises(TypeError, match="Received integer type"):
        tf.math.reduce_std(tf.constant([1, 2]))


@pytest.mark.parametrize("shape", [[2, 3, 4, 5], [2, 3, 2, 4, 5]])
def test_batches_with_the_channels_first_are_normalised(shape) -> None:
    x = tf.reshape(tf.range(float(np.prod(shape))), shape) / 7
    back = [0, *range(2, len(shape)), 1]
    scale, offset = tf.constant([1.0, 2.0, 3.0]), tf.constant([0.0, 1.0, 2.0])
    name = "NCDHW"[: len(shape)] if len(shape) == 5 else "NCHW"
    norm = V1.nn.fused_batch_norm
    for more in ({}, {"mean": scale, "variance": scale, "is_training": False}):
        found = norm(x, scale, offset, data_format=name, **more)
        expected = norm(tf.transpose(x, back), scale, offset, **more)
        np.testing.assert_array_equal(tf.transpose(found[0], back), expected[0])
        np.testing.assert_array_equal(found[2], expected[2])


def test_sizes_of_chances_that_are_not_said_are_those_of_the_elements() -> None:
    x = tf.ones([4, 3])
    found = tf.nn.dropout(x, 0.5, noise_shape=[None, 1], seed=3).numpy()
    assert found.shape == (4, 3)
    assert (found == found[:, :1]).all()
    drop = tf.function(
        lambda x: tf.nn.experimental.stateless_dropout(x, 0.5, (1, 2), noise_shape=(None, 1)),
        input_signature=[tf.TensorSpec([None, 3])],
    )
    made = drop(x).numpy()
    assert (made == made[:, :1]).all()
    with pytest.raises(ValueError, match="expected 2 sizes"):
        tf.nn.dropout(x, 0.5, noise_shape=[None])


@pytest.mark.parametrize(
    "initial",
    [tf.zeros_initializer(), tf.ones_initializer(), tf.random_normal_initializer(),
     tf.random_uniform_initializer(), tf.constant_initializer(2, support_partition=True)],
)  # fmt: skip
def test_initial_values_of_parts_have_the_shape_of_the_part(initial) -> None:
    assert initial([4, 2], partition_shape=(2, 2), partition_offset=(2, 0)).shape == (2, 2)
    with pytest.raises(TypeError, match="Received: other"):
        initial([4, 2], other=1)


@pytest.mark.parametrize(
    "initial",
    [tf.constant_initializer(1), V1.orthogonal_initializer(), V1.initializers.identity()],
)
def test_initial_values_of_a_whole_refuse_parts(initial) -> None:
    with pytest.raises(ValueError, match="doesn't support partition"):
        initial([4, 2], partition_shape=(2, 2), partition_offset=(2, 0))


def test_tensors_of_an_iterator_are_added() -> None:
    assert float(tf.add_n(tf.constant(float(i)) for i in range(4))) == 6.0
    with pytest.raises(ValueError, match="at least one"):
        tf.add_n(iter(()))


def test_what_lies_behind_a_sequence_has_no_part_in_its_loss() -> None:
    logits = np.arange(2 * 3 * 4, dtype=np.float32).reshape(3, 2, 4) % 5
    behind = logits.copy()
    behind[2:, 0] = np.nan
    found = []
    for given in (logits, behind):
        x = tf.constant(given)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.nn.ctc_loss([[1, 2], [2, 1]], x, [1, 2], [2, 3], blank_index=0)
        found.append((loss.numpy(), tape.gradient(loss, x).numpy()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert not found[1][1][2:, 0].any()


def test_colours_are_not_changed_by_what_is_no_share() -> None:
    image = tf.ones([2, 2, 3])
    for change, said in (
        (lambda: tf.image.adjust_gamma(image, -1.0), "non-negative real number"),
        (lambda: tf.image.adjust_gamma(image, tf.constant(-1.0)), "non-negative real number"),
        (lambda: tf.image.adjust_hue(image, 1.5), "in the interval"),
        (lambda: tf.image.adjust_contrast(image, [2.0]), "must be scalar"),
    ):
        with pytest.raises(ValueError, match=said):
            change()
