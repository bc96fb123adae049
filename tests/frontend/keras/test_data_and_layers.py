"""What Keras does with pipelines, sparse tensors, scans, saved models and optimisers of others."""

import inspect
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from gravure import keras

ops, layers = keras.ops, keras.layers
X = np.random.default_rng(0).normal(size=(12, 4)).astype("f4")
CLASSES = np.arange(12) % 3


@pytest.mark.parametrize(
    ("y", "loss"),
    [
        (CLASSES, "sparse_categorical_crossentropy"),
        (CLASSES[:, None], "sparse_categorical_crossentropy"),
        (np.eye(3)[CLASSES], "categorical_crossentropy"),
    ],
    ids=["rows", "columns", "shares"],
)
def test_classes_of_a_pipeline_are_weighed(y: np.ndarray, loss: str) -> None:
    found = []
    for data in (X, y), (tf.data.Dataset.from_tensor_slices((X, y)).batch(5), None):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([layers.Dense(3, "softmax")])
        model.compile("sgd", loss)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a pipeline is not shuffled
            history = model.fit(
                *data, batch_size=None if data[1] is None else 5, shuffle=False, verbose=0,
                class_weight={0: 1, 1: 2, 2: 3},
            )  # fmt: skip
        found.append(history.history["loss"])
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_a_pipeline_is_split() -> None:
    one, two = keras.utils.split_dataset(tf.data.Dataset.range(10), left_size=0.8)
    assert [*map(int, one)] == [*range(8)]
    assert [*map(int, two)] == [8, 9]


