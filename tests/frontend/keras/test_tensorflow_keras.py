"""`gravure.tf.keras` is Keras: programs for TensorFlow, and the values that they give there.

The numbers were recorded from TensorFlow 2.21, with the same weights and data.
"""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    keras = tf.keras

RANDOM = np.random.RandomState
pytestmark = pytest.mark.filterwarnings("ignore:`shuffle=True` was passed")


def weigh(model: Any, seed: int = 0) -> None:
    """Give a model weights that depend on nothing but a seed."""
    drawn = RANDOM(seed)
    model.set_weights([drawn.randn(*w.shape).astype("f4") * 0.2 for w in model.get_weights()])


def test_the_modules_are_those_of_keras() -> None:
    import gravure.tf.keras.backend as numbers  # noqa: PLC0415
    from gravure.tf.keras.layers import Dense  # noqa: PLC0415
    from gravure.tf.losses import MSE  # noqa: PLC0415

    import gravure.keras  # noqa: PLC0415

    assert Dense is gravure.keras.layers.Dense
    assert tf.optimizers.Adam is keras.optimizers.Adam is gravure.keras.optimizers.Adam
    assert tf.metrics is keras.metrics
    assert MSE is tf.losses.MSE
    assert numbers.mean is keras.backend.mean
    with pytest.raises(ImportError, match=r"gravure\.tf\.keras\.nothing"):
        import gravure.tf.keras.nothing  # noqa: PLC0415


