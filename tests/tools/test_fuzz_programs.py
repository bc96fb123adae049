"""Programs and pipelines that are written by chance: a few here, more by `gravure fuzz`."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gravure.frontend.autograph.state import VariableValueError
from gravure.runtime.gpu.emulated import EmulatedDriver
from gravure.tools.fuzz import pipelines, programs
from gravure.tools.fuzz.making.pipeline import batches, chained, interleaved
from gravure.tools.fuzz.making.python import Script, written
from gravure.tools.fuzz.workers import FAULT, READ, REFUSED


@pytest.mark.sweep
def test_ways_agree_on_programs() -> None:
    counts = {READ: 0, REFUSED: 0}
    for number in range(6):
        kind, text = programs.judged(programs.case(2026, number, 4))
        assert kind != FAULT, text
        counts[kind] += 1
    assert counts[READ] > 4


def test_ways_agree_on_programs_that_run_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[object] = []

    def run(self: EmulatedDriver, *given: Any) -> None:
        runs.append(given)
        inner(self, *given)

    inner = EmulatedDriver.run
    monkeypatch.setattr(EmulatedDriver, "run", run)
    kind, text = programs.judged(programs.case(2026, 1, 3), "emulated")
    assert kind != FAULT, text
    assert runs


@pytest.mark.sweep
@settings(max_examples=3)
@given(st.randoms(use_true_random=False))
def test_ways_agree_on_drawn_programs(random: Random) -> None:
    kind, text = programs.judged(written(random, most=3))
    assert kind != FAULT, text


def test_pipelines_give_what_lists_do() -> None:
    counts = {READ: 0, REFUSED: 0}
    for number in range(60):
        kind, text = pipelines.judged(*pipelines.case(2026, number))
        assert kind != FAULT, text
        counts[kind] += 1
    assert counts[READ] > 55


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_drawn_pipelines_give_what_lists_do(random: Random) -> None:
    kind, text = pipelines.judged(chained(random, most=3), random)
    assert kind != FAULT, text


PROGRAM = """
import gravure.tf as tf
VARIABLES = []
calls = []
def program(x):
    calls.append(1)
    return [x + float(len(calls))]
"""


def test_what_differs_between_ways_is_found() -> None:
    made = Script(PROGRAM, "float32", ["row"], (1,) * 8, single=True, graphs=False)
    kind, text = programs.judged(made)
    assert kind == FAULT
    assert text.startswith("function, call ")
    assert "4 of 4 elements differ" in text
    close = Script(PROGRAM, "float32", ["row"], (1,) * 8, single=False, graphs=False)
    one = np.float32([1.0])
    assert programs.difference(made, one * np.float32(1 + 1e-6), one)
    assert not programs.difference(close, one * np.float32(1 + 1e-6), one)


LOOP = """
import gravure.tf as tf
VARIABLES = []
def program(x):
    y, n = tf.zeros([4]), tf.constant(0)
    while n < 2:
        y = tf.tanh(x)
        n += 1
    return [y]
"""


def test_shapes_that_loops_change_are_refused_where_they_are_open_only() -> None:
    made = Script(LOOP, "float32", ["row"], (1,) * 8, single=True, graphs=False)
    assert programs.judged(made)[0] == READ
    with pytest.raises(VariableValueError, match="shape <unknown> after one iteration"):
        list(programs.staged(made, signature="rank"))


def test_what_is_wrong_with_an_order_is_found() -> None:
    assert not pipelines.misplaced([1, 2, 3, 4], [2, 1, 4, 3], 2)
    assert "shuffled" in pipelines.misplaced([1, 2], [1, 1], 2)
    assert "3 came at 0" in pipelines.misplaced([1, 2, 3], [3, 1, 2], 2)


def test_models_of_steps() -> None:
    assert batches([1, 2, 3], 2, rest=True) == [[1, 2], [3]]
    assert batches([1, 2, 3], 2, rest=False) == [[1, 2]]
    assert interleaved([[1, 2, 3], [4, 5], [6]], 2, 2) == [1, 2, 4, 5, 3, 6]


def test_seeds_are_cases() -> None:
    assert programs.case(1, 2).text == programs.case(1, 2).text
    assert pipelines.case(1, 2)[0].text == pipelines.case(1, 2)[0].text
    assert len({programs.case(1, n).text for n in range(30)}) == 30
    assert len({pipelines.case(1, n)[0].text for n in range(30)}) > 25


def test_the_commands_count(gravure: Any, tmp_path: Any) -> None:
    for what in ("programs", "pipelines"):
        found = gravure("fuzz", what, "--cases", "2", "--keep", tmp_path, "--json")
        assert found.status == 0, found.out
        assert found.json["right"] + sum(found.json["refused"].values()) == 2
