"""`gravure bench`: figures, records, comparisons, launches."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import gravure as gv

SHORT = ("--seconds", "0.05", "--warm-up", "0.01")


def test_record_holds_figures_and_where_they_come_from(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "r.json"
    found = gravure("bench", models / "digits.onnx", *SHORT, "-o", kept, "--json").json
    assert json.loads(kept.read_text()) == found
    timing = found["timing"]
    assert 0 < timing["minimum"] <= timing["p50"] <= timing["p90"] <= timing["p99"]
    assert len(timing["blocks"]) == 20
    assert {*found["metrics"]} <= {*timing}
    assert found["machine"]["processor"]
    assert found["versions"]["gravure"] == gv.__version__
    assert found["cost"]["macs"] == 309_248
    assert found["inputs"] == {"image": ["float32", [1, 1, 8, 8]]}


def test_figures_are_explained(gravure: Any, models: Path) -> None:
    found = gravure("bench", models / "mlp.onnx", *SHORT)
    assert found.status == 0
    assert "half of the calls took less" in found.out
    assert "GFLOP/s" in found.out


def test_slower_than_before_is_a_no(gravure: Any, models: Path, tmp_path: Path) -> None:
    path, kept = models / "mlp.onnx", tmp_path / "r.json"
    record = gravure("bench", path, *SHORT, "--json").json
    for factor, status, verdict in ((0.3, 1, "slower"), (30.0, 0, "faster")):
        old = {**record["timing"], "blocks": [b * factor for b in record["timing"]["blocks"]]}
        kept.write_text(json.dumps({**record, "timing": old}))
        found = gravure("bench", path, *SHORT, "--against", kept, "--json")
        assert found.status == status
        assert found.json["against"]["verdict"] == verdict
    assert "SLOWER" not in gravure("bench", path, *SHORT, "--against", kept).out


def test_a_difference_below_the_threshold_is_said_to_be_one(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    """Where chance does not explain it, a small change is still a change."""
    path, kept = models / "mlp.onnx", tmp_path / "r.json"
    record = gravure("bench", path, *SHORT, "--json").json
    steady = [record["timing"]["p50"] * 100] * len(record["timing"]["blocks"])
    kept.write_text(json.dumps({**record, "timing": {**record["timing"], "blocks": steady}}))
    again = ("bench", path, *SHORT, "--against", kept, "--threshold", "1000")
    assert gravure(*again, "--json").json["against"]["verdict"] == "same"
    out = gravure(*again).out
    assert "changed by less than the threshold of 100000%" in out
    assert "no significant change" not in out


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "gravure.bench/1", "timing": {}}'])
def test_other_file_is_no_record(gravure: Any, models: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    found = gravure("bench", models / "mlp.onnx", *SHORT, "--against", tmp_path / "r.json")
    assert found.status == 65
    assert "not a record of measured times" in found.err


@pytest.mark.parametrize("threads", [1, 2])
def test_every_launch_is_measured_and_counted(gravure: Any, models: Path, threads: int) -> None:
    found = gravure(
        "bench", models / "digits.onnx", "--layers", *SHORT, "--threads", threads, "--json"
    ).json
    layers = found["layers"]
    assert all(row["seconds"] > 0 for row in layers["launches"])
    assert layers["inside"] > 0
    nodes = [node for row in layers["launches"] for node in row["sources"]]
    assert "Relu_x2" in nodes
    assert sum(row["macs"] for row in layers["launches"]) == found["cost"]["macs"]


def test_launches_of_a_model_with_dimensions(gravure: Any, models: Path) -> None:
    options = ("--dim", "length=1..16", "-i", "x=1x5x8xf32")
    found = gravure("bench", models / "attention.onnx", "--layers", *SHORT, *options)
    assert found.status == 0
    assert "launches" in found.out
    assert "100.0%" in found.out


def test_library_can_be_measured_but_not_its_launches(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.so"
    gv.compile(models / "mlp_batch.onnx", dims={"batch": (1, 64)}).save(path)
    found = gravure("bench", path, *SHORT, "--dim", "batch=3", "--json")
    assert found.json["inputs"] == {"x": ["float32", [3, 8]]}
    refused = gravure("bench", path, "--layers")
    assert refused.status == 2
    assert "launches need the model" in refused.err


def test_launches_are_set_beside_the_machines_limit_and_traced(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "t.json"
    options = ("--layers", "--trace", trace, *SHORT)
    found = gravure("bench", models / "digits.onnx", *options, "--json").json["layers"]
    assert found["limits"]["flops_per_second"] > 1e8
    assert len(found["limits"]["bytes_per_second"]) == 5
    for row in found["launches"]:
        assert row["limit"] in ("arithmetic", "cache", "memory")
        assert row["limit_share"] > 0
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
    assert [e["args"]["launch"] for e in events] == [*range(len(found["launches"]))]
    assert sum(e["dur"] for e in events) / 1e6 == pytest.approx(
        sum(row["seconds"] for row in found["launches"])
    )


PEER = """
import numpy as np
import onnx.reference

