"""Saving variables and reading them again: Saver, Checkpoint, and looking into files.

The data is a safetensors file, replaced as a whole; beside it, `checkpoint` names the latest.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from ...ir.op import Array
from ...runtime.files import replacing
from ..function import ACTIVE
from ..run_errors import NotFoundError
from .state import global_variables

SUFFIX = ".safetensors"


def write(path: str, values: dict[str, Array]) -> None:
    """Write arrays by name; the file is replaced only when all is written."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    data = save({name: np.ascontiguousarray(value) for name, value in values.items()})
    with replacing(path + SUFFIX) as file:
        file.write(data)
    with replacing(str(Path(path).parent / "checkpoint")) as file:
        file.write(json.dumps({"latest": os.path.basename(path)}).encode())


def read(path: str) -> dict[str, Array]:
    """Return the arrays of a checkpoint."""
    if not os.path.exists(path + SUFFIX):
        raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
    found: dict[str, Array] = load_file(path + SUFFIX)
    return found


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """Return the newest checkpoint of a folder."""
    state = Path(checkpoint_dir) / (latest_filename or "checkpoint")
    if not state.exists():
        return None
    found: str = os.path.join(checkpoint_dir, json.loads(state.read_text())["latest"])
    return found


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """Return names and shapes."""
    return [(name, list(value.shape)) for name, value in read(_file(ckpt_dir_or_file)).items()]


def load_variable(ckpt_dir_or_file: str, name: str) -> Array:
    """Return one value."""
    return read(_file(ckpt_dir_or_file))[name.removesuffix(":0")]


def _file(path: str) -> str:
    return (latest_checkpoint(path) or path) if os.path.isdir(path) else path


class Saver:
    """Saves and restores the variables of a session."""

    def __init__(self, var_list: Any = None, max_to_keep: int = 5, **_: Any) -> None:
        found = var_list if var_list is not None else global_variables()
        self._variables = (
            dict(found) if isinstance(found, dict) else {v.state.name: v for v in found}
        )
        self._keep = max_to_keep
        self._written: list[str] = []

    def save(self, sess: Any, save_path: str, global_step: Any = None, **_: Any) -> str:
        """Write the values; return the path with the step in it."""
        path = save_path
        if global_step is not None:
            step = int(sess.run(global_step)) if hasattr(global_step, "graph") else int(global_step)
            path = f"{save_path}-{step}"
        with sess._lock:
            values = {n: v.state.value_in(sess.store) for n, v in self._variables.items()}
        write(path, values)
        self._written.append(path)
        while self._keep and len(self._written) > self._keep:
            Path(self._written.pop(0) + SUFFIX).unlink(missing_ok=True)
        return path

    def restore(self, sess: Any, save_path: str) -> None:
        """Read the values; nothing is changed if one is missing."""
        found = read(save_path)
        missing = [name for name in self._variables if name not in found]
        if missing:
            raise NotFoundError(
                f"Restoring from checkpoint failed: key {', '.join(missing)} not found"
            )
        with sess._lock:
            for name, variable in self._variables.items():
                variable.state.put_in(sess.store, np.asarray(found[name]))


class Status:
    """How far the values of a checkpoint have found their variables."""

    def __init__(self, checkpoint: Checkpoint, missing: list[str]) -> None:
        self._checkpoint, self._missing = checkpoint, missing

    def assert_consumed(self) -> Status:
        """Raise unless every value was used; variables made since then get theirs first."""
        self._checkpoint.take_pending()
        left = list(self._checkpoint.pending)
        if left or self._missing:
            names = ", ".join(left + self._missing)
            raise AssertionError(f"Unresolved object in checkpoint: {names}")
        return self

    def assert_existing_objects_matched(self) -> Status:
        """Raise unless every variable that exists was found."""
        self._checkpoint.take_pending()
        if self._missing:
            raise AssertionError(f"no values for {', '.join(self._missing)}")
        return self

    def expect_partial(self) -> Status:
        """Accept that values are left."""
        return self


WAITING: list[Checkpoint] = []
"""Checkpoints with values whose variables do not exist yet."""


