"""Print the public names of the TensorFlow that is installed, by namespace.

python tools/tensorflow_names.py > frontend/tf/core/tensorflow.txt

It stands alone: it is run where TensorFlow is, and gravure need not be.
"""

from __future__ import annotations

import textwrap
from importlib import import_module
from types import ModuleType

NOT_WALKED = {"compat", "keras", "estimator"}
FIRST_VERSION = ("train", "nn", "losses", "metrics", "summary", "test", "image")
"""The namespaces of `compat.v1` that programs use most."""


def public(space: object) -> list[str]:
    """Return the names of a namespace that are not private."""
    return sorted(name for name in dir(space) if not name.startswith("_"))


def spaces(tensorflow: ModuleType) -> dict[str, list[str]]:
    """Return the names of TensorFlow's namespaces, and of the most used of the first version."""
    first, keras = tensorflow.compat.v1, tensorflow.keras
    made = {"tf": public(tensorflow)}
    for name in public(tensorflow):
        space = None if name in NOT_WALKED else getattr(tensorflow, name)
        if isinstance(space, ModuleType):
            made[f"tf.{name}"] = public(space)
    made |= {"tf.keras": public(keras), "tf.keras.layers": public(keras.layers)}
    made["tf.compat.v1"] = public(first)
    for name in FIRST_VERSION:
        made[f"tf.compat.v1.{name}"] = public(getattr(first, name))
    return made


def page(tensorflow: ModuleType) -> str:
    """Return the list as a text."""
    head = f"# The public names of TensorFlow {tensorflow.__version__}, by namespace"
    made = [f"{head}; written by tools/tensorflow_names.py."]
    for space, names in spaces(tensorflow).items():
        made += textwrap.wrap(
            f"{space}: {' '.join(names)}", 100, subsequent_indent="  ", break_on_hyphens=False
        )
    return "\n".join(made) + "\n"


if __name__ == "__main__":
    print(page(import_module("tensorflow")), end="")
