"""Functions of loops and numbers mean compiled what they mean in Python."""

from __future__ import annotations

import ast
import gc
import importlib
import linecache
import math
import shutil
import sys
from collections.abc import Callable
from math import exp, isnan, log, log1p, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure.codegen.llvm.serial.affine import affine_accesses
from gravure.codegen.llvm.serial.statements import parsed
from gravure.codegen.serial.function import (
    F32s,
    F64s,
    Flags,
    I32s,
    I64s,
    Serial,
    U8s,
    U32s,
    U64s,
    Word,
    little,
    rounded,
    serial,
    single,
)
from gravure.ir.op import Array
from gravure.runtime import direct

LIMIT = 7
MANY = 1 << 63
OFFSET = 2.5


@serial
def whole(x: I64s, made: I64s) -> int:
    """Use all that integers have."""
    count = 0
    for i in range(len(x) - 1, -1, -1):
        a, b = x[i], x[(i + 1) % len(x)]
        made[count], made[count + 1], made[count + 2] = a + b * 3 - LIMIT, a & b, a | ~b
        made[count + 3] = a // b if b else -1
        made[count + 4] = a % b if b != 0 else -a
        made[count + 5] = (a ^ b) >> 3
        made[count + 6] = (a << 2) + min(a, b) - max(a, b) + abs(a)
        made[count + 7] = a // -7 + a % 5 + b % -3
        count += 8
    return count


@serial
def words(x: U64s, text: U8s, made: U64s) -> int:
    """Use numbers modulo 2^64."""
    total: Word = MANY
    for i in range(len(x)):
        by = i % 64
        a = int(x[i])
        total = total * 31 + a & (1 << 64) - 1
        total ^= (a << by | a >> (64 - by)) & (1 << 64) - 1
        total = total + little(text, i, 4) + little(text, i, 8) & (1 << 64) - 1
        made[i] = total % 1000 + total // 3
    return total >> 1


@serial
def real(x: F64s, narrow: F32s, made: F64s) -> int:
    """Use floats."""
    found, i = 0, 0
    while True:
        if i >= len(x):
            break
        a = float(x[i])
        i += 1
        if isnan(a):
            continue
        found += 1
        b = exp(-abs(a)) + log1p(a * a) - sqrt(abs(a)) / OFFSET
        b += log(a) if a > 0 else single(a / 3)
        made[i - 1] = max(b, -a) if -1 < a <= 1 else min(a, 3)
        narrow[i - 1] = b
    return found


@serial
def choices(flags: Flags, x: I32s, y: U32s, made: I64s) -> int:
    """Choose, and call."""
    any_, every = False, True
    for i in range(0, len(x), 2):
        inside = i + 1 < len(x) and x[i + 1] > x[i]
        any_ = any_ or inside
        every = every and not inside
        flags[i] = inside or y[i] == 3
        if inside:
            made[i] = _sum(x, i)
        elif flags[i]:
            made[i] = -1
        else:
            low, high = _ends(x[i], int(y[i]))
            made[i] = high - low
    return int(any_) + 2 * int(every)


def _sum(x: I32s, end: int) -> int:
    total = 0
    for i in range(end + 1):
        if x[i] < 0:
            return total
        total += int(x[i])
    return total


