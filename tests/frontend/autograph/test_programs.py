"""Programs with Python's choices and loops: what TensorFlow gives is given here, compiled."""

import json
import math

import pytest

import gravure.tf as tf
from gravure.frontend.function import staged
from gravure.frontend.tf.graph import state
from gravure.frontend.tf.graph.state import TfFunction

from .record import EXPECTED, outcome, programs

WANTED = json.loads(EXPECTED.read_text())
PROGRAMS = dict(programs())
AS_PYTHON = {
    "functions.nonlocal_state",  # TensorFlow forgets what a called function assigned
    "python_rules.raised_errors_pass_through",  # TensorFlow adds lines to the message
}
"""Programs in which the value is that of Python, which TensorFlow's is not."""


def bare(value):
    """Return a recorded value without the types of tensors."""
    if isinstance(value, dict) and len(value) == 1:
        return bare(next(iter(value.values())))
    return [bare(v) for v in value] if isinstance(value, list) else value


def close(a, b):
    """Say whether two recorded values are the same up to rounding."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6)
    return a == b and type(a) is type(b)


def check(name, found):
    """Fail unless a program gave what TensorFlow gives."""
    wanted, found = WANTED[name], json.loads(json.dumps(found))
    if "error" in found:
        assert "error" in wanted, found
        assert wanted["error"][0] in found["error"]
    elif "value" in wanted and name not in AS_PYTHON:
        assert close(found["value"], wanted["value"]), (found["value"], wanted["value"])
    else:
        value = wanted["eagerly"]
        assert close(bare(found["value"]), bare(value)), (found["value"], value)


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_tensorflow_gives(name):
    check(name, outcome(PROGRAMS[name], tf))


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_compiled(name, monkeypatch):
    made = []

    class Noted(TfFunction):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            made.append(self)

    monkeypatch.setattr(staged, "is_due", lambda *_, **__: True)
    monkeypatch.setattr(state, "TfFunction", Noted)
    check(name, outcome(PROGRAMS[name], tf))
    every = [trace for function in made for trace in function.cache.values()]
    refused = [trace.graph.refusal for trace in every if trace.graph.refusal]
    assert not refused
