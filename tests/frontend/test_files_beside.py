"""A program and the weights beside it are both new, or both what they were."""

from pathlib import Path

import numpy as np
import pytest

import gravure as gv
from gravure.errors import OutputError
from gravure.frontend.programs.load import load_program
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
