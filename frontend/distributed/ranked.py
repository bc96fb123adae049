"""A model that several ranks run together: each has its parts in a library of its own.

    model = gravure.load("m.parallel.json")        on each rank, as many as it was compiled for
    [y] = model.run({"x": x})                      the same inputs on all, the same results

What the ranks do is in the manifest: to run a part, to reduce or gather a value over all, to give
one of this rank's to the others. All ranks do this in the same order.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ArtifactError
from ...runtime.artifact import DimInfo
from ...runtime.buffer import Array
from ...runtime.comm.halves import refilled, upper_halves
from ...runtime.comm.protocol import Comm, WorldError, all_gather, transfer_bits
from ...runtime.comm.world import world
from ...runtime.container import PIECE, check_weights
from ...runtime.library import Library, inspect, map_weights
from ...runtime.model import Model, tensor_of
from ..models.executed import HostedModel

SCHEMA = "gravure.parallel/1"


class RankedModel(HostedModel):
    """A model of which this rank has a part."""

    def __init__(self, path: str, manifest: Mapping[str, Any], comm: Comm, threads: int) -> None:
        ranks = int(manifest["ranks"])
        if comm.size != ranks:
            raise WorldError(
                f"{path}: compiled for {ranks} ranks ({manifest['kind']}), and there are"
                f" {comm.size}",
                hint=f"gravure launch -n {ranks} program.py",
            )
        self.comm, self._manifest, self._threads = comm, manifest, threads
        self.inputs, self.outputs = (
            tuple(tensor_of(each) for each in manifest[kind]) for kind in ("inputs", "outputs")
        )
        self.dims = tuple(DimInfo(**each) for each in manifest["dims"])
        self.name, self.place = manifest["name"], f"rank {comm.rank} of {ranks}"
        own, folder = manifest["files"][comm.rank], Path(path).parent
        self.parts: list[Model] = []
        self._files = "", ""
        if own["library"]:
            library = folder / own["library"]
            if file_sha256(library) != own["sha256"]:
                raise ArtifactError("not the library that was compiled", location=str(library))
            self._files = str(library), str(folder / own["weights"]) if own["weights"] else ""
            self.parts = load_parts(*self._files, threads)
        self.call = self._called

    @classmethod
    def read(cls, path: str | os.PathLike[str], threads: int = 1) -> RankedModel:
        """Load this rank's part of what a manifest describes."""
        name = os.fspath(path)
        try:
            manifest = json.loads(Path(name).read_bytes())
        except (OSError, ValueError) as error:
            raise ArtifactError(f"no manifest: {error}", location=name) from error
        if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
            raise ArtifactError(f"no manifest of the schema {SCHEMA!r}", location=name)
        return cls(name, manifest, world(), threads)

    @property
    def manifest(self) -> Mapping[str, object]:
        """What the model is, and what its ranks do."""
        return self._manifest

    @property
    def workspace_bytes(self) -> int:
        """Return how much memory the largest part of this rank works in."""
        return max((part.workspace_bytes for part in self.parts), default=0)

    @property
    def threads(self) -> int:
        """How many threads share a run of this rank."""
        return self._threads

    @threads.setter
    def threads(self, threads: int) -> None:
        for part in self.parts:
            part.threads = threads
        self._threads = threads

    def execute(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Do the steps of all ranks in their order, as far as this one has to do with them."""
        values: dict[str, Array] = {f"input{number}": array for number, array in enumerate(arrays)}
        for step in self._manifest["steps"]:
            self.step(step, values)
        return [values[name] for name in self._manifest["results"]]

    def step(self, step: Mapping[str, Any], values: dict[str, Array]) -> None:
        """Do one step."""
        kind, outputs = step["do"], step["outputs"]
        if kind == "run":
            if step["rank"] in (None, self.comm.rank):
                model = self.parts[step["part"]]
                found = model.run([values[name] for name in step["inputs"]])
                values.update(zip(outputs, found, strict=True))
            return
        for name, output in zip(step["inputs"], outputs, strict=True):
            if kind == "give":
                given = values.get(name) if self.comm.rank == step["rank"] else None
                sent = upper_halves(given) if transfer_bits() == 16 else given
                found = self.comm.exchange(sent, "give")[step["rank"]]
                values[output] = np.asarray(refilled(found))
            elif kind == "all_reduce":
                values[output] = self.comm.all_reduce(values[name], step["how"])
            else:
                assert kind == "all_gather", f"a step {kind!r}"
                values[output] = np.concatenate(all_gather(self.comm, values[name]), axis=0)

    def check_weights(self) -> None:
        """Read all weights of this rank, and compare them with the digest in its library."""
        library, weights = self._files
        if weights:
            check_parts(library, weights)

    def close(self) -> None:
        """Give back the memory of this rank's parts."""
        for part in self.parts:
            part.close()


class LibraryPart(Library):
    """One model of several in a library."""

    def __init__(self, whole: Library, manifest: Mapping[str, Any]) -> None:
        """See a part of a library that was checked and mapped as a whole."""
        self.location, self.sealed = whole.location, whole.sealed
        self.manifest, self.tag = dict(manifest), manifest["tag"]
        self._library = whole._library


def file_sha256(path: str | os.PathLike[str]) -> str:
    """Return the digest of a file; one that is not there is an `ArtifactError`."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ArtifactError(error.strerror or str(error), location=os.fspath(path)) from error


def check_parts(library: str, weights: str) -> None:
    """Read all weights, and compare them with the digest that the library was compiled with."""
    seal = inspect(library).seal
    found = map_weights(weights, seal).weights
    pieces = (found[start : start + PIECE] for start in range(0, found.nbytes, PIECE))
    check_weights(pieces, seal, weights)


def load_parts(library: str, weights: str, threads: int) -> list[Model]:
    """Return the models of a library, with the weights of a file; none is named without weights."""
    whole = Library.load(library)
    if "parts" not in whole.manifest:
        raise ArtifactError("this is a library of one model, not of a rank", location=library)
    blob = map_weights(weights, whole.sealed.seal) if weights else None
    models, start = [], 0
    for manifest in whole.manifest["parts"]:
        part = LibraryPart(whole, manifest)
        model = Model.of_library(part, os.path.abspath(library), threads)
        end = start + int(manifest["weights_bytes"])
        if end > start:
            if blob is None:
                raise ArtifactError("the weights are in a file of their own", location=library)
            model.set_weights(blob.part(start, end))
        models.append(model)
        start = end
    return models
