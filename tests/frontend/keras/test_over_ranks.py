"""Keras's `fit` on several ranks: what one process computes on whole batches."""

from typing import Any

import pytest

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

ALIKE = """
    from gravure import tf

    keras = tf.keras
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rank = strategy.extended.comm.rank
    x = np.random.default_rng(0).normal(size=(37, 6)).astype("float32")
    y = (x[:, 0] > 0).astype("int32")


    def trained(scope, seed):
        keras.utils.set_random_seed(seed)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        with scope:
            model = keras.Sequential(
                [keras.layers.Dense(8, "relu", kernel_regularizer="l2"), keras.layers.Dense(2)]
            )
            model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
        history = model.fit(
            x, y, batch_size=12, epochs=3, verbose=0, validation_data=(x[:9], y[:9])
        )
        found = [*history.history.values(), model.evaluate(x, y, verbose=0)]
        one = model.train_on_batch(x[:1], y[:1])  # fewer rows than ranks
        return [*found, one, model.predict(x, verbose=0), *model.get_weights()]
"""


def test_ranks_train_as_one_process_does(mpiexec: Any) -> None:
    text = mpiexec(
        2,
        ALIKE
        + """
    from contextlib import nullcontext

    # the weights, and the order of the rows, are those of the first rank
    for a, b in zip(trained(nullcontext(), 3), trained(strategy.scope(), 3 + rank), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    print(f"well {rank} ", flush=True)
    """,
    )
    assert "well 0 " in text
    assert "well 1 " in text


def test_steps_of_ones_own_and_averages_are_of_all_ranks(mpiexec: Any) -> None:
    text = mpiexec(
        2,
        """
        from gravure import tf

        keras = tf.keras
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        rank = strategy.extended.comm.rank
        x = np.arange(32.0, dtype=np.float32).reshape(8, 4)

        class Own(keras.Model):
            def __init__(self):
                super().__init__()
                self.norm = keras.layers.BatchNormalization(momentum=0.5)
                self.dense = keras.layers.Dense(1, kernel_initializer="ones")
                self.seen = keras.metrics.Mean("seen")

            def call(self, x, training=False):
                return self.dense(self.norm(x, training=training))

            def train_step(self, data):
                x, y = data
                with tf.GradientTape() as tape:
                    loss = self.compute_loss(x, y, self(x, training=True))
                gradients = tape.gradient(loss, self.trainable_variables)
                self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
                self.seen.update_state(tf.reduce_mean(x))
                return {"seen": self.seen.result(), "mean": tf.reduce_mean(x)}

        with strategy.scope():
            model = Own()
            model.compile("sgd", "mse")
        history = model.fit(x, x[:, :1], batch_size=8, epochs=1, verbose=0, shuffle=False).history
        assert history == {"seen": [15.5], "mean": [15.5]}, history
        moved = model.norm.moving_mean.numpy()
        np.testing.assert_allclose(moved, x.mean(0) / 2, rtol=1e-6)
        print(f"well {rank} {model.get_weights()[0].sum()} ", flush=True)
        """,
    )
    first, second = (text.partition(f"well {rank} ")[2].split()[0] for rank in range(2))
    assert first == second


