"""Tiles are measured on a device whose times are known beforehand, and builds use the records."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure import target
from gravure.codegen.compile import Options
from gravure.codegen.ptx.assemble import assemble, find_ptxas
from gravure.codegen.ptx.attention.flash import Flash
from gravure.codegen.ptx.products import warpgroup
from gravure.codegen.ptx.products.shape import TILES, WARP_TILES
from gravure.errors import CompileError
from gravure.frontend.models.gpu import load_on_gpu
from gravure.frontend.programs.compile import compile_source
from gravure.passes.split_reductions import SHARES
from gravure.runtime.arguments import numpy_dtype
from gravure.runtime.devices import standing_in
from gravure.runtime.gpu.cuda import device_count
from gravure.runtime.gpu.emulated import EmulatedDriver
from gravure.tools import tune_gpu

TEXT = "model p(x: {0}[96, 64], y: {0}[64, 80]) -> (z) {{\n  z = x @ y\n}}"


class Recorded(EmulatedDriver):
    """A device that takes as long as it has threads in a block, and runs nothing."""

    name = "Recorded GPU (gpu:0)"
    threads = 0

    def replay(self, code: Any, nodes: Any, *, check: bool) -> Any:
        self.threads = max(node.kernel.block[0] for node in nodes)
        return super().replay(code, [], check=check)

    def seconds(self, action: Callable[[], object]) -> float:
        action()
        return self.threads * 1e-3


@pytest.fixture
def gpu() -> Iterator[Recorded]:
    with standing_in(0, Recorded("sm_90")) as driver:
        assert isinstance(driver, Recorded)
        yield driver


@pytest.mark.sweep
def test_records_are_measured_written_and_used(
    gpu: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "measured.json"
    options = ["--small", "-o", str(out), "--only"]
    assert tune_gpu.main([*options, "f16"]) == 0
    first = out.read_bytes()
    assert tune_gpu.main([*options, "f16"]) == 0
    assert out.read_bytes() == first
    assert tune_gpu.main([*options, "f32"]) == 0
    data = json.loads(out.read_text())
    assert (data["schema"], data["devices"]) == ("gravure.measured/1", {"sm_90": "Recorded GPU"})
    found = data["records"]["sm_90"]
    assert list(found) == sorted(found)
    threads = {str(n): 1e3 * tile.threads for n, tile in enumerate(WARP_TILES)}
    # the rule's tile has as few threads as the best other one: it stays
    assert found["warps_f16_2_32_64_32"] == {"choice": 1, "rule": 1, "microseconds": threads}
    assert found["threads_f32_2_32_64_32"]["choice"] == 2
    assert {n.rpartition("_f")[0] for n in found if "_f" in n} >= {
        "rows",
        "columns",
        "keys",
        "flash",
    }
    assert found["rows_f32_4_512"]["microseconds"] == {"32": 1.28e5, "64": 6.4e4, "128": 1.28e5}
    found["threads_f32_2_32_64_32"]["choice"] = 0
    out.write_text(json.dumps(data))
    monkeypatch.setattr(target, "MEASURED", out)
    target.measured.cache_clear()
    try:
        text = "model p(x: f32[2, 30, 32], y: f32[2, 32, 40]) -> (z) {\n  z = x @ y\n}"
        plan = compile_source(text.encode(), Options(target="cuda:sm_90")).plan
        assert plan is not None
        assert plan.kernels[0].block[0] == TILES[0].threads
    finally:
        target.measured.cache_clear()


def test_the_records_that_are_committed_can_be_chosen() -> None:
    data = json.loads(target.MEASURED.read_text())
    assert data["schema"] == tune_gpu.SCHEMA
    forms: dict[str, Sequence[int]] = {
        "threads": range(len(TILES)), "warps": range(len(WARP_TILES)),
        "warpgroups": range(len(warpgroup.TILES)),
        "flash": range(len(Flash.FORMS)), "keys": SHARES, "columns": (4, 8, 16),
        "rows": (32, 64, 128, 256, 512, 1024),
    }  # fmt: skip
    for rows in data["records"].values():
        for name, row in rows.items():
            assert row["choice"] in forms[name.partition("_")[0]]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "name", "choice"),
    [
        *(("f32", "threads_f32_1_128_128_64", n) for n in range(len(TILES))),
        *(("f16", "warps_f16_1_128_128_64", n) for n in range(len(WARP_TILES))),
    ],
)
def test_every_tile_computes_the_same(kind: str, name: str, choice: int) -> None:
    options = Options(target="cuda:sm_80", mattr=f"{name}={choice}")
    compiled = compile_source(TEXT.format(kind).encode(), options)
    assert compiled.plan is not None
    tiles: Any = TILES if kind == "f32" else WARP_TILES
    assert compiled.plan.kernels[0].block[0] == tiles[choice].threads
    random = np.random.default_rng(choice)
    x, y = (random.standard_normal(s).astype(numpy_dtype(kind)) for s in ((96, 64), (64, 80)))
    [z] = load_on_gpu(compiled, EmulatedDriver("sm_80", races=True)).run([x, y])
    wanted = x.astype(np.float64) @ y.astype(np.float64)
    loose = 1e-5 if kind == "f32" else 5e-3
    np.testing.assert_allclose(z, wanted, rtol=loose, atol=10 * loose)
    ptxas = find_ptxas()
    if ptxas is not None:
        made = assemble(compiled.plan.modules[0].ptx, "sm_80", ptxas)
        assert (made.spilled, made.stack, made.warnings) == (0, 0, ())


ATTENTION = "q: f16[{0}, 64], k: f16[{1}, 64], v: f16[{1}, 64]"
ATTENTIONS = [f"({ATTENTION.format(*sizes)})" for sizes in ((150, 140), (1, 1000))]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("head", "expression", "name", "choices", "target"),
    [
        ("(x: f32[5, 600])", "softmax(x, axis=1)", "rows_f32_8_1024", (32, 64, 128), "sm_80"),
        ("(x: f32[70, 5])", "softmax(x, axis=0)", "columns_f32_8_128", (4, 16), "sm_80"),
        (ATTENTIONS[0], "", "flash_f16_1_256_256_64", (1, 2), "sm_80"),
        (ATTENTIONS[0], "", "flash_wide_f16_1_256_256_64", (1, 2), "sm_90a"),
        (ATTENTIONS[1], "", "keys_f16_1_1_1024_64", (0, 512), "sm_80"),
    ],
)
def test_every_form_computes_the_same(
    head: str, expression: str, name: str, choices: tuple[int, ...], target: str
) -> None:
    expression = expression or "softmax(q @ transpose(k, order=[1, 0]), axis=1) @ v"
    text = f"model m{head} -> (y) {{\n  y = {expression}\n}}".encode()
    wanted, inputs, seen = None, [], set()
    random = np.random.default_rng(1)
    ptxas = find_ptxas()
    for word in ("", *(f"{name}={choice}" for choice in choices)):
        compiled = compile_source(text, Options(target=f"cuda:{target}", mattr=word))
        assert compiled.plan is not None
        seen.add(compiled.plan.modules[0].ptx)
        for module in compiled.plan.modules if ptxas is not None else ():
            assert ptxas is not None
            made = assemble(module.ptx, target, ptxas)
            assert (made.spilled, made.stack, made.warnings) == (0, 0, ())
        model = load_on_gpu(compiled, EmulatedDriver(target, races=True))
        inputs = inputs or [
            random.standard_normal(info.shape).astype(numpy_dtype(info.dtype)) / 4
            for info in model.inputs
        ]
        [found] = model.run(inputs)
        wanted = found if wanted is None else wanted
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-3)
    assert len(seen) == 1 + len(choices)


def test_a_record_that_cannot_be_chosen_is_refused() -> None:
    options = Options(target="cuda:sm_80", mattr="warps_f16_1_128_128_64=9", cache=False)
    with pytest.raises(CompileError, match="warps_f16_1_128_128_64=9: expected one of 0, 1, 2"):
        compile_source(TEXT.format("f16").encode(), options)


@pytest.mark.skipif(device_count() > 0, reason="there is a GPU")
def test_without_a_gpu_the_message_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune_gpu.main(["-o", str(tmp_path / "x.json")]) == 69
    assert "the device 'emulated' needs no GPU" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


AHEAD = """
from gravure.tools import tune_gpu

def main():
    texts = [*tune_gpu.products(((1, 128, 256, 64),), "f16")]
    assert len(texts) == 2
    alone = [*tune_gpu.decisions(iter(texts), "cuda:sm_90", 1)]
    found = [*tune_gpu.decisions(iter(texts), "cuda:sm_90", 2)]
    assert found == alone
    assert {text for text, _ in found} == {texts[0]}
    for text, question in found:
        for choice in question.candidates:
            words = tune_gpu.said(question, choice)
            assert tune_gpu.compiled_so(text, "cuda:sm_90", words).cached > 0, words
    print(len(found))

if __name__ == "__main__":
    main()
"""


def test_processes_compile_what_is_measured_then(tmp_path: Path) -> None:
    """Two models ask the same: the forms of the first are compiled, for it is measured.

    In a process of its own: what other tests have registered in this one is a part of its keys.
    """
    script = tmp_path / "ahead.py"
    script.write_text(AHEAD)
    environment = {**os.environ, "GRAVURE_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    assert int(done.stdout) > 0
