"""The values of ONNX tensors as numpy arrays, with nothing believed that was not checked.

Raw bytes are viewed where they lie: in the mapped model, or in the mapped file beside it that
holds external data. Such arrays are read-only and may lie at an odd address.
"""

from __future__ import annotations

import hashlib
import re
from math import prod
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from ....errors import ParseError, UnsupportedOp
from ....ir import Array, DType
from ....ir.types import dtypes as d
from ...files.beside import Bytes, Noted, note_beside

DTYPES: dict[int, DType] = {
    TensorProto.FLOAT: d.f32,
    TensorProto.UINT8: d.u8,
    TensorProto.INT8: d.i8,
    TensorProto.UINT16: d.u16,
    TensorProto.INT16: d.i16,
    TensorProto.INT32: d.i32,
    TensorProto.INT64: d.i64,
    TensorProto.BOOL: d.bool_,
    TensorProto.FLOAT16: d.f16,
    TensorProto.DOUBLE: d.f64,
    TensorProto.UINT32: d.u32,
    TensorProto.UINT64: d.u64,
    TensorProto.COMPLEX64: d.c64,
    TensorProto.COMPLEX128: d.c128,
    TensorProto.BFLOAT16: d.bf16,
    TensorProto.INT4: d.i4,
    TensorProto.UINT4: d.u4,
    TensorProto.INT2: d.i2,
    TensorProto.UINT2: d.u2,
    TensorProto.FLOAT8E4M3FN: d.f8e4m3fn,
    TensorProto.FLOAT8E4M3FNUZ: d.f8e4m3fnuz,
    TensorProto.FLOAT8E5M2: d.f8e5m2,
    TensorProto.FLOAT8E5M2FNUZ: d.f8e5m2fnuz,
    TensorProto.FLOAT8E8M0: d.f8e8m0,
    TensorProto.FLOAT6E2M3: d.f6e2m3,
    TensorProto.FLOAT6E3M2: d.f6e3m2,
    TensorProto.FLOAT4E2M1: d.f4e2m1,
    TensorProto.STRING: d.string,
}

MAX_RANK = 64
MAX_BYTES = 1 << 62

_TYPED = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")


def dtype_of(code: int, what: str) -> DType:
    """Return the element type of an ONNX number, or raise an error that names `what`."""
    if code in DTYPES:
        return DTYPES[code]
    if code in TensorProto.DataType.values() and code:
        name = TensorProto.DataType.Name(code)
        raise UnsupportedOp(f"{what}: element type {name} is not supported")
    raise ParseError(f"{what}: element type {code} is unknown")


