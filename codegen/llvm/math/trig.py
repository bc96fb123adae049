"""sin, cos and tan: a multiple of pi/2 is taken off, and the rest goes into polynomials."""

from __future__ import annotations

from ....target import Target
from ..text.build import Shape, Text
from .lanes import Lanes
from .tables import COS, HALF_PI, HALF_PI_SHORT, SIN, TAN, TURNS

INVERSE = 0.6366197723675814
"""2 / pi."""

FAR = {
    ("float", True): 2.0**16,
    ("float", False): 2.0**12,
    ("double", True): 2.0**26,
    ("double", False): 2.0**24,
}
"""From here multiples of pi/2 are taken off the slow way; less where there is no FMA."""


def sin(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the sine."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    near = lanes.flip_sign(_near(lanes, size, lanes.layout.magic), x)
    return with_far(lanes, x, size, near, "sin")


def cos(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the cosine, which is the sine one quarter of a turn further on."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    return with_far(lanes, x, size, _near(lanes, size, lanes.layout.magic + 1.0), "cos")


def _near(lanes: Lanes, x: str, magic: float) -> str:
    """Return the sine of a positive x, and as many quarters of a turn as the magic ends in."""
    counted = lanes.fma(x, INVERSE, magic)
    count = lanes.subtract(counted, magic)
    if lanes.has_fma:
        for part in HALF_PI[lanes.shape.element]:
            x = lanes.fma(count, -part, x)
    else:
        x = lanes.add(*_exact_rest(lanes, x, count))
    return _sine(lanes, x, lanes.as_bits(counted))


def _sine(lanes: Lanes, r: str, quarters: str) -> str:
    """Return the sine of r and so many quarters of a turn; |r| <= pi/4."""
    square = lanes.multiply(r, r)
    cosine = lanes.polynomial(square, (1.0, -0.5, *COS[lanes.precision]))
    product = lanes.multiply(square, lanes.polynomial(square, SIN[lanes.precision]))
    result = lanes.select(_is_odd(lanes, quarters), cosine, lanes.fma(product, r, r))
    width = lanes.shape.bits
    sign = lanes.integer("and", lanes.integer("shl", quarters, width - 2), 1 << (width - 1))
    return lanes.as_float(lanes.integer("xor", lanes.as_bits(result), sign))


def _is_odd(lanes: Lanes, count: str) -> str:
    """Return the mask of the lanes where the last bit is set."""
    zero = lanes.shape.integer.splat(0)
    if lanes.vector:
        last = lanes.integer("and", count, 1)
        return lanes.text.value(f"icmp ne {lanes.bits} {last}, {zero}")
    top = lanes.integer("shl", count, lanes.shape.bits - 1)  # a blend reads the top bit
    return lanes.text.value(f"icmp slt {lanes.bits} {top}, {zero}")


def tan(text: Text, shape: Shape, target: Target, x: str) -> str:
    """Return the tangent."""
    lanes = Lanes(text, shape, target)
    size = lanes.absolute(x)
    magic = lanes.layout.magic
    counted = lanes.fma(size, INVERSE, magic)
    high, low = _exact_rest(lanes, size, lanes.subtract(counted, magic))
    near = lanes.flip_sign(_tangent(lanes, high, low, lanes.as_bits(counted)), x)
    return with_far(lanes, x, size, near, "tan")


def _exact_rest(lanes: Lanes, x: str, count: str) -> tuple[str, str]:
    """Return x - count pi/2, rounded, and what the rounding left out."""
    element = lanes.shape.element
    if lanes.has_fma:
        first, second, third = HALF_PI[element]
        x = lanes.fma(count, -first, x)
        product, error = lanes.two_product(count, second)
        error = lanes.fma(count, third, error)
    else:
        first, second, third, fourth = HALF_PI_SHORT[element]
        x = lanes.fma(count, -second, lanes.fma(count, -first, x))
        product, error = lanes.multiply(count, third), lanes.multiply(count, fourth)
    high = lanes.subtract(x, product)
    low = lanes.subtract(lanes.subtract(x, high), product)
    return high, lanes.subtract(low, error)


def _tangent(lanes: Lanes, r: str, low: str, quarters: str) -> str:
    """Return the tangent of r + low and so many quarters of a turn; |r| <= pi/4."""
    square = lanes.multiply(r, r)
    low = lanes.fma(low, square, low)
    product = lanes.multiply(square, lanes.polynomial(square, TAN[lanes.precision]))
    tangent = lanes.add(r, lanes.fma(product, r, low))
    odd = _is_odd(lanes, quarters)
    above, below = lanes.select(odd, -1.0, tangent), lanes.select(odd, tangent, 1.0)
    return lanes.divide(above, below)


# Note [Far arguments]
# Three parts of pi/2, or four short ones without FMA, are enough below `FAR`: what is left of x
# after all but the last two is exact. Beyond, x / (2 pi) is summed up modulo 1 from the products
# of x with all the pieces of 1 / (2 pi) that x's exponent can bring to weight.
# That takes hundreds of instructions and is hardly ever needed. So it is a function of its own,
# marked cold, which is called if any lane needs it.


def with_far(lanes: Lanes, x: str, size: str, near: str, name: str) -> str:
    """Return `near`, but what the function for far arguments gives where `size` is great."""
    far = lanes.compare("oge", size, FAR[lanes.shape.element, lanes.has_fma])
    call = f"call {lanes.kind} @{_far_function(lanes, name)}({lanes.kind} {x}) cold"
    return lanes.overlay(far, lambda: lanes.text.value(call), near)


def _far_function(lanes: Lanes, name: str) -> str:
    """Have the function for far arguments in the module, and return its name."""
    full = f"gv_{name}_{lanes.shape.suffix}"
    if full not in lanes.text.functions:
        inner = Lanes(Text(), lanes.shape, lanes.target)
        result = inner.narrow(_far(inner.as_doubles(), *_turns(inner, "%x"), name))
        inner.text.line(f"ret {lanes.kind} {result}")
        for declaration in inner.text.declarations:
            lanes.text.declare(declaration)
        lanes.text.functions[full] = (
            f"define internal {lanes.kind} @{full}({lanes.kind} %x) noinline cold nounwind {{\n"
            f"entry:\n{inner.text.body()}\n}}"
        )
    return full


SCALE = 200
"""Numbers are made less by 2^200, as `TURNS` is greater, so that no exponent ends."""


def _turns(narrow: Lanes, x: str) -> tuple[str, str]:
    """Return x / (2 pi) modulo 1, between -1/2 and 1/2, as the sum of two doubles."""
    lanes, text = narrow.as_doubles(), narrow.text
    pieces = TURNS["double"]
    array = f"[{len(pieces)} x double]"
    numbers = ", ".join(f"double {Shape('double').splat(each)}" for each in pieces)
    text.declare(f"@gv_turns = private unnamed_addr constant {array} [{numbers}]")
    x = lanes.multiply(narrow.widen(x), 2.0**-SCALE)

    body, done, index = text.fresh_label(), text.fresh_label(), text.fresh()
    sums = [text.fresh() for _ in range(3)]
    text.line(f"br label %{body}")
    text.label(body)
    head = len(text.lines)
    pointer = text.value(f"getelementptr {array}, ptr @gv_turns, i64 0, i64 {index}")
    piece = lanes.spread(text.value(f"load double, ptr {pointer}, align 8"))
    high, middle, low = sums
    for product in lanes.two_product(x, piece):
        fraction = lanes.subtract(product, lanes.intrinsic("rint", product))
        high, error = lanes.two_sum(high, fraction)
        middle, error = lanes.two_sum(middle, error)
        high = lanes.subtract(high, lanes.intrinsic("rint", high))
        low = lanes.add(low, error)
    next_index = text.value(f"add i64 {index}, 1")
    count = len(pieces) if narrow.shape.element == "double" else 4
    more = text.value(f"icmp ult i64 {next_index}, {count}")
    text.lines[head:head] = [
        f"  {index} = phi i64 [ 0, %entry ], [ {next_index}, %{body} ]",
        *(
            f"  {old} = phi {lanes.kind} [ {lanes.name(0.0)}, %entry ], [ {new}, %{body} ]"
            for old, new in zip(sums, (high, middle, low), strict=True)
        ),
    ]
    text.line(f"br i1 {more}, label %{body}, label %{done}")
    text.label(done)
    high, middle = lanes.quick_two_sum(high, middle)
    return lanes.quick_two_sum(high, lanes.add(middle, low))


def _far(lanes: Lanes, high: str, low: str, name: str) -> str:
    """Return what the function called `name` is of (high + low) turns."""
    n = lanes.intrinsic("rint", lanes.multiply(high, 4.0))
    rest = lanes.fma(high, 4.0, lanes.negate(n))
    first, second, _ = HALF_PI["double"]
    r = lanes.fma(rest, second, lanes.multiply(low, 4.0 * first))
    r = lanes.fma(rest, first, r)
    magic = lanes.layout.magic + (1.0 if name == "cos" else 0.0)
    quarters = lanes.as_bits(lanes.add(n, magic))
    if name == "tan":
        return _tangent(lanes, r, lanes.name(0.0), quarters)
    return _sine(lanes, r, quarters)
