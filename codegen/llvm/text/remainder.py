"""The remainder of a float division (C's fmod), exact: a function in LLVM text.

Long division of the integers that the two numbers are times a power of two, as many bits a turn as
fit beside the divisor. LLVM's `frem` would be a call of the C library.
"""

from __future__ import annotations

from dataclasses import dataclass

from .build import Text


@dataclass(frozen=True)
class Format:
    """The layout of a float: `word` an integer as wide, `fraction` the bits of its fraction."""

    element: str
    word: str
    width: int
    fraction: int

    @property
    def infinity(self) -> int:
        """Return the bits of infinity."""
        return ((1 << self.width - 1 - self.fraction) - 1) << self.fraction

    @property
    def step(self) -> int:
        """Return how many bits of the quotient 64-bit arithmetic finds at a time."""
        return 63 - self.fraction


FORMATS = {"float": Format("float", "i32", 32, 23), "double": Format("double", "i64", 64, 52)}


def remainder_function(text: Text, element: str) -> str:
    """Have the function in the module, and return its name."""
    name = f"gv_remainder_{element}"
    if name not in text.functions:
        layout = FORMATS[element]
        text.declare(f"declare {element} @llvm.copysign.{_suffix(element)}({element}, {element})")
        text.declare(f"declare {element} @llvm.fabs.{_suffix(element)}({element})")
        text.declare("declare i64 @llvm.ctlz.i64(i64, i1)")
        text.declare("declare i64 @llvm.umin.i64(i64, i64)")
        text.functions[name] = "\n".join(_lines(name, layout))
    return name


def _suffix(element: str) -> str:
    return {"float": "f32", "double": "f64"}[element]


def _parts(layout: Format, which: str) -> list[str]:
    """Return lines that split a positive float into %m (its integer) and %e (the exponent)."""
    fraction, word = layout.fraction, layout.word
    implicit = 1 << fraction
    wide = f"%w{which} = zext {word} %b{which} to i64"
    if word == "i64":
        wide = f"%w{which} = or i64 %b{which}, 0"
    return [
        wide,
        f"%x{which} = lshr i64 %w{which}, {fraction}",
        f"%f{which} = and i64 %w{which}, {implicit - 1}",
        f"%n{which} = icmp ne i64 %x{which}, 0",
        f"%i{which} = select i1 %n{which}, i64 {implicit}, i64 0",
        f"%m{which} = or i64 %f{which}, %i{which}",
        f"%e{which} = select i1 %n{which}, i64 %x{which}, i64 1",
    ]


def _lines(name: str, layout: Format) -> list[str]:
    element, word, suffix = layout.element, layout.word, _suffix(layout.element)
    zero = "0x0000000000000000"
    return [
        f"define internal {element} @{name}({element} %x, {element} %y) noinline nounwind {{",
        "entry:",
        f"%ax = call {element} @llvm.fabs.{suffix}({element} %x)",
        f"%ay = call {element} @llvm.fabs.{suffix}({element} %y)",
        f"%ba = bitcast {element} %ax to {word}",
        f"%bb = bitcast {element} %ay to {word}",
        f"%infinite = icmp uge {word} %ba, {layout.infinity}",
        f"%missing = icmp ugt {word} %bb, {layout.infinity}",
        f"%zero = icmp eq {word} %bb, 0",
        "%bad = or i1 %infinite, %missing",
        "%none = or i1 %bad, %zero",
        "br i1 %none, label %refuse, label %ordered",
        "refuse:",  # NaN, by an invalid operation as in C
        f"%product = fmul {element} %x, %y",
        f"%nan = fdiv {element} %product, %product",
        f"ret {element} %nan",
        "ordered:",
        f"%smaller = icmp ult {word} %ba, %bb",
        "br i1 %smaller, label %keep, label %split",
        "keep:",
        f"ret {element} %x",
        "split:",
        *_parts(layout, "a"),
        *_parts(layout, "b"),
        "%distance = sub i64 %ea, %eb",
        "%first = urem i64 %ma, %mb",
        "br label %test",
        "test:",
        "%left = phi i64 [ %distance, %split ], [ %less, %turn ]",
        "%rest = phi i64 [ %first, %split ], [ %next, %turn ]",
        "%over = icmp eq i64 %left, 0",
        "br i1 %over, label %done, label %turn",
        "turn:",
        f"%bits = call i64 @llvm.umin.i64(i64 %left, i64 {layout.step})",
        "%shifted = shl i64 %rest, %bits",
        "%next = urem i64 %shifted, %mb",
        "%less = sub i64 %left, %bits",
        "br label %test",
        "done:",
        # rest * 2^(eb - bias - fraction), in two factors that no exponent is too small for
        f"%power = sub i64 %eb, {(layout.infinity >> layout.fraction) // 2 + layout.fraction}",
        "%one = ashr i64 %power, 1",
        "%two = sub i64 %power, %one",
        "%biased1 = add i64 %one, 1023",
        "%biased2 = add i64 %two, 1023",
        "%bits1 = shl i64 %biased1, 52",
        "%bits2 = shl i64 %biased2, 52",
        "%scale1 = bitcast i64 %bits1 to double",
        "%scale2 = bitcast i64 %bits2 to double",
        "%whole = uitofp i64 %rest to double",
        "%part = fmul double %whole, %scale1",
        "%full = fmul double %part, %scale2",
        (
            "%size = fptrunc double %full to float"
            if element == "float"
            else f"%size = fadd double %full, {zero}"
        ),
        f"%signed = call {element} @llvm.copysign.{suffix}({element} %size, {element} %x)",
        f"ret {element} %signed",
        "}",
    ]
