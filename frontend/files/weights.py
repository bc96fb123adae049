"""Weights in safetensors files: mapped where they lie, and written whole or not at all.

A file is the length of a header in 8 bytes, the header as JSON (for each tensor dtype, shape
and the two offsets of its bytes), and the bytes. Nothing in it is code.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from math import prod
from pathlib import Path

import numpy as np

from ...codegen.digests import digest_of
from ...errors import ParseError
from ...ir import DTYPES, Array, DType
from ...runtime.files import replacing, together
from .beside import Bytes, note_beside

MAX_HEADER = 100_000_000

_NAMES = {
    "BOOL": "bool", "I8": "i8", "I16": "i16", "I32": "i32", "I64": "i64", "U8": "u8",
    "U16": "u16", "U32": "u32", "U64": "u64", "F16": "f16", "BF16": "bf16", "F32": "f32",
    "F64": "f64", "C64": "c64", "F8_E4M3": "f8e4m3fn", "F8_E5M2": "f8e5m2", "F8_E8M0": "f8e8m0",
}  # fmt: skip
_CODES = {ours: theirs for theirs, ours in _NAMES.items()}


METADATA = "__metadata__"
DIGEST = "gv.data_digest"
"""What a file of weights says of them: a text and weights of another time are refused."""
COMPLEX = "gravure.complex128"
"""The name in a file's metadata of the list of tensors that are pairs of f64."""
TEXTS = "gravure.texts"
"""The name in a file's metadata of the shapes of tensors of texts, by their names.

They are bytes: how long each text is in 8 of them, and behind all of that the texts.
"""


def read_safetensors(data: Bytes, name: str) -> dict[str, Array]:
    """Return views of the tensors in a mapped file, or raise `ParseError`."""
    header, body = _parted(data, name)
    pairs = _complex_names(header, name)
    rows = {key: row for key, row in header.items() if key != METADATA}
    found = {key: _tensor(body, row, f"tensor {key!r} of {name!r}") for key, row in rows.items()}
    for key in pairs:
        array = found.get(key)
        if array is None or array.dtype != np.float64 or array.shape[-1:] != (2,):
            raise ParseError(f"tensor {key!r} of {name!r} is no pairs of f64, as its file says")
        flat = np.frombuffer(array.reshape(-1), np.complex128)
        found[key] = flat.reshape(array.shape[:-1])
    for key, shape in _text_shapes(header, name).items():
        found[key] = _texts(found.get(key), shape, f"tensor {key!r} of {name!r}")
    return found


def read_metadata(data: Bytes, name: str) -> dict[str, str]:
    """Return the texts that a file holds besides tensors, by name."""
    found = _parted(data, name)[0].get(METADATA, {})
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise ParseError(f"{name!r} is not a safetensors file: its metadata is no texts by name")
    return found


def _said(header: Mapping[str, object], key: str, name: str, usual: str) -> object:
    """Return what a file's metadata says under a key, as data; what is usual if it says nothing."""
    metadata = header.get(METADATA)
    text = metadata.get(key, usual) if isinstance(metadata, dict) else usual
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ParseError(f"{name!r} is not a safetensors file: {key}: {error}") from error


def _complex_names(header: Mapping[str, object], name: str) -> list[str]:
    found = _said(header, COMPLEX, name, "[]")
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ParseError(f"{name!r} is not a safetensors file: {COMPLEX} is no list of names")
    return found


def _text_shapes(header: Mapping[str, object], name: str) -> dict[str, list[int]]:
    found = _said(header, TEXTS, name, "{}")
    rows = found.items() if isinstance(found, dict) else [("", None)]
    for _, shape in rows:
        if not isinstance(shape, list) or not all(
            type(d) is int and 0 <= d < 1 << 31 for d in shape
        ):
            raise ParseError(f"{name!r} is not a safetensors file: {TEXTS} is no shapes by name")
    return dict(rows)


def _texts(data: Array | None, shape: list[int], what: str) -> Array:
    """Return the texts that bytes are."""
    count = prod(shape)
    if data is None or data.dtype != np.uint8 or data.ndim != 1 or data.size < 8 * count:
        raise ParseError(f"{what} is no texts, as its file says")
    ends = [0, *np.cumsum(np.frombuffer(data[: 8 * count].tobytes(), "<u8")).tolist()]
    body = data[8 * count :].tobytes()
    if ends[-1] != len(body) or any(a > b for a, b in itertools.pairwise(ends)):
        raise ParseError(f"{what} is no texts: they are not as long as it has bytes")
    made = np.empty(count, object)
    made[:] = [body[a:b] for a, b in itertools.pairwise(ends)]
    return made.reshape(shape)


def _bytes_of_texts(array: Array) -> Array:
    """Return texts as bytes."""
    flat = [x if isinstance(x, bytes) else str(x).encode() for x in array.ravel().tolist()]
    lengths = np.array([len(x) for x in flat], "<u8")
    return np.frombuffer(lengths.tobytes() + b"".join(flat), np.uint8)


