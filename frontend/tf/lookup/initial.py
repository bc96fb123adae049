"""What tables are filled with: tensors of keys and values, or the lines of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ....ir.op import Array
from ...graph.graph import Operation
from ...values.dtypes import DataType, DTypeLike
from ...values.run_errors import InvalidArgumentError, NotFoundError
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype, int64, string
from ..core.values import InGraph, InvalidShapesError, convert, graph_of

Pairs = tuple[Array, Array]


class Filled(Protocol):
    """A table that an initialiser fills."""

    def fill_from(self, initializer: Initializer) -> Operation | None:
        """Put the pairs of an initialiser in; return the operation of a graph that does."""


class Initializer:
    """Gives the keys and the values of a table."""

    key_dtype: DataType
    value_dtype: DataType

    def initialize(self, table: Filled) -> Operation | None:
        """Fill a table; one of a program's own that does nothing leaves it as it is."""
        return table.fill_from(self)

    def operands(self) -> Sequence[TfTensor]:
        """Return the tensors that the pairs are made of."""
        raise NotImplementedError

    def pairs(self, *arrays: Array) -> Pairs:
        """Return keys and values, given the elements of the operands."""
        raise NotImplementedError


class KeyValueTensorInitializer(Initializer):
    """Fills a table from a tensor of keys and one of values."""

    def __init__(
        self,
        keys: object,
        values: object,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        with InGraph(graph_of([keys, values])):
            self._keys, self._values = convert(keys, key_dtype), convert(values, value_dtype)
        self.key_dtype, self.value_dtype = self._keys.dtype, self._values.dtype
        self.name = name

    def operands(self) -> Sequence[TfTensor]:
        """Return keys and values."""
        return self._keys, self._values

    def pairs(self, *arrays: Array) -> Pairs:
        """Return keys and values."""
        keys, values = arrays
        if keys.shape != values.shape:
            raise InvalidArgumentError(
                f"Expected shape {list(keys.shape)} for value, got {list(values.shape)}"
            )
        return keys.ravel(), values.ravel()


class TextFileIndex:
    """What of a line is a key or a value: all of it, or its number; else the column's number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(Initializer):
    """Fills a table from the lines of a file."""

    def __init__(
        self,
        filename: object,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        if isinstance(filename, str) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        self.name, self._filename = name, convert(filename, "string")
        if self._filename.shape.rank not in (0, None):
            raise InvalidShapesError(
                f"filename should be a single string, but got {self._filename.shape}"
            )
        for what, index, dtype in (
            ("key", key_index, self.key_dtype),
            ("value", value_index, self.value_dtype),
        ):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype != int64:
                raise ValueError(
                    f"`{what}_dtype` must be int64 if `{what}_index` is -1, received: {dtype}"
                )
            if index == TextFileIndex.WHOLE_LINE and dtype not in (string, int64):
                raise ValueError(
                    f"`{what}_dtype` should be either integer or string for `{what}_index` -2, "
                    f"received: {dtype}"
                )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._columns = key_index, value_index
        self._vocab_size, self._delimiter = vocab_size, delimiter.encode()
        self._offset = value_index_offset

    def operands(self) -> Sequence[TfTensor]:
        """Return the name of the file."""
        return (self._filename,)

    def pairs(self, *arrays: Array) -> Pairs:
        """Return what stands in the file."""
        name = arrays[0].item().decode()
        try:
            with open(name, "rb") as file:
                lines = file.read().splitlines()
        except OSError as error:
            raise NotFoundError(f"{name}; {error.strerror}") from None
        if self._vocab_size is not None and len(lines) < self._vocab_size:
            raise InvalidArgumentError(
                f"Invalid vocab_size in {name}: expected {self._vocab_size} but got {len(lines)}"
            )
        used = lines[: self._vocab_size]
        keys = [self._part(line, n, 0, name) for n, line in enumerate(used)]
        values = [self._part(line, n, 1, name) for n, line in enumerate(used)]
        return _array(keys, self.key_dtype), _array(values, self.value_dtype)

    def _part(self, line: bytes, number: int, side: int, name: str) -> object:
        """Return the key (side 0) or the value of a line."""
        column, dtype = self._columns[side], (self.key_dtype, self.value_dtype)[side]
        if column == TextFileIndex.LINE_NUMBER:
            return number + (self._offset if side else 0)
        text = line
        if column >= 0:
            parts = line.split(self._delimiter)
            if column >= len(parts):
                raise InvalidArgumentError(
                    f"Invalid number of columns in {name} line {number} ({line.decode()}) : "
                    f"expected at least {column + 1} got {len(parts)}"
                )
            text = parts[column]
        if dtype == string:
            return text
        try:
            return float(text) if dtype.row.is_float else int(text)
        except ValueError:
            raise InvalidArgumentError(
                f"Field {text.decode()} in line {number} is not a valid {dtype.name}."
            ) from None


def _array(values: Sequence[object], dtype: DataType) -> Array:
    """Return values of Python's as an array."""
    if dtype == string:
        made = np.empty(len(values), object)
        made[:] = values
        return made
    return np.array(values, dtype.row.numpy)
