"""Moves across memory: blocks of all types are turned in registers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from gravure.codegen.kernels import lower
from gravure.ir import parse
from gravure.ir.program import functions
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel

pytestmark = pytest.mark.sampled(2)

TYPES = ("f32", "f64", "f16", "bf16", "i8", "ui8", "i16", "i32", "i64", "i1")
MOVES = {
    "even": ((32, 48), (1, 0)),
    "ends inside of blocks": ((37, 53), (1, 0)),
    "two columns": ((70, 2), (1, 0)),
    "three columns": ((53, 3), (1, 0)),
    "two rows": ((2, 70), (1, 0)),
    "three rows": ((3, 53), (1, 0)),
    "few of both": ((3, 2), (1, 0)),
    "some rows": ((11, 70), (1, 0)),
    "some columns": ((70, 11), (1, 0)),
    "some of a batch": ((2, 9, 40), (2, 0, 1)),
    "a batch": ((3, 17, 21), (0, 2, 1)),
    "backwards": ((5, 6, 7), (2, 1, 0)),
    "more than a piece": ((5, 4099), (1, 0)),
    "pieces of columns": ((4099, 5), (1, 0)),
    "pieces of two": ((8200, 2), (1, 0)),
}
OPEN = {
    "rows": (("n", 19), (1, 0), {"n": 37}),
    "columns": ((19, "n"), (1, 0), {"n": 37}),
    "both": (("n", "m"), (1, 0), {"n": 21, "m": 35}),
    "one row": (("n", "m"), (1, 0), {"n": 1, "m": 35}),
    "one column": (("n", "m"), (1, 0), {"n": 5000, "m": 1}),
    "none": (("n", "m"), (1, 0), {"n": 0, "m": 35}),
    "an image": (("n", 3, "h", "w"), (0, 2, 3, 1), {"n": 2, "h": 9, "w": 11}),
    "back": (("n", "h", "w", 3), (0, 3, 1, 2), {"n": 2, "h": 9, "w": 11}),
    "of two": (("n", 2), (1, 0), {"n": 4129}),
}


def tensor(shape: tuple[int | str, ...], dtype: str) -> str:
    """Return a type as text."""
    sizes = "x".join("?" if isinstance(n, str) else str(n) for n in shape)
    named = ", ".join(map(str, shape))
    rest = f', #gv.dims<"{named}">' if any(isinstance(n, str) for n in shape) else ""
    return f"tensor<{sizes}x{dtype}{rest}>"


def kernel(shape: tuple[int | str, ...], order: tuple[int, ...], dtype: str) -> str:
    """Return a kernel that transposes."""
    source, made = tensor(shape, dtype), tensor(tuple(shape[i] for i in order), dtype)
    symbols = ", ".join(f'"{n}"' for n in dict.fromkeys(shape) if isinstance(n, str))
    known = f"gv.symbols = [{symbols}], " if symbols else ""
    return f"""func.func @k(%x: {source}) -> {made} attributes {{{known}gv.kind = "map"}} {{
  %y = gv.transpose %x {{order = {list(order)}}} : ({source}) -> {made}
  func.return %y : {made}
}}"""


def turns(text: str) -> bool:
    """Say whether blocks are turned."""
    (function,) = functions(parse(text))
    return "gvk.transpose_tile" in str(lower(function, Target.parse("x86-64-v4")))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", MOVES)
def test_blocks_of_all_types(name: str, dtype: str) -> None:
    text = kernel(*MOVES[name], dtype)
    assert turns(text)
    check_kernel(text)


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize("dtype", ["f32", "f64", "i8", "i16"])
@pytest.mark.parametrize("name", ["ends inside of blocks", "three columns", "three rows"])
def test_blocks_of_narrow_registers(name: str, dtype: str, target: str) -> None:
    check_kernel(kernel(*MOVES[name], dtype), target=target)


@pytest.mark.parametrize("dtype", ["f32", "i8", "i64"])
@pytest.mark.parametrize("name", OPEN)
def test_open_sizes(name: str, dtype: str) -> None:
    shape, order, symbols = OPEN[name]
    text = kernel(shape, order, dtype)
    assert turns(text)
    check_kernel(text, symbols=symbols)


def test_each_element_has_its_place() -> None:
    """Numbers that are all different, where the cases above draw few."""
    for shape in ((64, 48), (100, 2), (2, 100), (33, 3)):
        text = kernel(shape, (1, 0), "i32")
        check_kernel(text, [np.arange(np.prod(shape), dtype=np.int32).reshape(shape)])
        text = kernel(shape, (1, 0), "i16")
        check_kernel(text, [np.arange(np.prod(shape), dtype=np.int16).reshape(shape)])
