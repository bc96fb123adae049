"""`tf.data.experimental`: older names of what datasets do, and what is only there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...data.stages import INFINITE, Given
from ...data.steps import Counted
from ...formats.records import RecordWriter
from ...values.dtypes import DTypeLike
from ...values.given import TensorLike
from ...values.run_errors import FailedPreconditionError, OutOfRangeError
from ..core.bridge import TfTensor
from ..core.nested import map_structure
from ..core.specs import TensorSpec
from ..core.values import convert
from ..ops.creation import zeros
from . import iterators
from .combining import choose_from_datasets, sample_from_datasets
from .dataset import Dataset
from .filled_tables import DatasetInitializer, index_table_from_dataset, table_from_dataset
from .functions import scalar
from .grouping import Reducer, reduced_by_key
from .saving import folder_of

Transformation = Callable[[Dataset], object]


def of_method(name: str) -> Callable[..., Transformation]:
    """Return what gives a function for `Dataset.apply` that calls a method."""

    def made(*args: object, **options: object) -> Transformation:
        return lambda dataset: getattr(dataset, name)(*args, **options)

    made.__name__ = name
    made.__doc__ = f"Return a function for `Dataset.apply`: see `Dataset.{name}`."
    return made


def map_and_batch(
    map_func: Callable[..., object],
    batch_size: object,
    num_parallel_batches: object = None,
    drop_remainder: bool = False,
    num_parallel_calls: object = None,
) -> Transformation:
    """Return a function for `Dataset.apply` that maps and puts into batches."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


def shuffle_and_repeat(
    buffer_size: object, count: object = None, seed: object = None
) -> Transformation:
    """Return a function for `Dataset.apply` that shuffles and repeats."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(
    map_func: Callable[..., object],
    cycle_length: object,
    block_length: object = 1,
    sloppy: bool | None = False,
    buffer_output_elements: object = None,
    prefetch_input_elements: object = None,
) -> Transformation:
    """Return a function for `Dataset.apply` that takes elements of datasets in turns.

    The order is the same whether it may be another one (`sloppy`) or not, and for all sizes of
    buffers.
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def assert_cardinality(expected_cardinality: object) -> Transformation:
    """Return a function for `Dataset.apply`: there are so many elements, or an error."""
    return lambda dataset: dataset.step(Counted, count=Given(scalar(expected_cardinality)))


