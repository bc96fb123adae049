"""Text by TensorFlow's names: elements are bytes, computed by Python."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NoReturn

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dtypes import DType
from ....ir.types.shapes import broadcast
from ....ir.types.tensor import Array, TensorSpec
from ...eager.remembered import remember_all
from ...graph.inference import Abstract
from ...values import decimals
from ...values.dtypes import DTypeLike
from ...values.moving import objects
from ...values.patterns import (
    ASCII,
    PatternError,
    decoded,
    encoded,
    one_of,
    only_text,
    pattern_of,
    states_of,
    takes_some,
)
from ...values.run_errors import InvalidArgumentError
from ...values.text_loops import CONTINUES, part, part_of_characters
from ...values.texts import FEW, TEXT, Text, Texts, in_a_row
from ..core.bridge import TfTensor, row_of
from ..core.calls import PUBLIC, op, perform, rule
from ..core.shapes import TensorShape
from ..core.values import (
    InGraph,
    InvalidShapesError,
    convert,
    convert_text,
    elements,
    graph_of,
    require_text,
    same,
    static,
)


def _decoded_at_once(function: Callable[[str], str], array: Array) -> Array | None:
    """Return what a function makes of the decoded texts; None: a byte of 0 is in some."""
    flat = array.ravel().tolist()
    if not flat:
        return None
    every = b"\0".join(flat)
    if every.count(0) != len(flat) - 1:
        return None
    made = encoded("\0".join([*map(function, decoded(every).split("\0"))])).split(b"\0")
    return objects(made).reshape(array.shape) if len(made) == len(flat) else None


def _texts(function: Callable[..., object], *arrays: object) -> Array:
    """Return what a function gives for the elements at each place, as text."""
    spread: Sequence[Array] = [
        a.array if a.__class__ is Text else np.asarray(a, object) for a in arrays
    ]
    if len(spread) > 1 and any(a.shape != spread[0].shape for a in spread):
        spread = np.broadcast_arrays(*spread)
    made = np.empty(spread[0].shape, object)
    if made.ndim == 1:  # most are, and few: each step counts
        made[:] = [*map(function, *[a.tolist() for a in spread])]
    else:
        made.reshape(-1)[:] = [*map(function, *[a.ravel().tolist() for a in spread])]
    return made


def _unknown(xs: Sequence[object], dtype: DType) -> Abstract | None:
    """Return what is known of results while a graph is being made, None where values are there.

    Kernels do not run meanwhile: what they refuse, they refuse in the run.
    """
    if Abstract not in [x.__class__ for x in xs]:
        return None
    shapes = [spec_of_value(x).shape for x in xs]
    known = [shape for shape in shapes if shape is not None]
    return Abstract(TensorSpec(dtype, broadcast(*known) if len(known) == len(shapes) else None))


def _require_texts(x: object, type_: str) -> None:
    """Raise where an operand is of another type than text."""
    if x.__class__ is Text:
        return
    if x.__class__ is Abstract:
        require_text(spec_of_value(x).dtype, type_)
    elif (array := np.asarray(x)).dtype.kind != "O":
        require_text(rows.of_numpy(array.dtype), type_)


def _long(*xs: object) -> list[Text]:
    """Return operands that are text if there are so many that a row of bytes pays, else nothing."""
    found = [x for x in xs if isinstance(x, Text)]
    return found if True in [x.is_long for x in found] else []


@rule("StringJoin", differentiable=False)
def _join(m: Maker, *xs: object, separator: str) -> object:
    open_ = _unknown(xs, TEXT)
    if open_ is not None:
        return open_
    sign = separator.encode()
    long = _long(*xs)
    shapes = {x.dims for x in long if x.dims}
    if len(shapes) == 1 and len(long) == len(xs):
        parts = [p for x in long for p in (sign, x.row if x.dims else x.array.item())]
        dims = shapes.pop()
        return Text(in_a_row(parts[1:], math.prod(dims)), dims)
    return _texts(lambda *parts: sign.join(parts), *xs)


def join(inputs: Sequence[object], separator: str = "", name: str | None = None) -> TfTensor:
    """Put the texts at each place together."""
    with InGraph(graph_of(list(inputs))):
        if not inputs:
            return convert(b"")
        values = [convert_text(x, "StringJoin", place) for place, x in enumerate(inputs)]
        shape = TensorShape(None)
        for each in [x.shape for x in values if x.shape.rank != 0]:
            if not shape.is_compatible_with(each):
                raise InvalidShapesError(f"Input shapes do not match: {shape} and {each}")
            shape = shape.merge_with(each)
        return perform("StringJoin", values, name=name, separator=separator)


def _characters(text: bytes) -> Sequence[int]:
    """Return the bytes where the characters of a text begin, and its end."""
    return [*(i for i, x in enumerate(text) if x & 0b11000000 != CONTINUES), len(text)]


def _refuse_unit(unit: str, type_: str) -> None:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise InvalidShapesError(
            f"Attr 'unit' of {type_!r} Op passed string {unit!r} not in: \"BYTE\", "
            '"UTF8_CHAR"; it is not in the list of allowed values'
        )


def _with_marks(text: bytes) -> str:
    """Return a text with a mark in place of what is no character."""
    return text.decode(errors="replace")


def _cased(type_: str, of_bytes: Callable[[bytes], bytes], of_text: Callable[[str], str],
           ) -> Callable[..., TfTensor]:  # fmt: skip
    @op(type_, "input", strict=False, differentiable=False)
    def made(m: Maker, input: object, encoding: str = "") -> object:
        """Change the case of each text: of ASCII's letters, or of all with the encoding utf-8."""
        _require_texts(input, type_)
        if encoding not in ("", "utf-8"):
            raise TypeError(f"only utf8 or '' (no encoding) is supported, received {encoding}")
        if not encoding:
            open_, long = _unknown([input], TEXT), _long(input)
            if open_ is None and long:
                return long[0].with_row(long[0].row.changed(of_bytes))
            return open_ or _texts(of_bytes, input)
        open_, long = _unknown([input], TEXT), _long(input)
        if open_ is None and long:
            laid = long[0].row.with_signs()  # (which no case depends on)
            if laid is not None:
                every = of_text(_with_marks(laid[0])).encode()
                return long[0].with_row(Texts.of_signs(every, laid[1]))
        return open_ or _texts(lambda x: of_text(_with_marks(x)).encode(), input)

    return made


