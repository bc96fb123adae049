"""Datasets in folders: `Dataset.save` and `Dataset.load`."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...data.files import (
    ABOUT,
    OfKnownCount,
    Saving,
    Shards,
    SnapshotShards,
    WritingSnapshot,
    WrittenOnce,
    about,
)
from ...data.fingerprints import fingerprint
from ...data.sources import Listed
from ...data.stages import UNKNOWN, Given, Run, Stage
from ...eager.tensor import Tensor
from ...formats.records import check_compression
from ...function.traces import ACTIVE
from ...graph.graph import Operation
from ...values.context import STATE
from ...values.run_errors import UnimplementedError
from ..core.shapes import TensorShape
from ..core.specs import TensorSpec
from ..core.structures import Pipeline
from ..core.values import convert
from ..nondense.sparse_tensor import SparseTensorSpec
from ..ragged.tensor import RaggedTensorSpec
from .functions import trace_element
from .handles import graph_for, staged, with_pipeline
from .iterators import EagerIterator

EMPTY = Stage(Listed, (), {"elements": ()})
WAIT = 0.2
"""Seconds after which it is looked anew whether a folder is complete."""


def dims_of(shape: TensorShape) -> list[object] | None:
    """Return a shape as data of JSON's."""
    return None if shape._dims is None else list(shape._dims)


def to_json(spec: object) -> object:
    """Return the specs of an element as data of JSON's, or refuse what has no form."""
    if isinstance(spec, TensorSpec):
        return {"type": spec.dtype.name, "shape": dims_of(spec.shape)}
    if isinstance(spec, SparseTensorSpec):
        return {"sparse": [spec.dtype.name, dims_of(spec.shape)]}
    if isinstance(spec, RaggedTensorSpec):
        more = [spec.ragged_rank, spec.row_splits_dtype.name]
        return {"ragged": [spec.dtype.name, dims_of(spec.shape), *more]}
    if type(spec) is tuple:
        return {"tuple": [to_json(each) for each in spec]}
    if isinstance(spec, Mapping):
        return {"map": {key: to_json(each) for key, each in spec.items()}}
    raise NotImplementedError(
        f"Dataset.save: elements of {spec!r}, expected tensors, tuples and dictionaries"
    )


def from_json(data: Any) -> object:
    """Return the specs of an element."""
    if "tuple" in data:
        return tuple(from_json(each) for each in data["tuple"])
    if "map" in data:
        return {key: from_json(each) for key, each in data["map"].items()}
    if "sparse" in data:
        return SparseTensorSpec(data["sparse"][1], data["sparse"][0])
    if "ragged" in data:
        type_, dims, rank, splits = data["ragged"]
        return RaggedTensorSpec(dims, type_, rank, splits)
    return TensorSpec(data["shape"], data["type"])


def folder_of(path: object) -> str:
    """Return the name of a folder."""
    return os.fsdecode(np.asarray(path.numpy() if hasattr(path, "numpy") else path).item())


def save(
    dataset: Pipeline,
    path: str | bytes | os.PathLike[str] | Tensor,
    compression: str | None,
    shard_func: Callable[..., object] | None,
    checkpoint_args: Mapping[str, Any] | None,
) -> Operation | None:
    """Write the elements of a dataset into a folder; return the operation that does in a graph."""
    options: dict[str, object] = {
        "folder": Given(convert(path if isinstance(path, Tensor) else os.fspath(path), "string")),
        "compression": check_compression(compression),
        "specs": json.dumps(to_json(dataset.element_spec)),
    }
    if shard_func is not None:
        options["shard"] = trace_element(shard_func, dataset.element_spec).program()
    saving = dataset.step(Saving, **options)
    if STATE.context is None and graph_for(saving._stage.tensors()) is None:
        if checkpoint_args:
            _with_checkpoints(saving, checkpoint_args)
        else:
            through(Run(ACTIVE[-1]), saving._stage)
        return None
    if checkpoint_args:
        raise NotImplementedError("Dataset.save: checkpoint_args are for eager code")
    return with_pipeline("SaveDataset", saving._stage, [], through)


