"""The device math against numpy, many digits, and the whole range of floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure.codegen.aot.elf import Object
from gravure.codegen.llvm.compile import assemble
from gravure.codegen.llvm.math.functions import MATH
from gravure.codegen.llvm.text.build import Shape, Text
from gravure.target import Target, native
from gravure.tools.accuracy.native_math import ARITY, DTYPES, ErrorScan, Map
from gravure.tools.accuracy.ulp_table import (
    BINARY,
    EXACT,
    Form,
    error_in_ulp,
    forms,
    samples,
    worst_of_samples,
)

pytestmark = pytest.mark.sampled(2)

Array = np.ndarray[Any, Any]

FORMS = forms()
UNARY = sorted(set(EXACT) - set(BINARY))
LIMIT = {"float": 2.0, "double": 3.0}
NEARER = {"exp": 1.25, "log": 1.0, "sqrt": 0.5, "cbrt": 0.51, "powf": 1.5}
ROUNDING: dict[str, Callable[..., Any]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "round": lambda x: np.trunc(x + np.copysign(np.nextafter(x.dtype.type(0.5), 0), x)),
    "roundeven": np.rint,
    "trunc": np.trunc,
    "absf": np.abs,
}
NUMPY: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in EXACT if hasattr(np, name)},
    **ROUNDING,
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "powf": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
SPECIAL = (
    *(0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 2.5, 1e5, 4503599627370497.5, 0.49999997, 0.75),
    *(np.inf, np.nan, 1e-30, 1e30, 88.8, 103.9, 709.8, 745.1, 16777217.0, 1e300, 5e-324),
)

each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.label)
each_element = pytest.mark.parametrize("element", ["float", "double"])


def special(element: str) -> Array:
    """Return special values with both signs, and those at the ends of the type."""
    dtype = DTYPES[element]
    layout = np.finfo(dtype)
    ends = [layout.max, layout.tiny, layout.smallest_subnormal, 1 - layout.epsneg, 1 + layout.eps]
    with np.errstate(over="ignore", under="ignore"):
        values = np.array([*SPECIAL, *map(float, ends)]).astype(dtype)
    return np.concatenate([values, -values])


def assert_same(found: Array, wanted: Array, operands: list[Array], ulp: int = 3) -> None:
    """Check class, sign and, within some units in the last place, value of each element."""
    for f, w, *x in zip(found, wanted, *operands, strict=True):
        if np.isnan(w):
            assert np.isnan(f), f"at {x}: found {f}, expected NaN"
            continue
        assert np.signbit(f) == np.signbit(w), f"at {x}: found {f}, expected {w}"
        assert f == w or abs(float(f) - float(w)) <= ulp * unit(w), (
            f"at {x}: found {f!r}, expected {w!r}"
        )


def unit(x: Any) -> float:
    """Return the unit in the last place of a number; 0 of an infinite one."""
    layout = np.finfo(x.dtype)
    if not np.isfinite(x):
        return 0.0
    return math.ldexp(1.0, max(math.frexp(x)[1] - 1, layout.minexp) - layout.nmant)


def in_more_bits(name: str, operands: list[Array], element: str) -> Array:
    """Return numpy's function of the operands; of floats it is computed in double."""
    with np.errstate(all="ignore"):
        wide = [each.astype(np.float64) for each in operands]
        return np.asarray(NUMPY[name](*wide)).astype(DTYPES[element])


@each_form
@each_element
@pytest.mark.parametrize("name", sorted({*UNARY, *ROUNDING}))
def test_special_values_are_numpys(name: str, element: str, form: Form) -> None:
    x = special(element)
    wanted = in_more_bits(name, [x], element)
    assert_same(Map(f"math.{name}", form.shape(element), form.target)(x), wanted, [x])


@each_form
@each_element
@pytest.mark.parametrize("name", [*BINARY, "copysign"])
def test_special_values_of_two_operands_are_numpys(name: str, element: str, form: Form) -> None:
    x, y = (each.ravel() for each in np.meshgrid(special(element), special(element)))
    wanted = in_more_bits(name, [x, y], element)
    assert_same(Map(f"math.{name}", form.shape(element), form.target)(x, y), wanted, [x, y])


@each_form
@each_element
@pytest.mark.parametrize("name", sorted(ROUNDING))
def test_rounding_is_exact(name: str, element: str, form: Form) -> None:
    (x,) = samples("erf", element, 3000)
    halves = np.arange(-40, 40).astype(x.dtype) / 4
    x = np.concatenate([x, halves, halves + 2 ** np.finfo(x.dtype).nmant])
    wanted = NUMPY[name](x)
    assert_same(Map(f"math.{name}", form.shape(element), form.target)(x), wanted, [x], ulp=0)