@pytest.mark.parametrize(
    ("name", "options", "sums"),
    [
        ("RandomCrop", {"height": 4, "width": 5, "seed": 1}, [961.15937, 863.50928, 868.99376]),
        ("Normalization", {"mean": 1.0, "variance": 2.0}, [-7742.6148, -7727.2134, -8436.7869]),
        (
            "Resizing",
            {"height": 4, "width": 5, "crop_to_aspect_ratio": True},
            [978.08923, 888.63209, 845.6362],
        ),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_layers_change_the_elements_of_pipelines(name, options, sums, known) -> None:
    images = np.random.default_rng(0).random((3, 8, 9, 3)).astype("f4")
    sizes = (8, 9) if known or name == "RandomCrop" else (None, None)
    spec = tf.TensorSpec([*sizes, 3])
    layer = getattr(keras.layers, name)
    made = tf.data.Dataset.from_generator(lambda: iter(images), output_signature=spec)
    found = [
        np.sum(np.asarray(x).ravel() * np.arange(np.size(x))) for x in made.map(layer(**options))
    ]
    np.testing.assert_allclose(found, sums, rtol=1e-5)


def test_without_keras_the_package_is_named() -> None:
    program = (
        "import importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'keras' else find(name, *rest)\n"
        "import gravure.tf as tf\n"
        "print(tf.keras.optimizers.SGD, tf.optimizers.SGD)\n"
        "try:\n    tf.keras.Sequential\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install gravure[keras]" in done.stdout
    assert done.stdout.count("gravure") >= 2


def test_a_convolutional_net_over_a_data_set() -> None:
    drawn = RANDOM(1)
    x, y = drawn.rand(64, 16, 16, 3).astype("float32"), drawn.randint(0, 4, (64, 1))
    ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).cache().prefetch(tf.data.AUTOTUNE)
    model = keras.Sequential()
    model.add(keras.Input(shape=(16, 16, 3)))
    model.add(keras.layers.Rescaling(2.0, offset=-1))
    model.add(keras.layers.Conv2D(8, (3, 3), activation="relu"))
    model.add(keras.layers.MaxPooling2D((2, 2)))
    model.add(keras.layers.Conv2D(8, (3, 3), activation="relu"))
    model.add(keras.layers.GlobalAveragePooling2D())
    model.add(keras.layers.Dense(4))
    weigh(model)
    model.compile(
        optimizer=keras.optimizers.SGD(0.1, momentum=0.9),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    found = model.fit(ds, epochs=2, validation_data=ds, verbose=0).history
    np.testing.assert_allclose(found["loss"], [1.4099, 1.3646], rtol=1e-4)
    np.testing.assert_allclose(found["val_loss"], [1.3786, 1.3469], rtol=1e-4)
    assert found["val_acc"] == [0.28125, 0.34375]
    again = model.fit(ds.repeat(), epochs=1, steps_per_epoch=3, verbose=0).history
    np.testing.assert_allclose(again["loss"], [1.3724], rtol=1e-4)


class Adversaries(keras.Model):  # type: ignore[misc]
    """Two nets that train against each other; it has no `call`."""

    def __init__(self, discriminator: Any, generator: Any) -> None:
        super().__init__()
        self.discriminator, self.generator = discriminator, generator
        self.d_loss = keras.metrics.Mean(name="d_loss")
        self.g_loss = keras.metrics.Mean(name="g_loss")

    def compile(self, d_optimizer: Any, g_optimizer: Any, loss_fn: Any) -> None:
        super().compile()
        self.d_optimizer, self.g_optimizer, self.loss_fn = d_optimizer, g_optimizer, loss_fn

    @property
    def metrics(self) -> list[Any]:
        return [self.d_loss, self.g_loss]

    def train_step(self, real: Any) -> dict[str, Any]:
        count = tf.shape(real)[0]
        noise = tf.fill((count, 2), 0.3)
        both = tf.concat([self.generator(noise), real], axis=0)
        labels = tf.concat([tf.ones((count, 1)), tf.zeros((count, 1))], axis=0)
        with tf.GradientTape() as tape:
            d_loss = self.loss_fn(labels, self.discriminator(both))
        weights = self.discriminator.trainable_weights
        self.d_optimizer.apply_gradients(zip(tape.gradient(d_loss, weights), weights, strict=True))
        with tf.GradientTape() as tape:
            judged = self.discriminator(self.generator(noise))
            g_loss = self.loss_fn(tf.zeros((count, 1)), judged)
        weights = self.generator.trainable_weights
        self.g_optimizer.apply_gradients(zip(tape.gradient(g_loss, weights), weights, strict=True))
        self.d_loss.update_state(d_loss)
        self.g_loss.update_state(g_loss)
        return {"d_loss": self.d_loss.result(), "g_loss": self.g_loss.result()}


def test_a_model_that_has_a_step_and_no_call() -> None:
    dense = keras.layers.Dense
    judge = keras.Sequential([keras.Input((4,)), dense(8, activation="relu"), dense(1)])
    maker = keras.Sequential([keras.Input((2,)), dense(8, activation="relu"), dense(4)])
    weigh(judge)
    weigh(maker, 1)
    model = Adversaries(judge, maker)
    model.compile(
        keras.optimizers.Adam(0.003),
        keras.optimizers.Adam(0.003),
        keras.losses.BinaryCrossentropy(from_logits=True),
    )
    drawn = RANDOM(0)
    drawn.random_sample((100, 8)), drawn.random_sample((100, 1)), drawn.random_sample((100, 1))
    rows = tf.data.Dataset.from_tensor_slices(drawn.rand(40, 4).astype("f4")).batch(16)
    found = model.fit(rows, epochs=2, verbose=0).history
    np.testing.assert_allclose(found["d_loss"], [0.68712, 0.68228], rtol=1e-4)
    np.testing.assert_allclose(found["g_loss"], [0.54763, 0.54936], rtol=1e-4)


def test_an_optimiser_of_keras_changes_variables_of_tensorflow() -> None:
    optimizer = keras.optimizers.Adam(0.01)
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v**2) * w
        optimizer.apply_gradients(zip(tape.gradient(loss, [v, w]), [v, w], strict=True))
        return loss

    losses = [float(step()) for _ in range(3)]
    np.testing.assert_allclose(losses, [15, 14.771, 14.545], rtol=1e-4)
    np.testing.assert_allclose(v.numpy(), [0.97001, 1.97], rtol=1e-4)
    assert int(optimizer.iterations) == 3


@pytest.mark.parametrize("staged", [False, True])
def test_rows_of_gradients_are_squared_before_they_are_added_up(staged: bool) -> None:
    rows, optimizer = tf.Variable(np.ones((4, 2), "f4")), keras.optimizers.Adam(0.1)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(rows, [1, 1, 3]) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, rows), rows)])

    (tf.function(step) if staged else step)()
    np.testing.assert_allclose(rows.numpy()[:, 0], [1, 0.85858, 1, 0.9], rtol=1e-4)


class Net(keras.Model):  # type: ignore[misc]
    """A model whose layers are in attributes, lists and other models."""

    def __init__(self) -> None:
        super().__init__()
        self.first = keras.layers.Dense(3)
        inner = keras.Sequential([keras.layers.Dense(4), keras.layers.BatchNormalization()])
        self.rest = [keras.layers.Dense(2), inner]
        self.scale = keras.Variable(3.0)

    def call(self, x: Any) -> Any:
        return self.rest[1](self.rest[0](self.first(x))) * self.scale


