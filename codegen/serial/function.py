"""Functions of loops and numbers, compiled as they are written in Python: what goes step by step.

    @serial
    def running(x: F64s, y: F64s) -> int:
        total = 0.0
        for i in range(len(x)):
            total += x[i]
            y[i] = total
        return len(x)

    running(x, y)

This is for what no operation on whole tensors says well: hashes, searches, distances, where each
step needs the one before it. What may stand in such a function, `llvm/serial` says. It is compiled
when it is first called, and kept in the cache. As Python runs it, it means the same, so long as
integers stay in 64 bits: `function` is that, for tests.

Arrays that are called `Array` have elements of any type here, the same for all of them: for each
one that comes the function is compiled once. What is to be rounded as its elements are is
`rounded(x, like)`.

Arrays have one row of elements, whatever their shape. An access outside of one ends the call with
an `IndexError`; nothing is written there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...runtime.buffer import Array, address, is_plain
from ..llvm.serial.kinds import ANY_ARRAY

if TYPE_CHECKING:
    from ...target import Target

U8s: TypeAlias = Array
Flags: TypeAlias = Array
I32s: TypeAlias = Array
U32s: TypeAlias = Array
I64s: TypeAlias = Array
U64s: TypeAlias = Array
F32s: TypeAlias = Array
F64s: TypeAlias = Array
Word: TypeAlias = int
"""A number modulo 2^64."""

ROWS: dict[str, np.dtype[Any]] = {
    "U8s": np.dtype(np.uint8),
    "Flags": np.dtype(np.bool_),
    "I32s": np.dtype(np.int32),
    "U32s": np.dtype(np.uint32),
    "I64s": np.dtype(np.int64),
    "U64s": np.dtype(np.uint64),
    "F32s": np.dtype(np.float32),
    "F64s": np.dtype(np.float64),
}
"""The element type of arrays, by what a function calls them."""
NAMES = {dtype: name for name, dtype in ROWS.items()}
LETTERS = {"int": "l", "Word": "l", "float": "d"}
"""How numbers are handed over."""
OUTSIDE = -(1 << 63)
"""What a compiled function returns where it would have left an array or divided by zero."""


def little(text: U8s, at: int, size: int) -> Word:
    """Return the number that so many bytes from some place on are, the lowest first; 4 or 8."""
    return int.from_bytes(bytes(text[at : at + size]), "little")


def put_little(text: U8s, at: int, size: int, x: Word) -> int:
    """Write a number as so many bytes from some place on, the lowest first; 4 or 8."""
    text[at : at + size] = [*x.to_bytes(size, "little")]
    return size


def single(x: float) -> float:
    """Return a number as it is rounded to 32 bits."""
    return float(np.float32(x))


def rounded(x: float, like: Array) -> float:
    """Return a number as an array of floats would hold it, which is to be of 32 or 64 bits."""
    return float(like.dtype.type(x))


def exp_single(x: float) -> float:
    """Return e to a number of 32 bits; compiled, it has the bits that the operation has."""
    return float(np.exp(np.float32(x)))


class Serial:
    """A function that is compiled when it is first called, for one type of elements or for each."""

    def __init__(self, function: Callable[..., Any], element: str = ANY_ARRAY) -> None:
        update_wrapper(self, function)
        self.function = function
        names = [str(each) for each in inspect.get_annotations(function).values()][:-1]
        self.kinds = [element if name == ANY_ARRAY else name for name in names]
        self.call: Callable[..., int] = self.first
        self.by_type: dict[np.dtype[Any], Serial] = {}
        if ANY_ARRAY in self.kinds:
            self.open = self.kinds.index(ANY_ARRAY)
            self.call = self.of_its_type

    def __call__(self, *given: Any) -> int:
        """Call the compiled function, and return its number."""
        return self.call(*given)

    def of_its_type(self, *given: Any) -> int:
        """Call the function for elements of the type that the first open array has."""
        dtype = given[self.open].dtype
        one = self.by_type.get(dtype)
        if one is None:
            if dtype not in NAMES:
                raise TypeError(f"{self.function.__name__}: {dtype}, expected {', '.join(ROWS)}")
            one = self.by_type[dtype] = Serial(self.function, NAMES[dtype])
        return one.call(*given)

    def first(self, *given: Any) -> int:
        """Call the function, which is compiled from now on."""
        self.call = self.loaded()
        return self.call(*given)

    def loaded(self) -> Callable[..., int]:
        """Return the compiled function: one that Python calls directly, where that is possible."""
        from ...runtime import direct  # noqa: PLC0415  (only who computes needs any of these)
        from ...runtime.library import Library  # noqa: PLC0415

        library = Library.load(_library(self.function, self.kinds))
        letters = "".join(LETTERS.get(kind, "pl") for kind in self.kinds)
        run = library.function("run", f"l{letters}")

        def slow(*given: Any) -> int:
            found: int = run(*self.plain(given))
            return self.outside() if found == OUTSIDE else found

        function, dtypes = library.address("call"), [ROWS.get(kind) for kind in self.kinds]
        if function is None or not direct.is_possible():
            return slow
        return direct.call_serial(function, dtypes, slow, self.outside, keep=(library, self))

    def plain(self, given: Sequence[Any]) -> list[Any]:
        """Return arguments as C has them, or raise `TypeError` where an array does not fit."""
        made: list[Any] = []
        for x, kind in zip(given, self.kinds, strict=True):
            if kind not in ROWS:
                made.append(float(x) if kind == "float" else int(x))
            elif x.dtype != ROWS[kind] or not is_plain(x):
                raise TypeError(f"{self.function.__name__}: {x.dtype}, expected {ROWS[kind]}s")
            else:
                made += (address(x), x.size)
        return made

    def outside(self) -> int:
        """Raise what says that an access was outside."""
        raise IndexError(f"{self.function.__name__} left an array, or divided by zero")


def serial(function: Callable[..., Any]) -> Serial:
    """Return a function that is compiled when it is first called."""
    return Serial(function)


def _library(function: Callable[..., Any], kinds: Sequence[str]) -> bytes:
    """Return the library of a function of such arguments, out of the cache if it is there."""
    from ..cache import default_cache  # noqa: PLC0415  (only who computes needs any of these)
    from ..compiled import Options, target_of  # noqa: PLC0415
    from ..keys import key_of  # noqa: PLC0415

    target = target_of(Options(numerics="exact"))
    name = f"{function.__module__}.{function.__qualname__}({', '.join(kinds)})"
    key = key_of("\n".join([f"serial {name}", *stands_on(function)]), target)
    made = partial(_made, function, kinds, target)
    return default_cache().get_or_make(key, made, f"serial {name}")


def stands_on(function: Callable[..., Any]) -> list[str]:
    """Return what a compiled function depends on: numbers that it names, and texts of files.

    These are its own and those of the functions that it calls, which others may lie in.
    """
    left, every, numbers = [function], {function}, set[str]()
    while left:
        one = left.pop()
        for name in one.__code__.co_names:
            x = one.__globals__.get(name)
            x = x.function if isinstance(x, Serial) else x
            if isinstance(x, FunctionType) and x not in every:
                left.append(x)
                every.add(x)
            elif isinstance(x, int | float):
                numbers.add(f"{name} = {x!r}")
    files = sorted({inspect.getfile(each) for each in every})
    return [*sorted(numbers), *(Path(file).read_text() for file in files)]


def _made(function: Callable[..., Any], kinds: Sequence[str], target: Target) -> bytes:
    """Return a compiled function."""
    from ..aot.library import link  # noqa: PLC0415  (LLVM, not for what is in the cache)
    from ..llvm.compile import assemble_optimised  # noqa: PLC0415
    from ..llvm.serial.module import TAG, module  # noqa: PLC0415

    text = module(function, kinds, target, OUTSIDE)
    return link([assemble_optimised(text, target)], TAG, libraries=["libm.so.6"]).tobytes()