lower = _cased("StringLower", bytes.lower, str.lower)
upper = _cased("StringUpper", bytes.upper, str.upper)


@op("StringStrip", "input", strict=False, differentiable=False)
def strip(m: Maker, input: object) -> object:
    """Leave the white space at both ends of each text out."""
    _require_texts(input, "StringStrip")
    if long := _long(input):
        return long[0].with_row(long[0].row.stripped())
    return _unknown([input], TEXT) or _texts(bytes.strip, input)


@op("StringLength", "input", strict=False, differentiable=False)
def length(m: Maker, input: object, unit: str = "BYTE") -> object:
    """Count the bytes of each text, or its characters."""
    _refuse_unit(unit, "StringLength")
    _require_texts(input, "StringLength")
    open_ = _unknown([input], rows.i32)
    if open_ is not None:
        return open_
    if not isinstance(input, Text):
        input = Text(elements(input))
    sizes = input.row.sizes if unit == "BYTE" else input.row.characters()
    return sizes.astype(np.int32).reshape(input.dims)


def first_length(input: object, name: str | None = None, unit: str = "BYTE") -> TfTensor:
    """Count the bytes or characters of each text, by the first version's order of arguments."""
    made: TfTensor = length(input, unit, name=name)
    return made


@op("StringToNumber", "input", strict=False, differentiable=False)
def to_number(m: Maker, input: object, out_type: DTypeLike | None = "float32") -> object:
    """Read numbers; without a type as 32-bit floats."""
    _require_texts(input, "StringToNumber")
    row = row_of(out_type) or rows.f32
    open_ = _unknown([input], row)
    if open_ is not None:
        return open_
    if row.is_float and (long := _long(input)):
        found = decimals.read(long[0].row)
        if found is not None:
            return found.astype(row.numpy).reshape(long[0].dims)
    if not row.is_float and (long := _long(input)):
        found = decimals.read_whole(long[0].row)
        ends = np.iinfo(row.numpy)
        if found is not None and (found >= ends.min).all() and (found <= ends.max).all():
            return found.astype(row.numpy).reshape(long[0].dims)
    with np.errstate(over="ignore"):
        given = np.asarray(elements(input), object)
        every: list[bytes] = given.ravel().tolist()
        found = _plainly_read(every, row)
        if found is not None:
            return found.astype(row.numpy).reshape(given.shape)
        return _texts(lambda x: _number(x, row), input).astype(row.numpy)


