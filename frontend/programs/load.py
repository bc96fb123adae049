"""Load a program from whatever holds one: an ONNX model, graph text, or IR text.

What it is is told by its first bytes; where those leave it open, by the file's suffix.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...collection import paused
from ...errors import CompileError, GraphError, ParseError
from ...runtime.buffer import Array
from ..files.beside import Bytes, map_file

if TYPE_CHECKING:
    from ...ir import Program
    from ..dims.symbols import DimOption, ShapeOption

MAX_TEXT = 1 << 28
"""Bytes beyond which a text is refused."""


class OptionError(CompileError, TypeError):
    """A keyword that `gravure.compile` or its like does not have, or of another type than it has.

    They are the function's own and the fields of `Options`.
    """

    code = "GV4220"
    exit_status = 2


class Serialised(Protocol):
    """What gives its bytes: an `onnx.ModelProto`."""

    def SerializeToString(self) -> bytes:  # noqa: N802  (the name that protobuf gives it)
        """Return the bytes."""


def as_source(source: object) -> str | os.PathLike[str] | bytes:
    """Return the file or bytes that a program is loaded from: those of an `onnx.ModelProto`, too.

    Raises `OptionError` for anything else.
    """
    if isinstance(source, str | os.PathLike | bytes):
        return source
    if isinstance(source, bytearray | memoryview):
        return bytes(source)
    if hasattr(source, "SerializeToString"):
        return bytes(source.SerializeToString())
    raise OptionError(
        f"the model is {type(source).__name__}, expected a file, its bytes, or an onnx.ModelProto"
    )


def load_program(  # noqa: PLR0913  (each option is its own)
    source: str | os.PathLike[str] | bytes | Serialised,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    constants: Mapping[str, Array] | None = None,
    settable: Collection[str] = (),
    format: str | None = None,
    data: Bytes | None = None,
    short: bool = False,
    whichever: bool = False,
) -> Program:
    """Return the program in a file, in bytes, or on the standard input (`-`).

    A source `file.py:function` is a function of a Python file, which is run: see `python_files`.

    `shapes` replaces the shapes of inputs by name, `dims` fixes (`4`) or bounds (`(1, 64)`)
    symbolic dimensions, `constants` turns inputs into constants. A dimension that nobody
    bounds is at least 1. `settable` names tensors of an ONNX model that stay weights however
    small they are. `format` is `onnx`, `gv` or `mlir`; it is guessed if not given.
    `data` are the bytes of the source if they were read already. With `short`, most of a long chain
    of equal layers may be left out, as `cut-layers` does it. With `whichever`, either of two sizes
    of an ONNX model that broadcast may be 1: a host step looks which one is.
    """
    source = as_source(source)
    if (named := named_function(source)) is not None:
        from .python_files import python_program  # noqa: PLC0415  (Python files only)

        return python_program(*named, shapes or {}, dims or {})
    read, name, directory = _read(source) if data is None else (data, *_place(source))
    kind = format or _kind(read, name)
    if kind not in FORMATS:
        known = ", ".join(FORMATS)
        raise ParseError(f"format {kind!r} is unknown, expected one of {known}", location=name)
    options = LoadOptions(
        shapes or {}, dims or {}, constants or {}, settable, short=short, whichever=whichever
    )
    if whichever and kind != "onnx":
        raise GraphError(f"sizes of {kind} are those that are said, expected onnx", location=name)
    with paused():
        return FORMATS[kind](read, name, directory, options)


_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<name>[^\W\d]\w*(\.[^\W\d]\w*)*)\Z")


def named_function(source: object) -> tuple[str, str] | None:
    """Return file and function of `file.py:function`, also of an object; None for other sources."""
    found = _FUNCTION.match(source) if isinstance(source, str) else None
    return (found["file"], found["name"]) if found else None


class LoadOptions:
    """What the user asks of a program that is loaded."""

    def __init__(
        self,
        shapes: Mapping[str, ShapeOption],
        dims: Mapping[str, DimOption],
        constants: Mapping[str, Array],
        settable: Collection[str] = (),
        *,
        short: bool = False,
        whichever: bool = False,
    ) -> None:
        self.shapes, self.dims, self.constants = shapes, dims, constants
        self.settable, self.short, self.whichever = settable, short, whichever


def _read(source: str | os.PathLike[str] | bytes) -> tuple[Bytes, str, Path | None]:
    """Return the bytes, a name for messages, and the folder that the file lies in."""
    if isinstance(source, bytes | bytearray | memoryview):
        return np.frombuffer(source, np.uint8), "<bytes>", None
    if source == "-":
        return np.frombuffer(sys.stdin.buffer.read(), np.uint8), "<stdin>", Path.cwd()
    return map_file(Path(source)), *_place(source)


def _place(source: str | os.PathLike[str] | bytes) -> tuple[str, Path | None]:
    """Return a name for messages, and the folder that the source lies in."""
    if isinstance(source, bytes):
        return "<bytes>", None
    return Path(source).name, Path(source).parent


def read_bytes(source: str | os.PathLike[str] | bytes) -> Bytes | None:
    """Return the bytes of a source that can be read again; None if it cannot be read."""
    if isinstance(source, bytes):
        return np.frombuffer(source, np.uint8)
    path = Path(source)
    return map_file(path) if path.is_file() else None


def guess_format(data: Bytes, source: str | os.PathLike[str] | bytes) -> str:
    """Return the format that the bytes, or else the name, tell."""
    return _kind(data, "<bytes>" if isinstance(source, bytes) else Path(source).name)


# Begin of a file -> what it is, of files that people try.
FOREIGN: dict[bytes, str] = {
    b"\x7fELF": "a compiled library",
    b"!<arch>\n": "an archive of compiled code",
    b"PK\x03\x04": "a zip file (a PyTorch checkpoint?)",
    b"\x80\x02": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a numpy array",
    b"GGUF": "a GGUF file",
    b"\x1f\x8b": "a gzip file",
}
EXPORT = "export the model as ONNX"

_TEXTS = {
    "gv": re.compile(rb"\s*(?:#[^\n]*\n\s*)*(?:model|function)\b"),
    "mlir": re.compile(rb'\s*(?://[^\n]*\n\s*)*(?:"?builtin\.module|module|func\.func|[#!]\w)'),
}
SUFFIXES = {".onnx": "onnx", ".gv": "gv", ".mlir": "mlir"}


def _kind(data: Bytes, name: str) -> str:
    """Tell the format from the first bytes, or the suffix."""
    if not data.size:
        raise ParseError("the file is empty, expected a model", location=name)
    start = data[:4096].tobytes()
    for magic, what in FOREIGN.items():
        if start.startswith(magic):
            message = f"this is {what}, expected an ONNX model, graph text or IR text"
            raise ParseError(message, location=name, hint=EXPORT)
    if is_safetensors(start, data.size):
        message = "these are weights (safetensors), expected an ONNX model, graph text or IR text"
        raise ParseError(message, location=name, hint="the model is beside them, or " + EXPORT)
    for kind, pattern in _TEXTS.items():
        if pattern.match(start):
            return kind
    suffix = SUFFIXES.get(Path(name).suffix)
    if suffix:
        return suffix
    if start[0] == 0x08 or b"\0" in start:  # ModelProto begins with its version
        return "onnx"
    raise ParseError(
        "cannot tell what this is, expected an ONNX model, graph text or IR text", location=name
    )


def is_safetensors(start: bytes, size: int) -> bool:
    """Say whether a file that begins so is one of weights: the length of a header, and JSON."""
    return start[8:9] == b"{" and 2 <= int.from_bytes(start[:8], "little") <= size - 8


def _onnx(data: Bytes, name: str, directory: Path | None, options: LoadOptions) -> Program:
    from ..onnx.graph import read_onnx  # noqa: PLC0415  (onnx takes 0.2 s to import)

    return read_onnx(
        data, name, directory=directory,
        shapes=options.shapes, dims=options.dims, constants=options.constants,
        settable=options.settable, short=options.short, whichever=options.whichever,
    )  # fmt: skip


def _graph_text(data: Bytes, name: str, directory: Path | None, options: LoadOptions) -> Program:
    from ..text.reader import read_text  # noqa: PLC0415  (lark is not needed for other formats)

    if options.settable:
        raise GraphError("all weights of a text can be given, expected no names", location=name)
    if options.constants:
        raise GraphError("constants are given in the text itself", location=name)
    return read_text(
        _decoded(data, name), name, directory=directory, shapes=options.shapes, dims=options.dims
    )


def _ir_text(data: Bytes, name: str, directory: Path | None, options: LoadOptions) -> Program:
    from ..files.ir_text import bound_by_arrays, read_ir  # noqa: PLC0415

    if options.settable:
        raise GraphError("all weights of a text can be given, expected no names", location=name)
    from ..dims.symbols import ArrayShape  # noqa: PLC0415

    arrays = {n: shape for n, shape in options.shapes.items() if isinstance(shape, ArrayShape)}
    if len(arrays) < len(options.shapes) or options.dims or options.constants:
        raise GraphError("the shapes of IR text stand in the text itself", location=name)
    program = read_ir(_decoded(data, name), name, directory)
    bound_by_arrays(program, arrays)
    return program


def _decoded(data: Bytes, name: str) -> str:
    if data.size > MAX_TEXT:
        raise ParseError(f"{data.size} bytes of text, expected at most {MAX_TEXT}", location=name)
    raw = data.tobytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ParseError(f"byte {error.start} is not UTF-8", location=f"{name}:{line}") from error


Loader = Callable[[Bytes, str, Path | None, LoadOptions], "Program"]
FORMATS: dict[str, Loader] = {"onnx": _onnx, "gv": _graph_text, "mlir": _ir_text}
