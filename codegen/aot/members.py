"""What the arguments of a model are called in other languages."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import count

from ...runtime.artifact import Description, TensorInfo


def members(model: Description, reserved: Collection[str]) -> tuple[list[str], list[str]]:
    """Return a distinct identifier for each input and each output, near to its name.

    What cannot be in an identifier becomes an underscore; a name that is taken or reserved gets a
    number behind.
    """
    taken = set(reserved)
    return _named(model.inputs, "input", taken), _named(model.outputs, "output", taken)


def _named(tensors: Sequence[TensorInfo], kind: str, taken: set[str]) -> list[str]:
    found = []
    for number, tensor in enumerate(tensors):
        name = re.sub(r"[^A-Za-z0-9]+", "_", tensor.name).strip("_") or f"{kind}{number}"
        if name[0].isdigit():
            name = f"{kind}_{name}"
        others = (f"{name}_{each}" for each in count(2))
        distinct = name if name not in taken else next(each for each in others if each not in taken)
        taken.add(distinct)
        found.append(distinct)
    return found


def largest_shape(model: Description, tensor: TensorInfo) -> tuple[int, ...]:
    """Return the shape of an argument at the largest dimensions."""
    return tuple(tensor.shape_for({dim.name: dim.high for dim in model.dims}))
