"""Saving variables and reading them again: Saver, Checkpoint, and looking into files.

The data is a safetensors file, replaced as a whole; beside it, `checkpoint` names the latest.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ....ir.op import Array
from ...function.session import Session, fetched
from ...graph.checkpoint_ops import (
    NOTE,
    OBJECT_GRAPH,
    SUFFIX,
    Note,
    RestoreVariables,
    SaveVariables,
    has_objects,
    keep_newest,
    read,
)
from ...values.context import entered
from ...values.dtypes import as_dtype
from ...values.run_errors import NotFoundError
from ..graph.graph_lists import global_variables
from ..graph.state import Variable, get_default_graph, placeholder_with_default
from ..ops.creation import constant


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """Return the newest checkpoint of a folder."""
    note = Note.read(Path(checkpoint_dir) / (latest_filename or NOTE))
    return None if note is None else os.path.join(checkpoint_dir, note.latest)


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """Return names and shapes."""
    path = _file(ckpt_dir_or_file)
    found = [(name, list(value.shape)) for name, value in read(path).items()]
    return sorted([*found, (OBJECT_GRAPH, [])] if has_objects(path) else found)


def load_variable(ckpt_dir_or_file: str, name: str) -> Array:
    """Return one value."""
    found = read(_file(ckpt_dir_or_file)).get(name.removesuffix(":0"))
    if found is None:
        raise NotFoundError(f"Key {name} not found in checkpoint")
    return found


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Say whether there is a checkpoint of a name."""
    return os.path.exists(os.fspath(checkpoint_prefix) + SUFFIX)


class CheckpointReader:
    """Looks into one checkpoint."""

    def __init__(self, values: dict[str, Array]) -> None:
        self._values = values

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shapes by name."""
        return {name: list(value.shape) for name, value in self._values.items()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """Return the element types by name."""
        return {name: as_dtype(value.dtype) for name, value in self._values.items()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Say whether there is a value of a name."""
        return tensor_str in self._values

    def get_tensor(self, tensor_str: str) -> Array | np.generic:
        """Return a value."""
        if tensor_str not in self._values:
            raise NotFoundError(f"Key {tensor_str} not found in checkpoint")
        return fetched(self._values[tensor_str])


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """Return what looks into a checkpoint, or the newest of a folder."""
    return CheckpointReader(read(_file(ckpt_dir_or_file)))


def _file(path: str) -> str:
    return (latest_checkpoint(path) or path) if os.path.isdir(path) else path


class Saver:
    """Saves and restores the variables of a session, by nodes of the graph."""

    def __init__(
        self,
        var_list: Any = None,
        max_to_keep: int | None = 5,
        name: str | None = None,
        **_: object,
    ) -> None:
        found = var_list if var_list is not None else global_variables()
        if not found:
            raise ValueError("No variables to save")
        self._variables = (
            dict(found) if isinstance(found, dict) else {v.state.name: v for v in found}
        )
        self._keep = max_to_keep
        self.last_checkpoints: list[str] = []
        states = {n: v.state for n, v in self._variables.items()}
        first = next(iter(self._variables.values()))
        graph = first.graph or get_default_graph()
        with entered(graph), graph.control_dependencies(None), graph.name_scope(name or "save"):
            self._path = placeholder_with_default(constant("model"), [], name="Const")
            self._save = graph.add(SaveVariables(states), [self._path], name="SaveV2")
            self._restore = graph.add(RestoreVariables(states), [self._path], name="restore_all")

    def save(
        self,
        sess: Session,
        save_path: str,
        global_step: Any = None,
        write_meta_graph: bool = True,
        **_: object,
    ) -> str:
        """Write the values; return the path with the step in it."""
        path = save_path
        if global_step is not None:
            step = int(sess.run(global_step)) if hasattr(global_step, "graph") else int(global_step)
            path = f"{save_path}-{step}"
        sess.run(self._save, {self._path: path})
        keep_newest(path, self.last_checkpoints, self._keep)
        return path

    def restore(self, sess: Session, save_path: str) -> None:
        """Read the values; nothing is changed if one is missing."""
        sess.run(self._restore, {self._path: save_path})


def create_global_step(graph: object = None) -> Any:
    """Return the count of steps of a graph, which has none yet."""
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    return get_or_create_global_step(graph)


def get_or_create_global_step(graph: Any = None) -> Any:
    """Return the count of steps of a graph, made now if there is none."""
    found = get_global_step(graph)
    if found is None:
        home = graph or get_default_graph()
        with entered(home):
            found = Variable(np.int64(0), trainable=False, name="global_step")
        home.add_to_collection("global_step", found)
    return found


def get_global_step(graph: Any = None) -> Any:
    """Return the count of steps of a graph, None if there is none."""
    found = (graph or get_default_graph()).get_collection("global_step")
    return found[0] if found else None
