"""Plain Python values become attributes and text, and come back as they were."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gravure.ir import DTYPES, Array, Symbol, context, spec
from gravure.ir.ops.structure import Constant
from gravure.ir.text import LocatingParser
from gravure.ir.types.attributes import to_attribute, to_python
from gravure.ir.types.dims import symbol
from gravure.ir.types.dtypes import bool_, f32, i8, i64, of_element, of_numpy, u8, u64
from gravure.ir.types.tensor import spec_of

N = symbol("N")


def through_text(value: Any) -> Any:
    """Return the plain value of an attribute that was written and read."""
    return to_python(LocatingParser(context(), str(to_attribute(value))).parse_attribute())


def same(a: Any, b: Any) -> bool:
    """Say whether two values have one type and are equal; NaN is equal to NaN."""
    if isinstance(a, tuple):
        pairs = zip(a, b, strict=True) if isinstance(b, tuple) and len(a) == len(b) else ()
        return type(a) is type(b) and len(a) == len(b) and all(same(x, y) for x, y in pairs)
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1, a) == math.copysign(1, b)
        )
    return type(a) is type(b) and bool(a == b)


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        0,
        -(2**63),
        2**63 - 1,
        0.1,
        -0.0,
        1e300,
        5e-324,
        math.inf,
        -math.inf,
        math.nan,
        "",
        'quote " and \\ and \n and ü',
        Symbol("weight"),
        Symbol("layer.0/weight:0"),
        (),
        (1, 2, -3),
        (0.5, -0.0),
        (True, False),
        ("a", "b"),
        (1, N + 1),
        (N, N * 2),
        N + 1,
        ((0, 1), (2, N)),
        ((), (1,)),
        (1, 0.5),
        (f32, u8),
        *DTYPES.values(),
    ],
    ids=repr,
)
def test_value_comes_back(value: Any) -> None:
    assert same(to_python(to_attribute(value)), value)
    assert same(through_text(value), value)


@given(st.floats() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="utf-8")))
def test_any_number_and_text_comes_back(value: Any) -> None:
    assert same(through_text(value), value)


def special_values(name: str) -> Array:
    """Return the values of a type that are hard to write."""
    dtype = DTYPES[name]
    if dtype.kind == "b":
        return np.array([True, False])
    if dtype.is_integer:
        return np.array([dtype.minimum, 0, 1, dtype.maximum], dtype.numpy)
    values = [0.0, -0.0, 0.1, 1e-40, 65504.0, math.inf, -math.inf, math.nan]
    if dtype.kind == "c":
        return np.array([complex(v, v) for v in values], dtype.numpy)
    return np.array(values).astype(dtype.numpy)


@pytest.mark.parametrize("repeat", [1, 9])
@pytest.mark.parametrize("name", DTYPES)
def test_elements_come_back_bit_by_bit(name: str, repeat: int) -> None:
    with np.errstate(over="ignore"):
        array = np.tile(special_values(name), (repeat, 1))
    found = through_text(array)
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (2, 3)])
def test_shape_of_an_array_comes_back(shape: tuple[int, ...]) -> None:
    assert through_text(np.zeros(shape, np.float32)).shape == shape


def test_byte_order_is_the_machines_in_the_ir() -> None:
    swapped = np.array([1.0, 2.0], ">f4")
    assert through_text(swapped).tolist() == [1.0, 2.0]


def test_splat_is_not_expanded() -> None:
    splat = np.broadcast_to(np.float32(1.5), (1 << 20, 1 << 20))
    attribute = to_attribute(splat)
    assert str(attribute) == '#gv.array<f32, "1048576, 1048576", splat 1.5>'
    found = through_text(splat)
    assert found.shape == splat.shape
    assert not any(found.strides)
    assert attribute == to_attribute(found)
    assert hash(attribute) == hash(to_attribute(found))


def test_equal_arrays_are_equal_attributes() -> None:
    a = np.array([1.0, np.nan], np.float32)
    assert to_attribute(a) == to_attribute(a.copy())
    assert hash(to_attribute(a)) == hash(to_attribute(a.copy()))
    assert to_attribute(a) != to_attribute(a.astype(np.float64))
    assert to_attribute(np.array([0.0])) != to_attribute(np.array([-0.0]))


def test_attribute_keeps_its_own_copy() -> None:
    array = np.array([1.0, 2.0])
    attribute = to_attribute(array)
    array[0] = 9.0
    assert to_python(attribute).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        to_python(attribute)[0] = 3.0


def test_types_that_python_calls_equal_stay_apart() -> None:
    assert to_attribute(1) != to_attribute(True)
    assert to_attribute(1) != to_attribute(1.0)
    assert str(to_attribute(0.0)) != str(to_attribute(-0.0))
    assert str(to_attribute((0.0,))) != str(to_attribute((-0.0,)))
    assert to_attribute((1, 2)) != to_attribute((1.0, 2.0))
    assert same(to_python(to_attribute((True, 1))), (True, 1))


@pytest.mark.parametrize("value", [None, {}, object(), 1j, [1]], ids=lambda v: type(v).__name__)
def test_what_cannot_be_an_attribute_is_named(value: Any) -> None:
    with pytest.raises(TypeError, match=r"cannot be an attribute|unhashable"):
        to_attribute(value)


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
def test_number_beyond_64_bits_is_refused(number: int) -> None:
    with pytest.raises(Exception, match="64"):
        to_attribute(number)


@pytest.mark.parametrize("name", DTYPES)
def test_constant_of_each_type_has_its_spec(name: str) -> None:
    array = special_values(name)
    op = Constant.make(value=array)
    assert op.result_specs == [spec(DTYPES[name], array.size)]


@pytest.mark.parametrize("name", DTYPES)
def test_dtype_is_found_from_either_side(name: str) -> None:
    dtype = DTYPES[name]
    assert of_numpy(dtype.numpy) is dtype
    assert of_element(dtype.element) is dtype
    assert spec_of(spec(dtype, 2, N).type) == spec(dtype, 2, N)
    assert dtype.size == np.dtype(dtype.numpy).itemsize


def test_limits_and_widths_of_types() -> None:
    assert (i8.minimum, i8.maximum, i8.bits) == (-128, 127, 8)
    assert (u64.minimum, u64.maximum) == (0, 2**64 - 1)
    assert (i64.minimum, i64.maximum) == (-(2**63), 2**63 - 1)
    assert (bool_.minimum, bool_.maximum, bool_.bits, bool_.size) == (False, True, 1, 1)
    assert f32.maximum == math.inf


@pytest.mark.parametrize("dtype", ["S3", "U2", "M8[s]", "O", "V4", "longdouble"])
def test_foreign_element_type_is_named(dtype: str) -> None:
    with pytest.raises(TypeError, match="is not supported, expected one of bool, i8"):
        of_numpy(np.dtype(dtype))
