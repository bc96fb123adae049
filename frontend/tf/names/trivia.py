"""Facts and settings by name: versions, loggers, fingerprints, the time, words of files."""

from __future__ import annotations

import errno
import logging
import math
import os
import time
from collections.abc import Callable
from typing import ClassVar, NoReturn

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...formats.fingerprints import farms
from ...formats.hashing import hashes
from ...graph.graph import GraphTensor
from ...values.run_errors import NotFoundError, UnimplementedError
from ...values.texts import Texts
from ..core.bridge import TfTensor
from ..core.host_ops import host, unknown
from ..core.names import scope_around
from ..core.space import Space
from ..core.values import InGraph, convert, graph_of
from ..draws.index_shuffle import random_index_shuffle
from ..graph.flow import no_gradient
from ..graph.graph_lists import get_collection
from ..graph.queues import CriticalSection
from ..io.sounds import audio
from ..io.tensor_messages import make_ndarray, make_tensor_proto
from ..program.logging import LOGGER

VERSION = "2.21.0"
"""The version of TensorFlow whose names and values these are."""


def load_op_library(library_filename: str) -> NoReturn:
    """Raise as a file would that holds no operations: libraries try, and go on without it."""
    if not isinstance(library_filename, str | bytes | os.PathLike):
        raise TypeError(f"a library is named by a path, not by {library_filename!r}")
    path = os.fsdecode(library_filename)
    if not os.path.isfile(path):
        raise NotFoundError(f"{path}: cannot open shared object file: No such file or directory")
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            raise NotFoundError(f"{path}: invalid ELF header")
    raise UnimplementedError(f"{path}: operations are added by plugins, see docs/plugins.md")


def load_library(library_location: str) -> NoReturn:
    """Raise as a file or folder would that holds no kernels."""
    if not os.path.exists(library_location):
        raise FileNotFoundError(
            errno.ENOENT,
            "The file or folder to load kernel libraries from does not exist.",
            library_location,
        )
    load_op_library(library_location)


def get_logger() -> logging.Logger:
    """Return the logger that messages go to."""
    return LOGGER


def timestamp(name: str | None = None) -> TfTensor:
    """Return the seconds since 1970, when the operation runs."""

    def compute() -> tuple[Array]:
        return (np.array(time.time()),)

    return host("Timestamp", compute, [], [TensorSpec(rows.f64, ())], effect=True, name=name)[0]


def is_symbolic_tensor(tensor: object) -> bool:
    """Say whether something is a tensor of a graph."""
    return isinstance(tensor, GraphTensor)


def get_current_name_scope() -> str:
    """Return the scope that names of operations begin with, without a slash at its end."""
    return scope_around().removesuffix("/")


def fingerprint(data: object, method: str = "farmhash64", name: str | None = None) -> TfTensor:
    """Return FarmHash's fingerprints of the rows of a tensor, of each as eight bytes."""
    if method != "farmhash64":
        raise ValueError(f"Unsupported fingerprint method: {method}")
    with InGraph(graph_of([data])):
        x = convert(data)

        def compute(array: Array) -> tuple[Array]:
            count = len(array)
            table = array.reshape(count, math.prod(array.shape[1:]))
            if array.dtype.kind == "O":
                texts = Texts.of(array.ravel().tolist())
                table = hashes(farms, texts.every, texts.sizes, 0).reshape(table.shape)
            if array.dtype.kind != "O" or array.ndim > 1:
                sizes = np.full(count, table.itemsize * table.shape[1])
                every = np.ascontiguousarray(table).ravel().view(np.uint8)
                table = hashes(farms, every, sizes, 0)
            return (table.view(np.uint8).reshape(count, 8),)

        spec = unknown(rows.u8, x.shape.as_list()[0] if x.shape.rank else None, 8)
        return host("Fingerprint", compute, [x], [spec], name=name)[0]


class AggregationMethod:
    """How gradients may be added up: all ways give one sum."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


OPTIMISATIONS = (
    *("layout_optimizer", "constant_folding", "shape_optimization", "remapping"),
    *("arithmetic_optimization", "dependency_optimization", "loop_optimization"),
    *("function_optimization", "debug_stripper", "disable_model_pruning"),
    *("scoped_allocator_optimization", "pin_to_host_optimization", "implementation_selector"),
    *("auto_mixed_precision", "disable_meta_optimizer", "min_graph_nodes"),
)
"""What TensorFlow's optimiser of graphs can be told."""


