"""Run the programs under TensorFlow and write what they give: `python record.py` with it installed.

An error is kept as the classes that it is derived from, as far as Python has them; what the
program gives when its functions run eagerly is kept, too.
"""

import builtins
import importlib.util
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.json"


def programs():
    """Give name and function of each program."""
    for path in sorted((HERE / "programs").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"autograph_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", "") == spec.name:
                yield f"{path.stem}.{name}", value


def plain(value):
    """Return a result as what JSON holds: tensors by element type and elements."""
    if isinstance(value, dict):
        return {"dict": {str(k): plain(v) for k, v in sorted(value.items())}}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, Iterator):
        return type(value).__name__
    if hasattr(value, "numpy"):
        array = value.numpy()
        name = value.dtype.name
        made = array.tolist() if hasattr(array, "tolist") else array
        return {name: texts(made)}
    return value


def texts(value):
    """Return bytes as text, also in lists."""
    if isinstance(value, list):
        return [texts(v) for v in value]
    return value.decode() if isinstance(value, bytes) else value


def outcome(program, tf):
    """Return what a program gives, or the classes of its error."""
    try:
        return {"value": plain(program(tf))}
    except Exception as error:
        classes = [c.__name__ for c in type(error).__mro__ if hasattr(builtins, c.__name__)]
        return {"error": classes[:-2] if classes[0] != "Exception" else ["Exception"]}


def main():
    """Write the file."""
    import tensorflow as tf  # noqa: PLC0415  (it is there where this is run alone)

    warnings.simplefilter("ignore")
    found = {name: outcome(program, tf) for name, program in programs()}
    tf.config.run_functions_eagerly(True)
    for name, program in programs():
        found[name]["eagerly"] = outcome(program, tf).get("value")
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(len(found), "programs;", sum("error" in v for v in found.values()), "errors")


if __name__ == "__main__":
    main()
