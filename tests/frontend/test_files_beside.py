"""A program and the weights beside it are both new, or both what they were."""

from pathlib import Path

import numpy as np
import pytest

import gravure as gv
from gravure.codegen import digests
from gravure.codegen.compiled import Options
from gravure.errors import GravureError, OutputError
from gravure.frontend.onnx.file.surgery import Surgery
from gravure.frontend.programs.emit import emit
from gravure.frontend.programs.load import load_program
from gravure.frontend.programs.parallel import Parallel, compile_parallel
from gravure.frontend.programs.save import Saving, save_program

PLACES = {"m.gv": "m.safetensors", "m.mlir": "m.safetensors", "m.onnx": "m.onnx.data"}
MODEL = Path(__file__).parents[1] / "models" / "digits.onnx"


@pytest.mark.parametrize("name", PLACES)
def test_weights_stay_where_the_program_cannot_be_written(name: str, tmp_path: Path) -> None:
    beside = tmp_path / PLACES[name]
    beside.write_bytes(b"of another program")
    (tmp_path / name).mkdir()  # no file can take its place
    with pytest.raises(OutputError, match="cannot write"):
        save_program(load_program(str(MODEL)), tmp_path / name, Saving(external=True))
    assert beside.read_bytes() == b"of another program"
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([name, beside.name])


@pytest.mark.parametrize("name", PLACES)
def test_the_program_stays_where_its_weights_cannot_be_written(name: str, tmp_path: Path) -> None:
    (tmp_path / PLACES[name]).mkdir()
    (tmp_path / name).write_bytes(b"of other weights")
    with pytest.raises(OutputError, match="cannot write"):
        save_program(load_program(str(MODEL)), tmp_path / name, Saving(external=True))
    assert (tmp_path / name).read_bytes() == b"of other weights"
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([name, PLACES[name]])


@pytest.mark.parametrize("name", PLACES)
def test_both_are_written_for_all_to_read(name: str, tmp_path: Path) -> None:
    save_program(load_program(str(MODEL)), tmp_path / name, Saving(external=True))
    modes = {(tmp_path / each).stat().st_mode & 0o777 for each in (name, PLACES[name])}
    assert len(modes) == 1
    x = np.ones(gv.compile(MODEL).inputs[0].shape, np.float32)
    np.testing.assert_allclose(gv.compile(tmp_path / name)(x), gv.compile(MODEL)(x), rtol=1e-6)


def changed(path: Path) -> None:
    """Change the last byte."""
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", PLACES)
def test_weights_that_were_changed_are_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, beside = tmp_path / name, tmp_path / PLACES[name]
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(digests, "SETTLED", -1.0)  # what was found of files is remembered
    save_program(load_program(str(MODEL)), path, Saving(external=True))
    for _ in range(2):
        load_program(str(path))
    gv.compile(path)
    changed(beside)
    for _ in range(2):
        with pytest.raises(GravureError, match=f"{PLACES[name]}' w(ere|as) changed: "):
            load_program(str(path))
        with pytest.raises(GravureError, match=f"{PLACES[name]}' w(ere|as) changed: "):
            gv.compile(path)
    changed(beside)
    load_program(str(path))


@pytest.mark.parametrize("kinds", ["library,header", "library,weights", "library,header,manifest"])
@pytest.mark.parametrize("old", [True, False])
def test_a_library_stays_where_what_is_beside_it_cannot_be_written(
    kinds: str, tmp_path: Path, old: bool
) -> None:
    library, beside = tmp_path / "m.so", tmp_path / ("m.h" if "header" in kinds else "m.weights")
    beside.mkdir()
    if old:
        library.write_bytes(b"old")
    embed = "weights" not in kinds
    with pytest.raises(OutputError, match="cannot write: is a directory"):
        emit(str(MODEL), library, kinds.split(","), Options(tag="m", embed=embed))
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["m.so"] * old
    assert not old or library.read_bytes() == b"old"


def test_the_libraries_of_ranks_stay_where_the_manifest_cannot_be_written(tmp_path: Path) -> None:
    manifest = tmp_path / "m.parallel.json"
    manifest.mkdir()
    with pytest.raises(OutputError, match="cannot write: is a directory"):
        compile_parallel(str(MODEL), manifest, Parallel("pipeline", 2), Options())
    assert [*tmp_path.iterdir()] == [manifest]


@pytest.mark.parametrize("place", ["m.onnx", "m.onnx.data"])
def test_a_changed_model_and_its_weights_stay_where_one_cannot_be_written(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gravure.frontend.onnx.file.surgery.EMBEDDED", 0)
    there, path = tmp_path / "there", tmp_path / "m.onnx"
    there.mkdir()
    save_program(load_program(str(MODEL)), there / "m.onnx", Saving(external=True))
    (tmp_path / place).mkdir()
    with pytest.raises(OutputError, match="cannot write: is a directory"):
        Surgery.of(str(there / "m.onnx")).save(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["there", place])
    (tmp_path / place).rmdir()
    assert Surgery.of(str(there / "m.onnx")).save(path) == [path, tmp_path / "m.onnx.data"]
    x = np.ones(gv.compile(MODEL).inputs[0].shape, np.float32)
    np.testing.assert_allclose(gv.compile(path)(x), gv.compile(MODEL)(x), rtol=1e-6)
