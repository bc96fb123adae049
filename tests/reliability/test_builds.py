"""Whole builds: the same bytes anywhere, with no tool on the machine, and only their own names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gravure as gv

MODELS = Path(__file__).parent.parent / "models"
SUFFIXES = ("so", "o", "a", "h")
BUILD = """
import gravure as gv
model = gv.compile("digits.onnx", threads=2)
for suffix in ("so", "o", "a", "h"):
    model.save(f"digits.{suffix}")
"""


def build(folder: Path, seed: str, cache: str) -> None:
    """Compile a model in a folder, in a process of its own that finds no program."""
    folder.mkdir()
    shutil.copy(MODELS / "digits.onnx", folder)
    environment = {
        "PATH": "",
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONHASHSEED": seed,
        "GRAVURE_CACHE": cache,
    }
    command = [sys.executable, "-c", BUILD]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Return folders in which the same model was compiled."""
    root = tmp_path_factory.mktemp("builds")
    folders = root / "a", root / "a folder with another name", root / "warm"
    kept = str(root / "cache")
    for number, (folder, cache) in enumerate(zip(folders, ("off", kept, kept), strict=True)):
        build(folder, str(number), cache)
    return folders


@pytest.mark.sweep
@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_builds_in_different_folders_are_the_same_bytes(
    builds: tuple[Path, ...], suffix: str
) -> None:
    first, *others = [(folder / f"digits.{suffix}").read_bytes() for folder in builds]
    assert all(other == first for other in others)
    assert str(builds[0]).encode() not in first


@pytest.mark.slow
def test_library_exports_its_own_names_and_imports_none(builds: tuple[Path, ...]) -> None:
    path = builds[0] / "digits.so"
    if shutil.which("nm") is None:
        pytest.skip("no nm here")
    listed = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    assert {"digits_run", "digits_manifest", "digits_status"} <= {row[-1] for row in rows}
    assert all(row[-1].startswith("digits_") and row[-2] in "TR" for row in rows), listed.stdout


@pytest.mark.slow
def test_small_network_is_a_small_library(tmp_path: Path) -> None:
    model = gv.compile(MODELS / "mlp.onnx", threads=2)
    model.save(tmp_path / "mlp.so")
    size = (tmp_path / "mlp.so").stat().st_size
    assert size - int(model.manifest["weights_bytes"]) < 40 << 10


def test_weights_are_the_same_whoever_prepares_them() -> None:
    one, two = (gv.compile(MODELS / "digits.onnx", threads=n) for n in (1, 2))
    assert one.compiled.blob.tobytes() == two.compiled.blob.tobytes()
