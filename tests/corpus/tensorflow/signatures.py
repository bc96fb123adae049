"""Write what TensorFlow's public functions and methods are called with: needs TensorFlow.

    PYTHON_WITH_TENSORFLOW tests/corpus/tensorflow/signatures.py

`signatures.txt` has a line for each: its shortest name, then its parameters in their order. Those
behind `*` are given by name only; `...` stands for any number of others. Methods stand under their
class, classes themselves are called. What wraps others without saying what it takes is left out.
"""

import importlib
import inspect
import types
from pathlib import Path

HERE = Path(__file__).parent
WRITTEN = HERE / "signatures.txt"
SPACES = ("tf", "tf.compat.v1")
APART = ("python", "keras", "core", "compat", "raw_ops", "tpu", "lite", "security", "tools",
         "dtensor", "mlir", "tensorrt", "fuzzing", "tf_decorator")  # fmt: skip
"""Namespaces that are left out: not public, Keras's own, or refused as a whole."""
CALLED = ("__call__", "__getitem__")


def parameters(value):
    """Return the parameters of what is called, None if they are not known."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    made = []
    for each in found:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            made.append("...")
        elif each.kind is each.KEYWORD_ONLY:
            made += ["*", each.name] if "*" not in made else [each.name]
        else:
            made.append(each.name)
    return made


def members(space, path, seen):
    """Give the public names below a namespace, and what they are."""
    for name in sorted(dir(space)):
        value = None if name in APART else getattr(space, name, None)
        if name.startswith("_") or value is None:
            continue
        if not isinstance(value, types.ModuleType):
            yield f"{path}.{name}", value
        elif "tensorflow" in vars(value).get("__name__", "") and id(value) not in seen:
            seen.add(id(value))
            yield from members(value, f"{path}.{name}", seen)


def signatures(tf):
    """Give each public name of what is called, and its parameters."""
    known = set()
    for path, value in [*members(tf, "tf", set()), *members(tf.compat.v1, "tf.compat.v1", set())]:
        if not callable(value) or id(value) in known:
            continue
        known.add(id(value))
        yield path, parameters(value)
        for name in sorted(vars(value)) if inspect.isclass(value) else ():
            method = getattr(value, name)
            if callable(method) and (name in CALLED or not name.startswith("_")):
                yield f"{path}.{name}", parameters(method)


def main():
    """Write the file."""
    tf = importlib.import_module("tensorflow")
    rows = [f"{path}: {' '.join(found)}".rstrip() for path, found in signatures(tf) if found]
    WRITTEN.write_text("\n".join([*sorted(rows), ""]))


if __name__ == "__main__":
    main()
