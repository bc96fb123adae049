"""`function(check=True)` and `gravure lint` find what is done once, while a function is traced."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from random import random
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.tools.cli import main

LOG: list[Any] = []
COUNTS = {"calls": 0}
KEPT: Any = None
CALLS = 0
TABLE = np.zeros(3, np.float32)
GENERATOR = np.random.default_rng(1)
X = np.ones((2, 3), np.float32)


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    LOG.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gv.StagingWarning)
        yield


def numpys(x: Any) -> Any:
    return x + np.random.normal(size=3).astype(np.float32)


def generators(x: Any) -> Any:
    return x + float(GENERATOR.normal())


def pythons(x: Any) -> Any:
    return x * random()


def clocks(x: Any) -> Any:
    return x * time.time()


def dates(x: Any) -> Any:
    return x * datetime.now().second


def files(x: Any) -> Any:
    with open(__file__) as file:
        return x * len(file.readline())


def prints(x: Any) -> Any:
    print("traced")
    return x


def appends(x: Any) -> Any:
    LOG.append(1)
    return x


def counts(x: Any) -> Any:
    COUNTS["calls"] += 1
    return x


def rebinds(x: Any) -> Any:
    global CALLS  # noqa: PLW0603  (is what is found)
    CALLS += 1
    return x


def fills(x: Any) -> Any:
    TABLE[0] += 1
    return x


def keeps(x: Any) -> Any:
    global KEPT  # noqa: PLW0603  (is what is found)
    KEPT = x * 2
    return x


def collects(x: Any) -> Any:
    LOG.append(x + 1)
    return x


def inner(x: Any) -> Any:
    LOG.append(2)
    return x * 2


def calls(x: Any) -> Any:
    return inner(x) + 1


@pytest.mark.parametrize("autograph", [False, True])
@pytest.mark.parametrize(
    ("function", "kind", "behind"),
    [
        (numpys, "random", 1), (generators, "random", 1), (pythons, "random", 1),
        (clocks, "time", 1), (dates, "time", 1), (files, "file", 1), (prints, "print", 1),
        (appends, "mutation", 1), (counts, "mutation", 1), (rebinds, "mutation", 2),
        (fills, "mutation", 1), (keeps, "leak", 2), (collects, "leak", 1), (inner, "mutation", 1),
    ],
)  # fmt: skip
def test_each_is_told_with_its_line(
    function: Callable[[Any], Any], kind: str, behind: int, autograph: bool
) -> None:
    made = gv.function(function, check=True, autograph=autograph)
    with pytest.warns(gv.StagingWarning):
        made(gv.asarray(X))
    [effect] = made.effects
    assert effect.kind == kind
    file, _, line = effect.line.rpartition(":")
    assert file.endswith("test_lint.py")
    assert int(line) == function.__code__.co_firstlineno + behind
    assert str(effect) in made.explain()[-1]
    made(gv.asarray(X))
    assert made.effects == [effect], "the trace is there, and told of"


def test_a_function_that_is_called_is_looked_at_too() -> None:
    made = gv.function(calls, check=True)
    made(gv.asarray(X))
    assert [each.line.rpartition(":")[2] for each in made.effects] == [
        str(inner.__code__.co_firstlineno + 1)
    ]


def test_arguments_closures_and_attributes() -> None:
    around: list[int] = []

    class Model:
        def __init__(self) -> None:
            self.steps, self.weight = 0, None

        @gv.function(check=True)
        def step(self, x: Any) -> Any:
            if self.weight is None:
                self.weight = gv.Variable(2.0)
            self.steps += 1
            return x * self.weight

    def body(x: Any, rows: Any) -> Any:
        rows["n"] = rows["n"] + 1
        around.append(3)
        return x

    first = gv.function(body, check=True)
    first(gv.asarray(X), {"n": 1})
    assert [each.kind for each in first.effects] == ["mutation", "mutation"]
    assert "argument 'rows'" in first.effects[0].message
    assert "'around' of the function around" in first.effects[1].message
    model = Model()
    assert np.array_equal(model.step(gv.asarray(X)).numpy(), 2 * X)
    assert [each.message[:14] for each in model.step.effects] == ["object 'Model'"]


def local(x: Any) -> Any:
    rows = []
    for number in range(3):
        rows.append(x * number)  # noqa: PERF401  (is what is silent)
    table = {"sum": rows[0]}
    table["sum"] = table["sum"] + rows[1]
    return table["sum"] + tf.reduce_sum(rows[2])


def drawn(x: Any) -> Any:
    return x + tf.random.normal([3])


def choice(x: Any) -> Any:
    if tf.reduce_sum(x) > 0:  # noqa: SIM108  (is what is silent)
        y = x + 1
    else:
        y = x - 1
    while tf.reduce_sum(y) < 100:
        y = y * 2
    return y


@pytest.mark.parametrize("function", [local, drawn, choice])
def test_what_is_as_it_should_be_is_silent(function: Callable[[Any], Any]) -> None:
    made = tf.function(function)
    made.check = True
    with warnings.catch_warnings():
        warnings.simplefilter("error", gv.StagingWarning)
        for _ in range(3):
            made(tf.constant(X))
        made(tf.constant(np.ones((4, 3), np.float32)))
    assert made.effects == []


def test_variables_stay_as_the_trace_leaves_them() -> None:
    state = gv.Variable(np.float32(1))

    @gv.function(check=True)
    def step(x: Any) -> Any:
        state.assign(state.read_value() * 2)
        return x * state.read_value()

    assert float(step(gv.asarray(np.float32(3))).numpy()) == 6
    assert float(state.numpy()) == 2
    assert float(step(gv.asarray(np.float32(3))).numpy()) == 12
    assert step.effects == []


def test_results_that_differ_are_told_where_nothing_else_was_seen() -> None:
    numbers = iter(range(1, 9))

    @gv.function(check=True)
    def step(x: Any) -> Any:
        return x * next(numbers)

    step(gv.asarray(X))
    assert [each.kind for each in step.effects] == ["result"]
    assert "1.0 instead of 2.0" in step.effects[0].message


def test_tracers_of_others_stay() -> None:
    def other(*_: object) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(other)
    try:
        made = gv.function(appends, check=True)
        made(gv.asarray(X))

        @gv.function(check=True)
        def fails(x: Any) -> Any:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            fails(gv.asarray(X))
        assert sys.gettrace() is other
        assert sys.getprofile() is None
    finally:
        sys.settrace(before)


def test_functions_that_are_traced_again_and_again() -> None:
    @gv.function(check=True)
    def scaled(x: Any, n: Any) -> Any:
        return x * n

    for number in range(7):
        scaled(gv.asarray(X), number)
    [effect] = scaled.effects
    assert effect.kind == "retrace"
    assert "give it as a tensor" in effect.mending

    @gv.function(check=True)
    def sized(x: Any) -> Any:
        return x * 2

    for size in range(1, 7):
        sized(gv.asarray(np.ones(size, np.float32)))
    assert "reduce_retracing=True" in sized.effects[0].mending


def test_explain_compares_with_the_nearest_trace() -> None:
    @gv.function
    def f(x: Any, training: bool, scale: float) -> Any:
        return x * scale if training else x

    x, y = gv.asarray(X), gv.asarray(np.ones(5))
    f(x, True, 1.0)
    f(y, False, 2.0)
    f(x, True, 3.0)
    f(y, False, 4.0)
    said = [line.partition(": ")[2] for line in f.explain()]
    assert said[2] == "argument 'scale': 3.0 instead of 1.0"
    assert said[3] == "argument 'scale': 4.0 instead of 2.0"
    assert said[1].endswith(", and 2 more")


SCRIPT = """import numpy as np
import gravure as gv
import gravure.tf as tf

