"""Text to module and back, with the place of every operation; and the canonical hash.

xDSL's own parser does not record positions, takes exponential time on some unterminated
strings and lets Python's own errors through: this module stands in front of it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from io import StringIO
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, math, memref, scf, vector
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils import mlir_lexer
from xdsl.utils.exceptions import ParseError as XdslParseError
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind, StringLiteral

from ..errors import ParseError
from .dialects.kernel import Gvk
from .op import REGISTRY, find_op
from .types.attributes import ArrayValueAttr, DimAttr, DTypeAttr
from .types.dtypes import TextType
from .types.tensor import DimsAttr
from .types.values import OptionalType, SequenceType
from .verify import verify

MAX_DEPTH = 100
"""Nested brackets beyond this are refused: xDSL's parser is recursive."""

ATTRIBUTES = (
    *(ArrayValueAttr, DimAttr, DTypeAttr, DimsAttr),
    *(TextType, SequenceType, OptionalType),
)


class PluginContext(Context):
    """A context that looks into installed plugins for an operation that nobody has."""

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        """Return the operation of a name; None if there is none."""
        found = super().get_optional_op(name, dialect_stack=dialect_stack)
        return find_op(name) if found is None and "." in name else found


def context() -> Context:
    """Return a context that knows every dialect of every level."""
    from . import ops  # noqa: F401, PLC0415  (fills the registry)

    ctx = PluginContext()
    dialects = (
        builtin.Builtin, func.Func, arith.Arith, math.Math, memref.MemRef, scf.Scf, vector.Vector,
    )  # fmt: skip
    for dialect in (*dialects, Gvk, Dialect("gv", list(REGISTRY.values()), list(ATTRIBUTES))):
        ctx.load_dialect(dialect)
    return ctx


def parse(text: str, name: str = "<text>", *, check: bool = True) -> ModuleOp:
    """Parse a module, and verify it unless told not to.

    Raises `ParseError` with file:line:col, `VerifyError` with all faults.
    """
    _refuse_what_xdsl_cannot(text, name)
    try:
        module = LocatingParser(context(), text, name).parse_module()
    except XdslParseError as error:
        line, column = position(text, error.span.start)
        raise ParseError(error.msg, location=f"{name}:{line}:{column}") from error
    except (
        RecursionError,
        ValueError,
        OverflowError,
        NotImplementedError,
        IndexError,
        TypeError,
        MemoryError,
        VerifyException,
    ) as error:
        raise ParseError(str(error) or type(error).__name__, location=name) from error
    if check:
        verify(module)
    return module


def print_module(module: Operation) -> str:
    """Return the module's text."""
    stream = StringIO()
    _Writer(stream=stream).print_op(module)
    return stream.getvalue() + "\n"


_ESCAPES = {byte: f"\\{byte:02X}" for byte in range(256) if not 0x20 <= byte <= 0x7E}
_ESCAPES |= {ord('"'): "\\22", ord("\\"): "\\\\"}


