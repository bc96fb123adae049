"""The order of rows in `fit`: that in which Keras's pipelines of TensorFlow shuffle arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import TypeAlias

import numpy as np
from keras.src import tree
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter
from keras.src.trainers.data_adapters.tf_dataset_adapter import TFDatasetAdapter
from keras.src.trainers.epoch_iterator import EpochIterator

from ...ir.op import Array
from ..tf.core.bridge import TfTensor
from ..tf.data.dataset import Dataset
from ..tf.draws.ops import shuffle
from ..tf.ops.creation import range_

Tree: TypeAlias = object


Order: TypeAlias = list[Array]
"""The rows of each batch of an epoch."""


def as_tensorflow_shuffles(
    batches: EpochIterator, agreed: Callable[[Order], Order] | None
) -> EpochIterator:
    """Let batches of arrays and of pipelines that are shuffled come in TensorFlow's order.

    `agreed` gives the order that counts where several ranks draw one.
    """
    adapter = batches.data_adapter
    if isinstance(adapter, ArrayDataAdapter) and adapter._shuffle:
        rows = _rows_of(adapter)

        def iterate(convert: Callable[..., Tree], inputs: Tree) -> Iterator[Tree]:
            order = rows()
            for places in order if agreed is None else agreed(order):
                yield tree.map_structure(
                    partial(convert, indices=places), inputs, none_is_leaf=False
                )

        adapter._get_iterator = iterate
    if isinstance(adapter, TFDatasetAdapter):
        adapter.get_numpy_iterator = partial(_begun, adapter._dataset)
    return batches


def _begun(dataset: Dataset) -> Iterator[Tree]:
    """Return the batches of a pass that has drawn its order, whether or not it is gone through.

    Keras begins a pass too many behind each epoch, which in TensorFlow draws an order, too.
    """
    passed: Iterator[Tree] = TFDatasetAdapter.get_numpy_iterator(
        SimpleNamespace(_dataset=iter(dataset))
    )
    return passed


def _rows_of(adapter: ArrayDataAdapter) -> Callable[[], Order]:
    """Return what draws the order of an epoch."""
    count, size = adapter._num_samples, adapter._batch_size
    ends = np.arange(size, count, size)
    if adapter._shuffle == "batch":
        whole = Dataset.from_tensor_slices(np.arange(count - count % size).reshape(-1, size))
        rest = Dataset.from_tensors(np.arange(count - count % size, count))
        parts = (whole.concatenate(rest) if count % size else whole).map(shuffle)
        return lambda: [*map(np.asarray, parts)]

    def all_rows(_: object) -> TfTensor:
        return shuffle(range_(count, dtype="int64"))

    order = Dataset.range(1).map(all_rows)
    return lambda: np.split(np.asarray(next(iter(order))), ends)
