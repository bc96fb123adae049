"""Functions of numbers that Keras asks its backend for, beside numpy's."""

import importlib
import math
import warnings

import numpy as np
import pytest

import gravure.tf as tf

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    keras = tf.keras

activations, arrays, making = (
    importlib.import_module(f"gravure.frontend.keras.backend.{name}")
    for name in ("activations", "arrays", "making")
)

X = np.array([[3.0, 1.0, -2.0], [6.0, 5.0, 4.0], [-9.0, 0.5, 7.0]])


@pytest.mark.parametrize("turns", range(-1, 5))
@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_planes_are_turned_by_quarters(turns: int, axes: tuple[int, int]) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    found = np.asarray(keras.ops.rot90(x, turns, axes))
    np.testing.assert_array_equal(found, np.rot90(x, turns, axes))


@pytest.mark.parametrize("rows", [3, 2])
def test_triangles_and_turns_give_the_matrix(rows: int) -> None:
    for x in (X[:rows], np.stack([X[:rows], X[:rows] ** 2])):
        both, turns = map(np.asarray, keras.ops.lu_factor(x))
        for found, order, wanted in zip(
            both.reshape(-1, rows, 3), turns.reshape(-1, rows), x.reshape(-1, rows, 3), strict=True
        ):
            lower, upper = np.tril(found[:, :rows], -1) + np.eye(rows), np.triu(found)
            turned = wanted.copy()
            for at, other in enumerate(order):
                turned[[at, other]] = turned[[other, at]]
            np.testing.assert_allclose(lower @ upper, turned, rtol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("share", [0.3, [0.0, 0.5, 1.0]])
def test_shares_are_of_the_numbers_that_are_there(axis: int | None, share: object) -> None:
    x = X.copy()
    x[1, 1] = x[0, 2] = np.nan
    found = np.asarray(keras.ops.nanquantile(x, share, axis))
    np.testing.assert_allclose(found, np.nanquantile(x, share, axis), rtol=1e-6)


def test_the_weighted_mean_of_keras() -> None:
    x, weights = np.float32([[1, 2, 4], [3, 3, 9]]), np.float32([1, 2, 5])
    found = keras.ops.average(x, 1, weights)
    np.testing.assert_allclose(found, np.average(x, 1, weights), rtol=1e-6)


def test_correlations_of_keras() -> None:
    x = np.float32([[1, 2, 4, 3], [2, 1, 7, 9], [0, 4, -2, 1]])
    np.testing.assert_allclose(keras.ops.corrcoef(x), np.corrcoef(x), rtol=1e-5)
    np.testing.assert_allclose(keras.ops.corrcoef(x[0]), 1, rtol=1e-6)


def test_singular_values_of_keras() -> None:
    x = np.float32([[3, 0], [4, 5], [1, 1]])
    u, s, v = keras.ops.svd(x, full_matrices=False)
    np.testing.assert_allclose(np.asarray(u) * np.asarray(s) @ np.asarray(v), x, atol=1e-5)
    np.testing.assert_allclose(keras.ops.svd(x, compute_uv=False), s, rtol=1e-6)


def test_images_of_keras_are_scaled_along_the_axes_that_are_named() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4, 1)
    found = keras.ops.image.scale_and_translate(
        x, (3, 8, 1), np.float32([2]), np.float32([0]), (-2,), "linear"
    )
    assert tuple(found.shape) == (3, 8, 1)
    np.testing.assert_allclose(np.asarray(found)[0, 1:-1, 0], np.arange(0.25, 3, 0.5), atol=1e-6)


def test_a_prefix_that_was_not_there_has_no_probability() -> None:
    losses = importlib.import_module("gravure.frontend.keras.backend.losses")
    into: dict[tuple[int, ...], tuple[float, float]] = {}
    losses._add(into, (1,), math.log(0.25), -math.inf)
    losses._add(into, (1,), math.log(0.5), math.log(0.125))
    np.testing.assert_allclose(np.exp(into[1,]), [0.75, 0.125])