def group_by_reducer(key_func: Callable[..., object], reducer: Reducer) -> Transformation:
    """Return a function for `Dataset.apply`: one element for each key, in the keys' order."""
    return lambda dataset: reduced_by_key(dataset, key_func, reducer)


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Transformation:
    """Return a function for `Dataset.apply` that appends zeros until there are so many elements.

    Elements are dictionaries; `mask_key` tells which of them were there.
    """

    def padded(dataset: Dataset) -> Dataset:
        count, spec = int(dataset.cardinality()), dataset.element_spec
        if count < 0:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinality, but "
                f"has cardinality {count}"
            )
        if count > cardinality:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a cardinality less than "
                f"the target cardinality ({cardinality}), but has cardinality {count}"
            )
        if not isinstance(spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        zeros = map_structure(zeros_of, spec)
        rest = Dataset.from_tensors(zeros).repeat(cardinality - count)
        there, beyond = (
            each.map(lambda element, given=given: {**element, mask_key: convert(given)})
            for each, given in ((dataset, True), (rest, False))
        )
        return there.concatenate(beyond)

    return padded


def zeros_of(leaf: object) -> TfTensor:
    """Return an element of zeros that is like a spec says; open sizes are none."""
    if not isinstance(leaf, TensorSpec):
        raise TypeError(f"pad_to_cardinality() is only supported for tensors, got {leaf}")
    return zeros([d or 0 for d in leaf.shape], leaf.dtype)


def cardinality(dataset: Dataset) -> TfTensor:
    """Return how many elements there are, -1 without end, -2 if nobody knows."""
    return dataset.cardinality()


def counter(start: object = 0, step: object = 1, dtype: DTypeLike = "int64") -> Dataset:
    """Return a dataset of numbers without end."""
    return Dataset.counter(start, step, dtype)


def random_dataset(
    seed: int | None = None, rerandomize_each_iteration: Any = None, name: str | None = None
) -> Dataset:
    """Return a dataset of random numbers without end."""
    return Dataset.random(seed, rerandomize_each_iteration, name)


def from_list(elements: object, name: str | None = None) -> Dataset:
    """Return a dataset of the elements of a list."""
    if not isinstance(elements, list):
        raise TypeError("`elements` must be a list.")
    if not elements:
        raise ValueError("`elements` cannot be empty.")
    made = Dataset.from_tensors(elements[0])
    for each in elements[1:]:
        made = made.concatenate(Dataset.from_tensors(each))
    return made


def get_next_as_optional(iterator: Any) -> object:
    """Return the next element, or that there is none."""
    return iterator.get_next_as_optional()


def get_structure(dataset_or_iterator: Any) -> object:
    """Return what elements are like."""
    return dataset_or_iterator.element_spec


def prefetch_to_device(device: object, buffer_size: object = None) -> Transformation:
    """Return a function for `Dataset.apply`: elements are made before they are asked for."""
    return lambda dataset: dataset.prefetch(buffer_size)


def dense_to_sparse_batch(batch_size: TensorLike, row_shape: object) -> Transformation:
    """Return a function for `Dataset.apply`: see `Dataset.sparse_batch`."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def dense_to_ragged_batch(
    batch_size: TensorLike, drop_remainder: bool = False, row_splits_dtype: DTypeLike = "int64"
) -> Transformation:
    """Return a function for `Dataset.apply`: see `Dataset.ragged_batch`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def at(dataset: Dataset, index: TensorLike) -> object:
    """Return the element at a place; raise `OutOfRangeError` where there is none."""
    if dataset._stage.count == INFINITE:
        raise FailedPreconditionError("a dataset without end has no elements at places")
    missing = OutOfRangeError("Index out of range: the dataset has no element there")
    found = dataset.skip(index).take(1)
    return iterators.single_element(found, missing, is_by_place=True)


def save(
    dataset: Dataset,
    path: str,
    compression: str | None = None,
    shard_func: Callable[..., object] | None = None,
    checkpoint_args: Mapping[str, object] | None = None,
) -> object:
    """Write a dataset into a folder: see `Dataset.save`."""
    return dataset.save(path, compression, shard_func, checkpoint_args)


class TFRecordWriter:
    """Writes the texts of a dataset as records of a file."""

    def __init__(self, filename: object, compression_type: str | None = None) -> None:
        self.path, self.compression = folder_of(filename), compression_type or ""

    def write(self, dataset: Dataset) -> None:
        """Write them."""
        spec = dataset.element_spec
        if str(getattr(getattr(spec, "dtype", None), "name", "")) != "string":
            raise TypeError(f"elements of {spec}, expected one text each")
        writer = RecordWriter(self.path, self.compression)
        for text in dataset.as_numpy_iterator():
            writer.write(bytes(np.asarray(text).item()))
        writer.close()


NAMES: dict[str, object] = {
    **{
        n: of_method(n)
        for n in (
            *("bucket_by_sequence_length", "group_by_window", "ignore_errors", "scan"),
            *("take_while", "unbatch", "unique", "rejection_resample", "snapshot"),
        )
    },
    "Reducer": Reducer,
    "TFRecordWriter": TFRecordWriter,
    "group_by_reducer": group_by_reducer,
    "pad_to_cardinality": pad_to_cardinality,
    "at": at,
    "dense_to_ragged_batch": dense_to_ragged_batch,
    "dense_to_sparse_batch": dense_to_sparse_batch,
    "DatasetInitializer": DatasetInitializer,
    "index_table_from_dataset": index_table_from_dataset,
    "table_from_dataset": table_from_dataset,
    "load": Dataset.load,
    "save": save,
    "enumerate_dataset": of_method("enumerate"),
    "Counter": counter,
    "RandomDataset": random_dataset,
    "assert_cardinality": assert_cardinality,
    "cardinality": cardinality,
    "choose_from_datasets": choose_from_datasets,
    "sample_from_datasets": sample_from_datasets,
    "from_list": from_list,
    "get_next_as_optional": get_next_as_optional,
    "get_single_element": iterators.single_element,
    "get_structure": get_structure,
    "map_and_batch": map_and_batch,
    "parallel_interleave": parallel_interleave,
    "prefetch_to_device": prefetch_to_device,
    "shuffle_and_repeat": shuffle_and_repeat,
}
