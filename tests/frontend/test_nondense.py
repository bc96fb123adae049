"""Programs on sparse and ragged values beside TensorFlow 2.21, whose values are recorded."""

import importlib.util
import json
from pathlib import Path

import pytest

import gravure.tf as tf

HERE = Path(__file__).parent / "nondense"


def module(name):
    """Return a file of the folder as a module."""
    spec = importlib.util.spec_from_file_location(f"nondense_{name}", HERE / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


programs, record = module("programs"), module("record")
RECORDED = json.loads((HERE / "values.json").read_text())


@pytest.mark.parametrize("text", programs.EXPRESSIONS)
def test_expression(text):
    assert record.outcome(lambda: record.evaluated(text, tf), tf) == RECORDED[text]


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_program(name):
    found = record.outcome(lambda: programs.PROGRAMS[name](tf), tf)
    assert json.loads(json.dumps(found)) == RECORDED[name]


def test_rows_of_ragged_tensors_become_rows_of_batches():
    rows = tf.ragged.constant([[1, 2], [3], []])
    found = tf.data.Dataset.from_tensor_slices((rows, [1, 2, 3])).ragged_batch(2)
    assert [(a.to_list(), b.numpy().tolist()) for a, b in found] == [
        ([[1, 2], [3]], [1, 2]),
        ([[]], [3]),
    ]
    assert found.element_spec[0] == tf.RaggedTensorSpec([None, None], tf.int32, 1)
