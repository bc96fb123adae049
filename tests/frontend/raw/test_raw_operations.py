"""Operations by their own names, beside what TensorFlow gives (`record.py`)."""

import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

from .record import SAMPLES, shown

RECORDED = json.loads(Path(__file__).with_name("values.json").read_text())


@pytest.mark.parametrize("name", SAMPLES)
def test_results_have_tensorflows_names_types_and_values(name: str) -> None:
    found = shown(tf, name)
    assert [each[:3] for each in found] == [tuple(each[:3]) for each in RECORDED[name]]
    for (_, kind, _, values), (_, _, _, wanted) in zip(found, RECORDED[name], strict=True):
        if kind == "string" or "int" in kind or kind == "bool":
            assert values == wanted
        else:
            near = 1e-8 if kind in ("float64", "complex128") else 2e-5
            np.testing.assert_allclose(values, wanted, rtol=near, atol=near)


def test_arguments_that_an_operation_does_not_have_are_refused() -> None:
    with pytest.raises(TypeError, match="found argument 'y', expected x"):
        tf.raw_ops.BesselI0(x=1.0, y=2.0)


def test_what_writes_and_what_reads_belong_together(tmp_path: Path) -> None:
    raw, x = tf.raw_ops, np.arange(12, dtype=np.float32).reshape(3, 4)
    written = raw.SerializeTensor(tensor=x)
    np.testing.assert_array_equal(raw.ParseTensor(serialized=written, out_type="float32"), x)
    sound = np.float32([[0.0], [0.5], [-0.25]])
    found = raw.DecodeWav(contents=raw.EncodeWav(audio=sound, sample_rate=8000))
    assert found._fields == ("audio", "sample_rate")
    np.testing.assert_allclose(found.audio, sound, atol=1e-4)
    path = str(tmp_path / "a.txt")
    raw.WriteFile(filename=path, contents=b"told")
    assert raw.ReadFile(filename=path).numpy() == b"told"
    assert raw.MatchingFiles(pattern=f"{tmp_path}/*.txt").numpy().tolist() == [path.encode()]
    assert raw.NoOp() is None
    assert float(raw.Timestamp()) > 1e9