PLAIN, PLAIN_WHOLE = b"0123456789+-.eE", b"0123456789+-"
"""What Python and C read alike: of these alone, the former reads what `NUMBER` and `WHOLE` say."""
NUMBER = re.compile(rb"\s*[-+]?(0x[0-9a-f]+(\.[0-9a-f]*)?(p[-+]?\d+)?|\d+\.?\d*(e[-+]?\d+)?|"
                    rb"\.\d+(e[-+]?\d+)?|inf(inity)?|nan)\s*", re.IGNORECASE)  # fmt: skip
WHOLE = re.compile(rb"\s*[-+]?\d+\s*")


def _plainly_read(every: Sequence[bytes], row: DType) -> Array | None:
    """Return plain numbers; None: some are written otherwise, are none, or not of the type."""
    if b"".join(every).translate(None, PLAIN if row.is_float else PLAIN_WHOLE):
        return None
    try:
        if row.is_float:
            return np.array([*map(float, every)])
        found = [*map(int, every)]
    except ValueError:
        return None
    ends = np.iinfo(row.numpy)
    fits = not found or (ends.min <= min(found) and max(found) <= ends.max)
    return np.array(found, row.numpy) if fits else None


def _number(text: bytes, row: DType) -> float:
    """Read a number as C does, or raise where it is none of the type."""
    if row.is_float and NUMBER.fullmatch(text):
        return float.fromhex(text.decode()) if b"x" in text.lower() else float(text)
    if not row.is_float and WHOLE.fullmatch(text):
        ends = np.iinfo(row.numpy)
        if ends.min <= int(text) <= ends.max:
            return int(text)
    raise InvalidArgumentError(
        f"StringToNumberOp could not correctly convert string: {text.decode(errors='replace')}"
    )


@rule("Substr", differentiable=False)
def _substr(m: Maker, input: object, pos: object, count: object, unit: str) -> object:
    open_ = _unknown([input, pos, count], TEXT)
    if open_ is not None:
        return open_
    if long := _long(input):
        return _parts(long[0], elements(pos), elements(count), unit)
    at, size = elements(pos), elements(count)
    if unit == "BYTE" and not at.ndim:
        first, wanted = at.item(), size.item()
        end = first + wanted
        cut = slice(first, None if wanted < 0 or first < 0 <= end else end)
        given = elements(input)
        each = given.ravel().tolist()
        if min(map(len, each), default=abs(first)) >= abs(first):
            made = np.empty(len(each), object)
            made[:] = [x[cut] for x in each]
            return made.reshape(given.shape)
    return _texts(lambda x, at, size: _part(x, int(at), int(size), unit), input, at, size)


def _parts(text: Text, pos: Array, count: Array, unit: str) -> Text:
    """Return so many bytes, or characters, of each text from a place, or one before its end, on."""
    row, dims = text.row, text.dims
    if pos.ndim:
        dims = np.broadcast_shapes(dims, pos.shape)
        if dims != text.dims:
            row = row.taken(np.broadcast_to(np.arange(len(row)).reshape(text.dims), dims).ravel())
        pos, count = (np.broadcast_to(x, dims) for x in (pos, count))
    at, wanted = (np.ascontiguousarray(x, np.int64) for x in (pos, count))
    made, sizes = np.empty(len(row.every), np.uint8), np.empty(len(row), np.int64)
    cut = part if unit == "BYTE" else part_of_characters
    end = cut(row.every, row.sizes, at, wanted, made, sizes)
    if end < 0:
        wrong = end + len(row)
        _refuse_place(int(at.ravel()[wrong if pos.ndim else 0]), row.separate()[wrong])
    return Text(Texts(made[:end], sizes), dims)


