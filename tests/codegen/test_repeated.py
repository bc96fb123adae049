"""Elements that are taken several times running: images of twice the size, and what is made there.

Vectors go over all results; they load as many elements as they take, and spread them.
"""

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

RANDOM = np.random.default_rng(0)
WIDE = "x86-64-v4"


def doubled(size: int | str, times: int, dtype: str = "f32") -> str:
    """Return a kernel that repeats elements of [3, size], and adds [3, size * times] to them."""
    open_ = isinstance(size, str)

    def tensor(*shape: int | str) -> str:
        sizes = "x".join("?" if isinstance(s, str) else str(s) for s in shape)
        dims = f', #gv.dims<"{", ".join(map(str, shape))}">' if open_ else ""
        return f"tensor<{sizes}x{dtype}{dims}>"

    every = f"{times}*{size}" if isinstance(size, str) else size * times
    x, y, z, f = tensor(3, size), tensor(3, every), tensor(3, size, 1), tensor(3, size, times)
    shapes = [
        f'#gv.dims<"{", ".join(map(str, s))}">' if open_ else f"array<i64: {str(s)[1:-1]}>"
        for s in ((3, size, 1), (3, size, times), (3, every))
    ]
    symbols = f', gv.symbols = ["{size}"]' if open_ else ""
    return (
        f"func.func @k(%x: {x}, %y: {y}) -> {y} "
        f'attributes {{gv.kind = "map"{symbols}}} {{\n'
        f"  %z = gv.reshape %x {{shape = {shapes[0]}}} : ({x}) -> {z}\n"
        f"  %b = gv.broadcast_to %z {{shape = {shapes[1]}}} : ({z}) -> {f}\n"
        f"  %f = gv.reshape %b {{shape = {shapes[2]}}} : ({f}) -> {y}\n"
        f"  %r = gv.sub %f, %y : ({y}, {y}) -> {y}\n"
        f"  func.return %r : {y}\n}}"
    )


@pytest.mark.parametrize("times", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("size", [1, 5, 8, 29])
def test_repeated_elements_meet_others(size: int, times: int) -> None:
    check_kernel(doubled(size, times))


@pytest.mark.parametrize("dtype", ["f64", "bf16", "i8", "i64"])
def test_repeated_elements_of_any_type(dtype: str) -> None:
    check_kernel(doubled(21, 2, dtype))


@pytest.mark.parametrize("size", [1, 7, 16, 40])
def test_repeated_elements_of_open_sizes(size: int) -> None:
    check_kernel(doubled("N", 2), symbols={"N": size})


@pytest.mark.parametrize("times", [2, 4, 8])
def test_running_elements_are_spread_and_not_gathered(times: int) -> None:
    (function,) = functions(parse(doubled(29, times)))
    names = {op.name for op in lower(function, Target.parse(WIDE)).walk()}
    assert "vector.shuffle" in names
    assert "gvk.gather" not in names


@pytest.mark.parametrize("k", [3, 17])
def test_the_best_of_repeated_elements(k: int) -> None:
    """A search may begin in the middle of an element, and goes by single elements too."""
    x, z, f, y = "tensor<2x35xf32>", "tensor<2x35x1xf32>", "tensor<2x35x2xf32>", "tensor<2x70xf32>"
    values, places = f"tensor<2x{k}xf32>", f"tensor<2x{k}xi64>"
    best = f"{{axis = 1 : i64, k = {k} : i64}} : ({y}) -> ({values}, {places})"
    check_kernel(
        f'func.func @k(%x: {x}) -> ({values}, {places}) attributes {{gv.kind = "sort"}} {{\n'
        f"  %z = gv.reshape %x {{shape = array<i64: 2, 35, 1>}} : ({x}) -> {z}\n"
        f"  %b = gv.broadcast_to %z {{shape = array<i64: 2, 35, 2>}} : ({z}) -> {f}\n"
        f"  %f = gv.reshape %b {{shape = array<i64: 2, 70>}} : ({f}) -> {y}\n"
        f"  %v, %i = gv.top_k %f {best}\n"
        f"  func.return %v, %i : {values}, {places}\n}}",
        [np.round(RANDOM.normal(size=(2, 35)) * 4).astype(np.float32)],
    )