class Tensors:
    """Reads the tensors of one model."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        self.files: dict[str, Noted] = {}
        self.sums: dict[str, str] = {}
        """The SHA-1 of files, where it was asked for."""
        self.plain: dict[tuple[int, tuple[int, ...]], tuple[DType, int]] = {}
        """Types and shapes that were found to be right, with their bytes."""

    def read(
        self, tensor: TensorProto, payload: Bytes | None = None, is_plain: bool = False
    ) -> Array:
        """Return the tensor's value; `payload` is its raw bytes where they were left out.

        One that is plain has nothing but these, a type, a shape and names.
        """
        kind = tensor.data_type, tuple(tensor.dims)
        if is_plain and payload is not None and kind in self.plain:
            dtype, size = self.plain[kind]
            if payload.size == size:
                return payload.view(dtype.numpy).reshape(kind[1])
        what = f"tensor {tensor.name!r}"
        dtype = dtype_of(tensor.data_type, what)
        shape = _shape(tensor, dtype, what)
        count = 0 if dtype.is_text else prod(shape)
        expected = -(-count * dtype.bits // 8) if dtype.kind == "n" else count * dtype.size
        data = self._bytes(tensor, payload, what, expected)
        if dtype.is_text:
            return _texts(tensor, shape, what)
        if data is None:
            return _from_numbers(tensor, dtype, shape, what)
        if data.size != expected:
            raise ParseError(f"{what}: {data.size} bytes of data, {dtype}{[*shape]} has {expected}")
        if dtype.kind == "n" and dtype.bits < 8:
            data = _unpacked(data, dtype.bits, count)
        if dtype.kind != "n" and dtype is not d.bool_:
            self.plain[kind] = dtype, expected
        array = np.frombuffer(data, dtype.numpy).reshape(shape)
        return _clean_bools(array) if dtype is d.bool_ else array

    def _bytes(
        self, tensor: TensorProto, payload: Bytes | None, what: str, expected: int
    ) -> Bytes | None:
        """Return the raw bytes, None where the values are given as numbers."""
        typed = [name for name in _TYPED if len(getattr(tensor, name))]
        raw = payload is not None or tensor.HasField("raw_data")
        external = tensor.data_location == TensorProto.EXTERNAL
        if raw + external + len(typed) > 1 and not (raw and external and not _raw_size(tensor)):
            raise ParseError(f"{what}: its values are given twice")
        if tensor.HasField("segment"):
            raise UnsupportedOp(f"{what}: tensors in segments are not supported")
        if external:
            return self._external(tensor, what, expected)
        if payload is not None:
            return payload
        return np.frombuffer(tensor.raw_data, np.uint8) if raw else None

    def _external(self, tensor: TensorProto, what: str, expected: int) -> Bytes:
        """Return the part of a file beside the model that the tensor names.

        Where no length is named, it is what the tensor needs: others may come behind.
        """
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        if self.directory is None:
            raise ParseError(
                f"{what}: its data is in {location!r}, beside a model that is not a file"
            )
        try:
            if location not in self.files:
                self.files[location] = note_beside(self.directory, location)
            self._compare(location, entries.get("checksum"))
        except ParseError as error:
            raise ParseError(f"{what}: {error.message}") from error
        file = self.files[location].data
        offset = _number(entries, "offset", 0, what)
        length = _number(entries, "length", min(file.size - offset, expected), what)
        if offset + length > file.size:
            end = f"{offset} + {length}"
            raise ParseError(f"{what}: bytes {end} lie behind the {file.size} of {location!r}")
        return file[offset : offset + length]

    def _compare(self, location: str, checksum: str | None) -> None:
        """Refuse a file that is not the one whose SHA-1 a tensor names; other sums say nothing."""
        if checksum is None or not re.fullmatch("[0-9A-Fa-f]{40}", checksum):
            return
        if location not in self.sums:
            file = self.files[location]
            data = file.data.data
            self.sums[location] = file.said(
                "sha1", lambda: hashlib.sha1(data, usedforsecurity=False).hexdigest()
            )
        if (found := self.sums[location]) != checksum.lower():
            raise ParseError(
                f"{location!r} was changed: its checksum is {found!r}, expected {checksum[:80]!r}"
            )


def _unpacked(data: Bytes, bits: int, count: int) -> Bytes:
    """Return elements of fewer than 8 bits, which lie from the lowest bit on, a byte each."""
    stream = np.unpackbits(np.asarray(data), count=count * bits, bitorder="little")
    return np.packbits(stream.reshape(count, bits), axis=1, bitorder="little").reshape(count)


def _raw_size(tensor: TensorProto) -> int:
    return len(tensor.raw_data)


def _number(entries: dict[str, str], key: str, default: int, what: str) -> int:
    text = entries.get(key)
    if text is None:
        return max(default, 0)
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ParseError(f"{what}: {key} {text[:40]!r} of external data is not a number")
    return int(text)


def _shape(tensor: TensorProto, dtype: DType, what: str) -> tuple[int, ...]:
    shape = tuple(tensor.dims)
    if len(shape) > MAX_RANK:
        raise ParseError(f"{what}: rank {len(shape)}, expected at most {MAX_RANK}")
    if any(dim < 0 for dim in shape):
        raise ParseError(f"{what}: shape {[*shape]} has a negative dimension")
    if prod(shape) * dtype.size >= MAX_BYTES:
        raise ParseError(f"{what}: shape {[*shape]} is too large")
    return shape


def _from_numbers(tensor: TensorProto, dtype: DType, shape: tuple[int, ...], what: str) -> Array:
    """Return the value of a tensor whose elements are written one by one."""
    code = tensor.data_type
    field = helper.tensor_dtype_to_field(code)
    found = len(getattr(tensor, field))
    expected = prod(shape) * (2 if dtype.kind == "c" else 1)
    if dtype.bits in (2, 4):  # as many elements to a number as there are in a byte
        expected = -(-expected * dtype.bits // 8)
    if found != expected:
        wrong = [n for n in _TYPED if n != field and len(getattr(tensor, n))]
        where = f" (but {', '.join(wrong)} is filled)" if wrong else ""
        raise ParseError(
            f"{what}: {found} numbers in {field}, {dtype}{[*shape]} has {expected}{where}"
        )
    try:
        return np.asarray(numpy_helper.to_array(tensor)).astype(dtype.numpy, copy=False)
    except (ValueError, OverflowError, TypeError) as error:
        raise ParseError(f"{what}: {error}") from error


def _texts(tensor: TensorProto, shape: tuple[int, ...], what: str) -> Array:
    """Return the value of a tensor of texts, which are UTF-8."""
    stored = list(tensor.string_data)
    if len(stored) != prod(shape):
        raise ParseError(f"{what}: {len(stored)} texts, shape {[*shape]} has {prod(shape)}")
    found = np.empty(len(stored), object)
    try:
        found[:] = [text.decode() for text in stored]
    except UnicodeDecodeError as error:
        raise ParseError(f"{what}: a text is not UTF-8") from error
    return found.reshape(shape)


def _clean_bools(array: Array) -> Array:
    """Return bools stored as 0 and 1; other bytes count as true."""
    stored = array.view(np.uint8)
    return array if not stored.size or stored.max() <= 1 else np.asarray(stored != 0)
