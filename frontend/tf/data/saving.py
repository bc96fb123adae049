"""Datasets in folders: `Dataset.save` and `Dataset.load`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...data.files import Saved, element_bytes
from ...data.stages import Given, Run
from ...formats.records import RecordWriter, file_errors
from ...function.traces import ACTIVE
from ..core.specs import TensorSpec
from ..core.structures import Pipeline
from ..core.values import convert
from .handles import staged

ELEMENTS, SPEC = "elements.records", "spec.json"


def to_json(spec: object) -> object:
    """Return the specs of an element as data of JSON's, or refuse what has no form."""
    if isinstance(spec, TensorSpec):
        dims = spec.shape._dims
        return {"type": spec.dtype.name, "shape": None if dims is None else list(dims)}
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
    return TensorSpec(data["shape"], data["type"])


def folder_of(path: object) -> str:
    """Return the name of a folder."""
    return os.fsdecode(np.asarray(path.numpy() if hasattr(path, "numpy") else path).item())


def save(
    dataset: Pipeline, path: object, compression: str | None, unsupported: Mapping[str, object]
) -> None:
    """Write the elements of a dataset into a folder."""
    given = [name for name, value in unsupported.items() if value is not None]
    if given:
        raise NotImplementedError(f"Dataset.save: {given[0]} is not supported")
    folder = folder_of(path)
    data = json.dumps({"compression": compression or "", "spec": to_json(dataset.element_spec)})
    os.makedirs(folder, exist_ok=True)
    writer = RecordWriter(os.path.join(folder, ELEMENTS), compression or "")
    for element in Run(ACTIVE[-1]).open(dataset._stage):
        writer.write(element_bytes(element))
    writer.close()
    with open(os.path.join(folder, SPEC), "w", encoding="utf-8") as file:
        file.write(data)


def load(kind: Any, path: object, element_spec: object) -> Any:
    """Return the dataset of a folder that `save` wrote."""
    folder = folder_of(path)
    with file_errors(folder), open(os.path.join(folder, SPEC), encoding="utf-8") as file:
        kept = json.load(file)
    options = {
        "path": Given(convert(os.path.join(folder, ELEMENTS), "string")),
        "compression": Given(convert(kept["compression"], "string")),
    }
    spec = from_json(kept["spec"]) if element_spec is None else element_spec
    return kind(staged(Saved, (), options), spec)
