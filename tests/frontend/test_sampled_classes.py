"""Samples of classes, losses that take them, and moments: TensorFlow's numbers."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
SAMPLES = [
    [6.0, 14.0, 10.0, 17.0, 12.0, 7.0],
    [0.3, 0.3],
    [0.3, 0.3, 0.3, 0.3, 0.3, 0.3],
    [16.0, 5.0, 6.0, 9.0, 11.0, 4.0],
    [0.3017, 0.3017],
    [0.3017, 0.3017, 0.3017, 0.3017, 0.3017, 0.3017],
    [6.0, 14.0, 10.0, 17.0, 12.0, 7.0],
    [0.3, 0.3],
    [0.3, 0.3, 0.3, 0.3, 0.3, 0.3],
    [16.0, 5.0, 6.0, 16.0, 9.0, 11.0],
    [0.3, 0.3],
    [0.3, 0.3, 0.3, 0.3, 0.3, 0.3],
    [1.0, 3.0, 8.0, 14.0, 17.0, 15.0],
    [0.4398, 0.2321],
    [0.7991, 0.4398, 0.2076, 0.1272, 0.1066, 0.1195],
    [1.0, 4.0, 2.0, 7.0, 3.0, 0.0],
    [0.4131, 0.2413],
    [0.6323, 0.351, 0.5008, 0.2413, 0.4131, 0.8361],
    [1.0, 3.0, 8.0, 14.0, 17.0, 15.0],
    [0.4398, 0.2321],
    [0.7991, 0.4398, 0.2076, 0.1272, 0.1066, 0.1195],
    [1.0, 4.0, 2.0, 1.0, 7.0, 3.0],
    [0.4398, 0.2321],
    [0.7991, 0.3593, 0.567, 0.7991, 0.2321, 0.4398],
]
LOSSES = [[10.0819, 4.7897], [1.745, 0.7055], [11.4689, 17.7942], [1.6574, 4.6347]]
TRAINED = [
    [7.6338],
    [5.4747],
    [6.0613],
    [-1.2995, 0.2396, -1.0552, 0.196, -1.0928, 0.3455, -0.5988, -0.2695],
]
MOMENTS = [
    [2.25, 3.25, 4.25],
    [1.6875, 1.6875, 1.6875],
    [2.8333],
    [2.8056],
    [2.0],
    [3.0, 5.0, 7.0],
    [9.0, 17.0, 29.0],
    [1.5, 2.5, 3.5],
    [2.25, 2.25, 2.25],
    [2.5],
    [2.9167],
]
WEIGHTS = np.arange(40, dtype=np.float32).reshape(20, 2) / 10 - 1.5
INPUTS = [[1.0, -2.0], [0.5, 0.3]]


def close(found, expected):
    np.testing.assert_allclose(np.ravel(np.asarray(found)), expected, atol=2e-4, rtol=1e-5)


def test_samplers():
    tf.random.set_seed(5)
    expected = iter(SAMPLES)
    for sampler in (
        tf.random.uniform_candidate_sampler,
        tf.random.log_uniform_candidate_sampler,
    ):
        for unique in (True, False):
            for _ in range(2):
                for found in sampler([[3], [7]], 1, 6, unique, 20, seed=3):
                    close(found, next(expected))
    with pytest.raises(ValueError, match="too small"):
        tf.random.uniform_candidate_sampler([[3]], 1, 21, True, 20)


def test_losses_of_given_samples():
    tf.random.set_seed(5)
    sampler = tf.random.log_uniform_candidate_sampler
    for _ in range(2):
        sampler([[3], [7]], 1, 6, True, 20, seed=3)
    expected = iter(LOSSES)
    biases = tf.range(20.0) / 20
    for labels in ([[3], [7]], [[3, 1], [7, 2]]):
        count = len(labels[0])
        given = sampler(labels, count, 6, True, 20, seed=3)
        for loss in (tf.nn.nce_loss, tf.nn.sampled_softmax_loss):
            found = loss(
                WEIGHTS, biases, labels, INPUTS, 6, 20, num_true=count, sampled_values=given
            )
            close(found, next(expected))


def test_steps_of_a_session():
    with tf.Graph().as_default():
        v1.set_random_seed(7)
        first = np.array([[i * 0.1 - 1, i * 0.05] for i in range(20)], np.float32)
        w = v1.get_variable("w", initializer=first)
        b = v1.get_variable("b", [20], initializer=v1.zeros_initializer())
        labels, inputs = tf.constant([[3], [7]]), tf.constant(INPUTS)
        loss = tf.reduce_mean(v1.nn.nce_loss(w, b, labels, inputs, 6, 20))
        step = v1.train.GradientDescentOptimizer(0.5).minimize(loss)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for expected in TRAINED[:3]:
                close(session.run([loss, step])[0], expected)
            close(session.run(w)[:4], TRAINED[3])


def test_accidental_hits():
    rows, places, weights = tf.nn.compute_accidental_hits(
        tf.constant([[3, 1], [7, 2]], tf.int64), tf.constant([2, 5, 3, 7], tf.int64), 2
    )
    assert rows.numpy().tolist() == [0, 1, 1]
    assert places.numpy().tolist() == [2, 0, 3]
    assert (weights.numpy() < -1e38).all()


def test_moments():
    x = tf.reshape(tf.range(6.0), [2, 3])
    made = [
        *tf.nn.weighted_moments(x, [0], [[1.0], [3.0]]),
        *tf.nn.weighted_moments(x, [0, 1], [1.0, 2.0, 3.0], keepdims=True),
    ]
    count, mean, squares, _ = tf.nn.sufficient_statistics(x, [0])
    made += [count, mean, squares, *tf.nn.normalize_moments(count, mean, squares, None)]
    parts = tf.nn.sufficient_statistics(x, [0, 1], shift=2.0)
    made += tf.nn.normalize_moments(*parts)
    for found, expected in zip(made, MOMENTS, strict=True):
        close(found, expected)


def test_settings_of_devices():
    config = tf.config.experimental
    [processor] = config.list_physical_devices("CPU")
    assert config.list_physical_devices("TPU") == []
    for gpu in config.list_physical_devices("GPU"):
        config.set_memory_growth(gpu, True)
        assert config.get_memory_growth(gpu)
    with pytest.raises(ValueError, match="non-GPU"):
        config.set_memory_growth(processor, True)
    tf.config.set_visible_devices(tf.config.list_physical_devices("CPU"), "CPU")
    with pytest.raises(tf.errors.UnimplementedError, match="cannot be hidden"):
        tf.config.set_visible_devices([], "CPU")
    config.enable_op_determinism()
    config.enable_tensor_float_32_execution(False)
    assert not config.tensor_float_32_execution_enabled()
    config.enable_tensor_float_32_execution(True)
    assert config.get_memory_info("CPU:0") == {"current": 0, "peak": 0}
    with pytest.raises(tf.errors.UnimplementedError, match="when called"):
        config.set_synchronous_execution(False)


UNIGRAMS = [5.0, 1.0, 3.0, 0.5, 8.0, 2.0, 2.0, 1.0]
BY_WEIGHT = {  # (as TensorFlow 2.21 draws them)
    (True, 1.0, 0): ([4, 6, 0, 5, 1, 2], [[0.59717274, 0.94284665], [0.84460867, 0.99343687]]),
    (True, 0.75, 1): ([1, 6, 5, 7, 8, 3], [[0.93592834, 0.53135628], [0.98390567, 0.0]]),
    (False, 1.0, 0): ([4, 6, 4, 0, 0, 4], [[0.26666668, 0.8], [0.53333336, 1.3333334]]),
    (False, 0.75, 0): ([6, 6, 4, 0, 0, 5], [[0.36723691, 0.83711922], [0.61761641, 1.2279307]]),
}


@pytest.mark.parametrize("case", BY_WEIGHT)
def test_classes_by_weight(case):
    unique, distortion, reserved = case
    true = tf.constant([[1, 2], [5, 0]], tf.int64)
    tf.random.set_seed(3)
    found = tf.random.fixed_unigram_candidate_sampler(
        *(true, 2, 6, unique, 8 + reserved),
        unigrams=UNIGRAMS, distortion=distortion, num_reserved_ids=reserved, seed=7,
    )  # fmt: skip
    classes, expected = BY_WEIGHT[case]
    assert found.sampled_candidates.numpy().tolist() == classes
    np.testing.assert_allclose(found.true_expected_count, expected, rtol=1e-5)


def test_weights_of_a_file_and_of_a_shard(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("".join(f"word{i},{weight}\n" for i, weight in enumerate(UNIGRAMS)))
    draw = tf.nn.fixed_unigram_candidate_sampler
    tf.random.set_seed(3)
    found = draw([[1, 2], [5, 0]], 2, 6, True, 8, vocab_file=str(path), seed=2)
    assert found.sampled_candidates.numpy().tolist() == [4, 7, 6, 2, 0, 5]
    found = draw([[1], [0]], 1, 3, True, 4, unigrams=UNIGRAMS, num_shards=2, shard=1, seed=2)
    assert found.sampled_candidates.numpy().tolist() == [2, 3, 0]
    np.testing.assert_allclose(found.true_expected_count, [[1 / 3], [2 / 3]], rtol=1e-5)
    with pytest.raises(ValueError, match="not both"):
        draw([[1]], 1, 3, True, 4, seed=2)
    with pytest.raises(ValueError, match="8 weights"):
        draw([[1]], 1, 3, True, 4, unigrams=UNIGRAMS)


def test_true_classes_are_learned():
    @tf.function
    def draw(true):
        return tf.random.learned_unigram_candidate_sampler(true, 2, 6, True, 8, seed=9)

    tf.random.set_seed(3)
    true = tf.constant([[1, 2], [5, 0]], tf.int64)
    wanted = [0.65639108, 0.76743197, 0.97069127]
    for turn, expected in enumerate(wanted):
        found = draw(true)
        assert float(found.true_expected_count[0, 0]) == pytest.approx(expected, rel=1e-5), turn
    np.testing.assert_array_equal(found.sampled_candidates, [2, 5, 0, 1, 7, 6])


def test_all_classes():
    found = tf.random.all_candidate_sampler([[1, 2], [5, 0]], 2, 8, True)
    assert found.sampled_candidates.numpy().tolist() == [*range(8)]
    assert found.true_expected_count.numpy().tolist() == [[1.0, 1.0]] * 2
    assert found.sampled_expected_count.numpy().tolist() == [1.0] * 8
