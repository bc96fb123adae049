"""What fixed sizes are refused for, open ones are refused for in the run: with node and sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import gravure as gv
from gravure.codegen.compiled import Options
from gravure.errors import RuntimeInputError
from gravure.frontend.programs.load import load_program
from gravure.ir import GraphEmit, Program, TensorSpec
from gravure.ir.compose.maker import Maker
from gravure.ir.program import finish, new_function, set_ranges
from gravure.ir.types.dims import Dim, symbol
from gravure.ir.types.dtypes import DType, f32, i64

N, M = symbol("N"), symbol("M")
Inputs = dict[str, tuple[DType, tuple[Dim, ...]]]
Sizes = dict[str, int]
ROWS = {"x": (f32, (N, 4)), "i": (i64, (M, 4))}
IMAGE = {"x": (f32, (1, N, 8, 2))}
MOVES = {"strides": (1, 1), "pads": ((0, 0), (0, 0)), "dilations": (1, 1)}


def pooled(make: Maker, x: Any) -> Any:
    return make.max_pool(x, window=(5, 3), channels_last=True, **MOVES)


CASES: dict[str, tuple[Inputs, Callable[..., Any], Sizes, Sizes, str]] = {
    "top_k": (
        {"x": (f32, (3, N))}, lambda make, x: make.top_k(x, k=5, axis=1)[0],
        {"N": 5}, {"N": 4}, "k 5, expected 0 to N, the extent of axis 1, with N = 4",
    ),
    "gather": (
        {"x": (f32, (N, 4)), "i": (i64, (M,))}, lambda make, x, i: make.gather(x, i, axis=0),
        {"N": 1, "M": 3}, {"N": 0, "M": 3}, "axis 0 is empty, expected elements for M indices",
    ),
    "gather_elements": (
        ROWS, lambda make, x, i: make.gather_elements(x, i, axis=1),
        {"N": 5, "M": 5}, {"N": 2, "M": 3}, "M indices along axis 0, expected at most N",
    ),
    "scatter_elements": (
        ROWS, lambda make, x, i: make.scatter_elements(x, i, make.to(i, f32), axis=1),
        {"N": 3, "M": 2}, {"N": 2, "M": 3}, "M indices along axis 0, expected at most N",
    ),
    "gather_nd": (
        {"x": (f32, (N, 4)), "i": (i64, (M, 1))}, lambda make, x, i: make.gather_nd(x, i),
        {"N": 1, "M": 2}, {"N": 0, "M": 2}, "axis 0 is empty",
    ),
    "max_pool": (
        IMAGE, pooled, {"N": 5}, {"N": 3}, "a window over 5 elements does not fit in N elements",
    ),
    "slice": (
        {"x": (f32, (N, 4))},
        lambda make, x: make.slice(x, starts=(2, 0), stops=(6, 4), steps=(1, 1)),
        {"N": 6}, {"N": 5}, "stop 6, expected 0 to N with step 1, with N = 5",
    ),
    "backwards": (
        {"x": (f32, (N, 4))},
        lambda make, x: make.slice(x, starts=(3, 0), stops=(0, 4), steps=(-1, 1)),
        {"N": 4}, {"N": 3}, "start 3, expected",
    ),
    "reshape": (
        {"x": (f32, (N, 4))}, lambda make, x: make.exp(make.reshape(x, shape=((4 * N) // 8, 8))),
        {"N": 4}, {"N": 3}, "expected 4*N as in (N, 4), with N = 3",
    ),
    "pad": (
        {"x": (f32, (N, 4))},
        lambda make, x: make.pad(x, pads=((1, 1), (0, 0)), mode="reflect"),
        {"N": 2}, {"N": 0}, "axis 0 is empty, expected elements for mode 'reflect'",
    ),
    "resize": (
        {"x": (f32, (N, 4))}, lambda make, x: make.resize(x, shape=(6, 4)),
        {"N": 2}, {"N": 0}, "axis 0 is empty, expected elements to make 6 of",
    ),
    "fitted": (
        {"x": (f32, (N, 4)), "i": (i64, (M,))},
        lambda make, x, i: make.add(x, make.to(make.reshape(make.fitted(i, shape=(N,)),
                                                            shape=(N, 1)), f32)),
        {"N": 3, "M": 3}, {"N": 2, "M": 3}, "M elements along axis 0, expected N",
    ),
}  # fmt: skip


def program(name: str) -> Program:
    inputs, build, *_ = CASES[name]
    specs = [(n, TensorSpec(*each)) for n, each in inputs.items()]
    function = new_function("main", specs)
    emit = GraphEmit.at_end(function.body.block, "the node")
    finish(function, [build(Maker(emit), *function.body.block.args)], ["y"])
    module = ModuleOp([function])
    set_ranges(module, {"N": (0, 9), "M": (0, 9)})
    return Program(module)


def arrays(name: str, sizes: Sizes) -> list[Any]:
    random = np.random.default_rng(0)
    made = []
    for dtype, shape in CASES[name][0].values():
        dims = [sizes[str(d)] if not isinstance(d, int) else d for d in shape]
        wide = random.standard_normal(dims) if dtype is f32 else random.integers(0, 1, dims)
        made.append(wide.astype(dtype.numpy))
    return made


@pytest.mark.parametrize("level", ["O0", "O2"])
@pytest.mark.parametrize("name", CASES)
def test_open_sizes_are_looked_at_in_the_run(name: str, level: str) -> None:
    _, _, good, bad, message = CASES[name]
    with gv.compile(program(name), options=Options(level=level)) as model:
        assert np.isfinite(model(*arrays(name, good))).all()
        with pytest.raises(RuntimeInputError) as raised:
            model(*arrays(name, bad))
    assert message in str(raised.value)
    assert "node 'the node'" in str(raised.value)


def test_what_ranges_rule_out_costs_nothing() -> None:
    made = program("top_k")
    set_ranges(made.module, {"N": (5, 9)})
    with gv.compile(made) as model:
        assert model.manifest["demands"] == []


def in_a_choice() -> Program:
    """Return a model that takes five of a row where a flag says so."""
    return load_program(
        b"""
