"""Datasets of what tables and records of features in files say: CSV, `tf.train.Example`."""

from __future__ import annotations

import csv
import glob
import io
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ....ir.op import Array
from ...data.sources import CsvLines
from ...data.stages import Given
from ...formats.records import Readable, open_read
from ..core.bridge import TfTensor, row_of
from ..core.element_types import as_dtype
from ..core.values import convert
from ..io.decoding import decode_csv
from ..io.parsing import parse_example
from .dataset import Dataset
from .handles import staged
from .readers import TEXT, TFRecordDataset, options_of

Fields = Mapping[str, object]
LARGEST = float(np.finfo(np.float32).max)
NUMBERS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("int32", lambda text: np.int32(int(text))),
    ("int64", lambda text: np.int64(int(text))),
    ("float32", lambda text: _single(float(text))),
    ("float64", float),
)
"""Element types of columns, the narrowest first, and what reads a field as one."""


def _single(value: float) -> float:
    if LARGEST < abs(value) < np.inf:
        raise OverflowError("more than an f32 can hold")
    return value


def _file(path: object, options: Mapping[str, object]) -> Dataset:
    """Return the lines of one file, which a quoted field may span several of."""
    return Dataset(staged(CsvLines, (), {"files": Given(convert(path, "string")), **options}), TEXT)


def _required(default: object) -> object:
    """Return a default as `decode_csv` takes it: of a type alone, one of no elements."""
    if isinstance(default, str | list | np.ndarray | float | int) or hasattr(default, "spec"):
        return default
    row = row_of(as_dtype(default))
    assert row is not None, "an element type was given"
    return np.zeros(0, object if row.kind == "s" else row.numpy)


class CsvDataset(Dataset):
    """The rows of CSV files: a tensor for each column."""

    def __init__(
        self,
        filenames: object,
        record_defaults: Sequence[object],
        compression_type: object = None,
        buffer_size: object = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("Should not specify both select_cols and exclude_cols")
        options = options_of(compression_type, buffer_size)
        options["quotes"] = Given(convert(bool(use_quote_delim)))
        defaults = [_required(each) for each in record_defaults]
        left_out = None if exclude_cols is None else set(exclude_cols)

        def rows(path: object) -> Dataset:
            found = _file(path, options)
            return found.skip(1) if header else found

        def fields(line: object) -> tuple[TfTensor, ...]:
            chosen = select_cols
            if left_out is not None:
                wide = len(defaults) + len(left_out)
                chosen = [i for i in range(wide) if i not in left_out]
            return tuple(decode_csv(line, defaults, field_delim, use_quote_delim, na_value, chosen))

        names = filenames
        if not isinstance(names, Dataset):
            names = Dataset.from_tensor_slices(np.atleast_1d(np.asarray(filenames, object)))
        made = names.flat_map(rows).map(fields)
        super().__init__(made._stage, made.element_spec)


def _found(pattern: object) -> list[str]:
    """Return the files that patterns name, in the order of their names."""
    patterns = [pattern] if isinstance(pattern, str | bytes | os.PathLike) else list(pattern)  # type: ignore[call-overload]
    names = sorted(path for each in patterns for path in glob.glob(os.fsdecode(each)))
    if not names:
        raise ValueError(f"No files match `file_pattern` {pattern}.")
    return names


class _Head:
    """The first rows of a file, as Python reads them."""

    def __init__(
        self, path: str, delimiter: str, quotes: bool, compression: str, encoding: str
    ) -> None:
        file = open_read(path.encode(), compression)
        text = io.TextIOWrapper(io.BytesIO(_all(file)), encoding, newline="")
        if quotes:
            self.rows = csv.reader(text, delimiter=delimiter)
        else:
            self.rows = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)

    def rest(self, header: bool) -> Iterator[list[str]]:
        """Return the rows behind the names."""
        return itertools.islice(self.rows, 1 if header else 0, None)

    def next(self, path: str) -> list[str]:
        """Return the next row."""
        row = next(self.rows, None)
        if row is None:
            raise ValueError(f"Received StopIteration: no rows in '{path}'")
        return row


def _all(file: Readable) -> bytes:
    pieces = []
    try:
        while piece := file.read(1 << 20):
            pieces.append(piece)
    finally:
        file.close()
    return b"".join(pieces)


def _kind(text: str, before: int) -> int:
    """Return the place in `NUMBERS` of the narrowest type that a field has, at least `before`."""
    for place in range(before, len(NUMBERS)):
        try:
            NUMBERS[place][1](text)
        except (ValueError, OverflowError):
            continue
        return place
    return len(NUMBERS)


