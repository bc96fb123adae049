"""Mistakes of gravure while a trace is lowered are raised, with the operation and the line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import gravure as gv
from gravure.errors import PerformanceWarning
from gravure.frontend.eager import remembered
from gravure.frontend.eager.tensor import Tensor, apply
from gravure.frontend.graph import kinds
from gravure.frontend.graph.frame import LoweringError
from gravure.frontend.graph.inference import Abstract, is_unknown
from gravure.ir.families import spec_of_value
from gravure.ir.op import REGISTRY

X = np.arange(6, dtype=np.float32)


@pytest.fixture
def rule(request) -> Iterator[kinds.Rule]:
    made = kinds.register_rule(kinds.Rule(f"Mistaken_{request.param.__name__}", request.param))
    yield made
    del kinds.RULES[made.type]


def fails_on_values_of_a_program(make, x):
    if not isinstance(x, np.ndarray | Abstract):
        raise AttributeError("a mistake of ours")
    return make.neg(x)


def fails_by_a_wrong_type(make, x):
    return make.neg(x if isinstance(x, np.ndarray | Abstract) else len(x))


def fails_by_an_assertion(make, x):
    assert isinstance(x, np.ndarray | Abstract), "a mistake of ours"
    return make.neg(x)


def wants_elements(make, x):
    if is_unknown(x):
        return Abstract(spec_of_value(x))
    return make.mul(x, np.float32(np.asarray(x).max()))


def add(function, x):
    kind = kinds.Composite(function)
    x = gv.exp(x)
    return x.graph.add(kind, [x]).outputs[0] * 2  # the line of the operation


def often(f):
    """Call a function until it is compiled."""
    for _ in range(4):
        f(X)


MISTAKES = [fails_on_values_of_a_program, fails_by_a_wrong_type, fails_by_an_assertion]


@pytest.mark.parametrize("rule", MISTAKES, indirect=True)
def test_a_mistake_in_a_rule_is_raised_with_the_operation_and_the_line(rule):
    f = gv.function(lambda x: add(rule, x))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        with pytest.raises(LoweringError, match=rf"{__file__}:\d+: node '{rule.type}'.* lowered"):
            often(f)


@pytest.mark.parametrize("rule", MISTAKES, indirect=True)
def test_a_mistake_in_a_branch_or_a_loop_is_raised_too(rule):
    @gv.function
    def branch(x):
        return gv.cond(gv.sum(x) > 0, lambda: add(rule, x), lambda: x)

    @gv.function
    def loop(x):
        return gv.while_loop(lambda y: gv.sum(y) < 9, lambda y: add(rule, y), [x])

    for f in (branch, loop):
        with pytest.raises(LoweringError, match=rf"node '{rule.type}'"):
            often(f)


@pytest.mark.parametrize("rule", [wants_elements], indirect=True)
def test_what_looks_at_elements_is_a_step_of_python(rule):
    f = gv.function(lambda x: add(rule, x))
    wanted = np.exp(X) * np.exp(X).max() * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        for _ in range(4):
            assert np.allclose(f(X), wanted)


def test_a_mistake_while_a_function_is_remembered_is_raised():
    calls = []

    def mistaken(x):
        calls.append(x)
        if isinstance(x, remembered.Watched):
            raise KeyError("a mistake of ours")
        return x

    f = remembered.remembered(mistaken)
    x = gv.asarray(X)
    f(x)
    with pytest.raises(KeyError, match="a mistake of ours"):
        f(x)
    assert len(calls) == 2


def test_a_plan_that_fails_where_the_function_does_not_is_raised(monkeypatch):
    def doubled(x):
        return apply(REGISTRY["gv.add"], x, x)

    def broken(given):
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(remembered, "_plan", lambda notes, form: broken)
    f = remembered.remembered(doubled)
    x = gv.asarray(X)
    for _ in range(2):
        assert np.array_equal(f(x), X * 2)
    with pytest.raises(AssertionError, match="doubled does not fit"):
        f(x)


def test_elements_that_are_hidden_are_not_seen_by_any_attribute_or_operator():
    notes = remembered.Notes()
    hidden = notes.watch(Tensor(X))._array
    assert (hidden.dtype, hidden.shape, hidden.ndim, hidden.size) == (X.dtype, (6,), 1, 6)
    looks = [
        *(lambda name=name: getattr(hidden, name) for name in ("sum", "T", "flags", "tolist")),
        lambda: hidden + 1,
        lambda: 1 - hidden,
        lambda: -hidden,
        lambda: hidden[0],
        lambda: np.asarray(hidden),
        lambda: np.add(hidden, 1),
        lambda: bool(hidden),
        lambda: hidden == hidden,
    ]
    for look in looks:
        notes.failed = False
        with pytest.raises(remembered.ElementsError):
            look()
        assert notes.failed
