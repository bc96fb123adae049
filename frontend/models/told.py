"""Libraries whose runs tell how large some results are: they are given as large as they are.

a result of at most 100 rows, and how many there are   =>   a result of so many rows
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...errors import RuntimeInputError
from ...runtime.arguments import Inputs, in_order, to_array
from ...runtime.artifact import TOLD, TensorInfo
from ...runtime.buffer import Array
from ...runtime.model import Model
from .executed import HostedModel


class Cut(NamedTuple):
    """An extent of a result that a run tells."""

    axis: int
    by: int
    """Which result tells it."""
    size: str
    """What the model calls it."""


class ToldModel(HostedModel):
    """A library with results that are cut to the size that a run tells of them."""

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.place = model, model.manifest["tag"], "this machine"
        rows = model.manifest[TOLD]
        first = min(row["by"] for row in rows)  # what tells sizes comes last
        self._cuts = [
            [Cut(r["axis"], r["by"], r["size"]) for r in rows if r["output"] == number]
            for number in range(first)
        ]
        self.inputs, self.dims = model.inputs, model.dims
        self.outputs = tuple(map(named, model.outputs, self._cuts))
        self.call = self._called

    @property
    def manifest(self) -> Mapping[str, object]:
        """What the model is and how it was made; its results are those that C sees."""
        return self.model.manifest

    @property
    def workspace_bytes(self) -> int:
        """Return how much memory each run works in."""
        return self.model.workspace_bytes

    @property
    def threads(self) -> int:
        """How many threads share the work of a run."""
        return self.model.threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self.model.threads = threads

    def run(self, inputs: Inputs) -> list[Array]:
        """Run the model on inputs by name or in order, and return new arrays."""
        try:
            return self.cut(self.model.run(inputs))
        except RuntimeInputError as error:
            if self.otherwise is None:
                raise
            given = [*map(to_array, in_order(inputs, self.inputs), self.inputs)]
            return self.otherwise.run(given, self.inputs, error)

    def cut(self, results: list[Array]) -> list[Array]:
        """Return results without what is behind their sizes."""
        found = []
        for result, rows in zip(results, self._cuts, strict=False):
            kept = [slice(None)] * result.ndim
            for row in rows:
                kept[row.axis] = slice(int(results[row.by]))
            found.append(np.array(result[tuple(kept)], order="C") if rows else result)
        return found

    def bind(
        self, inputs: Inputs, outputs: Inputs | None = None, *, release: bool | None = None
    ) -> Callable[[], list[Array]]:
        """Return a function that runs the model on these very arrays, whatever is in them then.

        Its results are new each time: they may have another size.
        """
        if outputs is not None:
            raise RuntimeInputError("results of a size that only a run tells have no place ahead")
        values = in_order(inputs, self.inputs)
        try:
            again = self.model.bind(values, release=release)
        except RuntimeInputError as error:
            if self.otherwise is None:
                raise
            return self.otherwise.bind(values, outputs, self.inputs, error, release=release)
        return lambda: self.cut([result.copy() for result in again()])

    def set_weights(self, weights: object) -> None:
        """Use other weights from the next run on."""
        self.model.set_weights(weights)  # type: ignore[arg-type]
        if self.otherwise is not None:
            self.otherwise.set_weights(weights)  # type: ignore[arg-type]

    def check_weights(self) -> None:
        """Read all weights and compare them with the digest that the model was compiled with."""
        self.model.check_weights()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the library to another place."""
        self.model.save(path)

    def close(self) -> None:
        """Give back the memory."""
        self.model.close()


def named(info: TensorInfo, rows: Sequence[Cut]) -> TensorInfo:
    """Return what a result is, with its sizes as the model calls them."""
    shape = list(info.shape)
    for row in rows:
        shape[row.axis] = row.size
    return replace(info, shape=tuple(shape))
