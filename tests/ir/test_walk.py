"""The way back by itself: nodes are lines of text, and gradients say how they came about."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gravure.ir import GraphEmit, spec
from gravure.ir.gradient.program import gradients_in_block
from gravure.ir.gradient.walk import walk_back
from gravure.ir.op import REGISTRY
from gravure.ir.program import new_function
from gravure.ir.types.dtypes import f32


@dataclass
class Lines:
    """Nodes like `c = f a b`: what is written in capitals has no gradient."""

    SUMS_AT_ONCE: bool = True
    log: list[str] = field(default_factory=list)

    def operands(self, line: str) -> Sequence[str]:
        return line.split(" = ")[1].split()[1:]

    def results(self, line: str) -> Sequence[str]:
        return line.split(" = ", maxsplit=1)[0].split()

    def smooth(self, line: str) -> Sequence[str]:
        return [name for name in self.results(line) if name.islower()]

    def gradients(self, line: str, received: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        rule = line.split(" = ")[1].split(maxsplit=1)[0]
        self.log.append(f"{rule} {' '.join(map(str, received))}")
        return [f"{rule}{i}" if w else "unwanted" for i, w in enumerate(wanted)]

    def added(self, a: Any, b: Any) -> Any:
        self.log.append(f"{a} + {b}")
        return f"({a}+{b})"


MEETS = ["a = f x", "b = g a a", "c = h b a", "D = i c", "e = j D x"]


@pytest.mark.parametrize("at_once", [True, False])
def test_contributions_add_up_from_the_last_node_and_the_left(at_once: bool) -> None:
    nodes = Lines(at_once)
    targets = [("c", "1"), ("a", "2"), ("a", "3")]
    assert walk_back(nodes, MEETS, targets, ["x", "a"]) == ["f0", "((((2+3)+h1)+g0)+g1)"]
    first = ["2 + 3", "h 1"] if at_once else ["h 1"]
    assert nodes.log[: len(first)] == first
    assert nodes.log[-1] == "f ((((2+3)+h1)+g0)+g1)"


def test_only_what_lies_between_is_visited() -> None:
    nodes = Lines()
    assert walk_back(nodes, [*MEETS, "y = k z"], [("c", "1"), ("y", "1")], ["b"]) == ["h0"]
    assert nodes.log == ["h 1"]


def test_what_the_targets_do_not_depend_on_has_none() -> None:
    assert walk_back(Lines(), MEETS, [("a", "1")], ["b", "z"]) == [None, None]
    assert walk_back(Lines(), MEETS, [("c", None)], ["x"]) == [None]
    assert walk_back(Lines(), MEETS, [], ["x"]) == [None]
    assert walk_back(Lines(), [], [("a", "1")], ["x", "a"]) == [None, "1"]


def test_nothing_passes_what_has_no_gradient() -> None:
    assert walk_back(Lines(), MEETS, [("e", "1")], ["c", "x"]) == [None, "j1"]


def test_a_source_is_passed_through() -> None:
    nodes = Lines()
    assert walk_back(nodes, MEETS, [("c", "1")], ["b", "x", "b"]) == ["h0", "f0", "h0"]


def test_nothing_passes_what_is_stopped_but_sources_have_theirs() -> None:
    assert walk_back(Lines(), MEETS, [("c", "1")], ["x"], {"a"}) == [None]
    assert walk_back(Lines(), MEETS, [("c", "1")], ["x", "a"], {"a"}) == [None, "((h1+g0)+g1)"]
    assert walk_back(Lines(), MEETS, [("c", "1")], ["x"], {"b"}) == ["f0"]
    assert walk_back(Lines(), MEETS, [("a", "1")], ["x"], {"a"}) == [None]


def test_a_node_is_told_what_is_wanted_of_it() -> None:
    assert walk_back(Lines(), ["c = f a b"], [("c", "1")], ["b"]) == ["f1"]


def test_results_of_one_node_without_a_gradient_get_none() -> None:
    nodes = Lines()
    walk_back(nodes, ["a b c = f x"], [("b", "1")], ["x"])
    assert nodes.log == ["f None 1 None"]


def test_a_rule_that_gives_too_few_is_found() -> None:
    class Forgets(Lines):
        def gradients(self, line: str, received: Sequence[Any], wanted: Sequence[bool]) -> Any:
            return super().gradients(line, received, wanted)[1:]

    with pytest.raises(ValueError, match="zip"):
        walk_back(Forgets(), MEETS, [("c", "1")], ["x"])


def test_a_derivative_within_a_program_appends_what_is_needed() -> None:
    main = new_function("main", [("x", spec(f32, 2)), ("g", spec(f32, 2))])
    x, grad = main.body.block.args
    emit = GraphEmit.at_end(main.body.block)
    squared = emit(REGISTRY["gv.mul"], x, x)
    emit(REGISTRY["gv.exp"], squared)
    (made,) = gradients_in_block(squared, grad, [x], emit)
    names = [op.name for op in main.body.block.ops]
    assert names == ["gv.mul", "gv.exp", "gv.mul", "gv.mul", "gv.add"]
    assert made.owner is main.body.block.last_op


def test_a_derivative_of_an_argument_is_its_own() -> None:
    main = new_function("main", [("x", spec(f32, 2)), ("g", spec(f32, 2))])
    x, grad = main.body.block.args
    emit = GraphEmit.at_end(main.body.block)
    assert gradients_in_block(x, grad, [x, grad], emit) == [grad, None]
