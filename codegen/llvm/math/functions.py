"""The functions of the `math` dialect, each as a straight line of LLVM instructions.

No function calls a library, and none uses an intrinsic that LLVM makes a call of, or takes apart
into its lanes. Each appends to a `Text` what computes it for all lanes, and returns the name of the
result. What few arguments need is branched over where no lane does: sin, cos and tan call a
function for far ones (see the note in `math_trig.py`), erf has more to do from 1 on. All are right
for zeros with their sign, numbers that are not normal, infinities and NaN;
`tools/accuracy/ulp_table.py` measures how near they come elsewhere, `tools/accuracy/math_speed.py`
how fast they are. On f16 and bf16 callers widen first.

What a function is made of is in `math_exp.py`, `math_log.py`, `math_pow.py`, `math_trig.py`,
`math_arc.py` and `math_erf.py`; all of them are written in the words of `math_lanes.py`, with the
coefficients of `math_tables.py`, which `tools/accuracy/fit_polynomials.py` finds. Processors with
AVX2 or AVX-512 get forms of their own, whose results may differ in the last bit; on one processor
an element comes out the same on any lanes (`in_one_form`), so that shapes do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ....target import Target
from ..text.build import Shape, Text
from .arc import acos, acosh, asin, asinh, atan, atan2, atanh
from .erf import erf
from .exp import cosh, exp, exp2, exp2_near, exp_near, expm1, sinh, tanh
from .lanes import Lanes
from .log import log, log1p, log2, log10
from .pow import cbrt, powf
from .trig import cos, sin, tan

Function = Callable[..., str]
"""Takes text, shape, target and operands; the shape is the operands' and the result's."""


def intrinsic(name: str) -> Function:
    """Return the function that is one intrinsic of LLVM."""

    def call(text: Text, shape: Shape, target: Target, *operands: str) -> str:
        """Call the intrinsic."""
        del target
        return text.intrinsic(f"llvm.{name}", shape, *operands)

    return call


def flagged(name: str) -> Function:
    """Return the function that is one intrinsic of LLVM on integers, without undefined cases."""

    def call(text: Text, shape: Shape, target: Target, x: str) -> str:
        """Call the intrinsic."""
        del target
        kind, full = shape.name, f"@llvm.{name}.{shape.suffix}"
        text.declare(f"declare {kind} {full}({kind}, i1)")
        return text.value(f"call {kind} {full}({kind} {x}, i1 false)")

    return call


def rsqrt(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return 1 / sqrt(x)."""
    lanes = Lanes(text, shape, target)
    return lanes.divide(1.0, lanes.sqrt(x))


