"""Each rule that graphs are grown by says of its results what the interpreter makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from random import Random
from typing import Any

import numpy as np
import pytest

from gravure.errors import RequirementError, UnsupportedOp
from gravure.frontend.programs.load import load_program
from gravure.ir import Program, interpret
from gravure.ir.program import result_names
from gravure.tools.fuzz.making import (
    control,
    elementwise,
    indices,
    moves,
    products,
    quantised,
    reductions,
)
from gravure.tools.fuzz.making import grown as growing
from gravure.tools.fuzz.making.maker import Grower, Value, numpy_type

RULES = {
    f"{family.__name__.rpartition('.')[2]}.{rule.__name__}": rule
    for family in (elementwise, moves, indices, products, reductions, quantised, control)
    for rule in family.RULES
}
WORLDS = ((3, 1, 2, 4), (5, 2, 1, 0))
Rule = Callable[[Grower, Value], Value]


def tries(rule: Rule, name: str) -> Iterator[tuple[growing.Grown, Program]]:
    """Give graphs of some inputs that end with what a rule makes, and are not refused."""
    for number in range(400):
        random = Random(f"{name} {number}")
        maker = Grower(random, 4)
        opened = [random.choice(WORLDS)]
        for _ in range(2):
            maker.input(random.choice(growing.TYPES), growing._shape(maker, opened))
        before = len(maker.values)
        with maker.tried():
            maker.values.append(rule(maker, maker.pick()))
        if len(maker.values) > before and not maker.wrong:
            graph = growing.finished(maker)
            with suppress(UnsupportedOp):
                yield graph, load_program(graph.model, dims=graph.ranges)


def is_as_said(value: Value, found: Any, world: int) -> str:
    """Return in what an array is not as was said of it."""
    if found.dtype != numpy_type(value.dtype):
        return f"elements {found.dtype}"
    if found.shape != tuple(dim[world] for dim in value.shape):
        return f"shape {found.shape}"
    wide = np.abs(found.astype(np.float64))
    if wide.size and not wide.max() <= value.most * (1 + 1e-6) + value.noise:
        return f"an element of {wide.max()}"
    if value.step and (wide % value.step).any():
        return f"parts of {value.step}"
    return ""


@pytest.mark.parametrize("name", RULES)
def test_what_rules_make_is_as_they_say(name: str) -> None:
    count = 0
    for graph, program in islice(tries(RULES[name], name), 6):
        names = result_names(program.main)
        for world in range(4):
            try:
                with np.errstate(all="ignore"):
                    made = interpret(program, graph.arrays(world))
            except RequirementError:
                assert name == "indices.looked_up"  # the others are in range
                continue
            found = dict(zip(names, made, strict=True))
            for value in graph.outputs:
                what = is_as_said(value, np.asarray(found[value.name]), world)
                assert not what, f"{value}, world {world}: {what}"
        count += 1
    assert count >= 2


def test_sums_of_elements_that_are_given_are_rounded_unless_they_are_halves() -> None:
    maker = Grower(Random(0), 2)
    for array, most, is_exact in (
        (np.float32([0.1, -0.7]), 0.7, False), (np.float32([1.5, -8, np.inf]), 8, True),
    ):  # fmt: skip
        x = maker.input("float32", [(array.size,) * 2], array)
        assert x.most == pytest.approx(most)
        assert maker.node("ReduceSum", [x], keepdims=0).is_exact == is_exact
