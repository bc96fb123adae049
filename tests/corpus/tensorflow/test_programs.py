"""The corpus: programs as people write them give what TensorFlow 2.21 gave, and are compiled."""

import json
import warnings

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.function import lowering_gradient, staged
from gravure.frontend.graph.tolls import Account

from .record import EXPECTED, is_first, outcome, programs

WANTED = json.loads(EXPECTED.read_text())
PROGRAMS = dict(programs())
MISSING = {
    "first_models.summaries_and_merged_writer": "summary_iterator",
}
"""Programs, and the name that they ask for and that is not here yet: this may only shrink."""


OUTSIDE = (": whether variable ", ": a checkpoint")
"""What sessions do outside of programs, also at their first run: only Python can."""


def differences(found, wanted, path="result"):
    """Give where two results differ by more than rounding."""
    if isinstance(wanted, list):
        if not isinstance(found, list) or len(found) != len(wanted):
            yield f"{path}: {found} instead of {wanted}"
            return
        for i, pair in enumerate(zip(found, wanted, strict=True)):
            yield from differences(*pair, f"{path}[{i}]")
    elif isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key in wanted:
            yield from differences(found[key], wanted[key], f"{path}[{key!r}]")
    elif isinstance(wanted, float):
        number = isinstance(found, int | float)
        if not number or not np.isclose(found, wanted, rtol=2e-4, atol=1e-5, equal_nan=True):
            yield f"{path}: {found} instead of {wanted}"
    elif found != wanted:
        yield f"{path}: {found!r} instead of {wanted!r}"


def run(name):
    """Return what a program gives; those of the first version have its behaviour."""
    if not is_first(name):
        return outcome(name, PROGRAMS[name], tf)
    tf.compat.v1.disable_v2_behavior()
    try:
        return outcome(name, PROGRAMS[name], tf)
    finally:
        tf.compat.v1.enable_v2_behavior()


def check(name):
    """Fail unless a program gives what was recorded."""
    try:
        found = json.loads(json.dumps(run(name)))
    except AttributeError as error:
        if name in MISSING and f"has no '{MISSING[name]}'" in str(error):
            pytest.xfail(str(error))
        raise
    assert not list(differences(found, WANTED[name]))


def refusals(monkeypatch):
    """Return the list of what is not compiled, and why, which fills while programs run."""
    found = []

    def noted(plan, error):
        found.append(f"{plan.ops[-1].source}: {error}")

    monkeypatch.setattr(staged, "refused", noted)
    monkeypatch.setattr(lowering_gradient, "refused", noted)
    return found


def check_from_the_first(name, monkeypatch):
    """Fail unless a program is compiled from its first call, and gives what was recorded."""
    refused = refusals(monkeypatch)
    monkeypatch.setattr(Account, "is_due", lambda *_: True)
    check(name)
    assert not [each for each in refused if not any(what in each for what in OUTSIDE)]


def test_the_corpus_is_whole():
    assert PROGRAMS.keys() == WANTED.keys()
    assert len(PROGRAMS) >= 80
    assert not MISSING.keys() - PROGRAMS.keys()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_program_gives_what_tensorflow_gave(name, monkeypatch):
    refused = refusals(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error", gv.PerformanceWarning)
        check(name)
    assert not refused


@pytest.mark.parametrize("name", sorted(n for n in PROGRAMS if is_first(n)))
def test_a_program_of_the_first_version_is_compiled_from_its_first_run(name, monkeypatch):
    check_from_the_first(name, monkeypatch)


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(n for n in PROGRAMS if not is_first(n)))
def test_a_program_is_compiled_from_its_first_call(name, monkeypatch):
    check_from_the_first(name, monkeypatch)


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(n for n in PROGRAMS if not is_first(n)))
def test_functions_of_a_program_may_run_eagerly(name, monkeypatch):
    tf.config.run_functions_eagerly(True)
    try:
        check(name)
    finally:
        tf.config.run_functions_eagerly(False)
