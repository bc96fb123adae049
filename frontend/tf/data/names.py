"""The namespaces `tf.data` and `tf.compat.v1.data`."""

from __future__ import annotations

from ...data.stages import INFINITE, UNKNOWN
from ..core.space import Space
from . import experimental as _e
from . import iterators as _it
from . import options as _o
from . import readers as _r
from . import tables as _t
from . import written as _written  # noqa: F401  (enters how they are written)
from .dataset import AUTOTUNE, Dataset, DatasetSpec
from .optional import Optional

BOTH: dict[str, object] = {
    "AUTOTUNE": AUTOTUNE,
    "INFINITE_CARDINALITY": INFINITE,
    "UNKNOWN_CARDINALITY": UNKNOWN,
    "Dataset": Dataset,
    "DatasetSpec": DatasetSpec,
    "IteratorSpec": _it.IteratorSpec,
    "NumpyIterator": _it.NumpyIterator,
    "Options": _o.Options,
    "ThreadingOptions": _o.ThreadingOptions,
    "TFRecordDataset": _r.TFRecordDataset,
    "TextLineDataset": _r.TextLineDataset,
    "FixedLengthRecordDataset": _r.FixedLengthRecordDataset,
}
experimental = Space(
    "data.experimental",
    AUTOTUNE=AUTOTUNE,
    INFINITE_CARDINALITY=INFINITE,
    UNKNOWN_CARDINALITY=UNKNOWN,
    Optional=Optional,
    CsvDataset=_t.CsvDataset,
    make_csv_dataset=_t.make_csv_dataset,
    make_batched_features_dataset=_t.make_batched_features_dataset,
    parse_example_dataset=_t.parse_example_dataset,
    AutoShardPolicy=_o.AutoShardPolicy,
    AutotuneAlgorithm=_o.AutotuneAlgorithm,
    ExternalStatePolicy=_o.ExternalStatePolicy,
    AutotuneOptions=_o.AutotuneOptions,
    DistributeOptions=_o.DistributeOptions,
    OptimizationOptions=_o.OptimizationOptions,
    ThreadingOptions=_o.ThreadingOptions,
    **_e.NAMES,
)
data = Space("data", **BOTH, Iterator=_it.EagerIterator, experimental=experimental)
old_data = Space(
    "compat.v1.data",
    **BOTH,
    Iterator=_it.Iterator,
    experimental=experimental,
    make_one_shot_iterator=_it.make_one_shot_iterator,
    make_initializable_iterator=_it.make_initializable_iterator,
    get_output_shapes=lambda dataset_or_iterator: dataset_or_iterator.output_shapes,
    get_output_types=lambda dataset_or_iterator: dataset_or_iterator.output_types,
    get_output_classes=lambda dataset_or_iterator: dataset_or_iterator.output_classes,
)
V1: dict[str, object] = {"data": old_data}