def _refuse_place(start: int, text: bytes) -> NoReturn:
    raise TypeError(f"pos {start} out of range for string {text!r}")


def substr(
    input: object, pos: object, len: object, unit: str = "BYTE", name: str | None = None
) -> TfTensor:
    """Cut a part of each text out: so many bytes or characters from a place on.

    Of fewer bytes than none, all that follow are meant.
    """
    _refuse_unit(unit, "Substr")
    with InGraph(graph_of([input, pos, len])):
        at, count = same(pos, len)
        spec = at.spec
        if spec.dtype not in (rows.i32, rows.i64):
            raise TypeError(f"pos is of {at.dtype.name}, expected int32 or int64")
        if spec != count.spec and not at.shape.is_compatible_with(count.shape):
            raise ValueError(f"pos and len must have the same shape: {at.shape} and {count.shape}")
        given = [convert_text(input, "Substr"), at, count]
        return perform("Substr", given, name=name, unit=unit)


def first_substr(
    input: object, pos: object, len: object, name: str | None = None, unit: str = "BYTE"
) -> TfTensor:
    """Cut a part of each text out, by the first version's order of arguments."""
    return substr(input, pos, len, unit, name)


def _part(text: bytes, start: int, length: int, unit: str) -> bytes:
    ends = range(len(text) + 1) if unit == "BYTE" else _characters(text)
    size = len(ends) - 1
    if not -size <= start <= size:
        _refuse_place(start, text)
    first = start + size if start < 0 else start
    if unit == "BYTE" and length < 0:
        return text[first:]
    return text[ends[first] : ends[min(max(first + length, first), size)]]


def _pattern(text: object) -> re.Pattern[str]:
    """Return a pattern, or raise where it is none."""
    given = np.asarray(static(text), object).item()
    try:
        return pattern_of(given.encode() if isinstance(given, str) else given)
    except PatternError as error:
        raise InvalidArgumentError(f"Invalid pattern: {given!r}, error: {error}") from None


def _rewritten(rewrite: bytes) -> list[bytes]:
    r"""Return the parts of what is written for a match: \0 is all of it, \1 to \9 its groups.

    Every second one is what stands behind a backslash.
    """
    parts = re.split(rb"\\(.)", rewrite, flags=re.DOTALL)
    if any(not part.isdigit() and part != b"\\" for part in parts[1::2]):
        raise InvalidArgumentError(f"Invalid rewrite pattern: {rewrite!r}")
    return parts


Parts = tuple[str | int, ...]
"""What is written for a match: texts, and groups by their numbers."""


@lru_cache
def _replacing_text(fitting: re.Pattern[str], parts: Parts, most: int) -> Callable[[str], str]:
    """Return what replaces matches."""
    if takes_some(fitting):
        plain = _template(parts)
        return lambda text: fitting.sub(plain, text, most)
    return _one_by_one(fitting, parts, most)


@lru_cache
def _new_parts(rewrite: bytes) -> Parts:
    """Return what is written for a match, by how it is given."""
    parts: list[str | int] = [decoded(part) for part in _rewritten(rewrite)]
    parts[1::2] = [int(part) if str(part).isdigit() else part for part in parts[1::2]]
    return tuple(parts)


def _template(parts: Parts) -> str:
    """Return the same as Python's patterns take it."""
    return "".join([x.replace("\\", r"\\") if isinstance(x, str) else f"\\g<{x}>" for x in parts])


def _one_by_one(fitting: re.Pattern[str], parts: Parts, most: int) -> Callable[[str], str]:
    """Return what replaces matches; one of nothing is none right behind another, as in RE2."""

    def written(match: re.Match[str]) -> str:
        return "".join([x if isinstance(x, str) else match[x] or "" for x in parts])

    def replaced(given: str) -> str:
        at, end, made = 0, -1, list[str]()
        while at <= len(given) and (match := fitting.search(given, at)):
            made.append(given[at : match.start()])
            if match.start() == match.end() == end:
                made.append(given[end : end + 1])
                at = end + 1
                continue
            made.append(written(match))
            at = end = match.end()
            if most:
                break
        return "".join([*made, given[at:]])

    return replaced


