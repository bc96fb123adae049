"""`gravure.tf`: TensorFlow's names (see `frontend/tf`).

Namespaces can be imported too: `import gravure.tf.compat.v1 as tf`. `gravure.tf.keras` is Keras,
where it is installed (see `frontend/keras`).
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType, SimpleNamespace
from typing import TypeAlias

from .collection import kept

with kept():
    from .frontend.keras.hook import provide
    from .frontend.tf.names.keras_names import WITHOUT

    tf = import_module(".frontend.tf", __package__)
sys.modules[__name__] = tf
Spaces: TypeAlias = tuple[object, ...]


def _within(space: object, path: str = "", around: Spaces = ()) -> Iterator[tuple[str, object]]:
    """Give the namespaces in one, and their names; none twice in a name."""
    for name, value in vars(space).items():
        if isinstance(value, SimpleNamespace) and not any(value is each for each in around):
            yield f"{path}{name}", value
            yield from _within(value, f"{path}{name}.", (*around, value))


def _is_found(function: FunctionType) -> bool:
    """Say whether a function stands in its module by its name, as pickle asks."""
    found: object = sys.modules[function.__module__]
    for part in function.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found is function


def _told_where() -> None:
    """Let functions that are made by others say where they are, so that models can be pickled."""
    for path, space in [("", tf), *((f"{name}.", space) for name, space in _within(tf))]:
        for name, value in vars(space).items():
            ours = isinstance(value, FunctionType) and value.__module__.startswith(tf.__name__)
            if ours and not _is_found(value):
                value.__module__, value.__qualname__ = tf.__name__, f"{path}{name}"


_told_where()
_SPACES = {**dict(_within(tf)), "errors": tf.errors, "compat.v1.errors": tf.errors}
_SPACES |= {f"compat.v2.{name}": _SPACES[name] for name in vars(tf) if name in _SPACES}
_SPACES |= {"compat.v2": tf}
_SPACES |= {} if provide() else WITHOUT
sys.modules.update({f"{__name__}.{name}": space for name, space in _SPACES.items()})