@each_form
@pytest.mark.parametrize("name", UNARY)
def test_floats_are_near_over_the_whole_range(name: str, form: Form) -> None:
    found = ErrorScan(f"math.{name}", form.lanes, form.target)(1, 77_773, (1 << 32) // 77_773 & -16)
    assert found.ulp <= NEARER.get(name, LIMIT["float"]), found


@each_form
@pytest.mark.parametrize("name", sorted(EXACT))
def test_doubles_are_near(name: str, form: Form) -> None:
    operands = samples(name, "double", 120)
    found = worst_of_samples(form, name, "double", operands)
    assert found.ulp <= NEARER.get(name, LIMIT["double"]), found


@each_form
@pytest.mark.parametrize("name", BINARY)
def test_floats_of_two_operands_are_near(name: str, form: Form) -> None:
    found = worst_of_samples(form, name, "float", samples(name, "float", 120))
    assert found.ulp <= 0.51, found


@each_form
@each_element
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_multiples_of_pi_are_taken_off_exactly(name: str, element: str, form: Form) -> None:
    random = np.random.default_rng(1)
    dtype = DTYPES[element]
    counts = np.concatenate([np.arange(60), random.integers(0, 1 << 22, 200)])
    near = (counts * np.longdouble("1.57079632679489661923132169163975144")).astype(dtype)
    known = np.array([6381956970095103.0 * 2.0**797, 1.6367e19, 16367173.0, 1e22, 2.0**120])
    with np.errstate(over="ignore"):
        x = np.concatenate([near, known.astype(dtype)])
    x = x[np.isfinite(x)]
    found = worst_of_samples(form, name, element, [x])
    assert found.ulp <= LIMIT[element], found


@each_form
@each_element
def test_known_values_are_exact(element: str, form: Form) -> None:
    known = {
        "exp": (0.0, 1.0),
        "exp2": (10.0, 1024.0),
        "log": (1.0, 0.0),
        "log2": (8.0, 3.0),
        "cos": (0.0, 1.0),
        "cosh": (0.0, 1.0),
        "tanh": (30.0, 1.0),
        "erf": (7.0, 1.0),
        "cbrt": (27.0, 3.0),
        "acos": (1.0, 0.0),
        "rsqrt": (4.0, 0.5),
    }
    for name, (x, wanted) in known.items():
        whole = np.full(1, x, DTYPES[element])
        found = Map(f"math.{name}", form.shape(element), form.target)(whole)
        assert found[0] == wanted, f"{name}({x}): found {found[0]!r}"


@each_form
@each_element
def test_fma_rounds_once(element: str, form: Form) -> None:
    random = np.random.default_rng(0)
    dtype = DTYPES[element]
    x, y = (random.standard_normal(2000).astype(dtype) for _ in range(2))
    with np.errstate(all="ignore"):
        z = (-x * y * (1 + random.integers(-3, 3, 2000) * np.finfo(dtype).eps)).astype(dtype)
        z[::3] = random.standard_normal(z[::3].size) * np.exp(random.uniform(-40, 40, z[::3].size))
    found = Map("math.fma", form.shape(element), form.target)(x, y, z)
    digits = exact_fma(x, y, z)
    errors = [error_in_ulp(float(f), w, element) for f, w in zip(found, digits, strict=True)]
    assert max(errors) <= 0.5


def test_what_only_far_arguments_need_is_branched_over() -> None:
    text = Text()
    MATH["math.erf"](text, Shape("double", 8), Target.parse("x86-64-v4"), "%x")
    before, *others = text.body().split("br i1")
    assert len(others) == 1
    assert before.count("@llvm.fma") < others[0].count("@llvm.fma") / 2


def exact_fma(x: Array, y: Array, z: Array) -> list[Any]:
    mp = pytest.importorskip("mpmath").mp
    with mp.workprec(400):
        return [
            mp.mpf(a) * mp.mpf(b) + mp.mpf(c)
            for a, b, c in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)
        ]


@each_form
@each_element
def test_lanes_do_not_depend_on_each_other(element: str, form: Form) -> None:
    x = np.array([0.5, 1e9, np.nan, -3.0, np.inf, 1e-40, -1e30, 7.0] * 4, DTYPES[element])
    for name in ("sin", "exp", "log", "erf", "tan"):
        function = Map(f"math.{name}", form.shape(element), form.target)
        alone = [function(x[i : i + 1])[0] for i in range(x.size)]
        assert_same(function(x), np.array(alone), [x], ulp=0)


@pytest.mark.parametrize("processor", [form.processor for form in FORMS if form.lanes == 16])
@each_element
@pytest.mark.parametrize("lanes", [2, 4, 8, 32])
def test_other_widths_give_nearly_the_same(processor: str, lanes: int, element: str) -> None:
    target = Target.parse(processor)
    for name in sorted(EXACT):
        operands = samples(name, element, 100)
        wanted = Map(f"math.{name}", Shape(element), target)(*operands)
        found = Map(f"math.{name}", Shape(element, lanes), target)(*operands)
        assert_same(found, wanted, operands, ulp=4)


