"""Moving values: `mov`, `cvt`, and addresses between spaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..faults import UnsupportedPtx
from ..machine import Machine, Plain
from ..memory import LOCAL_WINDOW, SHARED_WINDOW, UNSIGNED, WINDOW, Array
from ..operands import KINDS, Decoder, rule
from ..text import WIDTHS, Instruction
from . import floats
from .arithmetic import saturate

_ROUND: Mapping[str, Callable[[Array], Array]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
_FLOATS = ("f16", "bf16", "f32", "tf32", "f64")


@rule("mov")
def _move(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    out, value = instruction.operands
    if out.startswith("{"):
        return _unpack(decoder, decoder.vector(out), value, kind)
    if value.startswith("{"):
        return _pack(decoder, out, decoder.vector(value), kind)
    write, read = decoder.write(out, kind), decoder.read(value, kind)
    return lambda m: write(m, read(m).copy())


def _unpack(decoder: Decoder, names: list[str], value: str, kind: str) -> Plain:
    width = WIDTHS[kind] // len(names)
    read = decoder.read(value, kind)
    writes = [decoder.write(name, f"b{8 * width}") for name in names]

    def plain(m: Machine) -> None:
        whole = np.ascontiguousarray(np.atleast_1d(read(m)))
        parts: Array = whole.view(UNSIGNED[width])
        for write, column in zip(writes, parts.reshape(-1, len(names)).T.copy(), strict=True):
            write(m, column if column.size > 1 or m.lanes is not None else column[0])

    return plain


def _pack(decoder: Decoder, out: str, names: list[str], kind: str) -> Plain:
    width = WIDTHS[kind] // len(names)
    write = decoder.write(out, kind)
    reads = [decoder.read(name, f"b{8 * width}") for name in names]
    whole = UNSIGNED[WIDTHS[kind]]

    def plain(m: Machine) -> None:
        values = [read(m) for read in reads]
        columns = np.stack(np.broadcast_arrays(*map(np.atleast_1d, values)), axis=-1)
        found: Array = np.ascontiguousarray(columns).view(whole).reshape(-1)
        write(m, found if any(np.ndim(value) for value in values) else found[0])

    return plain


@rule("cvt")
def _convert(instruction: Instruction, decoder: Decoder) -> Plain:
    modifiers = instruction.modifiers
    if modifiers[-1] == "f32" and modifiers[-2] in ("f16x2", "bf16x2"):
        return _convert_pair(instruction, decoder)
    to, come = modifiers[-2:]
    function = _conversion(instruction, to, come)
    out, value = instruction.operands
    write, read = decoder.write(out, to), decoder.read(value, come)
    return lambda m: write(m, function(read(m)))


def _convert_pair(instruction: Instruction, decoder: Decoder) -> Plain:
    """Return what makes two f32 to a pair of 16-bit floats, the second in the low half."""
    kind = instruction.modifiers[-2]
    half = _conversion(instruction, kind[:-2], "f32")
    out, high, low = instruction.operands
    write = decoder.write(out, kind)
    first, second = decoder.read(high, "f32"), decoder.read(low, "f32")

    def bits(x: Array) -> Array:
        return half(x).view(np.uint16).astype(np.uint32)

    return lambda m: write(m, bits(second(m)) | (bits(first(m)) << np.uint32(16)))


def _conversion(instruction: Instruction, to: str, come: str) -> Callable[[Array], Array]:
    """Return the function from one type's values to another's."""
    modifiers = instruction.modifiers
    mode = next((each for each in modifiers if each in ("rn", "rz", "rm", "rp")), "rn")
    whole = next((_ROUND[each] for each in modifiers if each in _ROUND), None)
    unknown = {*modifiers} - {*WIDTHS, *_ROUND, "rn", "rz", "rm", "rp", "ftz", "sat", "rna", "relu"}
    if unknown:
        raise UnsupportedPtx(f"modifier .{min(unknown)} of cvt")
    if come in _FLOATS and to in _FLOATS:
        return _float_to_float(to, come, mode, whole, modifiers)
    if come in _FLOATS:
        return _float_to_integer(to, come, whole or np.trunc)
    if to in _FLOATS:
        return _integer_to_float(to, come, mode)
    if "sat" in modifiers:
        limits = np.iinfo(KINDS[to])
        return lambda x: _clipped(x, int(limits.min), int(limits.max)).astype(KINDS[to])
    return lambda x: x.astype(KINDS[to])


def _clipped(x: Array, low: int, high: int) -> Array:
    """Return integers within limits that may lie outside of their type."""
    own = np.iinfo(x.dtype)
    return np.clip(x, max(low, int(own.min)), min(high, int(own.max)))


def _float_to_float(
    to: str,
    come: str,
    mode: str,
    whole: Callable[[Array], Array] | None,
    modifiers: tuple[str, ...],
) -> Callable[[Array], Array]:
    flushes, bounds, positive = (each in modifiers for each in ("ftz", "sat", "relu"))

    def function(x: Array) -> Array:
        value = floats.from_bf16(x) if come == "bf16" else x
        if flushes and value.dtype == np.float32:
            value = floats.flush(value)
        if whole is not None:
            value = whole(value)
        if bounds:
            value = saturate(value.astype(np.float32)).astype(value.dtype)
        if positive:
            value = np.fmax(value, value.dtype.type(0))
        return _to_float(value, to, mode, flushes)

    return function


def _to_float(value: Array, to: str, mode: str, flushes: bool = False) -> Array:
    """Return numbers as the float type `to` has them."""
    if to == "bf16":
        exact = value.dtype == np.float64
        return floats.to_bf16(floats.round_odd_f32(value) if exact else value, mode)
    if to == "f16":
        return floats.to_f16(value, mode)
    if to == "tf32":
        return floats.to_tf32(value.astype(np.float32))
    if to == "f64":
        return value.astype(np.float64)
    if value.dtype == np.float64:
        value = floats.round_f32(value, mode)
    found = value.astype(np.float32)
    return floats.flush(found) if flushes else found


def _float_to_integer(
    to: str, come: str, whole: Callable[[Array], Array]
) -> Callable[[Array], Array]:
    """Return what rounds to a whole number within the type's limits.

    A NaN becomes 0, or of f64 and for 64 bits the number whose highest bit alone is set.
    """
    kind = KINDS[to]
    wide = come == "f64" or to[1:] == "64"
    of_nan: Array = np.array(wide << (int(to[1:]) - 1), f"u{kind().itemsize}").view(kind)
    limits = np.iinfo(kind)
    low, high = float(limits.min), float(limits.max)

    def function(x: Array) -> Array:
        value = whole((floats.from_bf16(x) if come == "bf16" else x).astype(np.float64))
        inside = np.where(np.isnan(value), 0.0, value)
        found = np.clip(inside, low, np.nextafter(high, 0) if to[1:] == "64" else high)
        made = np.where(inside >= high, kind(limits.max), found.astype(kind))
        return np.where(np.isnan(value), of_nan, made).astype(kind)

    return function


def _integer_to_float(to: str, come: str, mode: str) -> Callable[[Array], Array]:
    def function(x: Array) -> Array:
        if to == "f64":
            return x.astype(np.float64)
        if come[1:] == "64":
            return _to_float(_long_to_odd(x), to, mode)
        return _to_float(x.astype(np.float64), to, mode)

    return function


def _long_to_odd(x: Array) -> Array:
    """Return 64-bit integers in f64, rounded to odd."""
    low = (x & x.dtype.type(0xFFF)).astype(np.float64)
    return floats.odd_sum((x & ~x.dtype.type(0xFFF)).astype(np.float64), low)


@rule("cvta")
def _change_space(instruction: Instruction, decoder: Decoder) -> Plain:
    modifiers = [each.partition("::")[0] for each in instruction.modifiers]
    back = "to" in modifiers
    space = next(
        each for each in modifiers if each in ("global", "shared", "local", "param", "const")
    )
    kind = instruction.type
    out, value = instruction.operands
    write, read = decoder.write(out, kind), decoder.read(value, kind)
    base = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
    if base == 0:
        return lambda m: write(m, read(m).copy())
    number = np.uint64(base)
    if back:
        return lambda m: write(m, read(m) - number)
    return lambda m: write(m, read(m) + number)


@rule("isspacep")
def _is_space(instruction: Instruction, decoder: Decoder) -> Plain:
    out, value = instruction.operands
    write, read = decoder.write(out, "pred"), decoder.read(value, "b64")
    space = instruction.modifiers[0].partition("::")[0]
    base = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space)

    def plain(m: Machine) -> None:
        found = read(m)
        if base is None:
            inside = (found < SHARED_WINDOW) | (found >= LOCAL_WINDOW + WINDOW)
        else:
            inside = (found >= base) & (found < base + WINDOW)
        write(m, inside)

    return plain
