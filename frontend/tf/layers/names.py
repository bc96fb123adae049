"""`tf.layers`: the classes, and each as a function that is called once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from . import convolution as _conv
from . import dense as _dense
from . import pooling as _pool
from .base import InputSpec, Layer

CLASSES: dict[str, type[Layer]] = {
    **{
        kind.__name__: kind
        for kind in (_dense.Dense, _dense.Dropout, _dense.Flatten, _dense.BatchNormalization)
    },
    **{
        kind.__name__: kind
        for kind in (
            *(_conv.Conv1D, _conv.Conv2D, _conv.Conv3D, _conv.Conv2DTranspose),
            *(_conv.Conv3DTranspose, _conv.SeparableConv2D),
        )
    },
    **{
        kind.__name__: kind
        for kind in (
            *(_pool.MaxPooling1D, _pool.MaxPooling2D, _pool.MaxPooling3D),
            *(_pool.AveragePooling1D, _pool.AveragePooling2D, _pool.AveragePooling3D),
        )
    },
}


def _function(kind: type[Layer]) -> Callable[..., object]:
    """Return the function that makes a layer and calls it."""
    signature = inspect.signature(kind.__init__)

    @functools.wraps(kind.__init__)
    def function(inputs: object, *args: Any, **options: Any) -> object:
        more = {"training": options.pop("training")} if "training" in options else {}
        options["_reuse"] = options.pop("reuse", None)
        return kind(*args, **options)(inputs, **more)

    function.__name__ = CLASS_NAMES[kind]
    function.__doc__ = kind.__doc__
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


CLASS_NAMES = {kind: kind.named or kind.__name__.lower() for kind in CLASSES.values()}
FUNCTIONS = {CLASS_NAMES[kind]: _function(kind) for kind in CLASSES.values()}
layers = SimpleNamespace(Layer=Layer, InputSpec=InputSpec, **CLASSES, **FUNCTIONS)