CROSS = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64", "riscv64")


@pytest.mark.parametrize("processor", CROSS)
@pytest.mark.parametrize("lanes", [0, 8])
def test_no_function_calls_a_library(processor: str, lanes: int) -> None:
    if processor == "riscv64" and lanes:
        pytest.skip("without vectors")
    target = Target.parse(processor)
    for element in ("float", "double"):
        text = Text()
        shape = Shape(element, lanes)
        for name in FLOAT_FUNCTIONS:
            operands = [f"%{letter}" for letter in "xyz"[: ARITY.get(name, 1)]]
            result = MATH[name](text, shape, target, *operands)
            text.line(f"store volatile {shape.name} {result}, ptr %p, align 8")
        kind = shape.name
        module = "\n".join(
            [
                *text.declarations,
                *text.functions.values(),
                f"define void @gv_all({kind} %x, {kind} %y, {kind} %z, ptr %p) {{",
                "entry:",
                *text.lines,
                "ret void",
                "}",
            ]
        )
        symbols = Object.read(assemble(module, target)).symbols
        assert not [each.name for each in symbols if each.is_wanted], element


INTEGER_FUNCTIONS = ("math.absi", "math.ctlz", "math.ctpop", "math.cttz")
FLOAT_FUNCTIONS = sorted(set(MATH) - set(INTEGER_FUNCTIONS))


def test_integer_functions_are_defined_everywhere() -> None:
    for name in INTEGER_FUNCTIONS:
        text = Text()
        MATH[name](text, Shape("i32", 8), Target.parse("x86-64-v3"), "%x")
        assert "i1 true" not in text.body()


@pytest.mark.sweep
@pytest.mark.slow
@each_form
@pytest.mark.parametrize("name", ["exp", "log", "tanh", "erf", "sin", "cos"])
def test_floats_are_near_everywhere(name: str, form: Form) -> None:
    step = 61 if form.lanes >= 8 else 509
    found = ErrorScan(f"math.{name}", form.lanes, form.target)(0, step, (1 << 32) // step & -16)
    assert found.ulp <= NEARER.get(name, LIMIT["float"]), found


def drawn(name: str, element: str) -> list[np.ndarray]:
    """Return operands of a function, far and near and special ones."""
    random = np.random.default_rng(11)
    parts = [
        *(random.uniform(-4, 4, 4000), random.uniform(0, 2, 4000), random.normal(0, 50, 4000)),
        special(element),
    ]
    x = np.concatenate([np.asarray(each, DTYPES[element]) for each in parts])
    return [x, random.permutation(x)][: ARITY.get(f"math.{name}", 1)]


def assert_same_bits(one: np.ndarray, other: np.ndarray) -> None:
    """Assert that bits are the same, those of NaN aside."""
    kind = f"u{one.itemsize}"
    assert np.array_equal(one.view(kind), other.view(kind)) or (
        np.array_equal(one, other, equal_nan=True)
        and np.array_equal(np.signbit(one), np.signbit(other))
    )


def machine(processor: str) -> Target:
    """Return a processor that this machine is, too."""
    target = Target.parse(processor)
    if not set(target.features) <= set(native().features):
        pytest.skip(f"this machine is no {processor}")
    return target


@pytest.mark.parametrize("name", sorted(EXACT))
@each_element
@pytest.mark.parametrize("processor", ["x86-64-v3", "x86-64-v4"])
def test_an_element_comes_out_the_same_on_any_lanes(
    name: str, element: str, processor: str
) -> None:
    """What a shape leaves at its end is computed on fewer lanes than the rest."""
    target, xs = machine(processor), drawn(name, element)
    lanes = [0, 2, 4, 8, 16, 32] if element == "float" else [0, 2, 4, 8, 16]
    found = [Map(f"math.{name}", Shape(element, each), target)(*xs) for each in lanes]
    for each in found[1:]:
        assert_same_bits(found[0], each)


@pytest.mark.parametrize("name", ["erf", "tanh", "atan2", "log"])
@pytest.mark.parametrize("lanes", [0, 8, 16, 32])
def test_wide_registers_give_the_bits_of_narrow_ones_where_these_are_asked_for(
    name: str, lanes: int
) -> None:
    """A table for 8 lanes is looked up for 16 at once."""
    wide, narrow = machine("x86-64-v4").in_common(), machine("x86-64-v3")
    made = Map(f"math.{name}", Shape("float", lanes), wide)(*drawn(name, "float"))
    assert_same_bits(made, Map(f"math.{name}", Shape("float", 8), narrow)(*drawn(name, "float")))