def test_windows_are_those_of_numpy() -> None:
    for count in (1, 2, 5, 8):
        for name, *more in (
            ("bartlett",),
            ("blackman",),
            ("hamming",),
            ("hanning",),
            ("kaiser", 3),
        ):
            found = getattr(making, name)(count, *more)
            wanted = getattr(np, name)(count, *more)
            np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-6, err_msg=name)


def test_what_is_repeated_as_a_whole_may_get_axes() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for repeats in (2, [2], [2, 1], [3, 1, 2], (1, 2)):
        np.testing.assert_array_equal(np.asarray(arrays.tile(x, repeats)), np.tile(x, repeats))


def test_a_square_leads_from_zero_to_the_number_itself() -> None:
    x = np.float32([-2, -1, -0.5, 0, 0.5, 1, 3])
    wanted = np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4))
    np.testing.assert_allclose(np.asarray(activations.sparse_plus(x)), wanted, rtol=1e-6)


def test_casts_of_numbers_round_like_tensorflows_backend() -> None:
    assert float(keras.ops.cast(0.999, "float64")) == float(np.float32(0.999))
    assert float(keras.ops.cast([0.1, 1], "float64")[0]) == float(np.float32(0.1))
    assert float(keras.ops.cast(np.float64(0.1), "float64")) == 0.1
    assert int(keras.ops.cast(2**40, "int64")) == 2**40
    assert float(keras.ops.convert_to_tensor(0.999, "float64")) == 0.999


def entropies(shares: tf.Tensor, truths: tf.Tensor) -> list[tf.Tensor]:
    """Return the losses of what a softmax and a sigmoid gave."""
    given, rows, classes = keras.losses, tf.constant([[1.0, 0, 0]]), tf.constant([0])
    return [
        given.categorical_crossentropy(rows, shares)[0],
        given.sparse_categorical_crossentropy(classes, shares)[0],
        given.binary_crossentropy(rows, truths)[0],
        given.sparse_categorical_crossentropy(classes, truths)[0],
    ]


LOGITS = tf.constant([[-50.0, 30, 20]])
FROM_LOGITS = [80.000046, 80.000046, 33.333332, 80.000046]
FROM_SHARES = [16.118095, 16.118095, 16.000954, 16.811243]


def test_losses_take_the_logits_of_what_activations_of_keras_gave() -> None:
    softmax, sigmoid = keras.activations.softmax(LOGITS), keras.activations.sigmoid(LOGITS)
    np.testing.assert_allclose(entropies(softmax, sigmoid), FROM_LOGITS, rtol=1e-5)
    copies = tf.constant(softmax.numpy()), tf.constant(sigmoid.numpy())
    np.testing.assert_allclose(entropies(*copies), FROM_SHARES, rtol=1e-5)


def test_losses_take_the_logits_of_operations_in_graphs_only() -> None:
    found = entropies(tf.nn.softmax(LOGITS), tf.nn.sigmoid(LOGITS))
    np.testing.assert_allclose(found, FROM_SHARES, rtol=1e-5)

    @tf.function
    def inside(x: tf.Tensor) -> list[tf.Tensor]:
        return entropies(tf.nn.softmax(x), tf.nn.sigmoid(x))

    wanted = [*FROM_LOGITS[:3], FROM_SHARES[3]]  # (a sigmoid is no softmax)
    np.testing.assert_allclose(inside(LOGITS), wanted, rtol=1e-5)


def test_losses_take_logits_of_operations_along_the_last_axis_only() -> None:
    @tf.function
    def inside(x: tf.Tensor, axis: int) -> tf.Tensor:
        return keras.losses.categorical_crossentropy(tf.eye(2), tf.nn.softmax(x, axis))

    logits = tf.constant([[-50.0, 30], [20, 1]])
    np.testing.assert_allclose(inside(logits, 1), [80, 19], rtol=1e-5)
    np.testing.assert_allclose(inside(logits, 0), [16.118095] * 2, rtol=1e-5)


