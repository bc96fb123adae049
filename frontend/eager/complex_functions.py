"""The functions of one complex number that numpy computes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ir.op import Array

COMPLEX: dict[str, Callable[[Array], Array]] = {
    f"a{n}": getattr(np, f"arc{n}") for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
}
"""By the names of the operations on real numbers: their inverses have no formula of parts yet."""