def _ends(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def arguments(name: str, random: np.random.Generator) -> list[Any]:
    """Return arrays for one of the functions."""
    count = int(random.integers(1, 80))
    if name == "whole":
        return [random.integers(-20, 20, count), np.zeros(8 * count, np.int64)]
    if name == "words":
        text = random.integers(0, 256, count + 8).astype(np.uint8)
        return [random.integers(0, 1 << 63, count, np.uint64), text, np.zeros(count, np.uint64)]
    if name == "real":
        x = random.normal(size=count) * random.choice([0.1, 1, 30])
        x[random.random(count) < 0.1] = np.nan
        return [x, np.zeros(count, np.float32), np.zeros(count)]
    x, y = (random.integers(low, 9, count) for low in (-2, 0))
    made = np.zeros(count, np.int64)
    return [np.zeros(count, bool), x.astype(np.int32), y.astype(np.uint32), made]


FUNCTIONS: dict[str, Serial] = {f.function.__name__: f for f in (whole, words, real, choices)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_functions_mean_what_they_mean_in_python(name: str) -> None:
    random, function = np.random.default_rng(0), FUNCTIONS[name]
    for _ in range(50):
        given = arguments(name, random)
        plain = [x.copy() if name == "real" else x.tolist() for x in given]
        assert function(*given) == function.function(*plain)
        for x, y in zip(given, plain, strict=True):
            np.testing.assert_array_equal(x, np.array(y, x.dtype))


@pytest.mark.parametrize("is_direct", [True, False])
def test_what_would_leave_an_array_is_an_error(
    monkeypatch: pytest.MonkeyPatch, is_direct: bool
) -> None:
    monkeypatch.setattr(direct, "is_possible", lambda: is_direct)
    function = Serial(_at)
    numbers = np.arange(5)
    assert [function(numbers, i, 1) for i in (0, 4)] == [0, 4]
    assert function(numbers.reshape(5, 1), np.int64(3), True) == 3
    for i in (-1, 5, 1 << 40, -(1 << 63)):
        with pytest.raises(IndexError, match="_at left an array"):
            function(numbers, i, 1)
    with pytest.raises(IndexError, match="divided by zero"):
        function(numbers, 1, 0)
    with pytest.raises(TypeError, match="int32, expected int64s"):
        function(numbers.astype(np.int32), 1, 1)
    with pytest.raises(TypeError, match="expected int64s"):
        function(numbers[::2], 1, 1)


def _at(numbers: I64s, place: int, by: int) -> int:
    return numbers[place] // by


def _even(x: F64s, made: F64s, first: int, count: int, by: int) -> int:
    """Go through places that lie evenly, forwards or backwards, and stay where a number says."""
    last = 0.0
    for k in range(count):
        one, other = x[first + by * k], x[first - by * k + by * (count - 1)]
        last = one if one > other or isnan(one) else other
        made[k] += last * x[2] + one
        if k > 3:
            made[2 * k] = last
    return int(last > 0.5)


def test_loops_over_even_places_mean_what_they_mean_in_python() -> None:
    random, function = np.random.default_rng(1), Serial(_even)
    for _ in range(60):
        x = random.random(int(random.integers(3, 90)))
        count = int(random.integers(0, (len(x) + 1) // 2))
        by = int(random.integers(-2, 3)) if count * 2 < len(x) else 1
        first = abs(by) * count if by < 0 else 0
        made, plain = np.zeros((2, 2 * count))
        try:
            wanted = _even(x, plain, first, count, by)
        except IndexError:
            with pytest.raises(IndexError):
                function(x, made, first, count, by)
        else:
            assert function(x, made, first, count, by) == wanted
        np.testing.assert_array_equal(made, plain)


@pytest.mark.parametrize("by", [1, 3, 1 << 31, 1 << 61, 1 << 62, -(1 << 63)])
def test_even_places_that_leave_an_array_end_the_loop_there(by: int) -> None:
    """Some come back to it: by 2^62, each fourth one would be the first, were it not looked at."""
    function, x = Serial(_stepping), np.arange(9)
    for count in (0, 1, 4, 5, 9, 10):
        made, inside = np.zeros(9, np.int64), min(count, -(-9 // by) if by > 0 else 1)
        if inside < count:
            with pytest.raises(IndexError):
                function(x, made, count, by)
        else:
            function(x, made, count, by)
        assert made[:inside].tolist() == [i * by for i in range(inside)]
        assert not made[inside:].any()


def _stepping(x: I64s, made: I64s, count: int, by: int) -> int:
    for k in range(count):
        made[k] = x[by * k]
    return count


def _jumping(x: I64s, made: I64s, by: int) -> int:
    for k in range(len(x)):
        made[x[k]] = k
    for k in range(len(x)):
        made[k * k] = k
    for k in range(len(x)):
        made[by] = k
        by += 1
    for k in range(len(x)):
        if x[k] > by:
            break
    for k in range(len(x)):
        made[k] = x[k] // by
    return by


def test_only_what_goes_on_evenly_to_its_end_is_known_before() -> None:
    loops = [x for x in ast.walk(parsed(_jumping)) if isinstance(x, ast.For)]
    assert not any(map(affine_accesses, loops))
    for function, count in ((_even, 5), (_products.function, 3)):
        (loop,) = [x for x in ast.walk(parsed(function)) if isinstance(x, ast.For)]
        assert len(affine_accesses(loop)) == count


@serial
def _following(x: F64s, narrow: F32s, y: I64s, low: int, high: int, by: int) -> int:
    """Touch elements that follow one another, if not all of them each time."""
    total, i = 0, 5
    for i in range(low, high):
        x[i + by] = x[i] * 2.0 - x[high - i]
        if i > 3:
            narrow[i - 4] = single(x[i] + 1)
        total += y[by] + (y[i] < 0)
    for j in range(high, low, -1):
        x[j] += total
    return total * 100 + i


def test_loops_that_touch_what_follows_are_looked_at_once() -> None:
    """Elements behind such a loop's arrays, or before them, are still none of them."""
    tree = ast.walk(parsed(_following.function))
    loop = next(each for each in tree if isinstance(each, ast.For))
    every = ["x[i + by]", "x[i]", "x[high - i]", "narrow[i - 4]", "x[i]", "y[by]", "y[i]"]
    assert sorted(ast.unparse(each) for each in affine_accesses(loop)) == sorted([*every])
    random, seen = np.random.default_rng(0), set()
    for _ in range(600):
        low, high, by = (int(random.integers(-2, n)) for n in (6, 14, 5))
        given = [np.arange(10.0), np.zeros(int(random.integers(1, 8)), np.float32), -np.arange(10)]
        plain = [Checked(x.copy()) for x in given]
        try:
            expected = _following.function(*plain, low, high, by)
        except IndexError:
            seen.add("outside")
            with pytest.raises(IndexError):
                _following(*given, low, high, by)
        else:
            seen.add("inside")
            assert _following(*given, low, high, by) == expected
        for x, y in zip(given, plain, strict=True):
            np.testing.assert_array_equal(x, y.array)
    assert seen == {"inside", "outside"}


def test_a_loop_over_nearly_all_numbers_ends_where_it_leaves_its_array() -> None:
    with pytest.raises(IndexError):
        _far(np.zeros(4), -(1 << 63), (1 << 63) - 1)


@serial
def _far(x: F64s, low: int, high: int) -> int:
    for i in range(low, high):
        x[i + low] = 1.0
    return low


class Checked:
    """An array whose elements are counted from the front only, as compiled code has them."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, at: int) -> float:
        if not 0 <= at < len(self.array):
            raise IndexError(at)
        return self.array[at].item()

    def __setitem__(self, at: int, x: float) -> None:
        if not 0 <= at < len(self.array):
            raise IndexError(at)
        self.array[at] = x


@serial
def _products(x: Array, y: Array, made: Array, count: I64s) -> int:
    """Multiply and add up, rounded as elements are; count is of 64 bits for all of them."""
    total = 0.0
    for i in range(len(made)):
        total = rounded(total + rounded(x[i] * y[i], made), made)
        made[i] = total
    count[0] = len(made)
    return len(made)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_open_arrays_have_elements_of_the_type_that_comes(dtype: type[np.floating]) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 50)).astype(dtype)
    made, wanted, count = np.empty(50, dtype), np.empty(50, dtype), np.zeros(1, np.int64)
    assert _products(x, y, made, count) == _products.function(x, y, wanted, count) == count[0]
    np.testing.assert_array_equal(made, wanted)
    np.testing.assert_array_equal(made, np.cumsum(x * y, dtype=dtype))


def test_open_arrays_of_one_call_have_one_type() -> None:
    x, count = np.zeros(3), np.zeros(1, np.int64)
    with pytest.raises(TypeError, match="_products: float32, expected float64s"):
        _products(x, x.astype(np.float32), x, count)
    with pytest.raises(TypeError, match=r"_products: float16, expected U8s, .*, F64s"):
        _products(*[x.astype(np.float16)] * 3, count)
    with pytest.raises(TypeError, match=r"rounded\(.*\) is not of floats"):
        _products(*[count] * 4)


def test_words_end_inside_of_their_text() -> None:
    function, text = Serial(_word), np.arange(9, dtype=np.uint8)
    assert function(text, 1) == little(text, 1, 8) == 0x0807060504030201
    for place in (-1, 2, 9, (1 << 63) - 1):
        with pytest.raises(IndexError):
            function(text, place)


def _word(text: U8s, place: int) -> Word:
    return little(text, place, 8)


def _many(x: I64s) -> int:
    return [1, 2][x[0]]


def _itself(x: I64s) -> int:
    return _itself(x)


def _of_list(x: I64s) -> int:
    for y in x:
        return y
    return 0


def _real(x: F64s) -> int:
    return x[0]  # type: ignore[no-any-return]


def _unknown(x: I64s) -> int:
    return math.prod(x)


WRONG = {
    _many: "[1, 2] is not known in serial functions",
    _itself: "_itself calls itself",
    _of_list: "x is no range",
    _real: "return x[0] is float, expected int",
    _unknown: "math.prod(x) is no plain call",
}


@pytest.mark.parametrize("function", WRONG)
def test_what_serial_functions_cannot_say_is_refused(function: Callable[..., int]) -> None:
    with pytest.raises(TypeError) as caught:
        Serial(function)(np.zeros(1) if function is _real else np.zeros(1, np.int64))
    assert WRONG[function] in str(caught.value)


def test_functions_keep_what_they_call() -> None:
    function = Serial(_at)
    function(np.arange(3), 0, 1)
    call = function.call
    del function
    gc.collect()
    assert call(np.arange(3), 2, 1) == 2
    with pytest.raises(IndexError):
        call(np.arange(3), 3, 1)


def test_what_is_kept_stands_on_what_a_function_calls_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the file of the function itself was asked for: another's change gave the old code."""
    monkeypatch.syspath_prepend(tmp_path)
    kinds = (
        "from __future__ import annotations\n"
        "from gravure.codegen.serial.function import I64s, serial\n"
    )
    (tmp_path / "kept_caller.py").write_text(
        f"{kinds}from kept_helper import FIRST, added\n@serial\n"
        "def total(x: I64s) -> int:\n    return added(x, FIRST)\n"
    )
    for first, factor in ((1, 1), (1, 2), (5, 2)):
        (tmp_path / "kept_helper.py").write_text(
            f"{kinds}FIRST = {first}\n"
            f"def added(x: I64s, to: int) -> int:\n    return to + x[0] * {factor}\n"
        )
        for name in ("kept_caller", "kept_helper"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        linecache.clearcache()
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        caller = importlib.import_module("kept_caller")
        assert caller.total(np.array([10])) == first + 10 * factor