def inferred(rows: Sequence[Sequence[str]], columns: Sequence[int], missing: str) -> list[Array]:
    """Return a default for each column, of the narrowest type that all its fields have."""
    made = []
    for column in columns:
        kind, seen = 0, False
        for row in rows:
            if row[column] not in ("", missing):
                kind, seen = _kind(row[column], kind), True
        text = not seen or kind == len(NUMBERS)
        made.append(np.array([b""], object) if text else np.zeros(1, NUMBERS[kind][0]))
    return made


def make_csv_dataset(
    file_pattern: object,
    batch_size: object,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[object] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[int | str] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: object = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Return batches of the rows of CSV files: dictionaries of columns, and the label's column.

    Names and types of columns that are not given are those of the first file.
    """
    files = _found(file_pattern)
    head = _Head(files[0], field_delim, use_quote_delim, compression_type or "", encoding)
    if header:
        names = head.next(files[0])
        column_names = names if column_names is None else column_names
    if column_names is None:
        raise ValueError("Cannot infer column names without a header.")
    if len(set(column_names)) != len(column_names):
        raise ValueError("Cannot have duplicate column names.")
    chosen = _chosen(select_columns, list(column_names))
    if column_defaults is None:
        later = (_Head(f, field_delim, use_quote_delim, compression_type or "", encoding)
                 for f in files[1:])  # fmt: skip
        found = itertools.chain(head.rows, *(each.rest(header) for each in later))
        rows = list(itertools.islice(found, num_rows_for_inference))
        column_defaults = inferred(rows, chosen, na_value)
    kept = [column_names[i] for i in chosen]
    if label_name is not None and label_name not in kept:
        raise ValueError("`label_name` provided must be one of the columns.")

    def rows_of(path: object) -> Dataset:
        return CsvDataset(
            Dataset.from_tensors(path), column_defaults, compression_type, header=header,
            field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value,
            select_cols=chosen,
        )  # fmt: skip

    def named(*columns: object) -> object:
        return labelled(dict(zip(kept, columns, strict=True)), label_name)

    data = Dataset.from_tensor_slices(np.array(files, object))
    if shuffle:
        data = data.shuffle(len(files), shuffle_seed)
    data = data.interleave(rows_of, num_parallel_reads or 1, 1)
    if ignore_errors:
        data = data.ignore_errors()
    data = repeated(data, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    data = data.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return data.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _chosen(selected: Sequence[int | str] | None, names: list[str]) -> list[int]:
    """Return the places of the columns that are wanted, in order."""
    if selected is None:
        return list(range(len(names)))
    places = []
    for each in selected:
        if isinstance(each, str) and each not in names:
            raise ValueError(f"Value '{each}' of `select_columns` is not in column_names")
        places.append(names.index(each) if isinstance(each, str) else int(each))
    if len(set(places)) != len(places):
        raise ValueError("Duplicate select_columns values")
    return sorted(places)


def labelled(columns: dict[str, object], label: str | None) -> object:
    """Return columns by their names, with that of the label apart."""
    if label is None:
        return columns
    found = columns.pop(label)
    return columns, found


def repeated(
    data: Dataset, epochs: int | None, shuffle: bool, buffer: int, seed: int | None
) -> Dataset:
    """Return a dataset shuffled and repeated, as wanted."""
    if shuffle:
        data = data.shuffle(buffer, seed)
    return data if epochs == 1 else data.repeat(epochs)


def make_batched_features_dataset(
    file_pattern: object,
    batch_size: object,
    features: Fields,
    reader: Callable[..., Dataset] | None = None,
    label_key: str | None = None,
    reader_args: Sequence[object] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: object = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Return batches of the features of `tf.train.Example`s in files, and the label's apart."""
    opened: Callable[..., Dataset] = reader or TFRecordDataset
    data = Dataset.from_tensor_slices(np.array(_found(file_pattern), object))
    if shuffle:
        data = data.shuffle(int(data.cardinality().numpy()), shuffle_seed)
    data = data.interleave(lambda path: opened(path, *(reader_args or ())), reader_num_threads or 1)
    data = repeated(data, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    data = data.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    data = parse_example_dataset(features, parser_num_threads or 2)(data)
    if label_key is not None:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of `features`.")
        data = data.map(lambda found: labelled(dict(found), label_key))
    return data.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def parse_example_dataset(
    features: Fields, num_parallel_calls: int | None = 1, deterministic: bool | None = None
) -> Callable[[Dataset], Dataset]:
    """Return a function for `Dataset.apply`: texts of examples become their features."""
    if features is None:
        raise ValueError("Argument `features` is required")
    return lambda data: data.map(lambda text: parse_example(text, features), num_parallel_calls)
