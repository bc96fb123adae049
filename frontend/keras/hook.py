"""Import Keras with gravure as its backend."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import LazyLoader, find_spec
from types import ModuleType

import numpy as np

from ...collection import paused
from ...errors import GravureError
from ..tf.names.keras_names import INSTALLED

CHOOSING = (
    "keras.src.backend",
    "keras.src.export.saved_model",
    "keras.src.layers.layer",
    "keras.src.models.model",
)
"""The modules of Keras that choose by the backend's name what they import."""
PLACE = "keras.src.backend.gravure"
"""The name under which Keras imports this backend."""
CLASSES = {
    "NumpyExportArchive": "ExportArchive",
    "NumpyLayer": "BackendLayer",
    "NumpyTrainer": "Trainer",
}
CHOICE = (
    ('"numpy"', '"gravure"'),
    ("keras.src.backend.numpy.export", f"{PLACE}.layer"),
    ("keras.src.backend.numpy", PLACE),
    *((f"{theirs} as", f"{ours} as") for theirs, ours in CLASSES.items()),
)
IN_PIPELINES = tuple(
    f"keras.src.{name}"
    for name in (
        *(f"layers.preprocessing.{n}" for n in ("hashing", "hashed_crossing", "index_lookup")),
        "utils.image_dataset_utils",
    )
)
"""Modules that compute with the tensors of pipelines on every backend."""
CHANGES: dict[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(CHOOSING, CHOICE),
    **dict.fromkeys(
        IN_PIPELINES,
        (
            ("keras.src.backend import tensorflow", "keras.src.backend import gravure"),
            ('backend.backend() != "tensorflow"', 'backend.backend() != "gravure"'),
        ),
    ),
    "keras.src.backend.common.dtypes": (('backend() == "tensorflow"', 'backend() == "gravure"'),),
    "keras.src.callbacks.tensorboard": (
        ("import tensorflow.summary as summary", "from gravure.tf import summary"),
        ("from tensorflow.compat.v1 import", "from gravure.tf.compat.v1 import"),
    ),
    **dict.fromkeys(
        ("keras.src.legacy.saving.json_utils", "keras.src.utils.tf_utils"),
        (("tf.__internal__.CompositeTensor", "(tf.RaggedTensor, tf.SparseTensor)"),),
    ),
    "keras.src.export.tfsm_layer": (('"tensorflow"', '"gravure"'),),
    "keras.src.optimizers.optimizer": (
        ('"tensorflow"', '"gravure"'),
        ("keras.src.backend.tensorflow", PLACE),
        ("TFOptimizer as", "Optimizer as"),
    ),
    "keras.src.trainers.data_adapters": (
        ('"DatasetV2"', '"Dataset"'),
        ('"tensorflow.python."', '"gravure.frontend.tf."'),
    ),
    "keras.src.layers.normalization.batch_normalization": (
        ('backend.backend() != "tensorflow"', 'backend.backend() != "gravure"'),
    ),
    **{
        f"keras.src.layers.preprocessing.{name}": (('"tensorflow"', '"gravure"'),)
        for name in ("data_layer", "feature_space", "integer_lookup", "string_lookup")
    },
    "keras.src.layers.preprocessing.text_vectorization": (
        ('backend.backend() != "tensorflow"', 'backend.backend() != "gravure"'),
    ),
    "keras.src.trainers.data_adapters.array_slicing": (
        ('backend.backend() == "tensorflow"', 'backend.backend() == "gravure"'),
        ("keras.src.backend.tensorflow", PLACE),
    ),
    "keras.src.trainers.data_adapters.data_adapter_utils": (
        ('"tensorflow.python."', '"gravure.frontend."'),
    ),
    "keras.src.trainers.data_adapters.tf_dataset_adapter": (
        ("keras.src.backend.tensorflow", PLACE),
        ("tf.__internal__.smart_cond.smart_cond", "tf.cond"),
        ("tf.shape(y)[-1] > 1", "(y.shape[-1] or tf.shape(y)[-1]) > 1"),
    ),
    "keras.src.utils.dataset_utils": (('"tensorflow.python.data"', '"gravure.frontend.tf.data"'),),
    "keras.src.utils.backend_utils": (
        *CHOICE,
        ('"tensorflow" in sys.modules', '"gravure.tf" in sys.modules'),
        (
            "self._backend = backend\n",
            'self._backend = {"tensorflow": "gravure"}.get(backend, backend)\n',
        ),
        ("keras.src.backend.tensorflow", PLACE),
    ),
    "keras.src.utils.numerical_utils": (
        ('backend_module.__name__.endswith("tensorflow")', 'hasattr(inputs, "flat_values")'),
    ),
    "keras.src.utils.module_utils": (
        ('LazyModule("tensorflow")', 'LazyModule("gravure.tf")'),
        ('"tensorflow.io.gfile"', '"gravure.tf.io.gfile"'),
    ),
}
"""What is written otherwise in which module of Keras: where it asks for TensorFlow's tensors and
data sets, which are ours, and where it chooses by the backend's name."""


