"""The tool that measures GPUs, tried on the emulated device."""

import json
from pathlib import Path

import pytest

from gravure.runtime.gpu.cuda import device_count
from gravure.runtime.gpu.emulated import EmulatedDriver
from gravure.tools.bench_gpu import NETWORKS, Bench, cases, main


@pytest.mark.parametrize("only", ["map", "product of 64 cubed, f32"])
def test_cases_run_and_are_compared(only: str, tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    options = ["--device", "emulated", "--small", "--only", only, "--json", str(out)]
    assert main(options) == 0
    [row] = json.loads(out.read_text())["rows"]
    assert row["gravure"] > 0
    assert row["error"] < 1e-6


def test_launches_are_counted_and_compared(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    main(["--device", "emulated", "--small", "--only", "10 launches", "--json", str(out)])
    data = json.loads(out.read_text())
    assert [row["name"] for row in data["rows"]] == ["begin 10 launches", "one of 10 launches"]
    assert all(row["error"] < 1e-6 and not row["why"] for row in data["rows"])
    assert {"device", "machine", "target", "torch", "date", "command"} < set(data)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_torch_run_here_too(name: str) -> None:
    pytest.importorskip("torch")
    row = Bench(EmulatedDriver(), "cuda:sm_90a").network(name, 1, "f32", small=True)
    assert not row.why
    assert row.error < 1e-5


def test_what_does_not_compile_is_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    (tmp_path / "bad.inputs.npz").write_bytes(b"")
    options = ["--device", "emulated", "--small", "--only", "bad", "--models", str(tmp_path)]
    assert main(options) == 1
    assert "| bad | " in capsys.readouterr().out


@pytest.mark.skipif(device_count() > 0, reason="there is a GPU")
def test_without_a_gpu_the_message_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 69
    assert "the device 'emulated' needs no GPU" in capsys.readouterr().err


def test_every_name_is_there_once() -> None:
    for small in (False, True):
        names = [case.name for case in cases(small)]
        assert len(names) == len(set(names))