def test_each_rank_predicts_a_part_of_the_rows_and_has_all(mpiexec: Any) -> None:
    text = mpiexec(
        3,
        """
        import pytest
        from gravure import tf

        keras = tf.keras
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        rank = strategy.extended.comm.rank
        x = np.random.default_rng(0).normal(size=(37, 6)).astype("float32")
        rows = []

        class Own(keras.Model):
            def __init__(self):
                super().__init__()
                self.hidden, self.last = keras.layers.Dense(4), keras.layers.Dense(1)

            def call(self, x):
                rows.append(int(x.shape[0]))
                hidden = self.hidden(x)
                return {"hidden": hidden, "last": [self.last(hidden)]}

        keras.utils.set_random_seed(rank)
        with strategy.scope():
            model = Own()  # not built: its weights are those of the first rank nevertheless
        found = model.predict(x, batch_size=10, verbose=0)
        assert max(rows) == 4, rows
        alone = model(x)
        np.testing.assert_allclose(found["hidden"], alone["hidden"].numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["last"][0], alone["last"][0].numpy(), rtol=1e-5, atol=1e-6)
        for few in (1, 2, 4):  # fewer rows than ranks, and rows that two ranks compute
            some = model.predict_on_batch(x[:few])["hidden"]
            np.testing.assert_allclose(some, alone["hidden"].numpy()[:few], rtol=1e-5, atol=1e-6)

        class Mean(Own):
            def predict_step(self, data):
                return tf.reduce_mean(super().predict_step(data)["hidden"])

        with strategy.scope():
            mean = Mean()
        with pytest.raises(ValueError, match="expected a row for each"):
            mean.predict(x, verbose=0)
        print(f"well {rank} {found['hidden'].sum():.9g} ", flush=True)
        """,
    )
    first, *others = (text.partition(f"well {rank} ")[2].split()[0] for rank in range(3))
    assert others == [first, first]


def test_metrics_of_a_loop_of_ones_own_count_the_rows_of_all_ranks(mpiexec: Any) -> None:
    text = mpiexec(
        2,
        """
        from gravure import tf

        keras = tf.keras
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        rank = strategy.extended.comm.rank
        assert strategy.cluster_resolver is not None
        with strategy.scope():
            mean, right = keras.metrics.Mean(), keras.metrics.BinaryAccuracy()
        data = tf.data.Dataset.from_tensor_slices(np.arange(8.0, dtype=np.float32)).batch(4)

        def step(x):
            mean.update_state(x)
            right.update_state(x > 1.0, tf.ones_like(x))
            return mean.result()

        run = tf.function(lambda x: strategy.run(step, (x,)))
        for epoch in range(2):
            mean.reset_state(), right.reset_state()
            own = [float(run(x)) for x in strategy.experimental_distribute_dataset(data)]
            assert own == ([0.5, 2.5] if rank == 0 else [2.5, 4.5]), own
            assert float(mean.result()) == 3.5
            assert float(right.result()) == 0.75
        print(f"well {rank} ", flush=True)
        """,
    )
    assert "well 0 " in text
    assert "well 1 " in text


def test_one_rank_writes_the_files_of_all(mpiexec: Any, tmp_path: Any) -> None:
    text = mpiexec(
        2,
        f"""
        import os
        from pathlib import Path
        from gravure import tf

        folder = Path({str(tmp_path)!r})
        keras = tf.keras
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        rank = strategy.extended.comm.rank
        x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")

        def fitted(epochs, *more):
            keras.utils.set_random_seed(0)
            with strategy.scope():
                model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
                model.compile(keras.optimizers.Adam(0.1), "mse")
            back = keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False)
            history = model.fit(x, x[:, :1], batch_size=8, epochs=epochs, verbose=0,
                                callbacks=[back, *more])
            return model, history.epoch
        """
        + """
        class Stopped(Exception):
            pass

        class Stop(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                if epoch == 3:
                    raise Stopped

        try:
            fitted(6, Stop())
        except Stopped:
            pass
        model, epochs = fitted(
            6,
            keras.callbacks.ModelCheckpoint(folder / "{epoch}.keras"),
            keras.callbacks.ModelCheckpoint(folder / "best.weights.h5", save_weights_only=True),
            keras.callbacks.CSVLogger(folder / "log.csv"),
        )
        assert epochs == [3, 4, 5], epochs
        assert sorted(p.name for p in folder.glob("*.keras")) == ["4.keras", "5.keras", "6.keras"]
        assert len((folder / "log.csv").read_text().splitlines()) == 4
        found = keras.models.load_model(folder / "6.keras")
        for a, b in zip(found.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_array_equal(a, b)
        print(f"well {rank} {model.get_weights()[0].sum()} ", flush=True)
        """,
    )
    first, second = (text.partition(f"well {rank} ")[2].split()[0] for rank in range(2))
    assert first == second
