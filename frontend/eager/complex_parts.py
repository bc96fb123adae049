"""Functions of complex numbers by compiled code on their parts, where numpy goes one by one.

A complex number of two f32 is a word of 64 bits to that code, which takes it apart and puts it
together; of two f64, parts are copied. Where an operand or the result of a function of one number
is not finite, numpy's rules are kept; a quotient has the bits of `complex_divide` everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.op import Array
from ...ir.types import dtypes as rows
from ...ir.types.dims import parse
from ...ir.types.tensor import TensorSpec

Parts = tuple[object, object]
Formula = Callable[..., Parts]
Kernel = Callable[..., Array]


def _exp(m: Maker, x: object, y: object) -> Parts:
    size = m.exp(x)
    return m.mul(size, m.cos(y)), m.mul(size, m.sin(y))


def _sin(m: Maker, x: object, y: object) -> Parts:
    return m.mul(m.sin(x), m.cosh(y)), m.mul(m.cos(x), m.sinh(y))


def _cos(m: Maker, x: object, y: object) -> Parts:
    return m.mul(m.cos(x), m.cosh(y)), m.neg(m.mul(m.sin(x), m.sinh(y)))


def _squared_size(m: Maker, a: object, b: object) -> object:
    return m.add(m.mul(a, a), m.mul(b, b))


def _log(m: Maker, x: object, y: object) -> Parts:
    size = _squared_size(m, m.to(x, rows.f64), m.to(y, rows.f64))
    half = m.mul(m.log(size), m.number(0.5, rows.f64))
    return m.to(half, rows.f32), m.atan2(y, x)


def _sqrt(m: Maker, x: object, y: object) -> Parts:
    """Return the root whose real part is not negative: in f64, where nothing overflows."""
    a, b = m.to(x, rows.f64), m.to(y, rows.f64)
    zero, half = m.number(0, rows.f64), m.number(0.5, rows.f64)
    sum_ = m.add(m.sqrt(_squared_size(m, a, b)), m.abs(a))
    large = m.sqrt(m.mul(sum_, half))
    divisor = m.select(m.equal(large, zero), m.number(1, rows.f64), large)
    small = m.div(m.mul(b, half), divisor)
    is_right = m.greater_equal(a, zero)
    below = m.less(m.bitcast(y, dtype=rows.i32), m.number(0, rows.i32))  # the sign of 0 counts
    signed = m.select(below, m.neg(large), large)
    return (
        m.to(m.select(is_right, large, m.abs(small)), rows.f32),
        m.to(m.select(is_right, small, signed), rows.f32),
    )


FAR = 60.0
"""Where the hyperbolic tangent's imaginary part is less than any f32."""


def _tanh(m: Maker, x: object, y: object) -> Parts:
    """Return sinh cosh and sin cos over sinh² + cos², in f64, where nothing overflows."""
    far, b = m.number(FAR, rows.f64), m.to(y, rows.f64)
    a = m.minimum(m.maximum(m.to(x, rows.f64), m.neg(far)), far)
    sinh, sin, cos = m.sinh(a), m.sin(b), m.cos(b)
    cosh = m.sqrt(m.add(m.mul(sinh, sinh), m.number(1, rows.f64)))
    size = _squared_size(m, sinh, cos)
    real, imag = m.div(m.mul(sinh, cosh), size), m.div(m.mul(sin, cos), size)
    return m.to(real, rows.f32), m.to(imag, rows.f32)


def _quotient(m: Maker, a: object, b: object, c: object, d: object) -> Parts:
    """Return what `complex_divide` does, step by step."""
    size = m.maximum(m.abs(c), m.abs(d))
    c, d = m.div(c, size), m.neg(m.div(d, size))
    whole = _squared_size(m, c, d)
    real, imag = m.sub(m.mul(a, c), m.mul(b, d)), m.add(m.mul(a, d), m.mul(b, c))
    return m.div(m.div(real, whole), size), m.div(m.div(imag, whole), size)


