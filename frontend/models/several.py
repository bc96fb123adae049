"""Models in which a size of arguments decides about ranks: one for each number that comes.

A vector of as many sizes as a run says gives a tensor of as many axes, and weights of any size
have another product. So a model is compiled for a number when it first comes, and kept.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from time import perf_counter

import numpy as np

from ...errors import (
    Advice,
    CompileError,
    DecidingSize,
    GravureError,
    PerformanceWarning,
    RuntimeInputError,
    UnsupportedOp,
)
from ...forks import renewed
from ...runtime.arguments import Inputs, check_threads, in_order
from ...runtime.artifact import DimInfo, TensorInfo
from ...runtime.buffer import Array
from ...runtime.values import ValueInfo
from .compiled import CompiledModel
from .executed import HostedModel

KEPT = 64
"""How many models are kept: those that came last."""
TRIED = 8
"""So many numbers are tried for the first model."""


class SeveralModel(HostedModel):
    """A model for each number that a size of arguments is."""

    def __init__(
        self, refusal: UnsupportedOp, size: DecidingSize, make: Callable[[int], CompiledModel]
    ) -> None:
        """Compile the first one; raise the refusal where none of the lowest numbers is taken."""
        self.size, self.make, self.name, self.place = size, make, "several", "this machine"
        self.made: dict[int, CompiledModel] = {}
        self.lock = renewed(Lock())
        self.refusal, self.ran, self.has_told = refusal.message, -1, False
        """Why there are several, for which number the last run was, and whether that was said."""
        first = self._first(refusal)
        self._threads = first.threads
        shapes = [[*info.shape] for info in first.inputs]
        for number, axis in size.places:
            shapes[number][axis] = size.name
        self.inputs = tuple(
            replace(info, shape=tuple(shape))
            for info, shape in zip(first.inputs, shapes, strict=True)
        )
        self.outputs: tuple[TensorInfo, ...] = tuple(map(unranked, first.outputs))
        bounds = () if size.high is None else (DimInfo(size.name, size.low, size.high),)
        self.dims = (*first.dims, *bounds)
        self.call = self._called

    def _first(self, refusal: UnsupportedOp) -> CompiledModel:
        """Return the model of the lowest number that has one."""
        last = self.size.low + TRIED
        high = last if self.size.high is None else min(self.size.high + 1, last)
        last_error: GravureError | None = None
        for number in range(self.size.low, high):
            try:
                return self.model_of(number)
            except GravureError as error:  # another number may fit
                last_error = error
        raise refusal from last_error

    def model_of(self, number: int) -> CompiledModel:
        """Return the model for a number."""
        with self.lock:
            model = self.made.pop(number, None) or self.make(number)
            self.made[number] = model
            if len(self.made) > KEPT:
                del self.made[next(iter(self.made))]
            return model

    @property
    def manifest(self) -> Mapping[str, object]:
        """What the model is."""
        made = {str(number): model.manifest for number, model in self.made.items()}
        return {"schema": "gravure.several/1", "size": self.size.name, "models": made}

    @property
    def workspace_bytes(self) -> int:
        """Return how much memory the largest of those that were compiled works in."""
        return max((model.workspace_bytes for model in self.made.values()), default=0)

    @property
    def threads(self) -> int:
        """How many threads share the work of a run."""
        return self._threads

    @threads.setter
    def threads(self, threads: int) -> None:
        check_threads(threads)
        self._threads = threads
        for model in self.made.values():
            model.threads = threads

    def run(self, inputs: Inputs) -> list[Array]:
        """Run the model for the number that the size is."""
        values, size = in_order(inputs, self.inputs), self.size
        number, axis = size.places[0]
        shape = np.shape(values[number])
        found = shape[axis] if axis < len(shape) else size.low
        if found < size.low or (size.high is not None and found > size.high):
            most = "more" if size.high is None else size.high
            raise RuntimeInputError(f"{size.name} is {found}, expected {size.low} to {most}")
        self._warn(found)
        return self.model_of(found).run(values)

    def _warn(self, number: int) -> None:
        """Warn once, when the runs' numbers begin to differ, of what a new one costs."""
        before, self.ran = self.ran, number
        if self.has_told or before in (-1, number) or number in self.made:
            return
        self.has_told = True
        start = perf_counter()
        self.model_of(number)
        name = self.size.name
        warnings.warn(
            f"{name} decides about ranks or weights, so that a model is compiled for each new"
            f" number: {perf_counter() - start:.1f} s for {name} = {number}, of which the last"
            f" {KEPT} are kept; {self.refusal}",
            PerformanceWarning,
            stacklevel=4,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Refuse: a library has one model.

        Its results have ranks that its manifest and its header state, and it holds no compiler.
        """
        raise CompileError(
            f"{path}: {self.size.name} decides about ranks or weights, so that there are several "
            "models, and a library has one",
            hint=Advice(
                f"fix it: dims={{{self.size.name!r}: 4}}", f"fix it: --dim {self.size.name}=4"
            ),
        )

    def close(self) -> None:
        """Give back the memory."""
        for model in self.made.values():
            model.close()


def unranked(info: TensorInfo) -> ValueInfo:
    """Return what is known of a result of all models."""
    holders = info.holders if isinstance(info, ValueInfo) else ()
    return ValueInfo(info.name, info.dtype, (), holders=holders, is_ranked=False)
