"""Bytes as numbers and back: raw elements, tables of text, compressed text, tensors."""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, SupportsInt, TypeAlias

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...dims.unknown import unknown_dim
from ...formats.examples import parsed_as
from ...formats.messages import TensorProto
from ...formats.tensors import from_bytes, from_message, to_bytes
from ...graph.graph import spec_with_unknowns
from ...values import decimals
from ...values.arrays import as_listed
from ...values.dtypes import DTypeLike
from ...values.run_errors import DataLossError, InvalidArgumentError
from ...values.texts import TEXT, Text, Texts, made_text
from ..core.bridge import TfTensor, row_of
from ..core.element_types import as_dtype
from ..core.host_ops import SCALAR_TEXT, each, host, like_input, text
from ..core.values import InGraph, convert, convert_text, graph_of
from .fields import cut_fields

Data: TypeAlias = bytes  # a parameter of TensorFlow has the name of the type


def decode_raw(
    input_bytes: object = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    fixed_length: SupportsInt | None = None,
    name: str | None = None,
    bytes: object = None,
) -> TfTensor:
    """Return the elements that bytes are, along a new last axis."""
    row = row_of(out_type)
    if row is None or row.kind == "s":
        raise TypeError(f"bytes cannot be read as elements of {out_type}")
    dtype = row.numpy if little_endian else row.numpy.newbyteorder(">")
    size = None if fixed_length is None else int(fixed_length)
    if size is not None and (size <= 0 or size % dtype.itemsize):
        raise InvalidArgumentError(
            "fixed_length must be a multiple of the size of out_type: expected one of "
            f"{dtype.itemsize}, got {size}"
        )

    def compute(given: Array | Text) -> Sequence[Array]:
        found = _at_once(given, dtype, size) if isinstance(given, Text) else None
        if found is None:
            found = _elements(np.asarray(given), dtype, size)
        return (found.astype(row.numpy, copy=False),)

    last = unknown_dim() if size is None else size // dtype.itemsize

    def specs(given: Sequence[TensorSpec]) -> Sequence[TensorSpec]:
        shape = given[0].shape
        return [TensorSpec(row, None if shape is None else (*shape, last))]

    given = input_bytes if input_bytes is not None else bytes
    tensors = [convert_text(given, "DecodeRaw")]
    return host("DecodeRaw", compute, tensors, specs, reads_text=True, name=name)[0]


