"""A tape: what an `emit` carries out, to go back through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..families import spec_of_value
from ..op import REGISTRY, Call, Op
from .walk import walk_back


class Composite(Op):
    """An operation whose gradient is that of its decomposition."""

    COMPILED_ALONE: ClassVar = True
    STEPS_BACK: ClassVar[bool] = False
    """Whether a gradient of its own is many small steps, which eager code is to remember."""

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Go backward through the decomposition."""
        return gradient_through_decomposition(call, *grads)


def gradient_through_decomposition(call: Call, *grads: Any) -> Sequence[Any]:
    """Return the gradients of the operands by carrying out the decomposition once more."""
    tape = Tape(call.emit)
    operands = [_distinct(x) for x in call.operands]
    made = call.op.decompose(replace(call, operands=operands, emit=tape.emit))
    results = made if isinstance(made, tuple) else (made,)
    sources = [
        x if spec.dtype.kind in "fc" else None for x, spec in zip(operands, call.specs, strict=True)
    ]
    return tape.backward(results, grads, sources)


class Tape:
    """Remembers what an `emit` carries out: its nodes are calls."""

    SUMS_AT_ONCE: ClassVar[bool] = True

    def __init__(self, emit: Callable[..., Any]) -> None:
        self._emit = emit
        self._calls: list[Call] = []

    @property
    def start(self) -> Callable[..., Any]:
        """Return what carries operations out, which are not remembered."""
        return self._emit

    def remember(self, call: Call) -> None:
        """Remember what was carried out in another way."""
        self._calls.append(call)

    def emit(self, op: type[Op], *operands: Any, **attributes: Any) -> Any:
        """Carry out an operation and remember it."""
        attributes = op.complete(attributes)
        specs = [spec_of_value(x) for x in operands]
        made = self._emit(op, *operands, **attributes)
        results = tuple(_distinct(r) for r in (made if isinstance(made, tuple) else (made,)))
        given = tuple(spec_of_value(r) for r in results)
        self._calls.append(Call(op, operands, results, attributes, specs, self._emit, given))
        return results if isinstance(made, tuple) else results[0]

    def backward(
        self, results: Sequence[Any], grads: Sequence[Any], sources: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the gradient of each source, None where nothing depends on it smoothly.

        A source that is listed twice has its gradient in the first place only.
        """
        keys = [id(x) for x in sources if x is not None]
        targets = zip(map(id, results), grads, strict=True)
        found = dict(zip(keys, walk_back(self, self._calls, targets, keys), strict=True))
        return [None if x is None else found.pop(id(x), None) for x in sources]

    def operands(self, call: Call) -> Sequence[int]:
        """Return what tells a call's operands from other values: they are alive meanwhile."""
        return [id(x) for x in call.operands]

    def results(self, call: Call) -> Sequence[int]:
        """Return the same of its results."""
        return [id(r) for r in call.results]

    def smooth(self, call: Call) -> Sequence[int]:
        """Return the same of its results that are floats."""
        pairs = zip(call.results, call.result_specs, strict=True)
        return [id(r) for r, spec in pairs if spec.dtype.kind in "fc"]

    def gradients(
        self, call: Call, received: Sequence[Any], wanted: Sequence[bool]
    ) -> Sequence[Any]:
        """Return what the operation's rule says."""
        return call.op.gradient(call, *received)

    def added(self, a: Any, b: Any) -> Any:
        """Return the sum of two gradients."""
        return self._emit(REGISTRY["gv.add"], a, b)


def _distinct(value: Any) -> Any:
    """Return an array as an object of its own: an operation may give its operand back."""
    return value[...] if isinstance(value, np.ndarray) else value
