"""Import Keras with gravure as its backend."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

from ...errors import GravureError

CHOOSING = (
    "keras.src.backend",
    "keras.src.export.saved_model",
    "keras.src.layers.layer",
    "keras.src.models.model",
    "keras.src.utils.backend_utils",
)
"""The modules of Keras that choose by the backend's name what they import."""
PLACE = "keras.src.backend.gravure"
"""The name under which Keras imports this backend."""
CLASSES = {
    "NumpyExportArchive": "ExportArchive",
    "NumpyLayer": "BackendLayer",
    "NumpyTrainer": "Trainer",
}


class KerasError(GravureError, RuntimeError):
    """Keras cannot run on gravure: it runs on another backend, or is not as it is known.

    The message says what was found. Import `gravure.keras` before `keras`, in a fresh process.
    """

    code = "GV2390"


class Choosing(SourceFileLoader):
    """A module of Keras in which gravure stands for numpy as the backend."""

    def get_data(self, path: str) -> bytes:
        """Return the source of the module, with the branch for numpy being that for gravure."""
        data = super().get_data(path)
        if not path.endswith(".py"):
            return data
        text = data.decode()
        if '"numpy"' not in text:
            raise KerasError(f"{path} does not choose its backend by name, Keras 3.12 to 3.15 does")
        text = text.replace('"numpy"', '"gravure"')
        text = text.replace("keras.src.backend.numpy", PLACE)
        for theirs, ours in CLASSES.items():
            text = text.replace(f"{theirs} as", f"{ours} as")
        return text.encode()

    def path_stats(self, path: str) -> dict[str, float]:
        """Refuse, so that no compiled file is read or written for the changed source."""
        raise OSError(f"the source of {path} is changed while it is read")


class Finder(MetaPathFinder):
    """Finds the changed modules, and this backend under the name that Keras gives it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module comes from; None for all others."""
        if fullname == PLACE or fullname.startswith(f"{PLACE}."):
            name = f"{__package__}.backend{fullname.removeprefix(PLACE)}"
            return ModuleSpec(fullname, Alias(name), is_package=fullname == PLACE)
        if fullname not in CHOOSING:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and isinstance(found.loader, SourceLoader) and found.origin:
            found.loader = Choosing(fullname, found.origin)
        return found


class Alias(Loader):
    """A module of ours under a second name: the same object."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that there is."""
        return import_module(self.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module was carried out under its own name."""


def load() -> ModuleType:
    """Return Keras, on gravure.

    Raises `KerasError` without Keras, and where Keras runs on another backend already.
    """
    found = sys.modules.get("keras.src.backend")
    if found is not None:
        if found.backend() != "gravure":
            raise KerasError(
                f"keras was imported before and runs on {found.backend()}",
                hint="import gravure.keras before keras",
            )
        return import_module("keras")
    asked = os.environ.get("KERAS_BACKEND")
    sys.meta_path.insert(0, Finder())
    os.environ["KERAS_BACKEND"] = "gravure"
    try:
        return import_module("keras")
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise
        raise KerasError(
            "gravure.keras needs the package keras, which is not installed",
            hint="pip install gravure[keras]",
        ) from None
    finally:
        if asked is None:
            del os.environ["KERAS_BACKEND"]
        else:
            os.environ["KERAS_BACKEND"] = asked