@rule("RegexReplace", differentiable=False)
def _regex_replace(
    m: Maker, input: object, fitting: re.Pattern[str], rewrite: bytes, most: int
) -> object:
    open_ = _unknown([input], TEXT)
    if open_ is not None:
        return open_
    parts = _new_parts(rewrite)
    if max([x for x in parts if isinstance(x, int)], default=0) > fitting.groups:
        return elements(input)  # as TensorFlow does, which notes the fault in its log
    if long := _long(input):
        found = _all_replaced(long[0].row, fitting, parts, most)
        if found is not None:
            return long[0].with_row(found)
    one_by_one = _replacing_text(fitting, parts, most)
    made = _decoded_at_once(one_by_one, elements(input))
    return _texts(lambda x: encoded(one_by_one(decoded(x))), input) if made is None else made


def _all_replaced(row: Texts, fitting: re.Pattern[str], parts: Parts, most: int) -> Texts | None:
    """Return many texts with matches replaced, None where each must be looked at by itself."""
    texts = [x for x in parts if isinstance(x, str)]
    if len(texts) == len(parts):
        new, kinds, text = encoded("".join(texts)), one_of(fitting), only_text(fitting)
        if kinds is not None and row.every.max(initial=0) < ASCII:
            fits, in_row = kinds
            table = np.where(fits, 2 if in_row else 1, 0).astype(np.uint8)
            return row.replaced(table, new, most)
        if text is not None and not most and (laid := row.with_signs(new + encoded(text))):
            every, sign = laid
            return Texts.of_signs(every.replace(encoded(text), new), sign)
    return _each_replaced(row, _replacing_text(fitting, parts, most))


def _each_replaced(row: Texts, replaced: Callable[[str], str]) -> Texts | None:
    """Return what a function makes of each of many texts; None: no sign tells them apart."""
    laid = row.with_signs()
    if laid is None:
        return None
    sign = laid[1].decode()
    made = [*map(replaced, decoded(laid[0]).split(sign)[:-1])]
    every = sign.join([*made, ""])
    return Texts.of_signs(encoded(every), laid[1]) if every.count(sign) == len(made) else None


def regex_replace(
    input: object,
    pattern: object,
    rewrite: object,
    replace_global: bool = True,
    name: str | None = None,
) -> TfTensor:
    """Replace what fits a pattern in each text, everywhere or once."""
    given = np.asarray(static(rewrite), object).item()
    new = given.encode() if isinstance(given, str) else given
    _rewritten(new)
    with InGraph(graph_of([input])):
        x = convert_text(input, "StaticRegexReplace")
        options = {"rewrite": new, "most": 0 if replace_global else 1}
        return perform("RegexReplace", [x], name=name, fitting=_pattern(pattern), **options)