def test_checkpoints_keep_models_and_optimisers_also_before_they_are_built(tmp_path: Path) -> None:
    x = np.ones((4, 5), "f4")

    def made() -> tuple[Any, Any, Any, Any]:
        model, optimizer = Net(), keras.optimizers.Adam(0.1)
        kept = tf.train.Checkpoint(step=tf.Variable(1), optimizer=optimizer, net=model)

        @tf.function
        def step() -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(x, training=True) ** 2)
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

        return model, optimizer, kept, step

    model, optimizer, kept, step = made()
    step()
    step()
    kept.save(str(tmp_path / "ckpt"))
    again, its_optimizer, its_kept, its_step = made()
    status = its_kept.restore(tf.train.latest_checkpoint(str(tmp_path)))
    step()
    its_step()
    wanted = [*model.weights, *optimizer.variables]
    found = [*again.weights, *its_optimizer.variables]
    for a, b in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy(), err_msg=a.path)
    status.assert_consumed()


class Holder(keras.Model):  # type: ignore[misc]
    """A model that holds variables and modules that are not Keras's."""

    def __init__(self, start: float) -> None:
        super().__init__()
        self.plain = tf.Variable(start)
        self.listed = [tf.Variable(start + 1), keras.layers.Dense(1)]
        self.named = {"one": tf.Variable(start + 2)}
        self.module = tf.Module()
        self.module.inside = tf.Variable(start + 3)

    def call(self, x: Any) -> Any:
        return self.listed[1](x) * self.plain


def test_checkpoints_keep_what_is_not_of_keras_by_the_names_of_attributes(tmp_path: Path) -> None:
    x = np.ones((2, 3), "f4")
    model = Holder(1.0)
    model(x)
    path = tf.train.Checkpoint(net=model).save(str(tmp_path / "ckpt"))
    names = {
        name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE")
        for name, _ in tf.train.list_variables(path)
    }
    assert {"net/plain", "net/listed/0", "net/listed/1/bias", "net/named/one"} <= names
    assert "net/module/inside" in names
    again = Holder(7.0)
    tf.train.Checkpoint(net=again).restore(path).assert_existing_objects_matched()
    kept = [again.plain, again.listed[0], again.named["one"], again.module.inside]
    assert [float(each) for each in kept] == [1, 2, 3, 4]
    np.testing.assert_array_equal(again(x), model(x))


def test_one_weight_of_a_checkpoint_is_restored_by_the_names_on_the_way(tmp_path: Path) -> None:
    model = Holder(1.0)
    model(np.ones((2, 3), "f4"))
    model.listed[1].bias.assign([5.0])
    path = tf.train.Checkpoint(net=model).save(str(tmp_path / "ckpt"))
    bias = tf.Variable([0.0])
    layer = tf.train.Checkpoint(bias=bias)
    root = tf.train.Checkpoint(net=tf.train.Checkpoint(listed={"1": layer}))
    root.restore(path).assert_existing_objects_matched()
    assert bias.numpy().tolist() == [5]


