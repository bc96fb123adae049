"""Print how exact the device math is: the greatest error found of each function in each form.

Errors are in units in the last place of the exact result. Functions of one float are compared
with the same in double, over all floats (or every STEP-th); those of doubles and of two numbers
with many digits, on samples. What is printed for all floats is kept in docs/accuracy.md.

    python -m gravure.tools.accuracy.ulp_table [STEP] [FORM ...] [FUNCTION ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp

from ...codegen.llvm.text.build import Shape
from ...target import PROCESSORS, Target, native
from .native_math import DTYPES, Array, ErrorScan, Map, Worst


@dataclass(frozen=True)
class Form:
    """One way the functions are computed: a processor, and how many floats at once."""

    label: str
    processor: str
    lanes: int

    @property
    def target(self) -> Target:
        """Return what to compile for."""
        return Target.parse(self.processor)

    def shape(self, element: str) -> Shape:
        """Return the shape that takes as much room for each element."""
        return Shape(element, self.lanes if element == "float" else self.lanes // 2)


def forms() -> list[Form]:
    """Return the forms that this machine can run."""
    rows = (
        Form("scalar", "x86-64-v3", 0),
        Form("sse4", "x86-64-v2", 4),
        Form("avx2", "x86-64-v3", 8),
        Form("avx512", "x86-64-v4", 16),
        Form("scalar", "aarch64", 0),
        Form("neon", "aarch64", 4),
        Form("scalar", "riscv64", 0),
    )
    machine = native()
    return [
        row
        for row in rows
        if PROCESSORS[row.processor].architecture is machine.architecture
        and set(PROCESSORS[row.processor].features) <= set(machine.features)
    ]


def _cbrt(x: Any) -> Any:
    return -mp.cbrt(-x) if x < 0 else mp.cbrt(x)


def _atan2(y: Any, x: Any) -> Any:
    return mp.atan2(y, x)


EXACT: dict[str, Callable[..., Any]] = {
    "acos": mp.acos,
    "acosh": mp.acosh,
    "asin": mp.asin,
    "asinh": mp.asinh,
    "atan": mp.atan,
    "atan2": _atan2,
    "atanh": mp.atanh,
    "cbrt": _cbrt,
    "cos": mp.cos,
    "cosh": mp.cosh,
    "erf": mp.erf,
    "exp": mp.exp,
    "exp2": lambda x: mp.power(2, x),
    "expm1": mp.expm1,
    "log": mp.log,
    "log10": mp.log10,
    "log1p": mp.log1p,
    "log2": lambda x: mp.log(x) / mp.log(2),
    "powf": mp.power,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "sin": mp.sin,
    "sinh": mp.sinh,
    "sqrt": mp.sqrt,
    "tan": mp.tan,
    "tanh": mp.tanh,
}
"""The functions with an error, in many digits."""

DOMAIN: dict[str, tuple[float, float]] = {
    "acos": (-1.0, 1.0),
    "acosh": (1.0, np.inf),
    "asin": (-1.0, 1.0),
    "atanh": (-1.0, 1.0),
    "cosh": (-711.0, 711.0),
    "exp": (-746.0, 710.0),
    "exp2": (-1076.0, 1025.0),
    "expm1": (-746.0, 710.0),
    "log": (0.0, np.inf),
    "log10": (0.0, np.inf),
    "log1p": (-1.0, np.inf),
    "log2": (0.0, np.inf),
    "powf": (0.0, np.inf),
    "rsqrt": (0.0, np.inf),
    "sinh": (-711.0, 711.0),
    "sqrt": (0.0, np.inf),
}
"""Where the first operand lies, if not anywhere."""

BINARY = ("powf", "atan2")


def samples(name: str, element: str, count: int, seed: int = 0) -> list[Array]:
    """Return operands: of all exponents, of those near 0, and between the ends of the domain."""
    random = np.random.default_rng(seed)
    dtype = DTYPES[element]
    low, high = DOMAIN.get(name, (-np.inf, np.inf))

    def spread(width: float) -> Array:
        sign = random.choice([-1.0, 1.0], count)
        return sign * np.exp(random.uniform(-width, width, count))

    with np.errstate(all="ignore"):
        limit = float(np.log(np.finfo(dtype).max))
        parts = [spread(0.98 * limit), spread(4.0), 1.0 + spread(4.0) / 16]
        if np.isfinite([low, high]).all():
            parts.append(random.uniform(low, high, count))
        x = np.concatenate(parts).astype(dtype)
        x = np.where((x > low) & (x < high), x, np.abs(x))
        x = x[(x > low) & (x < high) & (x != 0)]
        random.shuffle(x)
        if name == "powf":
            ends = random.uniform(-limit, limit, x.size) / np.log(x.astype(np.float64))
            return [x, np.where(np.isfinite(ends), ends, 1.0).astype(dtype)]
        return [x, random.permutation(x)] if name == "atan2" else [x]


def exact(name: str, operands: Sequence[Array]) -> list[Any]:
    """Return the function in many digits."""
    function = EXACT[name]
    with mp.workprec(120):
        return [function(*map(mp.mpf, map(float, each))) for each in zip(*operands, strict=True)]


def error_in_ulp(found: float, wanted: Any, element: str) -> float:
    """Return how far a number is from what is wanted, in units in the last place."""
    layout = np.finfo(DTYPES[element])
    if not np.isfinite(found):
        most = mp.mpf(float(layout.max)) * (1 + mp.mpf(2) ** (-layout.nmant - 2))
        overflows = not mp.isnan(wanted) and abs(wanted) >= most and (found > 0) == (wanted > 0)
        return 0.0 if overflows or (np.isnan(found) and mp.isnan(wanted)) else float("inf")
    exponent = mp.frexp(wanted)[1] - 1 if wanted else layout.minexp
    return float(abs(found - wanted) / mp.mpf(2) ** (max(exponent, layout.minexp) - layout.nmant))


def worst_of_samples(form: Form, name: str, element: str, operands: list[Array]) -> Worst:
    """Return the greatest error on the operands."""
    wanted = exact(name, operands)
    found = Map(f"math.{name}", form.shape(element), form.target)(*operands)
    errors = [error_in_ulp(float(f), w, element) for f, w in zip(found, wanted, strict=True)]
    place = int(np.argmax(errors))
    return Worst(errors[place], *(float(each[place]) for each in operands[:1]))


def worst(form: Form, name: str, element: str, step: int) -> Worst:
    """Return the greatest error of one function in one form."""
    if element == "float" and name not in BINARY:
        step *= 1 if form.lanes else 8
        return ErrorScan(f"math.{name}", form.lanes, form.target)(0, step, (1 << 32) // step & -16)
    return worst_of_samples(form, name, element, samples(name, element, 3000))


def rows(step: int, names: Sequence[str], chosen: Sequence[Form]) -> Iterator[str]:
    """Return the lines of the table."""
    labels = [form.label for form in chosen]
    yield f"{'function':10}{'type':8}{''.join(f'{label:>9}' for label in labels)}  worst at"
    for name in names:
        for element, kind in (("float", "f32"), ("double", "f64")):
            found = [worst(form, name, element, step) for form in chosen]
            most = max(found, key=lambda each: each.ulp)
            errors = "".join(f"{each.ulp:9.2f}" for each in found)
            yield f"{name:10}{kind:8}{errors}  {most.where:.9g}"


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    step = int(arguments[0]) if arguments else 63
    chosen = [form for form in forms() if form.label in arguments[1:]]
    names = [word for word in arguments[1:] if word not in {form.label for form in chosen}]
    for line in rows(step, names or sorted(EXACT), chosen or forms()):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
