"""Tables that are filled from datasets: from pairs of keys and values, or from words in order."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.op import Array
from ...values.dtypes import DTypeLike
from ...values.run_errors import FailedPreconditionError
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype, string
from ..core.specs import TensorSpec
from ..lookup.initial import Initializer, Pairs
from ..lookup.tables import StaticHashTable, StaticVocabularyTable
from .dataset import Dataset

TableOfDataset = StaticHashTable | StaticVocabularyTable
ALL = 1 << 62
"""So many elements no dataset has that a table is filled from."""


def require_pairs(elements: object) -> None:
    """Raise unless elements are keys and values."""
    if not isinstance(elements, tuple):
        raise TypeError(f"elements are {elements}, expected pairs: a key, a value")
    if len(elements) != 2:
        raise ValueError(f"elements are {elements}, expected pairs: a key, a value")


class DatasetInitializer(Initializer):
    """Fills a table from a dataset of pairs: a key and a value."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        spec = dataset.element_spec
        require_pairs(spec)
        for what, each in zip(("key", "value"), spec, strict=True):
            if not isinstance(each, TensorSpec) or each.shape.rank not in (0, None):
                raise ValueError(f"a {what} is {each}, expected one number or text")
        self.key_dtype, self.value_dtype = (as_dtype(each.dtype) for each in spec)

    def operands(self) -> Sequence[TfTensor]:
        """Return all keys and all values."""
        found: tuple[TfTensor, TfTensor] = self.dataset.batch(ALL).get_single_element()
        return found

    def pairs(self, *arrays: Array) -> Pairs:
        """Return keys and values."""
        keys, values = arrays
        if keys.ndim != 1 or values.ndim != 1:
            raise FailedPreconditionError("a key and a value of a table are one number or text")
        return keys, values


def table_from_dataset(
    dataset: Dataset,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: object = None,
    hasher_spec: object = None,
    key_dtype: DTypeLike = string,
    name: str | None = None,
) -> TableOfDataset:
    """Return the table of a dataset of pairs, whose other keys have a default or get a number."""
    require_pairs(dataset.element_spec)
    if vocab_size is not None:
        if num_oov_buckets and vocab_size < 1:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        dataset = dataset.take(vocab_size)
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` should be >= 0, received: {num_oov_buckets}")
    made = DatasetInitializer(dataset)
    if num_oov_buckets:
        return StaticVocabularyTable(made, num_oov_buckets, as_dtype(key_dtype), name)
    if default_value is None:
        default_value = "" if made.value_dtype == string else -1
    return StaticHashTable(made, default_value, name)


def index_table_from_dataset(
    dataset: Dataset,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: object = None,
    key_dtype: DTypeLike = string,
    name: str | None = None,
) -> TableOfDataset:
    """Return the table of numbers of the words that a dataset gives in order."""
    pairs = dataset.enumerate().map(lambda number, word: (word, number))
    options = (num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)
    return table_from_dataset(pairs, *options)
