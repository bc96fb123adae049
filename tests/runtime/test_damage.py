"""Artefacts that were cut short, changed, or are something else: an error, never a crash."""

import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure.errors import ArtifactError
from gravure.runtime.library import inspect
from gravure.runtime.model import Model

ROOT = Path(__file__).parents[2]

# Loads each damaged form of the file in a process of its own; prints what was not refused.
TRY_ALL = """
import sys
sys.path.insert(0, sys.argv[1])
from gravure.errors import ArtifactError
from gravure.runtime.model import Model

data, kind = open(sys.argv[2], "rb").read(), sys.argv[3]
step, head = int(sys.argv[4]), int(sys.argv[5])
accepted, messages = [], set()
for place in range(0, len(data) if kind == "cut" else head, step):
    if kind == "cut":
        damaged = data[:place]
    elif kind == "flip":
        damaged = data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1:]
    else:
        damaged = data[:place] + data[place:place + 8][::-1] + data[place + 8:]
    if damaged == data:
        continue
    try:
        Model.load(damaged)
        accepted.append(place)
    except ArtifactError as error:
        messages.add(error.message.split(":")[0])
print(len(messages), accepted)
"""


@pytest.fixture(scope="module")
def artefact(kit: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("artefact") / "scale.so"
    kit.build(kit.scale(), np.arange(16, dtype=np.float32)).save(path)
    return path


@pytest.mark.parametrize(("kind", "step"), [("cut", 97), ("flip", 13), ("reverse", 61)])
def test_damaged_file_is_refused(artefact: Path, kind: str, step: int) -> None:
    head = artefact.stat().st_size - 64
    command = [sys.executable, "-c", TRY_ALL, str(ROOT), str(artefact), kind, str(step), str(head)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("[]\n"), done.stdout


def test_every_bit_of_headers_and_seal_counts(artefact: Path) -> None:
    command = [sys.executable, "-c", TRY_ALL, str(ROOT), str(artefact), "flip", "1", "768"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("[]\n"), done.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "not a compiled model: an empty file"),
        (lambda data: b"<html>", "not a compiled model: '<htm'"),
        (lambda data: data[:40], "cut short: 40 bytes"),
        (lambda data: data[:-1], "cut short: "),
        (lambda data: data + b"\n", "too long: "),
        (lambda data: data[:4] + b"\1" + data[5:], "not a 64-bit little-endian"),
        (lambda data: data[:5] + b"\2" + data[6:], "not a 64-bit little-endian"),
        (lambda data: data[:16] + b"\1\0" + data[18:], "type 1, expected a shared library"),
        (lambda data: data[:18] + struct.pack("<H", 183) + data[20:], "made for aarch64"),
        (lambda data: data.replace(b"gravure\0", b"gravura\0"), "it has no seal"),
        (lambda data: data.replace(b"x86-64-v3", b"x86-64-v2"), "its digest does not match"),
    ],
)
def test_error_says_what_is_wrong(artefact: Path, change: Any, message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        Model.load(change(artefact.read_bytes()))
    assert message in str(caught.value)


def test_another_library_is_refused() -> None:
    library = next(Path(np.__file__).parent.rglob("_multiarray_umath*.so"))
    with pytest.raises(ArtifactError, match="not a library that gravure made"):
        Model.load(library)


def test_other_format_is_refused(artefact: Path) -> None:
    data = artefact.read_bytes()
    place = data.index(b"gravure\0") + 8
    with pytest.raises(ArtifactError, match="format 99 of artefact, expected 2"):
        Model.load(data[:place] + struct.pack("<I", 99) + data[place + 4 :])


def test_file_can_be_looked_at_without_loading_it(artefact: Path, tmp_path: Path) -> None:
    found = inspect(artefact)
    assert found.manifest["tag"] == "scale"
    assert found.seal.weights_size == 64
    data = artefact.read_bytes()
    (tmp_path / "cut.so").write_bytes(data[:-1])
    with pytest.raises(ArtifactError, match=r"cut\.so: the file is cut short"):
        inspect(tmp_path / "cut.so")
    with pytest.raises(ArtifactError, match="no such file"):
        inspect(tmp_path / "none.so")
