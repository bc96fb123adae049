"""Run the corpus under TensorFlow and write what it gives: `python record.py` with it installed.

Each file of `programs/` holds programs, functions of the module `tensorflow`. Those of the files
`first_*.py` are of the first version: they are given `tf.compat.v1`, and a graph to build.
"""

import importlib.util
import json
import sys
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.json"


def programs():
    """Give name and function of each program."""
    for path in sorted((HERE / "programs").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"tensorflow_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        for name, value in vars(module).items():
            arguments = getattr(getattr(value, "__code__", None), "co_argcount", 0)
            if getattr(value, "__module__", "") == spec.name and arguments == 1:
                yield f"{path.stem}.{name}", value


def plain(value):
    """Return a result as what JSON holds, with about as many digits as float32 has."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if value is None or isinstance(value, str):
        return value
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    if array.dtype.kind in "OSU":
        return decoded(array.tolist())
    found = array.astype(np.float64 if array.dtype.kind == "f" else array.dtype)
    return rounded(found.tolist())


def decoded(value):
    """Return bytes as text, also in lists."""
    if isinstance(value, list):
        return [decoded(v) for v in value]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def rounded(value):
    """Return numbers with eight digits, also in lists."""
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


def is_first(name):
    """Say whether a program is of the first version."""
    return name.startswith("first_")


def outcome(name, program, tf):
    """Return what a program gives."""
    np.random.seed(0)
    if not is_first(name):
        return plain(program(tf))
    with tf.Graph().as_default():
        return plain(program(tf.compat.v1))


def main():
    """Write the file."""
    import tensorflow as tf  # noqa: PLC0415  (it is there where this is run alone)

    warnings.simplefilter("ignore")
    wanted = sys.argv[1:]
    found = json.loads(EXPECTED.read_text()) if wanted else {}
    failed = []
    for name, program in sorted(programs(), key=lambda pair: is_first(pair[0])):
        if is_first(name):
            tf.compat.v1.disable_v2_behavior()
        if not wanted or any(name.startswith(each) for each in wanted):
            try:
                found[name] = outcome(name, program, tf)
            except Exception as error:
                failed.append(f"{name}: {error!r}")
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items())]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(len(found), "programs")
    if failed:
        sys.exit("not recorded:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