def _parted(data: Bytes, name: str) -> tuple[dict[str, object], Bytes]:
    """Return the header and the bytes behind it."""
    if data.size < 8:
        raise ParseError(f"{name!r} is not a safetensors file: {data.size} bytes")
    length = int.from_bytes(data[:8].tobytes(), "little")
    if length > min(MAX_HEADER, data.size - 8):
        raise ParseError(f"{name!r} is not a safetensors file: a header of {length} bytes")
    try:
        header = json.loads(data[8 : 8 + length].tobytes())
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{name!r} is not a safetensors file: {error}") from error
    if not isinstance(header, dict):
        raise ParseError(f"{name!r} is not a safetensors file: the header is no object")
    return header, data[8 + length :]


def _tensor(body: Bytes, row: object, what: str) -> Array:
    """Return the view that a row of the header describes."""
    match row:
        case {"dtype": str(code), "shape": [*shape], "data_offsets": [int(start), int(end)]}:
            pass
        case _:
            raise ParseError(f"{what}: {str(row)[:80]} is not dtype, shape and data_offsets")
    if code not in _NAMES:
        raise ParseError(f"{what}: element type {code[:40]!r} is not supported")
    if not all(type(d) is int and 0 <= d < 1 << 62 for d in shape):
        raise ParseError(f"{what}: {str(shape)[:80]} is not a shape")
    dtype = DTYPES[_NAMES[code]]
    if not 0 <= start <= end <= body.size or end - start != prod(shape) * dtype.size:
        raise ParseError(f"{what}: bytes {start} to {end} of {body.size} for {dtype}{shape}")
    return np.frombuffer(body[start:end], dtype.numpy).reshape(shape)


def write_beside(
    path: Path, text: str, weights: Mapping[str, Array], data: Path | None
) -> list[Path]:
    """Write a program's text, and its weights if they have a place; return the paths of both."""
    with together():
        with replacing(path) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        if data is not None:
            write_safetensors(data, weights, {DIGEST: digest_of_weights(weights)})
    return [path] if data is None else [path, data]


def read_beside(directory: Path, location: str) -> tuple[dict[str, Array], str | None]:
    """Return weights that `write_beside` wrote, and the digest that their file says they have.

    Others that say none are taken as they are; those that have another are a `ParseError`.
    """
    file = note_beside(directory, location)
    found, told = read_safetensors(file.data, location), read_metadata(file.data, location)
    expected = told.get(DIGEST)
    if (
        expected is not None
        and (digest := file.said("weights", lambda: digest_of_weights(found))) != expected
    ):
        raise ParseError(
            f"the weights in {location!r} were changed: their digest is {digest!r}, "
            f"expected {expected!r}"
        )
    return found, expected


def write_safetensors(
    path: Path, weights: Mapping[str, Array], metadata: Mapping[str, str] | None = None
) -> None:
    """Write weights into a file that replaces an old one only when it is complete."""
    header: dict[str, object] = {}
    pairs = [name for name, array in weights.items() if array.dtype == np.complex128]
    texts = {name: [*x.shape] for name, x in weights.items() if x.dtype.kind in "OSU"}
    weights = {name: _bytes_of_texts(x) if name in texts else x for name, x in weights.items()}
    weights = {
        name: np.asarray(array, order="C").reshape(-1).view(np.float64).reshape(*array.shape, 2)
        if name in pairs
        else array
        for name, array in weights.items()
    }
    more = {**(metadata or {}), **({COMPLEX: json.dumps(pairs)} if pairs else {})}
    more |= {TEXTS: json.dumps(texts)} if texts else {}
    if more:
        header[METADATA] = more
    offset = 0
    for name, array in weights.items():
        end = offset + array.size * array.dtype.itemsize
        header[name] = {
            "dtype": _CODES[_dtype(array).name],
            "shape": list(array.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    with replacing(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in weights.values():
            file.write(_bytes_of(array).data)


def digest_of_weights(weights: Mapping[str, Array]) -> str:
    """Return a text that is another for other weights."""
    rows = [
        (name, _kind(array), array.shape, digest_of(_bytes_of(array)))
        for name, array in sorted(weights.items())
    ]
    return digest_of(str(rows).encode())[:32]


def _kind(array: Array) -> str:
    """Return what an element is, which is the same for all arrays of texts."""
    # texts have always been objects where they were saved: files are named by that
    return "|O" if array.dtype.kind in "OSU" else array.dtype.str


def _bytes_of(array: Array) -> Bytes:
    plain = _bytes_of_texts(array) if array.dtype.kind in "OSU" else array
    return np.ascontiguousarray(plain).reshape(-1).view(np.uint8)


def _dtype(array: Array) -> DType:
    from ...ir.types.dtypes import of_numpy  # noqa: PLC0415

    dtype = of_numpy(array.dtype)
    if dtype.name not in _CODES:
        raise ParseError(f"element type {dtype} cannot stand in a safetensors file")
    return dtype
