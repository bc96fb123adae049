"""`Model.fit`, `evaluate` and `predict`: a step on a batch is one compiled function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import TypeAlias

import numpy as np
from keras.src import callbacks as callbacks_module
from keras.src import metrics as metrics_module
from keras.src import optimizers as optimizers_module
from keras.src import tree
from keras.src.backend import config
from keras.src.backend.common.name_scope import name_scope
from keras.src.trainers import trainer as base_trainer
from keras.src.trainers.compile_utils import CompileLoss
from keras.src.trainers.data_adapters import array_slicing, data_adapter_utils
from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.utils import traceback_utils
from keras.src.utils.python_utils import pythonify_logs

from ...eager.tensor import Tensor
from ...tf.distribute.strategy import get_strategy
from ...tf.graph.autograph import function
from ...tf.graph.flow import GradientTape
from ...tf.ops import array_ops
from ..replicated import Shares, over_replicas, predicted
from ..shuffled import as_tensorflow_shuffles
from .tensors import convert_to_numpy, convert_to_tensor, shape

Tree: TypeAlias = object
Logs: TypeAlias = Mapping[str, object]
Data: TypeAlias = "Sequence[Tree]"
Step: TypeAlias = Callable[[Data], Logs]


def _count(x: Tree) -> int | Tensor:
    """Return how many examples a batch has."""
    return shape(next(each for each in tree.flatten(x) if each is not None))[0]


def _as_tensors(data: Tree) -> Tree:
    return tree.map_structure(lambda x: None if x is None else convert_to_tensor(x), data)


class Once:
    """A mean to which each batch adds once, whatever its size."""

    def __init__(self, mean: metrics_module.Metric) -> None:
        self.mean = mean

    def update_state(self, value: Tree, sample_weight: int) -> None:
        """Add the value of a batch of so many examples."""
        del sample_weight
        self.mean.update_state(value)


@contextmanager
def each_counts_once(loss: CompileLoss | None) -> Iterator[None]:
    """Let each batch count once in the means of the losses of single outputs.

    Keras takes the size of a batch there as a number of its program. TensorFlow's functions are
    traced for batches of any size, where that is None, and so does not count.
    """
    means = [] if loss is None else [*loss.metrics]
    if loss is not None:
        loss._metrics[:] = [Once(mean) for mean in means]
    try:
        yield
    finally:
        if loss is not None and means:
            loss._metrics[:] = means


class Trainer(base_trainer.Trainer):
    """Training on gravure."""

    def __init__(self) -> None:
        super().__init__()
        self.train_function: Step | None = None
        self.test_function: Step | None = None
        self.predict_function: Callable[[Data], Tree] | None = None
        self._has_open_sizes = False
        """Whether a step is traced that stands for batches of any size."""
        strategy = get_strategy()
        self._shares = Shares(strategy) if strategy.num_replicas_in_sync > 1 else None
        """Which part of each batch each replica has, where several train the model."""

    def _resolve_auto_jit_compile(self) -> bool:
        """Say that steps are not asked for XLA, as with TensorFlow's backend on processors."""
        return False

    def _answered(self, x: Tree, *, training: bool) -> Tree:
        """Return what the model gives."""
        return self(x, training=training) if self._call_has_training_arg else self(x)

    def _loss_of(self, data: Tree, *, training: bool) -> tuple[Tensor, Tree, tuple[Tree, ...]]:
        """Return the loss of a batch, what the model gave, and the parts of the batch."""
        x, y, weight = data_adapter_utils.unpack_x_y_sample_weight(data)
        made = self._answered(x, training=training)
        loss = self._compute_loss(x=x, y=y, y_pred=made, sample_weight=weight, training=training)
        plain = loss if self._shares is None else self._shares.plain(loss)
        self._loss_tracker.update_state(plain, sample_weight=_count(x))
        return loss, made, (x, y, weight)

    def compute_loss(self, *parts: Tree, **named: Tree) -> Tensor:
        """Return the loss of a batch; of a part of it, as it counts in the whole."""
        with each_counts_once(self._compile_loss) if self._has_open_sizes else nullcontext():
            loss: Tensor = super().compute_loss(*parts, **named)
        return loss if self._shares is None else self._shares.weighed(loss)

    def train_step(self, data: Tree) -> Logs:
        """Change the weights by the gradients of a batch; return the metrics."""
        with GradientTape() as tape:
            loss, made, (x, y, weight) = self._loss_of(data, training=True)
            if self.optimizer is not None:
                self._build_optimizer()  # a scale is a variable, not the number it starts with
                loss = self.optimizer.scale_loss(loss)
        weights = self.trainable_weights
        if weights:
            gradients = tape.gradient(loss, weights)
            self.optimizer.apply_gradients(zip(gradients, weights, strict=True))
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        return self.compute_metrics(x, y, made, sample_weight=weight)

    def _build_optimizer(self) -> None:
        """Make the optimiser's variables, unless they are there."""
        if not self.optimizer.built:
            with name_scope(self.optimizer.name, caller=self.optimizer):
                self.optimizer.build(self.trainable_variables)

    def test_step(self, data: Tree) -> Logs:
        """Return the metrics of a batch."""
        _, made, (x, y, weight) = self._loss_of(data, training=False)
        return self.compute_metrics(x, y, made, sample_weight=weight)

    def predict_step(self, data: Tree) -> Tree:
        """Return what the model gives for a batch."""
        x, _, _ = data_adapter_utils.unpack_x_y_sample_weight(data)
        return self._answered(x, training=False)

    def _compiled(self, step: Callable[[Tree], Tree]) -> Callable[[Tree], Tree]:
        """Return a step as a compiled function; as it is where the model runs eagerly."""
        if self._shares is not None:
            return self._shared(self._shares, step)
        return self._alone(step)

    def _alone(self, step: Callable[[Tree], Tree]) -> Callable[[Tree], Tree]:
        """Return a step that this process makes by itself."""
        run = step if self.run_eagerly else function(self._of_open_sizes(step), autograph=False)
        return lambda data: run(_as_tensors(data))

    def _of_open_sizes(self, step: Callable[[Tree], Tree]) -> Callable[[Tree], Tree]:
        """Return a step that stands for batches of any size."""

        @wraps(step)
        def open_step(data: Tree) -> Tree:
            self._has_open_sizes = True
            try:
                return step(data)
            finally:
                self._has_open_sizes = False

        return open_step

    def _shared(self, shares: Shares, step: Callable[[Tree], Tree]) -> Callable[[Tree], Tree]:
        """Return a step that all replicas make together, each with its rows."""
        whole = over_replicas(self, shares, step)
        run = whole if self.run_eagerly else function(whole, autograph=False)
        built = False

        def together(data: Tree) -> Tree:
            nonlocal built
            if not built:  # all state is there before the step is traced
                with shares.strategy.scope():
                    self._symbolic_build(data_batch=data)
                built = True
            return run(*shares.rows(data))

        return together

    def _predicting(self) -> Callable[[Tree], Tree]:
        """Return a step of prediction: on several ranks each computes a part of the rows."""
        shares = self._shares
        if shares is None or shares.ranks == 1:
            return self._alone(self.predict_step)
        whole = predicted(shares, self.predict_step)
        run = whole if self.run_eagerly else function(whole, autograph=False)

        def together(data: Tree) -> Tree:
            mine, wanted = shares.even(_as_tensors(data))
            if not all(layer.built for layer in self._flatten_layers()):
                with shares.strategy.scope():  # all state is there before the step is traced
                    x, _, _ = data_adapter_utils.unpack_x_y_sample_weight(mine)
                    self._answered(x, training=False)
            return run(mine, convert_to_tensor(wanted))

        return together

    def _over(self, step: Callable[[Tree], Tree]) -> Step:
        """Return a function that takes steps on some batches and returns the last metrics."""
        one = self._compiled(step)

        def steps(batches: Data) -> Logs:
            logs: Logs = {}
            for data in batches:
                logs = one(data)  # type: ignore[assignment]
            return logs

        return steps

    def make_train_function(self, force: bool = False) -> Step:
        """Make the function of a step of training."""
        if self.train_function is None or force:
            self.train_function = self._over(self.train_step)
        return self.train_function

    def make_test_function(self, force: bool = False) -> Step:
        """Make the function of a step of evaluation."""
        if self.test_function is None or force:
            self.test_function = self._over(self.test_step)
        return self.test_function

    def make_predict_function(self, force: bool = False) -> Callable[[Data], Tree]:
        """Make the function of a step of prediction."""
        if self.predict_function is None or force:
            one = self._predicting()

            def several(batches: Data) -> Tree:
                made = [one(data) for data in batches]
                if len(made) == 1:
                    return made[0]
                return tree.map_structure(lambda *each: array_ops.concat(each, 0), *made)

            self.predict_function = several
        return self.predict_function

    def _batches(self, x: Tree, y: Tree = None, **options: Tree) -> EpochIterator:
        steps = self.steps_per_execution
        made = EpochIterator(x=x, y=y, steps_per_execution=steps, **options)
        agreed = None if self._shares is None else self._shares.agreed
        return as_tensorflow_shuffles(made, agreed)

    def _listeners(
        self, callbacks: Tree, epochs: int, verbose: Tree, steps: int | None, *, history: bool
    ) -> callbacks_module.CallbackList:
        if isinstance(callbacks, callbacks_module.CallbackList):
            return callbacks
        if self._shares is not None:
            callbacks = self._shares.callbacks(callbacks)
        return callbacks_module.CallbackList(
            callbacks,
            add_history=history,
            add_progbar=verbose != 0,
            verbose=verbose,
            epochs=epochs,
            steps=steps,
            model=self,
        )

    @traceback_utils.filter_traceback
    def fit(
        self,
        x: Tree = None,
        y: Tree = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: str | int = "auto",
        callbacks: Tree = None,
        validation_split: float = 0.0,
        validation_data: Tree = None,
        shuffle: bool = True,
        class_weight: Tree = None,
        sample_weight: Tree = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: int = 1,
    ) -> callbacks_module.History:
        """Train for a number of epochs."""
        self._assert_compile_called("fit")
        most = config.max_epochs()
        if most and most < epochs:
            warnings.warn(f"Limiting epochs to {most}", stacklevel=2)
            epochs = most
        self._eval_epoch_iterator = None
        if self._shares is not None:
            self._shares.agree()
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = array_slicing.train_validation_split(
                (x, y, sample_weight), validation_split=validation_split
            )
        batches = self._batches(
            x,
            y,
            sample_weight=sample_weight,
            batch_size=batch_size,
            steps_per_epoch=steps_per_epoch,
            shuffle=shuffle,
            class_weight=class_weight,
        )
        listeners = self._listeners(callbacks, epochs, verbose, batches.num_batches, history=True)
        validation = None
        if validation_data is not None:
            parts = data_adapter_utils.unpack_x_y_sample_weight(validation_data)
            size = validation_batch_size or batch_size
            validation = Validation(parts, size, validation_steps, validation_freq)
        self.stop_training = False
        batches.reset()  # a data set of the program's own may choose its order anew here
        listeners.on_train_begin()
        logs: Logs | None = None
        for epoch in range(self._initial_epoch or initial_epoch, epochs):
            logs = self._epoch(epoch, batches, listeners, validation)
            if self.stop_training:
                break
        if isinstance(self.optimizer, optimizers_module.Optimizer) and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        self._eval_epoch_iterator = None
        listeners.on_train_end(logs=logs)
        if self._shares is not None:
            self._shares.meet("the end of fit")
        return self.history

    def _epoch(
        self,
        epoch: int,
        batches: EpochIterator,
        listeners: callbacks_module.CallbackList,
        validation: Validation | None,
    ) -> Logs:
        """Train on all batches once, and evaluate; return the metrics."""
        step = self.make_train_function()
        self.reset_metrics()
        listeners.on_epoch_begin(epoch)
        logs: Logs = {}
        for first, last, data in batches:
            listeners.on_train_batch_begin(first)
            logs = step(data)
            listeners.on_train_batch_end(last, logs)
            if self.stop_training:
                break
        found = dict(self._get_metrics_result_or_logs(logs))
        if validation is not None and self._should_eval(epoch, validation.every):
            evaluated = self._validated(validation, listeners)
            found |= {f"val_{name}": value for name, value in evaluated}
        found = pythonify_logs(found)
        listeners.on_epoch_end(epoch, found)
        return found

    def _validated(
        self, validation: Validation, listeners: callbacks_module.CallbackList
    ) -> Iterator[tuple[str, object]]:
        x, y, weight = validation.parts
        if self._eval_epoch_iterator is None:
            self._eval_epoch_iterator = self._batches(
                x,
                y,
                sample_weight=weight,
                batch_size=validation.size,
                steps_per_epoch=validation.steps,
                shuffle=False,
            )
        logs = self.evaluate(
            x=x,
            y=y,
            sample_weight=weight,
            batch_size=validation.size,
            steps=validation.steps,
            callbacks=listeners,
            return_dict=True,
            _use_cached_eval_dataset=True,
        )
        assert isinstance(logs, Mapping)
        yield from logs.items()

    @traceback_utils.filter_traceback
    def evaluate(
        self,
        x: Tree = None,
        y: Tree = None,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        sample_weight: Tree = None,
        steps: int | None = None,
        callbacks: Tree = None,
        return_dict: bool = False,
        **more: bool,
    ) -> Logs | list[float] | float:
        """Return the metrics of a data set."""
        self._assert_compile_called("evaluate")
        kept = more.pop("_use_cached_eval_dataset", False)
        if more:
            raise ValueError(f"Arguments not recognized: {more}")
        batches = kept and self._eval_epoch_iterator
        if not batches:
            batches = self._batches(
                x,
                y,
                sample_weight=sample_weight,
                batch_size=batch_size,
                steps_per_epoch=steps,
                shuffle=False,
            )
        batches.reset()  # each evaluation begins with the first batch, also those of `fit`
        listeners = self._listeners(callbacks, 1, verbose, batches.num_batches, history=False)
        step = self.make_test_function()
        self.stop_evaluating = False
        listeners.on_test_begin()
        logs: Logs = {}
        self.reset_metrics()
        for first, last, data in batches:
            listeners.on_test_batch_begin(first)
            logs = step(data)
            listeners.on_test_batch_end(last, logs)
            if self.stop_evaluating:
                break
        logs = pythonify_logs(self._get_metrics_result_or_logs(logs))
        listeners.on_test_end(logs)
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    @traceback_utils.filter_traceback
    def predict(
        self,
        x: Tree,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        steps: int | None = None,
        callbacks: Tree = None,
    ) -> Tree:
        """Return what the model gives for a data set, as arrays."""
        batches = self._batches(x, batch_size=batch_size, steps_per_epoch=steps, shuffle=False)
        listeners = self._listeners(callbacks, 1, verbose, batches.num_batches, history=False)
        step = self.make_predict_function()
        self.stop_predicting = False
        listeners.on_predict_begin()
        made: list[Tree] = []
        for first, last, data in batches:
            listeners.on_predict_batch_begin(first)
            made.append(tree.map_structure(convert_to_numpy, step(data)))
            listeners.on_predict_batch_end(last, {"outputs": made[-1]})
            if self.stop_predicting:
                break
        listeners.on_predict_end()
        return tree.map_structure(lambda *each: np.concatenate(each), *made)

    def train_on_batch(
        self,
        x: Tree,
        y: Tree = None,
        sample_weight: Tree = None,
        class_weight: Tree = None,
        return_dict: bool = False,
    ) -> Logs | list[float] | float:
        """Train on one batch; return the metrics."""
        self._assert_compile_called("train_on_batch")
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError(
                    "Arguments `sample_weight` and `class_weight` cannot be specified at the same "
                    f"time. Received: sample_weight={sample_weight}, class_weight={class_weight}"
                )
            sample_weight = data_adapter_utils.class_weight_to_sample_weights(y, class_weight)
        data = (x, y) if sample_weight is None else (x, y, sample_weight)
        step = self.make_train_function()
        self.reset_metrics()
        return self._told(step([data]), return_dict)

    def test_on_batch(
        self, x: Tree, y: Tree = None, sample_weight: Tree = None, return_dict: bool = False
    ) -> Logs | list[float] | float:
        """Return the metrics of one batch."""
        self._assert_compile_called("test_on_batch")
        data = (x, y) if sample_weight is None else (x, y, sample_weight)
        step = self.make_test_function()
        self.reset_metrics()
        return self._told(step([data]), return_dict)

    def _told(self, logs: Logs, return_dict: bool) -> Logs | list[float] | float:
        found: Logs = pythonify_logs(logs)
        if return_dict:
            return found
        flat: list[float] | float = self._flatten_metrics_in_order(found)
        return flat

    def predict_on_batch(self, x: Tree) -> Tree:
        """Return what the model gives for one batch, as arrays."""
        return tree.map_structure(convert_to_numpy, self.make_predict_function()([(x,)]))


class Validation:
    """What is evaluated after epochs."""

    def __init__(
        self, parts: tuple[Tree, Tree, Tree], size: int | None, steps: int | None, every: int
    ) -> None:
        self.parts, self.size, self.steps, self.every = parts, size, steps, every
