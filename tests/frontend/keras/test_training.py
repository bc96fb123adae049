"""Programs of Keras on gravure: built, trained, evaluated, saved, as their users write them."""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.runtime.comm.local import run_ranks

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gravure.keras as keras

    layers, ops = keras.layers, keras.ops

RANDOM = np.random.RandomState


@pytest.fixture(autouse=True)
def fresh() -> None:
    keras.utils.clear_session()
    keras.utils.set_random_seed(3)


def two_clouds(count: int = 128) -> tuple[Any, Any]:
    labels = RANDOM(0).randint(0, 2, count)
    points = RANDOM(1).randn(count, 4).astype("float32") + 3 * labels[:, None]
    return points.astype("float32"), labels.astype("int32")


def test_the_backend_is_gravure() -> None:
    assert keras.backend.backend() == "gravure"
    assert isinstance(ops.ones((2,)), gv.Tensor)


@pytest.mark.parametrize("eagerly", [False, True])
def test_fit_learns_what_can_be_told_apart(eagerly: bool) -> None:
    x, y = two_clouds()
    model = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(2)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.02), loss, metrics=["accuracy"], run_eagerly=eagerly)
    history = model.fit(x, y, epochs=6, batch_size=32, validation_split=0.25, verbose=0)
    assert set(history.history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert history.history["loss"][-1] < history.history["loss"][0] / 2
    measured = model.evaluate(x, y, verbose=0, return_dict=True)
    assert measured["accuracy"] > 0.9
    predicted = model.predict(x, verbose=0)
    assert isinstance(predicted, np.ndarray)
    assert (predicted.argmax(-1) == y).mean() == pytest.approx(measured["accuracy"], abs=1e-6)


@pytest.mark.parametrize("steps_at_once", [1, 2])
def test_each_evaluation_of_fit_begins_with_the_first_batch(steps_at_once: int) -> None:
    seen: list[list[float]] = []

    class Watched(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.factor = self.add_weight(shape=(), initializer="zeros")

        def call(self, x: Any) -> Any:
            return x * self.factor

        def test_step(self, data: Any) -> Any:
            tf.py_function(lambda x: seen.append(x.numpy()[:, 0].tolist()), [data[0]], [])
            return {"factor": self.factor + 0.0}

    x = np.arange(5, dtype="float32")[:, None]
    model = Watched()
    model.compile(optimizer="sgd", loss="mse", steps_per_execution=steps_at_once)
    held = tf.data.Dataset.from_tensor_slices((x, x)).batch(2)
    learned = {"batch_size": 2, "epochs": 2, "verbose": 0}
    model.fit(x[:4], x[:4], validation_data=held, validation_steps=2, **learned)
    assert seen == [[0.0, 1.0], [2.0, 3.0]] * 2


def test_a_step_is_gradient_descent_as_numpy_computes_it() -> None:
    x, y = RANDOM(0).randn(16, 3).astype("f4"), RANDOM(1).randn(16, 1).astype("f4")
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1, use_bias=False)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    before = model.get_weights()[0]
    loss = model.train_on_batch(x, y)
    away = x @ before - y
    np.testing.assert_allclose(loss, (away**2).mean(), rtol=1e-5)
    wanted = before - 0.1 * 2 * x.T @ away / 16
    np.testing.assert_allclose(model.get_weights()[0], wanted, rtol=1e-5, atol=1e-6)


def test_a_convolutional_network() -> None:
    x = RANDOM(0).rand(32, 8, 8, 1).astype("f4")
    y = (x[:, :4].mean((1, 2, 3)) > x[:, 4:].mean((1, 2, 3))).astype("i4")
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(8, 3, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.Activation("relu"),
            layers.SeparableConv2D(8, 3, strides=2),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.1),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy", metrics=["AUC"])
    moving = model.layers[1].moving_mean.numpy().copy()
    losses = model.fit(x, y, epochs=15, batch_size=8, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    assert not np.array_equal(moving, model.layers[1].moving_mean.numpy())


def test_a_transformer_with_shared_embeddings() -> None:
    words = RANDOM(0).randint(1, 20, (32, 6))
    wanted = words[:, ::-1].copy()
    given = keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 16)(given)
    x = x + layers.Embedding(6, 16)(ops.arange(6))
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x))
    x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, activation="gelu")(x)))
    model = keras.Model(given, layers.Dense(20)(x))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.AdamW(0.02, clipnorm=1.0), loss)
    losses = model.fit(words, wanted, epochs=20, batch_size=16, verbose=0).history["loss"]
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("cell", ["LSTM", "GRU", "SimpleRNN"])
def test_masked_sequences(cell: str) -> None:
    """What is masked changes nothing: a row with zeros behind it is the row by itself."""
    layer = getattr(layers, cell)(5, return_sequences=True)
    x = RANDOM(0).randn(2, 4, 3).astype("f4")
    longer = np.concatenate([x, np.zeros((2, 2, 3), "f4")], 1)
    mask = np.array([[True] * 4 + [False] * 2] * 2)
    short, whole = layer(x), layer(longer, mask=mask)
    np.testing.assert_allclose(whole[:, :4], short, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(whole[:, 5], short[:, 3], rtol=1e-5, atol=1e-6)


def test_bidirectional_and_backwards() -> None:
    x = RANDOM(0).randn(2, 5, 3).astype("f4")
    forward = layers.LSTM(4, return_sequences=True)
    both = layers.Bidirectional(forward)
    made = ops.convert_to_numpy(both(x))
    assert made.shape == (2, 5, 8)
    backward = both.backward_layer
    turned = ops.convert_to_numpy(backward(x))[:, ::-1]
    np.testing.assert_allclose(made[..., 4:], turned, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ending", ["keras", "weights.h5"])
def test_what_is_saved_is_loaded(tmp_path: Path, ending: str) -> None:
    x, y = two_clouds()

    def built() -> Any:
        model = keras.Sequential([keras.Input((4,)), layers.Dense(6, "tanh"), layers.Dense(1)])
        model.compile("adam", "mse")
        return model

    model = built()
    model.fit(x, y, epochs=1, verbose=0)
    path = tmp_path / f"model.{ending}"
    if ending == "keras":
        model.save(path)
        again = keras.models.load_model(path)
        np.testing.assert_array_equal(again.optimizer.iterations, model.optimizer.iterations)
    else:
        model.save_weights(path)
        again = keras.Sequential([keras.Input((4,)), layers.Dense(6, "tanh"), layers.Dense(1)])
        again.load_weights(path)
    np.testing.assert_array_equal(again.predict(x, verbose=0), model.predict(x, verbose=0))


def test_callbacks_see_every_batch_and_stop(tmp_path: Path) -> None:
    x, y = two_clouds(64)
    seen: list[int] = []
    model = keras.Sequential([layers.Dense(1)])
    model.compile("sgd", "mse")
    own = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))
    kept = keras.callbacks.ModelCheckpoint(tmp_path / "{epoch}.keras")
    stop = keras.callbacks.EarlyStopping("loss", patience=0, min_delta=1e9)
    history = model.fit(x, y, batch_size=16, epochs=9, verbose=0, callbacks=[own, kept, stop])
    assert len(history.history["loss"]) == 2
    assert seen == [0, 1, 2, 3] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.keras", "2.keras"]


