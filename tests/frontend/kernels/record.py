"""Run the programs in TensorFlow, and write what they give: `python record.py` beside it."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def shown(value):
    """Return a value as JSON's data: its type, shape and elements."""
    if isinstance(value, dict):
        return {key: shown(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [shown(x) for x in value]
    found = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if found.dtype.kind in "fV":
        numbers = found.astype(np.float64).ravel().tolist()
        return [found.dtype.name, list(found.shape), [float(f"{x:.7g}") for x in numbers]]
    if found.dtype.kind in "OS":
        texts = [x.decode("latin-1") for x in found.ravel().tolist()]
        return ["text", list(found.shape), texts]
    return [found.dtype.name, list(found.shape), found.ravel().tolist()]


def run(program, tf):
    """Return what a program gives, whatever seed those before it have set."""
    tf.random.set_seed(87654321)
    return shown(program(tf))


if __name__ == "__main__":
    programs = importlib.import_module("programs")
    tensorflow = importlib.import_module("tensorflow")
    made = {name: run(each, tensorflow) for name, each in programs.PROGRAMS.items()}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in made.items())
    HERE.joinpath("values.json").write_text(f"{{\n{lines}\n}}\n")
