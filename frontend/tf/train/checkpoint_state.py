"""What a folder knows of its checkpoints, and what is wished of them and of saved modules."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from ....errors import ParseError
from ....ir.types.tensor import Array
from ...files.beside import map_beside
from ...files.weights import read_safetensors
from ...formats.bundles import INDEX, in_path
from ...graph.checkpoint_ops import NOTE, SUFFIX, DamagedCheckpointError, Note
from ...values.run_errors import UnimplementedError

META = ".meta"
"""The ending of the file that has the graph of a checkpoint."""


@dataclass
class CheckpointState:
    """The newest checkpoint of a folder and all that are kept, the newest last."""

    model_checkpoint_path: str = ""
    all_model_checkpoint_paths: list[str] = field(default_factory=list)
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0


def _full(folder: str | Path, name: str) -> str:
    """Return the path of a checkpoint that a note names."""
    return os.path.join(os.fspath(folder), name)


def get_checkpoint_state(
    checkpoint_dir: str, latest_filename: str | None = None
) -> CheckpointState | None:
    """Return what the note of a folder says, None if there is no note."""
    note = Note.read(Path(checkpoint_dir) / (latest_filename or NOTE))
    if note is None:
        return None
    kept = note.kept or (note.latest,)
    every = [_full(checkpoint_dir, name) for name in kept]
    times = [get_checkpoint_mtimes([path]) for path in every]
    return CheckpointState(_full(checkpoint_dir, note.latest), every, [t[0] for t in times if t])


def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: list[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> CheckpointState:
    """Return the state of a folder; the newest is put into the list, as the last one."""
    every = all_model_checkpoint_paths or []
    if not every or every[-1] != model_checkpoint_path:
        every.append(model_checkpoint_path)  # also for the caller, as in TensorFlow
    times = list(all_model_checkpoint_timestamps or [])
    if times and len(times) != len(every):
        raise ValueError("Checkpoint timestamps, if provided, must match checkpoint paths")

    def inside(path: str) -> str:
        """Return a path as it is seen from the folder, unless that is absolute."""
        return path if os.path.isabs(save_dir) else os.path.relpath(path, save_dir)

    last = time.time() if last_preserved_timestamp is None else last_preserved_timestamp
    return CheckpointState(inside(model_checkpoint_path), [inside(p) for p in every], times, last)


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write the note of a folder: the newest checkpoint, and all that are kept."""
    del all_model_checkpoint_timestamps, last_preserved_timestamp
    every = list(all_model_checkpoint_paths or [])
    if model_checkpoint_path not in every:
        every.append(model_checkpoint_path)
    folder = Path(save_dir)
    for path in every:
        if os.path.abspath(os.path.dirname(path)) not in (
            os.path.abspath(save_dir),
            os.path.abspath("."),
        ):
            raise ValueError(f"the checkpoint {path} is not in the folder {save_dir}")
    names = tuple(os.path.basename(path) for path in every)
    Note(os.path.basename(model_checkpoint_path), names).write(folder / (latest_filename or NOTE))


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[str]) -> list[float]:
    """Return when checkpoints were written, of those that are there."""
    files = [Path(os.fspath(prefix) + SUFFIX) for prefix in checkpoint_prefixes]
    return [file.stat().st_mtime for file in files if file.exists()]


