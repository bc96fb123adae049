"""Gradients backward through a list of calls: of a graph, or of one decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .op import REGISTRY, Call, Op
from .ops.families import spec_of_value


class Composite(Op):
    """An operation whose gradient is that of its decomposition."""

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Go backward through the decomposition."""
        return gradient_through_decomposition(call, *grads)


def gradient_through_decomposition(call: Call, *grads: Any) -> Sequence[Any]:
    """Return the gradients of the operands by carrying out the decomposition once more."""
    tape = Tape(call)
    operands = [_distinct(x) for x in call.operands]
    made = call.op.decompose(replace(call, operands=operands, emit=tape.emit))
    results = made if isinstance(made, tuple) else (made,)
    sources = [
        x if spec.dtype.is_float else None for x, spec in zip(operands, call.specs, strict=True)
    ]
    return tape.backward(results, grads, sources)


class Tape:
    """Remembers what an `emit` carries out."""

    def __init__(self, call: Call) -> None:
        self._emit = call.emit
        self._calls: list[Call] = []

    @classmethod
    def on(cls, emit: Any) -> Tape:
        """Return a tape of what an `emit` carries out."""
        made = cls.__new__(cls)
        made._emit, made._calls = emit, []
        return made

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
        active = {id(x) for x in sources if x is not None}
        for call in self._calls:
            if any(id(x) in active for x in call.operands):
                active |= {id(r) for r, s in _floats(call.results, call.result_specs)}
        totals: dict[int, Any] = {}
        for result, grad in zip(results, grads, strict=True):
            self._add(totals, result, grad)
        for call in reversed(self._calls):
            received = [totals.get(id(r)) for r in call.results]
            if all(g is None for g in received) or active.isdisjoint(map(id, call.results)):
                continue
            for x, part in zip(call.operands, call.op.gradient(call, *received), strict=True):
                if id(x) in active:
                    self._add(totals, x, part)
        return [None if x is None else totals.pop(id(x), None) for x in sources]

    def _add(self, totals: dict[int, Any], value: Any, part: Any) -> None:
        if part is not None:
            known = totals.get(id(value))
            total = part if known is None else self._emit(REGISTRY["gv.add"], known, part)
            totals[id(value)] = total


def _floats(results: Sequence[Any], specs: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(r, s) for r, s in zip(results, specs, strict=True) if s.dtype.is_float]


def _distinct(value: Any) -> Any:
    """Return an array as an object of its own: an operation may give its operand back."""
    return value[...] if isinstance(value, np.ndarray) else value
