"""Run the programs in TensorFlow and write what they give: `python record.py` beside TensorFlow."""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def plain(value, tf):  # noqa: C901  (a case for each kind of value)
    """Return a value as JSON's data."""
    if isinstance(value, tf.SparseTensor | tf.compat.v1.SparseTensorValue):
        parts = (value.indices, value.values, value.dense_shape)
        return {"sparse": [plain(each, tf) for each in parts]}
    if isinstance(value, getattr(tf, "RaggedTensor", ())):
        return {"ragged": plain(value.to_list(), tf), "dtype": value.dtype.name}
    if type(value).__name__ == "RaggedTensorValue":
        return {"ragged": plain(value.to_list(), tf), "dtype": np.dtype(value.dtype).name}
    if isinstance(value, dict):
        return {str(k): plain(v, tf) for k, v in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [plain(each, tf) for each in value]
    if isinstance(value, tf.IndexedSlices):
        return {"slices": [plain(value.indices, tf), plain(value.values, tf)]}
    if isinstance(value, tf.DType):
        return value.name
    if isinstance(value, tf.TensorShape | tf.TypeSpec):
        return str(value)
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind in "fc":
            both = np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array
            flat = [float(f"{x:.5g}") for x in both.astype(np.float64).ravel()]
            value = np.array(flat).reshape(both.shape)
        kind = "string" if array.dtype.kind in "SUO" else array.dtype.name
        listed = {"shape": list(array.shape)} if not array.size else {}
        return {"of": kind, "value": plain(value.tolist(), tf), **listed}
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return value.decode("latin-1") if isinstance(value, bytes) else value


def outcome(make, tf):
    """Return what a program gives, or the kind of its error."""
    try:
        return {"value": plain(make(), tf)}
    except (tf.errors.OpError, ValueError, TypeError, RuntimeError, LookupError) as error:
        return {"error": kind_of(error, tf)}


def kind_of(error, tf):
    """Return the name of an error's class; of bad arguments the library may choose among three."""
    if isinstance(error, tf.errors.InvalidArgumentError | ValueError | TypeError):
        return "bad argument"
    names = [kind.__name__ for kind in type(error).__mro__ if hasattr(tf.errors, kind.__name__)]
    return next((n for n in names if n != "OpError"), type(error).__name__)


def evaluated(text, tf):
    """Return the value of an expression."""
    return eval(text, {"tf": tf, "np": np, **vars(helpers(tf))})


def helpers(tf):
    """Return names that expressions use."""

    class Names:
        S = tf.SparseTensor
        a = tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1.0, -2.0, 3.0], [3, 4])
        b = tf.SparseTensor([[0, 0], [0, 1], [1, 1], [2, 3]], [5.0, 6.0, 7.0, -3.0], [3, 4])
        turned = tf.SparseTensor([[2, 3], [0, 1], [2, 0]], [3.0, 1.0, -2.0], [3, 4])
        cube = tf.SparseTensor([[0, 0, 1], [0, 1, 0], [1, 1, 1]], [1, 2, 3], [2, 2, 2])
        none = tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [2, 3])
        texts = tf.SparseTensor([[0, 0], [1, 1]], ["x", "yz"], [2, 2])
        pairs = tf.lookup.KeyValueTensorInitializer
        RC = tf.ragged.constant
        rt = tf.ragged.constant([[1, 2], [3], []])
        fl = tf.ragged.constant([[1.0, -2.5, 4.0], [], [0.5]])
        deep = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
        inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
        texts2 = tf.ragged.constant([["a", "bc d"], [], ["Ef"]])
        words = tf.lookup.StaticHashTable(pairs(["a", "b"], [1, 2]), -1)
        numbers = tf.lookup.StaticVocabularyTable(
            pairs(["a", "b"], tf.constant([0, 1], tf.int64)), 3
        )

    return Names


def outcomes(tf, programs):
    """Give names and outcomes of all programs."""
    for text in programs.EXPRESSIONS:
        yield text, outcome(lambda text=text: evaluated(text, tf), tf)
    for name, function in programs.PROGRAMS.items():
        yield name, outcome(lambda f=function: f(tf), tf)


if __name__ == "__main__":
    import programs
    import tensorflow

    found = dict(outcomes(tensorflow, programs))
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
    (HERE / "values.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    wrong = [f"  {k}: {v['error']}" for k, v in found.items() if "error" in v]
    sys.stdout.write("\n".join([*wrong, f"{len(found)} programs\n"]))
