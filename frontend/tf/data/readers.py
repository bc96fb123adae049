"""Datasets of what is in files: records, lines, records of one size."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...data import sources
from ...data.stages import Given
from ...eager.tensor import Tensor
from ..core.bridge import TfTensor
from ..core.specs import TensorSpec
from ..core.values import convert
from ..io.records import TFRecordOptions
from .dataset import AUTOTUNE, Dataset
from .functions import scalar
from .handles import staged

TEXT = TensorSpec([], "string")


def _paths(filenames: object) -> Dataset | TfTensor:
    """Return the names of files as a tensor; a dataset of names is taken as it is."""
    none = isinstance(filenames, list | tuple) and not filenames
    given = np.empty(0, object) if none else _as_text(filenames)
    found = filenames if isinstance(filenames, Dataset) else convert(given)
    spec = found.element_spec if isinstance(found, Dataset) else found
    kind = "a dataset of " if isinstance(found, Dataset) else ""
    said = "The `filenames` argument must contain `tf.string` elements"
    named = getattr(getattr(spec, "dtype", None), "name", type(spec).__name__)
    if named != "string":
        raise TypeError(f"{said}. Got {kind}`tf.{named}` elements.")
    if kind and spec.shape.rank not in (0, None):
        raise TypeError(
            f"{said} of shape [] (i.e. scalars). Got a dataset of elements of shape {spec.shape}."
        )
    if spec.shape.rank not in (0, 1, None):
        raise TypeError(f"`filenames` of shape {spec.shape}, expected a text or a list of texts")
    return found


def _as_text(names: object) -> object:
    """Return names of files with the text of those that are paths."""
    if isinstance(names, list | tuple):
        return [_as_text(each) for each in names]
    return os.fspath(names) if isinstance(names, os.PathLike) else names


class FileDataset(Dataset):
    """The contents of files, one after the other, or several at once."""

    KIND: type[sources.Files] = sources.Files

    def _begin(self, filenames: object, parallel: object, **options: object) -> None:
        found = _paths(filenames)
        if isinstance(found, Dataset) or parallel is not None:
            names = found if isinstance(found, Dataset) else Dataset.from_tensor_slices(found)
            kind = self.KIND

            def one(name: Tensor) -> Dataset:
                return Dataset(staged(kind, (), {"files": Given(name), **options}), TEXT)

            many = names.interleave(one, parallel, 1) if parallel is not None else (
                names.flat_map(one))  # fmt: skip
            super().__init__(many._stage, TEXT)
            return
        super().__init__(staged(self.KIND, (), {"files": Given(found), **options}), TEXT)


def options_of(compression: object, buffer: object) -> dict[str, Any]:
    """Return how files are read, as options of a stage."""
    made = {}
    if compression is not None and not (isinstance(compression, str) and not compression):
        kind = compression
        if not hasattr(compression, "spec"):
            kind = TFRecordOptions.get_compression_type_string(compression)
        made["compression"] = Given(convert(kind, "string"))
    if buffer is not None:
        made["buffer"] = Given(scalar(buffer))
    return made


class TFRecordDataset(FileDataset):
    """The records of files."""

    KIND = sources.Records

    def __init__(
        self,
        filenames: object,
        compression_type: object = None,
        buffer_size: object = None,
        num_parallel_reads: object = None,
        name: str | None = None,
    ) -> None:
        parallel = num_parallel_reads
        if isinstance(parallel, int) and parallel < 1 and parallel != AUTOTUNE:
            raise ValueError(f"num_parallel_reads must be positive, got {parallel}")
        self._begin(filenames, parallel, **options_of(compression_type, buffer_size))


class TextLineDataset(FileDataset):
    """The lines of files."""

    KIND = sources.Lines

    def __init__(
        self,
        filenames: object,
        compression_type: object = None,
        buffer_size: object = None,
        num_parallel_reads: object = None,
        name: str | None = None,
    ) -> None:
        options = options_of(compression_type, buffer_size)
        self._begin(filenames, num_parallel_reads, **options)


class FixedLengthRecordDataset(FileDataset):
    """The records of one size of files."""

    KIND = sources.FixedRecords

    def __init__(
        self,
        filenames: object,
        record_bytes: object,
        header_bytes: object = None,
        footer_bytes: object = None,
        buffer_size: object = None,
        compression_type: object = None,
        num_parallel_reads: object = None,
        name: str | None = None,
    ) -> None:
        sizes = {"size": record_bytes, "header": header_bytes or 0, "footer": footer_bytes or 0}
        options = {n: Given(scalar(v)) for n, v in sizes.items()}
        more = options_of(compression_type, buffer_size)
        self._begin(filenames, num_parallel_reads, **options, **more)
