"""Evaluate an operation on numpy arrays through its decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .build import EagerEmit
from .op import Call, Op
from .tensor import Array, spec_of_array


def evaluate_decomposition(
    op: type[Op], operands: Sequence[Array], attributes: dict[str, Any]
) -> Sequence[Array]:
    """Return the results of `op.decompose` on arrays."""
    arrays = [np.asarray(x) for x in operands]
    specs = [spec_of_array(x) for x in arrays]
    result_specs = tuple(op.infer(*specs, **attributes))
    made = op.decompose(Call(op, arrays, (), attributes, specs, EagerEmit(), result_specs))
    return made if isinstance(made, tuple) else (made,)