def test_weights_of_classes_and_examples() -> None:
    x, y = two_clouds(32)
    model = keras.Sequential([keras.Input((4,)), layers.Dense(1, activation="sigmoid")])
    model.compile("sgd", "binary_crossentropy")
    plain = model.evaluate(x, y, verbose=0, batch_size=32)
    weights = np.where(y == 1, 3.0, 1.0).astype("f4")
    shares = model.predict(x, verbose=0)[:, 0].clip(1e-7, 1 - 1e-7)
    each = -np.where(y == 1, np.log(shares), np.log(1 - shares))
    assert plain == pytest.approx(each.mean(), rel=1e-5)
    weighted = model.evaluate(x, y, sample_weight=weights, verbose=0, batch_size=32)
    assert weighted == pytest.approx((each * weights).mean(), rel=1e-5)
    noted = model.train_on_batch(x, y, class_weight={0: 1.0, 1: 3.0})
    assert noted == pytest.approx(weighted, rel=1e-5)


def test_a_step_of_ones_own() -> None:
    """Tapes know Keras's variables, and a step of a user is compiled as Keras's own."""

    class Own(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(1)

        def call(self, x: Any) -> Any:
            return self.dense(x)

        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with gv.GradientTape() as tape:
                loss = ops.mean(ops.square(self(x) - y))
            weights = self.trainable_variables
            self.optimizer.apply(tape.gradient(loss, weights), weights)
            return {"own": loss}

    x, y = two_clouds(64)
    model = Own()
    model.compile(keras.optimizers.Adam(0.05))
    whole = y[:, None].astype("f4")
    history = model.fit(x, whole, batch_size=64, epochs=30, verbose=0).history["own"]
    assert history[-1] < history[0] / 2


def test_data_sets_and_generators() -> None:
    x, y = two_clouds(48)
    model = keras.Sequential([layers.Dense(1)])
    model.compile("sgd", "mse")

    class Batches(keras.utils.PyDataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> Any:
            rows = slice(16 * index, 16 * index + 16)
            return x[rows], y[rows]

    def generated() -> Any:
        for row in range(0, 48, 16):
            yield x[row : row + 16], y[row : row + 16]

    whole = model.evaluate(x, y, batch_size=16, verbose=0)
    assert model.evaluate(Batches(), verbose=0) == pytest.approx(whole, rel=1e-6)
    assert model.evaluate(generated(), steps=3, verbose=0) == pytest.approx(whole, rel=1e-6)


def test_mixed_precision_keeps_its_weights_in_float32() -> None:
    x, y = two_clouds(32)
    model = keras.Sequential([layers.Dense(4, dtype="mixed_bfloat16"), layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y, epochs=2, verbose=0)
    assert {weight.dtype for weight in model.weights} == {"float32"}
    assert ops.dtype(model.layers[0](x)) == "bfloat16"


def test_the_order_of_random_numbers_is_that_of_the_seed() -> None:
    def losses() -> list[float]:
        keras.utils.clear_session()
        keras.utils.set_random_seed(11)
        x, y = two_clouds(64)
        model = keras.Sequential([layers.Dense(8), layers.Dropout(0.5), layers.Dense(1)])
        model.compile("adam", "mse")
        found: list[float] = model.fit(x, y, epochs=3, verbose=0).history["loss"]
        return found

    assert losses() == losses()


def test_an_exported_model_is_loaded_again(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3), layers.Dense(1)])
    model.export(tmp_path / "model", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    x = tf.ones([2, 4])
    np.testing.assert_allclose(loaded.serve(x), model(x), rtol=1e-6)
    signature = loaded.signatures["serving_default"]
    np.testing.assert_allclose(signature(x)["output_0"], model(x), rtol=1e-6)
    assert signature.structured_outputs["output_0"].shape.as_list() == [None, 1]
    archive = keras.export.ExportArchive()
    archive.add_endpoint("twice", lambda a: model(a) * 2, [keras.InputSpec("float32", (None, 4))])
    with pytest.raises(ValueError, match="already taken"):
        archive.add_endpoint("twice", lambda a: a, [keras.InputSpec("float32", (None, 4))])
    archive.write_out(tmp_path / "two", verbose=False)
    again = tf.saved_model.load(str(tmp_path / "two"))
    np.testing.assert_allclose(again.twice(x), 2 * model(x), rtol=1e-6)


def test_keras_on_another_backend_is_named() -> None:
    program = (
        "import sys, types\n"
        "sys.modules['keras.src.backend'] = found = types.ModuleType('backend')\n"
        "found.backend = lambda: 'torch'\n"
        "import gravure.keras"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "keras was imported before and runs on torch" in done.stderr
    assert "import gravure.keras before keras" in done.stderr


def test_the_name_of_the_backend_is_not_left_behind() -> None:
    program = "import os, gravure.keras; print(os.environ.get('KERAS_BACKEND'))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "None"


def test_shapes_that_are_not_known_stay_so() -> None:
    given = keras.KerasTensor((None, 4))
    assert ops.mean(given, 0).shape == (4,)
    assert ops.matmul(given, keras.KerasTensor((4, 3))).shape == (None, 3)
    assert ops.scan(lambda c, x: (c + x, c), keras.KerasTensor(()), keras.KerasTensor((3,)))[
        1
    ].shape == (3,)
    assert ops.while_loop(lambda x: ops.sum(x) < 3, lambda x: x + 1, (given,))[0].shape == (None, 4)
    assert layers.Conv2D(5, 3, padding="same")(keras.KerasTensor((None, None, None, 4))).shape == (
        None,
        None,
        None,
        5,
    )


def test_ranks_take_their_rows_of_each_batch() -> None:
    x = np.arange(12, dtype=np.float32).reshape(6, 2) / 12

    def run(comm: Any) -> Any:
        with gv.tf.distribute.MultiWorkerMirroredStrategy().scope():
            model = keras.Sequential([layers.Input((2,)), layers.Dense(1, "linear", True, "ones")])
            model.compile("sgd", "mse")
        losses = model.fit(x, x[:, :1], batch_size=5, epochs=2, verbose=0, shuffle=False)
        return [losses.history["loss"], *model.get_weights()]

    [alone], (first, second) = run_ranks(1, run), run_ranks(2, run)
    for one, a, b in zip(alone, first, second, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, one, rtol=1e-6)
