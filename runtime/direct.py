"""Builtin functions made of an artefact's own code: calls without ctypes in between.

The code finds what it works on behind a capsule (see `codegen/llvm/entry/python_call.py`), and so
depends on where CPython keeps a capsule's pointer and numpy the fields of an array. That is looked
up before it is relied on; where it is elsewhere, and on builds without the global lock, models are
called by ctypes instead.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from .arguments import numpy_dtype
from .artifact import DTYPE_CODES, TensorInfo
from .buffer import Array, address

METH_NOARGS, METH_FASTCALL = 0x0004, 0x0080
CLASS_IN_OBJECT, POINTER_IN_CAPSULE, VALUE_IN_FLOAT = 8, 16, 16
DATA_IN_ARRAY, RANK_IN_ARRAY, SHAPE_IN_ARRAY, TYPE_IN_ARRAY, FLAGS_IN_ARRAY = 16, 24, 32, 56, 64
HEAD_IN_TYPE = 24
"""Where an element type says what it is: kind, letter, byte order, flags, and its number."""
HEAD_TOLD = ~(0xFF << 24)
"""All of that but its flags."""
PLAIN_FLAGS = 0x101
"""Row-major without gaps, and aligned."""
ARRAY_TYPE, ARRAY_NEW, ARRAY_SET_BASE = 2, 93, 282
"""Where numpy's C interface has its functions."""


class _Method(ctypes.Structure):
    """What CPython knows of a builtin function: PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def python_function(name: str) -> int:
    """Return the address of one of the functions of Python's C interface."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def numpy_function(number: int) -> int:
    """Return the address of one of the functions (or types) of numpy's C interface."""
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    module = import_module("numpy._core._multiarray_umath")
    table = get(("PyCapsule_GetPointer", ctypes.pythonapi))(module._ARRAY_API, None)
    return int(ctypes.c_int64.from_address(table + 8 * number).value)


def _capsule(block: Array) -> Any:
    """Return a capsule whose pointer leads to an array's elements."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    return make(address(block), None, None)


@cache
def is_possible() -> bool:
    """Say whether this Python and this numpy have their fields where the code looks for them."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    block = np.zeros((2, 3), np.int64)
    capsule = _capsule(block)
    word, half = ctypes.c_int64.from_address, ctypes.c_int32.from_address
    number = 1.5
    shape = word(id(block) + SHAPE_IN_ARRAY).value
    dtype = block.dtype
    told = ord(dtype.kind) | ord(dtype.char) << 8 | ord("=") << 16 | dtype.num << 32
    return (
        word(id(capsule) + POINTER_IN_CAPSULE).value == address(block)
        and ctypes.c_double.from_address(id(number) + VALUE_IN_FLOAT).value == number
        and word(id(block) + CLASS_IN_OBJECT).value == id(np.ndarray) == numpy_function(ARRAY_TYPE)
        and word(id(block) + DATA_IN_ARRAY).value == address(block)
        and half(id(block) + RANK_IN_ARRAY).value == 2
        and (word(shape).value, word(shape + 8).value) == (2, 3)
        and word(id(block) + TYPE_IN_ARRAY).value == id(block.dtype)
        and word(id(dtype) + HEAD_IN_TYPE).value & HEAD_TOLD == told
        and half(id(block) + FLAGS_IN_ARRAY).value & PLAIN_FLAGS == PLAIN_FLAGS
    )


def addresses(arrays: Sequence[Array]) -> Array:
    """Return where the elements of each of very many arrays begin.

    To have one described, as `address` does, takes ten times as long as to look into it.
    """
    if not is_possible():
        return np.array([*map(address, arrays)], np.int64)
    word = ctypes.c_int64.from_address
    return np.array([word(id(array) + DATA_IN_ARRAY).value for array in arrays], np.int64)


AGAIN_BUSY, CALL_BUSY = 4, 5
"""The word of each block that is 0 while its builtin may run, 1 while it does."""
SLOW = 2
"""What is written there so that a builtin takes its slow way."""


class Gates:
    """The blocks of builtins, which take their slow way as long as these gates are shut."""

    def __init__(self) -> None:
        self.blocks: dict[int, tuple[weakref.ref[Array], int]] = {}

    def add(self, block: Array, word: int) -> None:
        """Take a block in until its builtin is gone; `word` is the one to write."""
        key, blocks = id(block), self.blocks
        blocks[key] = weakref.ref(block, lambda _: blocks.pop(key, None)), word

    def shut(self, *, on: bool) -> None:
        """Let builtins take their slow way, or not any more; who is running goes on as it is."""
        for reference, word in [*self.blocks.values()]:
            block = reference()
            if block is not None and block[word] == (0 if on else SLOW):
                block[word] = SLOW if on else 0


@dataclass(frozen=True)
class SlowWay:
    """What a builtin calls instead of running a model, and what has it do so."""

    call: Callable[..., Any]
    gates: Gates


