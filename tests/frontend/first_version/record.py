"""Run shapes and programs in TensorFlow, and write what they give.

`TF_USE_LEGACY_KERAS=1 python record.py` beside TensorFlow and tf_keras, which has its layers.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
SHAPES = (HERE / "shapes.txt").read_text().splitlines()


def plain(value):
    """Return a value as JSON's data."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, np.ndarray | np.generic):
        if np.asarray(value).dtype.kind in "fc":
            value = (
                [round(float(x), 4) for x in np.ravel(value)]
                if np.ndim(value)
                else round(float(value), 4)
            )
            return plain(value)
        return plain(value.tolist())
    if isinstance(value, float):
        return round(value, 4)
    return value.decode("latin-1") if isinstance(value, bytes) else value


def described(value):
    """Return element type and shape of tensors."""
    if isinstance(value, list | tuple):
        return [described(each) for each in value]
    return [value.dtype.name, None if value.shape.rank is None else value.shape.as_list()]


def shape_of(text, tf):
    """Return what is known of the tensors that an expression on placeholders gives."""
    names = {
        "tf": tf,
        "v1": tf.compat.v1,
        "P": lambda s, d=tf.float32: tf.compat.v1.placeholder(d, s),
        "U": lambda d=tf.float32: tf.compat.v1.placeholder(d),
    }
    with tf.Graph().as_default():
        return described(eval(text, names))


def outcome(function, tf):
    """Return what a program gives in a graph of its own, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            if getattr(function, "eager", False):
                return json.loads(json.dumps(plain(function(tf))))
            with tf.Graph().as_default():
                return json.loads(json.dumps(plain(function(tf))))
        finally:
            os.chdir(before)


def main():
    """Write the values."""
    import tensorflow as tf  # noqa: PLC0415
    from programs import PROGRAMS  # noqa: PLC0415

    made = {text: shape_of(text, tf) for text in SHAPES}
    made |= {name: outcome(function, tf) for name, function in PROGRAMS.items()}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in made.items())
    (HERE / "values.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