def test_epochs_shuffle_a_pipeline_as_with_tensorflow() -> None:
    class Order(keras.Model):
        def train_step(self, data: tf.Tensor) -> dict[str, tf.Tensor]:
            return {"order": tf.reduce_sum(tf.cast(data, tf.float32) * [1.0, 10.0, 100.0, 1000.0])}

    data = tf.data.Dataset.range(8).shuffle(8, seed=2).batch(4)
    found: list[int] = []
    noted = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: found.append(round(float(logs["order"])))
    )
    model = Order()
    model.compile("sgd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a pipeline is not shuffled
        model.fit(data, epochs=3, verbose=0, callbacks=[noted])
    assert found == [5470, 3126, 5701, 2436, 4037, 2516]  # what TensorFlow 2.21 gives


def test_a_data_set_chooses_its_order_anew_before_and_behind_epochs() -> None:
    class Rows(keras.utils.PyDataset):
        ends = 0

        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
            return X[:4], X[:4, :1]

        def on_epoch_end(self) -> None:
            self.ends += 1

    rows = Rows()
    model = keras.Sequential([layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(rows, epochs=2, verbose=0, shuffle=False)
    assert rows.ends == 3
    assert model.get_compile_config()["jit_compile"] is False


@pytest.mark.parametrize(
    ("layer", "given", "wanted"),
    [
        (
            lambda: layers.StringLookup(
                vocabulary=["a", "b"], output_mode="multi_hot", sparse=True
            ),
            [["a", "z"], ["b", "b"]],
            [[1, 1, 0], [0, 0, 1]],
        ),
        (
            lambda: layers.IntegerLookup(vocabulary=[4, 5], output_mode="count", sparse=True),
            [[4, 5, 5], [9, 9, 4]],
            [[0, 1, 2], [2, 1, 0]],
        ),
        (
            lambda: layers.CategoryEncoding(4, "multi_hot", sparse=True),
            [[0, 1], [3, 3]],
            [[1, 1, 0, 0], [0, 0, 0, 1]],
        ),
    ],
    ids=["texts", "numbers", "categories"],
)
def test_categories_may_be_sparse(
    layer: Callable[[], object], given: object, wanted: object
) -> None:
    found = layer()(given)
    assert isinstance(found, tf.SparseTensor)
    np.testing.assert_array_equal(tf.sparse.to_dense(found), wanted)
    crossed = layers.HashedCrossing(5, output_mode="one_hot", sparse=True)
    assert isinstance(crossed((["a", "b"], ["c", "d"])), tf.SparseTensor)
    assert isinstance(ops.bincount([1, 1, 3], sparse=True), tf.SparseTensor)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("count", [3, 14])
def test_a_scan_of_any_length(count: int, reverse: bool) -> None:
    rows = np.random.default_rng(1).random((count, 3)).astype("f4")

    def scanned(x: object) -> object:
        def step(state: tuple[object, object], row: object) -> tuple[object, object]:
            return (state[0] + row, state[1] + 1), {"y": state[0] * row, "n": state[1]}

        return ops.scan(step, (ops.zeros((3,)), 0), x, reverse=reverse)

    total, made, order = np.zeros(3, "f4"), np.zeros((count, 3), "f4"), np.arange(count)
    for i in order[::-1] if reverse else order:
        made[i] = total * rows[i]
        total += rows[i]
    open_ = tf.function(scanned, input_signature=[tf.TensorSpec((None, 3))])
    for function in (scanned, tf.function(scanned), open_):
        (last, number), found = function(tf.constant(rows))
        np.testing.assert_allclose(last, total, rtol=1e-5)
        np.testing.assert_allclose(found["y"], made, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(found["n"], order[::-1] if reverse else order)
        assert int(number) == count
    assert ops.map(ops.max, tf.constant(rows)).shape == (count,)


def test_gradients_go_back_through_a_long_scan() -> None:
    rows = tf.constant(np.random.default_rng(1).random((14, 3)).astype("f4"))

    def slope(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = ops.scan(lambda c, row: (c * 0.5 + row, c * row), ops.zeros((3,)), x)[1]
            loss = ops.sum(made**2)
        return tape.gradient(loss, x)

    np.testing.assert_allclose(tf.function(slope)(rows), slope(rows), rtol=1e-5)


def test_a_label_may_have_the_number_of_the_blank() -> None:
    logits = (np.arange(24, dtype=np.float32).reshape(2, 4, 3) - 12) / 100
    labels = np.array([[1, 2, 1, 0], [1, 2, 0, 2]])
    assert float(keras.losses.CTC()(labels, logits)) == pytest.approx(2.448645, rel=1e-5)


def test_what_stands_around_may_be_told_in_the_run() -> None:
    @tf.function(input_signature=[tf.TensorSpec((None,)), tf.TensorSpec((), "int32")])
    def padded(x: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
        return ops.pad(x, [[1, ops.maximum(count, 0)]], constant_values=7)

    np.testing.assert_array_equal(padded(tf.ones(2), 2), [7, 1, 1, 7, 7])


def test_a_shape_is_a_row_of_numbers() -> None:
    dense = layers.Dense(3)
    dense.build((None, 2))
    assert int(ops.prod(dense.kernel.shape)) == 6
    np.testing.assert_array_equal(ops.convert_to_tensor(tf.TensorShape([2, 3])), [2, 3])


@pytest.mark.parametrize("name", ["sort", "log2", "exp2", "trunc", "diff", "stop_gradient"])
def test_results_are_tensors_of_tensorflow(name: str) -> None:
    assert isinstance(getattr(ops, name)(X), tf.Tensor)


def test_what_is_computed_again_takes_options() -> None:
    remat = import_module("keras.src.backend").core.remat
    np.testing.assert_allclose(remat(lambda x, scale: x * scale)(X, scale=2.0), X * 2)
    kept = remat(layers.ReLU())
    assert inspect.getfullargspec(kept).args is not None
    np.testing.assert_array_equal(layers.Lambda(kept)(X), np.maximum(X, 0))


def test_weights_of_a_scope_are_those_that_an_optimizer_of_several_knows() -> None:
    weights = [keras.Variable([[2.0]], name="one"), keras.Variable([[3.0]], name="two")]
    slow, fast = (keras.optimizers.SGD(rate) for rate in (0.1, 1.0))
    of_each = keras.optimizers.OptimizerMap(default_optimizer=fast)
    of_each["^one"] = slow
    every = keras.optimizers.MultiOptimizer(of_each)
    every.build(weights)
    given = [w.numpy() for w in weights]
    slopes = [tf.ones((1, 1))] * 2
    after, _ = every.stateless_apply([v.numpy() for v in every.variables], slopes, given)
    np.testing.assert_allclose(np.ravel(after), [1.9, 2.0], rtol=1e-6)


def test_a_saved_model_is_a_layer(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(2)])
    model.export(str(tmp_path), verbose=False)
    layer = layers.TFSMLayer(str(tmp_path), call_endpoint="serving_default")
    assert len(layer.weights) == 2
    (found,) = keras.tree.flatten(layer(X))
    np.testing.assert_allclose(found, model(X), rtol=1e-5)


def test_a_variable_of_tensorflow_is_shared() -> None:
    given = tf.Variable([1.0, 2.0])
    mine = keras.Variable(given)
    mine.assign([3.0, 4.0])
    np.testing.assert_array_equal(given, [3, 4])