def _at_once(given: Text, dtype: np.dtype[np.generic], size: int | None) -> Array | None:
    """Return the elements of many texts of one length; None: they are few, or are to be filled."""
    if not given.is_long:
        return None
    row = given.row
    length = int(row.sizes[0]) if size is None else size
    if length % dtype.itemsize or (row.sizes != length).any():
        return None
    return row.every.copy().view(dtype).reshape(*given.dims, length // dtype.itemsize)


def _elements(array: Array, dtype: np.dtype[np.generic], size: int | None) -> Array:
    """Return the elements of all texts, which have one length, or are cut and filled to it."""
    if not array.ndim and size is None:
        data = array.item()
        _whole(len(data), dtype)
        return np.frombuffer(data, dtype)
    flat = array.ravel().tolist()
    if size is not None:
        flat = [x[:size].ljust(size, b"\0") for x in flat]
    lengths = {len(x) for x in flat} or {0}
    if len(lengths) > 1:
        raise InvalidArgumentError(
            "DecodeRaw requires input strings to all be the same size, but element 1 has size "
            f"{len(flat[0])} != {len(flat[1])}"
        )
    length = lengths.pop()
    _whole(length, dtype)
    return np.frombuffer(b"".join(flat), dtype).reshape(*array.shape, length // dtype.itemsize)


def _whole(length: int, dtype: np.dtype[np.generic]) -> None:
    if length % dtype.itemsize:
        raise InvalidArgumentError(
            f"Input to DecodeRaw has length {length} that is not a multiple of {dtype.itemsize}, "
            f"the size of {dtype.name}"
        )


def decode_csv(
    records: object,
    record_defaults: Sequence[object],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[TfTensor]:
    """Return the columns of lines of text; a default of no elements says that there must be one."""
    if len(field_delim) != 1 or field_delim in '"\n\r':
        raise ValueError(f"field_delim should be only one char, got {field_delim!r}")
    with InGraph(graph_of([records, *record_defaults])):
        given = [convert(default) for default in record_defaults]
        line = convert(records, "string")
    if select_cols is not None and len(select_cols) != len(given):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    chosen = list(select_cols or ())
    if any(column < 0 for column in chosen):
        raise ValueError(f"select_cols contains negative values: {chosen}")
    if any(a >= b for a, b in pairwise(chosen)):
        raise ValueError(f"select_cols is not strictly increasing: {chosen}")
    table = Table(field_delim, use_quote_delim, na_value.encode(), select_cols)
    for default in given:
        if default.dtype.name not in ("float32", "float64", "int32", "int64", "string"):
            raise TypeError(f"a column of {default.dtype.name}, expected numbers or text")
        if default.shape.rank not in (0, 1) or (default.shape.num_elements() or 0) > 1:
            raise InvalidArgumentError(
                "Each record default should be at most rank 1: "
                "Shape of a default must be a length-0 or length-1 vector"
            )

    def specs(found: Sequence[TensorSpec]) -> Sequence[TensorSpec]:
        return [TensorSpec(d.spec.dtype, found[0].shape) for d in given]

    return host("DecodeCSV", table.read, [line, *given], specs, reads_text=True, name=name)


class Table:
    """How lines are cut into fields."""

    def __init__(
        self, delimiter: str, quotes: bool, missing: bytes, chosen: Sequence[int] | None
    ) -> None:
        self.delimiter, self.quotes, self.missing = delimiter, quotes, missing
        self.chosen = None if chosen is None else list(chosen)

    def read(self, records: Array | Text, *defaults: Array | Text) -> Sequence[object]:
        """Return a column for each default, of many lines at once where each is plain."""
        given = made_text(records)
        known = [np.asarray(x) for x in defaults]
        found = self.at_once(given, known) if given.is_long else None
        if found is None:
            return self.columns(np.asarray(records), *known)
        return found if given is records else [np.asarray(x) for x in found]

    def at_once(self, lines: Text, defaults: Sequence[Array]) -> list[Array | Text] | None:
        """Return the columns; None: a line is none, or some field is to be looked at by itself."""
        row, sign, count = lines.row, self.delimiter.encode(), len(defaults)
        places = self.chosen or [*range(count)]
        if len(sign) > 1 or places != sorted({*places}):
            return None
        columns = np.full(places[-1] + 1, -1, np.int64)
        columns[places] = np.arange(count)
        begins, widths = np.empty((2, count, len(row)), np.int64)
        made, missing = np.empty(len(row.every), np.uint8), np.frombuffer(self.missing, np.uint8)
        how = sign[0], int(self.quotes), missing, columns, int(self.chosen is None)
        if not cut_fields(row.every, row.sizes, *how, made, begins, widths):
            return None
        found: list[Array | Text] = []
        for default, at, sizes in zip(defaults, begins, widths, strict=True):
            column = _column(made, at, sizes, default)
            if column is None:
                return None
            if isinstance(column, Texts):
                found.append(lines.with_row(column))
            else:
                found.append(column.reshape(lines.dims))
        return found

    def columns(self, records: Array, *defaults: Array) -> Sequence[Array]:
        """Return a column for each default."""
        flat = [self.fields(r, i, len(defaults)) for i, r in enumerate(records.ravel().tolist())]
        return tuple(
            column([fields[i] for fields in flat], default, i, self.missing, records.shape)
            for i, default in enumerate(defaults)
        )

    def fields(self, record: bytes, number: int, wanted: int) -> list[bytes]:
        """Return the fields of a line that are wanted."""
        found = self.cut(record, number)
        if len(found) != wanted:
            raise InvalidArgumentError(
                f"Expect {wanted} fields but have {len(found)} in record {number}"
            )
        return found

    def cut(self, line: bytes, number: int) -> list[bytes]:
        """Return the fields of a line, no more than are chosen; ends of lines may precede each."""
        delimiter, found, at, place = self.delimiter.encode(), [], 0, 0
        while at < len(line):
            if line[at] in b"\r\n":
                at += 1
                continue
            if self.quotes and line[at] in b'"':
                field, at = _between_quotes(line, at + 1, delimiter, number)
            else:
                stop = line.find(delimiter, at)
                field, at = line[at : stop if stop >= 0 else None], stop
                if any(x in field for x in (b'"\r\n' if self.quotes else b"\r\n")):
                    raise InvalidArgumentError(
                        f"Unquoted fields cannot have quotes/CRLFs inside: record {number}"
                    )
            if self.chosen is None or place in self.chosen:
                found.append(field)
            place += 1
            if at < 0 or (self.chosen is not None and len(found) == len(self.chosen)):
                return found
            at += len(delimiter)
        if line.endswith(delimiter) and (self.chosen is None or place in self.chosen):
            found.append(b"")
        return found


def _between_quotes(line: bytes, at: int, delimiter: bytes, number: int) -> tuple[bytes, int]:
    """Return a field that began with a quote, and where it ends: -1 with the line.

    Two quotes are one.
    """
    pieces = []
    while True:
        stop = line.find(b'"', at)
        if stop < 0:
            raise InvalidArgumentError(
                f"Quoted field has to end with quote followed by delim or end: record {number}"
            )
        pieces.append(line[at:stop])
        if stop + 1 == len(line):
            return b'"'.join(pieces), -1
        if line.startswith(delimiter, stop + 1):
            return b'"'.join(pieces), stop + 1
        if line[stop + 1] not in b'"':
            raise InvalidArgumentError(
                f"Quote inside a string has to be escaped by another quote: record {number}"
            )
        at = stop + 2


def column(
    fields: Sequence[bytes], default: Array, number: int, missing: bytes, shape: tuple[int, ...]
) -> Array:
    """Return fields as elements of a default's type."""
    made = np.empty(len(fields), default.dtype)
    for place, field in enumerate(fields):
        if field in (b"", missing):
            if not default.size:
                raise InvalidArgumentError(
                    f"Field {number} is required but missing in record {place}!"
                )
            made[place] = default.ravel()[0]
        else:
            made[place] = _field(field, default.dtype, number, place)
    return made.reshape(shape)


def _column(every: Array, begins: Array, sizes: Array, default: Array) -> Array | Texts | None:
    """Return fields as elements of a default's type, which stands for those that are missing.

    None: some are none, or missing without a default.
    """
    missing = np.flatnonzero(sizes == 0)
    if not len(missing):
        return _as_elements(Texts(every, sizes).parts(begins, sizes), default)
    if not default.size:
        return None
    is_text = default.dtype.kind == "O"
    text = default.item() if is_text else b"0"
    begins, sizes = begins.copy(), sizes.copy()
    begins[missing], sizes[missing] = len(every), len(text)
    whole = np.concatenate([every, np.frombuffer(text, np.uint8)])
    made = _as_elements(Texts(whole, sizes).parts(begins, sizes), default)
    if isinstance(made, np.ndarray):
        made[missing] = default.item()
    return made


def _as_elements(fields: Texts, like: Array) -> Array | Texts | None:
    """Return fields as elements of the type that others have; None: some are none."""
    dtype = like.dtype
    if dtype.kind == "O":
        return fields
    is_float = dtype.kind == "f"
    found = decimals.read(fields) if is_float else decimals.read_whole(fields)
    if found is None:
        each: list[bytes] = fields.separate().tolist()
        try:
            found = np.array([*map(float if is_float else int, each)], object)
        except ValueError:
            return None  # which one it is, is said when they are looked at one by one
    if (
        not is_float
        and not np.iinfo(dtype).min <= found.min() <= found.max() <= np.iinfo(dtype).max
    ):
        return None
    with np.errstate(over="ignore"):
        return found.astype(dtype)


def _field(field: bytes, dtype: Any, number: int, place: int) -> object:
    if dtype.kind == "O":
        return field
    try:
        value = float(field) if dtype.kind == "f" else int(field)
        return dtype.type(value)
    except (ValueError, OverflowError):
        name = {"f": "float" if dtype.itemsize == 4 else "double"}.get(dtype.kind, dtype.name)
        raise InvalidArgumentError(
            f"Field {number} in record {place} is not a valid {name}: {field.decode('latin-1')}"
        ) from None


FROM_THE_WEB = bytes.maketrans(b"-_+/", b"+/!!")
"""The signs of base 64 by those that the web has for them; its own two are none of these."""


FILLING = (b"", b"===", b"==", b"=")
"""What fills up to four signs, by how many there are."""


def decode_base64(input: object, name: str | None = None) -> TfTensor:
    """Return what base 64 (of the web's alphabet) stands for."""

    def one(data: bytes) -> bytes:
        body = data.rstrip(b"=") if data.endswith(b"=") else data
        rest = len(body) % 4
        if rest == 1:
            raise InvalidArgumentError("Base64 string length cannot be 1 modulo 4.")
        if body is not data and (len(data) % 4 or len(data) - len(body) > 2):
            raise InvalidArgumentError(f"base64 of {len(data)} signs that is not filled up to 4")
        try:
            filled = body.translate(FROM_THE_WEB)
            return a2b_base64(filled + FILLING[rest] if rest else filled, strict_mode=True)
        except binascii.Error as error:
            raise InvalidArgumentError(f"Invalid character found in base64: {error}") from None

    return _of_text("DecodeBase64", one, input, name, Texts.of_base64)


OF_THE_WEB = bytes.maketrans(b"+/", b"-_")


def encode_base64(input: object, pad: bool = False, name: str | None = None) -> TfTensor:
    """Return base 64 of the web's alphabet, filled up with `=` or not."""

    def one(data: bytes) -> bytes:
        found = binascii.b2a_base64(data, newline=False).translate(OF_THE_WEB)
        return found if pad else found.rstrip(b"=")

    return _of_text("EncodeBase64", one, input, name, lambda row: row.in_base64(pad=pad))


DECOMPRESS: dict[str, Callable[[Data], Data]] = {
    "": lambda x: x,
    "ZLIB": zlib.decompress,
    "GZIP": gzip.decompress,
}
"""By the type: what a step that is saved finds by it again."""


def decode_compressed(
    bytes: object, compression_type: str = "", name: str | None = None
) -> TfTensor:
    """Return what was compressed by `ZLIB` or `GZIP`."""
    if compression_type not in DECOMPRESS:
        raise InvalidArgumentError(
            f"Only ZLIB, GZIP or NONE are supported compressions. Got {compression_type}"
        )

    def one(data: Data) -> Data:
        try:
            return DECOMPRESS[compression_type](data)
        except (zlib.error, OSError, EOFError) as error:
            raise DataLossError(f"damaged compressed data: {error}") from None

    return _of_text("DecodeCompressed", one, bytes, name)


def _of_text(
    type_: str, one: Callable[[bytes], bytes], value: object, name: str | None,
    many: Callable[[Texts], Texts | None] | None = None,
) -> TfTensor:  # fmt: skip
    """Return what a function makes of each text, or `many` of all, if there are many and it can."""

    def compute(given: Array | Text) -> Sequence[object]:
        if many is not None and isinstance(given, Text) and given.is_long:
            row = many(given.row)
            if row is not None:
                return (given.with_row(row),)
        return (each(one, np.asarray(given)),)

    tensors = [convert_text(value, type_)]
    return host(type_, compute, tensors, like_input(TEXT), reads_text=True, name=name)[0]


def serialize_tensor(tensor: object, name: str | None = None) -> TfTensor:
    """Return a tensor as bytes, which `parse_tensor` reads."""

    def compute(array: Array) -> Sequence[Array]:
        return (text(to_bytes(array)),)

    return host("SerializeTensor", compute, [convert(tensor)], [SCALAR_TEXT], name=name)[0]


def parse_tensor(
    serialized: object, out_type: DTypeLike | None, name: str | None = None
) -> TfTensor:
    """Return the tensor of bytes that `serialize_tensor` wrote; its type is stated."""
    row = row_of(out_type)
    assert row is not None, "a type was given"

    def compute(data: Array) -> Sequence[Array]:
        if data.ndim:
            raise InvalidArgumentError(
                f"Expected `serialized` to be a scalar, got shape: {as_listed(data.shape)}"
            )
        found = from_bytes(data.item())
        if found is None:
            found = _parsed(data.item())
        if found.dtype != row.numpy:
            raise InvalidArgumentError(
                f"Type mismatch between parsed tensor ({found.dtype}) and dtype "
                f"({as_dtype(row).name})"
            )
        return (found,)

    given = [convert_text(serialized, "ParseTensor")]
    return host("ParseTensor", compute, given, [spec_with_unknowns(row, None)], name=name)[0]


def _parsed(data: Data) -> Array:
    """Return the array of a message, or raise."""

    def fault() -> str:
        coded = base64.b64encode(data).decode()
        return f"Could not parse `serialized` as TensorProto, base64: {coded}"

    return from_message(parsed_as(TensorProto, data, fault))


__all__ = ["decode_csv", "decode_raw", "parse_tensor", "rows", "serialize_tensor"]
