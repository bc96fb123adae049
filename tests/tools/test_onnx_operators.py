"""The tool that times operators of ONNX, tried on small ones."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the tool times gravure beside onnxruntime")

from gravure.tools.measuring import onnx_operators as tool


def test_cases_are_models_of_their_own() -> None:
    made = [*tool.cases()]
    assert len(set(map(str, made))) == len(made) > 100
    for case in made[::25]:
        data, dims = tool.model_of(case, None)
        assert data
        assert not dims
        assert [each.ndim for each in tool.operands(case)]


def test_both_are_timed_and_compared(monkeypatch: pytest.MonkeyPatch, capsys: object) -> None:
    small = tool.SmallModel("float[4,3] x, float[3] z", "y = Add(x, z)")
    monkeypatch.setattr(tool, "cases", lambda: iter([small]))
    monkeypatch.setattr(tool, "PATIENCE", 1e-4)
    monkeypatch.setattr(sys, "argv", ["onnx_operators.py", "--open", "0"])
    tool.main()
    lines = capsys.readouterr().out.splitlines()  # type: ignore[attr-defined]
    assert lines[0].split()[3:] == ["0.0e+00", *str(small).split()]
    assert "in the mean of 1," in lines[1]
    assert np.isfinite([float(x) for x in lines[0].split()[:3]]).all()
