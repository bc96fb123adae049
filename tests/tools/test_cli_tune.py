"""Decisions are measured once, kept, and used again to the same bytes (P25)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.frontend.files.records import RecordsError
from gravure.passes.analysis.kernels.choices import ChoiceError


def test_records_are_kept_and_replayed_to_the_same_bytes(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "tune.json"
    libraries, kept_bytes = [], []
    for name in ("a", "b"):
        found = gravure(
            "compile", models / "digits.onnx", "--tune", kept, "-o", tmp_path / f"{name}.so",
            "--tag", "net",
        )  # fmt: skip
        assert found.status == 0, found.err
        libraries.append((tmp_path / f"{name}.so").read_bytes())
        assert ("by rule" in found.err) == (name == "a")
        kept_bytes.append(kept.read_bytes())
    assert libraries[0] == libraries[1]
    assert kept_bytes[0] == kept_bytes[1]
    records = json.loads(kept_bytes[0])["records"]
    assert records
    assert all(name.startswith("panel_f32_") and choice > 0 for name, choice in records.items())


def change(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_record_decides(gravure: Any, models: Path, tmp_path: Path) -> None:
    kept, model = tmp_path / "tune.json", models / "digits.onnx"
    assert gravure("compile", model, "--tune", kept, "-o", tmp_path / "m.so").status == 0
    by_rule = gv.compile(model)
    records = json.loads(kept.read_text())["records"]
    change(kept, records=dict.fromkeys(records, 1))
    narrow = gv.compile(model, tune=kept)
    assert narrow.compiled.objects != by_rule.compiled.objects
    assert narrow.manifest["records"] == dict.fromkeys(records, 1)
    [info] = narrow.inputs
    x = np.linspace(-1, 1, int(np.prod(info.shape)), dtype=np.float32).reshape(info.shape)
    np.testing.assert_allclose(narrow(x), by_rule(x), rtol=1e-5, atol=1e-6)


def test_what_is_no_record_is_refused(gravure: Any, models: Path, tmp_path: Path) -> None:
    kept, model = tmp_path / "tune.json", models / "digits.onnx"
    assert gravure("compile", model, "--tune", kept, "-o", tmp_path / "m.so").status == 0
    name = next(iter(json.loads(kept.read_text())["records"]))
    change(kept, records={name: 99})
    with pytest.raises(ChoiceError, match=f"{name}=99: expected one of 1"):
        gv.compile(model, tune=kept)
    with pytest.raises(RecordsError, match="records for the machine"):
        gv.compile(model, tune=kept, target="x86-64-v2")
    change(kept, schema="else")
    found = gravure("run", model, "--tune", kept)
    assert found.status == 65
    assert "schema 'else'" in found.err
    with pytest.raises(RecordsError, match="FileNotFoundError"):
        gv.compile(model, tune=tmp_path / "none.json")
