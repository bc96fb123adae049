"""Models that are run by Python, as by a back end from outside, with the face of all models."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from ...codegen.compiled import Compiled
from ...errors import ArtifactError, CompileError, RuntimeInputError
from ...requirements import check
from ...runtime.arguments import (
    Inputs,
    bind_dims,
    check_demands,
    describe,
    in_order,
    mismatch,
    numpy_dtype,
    result_shape,
    to_array,
)
from ...runtime.artifact import SizeDemand, TensorInfo
from ...runtime.buffer import Array
from .compiled import CompiledModel


class HostedModel(CompiledModel):
    """A model whose runs are Python's: what is given is checked, and so is what comes back."""

    name: str
    place: str
    """What runs it, for messages."""
    demands: Sequence[SizeDemand] = ()

    def execute(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Return the results of checked inputs in order."""
        raise NotImplementedError(f"{type(self).__name__} runs nothing")

    def __repr__(self) -> str:
        arguments = ", ".join(f"{info.name}: {info}" for info in self.inputs)
        results = ", ".join(f"{info.name}: {info}" for info in self.outputs)
        return f"<Model {self.name}({arguments}) -> ({results}) on {self.place}>"

    @property
    def threads(self) -> int:
        """How many threads share a run: one."""
        return 1

    @threads.setter
    def threads(self, threads: int) -> None:
        """Refuse more than one."""
        if threads != 1:
            raise RuntimeInputError(
                f"{threads} threads: {self.place} runs on one",
            )

    def _called(self, *arrays: object) -> Array | tuple[Array, ...]:
        results = self.run(arrays)
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs: Inputs) -> list[Array]:
        """Run the model on inputs by name or in order, and return new arrays."""
        values = in_order(inputs, self.inputs)
        arrays = [to_array(value, info) for value, info in zip(values, self.inputs, strict=True)]
        dims = bind_dims(arrays, self.inputs, self.dims)
        check_demands(self.demands, dims)
        shapes = [result_shape(info, dims) for info in self.outputs]
        return self._checked(self.execute(arrays), shapes)

    def _checked(self, results: Sequence[Array], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
        """Return what the back end gave, if that is what was compiled."""
        if len(results) != len(self.outputs):
            raise ArtifactError(
                f"{self.place} gave {len(results)} results, expected {len(self.outputs)}"
            )
        for result, info, shape in zip(results, self.outputs, shapes, strict=True):
            if result.shape != shape or result.dtype != numpy_dtype(info.dtype):
                exact = TensorInfo(info.name, info.dtype, shape)
                raise ArtifactError(
                    f"{self.place} gave {describe(result)} for result"
                    f" {info.name!r}, expected {exact}"
                )
        return [*results]

    def bind(
        self, inputs: Inputs, outputs: Inputs | None = None, *, release: bool | None = None
    ) -> Callable[[], list[Array]]:
        """Return a function that runs the model on these very arrays, whatever is in them then."""
        del release  # Python runs between all of it
        values = in_order(inputs, self.inputs)
        given = None if outputs is None else in_order(outputs, self.outputs, "output")
        results = self.run(values)
        for number, each in enumerate(given or ()):
            wanted, info = results[number], self.outputs[number]
            exact = TensorInfo(info.name, info.dtype, wanted.shape)
            if describe(each) != describe(wanted):
                raise mismatch(describe(each), exact, "output")
        kept = results if given is None else given

        def again() -> list[Array]:
            for place, made in zip(kept, self.run(values), strict=True):
                place[...] = made
            return kept

        return again

    def set_weights(self, weights: object) -> None:
        """Refuse: the back end has them in a form of its own."""
        raise CompileError(f"{self.place}: other weights are not taken")

    def check_weights(self) -> None:
        """Do nothing: the weights were never stored."""

    def close(self) -> None:
        """Do nothing: all that it holds is Python's."""


class ExecutedModel(HostedModel):
    """A model whose runs are those of an `Executable`."""

    def __init__(self, compiled: Compiled) -> None:
        assert compiled.executable is not None, "its back end makes code"
        self.compiled, self.executable = compiled, compiled.executable
        model = compiled.description
        self.inputs, self.outputs, self.dims = model.inputs, model.outputs, model.dims
        self.name, self.place, self.demands = model.tag, f"target {compiled.target}", model.demands
        self.required = model.required
        self.call = self._called

    @property
    def manifest(self) -> Mapping[str, object]:
        """What the model is and how it was made."""
        found: dict[str, object] = json.loads(self.compiled.manifest)
        return found

    @property
    def workspace_bytes(self) -> int:
        """Return how much memory each run works in."""
        return self.compiled.peak

    def execute(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Let the back end run it; what its last result tells of requirements is looked at."""
        results = self.executable.run(arrays)
        if not self.required:
            return results
        *results, found = results
        check(self.required, found)
        return results
