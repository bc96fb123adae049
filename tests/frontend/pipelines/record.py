"""Run the programs in TensorFlow and write what they give: `python record.py` beside TensorFlow."""

import json
import linecache
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def plain(value, tf):
    """Return a value as JSON's data."""
    if isinstance(value, tf.data.Dataset):
        return [plain(each, tf) for each in value]
    if isinstance(value, dict):
        return {str(k): plain(v, tf) for k, v in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [plain(each, tf) for each in value]
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, np.ndarray | np.generic):
        if np.asarray(value).dtype.kind in "fc":
            value = np.round(np.asarray(value, np.float64), 5)
        return plain(value.tolist(), tf)
    return value.decode("latin-1") if isinstance(value, bytes) else value


def outcome(make, tf):
    """Return what a program gives, or the name of its error."""
    try:
        return {"value": plain(make(), tf)}
    except (tf.errors.OpError, ValueError, TypeError, RuntimeError) as error:
        names = [kind.__name__ for kind in type(error).__mro__ if hasattr(tf.errors, kind.__name__)]
        return {"error": next((n for n in names if n != "OpError"), "ValueError or TypeError")}


def evaluated(text, names):
    """Return the value of an expression, whose source can be read back."""
    file = f"<{text}>"
    linecache.cache[file] = (len(text), None, [f"{text}\n"], file)
    return eval(compile(text, file, "eval"), names)


def outcomes(tf, programs):
    """Give names and outcomes of all programs."""
    names = {"tf": tf, "D": tf.data.Dataset, "np": np}
    for text in programs.EXPRESSIONS:
        yield text, outcome(lambda text=text: evaluated(text, dict(names)), tf)
    for name, function in programs.PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            yield name, outcome(lambda f=function, d=folder: f(tf, d), tf)


if __name__ == "__main__":
    import programs
    import tensorflow

    found = {}
    for name, made in outcomes(tensorflow, programs):
        found[name] = made
        if name == "seeds_of_the_process":
            from tensorflow.python.eager import context

            context.context()._seed = None
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
    (HERE / "values.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    sys.stdout.write(f"{len(found)} programs\n")
