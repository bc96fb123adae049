"""What methods of datasets are given: sizes, flags, files; and what datasets are called."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ir.op import Array
from ...data.ahead import AUTOTUNE
from ...data.stages import Given
from ..core.bridge import TfTensor
from ..core.nested import flatten
from ..core.specs import TensorSpec
from ..core.structures import core_spec
from ..core.values import convert, whole

PRINTED = {
    **{"Mapped": "_MapDataset", "MappedAhead": "_ParallelMapDataset", "Batched": "_BatchDataset"},
    **{"Shuffled": "_ShuffleDataset", "Repeated": "_RepeatDataset", "Limited": "_TakeDataset"},
    **{"Skipped": "_SkipDataset", "Chosen": "_FilterDataset", "Kept": "CacheDataset"},
    **{"Prefetched": "_PrefetchDataset", "Zipped": "_ZipDataset", "Joined": "_ConcatenateDataset"},
    **{"InTurns": "_InterleaveDataset", "Flattened": "_FlatMapDataset", "Whole": "_TensorDataset"},
    **{"Slices": "_TensorSliceDataset", "Generated": "_FlatMapDataset"},
    **{"Windowed": "_WindowDataset", "Scanned": "_ScanDataset", "Distinct": "_UniqueDataset"},
    **{"Sharded": "_ShardDataset", "Padded": "_PaddedBatchDataset"},
    **{"Unstacked": "_UnbatchDataset", "ChosenWhile": "_TakeWhileDataset"},
    **{"Numbers": "_RandomDataset", "Lines": "TextLineDatasetV2", "Records": "TFRecordDatasetV2"},
    **{"FixedRecords": "FixedLengthRecordDatasetV2", "Directed": "_DirectedInterleaveDataset"},
    **{"Grouped": "_GroupByWindowDataset", "KeptInFile": "CacheDataset"},
}
"""What TensorFlow's datasets are called when they are printed, by the kind of their last step."""


def check_rows(leaves: Sequence[TfTensor]) -> None:
    """Raise unless all tensors have as many rows, as far as that is known."""
    first = [x.shape.as_list()[0] for x in leaves if x.shape.rank]
    counts = {extent for extent in first if extent is not None}
    if len(counts) > 1:
        one, other = sorted(counts)[:2]
        raise ValueError(f"Dimensions {one} and {other} are not compatible")


def check_calls(calls: object) -> None:
    """Raise unless a number of calls at once is one."""
    if isinstance(calls, int) and calls < 1 and calls != AUTOTUNE:
        raise ValueError(
            f"`num_parallel_calls` must be a positive integer or `tf.data.AUTOTUNE`, got {calls}."
        )


def extent_of(size: object) -> int | None:
    """Return a batch's size as far as it is known."""
    found = whole(size)
    return found if isinstance(found, int) else None


def flag_of(value: object) -> bool | Given:
    """Return a truth value as an option, which may be a tensor."""
    if isinstance(value, bool):
        return value
    return Given(convert(value, "bool"))


def patterns(given: object) -> str:
    """Return patterns of files as messages show them."""
    found = np.asarray(given).ravel().tolist()
    return ", ".join(x.decode() if isinstance(x, bytes) else str(x) for x in found)


def empty(spec: object) -> dict[str, Array]:
    """Return batches of no elements that a spec describes, by names of options."""
    made: dict[str, Array] = {}
    for number, leaf in enumerate(flatten(spec)):
        known = isinstance(leaf, TensorSpec) and leaf.shape.rank
        dims = [extent or 0 for extent in leaf.shape] if known else []
        made[f"like{number}"] = np.empty((0, *dims), core_spec(leaf).dtype.numpy)
    return made