builtin.module attributes {gv.level = "graph", gv.ranges = {N = array<i64: 0, 9>}} {
  func.func @main(%c: tensor<i1>, %x: tensor<3x?xf32, #gv.dims<"3, N">>, %y: tensor<3x5xf32>)
      -> tensor<3x5xf32> {
    %0 = gv.if %c, %x, %y ({
    ^bb0(%a: tensor<3x?xf32, #gv.dims<"3, N">>, %b: tensor<3x5xf32>):
      %1, %2 = gv.top_k %a {k = 5 : i64, axis = 1 : i64}
        : (tensor<3x?xf32, #gv.dims<"3, N">>) -> (tensor<3x5xf32>, tensor<3x5xi64>)
      gv.yield %1 : (tensor<3x5xf32>) -> ()
    }, {
    ^bb1(%d: tensor<3x?xf32, #gv.dims<"3, N">>, %e: tensor<3x5xf32>):
      %3 = gv.neg %e : (tensor<3x5xf32>) -> tensor<3x5xf32>
      gv.yield %3 : (tensor<3x5xf32>) -> ()
    }) : (tensor<i1>, tensor<3x?xf32, #gv.dims<"3, N">>, tensor<3x5xf32>) -> tensor<3x5xf32>
    func.return %0 : tensor<3x5xf32>
  }
}"""
    )


def test_what_stands_in_a_choice_is_asked_for_when_it_is_chosen() -> None:
    model = gv.compile(in_a_choice())
    short, long = (np.ones((3, n), np.float32) for n in (2, 5))
    yes, no, other = np.array(True), np.array(False), np.full((3, 5), 2, np.float32)
    assert (model(yes, long, other) == 1).all()
    assert (model(no, short, other) == -2).all()
    with pytest.raises(RuntimeInputError, match="k 5, expected 0 to N"):
        model(yes, short, other)
    assert (model(yes, long, other) == 1).all()