def written(value: object) -> bytes:
    """Return a number as TensorFlow writes it."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | np.bool_):
        return b"true" if value else b"false"
    return (f"{value:f}" if isinstance(value, float | np.floating) else str(value)).encode()


def _filled(text: bytes, width: int, fill: bytes) -> bytes:
    """Return a number of a width; zeros stand behind its sign."""
    if fill == b"-":
        return text.ljust(max(width, 0))
    if fill == b"0" and text[:1] in (b"-", b"+"):
        return text[:1] + text[1:].rjust(max(width - 1, 0), b"0")
    return text.rjust(max(width, 0), fill or b" ")


@rule("RegexFullMatch", differentiable=False)
def _regex_full_match(m: Maker, input: object, fitting: re.Pattern[str]) -> object:
    open_ = _unknown([input], rows.bool_)
    if open_ is not None:
        return open_
    long = _long(input)
    if long and long[0].row.every.max(initial=0) < ASCII and (states := states_of(fitting)):
        return long[0].row.fit(*states).reshape(long[0].dims)
    if long and (laid := long[0].row.with_signs()):
        every = decoded(laid[0]).split(laid[1].decode())[:-1]
        found = [x is not None for x in map(fitting.fullmatch, every)]
        return np.array(found, np.bool_).reshape(long[0].dims)
    return _texts(lambda x: fitting.fullmatch(decoded(x)) is not None, input).astype(bool)


def regex_full_match(input: object, pattern: object, name: str | None = None) -> TfTensor:
    """Say of each text whether all of it fits a pattern."""
    with InGraph(graph_of([input])):
        x = convert_text(input, "StaticRegexFullMatch")
        return perform("RegexFullMatch", [x], name=name, fitting=_pattern(pattern))


def _refuse_notation(row: DType, precision: int, scientific: bool, shortest: bool) -> None:
    """Raise where numbers of a type are not written as is asked for."""
    if scientific and shortest:
        raise TypeError("Cannot select both scientific and shortest notation")
    if row.kind in "iub" and (scientific or shortest):
        raise TypeError(f"scientific and shortest format not supported for datatype {row}")
    if row.kind in "iub" and precision >= 0:
        raise TypeError(f"precision not supported for datatype {row}")


@op("AsString", "input", strict=False, differentiable=False)
def as_string(
    m: Maker,
    input: object,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
) -> object:
    """Write each number as text."""
    _refuse_notation(spec_of_value(input).dtype, precision, scientific, shortest)
    if len(fill) > 1:
        raise TypeError(f"Fill string must be one or fewer characters, found {fill!r}")
    kind = "e" if scientific else "g" if shortest else "f"
    form = f"{fill}{'' if width < 0 else width}{'' if precision < 0 else f'.{precision}'}"

    def made(value: object) -> bytes:
        if isinstance(value, float | np.floating):
            return format(float(value), form + kind).encode()
        if isinstance(value, complex | np.complexfloating):
            pair = [format(float(x), form + kind) for x in (value.real, value.imag)]
            return f"({','.join(pair)})".encode()
        return _filled(written(value), width, fill.encode())

    open_ = _unknown([input], TEXT)
    if open_ is not None:
        return open_
    numbers = elements(input)
    if (found := _at_once(numbers, form + kind)) is not None and width < 0:
        return found
    if numbers.dtype.kind == "f":
        return _all_written(f"%{form}{kind}".encode(), numbers)
    if numbers.dtype.kind not in "iu" or (width >= 0 and fill not in FLAGS):
        return _texts(made, numbers)
    return _all_written(b"%d" if width < 0 else b"%%%s%dd" % (FLAGS[fill], width), numbers)


FLAGS = {"": b"", " ": b"", "0": b"0", "-": b"-"}
"""How a form of C's says what fills numbers up: zeros stand behind a sign, a minus lets it end."""
PLAIN_FORM = re.compile(r"(?:\.(\d+))?f")


def _at_once(numbers: Array, form: str) -> Text | None:
    """Return many numbers in the plainest form; None: it is another, or not for all of them."""
    match = PLAIN_FORM.fullmatch(form)
    behind = int(match[1] or decimals.BEHIND) if match else 0
    plain = numbers.dtype.kind == "f" and match is not None and behind <= decimals.MOST_BEHIND
    if numbers.size < FEW or not (plain or numbers.dtype.kind in "iu"):
        return None
    found = decimals.written(numbers.ravel(), behind)
    return None if found is None else Text(found, numbers.shape)


def _all_written(form: bytes, numbers: Array) -> Array | Text:
    """Return each number written in one form: all at once, in a tenth of the time."""
    every = (form + b"\n") * numbers.size % (*numbers.ravel().tolist(),) if numbers.size else b""
    if numbers.size >= FEW:
        return Text(Texts.of_signs(every, b"\n"), numbers.shape)
    each = np.empty(numbers.size, object)
    each[:] = every.split(b"\n")[:-1]
    return each.reshape(numbers.shape)


remember_all(globals())
PUBLIC.update(RegexFullMatch=regex_full_match, RegexReplace=regex_replace, Substr=substr)