FORMULAS = {"exp": _exp, "log": _log, "sin": _sin, "cos": _cos, "sqrt": _sqrt, "tanh": _tanh}
PAIRS = {"gv.div": _quotient}
"""Those of two numbers, by the operation."""


def _apart(m: Maker, word: object) -> Parts:
    """Return the two f32 of a word."""
    upper = m.shift_right(word, m.number(32, rows.i64))
    low, high = (m.cast(x, dtype=rows.i32) for x in (word, upper))
    return m.bitcast(low, dtype=rows.f32), m.bitcast(high, dtype=rows.f32)


def _together(m: Maker, real: object, imag: object) -> object:
    """Return two f32 as a word."""
    low, high = (m.cast(m.bitcast(x, dtype=rows.i32), dtype=rows.i64) for x in (real, imag))
    low = m.bitwise_and(low, m.number((1 << 32) - 1, rows.i64))
    return m.bitwise_or(low, m.shift_left(high, m.number(32, rows.i64)))


@cache
def _of_words(formula: Formula, count: int) -> Kernel:
    """Return a function of so many rows of words."""
    from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

    def build(emit: Callable[..., object], *words: object) -> object:
        m = Maker(emit)
        return _together(m, *formula(m, *[part for word in words for part in _apart(m, word)]))

    return single.of_any_length(build, [TensorSpec(rows.i64, (parse("N"),))] * count)


@cache
def _of_wide(formula: Formula, count: int) -> Callable[..., list[Array]]:
    """Return a function of the parts, each a row of f64, of so many rows of numbers."""
    from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

    def build(emit: Callable[..., object], *parts: object) -> Parts:
        return formula(Maker(emit), *parts)

    specs = [TensorSpec(rows.f64, (parse("N"),))] * (2 * count)
    kernel: Callable[..., list[Array]] = single.of_any_length(build, specs)  # type: ignore[assignment]
    return kernel


SOME = 1 << 12
"""So many numbers of two f64 are taken apart at a time: they stay in a processor's cache."""


def _carried_out(formula: Formula, *given: Array) -> Array:
    """Return a formula of arrays without gaps that have one axis and elements."""
    if given[0].dtype == np.complex64:
        words = _of_words(formula, len(given))(*[z.view(np.int64) for z in given])
        return words.view(np.complex64)
    made, kernel = np.empty(given[0].shape, np.complex128), _of_wide(formula, len(given))
    for at in range(0, len(made), SOME):
        pieces = [z[at : at + SOME] for z in given]
        part = made[at : at + SOME]
        parts = [x.copy() for z in pieces for x in (z.real, z.imag)]
        part.real, part.imag = kernel(*parts)
    return made


def of_parts(name: str) -> Callable[[Array], Array]:
    """Return one of numpy's functions of complex numbers, which knows those of two f32 itself."""
    plain: Callable[[Array], Array] = getattr(np, name)

    def function(z: Array) -> Array:
        """Compute it."""
        if z.dtype != np.complex64 or not z.size:
            return plain(z)
        flat = np.ascontiguousarray(z).reshape(-1)
        made = _carried_out(FORMULAS[name], flat)
        if not (_finite(flat) and _finite(made)):
            odd = ~(np.isfinite(flat) & np.isfinite(made))
            with np.errstate(all="ignore"):
                made[odd] = plain(flat[odd])
        return made.reshape(z.shape)

    return function


def of_pairs(name: str) -> Kernel:
    """Return an operation on two arrays of complex numbers that broadcast."""
    formula = PAIRS[name]

    def function(x: Array, y: Array) -> Array:
        """Compute it."""
        both = (x, y) if x.shape == y.shape else np.broadcast_arrays(x, y)
        shape = both[0].shape
        if 0 in shape:
            return np.empty(shape, x.dtype)
        flat = [np.ascontiguousarray(z).reshape(-1) for z in both]
        return _carried_out(formula, *flat).reshape(shape)

    return function


def _finite(z: Array) -> bool:
    """Say whether both parts of all numbers are finite."""
    return bool(np.isfinite(z.view(np.float32)).all())