def round_away(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the nearest whole number, and of two the one farther from 0."""
    lanes = Lanes(text, shape, target)
    below_half = 0.5 - 2.0 ** (-lanes.layout.fraction - 2)
    moved = lanes.add(x, lanes.copysign(below_half, x))
    return lanes.intrinsic("trunc", moved)


def fma(text: Text, shape: Shape, target: Target, x: str, y: str, z: str) -> str:
    """Return x * y + z, rounded once."""
    lanes = Lanes(text, shape, target)
    if lanes.has_fma:
        return lanes.fma(x, y, z)
    wide = lanes.as_doubles()
    if shape.element == "float":
        total, error = wide.two_sum(wide.multiply(lanes.widen(x), lanes.widen(y)), lanes.widen(z))
        return lanes.narrow(_to_odd(wide, total, error))
    product, rest = lanes.two_product(x, y)
    middle, low = lanes.two_sum(z, rest)
    high, error = lanes.two_sum(product, middle)
    result = lanes.add(high, _to_odd(lanes, *lanes.two_sum(low, error)))
    plain = lanes.add(lanes.multiply(x, y), z)
    return lanes.select(lanes.compare("ord", result, result), result, plain)


def _to_odd(lanes: Lanes, total: str, error: str) -> str:
    """Return total + error rounded so that a later rounding to fewer bits is right.

    If it is inexact, that is the neighbour whose last bit is set.
    """
    bits, integer = lanes.as_bits(total), lanes.shape.integer
    last = lanes.integer("and", bits, 1)
    even = lanes.text.value(f"icmp eq {lanes.bits} {last}, {integer.splat(0)}")
    moved = lanes.both(lanes.compare("one", error, 0.0), even)
    inward = lanes.differ(lanes.compare("olt", error, 0.0), lanes.compare("olt", total, 0.0))
    step = lanes.text.value(
        f"select {lanes.mask} {inward}, {lanes.bits} {integer.splat(-1)}, "
        f"{lanes.bits} {integer.splat(1)}"
    )
    return lanes.select(moved, lanes.as_float(lanes.integer("add", bits, step)), total)


def in_one_form(function: Function, *, by_tables: bool = False) -> Function:
    """Return a function of one operand or two that gives an element the same on any lanes.

    It is computed on as many lanes as its form for the processor wants, which others lack: one
    with tables in registers on all of AVX2's or AVX-512's, another on all of AVX-512's. Where the
    form has to be that of AVX2, its table may be looked up for all lanes of AVX-512 at once.
    """

    def call(text: Text, shape: Shape, target: Target, *operands: str) -> str:
        """Call the function on more lanes, or on parts of them."""
        lanes = _own_lanes(shape, target, by_tables=by_tables)
        target = target.for_functions()
        if lanes in (0, shape.lanes):
            return function(text, shape, target, *operands)
        own = Shape(shape.element, lanes)
        if shape.lanes <= lanes:
            made = function(text, own, target, *[_widened(text, shape, own, x) for x in operands])
            return _part(text, own, made, shape, 0)
        parts = [
            function(text, own, target, *[_part(text, shape, x, own, at) for x in operands])
            for at in range(0, shape.lanes, lanes)
        ]
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [_joined(text, own, first, second) for first, second in pairs]
            own = Shape(own.element, 2 * own.lanes)
        return parts[0]

    return call


def _own_lanes(shape: Shape, target: Target, *, by_tables: bool) -> int:
    """Return how many lanes a function with forms of its own takes; 0: any, they are alike."""
    form, most = target.for_functions(), 512 // shape.bits
    if form.has("avx512dq") and form.has("avx512vl"):
        return most
    if by_tables and shape.element == "float" and form.has("avx2"):
        return most if shape.lanes >= most and target.has("avx512dq") else 8
    return 0


def _order(places: Iterable[int]) -> str:
    """Return the mask of a shuffle."""
    return f"<{', '.join(f'i32 {place}' for place in places)}>"


def _widened(text: Text, shape: Shape, own: Shape, x: str) -> str:
    """Return an operand as the first of more lanes; the others are 0."""
    if not shape.lanes:
        return text.value(f"insertelement {own.name} zeroinitializer, {shape.name} {x}, i64 0")
    places = [min(lane, shape.lanes) for lane in range(own.lanes)]
    order = f"<{own.lanes} x i32> {_order(places)}"
    return text.value(f"shufflevector {shape.name} {x}, {shape.name} zeroinitializer, {order}")


def _part(text: Text, whole: Shape, x: str, part: Shape, first: int) -> str:
    """Return some lanes of a vector."""
    if not part.lanes:
        return text.value(f"extractelement {whole.name} {x}, i64 {first}")
    order = f"<{part.lanes} x i32> {_order(range(first, first + part.lanes))}"
    return text.value(f"shufflevector {whole.name} {x}, {whole.name} poison, {order}")


def _joined(text: Text, half: Shape, first: str, second: str) -> str:
    """Return the lanes of two vectors as those of one."""
    order = f"<{2 * half.lanes} x i32> {_order(range(2 * half.lanes))}"
    return text.value(f"shufflevector {half.name} {first}, {half.name} {second}, {order}")


MATH: Mapping[str, Function] = {
    "math.absf": intrinsic("fabs"),
    "math.absi": flagged("abs"),
    "math.acos": acos,
    "math.acosh": in_one_form(acosh),
    "math.asin": asin,
    "math.asinh": in_one_form(asinh),
    "math.atan": atan,
    "math.atan2": atan2,
    "math.atanh": in_one_form(atanh),
    "math.cbrt": cbrt,
    "math.ceil": intrinsic("ceil"),
    "math.copysign": intrinsic("copysign"),
    "math.cos": cos,
    "math.cosh": cosh,
    "math.ctlz": flagged("ctlz"),
    "math.ctpop": intrinsic("ctpop"),
    "math.cttz": flagged("cttz"),
    "math.erf": in_one_form(erf, by_tables=True),
    "math.exp": exp,
    "math.exp2": exp2,
    "math.expm1": expm1,
    "math.floor": intrinsic("floor"),
    "math.fma": fma,
    "math.log": in_one_form(log),
    "math.log10": in_one_form(log10),
    "math.log1p": in_one_form(log1p),
    "math.log2": in_one_form(log2),
    "math.powf": in_one_form(powf),
    "math.round": round_away,
    "math.roundeven": intrinsic("roundeven"),
    "math.rsqrt": rsqrt,
    "math.sin": sin,
    "math.sinh": sinh,
    "math.sqrt": intrinsic("sqrt"),
    "math.tan": tan,
    "math.tanh": in_one_form(tanh, by_tables=True),
    "math.trunc": intrinsic("trunc"),
}
"""What appends each operation of the dialect."""

NEAR: Mapping[str, Function] = {"math.exp": exp_near, "math.exp2": exp2_near}
"""What appends an operation of which the flag `afn` says that some ulp do not matter."""
