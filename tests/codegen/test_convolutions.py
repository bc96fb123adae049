"""Convolutions by a loop over the rows of their windows: of large windows, and of channel groups."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from gravure.codegen.kernels import lower
from gravure.codegen.kernels.sliding_rows import SlidingRows, runs, tile_spans, way_of
from gravure.ir import Op, parse
from gravure.ir.program import functions
from gravure.ir.types import dims
from gravure.passes.bounds.accesses import Accesses
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel

SIZES = {"H": 9, "W": 11, "N": 2}
"""The numbers that stand for symbols."""
LARGE: dict[str, dict[str, Any]] = {
    "convnext": dict(size=(2, 9, 14), c=40, k=(7, 7), p=((3, 3), (3, 3))),
    "few pixels": dict(size=(1, 3, 2), c=16, k=(7, 7), p=((3, 3), (3, 3))),
    "strides": dict(size=(1, 16, 29), c=8, k=(7, 7), s=(2, 3), p=((3, 2), (1, 3))),
    "dilated": dict(size=(1, 15, 40), c=17, k=(5, 7), p=((4, 4), (9, 9)), d=(2, 3)),
    "few channels": dict(size=(2, 8, 9), c=3, k=(7, 5), p=((3, 3), (2, 2))),
    "one channel": dict(size=(1, 9, 30), c=1, k=(7, 7), p=((0, 0), (3, 3))),
    "long edges": dict(size=(1, 4, 70), c=5, k=(1, 41), p=((0, 0), (40, 39))),
    "no padding": dict(size=(1, 12, 26), c=24, k=(11, 11), p=((0, 0), (0, 0))),
    "nothing seen": dict(size=(1, 2, 2), c=3, k=(5, 5), p=((6, 6), (6, 6))),
    "open": dict(size=("N", "H", "W"), c=17, k=(7, 7), p=((3, 3), (3, 3))),
    "open strides": dict(size=(1, "H", "W"), c=8, k=(5, 7), s=(2, 2), p=((2, 1), (3, 0))),
    "open width": dict(size=(1, 10, "W"), c=4, k=(7, 5), p=((9, 9), (8, 8)), d=(2, 2)),
}  # fmt: skip


def tensor(*shape: Any, dtype: str = "f32") -> str:
    sizes = "".join(f"{'?' if isinstance(d, str) else d}x" for d in shape)
    named = ", ".join(map(str, shape))
    rest = f', #gv.dims<"{named}">' if any(isinstance(d, str) for d in shape) else ""
    return f"tensor<{sizes}{dtype}{rest}>"


def made_of(case: dict[str, Any]) -> list[Any]:
    """Return the result's sizes, without channels."""
    strides, dilations = case.get("s", (1, 1)), case.get("d", (1, 1))
    rows = zip(case["size"][1:], case["k"], strides, case["p"], dilations, strict=True)
    made = [
        ((dims.symbol(n) if isinstance(n, str) else n) + (sum(p) - (k - 1) * d - 1)) // s + 1
        for n, k, s, p, d in rows
    ]
    return [case["size"][0], *(n if isinstance(n, int) else str(n) for n in made)]


def flags_of(case: dict[str, Any]) -> str:
    def array(values: Any) -> str:
        return f"array<i64: {', '.join(map(str, values))}>"

    return (
        f"strides = {array(case.get('s', (1, 1)))}, dilations = {array(case.get('d', (1, 1)))},"
        f" pads = [{', '.join(map(array, case['p']))}]"
    )


def kernel(kind: str, body: str, given: dict[str, str], result: str) -> str:
    arguments = ", ".join(f"%{name}: {each}" for name, each in given.items())
    open_sizes = [f'"{name}"' for name in SIZES if f"{name}," in given["x"]]
    known = f"gv.symbols = [{', '.join(open_sizes)}], " if open_sizes else ""
    return (
        f'func.func @k({arguments}) -> {result} attributes {{{known}gv.kind = "{kind}"}} {{'
        f"\n{body}\n  func.return %r : {result}\n}}"
    )


def check(text: str, **options: Any) -> None:
    """Check results, and that all accesses are shown to lie inside."""
    check_kernel(text, symbols=SIZES, **options)
    (function,) = functions(parse(text))
    loops = lower(function, Target.parse(options.get("target", "native")))
    assert [str(fault) for fault in Accesses(loops).prove()] == []


def anchor_of(text: str) -> Op:
    (function,) = functions(parse(text))
    return next(op for op in function.body.block.ops if isinstance(op, Op))


def depthwise(case: dict[str, Any], dtype: str = "f32") -> str:
    c = case["c"]
    x, w, b = (tensor(*s, dtype=dtype) for s in ((*case["size"], c), (*case["k"], c), (c,)))
    y = tensor(*made_of(case), c, dtype=dtype)
    body = (
        f"  %c = gv.depthwise_packed %x, %w {{{flags_of(case)}}} : ({x}, {w}) -> {y}\n"
        f"  %s = gv.add %c, %b : ({y}, {b}) -> {y}\n  %r = gv.relu %s : ({y}) -> {y}"
    )
    return kernel("depthwise", body, {"x": x, "w": w, "b": b}, y)


@pytest.mark.parametrize("case", LARGE.values(), ids=LARGE.keys())
def test_windows_of_many_taps(case: dict[str, Any]) -> None:
    text = depthwise(case)
    assert way_of(anchor_of(text)) is SlidingRows
    check(text)
