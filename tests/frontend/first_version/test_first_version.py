"""Programs of TensorFlow's first version, with the values that TensorFlow 2.21 gave (record.py)."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

HERE = Path(__file__).parent


def module(name):
    """Return a file of the folder as a module."""
    spec = importlib.util.spec_from_file_location(f"first_version_{name}", HERE / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


record, programs = module("record"), module("programs")
RECORDED = json.loads((HERE / "values.json").read_text())


def close(a, b):
    """Say whether two structures are alike, numbers within a rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, float | int) and isinstance(b, float | int):
        return np.isclose(a, b, rtol=1e-3, atol=2e-4, equal_nan=True)
    return a == b


@pytest.mark.parametrize("text", record.SHAPES)
def test_what_is_known_of_shapes(text):
    assert record.shape_of(text, tf) == RECORDED[text]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_program(name):
    found = record.outcome(programs.PROGRAMS[name], tf)
    assert close(found, RECORDED[name]), f"{found} is not {RECORDED[name]}"


@pytest.fixture
def first_version():
    tf.compat.v1.disable_v2_behavior()
    yield tf.compat.v1
    tf.compat.v1.reset_default_graph()
    tf.compat.v1.enable_v2_behavior()


def test_a_default_graph_begins_anew(first_version):
    v1 = first_version
    for _ in range(2):
        v1.reset_default_graph()
        weight = v1.get_variable("weight", [2])
        assert weight.graph is v1.get_default_graph()
        assert [v.name for v in v1.trainable_variables()] == ["weight:0"]


def test_a_variable_is_fetched_behind_what_changes_it(first_version):
    v1 = first_version
    weight = v1.Variable(1.0)
    train = v1.train.GradientDescentOptimizer(0.25).minimize(weight * 2.0)
    with v1.Session() as session:
        session.run(weight.initializer)
        assert [session.run([weight, train])[0] for _ in range(3)] == [0.5, 0.0, -0.5]
        assert session.run({"w": weight, "t": train})["w"] == -1.0


def test_a_layer_says_which_size_it_must_know(first_version):
    v1 = first_version
    v1.reset_default_graph()
    with pytest.raises(ValueError, match=r"layer dense: axis -1 of an operand of shape \(\?, \?\)"):
        v1.layers.dense(v1.placeholder("float32", [None, None]), 3)
    with pytest.raises(ValueError, match="an operand of 2 axes"):
        v1.layers.conv2d(v1.placeholder("float32", [None, 3]), 3, 3)