class Jit:
    """Whether functions are compiled as a whole, and other options of TensorFlow's optimiser."""

    state = ""
    options: ClassVar[dict[str, object]] = {
        "disable_model_pruning": False,
        "disable_meta_optimizer": False,
    }

    @classmethod
    def set_jit(cls, enabled: object) -> None:
        """Take note of a choice: functions are always compiled here."""
        cls.state = "autoclustering" if enabled is True else str(enabled or "")

    @classmethod
    def get_jit(cls) -> str:
        """Return the choice."""
        return cls.state

    @classmethod
    def get_experimental_options(cls) -> dict[str, object]:
        """Return the options that were set."""
        return dict(cls.options)

    @classmethod
    def set_experimental_options(cls, options: dict[str, object]) -> None:
        """Take note of what TensorFlow's optimiser is to do to graphs; results do not change.

        What would change them is refused.
        """
        for name, value in options.items():
            if name not in OPTIMISATIONS:
                raise ValueError(f"optimiser option {name!r}, expected one of {OPTIMISATIONS}")
            if value and name in {"auto_mixed_precision", "debug_stripper"}:
                raise UnimplementedError(
                    f"optimiser option {name!r}: graphs compute what they say, in the types that "
                    "they say"
                )
        cls.options.update(options)


def model_variables(scope: str | None = None) -> list[object]:
    """Return the variables that were put into the collection of a model's."""
    return list(get_collection("model_variables", scope))


GRAPHS = {
    "GRAPH_DEF_VERSION": 2474,
    "GRAPH_DEF_VERSION_MIN_CONSUMER": 0,
    "GRAPH_DEF_VERSION_MIN_PRODUCER": 0,
}
"""The versions of messages of graphs that are read: those of TensorFlow 2.21."""
version = Space("version", VERSION=VERSION, GIT_VERSION="unknown", COMPILER_VERSION="", **GRAPHS)
optimizer = Space(
    "config.optimizer",
    set_jit=Jit.set_jit,
    get_jit=Jit.get_jit,
    get_experimental_options=Jit.get_experimental_options,
    set_experimental_options=Jit.set_experimental_options,
)


def get_build_info() -> dict[str, object]:
    """Return how this is built: by no compiler of C++, and for no GPU before one is there."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


def _no_files(what: str) -> Callable[[], NoReturn]:
    """Return what refuses to say where files of TensorFlow's build are."""

    def refuse() -> NoReturn:
        """Raise: there are none."""
        raise UnimplementedError(
            f"there are no {what} of TensorFlow's: operations are added by plugins, see "
            "docs/plugins.md"
        )

    return refuse


BUILD = {"CXX11_ABI_FLAG": 1, "CXX_VERSION": 201703, "MONOLITHIC_BUILD": 0}
"""What TensorFlow 2.21 says of its own build: libraries compare with it."""
sysconfig = Space(
    "sysconfig",
    **BUILD,
    get_build_info=get_build_info,
    get_compile_flags=_no_files("headers"),
    get_include=_no_files("headers"),
    get_lib=_no_files("libraries"),
    get_link_flags=_no_files("libraries"),
)
SAVED = {
    "ASSETS_DIRECTORY": "assets",
    "ASSETS_KEY": "saved_model_assets",
    "CLASSIFY_INPUTS": "inputs",
    "CLASSIFY_METHOD_NAME": "tensorflow/serving/classify",
    "CLASSIFY_OUTPUT_CLASSES": "classes",
    "CLASSIFY_OUTPUT_SCORES": "scores",
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY": "serving_default",
    "GPU": "gpu",
    "PREDICT_INPUTS": "inputs",
    "PREDICT_METHOD_NAME": "tensorflow/serving/predict",
    "PREDICT_OUTPUTS": "outputs",
    "REGRESS_INPUTS": "inputs",
    "REGRESS_METHOD_NAME": "tensorflow/serving/regress",
    "REGRESS_OUTPUTS": "outputs",
    "SERVING": "serve",
    "TPU": "tpu",
    "TRAINING": "train",
    "VARIABLES_DIRECTORY": "variables",
    "VARIABLES_FILENAME": "variables",
}
"""The words that saved models use."""
TOP: dict[str, object] = {
    "AggregationMethod": AggregationMethod,
    "CriticalSection": CriticalSection,
    "audio": audio,
    "fingerprint": fingerprint,
    "get_current_name_scope": get_current_name_scope,
    "get_logger": get_logger,
    "load_library": load_library,
    "load_op_library": load_op_library,
    "is_symbolic_tensor": is_symbolic_tensor,
    "make_ndarray": make_ndarray,
    "make_tensor_proto": make_tensor_proto,
    "random_index_shuffle": random_index_shuffle,
    "sysconfig": sysconfig,
    "timestamp": timestamp,
    "version": version,
}
FIRST: dict[str, object] = {
    **GRAPHS,
    **BUILD,
    "COMPILER_VERSION": "",
    "GIT_VERSION": "unknown",
    "VERSION": VERSION,
    "NoGradient": no_gradient,
    "NotDifferentiable": no_gradient,
    "model_variables": model_variables,
}
"""What the first version has beside them."""
