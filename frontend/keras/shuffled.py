"""The order of rows in `fit`: that in which Keras's pipelines of TensorFlow shuffle arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import numpy as np
from keras.src import tree
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter
from keras.src.trainers.epoch_iterator import EpochIterator

from ...ir.op import Array
from ..tf.core.bridge import TfTensor
from ..tf.data.dataset import Dataset
from ..tf.draws.ops import shuffle
from ..tf.ops.creation import range_

Tree: TypeAlias = object


def as_tensorflow_shuffles(batches: EpochIterator) -> EpochIterator:
    """Let batches of arrays that are shuffled come in TensorFlow's order for its seed."""
    adapter = batches.data_adapter
    if isinstance(adapter, ArrayDataAdapter) and adapter._shuffle:
        rows = _rows_of(adapter)

        def iterate(convert: Callable[..., Tree], inputs: Tree) -> Iterator[Tree]:
            for places in rows():
                yield tree.map_structure(
                    partial(convert, indices=places), inputs, none_is_leaf=False
                )

        adapter._get_iterator = iterate
    return batches


def _rows_of(adapter: ArrayDataAdapter) -> Callable[[], Iterator[Array]]:
    """Return what gives the rows of each batch of an epoch."""
    count, size = adapter._num_samples, adapter._batch_size
    ends = np.arange(size, count, size)
    if adapter._shuffle == "batch":
        whole = Dataset.from_tensor_slices(np.arange(count - count % size).reshape(-1, size))
        rest = Dataset.from_tensors(np.arange(count - count % size, count))
        parts = (whole.concatenate(rest) if count % size else whole).map(shuffle)
        return lambda: map(np.asarray, parts)

    def all_rows(_: object) -> TfTensor:
        return shuffle(range_(count, dtype="int64"))

    order = Dataset.range(1).map(all_rows)
    return lambda: iter(np.split(np.asarray(next(iter(order))), ends))
