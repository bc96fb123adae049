"""The tool that times steps of sessions, tried on short ones."""

from typing import Any

import pytest

from gravure import tf
from gravure.tools.measuring import session_steps


def test_graphs_of_all_sorts_are_timed_in_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_steps, "COUNT", 12)
    wanted = {"chain": 1.0 + 12, "apart": 66.0, "around": 9.0 + (5.0 * 2 + 2) + 5.0 * 2 * 0.25}
    for name, build in session_steps.GRAPHS.items():
        for ways in (0, 1):
            step: Any = session_steps.session_of(tf, build, ways)
            assert step().tolist() == [wanted[name]] * 4
        rows = session_steps.steps(tf, name, build, 1)
        assert list(rows) == [
            *(f"{name}, first, us", f"{name}, in order, first, us"),
            *(f"{name}, us", f"{name}, in order, us"),
        ]
        assert all(value > 0 for value in rows.values())


def test_threads_of_one_session_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_steps, "THREADS", (1, 2))
    rows = session_steps.threads(tf, 1)
    kinds = ("steps/s", "us a step")
    wanted = [f"{count} threads, {kind}" for kind in kinds for count in (1, 2)]
    assert list(rows) == [*wanted, "step of training, us"]
    assert all(value > 0 for value in rows.values())