def test_a_compiled_model_is_kept_with_its_optimiser(tmp_path: Path) -> None:
    def made() -> Any:
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.Adam(0.1), "mse")
        return model

    x, y = np.ones((4, 3), "f4"), np.ones((4, 1), "f4")
    model, again = made(), made()
    model.fit(x, y, epochs=2, verbose=0)
    path = tf.train.Checkpoint(model).save(str(tmp_path / "ckpt"))
    tf.train.Checkpoint(again).restore(path)
    for each in (model, again):
        each.fit(x, y, verbose=0, shuffle=False)
    for a, b in zip(model.weights, again.weights, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_what_is_padded_by_no_number_of_its_own_is_compiled() -> None:
    layer = keras.layers.ZeroPadding2D(1)
    x = np.ones((1, 2, 2, 1), "f4")
    assert tf.function(layer)(x).numpy().sum() == 4
    filled = tf.function(lambda x, by: keras.ops.pad(x, ((0, 0), (1, 1)), constant_values=by))
    assert filled(tf.ones((2, 2)), 3.0).numpy().tolist() == [[3, 1, 1, 3]] * 2


def test_attention_over_rows_of_open_length() -> None:
    layer = keras.layers.MultiHeadAttention(2, 4)
    x = RANDOM(0).rand(2, 5, 8).astype("f4")

    @tf.function(input_signature=[tf.TensorSpec([None, None, 8], tf.float32)])
    def attended(x: Any) -> Any:
        return layer(x, x, use_causal_mask=True)

    for given in (x, x[:, :3]):
        wanted = layer(given, given, use_causal_mask=True)
        np.testing.assert_allclose(attended(given), wanted, rtol=1e-5, atol=1e-6)


def test_the_metrics_of_a_batch_are_of_this_batch_alone() -> None:
    drawn = RANDOM(0)
    x, y = drawn.rand(20, 3).astype("f4"), drawn.randint(0, 2, 20).astype("f4")[:, None]
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    whole = model.evaluate(x, y, verbose=0)
    model.fit(x[:5], y[:5], verbose=0)
    assert model.train_on_batch(x, y) == pytest.approx(whole, rel=1e-5)
    assert model.test_on_batch(x, y) == pytest.approx(whole, rel=1e-5)


def test_importing_keras_draws_no_numbers_of_the_program():
    code = """
import random
import numpy as np
import gravure.tf as tf
np.random.seed(0)
random.seed(0)
tf.keras.optimizers
print(np.random.get_state()[2], random.random())
np.random.seed(0)
random.seed(0)
print(np.random.get_state()[2], random.random())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == second


@pytest.mark.parametrize("mode", ["int", "one_hot", "multi_hot", "count"])
def test_buckets_of_an_open_batch(mode: str) -> None:
    given = keras.Input((1,))
    layer = keras.layers.Discretization(bin_boundaries=[30.0, 45.0, 60.0], output_mode=mode)
    model = keras.Model(given, layer(given))
    staged = tf.function(model, input_signature=[tf.TensorSpec([None, 1])])
    wanted = [[1], [3]] if mode == "int" else [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert staged(tf.constant([[31.0], [70.0]])).numpy().tolist() == wanted


def test_pairs_of_words_in_ragged_rows() -> None:
    layer = keras.layers.TextVectorization(ngrams=2, ragged=True, vocabulary=["a b", "c", "a"])
    found = layer(tf.constant(["a b c", "c"]))
    assert isinstance(found, tf.RaggedTensor)
    assert found.to_list() == [[4, 1, 3, 2, 1], [3]]


def test_errors_of_layers_are_not_wrapped_in_themselves() -> None:
    layer = keras.layers.Lambda(lambda x: tf.reshape(tf.ragged.stack([x]), [-1]))
    with pytest.raises(ValueError, match=r"^Exception enc[^\]]*Attempt to convert a value"):
        layer(tf.constant([1.0]))


def test_scikit_learn_is_imported_by_who_uses_it():
    pytest.importorskip("sklearn")
    code = (
        "import sys, gravure.tf as tf; tf.keras.Sequential();"
        "assert 'sklearn' not in sys.modules;"
        "assert tf.keras.wrappers.SKLearnClassifier;"
        "assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_draws_without_a_seed_follow_one_another_as_in_tensorflow():
    keras.utils.set_random_seed(1)
    found = [keras.random.uniform([2]).numpy() for _ in range(2)]
    wanted = [[0.25899982, 0.8624469], [0.06352484, 0.39069474]]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("shuffle", "wanted"),
    [(True, [4.1313953, 0.7934141, 0.3552110]), ("batch", [1.7814225, 1.4110758, 0.7609032])],
)
def test_fit_takes_rows_in_the_order_of_tensorflow(shuffle, wanted):
    x, y = np.arange(24, dtype="f").reshape(8, 3) / 24, np.arange(8, dtype="f")[:, None]
    keras.utils.set_random_seed(1)
    dense = keras.layers.Dense(1, kernel_initializer="ones")
    model = keras.Sequential([keras.Input((3,)), dense])
    model.compile(keras.optimizers.SGD(0.3), "mse")
    found = model.fit(x, y, batch_size=3, epochs=3, verbose=0, shuffle=shuffle)
    np.testing.assert_allclose(found.history["loss"], wanted, rtol=1e-5)
    assert np.random.rand() == RANDOM(1).rand()  # which is the program's


def test_values_of_weights_are_variables_of_tensorflow():
    weight = keras.Variable([1.0, 2.0, 3.0])
    assert isinstance(weight.value, tf.Variable)
    weight[0].assign(5.0)
    weight.value.scatter_nd_add([[1]], [4.0])

    class Counts(keras.metrics.Metric):
        def __init__(self):
            super().__init__()
            self.counts = self.add_weight(name="counts", shape=(4,), initializer="zeros")

        @tf.function
        def update_state(self, places):
            for place in places:
                if place > 0:
                    self.counts[place].assign(self.counts[place] + 1.0)

        def result(self):
            return self.counts.value + 0.0

    counts = Counts()
    for _ in range(3):
        counts.update_state(tf.constant([1, 0, 3, 1]))
    assert weight.numpy().tolist() == [5, 6, 3]
    assert counts.result().numpy().tolist() == [0, 6, 0, 3]


def test_sparse_and_ragged_tensors_are_tensors_of_layers() -> None:
    class Spread(keras.layers.Layer):
        def call(self, x: Any, graph: Any) -> Any:
            return tf.sparse.sparse_dense_matmul(keras.ops.cast(graph, "float32"), x)

    graph = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 2])
    assert Spread()(tf.ones([2, 3]), graph).numpy().tolist() == [[1.0] * 3, [2.0] * 3]
    rows = tf.ragged.constant([[1, 2], [3]])
    for x, whole in ((graph, [[0, 1], [2, 0]]), (rows, [[1, 2], [3, 0]])):
        assert keras.ops.is_tensor(x)
        assert type(keras.ops.convert_to_tensor(x, "float32")) is type(x)
        assert keras.ops.convert_to_tensor(x, "float32").dtype == tf.float32
        assert keras.ops.convert_to_numpy(x).tolist() == whole
        dense = keras.ops.convert_to_tensor(x, sparse=False, ragged=False)
        assert dense.numpy().tolist() == whole


def test_an_optimiser_of_the_first_version_changes_variables_of_keras() -> None:
    layer = keras.layers.Dense(1, kernel_initializer="ones")
    layer.build([None, 2])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant([[1.0, 2.0]])))
    slopes = tape.gradient(loss, layer.trainable_variables)
    momentum = tf.compat.v1.train.MomentumOptimizer(0.5, 0.9)
    momentum.apply_gradients(zip(slopes, layer.trainable_variables, strict=True))
    assert layer.kernel.numpy().tolist() == [[0.5], [0.0]]
    assert layer.bias.numpy().tolist() == [-0.5]


def test_a_function_that_makes_variables_of_keras_is_traced_once_more() -> None:
    """What asks whether an optimizer is built would else go the first way for good."""
    weight = tf.Variable([1.0])
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.5), initial_scale=8.0)
    traces = []

    @tf.function
    def step() -> Any:
        traces.append(optimizer.built)
        with tf.GradientTape() as tape:
            scaled = optimizer.scale_loss(tf.reduce_sum(weight * float("inf")))
        optimizer.apply_gradients([(tape.gradient(scaled, weight), weight)])
        return optimizer.scale_loss(1.0)

    assert [float(step()) for _ in range(3)] == [4.0, 2.0, 1.0]
    assert traces == [False, True]
    assert weight.numpy() == [1.0]


@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize("first", ["fit", "evaluate"])
def test_a_smaller_last_batch_counts_once_in_the_losses_of_outputs(
    first: str, eagerly: bool
) -> None:
    x, rows = np.arange(30, dtype="f4").reshape(10, 3) / 10, np.arange(10, dtype="f4")[:, None]
    given = keras.Input((3,))
    made = {c: keras.layers.Dense(1, name=c, kernel_initializer="ones")(given) for c in "ab"}
    model = keras.Model(given, made)
    optimizer = keras.optimizers.SGD(0.0)
    model.compile(optimizer, loss={"a": "mse", "b": "mae"}, run_eagerly=eagerly)
    y = {"a": rows, "b": 2 * rows}
    losses = [0.105, 4.71] if eagerly else [0.1383334, 5.433333]
    wanted = dict(zip(("a_loss", "b_loss", "loss"), [*losses, 4.815], strict=True))
    for way in (first, "fit", "evaluate"):
        if way == "fit":
            history = model.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False).history
            assert history == {k: pytest.approx([v, v], rel=1e-5) for k, v in wanted.items()}
        else:
            found = model.evaluate(x, y, batch_size=4, verbose=0, return_dict=True)
            assert found == pytest.approx(wanted, rel=1e-5)
    assert [mean.name for mean in model.metrics] == ["loss", "a_loss", "b_loss"]
