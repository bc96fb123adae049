"""Tools that measure models, peers and weights: what they write is what was measured."""

import io
import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from gravure.tools.measuring import measure_models, measure_weights, peer_process, proof

ROOT = Path(__file__).parent.parent
PEER = """
import numpy as np

def prepare(model, inputs, threads):
    return lambda: [inputs["x"] * threads], model
"""


def test_a_peer_answers_with_a_time_for_each_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, results, peer = (tmp_path / name for name in ("in.npz", "out.npz", "peer.py"))
    np.savez(given, x=np.arange(3.0))
    peer.write_text(PEER)
    monkeypatch.setattr(sys, "argv", ["peer", str(peer), "version", str(given), str(results), "2"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("3\n1\n"))
    ticks = iter(range(0, 10_000, 7))
    monkeypatch.setattr(peer_process.time, "perf_counter_ns", lambda: next(ticks))
    monkeypatch.setattr(peer_process.time, "process_time_ns", lambda: next(ticks))
    out = io.StringIO()
    peer_process.main(out)
    ready, *rounds = map(json.loads, out.getvalue().splitlines())
    assert ready["version"] == "version"
    assert [row["times"] for row in rounds] == [[7] * 3, [7]]
    assert [row["processor"] for row in rounds] == [49, 21]
    with np.load(results) as found:
        np.testing.assert_array_equal(found["o0"], np.arange(3.0) * 2)


def test_large_weights_lie_in_the_file_as_its_header_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure_weights, "WIDTH", 16)
    path = measure_weights.write_model(tmp_path, 3 * 16 * 16 * 4 / (1 << 30))
    data = (tmp_path / "large.safetensors").read_bytes()
    [size] = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    assert [header[f"w{i}"]["data_offsets"] for i in range(3)] == [
        [0, 1024], [1024, 2048], [2048, 3072],
    ]  # fmt: skip
    assert len(data) == 8 + size + 3072
    assert path.read_text().count(" @ ") == 3


def test_a_model_is_measured_cold_and_warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mlp.onnx").write_bytes((ROOT / "models" / "mlp.onnx").read_bytes())
    np.savez(tmp_path / "mlp.inputs.npz", x=np.ones((1, 8), np.float32))
    row = measure_models.measure(tmp_path / "mlp.onnx", 1)
    assert row.cold.clock > 0
    assert row.warm.clock > 0
    assert np.isnan(row.error)
    assert 0 < row.touched <= row.memory


def test_the_proof_is_a_part_of_compiling(capsys: pytest.CaptureFixture[str]) -> None:
    proof.main([str(ROOT / "models" / "mlp.onnx"), "--rounds", "2"])
    head, row, whole = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "model"
    assert row.split()[1:] == whole.split()[1:]
    compiling, proving, part, kernels, unproven = row.split()[1:]
    assert 0 < float(proving) < float(compiling)
    assert 0 < float(part.rstrip("%")) < 100
    assert int(kernels) > 0 == int(unproven)
