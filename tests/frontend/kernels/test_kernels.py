"""Kernels that TensorFlow's own tests ask for, with the values of TensorFlow 2.21 (record.py)."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

HERE = Path(__file__).parent


def module(name):
    """Return a file of the folder as a module."""
    spec = importlib.util.spec_from_file_location(f"kernels_{name}", HERE / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


record, programs = module("record"), module("programs")
RECORDED = json.loads((HERE / "values.json").read_text())


def check(found, wanted):
    """Fail unless two structures have equal types, shapes and elements within a rounding."""
    if not isinstance(wanted[0], str):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            check(one, other)
        return
    assert found[:2] == wanted[:2]
    if "float" in wanted[0]:
        near = 2e-3 if wanted[0] == "float16" else 2e-5
        np.testing.assert_allclose(found[2], wanted[2], rtol=near, atol=near)
    else:
        assert found[2] == wanted[2]


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_values_are_tensorflows(name):
    check(record.run(programs.PROGRAMS[name], tf), RECORDED[name])
