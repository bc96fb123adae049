"""Programs on datasets, files and examples beside TensorFlow 2.21, whose values are recorded."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

HERE = Path(__file__).parent / "pipelines"


def module(name):
    """Return a file of the folder as a module."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


programs, record = module("programs"), module("record")
RECORDED = json.loads((HERE / "values.json").read_text())


@pytest.fixture(autouse=True)
def no_seed():
    yield
    tf.random.set_seed(None)


@pytest.mark.parametrize("text", programs.EXPRESSIONS)
def test_expression(text):
    names = {"tf": tf, "D": tf.data.Dataset, "np": np}
    assert record.outcome(lambda: record.evaluated(text, names), tf) == RECORDED[text]


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_program(name, tmp_path):
    run = programs.PROGRAMS[name]
    assert record.outcome(lambda: run(tf, str(tmp_path)), tf) == RECORDED[name]