def builtin(
    function: int, flags: int, block: Array, keep: object, name: bytes = b"run"
) -> Callable[..., Any]:
    """Return the builtin function that runs `function` on `block`; it keeps `keep` alive."""
    method = _Method(name, function, flags, None)
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.POINTER(_Method), ctypes.py_object, ctypes.py_object
    )(("PyCFunction_NewEx", ctypes.pythonapi))
    made: Callable[..., Any] = make(ctypes.byref(method), _capsule(block), (method, block, keep))
    return made


def tensor_table(infos: Sequence[TensorInfo]) -> Array:
    """Return a table of `gravure_tensor`, with element types and ranks filled in."""
    table = np.zeros((len(infos), 3), np.int64)
    for row, info in zip(table, infos, strict=True):
        row[2] = len(info.shape) | DTYPE_CODES[info.dtype] << 32
    return table


def call_again(
    function: int,
    addresses: Sequence[int],
    result: object,
    slow: SlowWay,
    *,
    release: bool,
    keep: object,
) -> Callable[[], Any]:
    """Return a builtin that runs a model on the same arrays and returns `result`.

    `addresses` are the four arguments of the model's run; `release` lets other threads of Python
    work meanwhile. Behind shut gates it is `slow` that runs.
    """
    lock = [python_function(name) for name in ("PyEval_SaveThread", "PyEval_RestoreThread")]
    words = [*addresses, 0, id(result), python_function("Py_IncRef")]
    words += [*(lock if release else (0, 0)), python_function("PyObject_CallNoArgs"), id(slow.call)]
    block = np.array(words, np.int64)
    slow.gates.add(block, AGAIN_BUSY)
    return builtin(function, METH_NOARGS, block, (result, slow, keep))


def call_with_arrays(
    function: int,
    infos: tuple[Sequence[TensorInfo], Sequence[TensorInfo]],
    addresses: tuple[int, int],
    slow: SlowWay,
    *,
    release: bool,
    keep: object,
) -> Callable[..., Any]:
    """Return a builtin that runs a model on the arrays it is given and returns new ones.

    `infos` are those of inputs and outputs, `addresses` those of workspace and context. Outputs
    that may lie over an input are written there. Behind shut gates it is `slow` that runs.
    """
    inputs, outputs = infos
    tables = [tensor_table(inputs), tensor_table(outputs)]
    types = [numpy_dtype(info.dtype) for info in inputs]
    made = np.zeros((len(outputs), 3), np.int64)
    places = np.zeros(len(outputs), np.int64)
    shapes = []
    for number, info in enumerate(outputs):
        dtype = numpy_dtype(info.dtype)
        made[number] = 0, dtype.num if info.over is None else ~info.over, dtype.itemsize
        sizes = [size if isinstance(size, int) else 0 for size in info.shape]
        shapes.append(np.array(sizes, np.int64))
        places[number] = tables[1][number, 1] = address(shapes[-1])
    type_table = np.array([id(dtype) for dtype in types], np.int64)
    is_static = all(info.is_static for info in outputs)
    lock = [python_function(name) for name in ("PyEval_SaveThread", "PyEval_RestoreThread")]
    block = np.array(
        [
            *(len(inputs), address(tables[0]), address(tables[1]), *addresses, 0),
            *(numpy_function(ARRAY_TYPE), address(type_table), len(outputs), address(made)),
            *(0 if is_static else address(places), *(lock if release else (0, 0)), id(slow.call)),
            *map(python_function, ("PyObject_Vectorcall", "Py_DecRef")),
            *(numpy_function(ARRAY_NEW), numpy_function(ARRAY_SET_BASE)),
            *map(python_function, ("PyTuple_New", "PyTuple_SetItem", "Py_IncRef")),
        ],
        np.int64,
    )
    slow.gates.add(block, CALL_BUSY)
    held = (tables, types, type_table, made, places, shapes, slow, keep)
    return builtin(function, METH_FASTCALL, block, held)


def call_serial(
    function: int,
    dtypes: Sequence[np.dtype[Any] | None],
    slow: Callable[..., int],
    failed: Callable[[], int],
    *,
    keep: object,
) -> Callable[..., int]:
    """Return a builtin that calls a serial function on arrays of these types, and on numbers.

    `slow` runs on what fits otherwise, `failed` raises what is wrong. See `codegen/serial`.
    """
    names = ("PyObject_Vectorcall", "PyObject_CallNoArgs", "PyLong_AsUnsignedLongLongMask")
    functions = [*map(python_function, (*names, "PyLong_FromLongLong"))]
    types = [numpy_function(ARRAY_TYPE), id(int), id(float)]
    elements = [0 if dtype is None else id(dtype) for dtype in dtypes]
    block = np.array([*types, id(slow), id(failed), *functions, *elements], np.int64)
    return builtin(function, METH_FASTCALL, block, (slow, failed, dtypes, keep), b"serial")
