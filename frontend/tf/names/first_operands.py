"""Functions whose first operand is made a tensor before the second one is looked at.

`3 + x` is asked of `x`, which makes a tensor of its own type of the number; `add(3, x)` makes one
of int32 first, and refuses `x` of floats. Most functions of two operands are like the operator.
"""

from __future__ import annotations

import numpy as np

from ....ir.op import Array
from ...eager.tensor import Tensor
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.values import InvalidTypesError, array_of, convert
from ..ops.math_ops import FUNCTIONS
from ..ops.math_ops import truediv as divided

WITHOUT_TYPE = (bool, int, float, complex, list, tuple, np.generic, np.ndarray)


def _name_of(array: Array) -> str:
    return "string" if array.dtype.kind == "O" else array.dtype.name


def _unlike(x: object, y: object) -> str | None:
    """Return what is wrong if a Python value is of another type than the tensor behind it."""
    is_one = isinstance(y, Tensor) or hasattr(y, "__gv_tensor__")
    if not is_one or not isinstance(x, WITHOUT_TYPE):
        return None
    there = as_dtype(y.dtype).name  # type: ignore[attr-defined]
    here = convert(x).dtype.name if isinstance(x, list | tuple) else _name_of(array_of(x))
    if here == there:
        return None
    return f"`x` and `y` must have the same dtype, got {here} != {there}"


def add(x: object, y: object, name: str | None = None) -> TfTensor:
    """Add two tensors, by broadcasting; a Python value in front has a type of its own."""
    wrong = _unlike(x, y)
    if wrong is not None:
        raise InvalidTypesError(f"cannot compute AddV2: {wrong}")
    return FUNCTIONS["add"](x, y, name=name)


def truediv(x: object, y: object, name: str | None = None) -> TfTensor:
    """Divide, integers as floats; a Python value in front has a type of its own."""
    wrong = _unlike(x, y)
    if wrong is not None:
        raise TypeError(wrong)
    return divided(x, y, name=name)
