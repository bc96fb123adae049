"""Functions of functions by TensorFlow's names."""

from __future__ import annotations

from typing import Any

from .. import nest
from .array_ops import reshape, stack
from .flow import gradients


def hessians(ys: Any, xs: Any, **_: Any) -> list[Any]:
    """Return the second derivatives of a number by each element."""
    made = []
    for x in nest.flatten(xs):
        [first] = gradients(ys, x)
        flat = reshape(first, [-1])
        rows = [gradients(flat[i], x)[0] for i in range(int(flat.shape[0]))]
        dims = x.shape.as_list()
        made.append(reshape(stack(rows), [*dims, *dims]))
    return made
