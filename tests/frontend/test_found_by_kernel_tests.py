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


def slices(*, known: bool = True) -> tf.IndexedSlices:
    whole = tf.constant([4, 2]) if known else None
    return tf.IndexedSlices(tf.constant([[1.0, -5], [7, 2]]), tf.constant([1, 3]), whole)


@pytest.mark.parametrize("known", [True, False])
def test_functions_of_one_tensor_give_slices_for_slices(known: bool) -> None:
    given = slices(known=known)
    for made, expected in (
        (tf.clip_by_value(given, -2.0, 3.0), [[1, -2], [3, 2]]),
        (tf.scalar_mul(2, given), [[2, -10], [14, 4]]),
        (tf.math.scalar_mul(2.0, x=given), [[2, -10], [14, 4]]),
        (-given, [[-1, 5], [-7, -2]]),
    ):
        assert isinstance(made, tf.IndexedSlices)
        assert made.values.numpy().tolist() == expected
        assert made.indices.numpy().tolist() == [1, 3]
        assert (made.dense_shape is not None) == known
    norm = tf.clip_by_norm(given, 2.0)
    assert float(tf.norm(norm.values)) == pytest.approx(2.0)


def test_numbers_far_apart_are_counted() -> None:
    far = tf.range(-(2**31), 2**31 - 1, 2**31 - 1)
    assert far.dtype == tf.int32
    assert far.numpy().tolist() == [-(2**31), -1, 2**31 - 2]
    assert tf.range(1136033460, -2110457150, -1849827689).numpy().tolist() == [
        1136033460,
        -713794229,
    ]
    bins = tf.histogram_fixed_width([3e38, 100.0], [-1e38, 3e38], 2)
    assert bins.numpy().tolist() == [1, 1]
    whole = [-(2**31), 2**31 - 1]
    assert tf.histogram_fixed_width(whole, whole, 2).numpy().tolist() == [1, 1]
    staged = tf.function(lambda x, n: tf.histogram_fixed_width(x, [-1e38, 3e38], n))
    assert staged(tf.constant([3e38, 100.0]), tf.constant(2)).numpy().tolist() == [1, 1]
    assert tf.histogram_fixed_width([-np.inf, np.inf, 1.0], [0.0, 2.0], 2).numpy().tolist() == [
        1,
        2,
    ]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([1.0], [0.0, 2.0], -1), "nbins should be a positive number, but got '-1'"),
        (([1.0], [2.0, 0.0], 3), "value_range should satisfy"),
        (([np.nan], [0.0, 2.0], 3), "must not contain NaN"),
        (([1.0], 2.0, 3), "value_range should be a vector"),
        (([1.0], [1.0, 2.0, 3.0], 3), "vector of 2 elements"),
        (([1.0], [0.0, 2.0], [3, 4]), "nbins should be a scalar"),
    ],
)
def test_bins_that_are_none_are_refused(arguments, match) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        tf.histogram_fixed_width(*arguments)
    if arguments[2] == -1:
        with pytest.raises(tf.errors.InvalidArgumentError, match="must > 0"):
            tf.histogram_fixed_width_bins(*arguments)


def test_bins_of_a_function_refuse_what_only_the_run_knows() -> None:
    bins = tf.function(lambda x, ends: tf.histogram_fixed_width(x, ends, 3))
    assert bins(tf.constant([1.0]), tf.constant([0.0, 3.0])).numpy().tolist() == [0, 1, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not contain NaN"):
        bins(tf.constant([np.nan]), tf.constant([0.0, 3.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="value_range should satisfy"):
        bins(tf.constant([1.0]), tf.constant([3.0, 3.0]))


def test_seeds_that_are_folded_have_the_type_of_the_number() -> None:
    short = tf.random.experimental.stateless_fold_in(tf.constant([1, 2], tf.int64), 3)
    assert short.dtype == tf.int32
    assert short.numpy().tolist() == [1105988140, 3]
    long = tf.random.experimental.stateless_fold_in([1, 2], tf.constant(3, tf.int64))
    assert long.numpy().tolist() == [7464880146280614444, 3]


def test_a_number_is_shuffled_as_it_is() -> None:
    assert int(tf.random.experimental.stateless_shuffle(tf.constant(5), [1, 2])) == 5


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((5, 2, 1), ValueError),
        (([1], [1], 1), ValueError),
        (([1], 1, [1]), ValueError),
        (([1], 1, 1, True, [1]), ValueError),
        (([1, 2], 2, 0), tf.errors.InvalidArgumentError),
        (([1, 2], -2, 1), tf.errors.InvalidArgumentError),
    ],
)
def test_pieces_that_are_none_are_refused(arguments, error) -> None:
    with pytest.raises(error):
        tf.signal.frame(*arguments)


def test_rows_with_fewer_labels_count_these() -> None:
    scores = [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]]
    found = []
    for k in range(1, 5):
        with tf.Graph().as_default(), V1.Session() as session:
            labels = tf.constant([[2, 3], [3, -1]], tf.int64)
            _, update = V1.metrics.average_precision_at_k(labels, tf.constant(scores), k)
            session.run(V1.local_variables_initializer())
            found.append(session.run(update))
    assert found == pytest.approx([0.5, 0.5, 7 / 12, 17 / 24])


@pytest.mark.parametrize("weights", [2, [100, 1, 1], [[100], [1], [1]]])
def test_weights_whose_rank_only_the_run_knows_are_fitted(weights) -> None:
    with tf.Graph().as_default(), V1.Session() as session:
        given = V1.placeholder(tf.int32)
        labels, guesses = tf.constant([[1], [0], [0]]), tf.constant([1, 1, 1])
        _, update = V1.metrics.accuracy(labels, guesses, given)
        session.run(V1.local_variables_initializer())
        expected = 1 / 3 if weights == 2 else 100 / 102
        assert session.run(update, {given: weights}) == pytest.approx(expected)
