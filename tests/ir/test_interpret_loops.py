"""The reference interpreter of the loops level: exact, and strict about memory."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from gravure.errors import UnsupportedOp
from gravure.ir.dialects.kernel import loops_context
from gravure.ir.interpret.loop_values import fused_multiply_add, round_float
from gravure.ir.interpret.loops import OutOfBoundsError, interpret_kernel

Array = np.ndarray[Any, Any]


def parse(body: str, element: str = "f32") -> FuncOp:
    text = f"""
func.func @k(%x: memref<?x{element}>, %n: index, %lo: index, %hi: index, %slot: index) {{
{body}
  func.return
}}"""
    module = Parser(loops_context(), text).parse_module()
    module.verify()
    again = Parser(loops_context(), str(module)).parse_module()
    assert str(again) == str(module)
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


def run(body: str, array: Array, n: int = 0, element: str = "f32") -> Array:
    interpret_kernel(parse(body, element), [array, n, 0, 1, 0])
    return array


@pytest.mark.parametrize("n", [-1, 4])
@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("%v = memref.load %x[%n] : memref<?xf32>", "memref.load"),
        ("%v = vector.load %x[%n] : memref<?xf32>, vector<2xf32>", "vector.load"),
        (
            "%v = arith.constant 1.0 : f32\n memref.store %v, %x[%n] : memref<?xf32>",
            "memref.store",
        ),
        (
            "%s = gvk.step : vector<2xindex>\n"
            "%v = gvk.gather %x[%n] %s : memref<?xf32>, vector<2xindex> -> vector<2xf32>",
            "gvk.gather",
        ),
        (
            "%o = arith.constant 1 : index\n gvk.transpose_tile %x[%n] %o, %x[%o] %o, %o, %o"
            " {lanes = 4 : i64} : memref<?xf32>, memref<?xf32>",
            "gvk.transpose_tile",
        ),
    ],
)
def test_an_access_outside_of_a_buffer_names_operation_and_index(
    body: str, name: str, n: int
) -> None:
    with pytest.raises(OutOfBoundsError, match=rf"{name}: index {n} of a buffer of 4"):
        run(body, np.zeros(4, np.float32), n)


def test_a_vector_that_ends_outside_names_its_last_element() -> None:
    body = "%v = vector.load %x[%n] : memref<?xf32>, vector<4xf32>"
    with pytest.raises(OutOfBoundsError, match=r"vector.load: index 4 of a buffer of 4"):
        run(body, np.zeros(4, np.float32), 1)


def test_masked_lanes_may_lie_outside() -> None:
    body = """
  %two = arith.constant 2 : index
  %m = vector.create_mask %two : vector<4xi1>
  %z = arith.constant dense<7.0> : vector<4xf32>
  %v = vector.maskedload %x[%n], %m, %z
    : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %w = arith.addf %v, %v : vector<4xf32>
  vector.maskedstore %x[%n], %m, %w : memref<?xf32>, vector<4xi1>, vector<4xf32>"""
    assert run(body, np.arange(4, dtype=np.float32), 2).tolist() == [0, 1, 4, 6]


def test_an_operation_of_another_level_is_named() -> None:
    with pytest.raises(UnsupportedOp, match=r"memref.dim: not an operation of the loops level"):
        run("%d = memref.dim %x, %n : memref<?xf32>", np.zeros(1, np.float32))


def test_a_loop_that_would_not_end_is_an_error() -> None:
    with pytest.raises(OutOfBoundsError, match=r"scf.for: step 0 is not positive"):
        run("scf.for %i = %lo to %hi step %n {\n}", np.zeros(1, np.float32))


def test_arrays_must_be_what_the_kernel_says() -> None:
    function = parse("")
    for wrong in (np.zeros(4), np.zeros((2, 2), np.float32), np.zeros(8, np.float32)[::2]):
        with pytest.raises(AssertionError, match=r"memref<\?xf32>"):
            interpret_kernel(function, [wrong, 0, 0, 1, 0])
    with pytest.raises(AssertionError, match="5 arguments, 1 given"):
        interpret_kernel(function, [np.zeros(1, np.float32)])


def test_unsigned_arrays_are_taken_as_signless() -> None:
    body = """
  %v = memref.load %x[%n] : memref<?xi8>
  %w = arith.divui %v, %v : i8
  %s = arith.addi %v, %w : i8
  memref.store %s, %x[%n] : memref<?xi8>"""
    assert run(body, np.array([255], np.uint8), 0, "i8").tolist() == [0]


@pytest.mark.parametrize(
    ("operation", "x", "y", "result"),
    [
        ("divsi", -(2**31), -1, -(2**31)),
        ("divsi", 7, 0, 0),
        ("remsi", 7, 0, 0),
        ("remsi", -7, 4, -3),
        ("divui", -1, 2, 2**31 - 1),
        ("floordivsi", -7, 2, -4),
        ("ceildivsi", -7, 2, -3),
        ("ceildivui", 7, 2, 4),
        ("shli", 1, 32, 0),
        ("shrsi", -5, 99, -1),
        ("shrui", -1, -1, 0),
    ],
)
def test_integers_have_no_undefined_cases(operation: str, x: int, y: int, result: int) -> None:
    body = f"""
  %a = arith.constant {x} : i32
  %b = arith.constant {y} : i32
  %c = arith.{operation} %a, %b : i32
  memref.store %c, %x[%n] : memref<?xi32>"""
    assert run(body, np.zeros(1, np.int32), 0, "i32").tolist() == [result]


def exact(x: float, y: float, z: float) -> Fraction:
    return Fraction(x) * Fraction(y) + Fraction(z)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fused_multiply_add_rounds_once(dtype: Any) -> None:
    random = np.random.default_rng(0)
    a = (random.standard_normal(2000) * 2.0 ** random.integers(-20, 20, 2000)).astype(dtype)
    b = random.standard_normal(2000).astype(dtype)
    c = (-a * b * (1 + random.integers(-3, 3, 2000) * 2.0**-24)).astype(dtype)
    for x, y, z, found in zip(a, b, c, fused_multiply_add(a, b, c), strict=True):
        wanted = exact(float(x), float(y), float(z))
        error = abs(Fraction(float(found)) - wanted)
        for neighbour in (np.nextafter(found, dtype(np.inf)), np.nextafter(found, -dtype(np.inf))):
            assert error <= abs(Fraction(float(neighbour)) - wanted)


def test_fused_multiply_add_at_the_ends_of_the_range() -> None:
    huge, tiny = np.finfo(np.float64).max, np.float64(5e-324)
    cases = [(huge, 2.0, -huge, huge), (huge, huge, 1.0, np.inf), (tiny, 0.5, tiny, 2 * tiny)]
    cases += [(-0.0, 1.0, -0.0, -0.0), (1e300, 1e-320, 0.0, 1e300 * 1e-320), (tiny, tiny, 0.0, 0.0)]
    for x, y, z, result in cases:
        with np.errstate(all="ignore"):
            found = fused_multiply_add(*np.array([[x], [y], [z]]))
        assert found[0] == result
        assert np.signbit(found[0]) == np.signbit(result)
    with np.errstate(invalid="ignore"):
        assert np.isnan(fused_multiply_add(*np.array([[np.inf], [0.0], [1.0]]))[0])


def test_numbers_become_bfloat16_in_one_rounding() -> None:
    halfway = 1 + 2.0**-8  # between two bf16: to even, but a little more goes up
    values = np.array([halfway, halfway + 2.0**-40, -halfway - 2.0**-40])
    found = round_float(values, np.dtype(ml_dtypes.bfloat16)).astype(np.float64)
    assert found.tolist() == [1.0, 1 + 2.0**-7, -1 - 2.0**-7]


def test_vector_comparisons_conversions_and_choices_print_and_parse() -> None:
    body = """
  %v = vector.load %x[%n] : memref<?xf32>, vector<4xf32>
  %z = arith.constant dense<0.0> : vector<4xf32>
  %c = arith.cmpf olt, %v, %z : vector<4xf32>
  %s = arith.select %c, %z, %v : vector<4xi1>, vector<4xf32>
  %w = arith.extf %s : vector<4xf32> to vector<4xf64>
  %i = arith.fptosi %w : vector<4xf64> to vector<4xi64>
  %j = arith.index_cast %i : vector<4xi64> to vector<4xindex>
  %k = arith.trunci %i : vector<4xi64> to vector<4xi32>
  %e = arith.cmpi eq, %k, %k : vector<4xi32>
  %f = arith.sitofp %k : vector<4xi32> to vector<4xf32>
  %g = arith.remf %f, %s : vector<4xf32>
  %b = arith.cmpi slt, %n, %hi : index
  %r = arith.select %b, %f, %g : vector<4xf32>
  vector.store %r, %x[%n] : memref<?xf32>, vector<4xf32>"""
    array = np.array([-1.5, 2.5, 0.0, 7.9], np.float32)
    assert run(body, array, 0).tolist() == [0.0, 2.0, 0.0, 7.0]


@pytest.mark.parametrize(
    "line",
    [
        "%w = arith.extf %v : vector<4xf32> to vector<2xf64>",
        "%w = arith.truncf %v : vector<4xf32> to vector<4xf64>",
        "%w = arith.select %c, %v, %v : vector<2xi1>, vector<4xf32>",
        "%w = gvk.gather %x[%n] %i : memref<?xf32>, vector<2xindex> -> vector<4xf32>",
        "%w = gvk.gather %x[%n] %i : memref<?xf32>, vector<2xindex> -> vector<2xf64>",
        "gvk.prefetch %x[%n] {write = true, locality = 4 : i64} : memref<?xf32>",
    ],
)
def test_types_that_do_not_fit_are_refused(line: str) -> None:
    with pytest.raises(VerifyException):
        parse(f"""
  %v = vector.load %x[%n] : memref<?xf32>, vector<4xf32>
  %c = vector.create_mask %n : vector<2xi1>
  %i = gvk.step : vector<2xindex>
  {line}""")


def test_numbers_are_cut_to_what_an_integer_holds() -> None:
    body = """
  %v = vector.load %x[%n] : memref<?xf32>, vector<4xf32>
  %i = arith.fptosi %v : vector<4xf32> to vector<4xi8>
  %f = arith.sitofp %i : vector<4xi8> to vector<4xf32>
  vector.store %f, %x[%n] : memref<?xf32>, vector<4xf32>"""
    array = np.array([-128.0, -129.0, 127.5, 128.0], np.float32)
    assert run(body, array, 0).tolist() == [-128.0, -128.0, 127.0, 127.0]


@pytest.mark.parametrize(("number", "zeros"), [(1, 0), (40, 3), (-(2**31), 31), (0, 32)])
def test_trailing_zeros_are_counted(number: int, zeros: int) -> None:
    body = """
  %v = memref.load %x[%n] : memref<?xi32>
  %z = math.cttz %v : i32
  memref.store %z, %x[%n] : memref<?xi32>"""
    assert run(body, np.array([number], np.int32), element="i32").tolist() == [zeros]


def test_a_buffer_of_a_kernel_has_room_for_all_its_elements() -> None:
    body = """
  %b = memref.alloca() : memref<4xf32>
  %last = arith.constant 3 : index
  %v = memref.load %x[%n] : memref<?xf32>
  memref.store %v, %b[%last] : memref<4xf32>
  %w = memref.load %b[%last] : memref<4xf32>
  memref.store %w, %x[%hi] : memref<?xf32>"""
    assert run(body, np.array([5.0, 0.0], np.float32)).tolist() == [5.0, 5.0]
