"""Functions of complex numbers of two f32, by compiled code on their parts.

numpy computes them one by one. Where an operand or the result is not finite, its rules are kept.
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
Kernel = Callable[..., list[Array]]


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


FORMULAS = {"exp": _exp, "log": _log, "sin": _sin, "cos": _cos, "sqrt": _sqrt}


@cache
def _compiled(name: str) -> Kernel:
    from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

    def build(emit: Callable[..., object], x: object, y: object) -> Parts:
        return FORMULAS[name](Maker(emit), x, y)

    kernel: Kernel = single.of_any_length(build, [TensorSpec(rows.f32, (parse("N"),))] * 2)  # type: ignore[assignment]
    return kernel


def of_parts(name: str) -> Callable[[Array], Array]:
    """Return one of numpy's functions of complex numbers, which knows those of two f32 itself."""
    plain: Callable[[Array], Array] = getattr(np, name)

    def function(z: Array) -> Array:
        """Compute it."""
        if z.dtype != np.complex64 or not z.size:
            return plain(z)
        flat = np.ascontiguousarray(z).reshape(-1)
        made = np.empty(flat.shape, np.complex64)
        made.real, made.imag = _compiled(name)(flat.real.copy(), flat.imag.copy())
        if not (_finite(flat) and _finite(made)):
            odd = ~(np.isfinite(flat) & np.isfinite(made))
            with np.errstate(all="ignore"):
                made[odd] = plain(flat[odd])
        return made.reshape(z.shape)

    return function


def _finite(z: Array) -> bool:
    """Say whether both parts of all numbers are finite."""
    return bool(np.isfinite(z.view(np.float32)).all())