def test_steps_learn_from_shares_that_are_rounded_to_nothing() -> None:
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, activation="softmax")])
    model.layers[0].set_weights([np.array([[-90.0, 60, 30]] * 2), np.zeros(3)])
    model.compile(keras.optimizers.SGD(1.0), "sparse_categorical_crossentropy")
    loss = model.train_on_batch(np.ones((1, 2), "f4"), np.array([0]))
    np.testing.assert_allclose(loss, 300.0)
    np.testing.assert_allclose(model.layers[0].bias.numpy(), [1, -1, 0], atol=1e-6)


def test_a_softmax_that_is_said_to_be_logits_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="produced by a Softmax activation"):
        keras.losses.CategoricalCrossentropy(from_logits=True)(
            tf.constant([[1.0, 0, 0]]), keras.activations.softmax(LOGITS)
        )


def test_numbers_of_keras_follow_tensorflow() -> None:
    ops = keras.ops
    assert int(ops.fori_loop(0, 10, lambda i, x: x + i, np.array(0))) == 45
    assert float(ops.i0(np.float64(1.5))) == pytest.approx(1.6467231897728904, rel=1e-12)
    np.testing.assert_array_equal(ops.linspace(0, 10, tf.constant(5)), [0, 2.5, 5, 7.5, 10])
    infinite = np.array([1.0, np.inf, -np.inf])
    np.testing.assert_array_equal(ops.nanmedian(infinite, axis=()), infinite)
    assert ops.unique(np.array([1.0, np.nan, 2.0, np.nan])).shape == (4,)
    places = ops.unique([2, 1], size=4, fill_value=-1, return_index=True)[1]
    np.testing.assert_array_equal(places, [1, 0, 1, 1])
    columns = ops.unique([[1, 0, 1]], axis=-1, size=4, fill_value=-1)
    np.testing.assert_array_equal(columns, [[0, 1, -1, -1]])
    np.testing.assert_array_equal(
        ops.multi_hot([[0, 2]], 3, dtype="bool"), np.array([[True, False, True]])
    )
    np.testing.assert_allclose(ops.nn.polar(2.0, np.pi / 2), 2j, atol=1e-6)


@pytest.mark.parametrize("wanted", ["int8", "int32"])
def test_a_single_number_has_no_other_bytes(wanted: str) -> None:
    with pytest.raises(ValueError, match=f"seen as {wanted}"):
        keras.ops.view(np.array(1, "int16"), wanted)


def test_no_triangle_squares_to_what_is_not_definite() -> None:
    with pytest.raises(ValueError, match="Cholesky"):
        keras.ops.cholesky(-np.eye(3, dtype="f4"))
    found = tf.function(keras.ops.cholesky)(np.diag([4.0, 9.0]))
    np.testing.assert_allclose(found, np.diag([2.0, 3.0]))
    turned = keras.ops.cholesky(np.array([[2, 1j], [-1j, 2]]), upper=True)
    np.testing.assert_allclose(np.conj(turned).T @ np.asarray(turned), [[2, 1j], [-1j, 2]])


@pytest.mark.parametrize(
    ("name", "kinds", "wanted"),
    [
        ("average", ("int16", "bfloat16"), "bfloat16"),
        ("correlate", ("float16", "int32"), "float16"),
        ("correlate", ("int64", "int32"), "float64"),
        ("correlate", ("bool", "int8"), "float32"),
        ("bincount", ("int8", "int8"), "int8"),
        ("bincount", ("int32", "float16"), "float16"),
    ],
)
def test_types_of_two_are_tensorflows(name: str, kinds: tuple[str, str], wanted: str) -> None:
    x, y = (keras.ops.cast(np.ones(3), kind) for kind in kinds)
    function = getattr(keras.ops, name)
    found = function(x, weights=y) if name != "correlate" else function(x, y)
    assert keras.backend.standardize_dtype(found.dtype) == wanted