def prepare(model, inputs, threads):
    machine = onnx.reference.ReferenceEvaluator(model)
    return lambda: machine.run(None, inputs), onnx.__version__
"""


def test_a_peer_is_measured_in_turns_and_a_missing_one_named(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    file, kept = tmp_path / "reference.py", tmp_path / "r.json"
    file.write_text(PEER)
    broken = tmp_path / "broken.py"
    broken.write_text("def prepare(model, inputs, threads):\n    import no_such_runtime\n")
    peers = (f"reference={sys.executable},{file}", f"broken={sys.executable},{broken}")
    options = [word for peer in peers for word in ("--peer", peer)]
    found = gravure("bench", models / "mlp.onnx", *SHORT, *options, "-o", kept)
    assert found.status == 0
    record = json.loads(kept.read_text())
    own, other = record["runtimes"]
    assert (own["name"], other["name"]) == ("gravure", "reference")
    low, high = other["ratio_interval"]
    assert 0 < low <= other["ratio"] <= high < 1
    assert other["difference"] < 1e-5
    assert other["peak_bytes"] > own["peak_bytes"] > 1 << 24  # onnx is imported there
    assert own["limit_seconds"] > 0
    assert "no_such_runtime" in record["absent"]["broken"]
    assert "broken: not measured: not installed" in found.out


def test_a_peer_must_be_known(gravure: Any, models: Path) -> None:
    for words in (("--peers", "no_such"), ("--peer", "x=/usr/bin/python3"), ("--peer", "x")):
        found = gravure("bench", models / "mlp.onnx", *words)
        assert found.status == 2
        assert "peer" in found.err


def test_each_pass_is_left_out_and_put_in(gravure: Any, models: Path, tmp_path: Path) -> None:
    page, kept = tmp_path / "p.html", tmp_path / "p.json"
    options = ("--html", page, "-o", kept, "--seconds", "0.01")
    found = gravure("bench", models / "mlp.onnx", *options, "--passes")
    assert found.status == 0
    record = json.loads(kept.read_text())
    rows = {(row["kind"], row["pass"]): row for row in record["variants"]}
    assert rows["all", ""]["ratio"] == 1
    assert "needed" in rows["without", "fuse"]
    without = rows["without", "hoist-prepare"]
    assert without["launches"] > rows["all", ""]["launches"]
    assert without["error"] < 1e-5
    assert rows["without", "winograd"]["same_code"]
    assert any(kind == "up to" for kind, _ in rows)
    text = page.read_text()
    assert text.count("<svg") == 5
    assert "http" not in text
    assert "script" not in text


def test_html_has_launches_roofline_and_memory(gravure: Any, models: Path, tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    assert gravure("bench", models / "mlp.onnx", "--html", page, "--seconds", "0.01").status == 0
    text = page.read_text()
    assert "Roofline" in text
    assert '"memory_map"' in text
    assert "https:" not in text


def test_passes_before_the_model_are_each_in_turn(gravure: Any, models: Path) -> None:
    bare = gravure("bench", "--passes", models / "mlp.onnx", "--seconds", "0.01", "--json")
    assert bare.json["schema"] == "gravure.ablation/1"