log = []

@gv.function(input_signature=[tf.TensorSpec([None, 3], gv.float32)])
def add_noise(x):
    log.append(1)
    print("traced")
    return x + np.random.normal(size=3).astype("float32")

@tf.function
def clean(x, y):
    if tf.reduce_sum(x) > 0:
        x = x + y
    return x

@gv.function
def storm(n):
    return gv.asarray(n) * 2

for n in range(6):
    storm(n)
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "noise.py"
    path.write_text(SCRIPT)
    return path


def test_the_command(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "noise.py:add_noise", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(each["kind"], each["line"]) for each in found["effects"]] == [
        ("mutation", "noise.py:9"), ("print", "noise.py:10"), ("random", "noise.py:11"),
    ]  # fmt: skip
    assert found["traces"] == 1
    np.save("y.npy", np.ones(3, np.float32))
    assert main(["lint", "noise.py:clean", "--shape", "x=2,3", "-i", "y=@y.npy"]) == 0
    assert "in each run" in capsys.readouterr().out
    assert main(["lint", "noise.py:clean"]) == 65
    assert main(["lint", "noise.py"]) == 2
    assert main(["lint", "noise.py:clean", "--dim", "N=3"]) == 2
    assert main(["lint", "noise.py:absent"]) == 65
    assert main(["lint", "absent.py:clean"]) == 66


def test_a_storm_in_the_file_is_told(script: Path) -> None:
    found = gv.lint(f"{script}:storm", shapes={"n": (2,)})
    assert [each.kind for each in found.effects] == ["retrace"]
    assert "give it as a tensor" in found.effects[0].mending