LATER = ("keras.wrappers", "keras._tf_keras.keras.wrappers")
"""Modules that are carried out when the first name of theirs is used: these import scikit-learn
with the whole of SciPy's statistics, which takes longer than all the rest of Keras."""


class KerasError(GravureError, RuntimeError):
    """Keras cannot run on gravure: it runs on another backend, or is not as it is known.

    The message says what was found. Import `gravure.keras` before `keras`, in a fresh process.
    """

    code = "GV2390"


class Choosing(SourceFileLoader):
    """A module of Keras in which gravure stands for another backend, or for TensorFlow."""

    def get_data(self, path: str) -> bytes:
        """Return the source of the module with what is changed in it."""
        data = super().get_data(path)
        if not path.endswith(".py"):
            return data
        text = data.decode()
        first, _ = CHANGES[self.name][0]
        if first not in text:
            raise KerasError(f"{path} does not choose by {first}, Keras 3.12 to 3.15 does")
        for theirs, ours in CHANGES[self.name]:
            text = text.replace(theirs, ours)
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
        if fullname not in CHANGES and fullname not in LATER:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if fullname in LATER and found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        elif found is not None and isinstance(found.loader, SourceLoader) and found.origin:
            found.loader = Choosing(fullname, found.origin)
        return found


class Alias(Loader):
    """A module under a second name: the same object."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that there is."""
        found = import_module(self.name)
        self.spec = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Leave what the module says of itself: it was carried out under its own name."""
        module.__spec__ = self.spec


SPACES = {
    "keras": "keras._tf_keras.keras",
    **{
        name: f"keras._tf_keras.keras.{name}"
        for name in ("initializers", "losses", "metrics", "optimizers")
    },
}
"""The namespaces of TensorFlow that are Keras's modules."""


TENSORFLOW = "gravure.tf"


class Spaces(MetaPathFinder):
    """Finds Keras's modules under the names that TensorFlow has for them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module comes from; None for all others."""
        first, _, rest = fullname.removeprefix(f"{TENSORFLOW}.").partition(".")
        if not fullname.startswith(f"{TENSORFLOW}.") or first not in SPACES:
            return None
        load()
        name = f"{SPACES[first]}.{rest}".rstrip(".")
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            return None
        return ModuleSpec(fullname, Alias(name), is_package=True)


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
    drawn = np.random.get_state(), random.getstate()
    try:
        with paused():
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
        # What Keras imports may draw, and a program that has given its seed runs already.
        np.random.set_state(drawn[0])
        random.setstate(drawn[1])


def provide() -> bool:
    """Make Keras's modules those of `gravure.tf`, when they are asked for; False without Keras."""
    if find_spec("keras") is None:
        return False
    if not INSTALLED:
        sys.meta_path.insert(0, Spaces())
        INSTALLED.update({n: partial(import_module, f"{TENSORFLOW}.{n}") for n in SPACES})
    return True