def through(run: Run, stage: Stage) -> tuple[()]:
    """Read all of a pipeline."""
    for _ in run.open(stage):
        pass
    return ()


def _with_checkpoints(saving: Pipeline, options: Mapping[str, Any]) -> None:
    """Write elements, go on from the last checkpoint if there is one, and make others."""
    from ..train.checkpoints import Checkpoint, CheckpointManager  # noqa: PLC0415

    if "checkpoint" in options:
        raise ValueError(
            "Invalid `checkpoint_args`. `checkpoint_args` are not allowed to include 'checkpoint'."
        )
    iterator = EagerIterator(saving)
    checkpoint = Checkpoint(iterator=iterator)
    manager = CheckpointManager(checkpoint, **options)
    checkpoint.restore(manager.latest_checkpoint)
    counter = options.get("step_counter")
    for _ in iterator:
        if counter is not None:
            counter.assign_add(1)
        manager.save(check_interval=True)


def load(
    kind: Callable[[Stage, object], Pipeline],
    path: object,
    element_spec: object,
    reader_func: Callable[..., object] | None,
    *,
    wait: bool,
) -> Pipeline:
    """Return the dataset of a folder that `save` wrote, or is to write: the folder says how."""
    folder = folder_of(path)
    while wait and not os.path.exists(os.path.join(folder, ABOUT)):
        time.sleep(WAIT)
    count, spec = UNKNOWN, element_spec
    if spec is None or os.path.exists(os.path.join(folder, ABOUT)):
        kept = about(folder)
        count = kept.get("count", UNKNOWN)
        spec = from_json(kept["spec"]) if spec is None else spec
    shards = kind(
        staged(Shards, (), {"folder": Given(convert(folder, "string"))}),
        kind(EMPTY, spec).part_spec,
    )
    made = in_turns(shards) if reader_func is None else reader_func(shards)
    if not isinstance(made, Pipeline):
        raise TypeError(f"`reader_func` must return a `Dataset` object. Got {type(made)}.")
    return made.step(OfKnownCount, count=count)


def snapshot(
    dataset: Pipeline,
    kind: Callable[[Stage, object], Pipeline],
    path: str | bytes | os.PathLike[str] | Tensor,
    compression: str | None,
    reader_func: Callable[..., object] | None,
    shard_func: Callable[..., object] | None,
) -> Stage:
    """Return what writes the elements into a folder, and reads them once they are there.

    A dataset of what only this process knows is none that another one wrote.
    """
    try:
        key = f"{fingerprint(dataset._stage):020d}"
    except UnimplementedError:
        key = os.urandom(10).hex()
    folder = Given(convert(path if isinstance(path, Tensor) else os.fspath(path), "string"))
    options: dict[str, object] = {
        "compression": check_compression("" if compression == "AUTO" else compression),
        "specs": json.dumps(to_json(dataset.element_spec)),
    }
    if shard_func is not None:
        traced = trace_element(shard_func, dataset.element_spec)
        if not TensorSpec([], "int64").is_compatible_with(traced.spec):
            raise TypeError(
                "Invalid `shard_func`. `shard_func` must return `tf.int64` scalar tensor but its "
                f"return type is {traced.spec}."
            )
        options["shard"] = traced.program()
    written = dataset.step(WritingSnapshot, folder=folder, key=key, **options)
    shards = kind(
        staged(SnapshotShards, (), {"folder": folder, "key": key}),
        kind(EMPTY, dataset.element_spec).part_spec,
    )
    read = in_turns(shards) if reader_func is None else reader_func(shards)
    if not isinstance(read, Pipeline):
        raise TypeError(f"`reader_func` must return a `Dataset` object. Got {type(read)}.")
    return staged(WrittenOnce, [written, read], {"folder": folder, "key": key})


def in_turns(shards: Pipeline) -> object:
    """Return a dataset of an element of each shard in turn, of as many as there are processors."""
    return shards.interleave(lambda shard: shard, cycle_length=os.cpu_count() or 1)
