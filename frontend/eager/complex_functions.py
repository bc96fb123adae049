"""What functions of one complex number are computed by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ir.op import REGISTRY, Array
from .complex_parts import of_parts
from .kernels import evaluate


def _one_over(z: Array) -> Array:
    (made,) = evaluate(REGISTRY["gv.div"], [np.ones((), z.dtype), z], {})
    return made


COMPLEX: dict[str, Callable[[Array], Array]] = {
    **{n: of_parts(n) for n in ("exp", "log", "sqrt", "sin", "cos", "tanh")},
    **{n: getattr(np, n) for n in ("tan", "sinh", "cosh", "log1p", "expm1")},
    **{f"a{n}": getattr(np, f"arc{n}") for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "reciprocal": _one_over,
    "sigmoid": lambda z: _one_over(1 + of_parts("exp")(-z)),
    "sign": lambda z: np.divide(z, np.abs(z), out=np.zeros_like(z), where=z != 0),
    "rsqrt": lambda z: _one_over(of_parts("sqrt")(z)),
}
"""Functions that numpy computes of complex numbers."""