def remove_checkpoint(
    checkpoint_prefix: str,
    checkpoint_format_version: object = None,
    meta_graph_suffix: str = "meta",
) -> None:
    """Delete the files of a checkpoint."""
    del checkpoint_format_version
    for ending in (SUFFIX, INDEX, f".{meta_graph_suffix}"):
        Path(checkpoint_prefix + ending).unlink(missing_ok=True)


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Give each new checkpoint of a folder, waiting for it; the end is when none comes in time."""
    last: str | None = None
    while True:
        found = _new_checkpoint(checkpoint_dir, last, timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        begun, last = time.monotonic(), found
        yield found
        left = begun + min_interval_secs - time.monotonic()
        if left > 0:
            time.sleep(left)


def _new_checkpoint(folder: str, last: str | None, timeout: float | None) -> str | None:
    """Return the newest checkpoint when it is another one, None if it takes too long."""
    end = None if timeout is None else time.monotonic() + timeout
    pause = 1.0 if timeout is None else min(1.0, max(timeout / 10, 0.01))
    while True:
        state = get_checkpoint_state(folder)
        if state is not None and state.model_checkpoint_path != last:
            return state.model_checkpoint_path
        if end is not None and time.monotonic() + pause > end:
            return None
        time.sleep(pause)


@dataclass
class CheckpointOptions:
    """How checkpoints are written and read: by this process, before a call returns.

    So nothing is asynchronous, and all files are those of the machine that runs the program.
    """

    experimental_io_device: str | None = None
    experimental_enable_async_checkpoint: bool = False
    experimental_write_callbacks: Sequence[Callable[..., object]] | None = None
    enable_async: bool = False
    experimental_skip_slot_variables: bool = False
    experimental_sharding_callback: object = None

    def __post_init__(self) -> None:
        if self.experimental_sharding_callback is not None:
            raise NotImplementedError(
                "experimental_sharding_callback: a checkpoint is not cut into several files here"
            )
        if self.experimental_skip_slot_variables:
            raise NotImplementedError(
                "experimental_skip_slot_variables: what optimisers keep is restored with the rest"
            )
        both = self.enable_async or self.experimental_enable_async_checkpoint
        self.enable_async = self.experimental_enable_async_checkpoint = both
        if (given := self.experimental_write_callbacks) is not None and not all(
            map(callable, given)
        ):
            raise TypeError("experimental_write_callbacks: expected functions")
        for each in given or ():
            if len(signature(each).parameters) > 1:
                raise AssertionError(
                    f"experimental_write_callbacks: {each!r} takes more than the path"
                )

    def __copy__(self) -> CheckpointOptions:
        """Return options whose list of functions is another one."""
        given = self.experimental_write_callbacks
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.experimental_write_callbacks = None if given is None else list(given)
        return made

    def written(self, path: str) -> None:
        """Call what is to be called once a checkpoint is written, in order."""
        for function in self.experimental_write_callbacks or ():
            takes_path = bool(signature(function).parameters)
            function(path) if takes_path else function()


def told(options: object, path: str) -> str:
    """Do what options say of a checkpoint that is written; return where it is."""
    if options is not None:
        if not isinstance(options, CheckpointOptions):
            raise TypeError(f"options: {options!r}, expected a tf.train.CheckpointOptions")
        options.written(path)
    return path


LOCAL = (None, "", "localhost", "/job:localhost")
"""Devices whose files are those of this process."""


@dataclass
class SaveOptions:
    """How a module is saved: custom gradients are, always; what is not supported is refused."""

    namespace_whitelist: Sequence[str] | None = None
    save_debug_info: bool = False
    function_aliases: Mapping[str, object] | None = None
    experimental_debug_stripper: bool = False
    experimental_io_device: str | None = None
    experimental_variable_policy: object = None
    experimental_custom_gradients: bool = True
    experimental_image_format: bool = False
    experimental_skip_saver: bool = False
    experimental_sharding_callback: object = None
    extra_tags: object = None

    def __post_init__(self) -> None:
        _refuse_unsupported(
            self, "namespace_whitelist", "experimental_custom_gradients", "function_aliases"
        )


@dataclass
class LoadOptions:
    """How a module is loaded; what is not supported is refused."""

    allow_partial_checkpoint: bool = False
    experimental_io_device: str | None = None
    experimental_skip_checkpoint: bool = False
    experimental_variable_policy: object = None
    experimental_load_function_aliases: bool = False

    def __post_init__(self) -> None:
        _refuse_unsupported(self, "experimental_load_function_aliases")


def _refuse_unsupported(options: SaveOptions | LoadOptions, *supported: str) -> None:
    """Refuse what options ask for that nothing here does."""
    for each in fields(options):
        value = getattr(options, each.name)
        is_local = each.name == "experimental_io_device" and value in LOCAL
        if value and not is_local and each.name not in supported:
            raise UnimplementedError(f"{each.name}={value!r} of {type(options).__name__}")


GRAPH = "graph.json"
"""The file of a saved module with its objects."""


def is_module_folder(path: str) -> bool:
    """Say whether a path is that of a saved module."""
    return os.path.isfile(os.path.join(path, GRAPH))


def values_of_module(folder: str) -> dict[str, Array]:
    """Return the values of a saved module's variables, by the attributes that lead to them."""
    try:
        data: dict[str, Any] = json.loads((Path(folder) / GRAPH).read_text())
        values = read_safetensors(
            np.array(map_beside(Path(folder), data["values"])), data["values"]
        )
        found: dict[str, Array] = {}
        seen, waiting = {0}, deque([(0, "")])
        while waiting:
            number, path = waiting.popleft()
            each = data["objects"][number]
            if each["kind"] == "variable":
                found[path] = values[each["name"]]
            parts = each.get("children", {})
            for key, child in parts.items() if isinstance(parts, dict) else enumerate(parts):
                name = in_path(str(key))
                if child not in seen:
                    seen.add(child)
                    waiting.append((child, f"{path}/{name}" if path else name))
    except (LookupError, TypeError, AttributeError, ValueError, ParseError) as error:
        raise DamagedCheckpointError(f"no saved module: {error}", location=folder) from error
    return found
