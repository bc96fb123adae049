"""Saving variables and reading them again: files, and the nodes of graphs that do it.

The data is a safetensors file, replaced as a whole; beside it, `checkpoint` names the latest.
A node that saves reads all variables between two steps, so that they belong together.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save

from ..ir.op import Array
from ..ir.tensor import TensorSpec
from ..runtime.files import replacing
from .execute import Frame
from .graph import Operation
from .kinds import Kind
from .run_errors import InvalidArgumentError, NotFoundError
from .staged import NotStageableError
from .variables import VariableState

SUFFIX = ".safetensors"
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The key of what says which objects the values belong to."""


class NoCheckpointError(NotFoundError, ValueError):
    """There is no checkpoint of this name."""

    code = "GV2334"


def write(path: str, values: Mapping[str, Array], objects: Any = None) -> None:
    """Write arrays by name; the file is replaced only when all is written."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    plain = {name: np.array(value, order="C") for name, value in values.items()}
    text = [n for n, v in plain.items() if v.dtype.kind == "O"]
    if text:
        raise InvalidArgumentError(f"text is not saved: {', '.join(text)}")
    more = None if objects is None else {OBJECT_GRAPH: json.dumps(objects, sort_keys=True)}
    data = save(plain, metadata=more)
    with replacing(path + SUFFIX) as file:
        file.write(data)


def note_latest(path: str, kept: Sequence[str] = ()) -> None:
    """Note in the folder that a checkpoint is the latest one, and which others are kept."""
    names = [os.path.basename(each) for each in kept]
    with replacing(str(Path(path).parent / "checkpoint")) as file:
        file.write(json.dumps({"latest": os.path.basename(path), "all": names}).encode())


def noted(directory: str) -> list[str]:
    """Return the checkpoints that a folder's note says are kept, and which are there."""
    state = Path(directory) / "checkpoint"
    names = json.loads(state.read_text()).get("all", ()) if state.exists() else ()
    paths = [os.path.join(directory, name) for name in names]
    return [path for path in paths if os.path.exists(path + SUFFIX)]


def read(path: str) -> dict[str, Array]:
    """Return the arrays of a checkpoint."""
    if not os.path.exists(path + SUFFIX):
        raise NoCheckpointError(f"The passed save_path is not a valid checkpoint: {path}")
    found: dict[str, Array] = load_file(path + SUFFIX)
    return found


def has_objects(path: str) -> bool:
    """Say whether a checkpoint is one of objects."""
    with safe_open(path + SUFFIX, framework="numpy") as file:
        return OBJECT_GRAPH in (file.metadata() or {})


def path_of(value: Any) -> str:
    """Return a path that is an element of text."""
    found = np.asarray(value)[()]
    return found.decode() if isinstance(found, bytes) else str(found)


class Files(Kind):
    """What saving and restoring have in common: variables by the names in the file."""

    stateful = True

    def __init__(self, states: Mapping[str, VariableState]) -> None:
        self.states = dict(states)

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, Any]
    ) -> Sequence[TensorSpec]:
        """Return nothing."""
        return ()

    def run(self, frame: Frame, op: Operation, inputs: Sequence[Any]) -> Sequence[Any]:
        """Use the file that the input names."""
        if frame.is_staging:
            raise NotStageableError("a checkpoint")
        self.use(frame, path_of(inputs[0]))
        return ()

    def use(self, frame: Frame, path: str) -> None:
        """Use a file."""
        raise NotImplementedError


class SaveVariables(Files):
    """Write the variables."""

    type = "SaveV2"

    def use(self, frame: Frame, path: str) -> None:
        """Read all variables between two steps, and write them."""
        with frame.store.lock:
            values = {n: np.array(s.value_in(frame.store)) for n, s in self.states.items()}
        write(path, values)


class RestoreVariables(Files):
    """Give the variables what is in the file; nothing is changed if one is missing."""

    type = "RestoreV2"

    def use(self, frame: Frame, path: str) -> None:
        """Read the file."""
        found = read(path)
        missing = [name for name in self.states if name not in found]
        if missing:
            raise NotFoundError(
                f"Restoring from checkpoint failed: Key {', '.join(missing)} not found in "
                f"checkpoint {path}"
            )
        wrong = [
            f"{name}: {found[name].dtype}{list(found[name].shape)}, expected {state.spec}"
            for name, state in self.states.items()
            if not fits(found[name], state.spec)
        ]
        if wrong:
            raise InvalidArgumentError(f"the checkpoint {path} does not fit: {'; '.join(wrong)}")
        with frame.store.lock:
            for name, state in self.states.items():
                state.put_in(frame.store, found[name])


def fits(value: Array, spec: TensorSpec) -> bool:
    """Say whether a value is of a variable's type and shape."""
    if value.dtype != spec.dtype.numpy or spec.shape is None:
        return value.dtype == spec.dtype.numpy
    return value.ndim == len(spec.dims) and all(
        not isinstance(d, int) or d == n for d, n in zip(spec.dims, value.shape, strict=True)
    )
