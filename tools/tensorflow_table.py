"""Print the page of TensorFlow's names, which a test compares with `docs/tensorflow.md`.

python -m gravure.tools.tensorflow_table > docs/tensorflow.md
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import partial

from ..frontend import tf
from ..frontend.keras.hook import provide
from ..frontend.tf.core.listing import listed, why_not

HEAD = """# TensorFlow's names

Written by `python -m gravure.tools.tensorflow_table`. The names are those of TensorFlow 2.21; what
is refused raises `AttributeError`, which says why. What a name does differently is what its code
refuses: the rest is as in TensorFlow.

`python -m gravure.as_tensorflow train.py --epochs 3` runs a program that imports TensorFlow and
Keras as it is (public names of inner modules, `tensorflow.python.framework.ops`, too);
`import gravure.as_tensorflow`, before these are imported, does the same elsewhere.
In other programs `import gravure.tf as tf` is what `import tensorflow as tf` is there.

Gradients are those of TensorFlow but for these:

| of | TensorFlow | here |
| --- | --- | --- |
| contrasts, hues and saturations, `glimpse`, sizes changed by `area`, weights of counts, \
`random.experimental.stateless_shuffle`, `linalg.lstsq(fast=False)` | raises `LookupError` or \
`ValueError` | what they are |
| what does not change smoothly: `is_nan`, `bitcast`, histograms, texts, sparse tensors | raises \
`LookupError` or `ValueError` | None |
| `argsort`; the boxes of `crop_and_resize` by `nearest` | tensors | None |
| mean and variance that `fused_batch_norm` gives | nothing goes back through them | all does |
| mean and variance that `fused_batch_norm` is given | None | what they are |
| second derivatives in functions whose sizes or ranks are unknown | None where nothing depends | \
may be zeros where sizes decide |
"""
REFUSING = ("NotImplementedError", "UnimplementedError")


def found(path: str) -> object | None:
    """Return what is at a path (`tf.math.add`), None if there is nothing."""
    here: object = tf
    for part in path.split(".")[1:]:
        if not hasattr(here, part):
            return None
        here = getattr(here, part)
    return ... if here is None else here  # `tf.newaxis` is None


def is_here(path: str) -> bool:
    """Say whether a name is here."""
    return found(path) is not None


def differences(value: object) -> list[str]:
    """Return what the code of a function or of a class's construction refuses."""
    if isinstance(value, partial):
        value = value.func
    code = inspect.unwrap(value) if callable(value) else value
    code = vars(code).get("__init__") if isinstance(code, type) else code
    if not inspect.isfunction(code) or "gravure" not in code.__module__:
        return []
    if code.__code__.co_name == "<lambda>" or code.__code__.co_filename.startswith("<"):
        return []
    tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    calls = [
        each
        for each in raised
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Name)
        and each.func.id in REFUSING
        and each.args
    ]
    return [text for call in calls if (text := message(call.args[0]))]


def message(node: ast.expr) -> str:
    """Return a text of a program, with dots for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = (v.value if isinstance(v, ast.Constant) else "..." for v in node.values)
        return "".join(map(str, parts))
    return ""


def quoted(names: list[str]) -> str:
    """Return names as code."""
    return " ".join(f"`{name}`" for name in names)


def section(space: str, names: tuple[str, ...]) -> list[str]:
    """Return the lines of a namespace."""
    here = [name for name in names if is_here(f"{space}.{name}")]
    gone: dict[str, list[str]] = {}
    for name in names:
        if name not in here:
            gone.setdefault(why_not(f"{space}.{name}") or "", []).append(name)
    made = [f"## {space}", "", f"{len(here)} of {len(names)} are here.", ""]
    if here:
        made += [*textwrap.wrap(quoted(here), 100, break_on_hyphens=False), ""]
    told = [(name, differences(found(f"{space}.{name}"))) for name in here]
    rows = [f"| `{n}` | {'; '.join(each)} |".replace("\n", " ") for n, each in told if each]
    if rows:
        made += ["| here | but refuses |", "| --- | --- |", *rows, ""]
    if gone:
        made += ["| refused | why |", "| --- | --- |"]
        made += [f"| {quoted(each)} | {why} |" for why, each in gone.items()] + [""]
    return made


def page() -> str:
    """Return the page."""
    provide()
    made = [HEAD]
    for space, names in listed().items():
        made += section(space, names)
    return "\n".join(made)


if __name__ == "__main__":
    print(page(), end="")
