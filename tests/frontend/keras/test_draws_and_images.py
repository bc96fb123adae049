"""Keras's draws and pictures have the values that TensorFlow's backend gives them."""

import warnings

import numpy as np
import pytest

import gravure.tf as tf

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from gravure import keras

random, image = keras.random, keras.ops.image
X = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
COLOURS = np.repeat(X, 3, -1)


@pytest.mark.parametrize(
    ("draw", "wanted"),
    [
        (lambda: random.gamma((3,), 0.5, seed=1), [0.00154724, 1.22207, 0.98635955]),
        (
            lambda: random.gamma((2, 2), np.float32([1, 3]), seed=1),
            [[1.6211609, 2.6113393], [0.1953031, 2.9891229]],
        ),
        (lambda: random.beta((3,), 0.3, 0.7, seed=1), [1.1910938e-05, 0.96910703, 0.37840438]),
        (lambda: random.binomial((6,), 10.0, 0.3, seed=1), [1, 2, 3, 6, 3, 0]),
    ],
    ids=["gamma", "rows", "beta", "binomial"],
)
def test_draws_are_those_of_tensorflow(draw, wanted: object) -> None:
    np.testing.assert_allclose(draw(), wanted, rtol=1e-5)
    np.testing.assert_allclose(tf.function(draw)(), wanted, rtol=1e-5)


def test_half_floats_are_drawn_as_such() -> None:
    uniform = random.uniform((4,), dtype="float16", seed=1)
    np.testing.assert_array_equal(uniform, np.float16([0.5752, 0.1582, 0.586, 0.1602]))
    kept = random.dropout(np.ones(8, np.float16), 0.4, seed=1)
    np.testing.assert_array_equal(np.asarray(kept) > 0, [1, 0, 1, 0, 0, 1, 0, 1])
    normal = random.normal((3,), 1.0, 2.0, dtype="float16", seed=1)
    np.testing.assert_array_equal(normal, np.float16([1.254, 0.01416, 2.262]))


def test_tries_may_be_more_than_half_floats_count() -> None:
    found = np.asarray(random.binomial((2,), 1e5, 0.5, dtype="float16", seed=1))
    np.testing.assert_allclose(found, 5e4, rtol=0.02)
    endless = tf.random.stateless_binomial((2,), [1, 0], counts=np.inf, probs=0.5)
    assert endless.shape == (2,)


def test_nothing_is_drawn_where_all_is_dropped() -> None:
    seed = random.SeedGenerator(3)
    assert not np.any(random.dropout(np.ones(4, "f4"), 1.0, seed=seed))
    np.testing.assert_array_equal(seed.state, random.SeedGenerator(3).state)


def test_pixels_halfway_are_those_farther_from_the_corner() -> None:
    found = image.affine_transform(X, np.float32([[1, 0, 0.5, 0, 1, 0.5, 0, 0]]), "nearest")
    wanted = [[5, 6, 7, 0], [9, 10, 11, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(found[0, :, :, 0], wanted)


def test_a_transform_projects_by_all_of_its_numbers() -> None:
    found = image.affine_transform(X, np.float32([[1, 0, 0, 0, 1, 0, 0.1, 0.2]]))
    wanted = [0, 0.9090909, 1.6666666, 2.3076923]
    np.testing.assert_allclose(found[0, 0, :, 0], wanted, rtol=1e-6)


@pytest.mark.parametrize("order", ["channels_last", "channels_first"])
def test_pictures_of_open_sizes_are_seen_through_maps(order: str) -> None:
    maps = np.float32([[0.8, 0.1, 0.5, -0.1, 0.9, 0.2, 0, 0]] * 2)
    given = np.concatenate([X, X[:, ::-1]])
    wanted = np.asarray(image.affine_transform(given, maps, fill_mode="reflect"))
    first = order == "channels_first"
    given, wanted = (np.moveaxis(x, 3, 1) if first else x for x in (given, wanted))

    @tf.function(input_signature=[tf.TensorSpec([None] * 4)])
    def seen(x: object) -> object:
        return image.affine_transform(x, maps, fill_mode="reflect", data_format=order)

    np.testing.assert_allclose(seen(given), wanted, rtol=1e-5)
    with pytest.raises(ValueError, match="mirror"):
        image.affine_transform(X, maps[:1], fill_mode="mirror")


def test_the_second_sigma_blurs_down() -> None:
    found = image.gaussian_blur(X, (3, 3), (0.5, 2.0))
    wanted = [1.2132101, 1.9575033, 2.6383355, 2.8931398]
    np.testing.assert_allclose(found[0, 0, :, 0], wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("how", "size", "wanted"),
    [
        ("area", (2, 3), [1.5833335, 2.8333335, 4.083333]),
        ("bicubic", (2, 5), [0.62840915, 1.319859, 2.171533, 3.0232065, 3.7146568]),
    ],
)
def test_sizes_are_changed_as_tensorflow_does(
    how: str, size: tuple[int, int], wanted: list[float]
) -> None:
    found = image.resize(X, size, how)
    np.testing.assert_allclose(found[0, 0, :, 0], wanted, rtol=1e-5)
    turned = image.resize(np.moveaxis(X, 3, 1), size, how, data_format="channels_first")
    np.testing.assert_allclose(np.moveaxis(turned, 1, 3), found, rtol=1e-6)


def test_elastic_pictures_of_an_open_batch() -> None:
    found = image.elastic_transform(X, 3.0, 1.0, fill_mode="constant", seed=2)
    wanted = [2.975705, 6.973299, 9.221504, 3.1749518]
    np.testing.assert_allclose(found[0, 2, :, 0], wanted, rtol=1e-5)
    layer = keras.layers.RandomElasticTransform(seed=1)
    (two,) = tf.data.Dataset.from_tensor_slices(np.repeat(X, 2, 0)).batch(2).map(layer)
    assert two.shape == (2, 3, 4, 1)


def test_a_pipeline_goes_on_with_the_seeds_of_a_layer() -> None:
    layer = keras.layers.RandomColorJitter(
        brightness_factor=0.3, contrast_factor=0.3, value_range=(0, 12), seed=3
    )
    data = tf.data.Dataset.from_tensor_slices(np.repeat(COLOURS, 2, 0)).batch(1)
    found = [layer(COLOURS)[0, 0, :, 0], *(x[0, 0, :, 0] for x in data.map(layer))]
    wanted = [[0, 0, 0, 0.44013429], [1.4682775, 2.7003798, 3.9324827, 5.1645856]]
    np.testing.assert_allclose(found, [*wanted, [0, 0, 0, 0.8993597]], rtol=1e-5)


def test_matrices_of_half_floats_start_orthogonal() -> None:
    made = np.asarray(keras.initializers.Orthogonal(seed=3)((4, 4), dtype="float16"))
    assert made.dtype == np.float16
    np.testing.assert_allclose(made.T.astype("f4") @ made.astype("f4"), np.eye(4), atol=5e-3)