class Checkpoint:
    """The variables that can be reached from named objects, by the names on the way."""

    def __init__(self, root: Any = None, **objects: Any) -> None:
        self._objects = {**({"": root} if root is not None else {}), **objects}
        self.pending: dict[str, Array] = {}
        """Values whose variables do not exist yet: they are taken when they do."""
        self.save_counter = 0

    def _variables(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        seen: set[int] = set()
        for name, each in self._objects.items():
            collect(each, name, found, seen)
        return found

    def write(self, path: str, **_: Any) -> str:
        """Write the values."""
        values = {n: v.state.value_in(ACTIVE[-1]) for n, v in self._variables().items()}
        write(path, values)
        return path

    def save(self, file_prefix: str, **_: Any) -> str:
        """Write the values under the next number."""
        self.save_counter += 1
        return self.write(f"{file_prefix}-{self.save_counter}")

    def restore(self, save_path: str | None, **_: Any) -> Status:
        """Give the variables their values; those made later get theirs when they are reached."""
        self.pending = read(save_path) if save_path else {}
        known = self._variables()
        missing = [n for n in known if save_path and n not in self.pending]
        self.take_pending()
        WAITING[:] = [*(c for c in WAITING if c is not self), self] if self.pending else WAITING
        return Status(self, missing)

    def take_pending(self) -> None:
        """Give variables that are there by now the values that wait for them."""
        for name, variable in self._variables().items():
            if name in self.pending:
                variable.assign(self.pending.pop(name))

    read = restore


def collect(value: Any, path: str, found: dict[str, Any], seen: set[int]) -> None:
    """Find variables by the attributes, keys and indices that lead to them."""
    if id(value) in seen:
        return
    if hasattr(value, "state") and hasattr(value, "assign"):
        seen.add(id(value))
        found[path] = value
        return
    if isinstance(value, dict):
        parts = {str(k): v for k, v in value.items()}
    elif isinstance(value, list | tuple):
        parts = {str(i): v for i, v in enumerate(value)}
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        parts = {k: v for k, v in vars(value).items() if not callable(v) or hasattr(v, "__dict__")}
    else:
        return
    seen.add(id(value))
    for name, each in parts.items():
        if isinstance(each, dict | list | tuple) or hasattr(each, "state") or is_module(each):
            collect(each, f"{path}/{name}" if path else name, found, seen)


def is_module(value: Any) -> bool:
    """Say whether an object may lead to variables."""
    return (
        hasattr(value, "__dict__")
        and not isinstance(value, type)
        and not callable(getattr(value, "graph", None))
        and type(value).__module__ != "builtins"
    )


class CheckpointManager:
    """Keeps the newest checkpoints of a folder."""

    def __init__(
        self, checkpoint: Checkpoint, directory: str, max_to_keep: int | None = 5, **_: Any
    ) -> None:
        self._checkpoint, self._directory, self._keep = checkpoint, directory, max_to_keep
        self.checkpoints: list[str] = []

    def save(self, checkpoint_number: int | None = None, **_: Any) -> str:
        """Write a checkpoint, and drop the oldest."""
        number = checkpoint_number
        if number is None:
            self._checkpoint.save_counter += 1
            number = self._checkpoint.save_counter
        path = self._checkpoint.write(os.path.join(self._directory, f"ckpt-{number}"))
        self.checkpoints.append(path)
        while self._keep and len(self.checkpoints) > self._keep:
            Path(self.checkpoints.pop(0) + SUFFIX).unlink(missing_ok=True)
        return path

    @property
    def latest_checkpoint(self) -> str | None:
        """Return the newest checkpoint."""
        return latest_checkpoint(self._directory)

    def restore_or_initialize(self) -> str | None:
        """Restore the newest checkpoint if there is one."""
        latest = self.latest_checkpoint
        if latest is not None:
            self._checkpoint.restore(latest)
        return latest


class Module:
    """An object that knows the variables and modules in its attributes."""

    def __init__(self, name: str | None = None) -> None:
        self._name = name or type(self).__name__.lower()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; values of a checkpoint that wait for it are given to it."""
        object.__setattr__(self, name, value)
        for checkpoint in list(WAITING):
            checkpoint.take_pending()
            if not checkpoint.pending:
                WAITING.remove(checkpoint)

    @property
    def name(self) -> str:
        """Return the name."""
        return self._name

    def _walk(self) -> tuple[list[Any], list[Any]]:
        variables: list[Any] = []
        modules: list[Any] = []
        seen: set[int] = {id(self)}
        waiting: list[Any] = [vars(self)[k] for k in sorted(vars(self))]
        while waiting:
            value = waiting.pop(0)
            if id(value) in seen:
                continue
            if isinstance(value, dict):
                waiting[:0] = list(value.values())
            elif isinstance(value, list | tuple):
                waiting[:0] = list(value)
            elif isinstance(value, Module):
                seen.add(id(value))
                modules.append(value)
                waiting[:0] = [vars(value)[k] for k in sorted(vars(value))]
            elif hasattr(value, "state") and hasattr(value, "assign"):
                seen.add(id(value))
                variables.append(value)
        return variables, modules

    @property
    def variables(self) -> tuple[Any, ...]:
        """Return all variables inside."""
        return tuple(self._walk()[0])

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Return the trainable variables inside."""
        return tuple(v for v in self._walk()[0] if v.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """Return all modules inside."""
        return tuple(self._walk()[1])
