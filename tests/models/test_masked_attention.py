"""Attention with NaN and infinity in masked places: recognised, it gives what its parts give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

import gravure as gv
from gravure.codegen.compiled import Options
from gravure.ir import GraphEmit, Program, TensorSpec
from gravure.ir.compose.maker import Maker
from gravure.ir.program import finish, new_function
from gravure.ir.types.dtypes import bool_, f32
from gravure.passes import run
from gravure.passes.pipelines import GRAPH

Array = np.ndarray[Any, Any]
SHAPES = {"q": (2, 5, 8), "k": (2, 21, 8), "v": (2, 21, 16), "m": (5, 21), "b": (2, 1, 21)}
Scores: Any = Callable[[Maker, SSAValue, SSAValue, SSAValue], SSAValue]


def chosen(low: float) -> Any:
    """Return the form that chooses between scores and a low number."""
    return lambda make, x, m, _: make.select(m, x, make.number(low, f32))


def added_then_chosen(make: Maker, x: SSAValue, m: SSAValue, b: SSAValue) -> Any:
    return make.select(m, make.add(x, b), make.number(-np.inf, f32))


def chosen_then_added(make: Maker, x: SSAValue, m: SSAValue, b: SSAValue) -> Any:
    return make.add(make.select(m, x, make.number(-np.inf, f32)), b)


def added(make: Maker, x: SSAValue, m: SSAValue, _: SSAValue) -> Any:
    return make.add(x, make.select(m, make.number(0, f32), make.number(-np.inf, f32)))


FORMS = {
    "-inf": chosen(-np.inf), "-1e38": chosen(-1e38), "added then chosen": added_then_chosen,
    "chosen then added": chosen_then_added, "added": added,
}  # fmt: skip


def program(form: Any, *, guarded: bool = False) -> Program:
    """Return softmax(form(q k')) v, zero where a query sees nothing if `guarded`."""
    specs = [(name, TensorSpec(bool_ if name == "m" else f32, SHAPES[name])) for name in SHAPES]
    function = new_function("main", specs)
    q, k, v, m, b = function.body.block.args
    make = Maker(GraphEmit.at_end(function.body.block))
    scores = form(make, make.matmul(q, k, transpose_rhs=True), m, b)
    weights = make.softmax(scores, axis=2)
    if guarded:
        low = make.number(-np.inf, f32)
        bias = make.select(m, make.number(0, f32), low)
        empty = make.equal(make.max(bias, axes=(1,), keepdims=True), low)
        weights = make.select(empty, make.number(0, f32), weights)
    finish(function, [make.matmul(weights, v)], ["y"])
    return Program(ModuleOp([function]))


def arrays(wrong: float) -> list[Array]:
    """Return operands of which the last keys are no numbers, and masked."""
    random = np.random.default_rng(0)
    q, k, v, b = (random.standard_normal(SHAPES[n]).astype(np.float32) for n in "qkvb")
    seen = random.random(SHAPES["m"]) < 0.7
    seen[:, 0], seen[:, -4:] = True, False
    k[:, -3:], b[:, :, -4] = wrong, wrong
    return [q, k, v, seen, b]


def recognised(made: Program) -> list[str]:
    run(GRAPH, made)
    return [op.name for op in made.module.walk()]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", FORMS)
def test_what_is_masked_comes_to_nothing(form: str, wrong: float) -> None:
    assert "gv.attention" in recognised(program(FORMS[form]))
    found = {}
    for level in ("O0", "O2", "O3"):
        model = gv.compile(program(FORMS[form]), options=Options(level=level))
        found[level] = model(*arrays(wrong))
    for level in ("O2", "O3"):
        np.testing.assert_allclose(found[level], found["O0"], rtol=1e-5, atol=1e-6, err_msg=level)
    if form in ("-inf", "-1e38"):
        assert np.isfinite(found["O0"]).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_rows_that_see_nothing_are_zero_whatever_is_hidden(wrong: float) -> None:
    assert "gv.attention" in recognised(program(added, guarded=True))
    values = arrays(0.0)
    values[1][:, -3:] = wrong
    values[3][2] = False
    found = {
        level: gv.compile(program(added, guarded=True), options=Options(level=level))(*values)
        for level in ("O0", "O2", "O3")
    }
    assert (found["O0"][:, 2] == 0).all()
    for level in ("O2", "O3"):
        np.testing.assert_allclose(found[level], found["O0"], rtol=1e-5, atol=1e-6, err_msg=level)