class _Writer(Printer):
    """A printer that writes each attribute and all bytes of a constant at once.

    The text of a program is what it is found by in the cache: each start of a program prints it.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._known: dict[int, tuple[Attribute, str]] = {}
        """Attributes, which stay alive here, and their texts, by what they are known as."""

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        """Write a text."""
        if "\n" in text:
            super().print_string(text, indent=indent)
            return
        self._current_column += len(text)
        assert self.stream is not None, "it is written into a text"
        self.stream.write(text)

    def print_bytes_literal(self, bytestring: bytes) -> None:
        """Write bytes in quotes."""
        self.print_string('"' + bytestring.decode("latin-1").translate(_ESCAPES) + '"')

    def print_attribute(self, attribute: Attribute) -> None:
        """Write an attribute; the text of one that comes again is known."""
        known = self._known.get(id(attribute))
        if known is None:
            stream, column, self.stream = self.stream, self._current_column, StringIO()
            super().print_attribute(attribute)
            known = self._known[id(attribute)] = attribute, self.stream.getvalue()
            self.stream, self._current_column = stream, column
        self.print_string(known[1])


def canonical_hash(module: Operation) -> str:
    """Return the SHA-256 of the text with values numbered in order and sources left out.

    Two modules that differ only in the names of values, in places and in provenance have
    the same hash.
    """
    stream = StringIO()
    _CanonicalPrinter(stream=stream, print_generic_format=False).print_op(module)
    return hashlib.sha256(stream.getvalue().encode()).hexdigest()


class _CanonicalPrinter(_Writer):
    """A printer that ignores name hints and provenance."""

    def print_ssa_value(self, value: object) -> str:
        """Write a value by number."""
        hint, value._name = value._name, None  # type: ignore[attr-defined]
        try:
            return super().print_ssa_value(value)  # type: ignore[arg-type]
        finally:
            value._name = hint  # type: ignore[attr-defined]

    def print_op(self, op: Operation) -> None:
        """Write an operation without its source."""
        source = op.attributes.pop("source", None)
        super().print_op(op)
        if source is not None:
            op.attributes["source"] = source


def print_function(function: Operation) -> str:
    """Return the text of one function, without the names of values and without provenance."""
    stream = StringIO()
    _CanonicalPrinter(stream=stream, print_generic_format=False).print_op(function)
    return stream.getvalue()


def position(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, from 1, of an offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


class LocatingParser(Parser):
    """A parser that gives each operation the place it stands at."""

    _starts: list[int] | None = None

    def parse_operation(self) -> Operation:
        """Parse one operation."""
        span = self._current_token.span
        op = super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            line, column = self._line(span.start, span.input.content)
            op.location = FileLineColLoc(
                StringAttr(span.input.name), IntAttr(line), IntAttr(column)
            )
        return op

    def parse_optional_str_literal(self) -> str | None:
        """Parse a string; unlike xDSL, also one with characters that the printer escapes."""
        text = super().parse_optional_str_literal()
        if text is None and self._current_token.kind is MLIRTokenKind.BYTES_LIT:
            span = self._consume_token(MLIRTokenKind.BYTES_LIT).span
            text = StringLiteral(span.start, span.end, span.input).string_contents
        return text

    def _line(self, offset: int, text: str) -> tuple[int, int]:
        from bisect import bisect_right  # noqa: PLC0415

        if self._starts is None:
            self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def _refuse_what_xdsl_cannot(text: str, name: str) -> None:
    """Refuse unterminated strings, control characters and deep nesting by place."""
    depth = 0
    for match in _STRUCTURE.finditer(text):
        kind = match.group()
        if kind in "([{<":
            depth += 1
            if depth > MAX_DEPTH:
                _refuse(text, name, match.start(), f"nesting deeper than {MAX_DEPTH}")
        elif kind in ")]}":
            depth -= 1
        elif kind == ">":
            if text[match.start() - 1] != "-":
                depth -= 1
        elif reason := _fault_of_token(kind):
            _refuse(text, name, match.start(), reason)


def _fault_of_token(token: str) -> str:
    """Return why a comment, a string, a type or a character is refused; nothing if it is not."""
    if token[0] == "/":
        return ""
    if token[0] == '"':
        return _fault_of_string(token)
    if token[0] in "siu":  # xDSL computes the range of such a type, or divides by its size
        return f"no element type {token[:40]}"
    return f"character {token!r} is not allowed"


def _fault_of_string(token: str) -> str:
    end = 1
    while (piece := _PIECE.match(token, end)) is not None:
        end = piece.end()
    found = token[end:]
    if found == '"':
        return ""
    return f"{found[:2]!r} is not allowed in a string" if found else "unterminated string"


_PIECE = re.compile(r'[^"\\\n\v\f]+|\\(?:["nt\\]|[0-9A-Fa-f]{2})')
"""Of a string: looked for one by one, as `*+` of Python 3.11.2 takes half of what does not fit."""
_STRUCTURE = re.compile(
    r'//[^\n]*|"(?:[^"\\\n]|\\.)*+"?|[(\[{<>)\]}]|(?<![\w%@#.!^$-])[su]?i(?:\d{6,}|0+(?!\w))'
    r"|[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff]"
)
# xDSL's own pattern backtracks exponentially where a string goes on as it may not, or has no end;
# possessive does not.
assert hasattr(mlir_lexer, "MLIRLexer"), "xDSL's lexer has moved"


def _refuse(text: str, name: str, offset: int, message: str) -> None:
    line, column = position(text, offset)
    raise ParseError(message, location=f"{name}:{line}:{column}")
