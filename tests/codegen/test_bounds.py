"""Kernels of operations with open sizes: shown to stay inside of their buffers, and on guard pages.

Sizes are 0, 1, and around the widths of vectors and blocks; arguments end where memory does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from guard_pages import guarded
from xdsl.dialects.builtin import ModuleOp

import gravure as gv
from gravure.codegen.compiled import Options
from gravure.codegen.stages import lower
from gravure.errors import RuntimeInputError
from gravure.ir import GraphEmit, Program, TensorSpec, interpret
from gravure.ir.compose.maker import Maker
from gravure.ir.program import finish, new_function, set_ranges
from gravure.ir.types.dims import Dim, evaluate, symbol
from gravure.ir.types.dtypes import DType, f32, f64, i64
from gravure.passes import run

N, M = symbol("N"), symbol("M")
Inputs = tuple[tuple[DType, tuple[Dim, ...]], ...]
ROWS: Inputs = ((f32, (N, M)),)
CASES: dict[str, tuple[Inputs, Callable[..., Any]]] = {
    "pad": (ROWS, lambda make, x: make.pad(x, pads=((2, 1), (1, 3)), mode="constant", value=2.0)),
    "pad inside": (
        ROWS,
        lambda make, x: make.exp(make.pad(x, pads=((3, 0), (0, 2)), mode="constant", value=1.0)),
    ),
    "heap": (ROWS, lambda make, x: make.top_k(x, k=1, axis=1)[0]),
    "open heap": (ROWS, lambda make, x: make.sort(x, axis=1)),
    "merge": (((f32, (N, 100)),), lambda make, x: make.sort(x, axis=1)),
    "wide merge": (((f64, (N, 100)),), lambda make, x: make.sort(x, axis=1)),
    "product": (((f32, (N, M)), (f32, (M, N))), lambda make, x, y: make.matmul(x, y)),
    "gather": (((f32, (N, M)), (i64, (M,))), lambda make, x, i: make.gather(x, i, axis=0)),
    "concat": (
        ((f32, (N, M)), (f32, (1, M))), lambda make, x, y: make.concat(x, y, x, axis=0),
    ),
    "pool": (
        ((f32, (1, N, M, 3)),),
        lambda make, x: make.max_pool(
            x, window=(3, 3), channels_last=True, strides=(2, 2), pads=((1, 1), (1, 1)),
            dilations=(1, 1),
        ),
    ),
    "diagonals of nothing": (
        ((f32, (0, 0, 0, 3)), (f32, (3, 4))),
        lambda make, x, y: make.einsum(x, y, equation="aaab,bc->c"),
    ),
    "turned": (
        ROWS,
        lambda make, x: make.slice(
            make.reshape(make.broadcast_to(make.reshape(x, shape=(N, 1, M)), shape=(N, 2, M)),
                         shape=(N, 2 * M)),
            starts=(N - 1, 2 * M - 1), stops=(-1 - N, -1 - 2 * M), steps=(-1, -1),
        ),
    ),
}  # fmt: skip
SIZES = (0, 1, 3, 4, 8, 15, 16, 17, 65)


def program(name: str) -> Program:
    """Return the program of a case."""
    inputs, build = CASES[name]
    specs = [(f"x{i}", TensorSpec(*each)) for i, each in enumerate(inputs)]
    function = new_function("main", specs)
    make = Maker(GraphEmit.at_end(function.body.block, "the node"))
    finish(function, [build(make, *function.body.block.args)], ["y"])
    module = ModuleOp([function])
    set_ranges(module, {"N": (0, 99), "M": (0, 99)})
    return Program(module)


def arrays(name: str, sizes: dict[str, int]) -> list[Any]:
    """Return arguments of these sizes."""
    random = np.random.default_rng(sizes["N"] * 100 + sizes["M"])
    made = []
    for dtype, shape in CASES[name][0]:
        dims = [evaluate(each, sizes) for each in shape]
        wide = random.standard_normal(dims) if dtype is f32 else random.integers(-3, 3, dims)
        made.append(wide.astype(dtype.numpy))
    return made


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", CASES)
def test_kernels_are_shown_to_stay_inside_of_their_buffers(name: str, target: str) -> None:
    made = program(name)
    lower(made, Options(target=target), "loops")
    run("check-bounds", made)


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_what_a_pool_without_padding_leaves_is_read_inside_by_a_convolution(target: str) -> None:
    image, weights = TensorSpec(f32, (N, 32, M, symbol("K"))), TensorSpec(f32, (128, 32, 3, 3))
    function = new_function("main", [("x", image), ("w", weights)])
    make = Maker(GraphEmit.at_end(function.body.block, "the node"))
    x, w = function.body.block.args
    square: dict[str, Any] = {"channels_last": False, "dilations": (1, 1)}
    for _ in range(2):
        x = make.max_pool(x, window=(3, 3), strides=(2, 2), pads=((0, 0), (0, 0)), **square)
    y = make.conv(x, w, strides=(1, 1), pads=((1, 1), (1, 1)), groups=1, **square)
    finish(function, [y], ["y"])
    module = ModuleOp([function])
    set_ranges(module, {"N": (1, 99), "M": (15, 999), "K": (15, 999)})
    made = Program(module)
    lower(made, Options(target=target), "loops")
    run("check-bounds", made)


def outcome(run_it: Callable[[], Sequence[Any]]) -> Any:
    """Return the results, None where sizes are refused by name."""
    try:
        return run_it()
    except (RuntimeInputError, TypeError):
        return None


@pytest.mark.parametrize("name", CASES)
def test_open_sizes_at_the_edge_of_memory(name: str) -> None:
    with gv.compile(program(name), cache=False) as model:
        for n in SIZES:
            for m in SIZES if n in (0, 3) else (1, 16, 17):
                given = arrays(name, {"N": n, "M": m})
                for at_end in (True, False):
                    placed = [guarded(x, at_end=at_end) for x in given]
                    found = outcome(lambda placed=placed: model.run(placed))
                    if found is None:
                        continue
                    wanted = interpret(program(name).main, given)
                    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4, atol=1e-4)
