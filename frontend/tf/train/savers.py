"""Saving variables and reading them again: Saver, Checkpoint, and looking into files.

The data is a safetensors file, replaced as a whole; beside it, `checkpoint` names the latest.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from ....ir.op import Array
from ...formats.messages import SaverDef
from ...formats.schema import ENUMS
from ...function.names import group
from ...function.session import fetched
from ...function.traces import ACTIVE
from ...graph.checkpoint_ops import (
    NOTE,
    OBJECT_GRAPH,
    PART,
    Files,
    NoCheckpointError,
    Note,
    RestoreVariables,
    SaveShards,
    SaveVariables,
    exists,
    has_objects,
    keep_newest,
    read,
)
from ...graph.graph import Graph, GraphTensor, Operation
from ...graph.variables import VariableState
from ...values.context import entered, executing_eagerly
from ...values.devices import parse_device
from ...values.dtypes import DataType
from ...values.run_errors import NotFoundError
from ..core.element_types import as_dtype
from ..core.shapes import TensorShape
from ..graph.graph_lists import saveable_variables
from ..graph.sessions import Session
from ..graph.state import TfGraph, Variable, default_of, get_default_graph
from ..ops.creation import constant
from ..variables.partitioned import PartitionedVariable
from .meta_graph import MetaGraphDef, SaverData, add_meta_graph, export_meta_graph, read_meta_graph


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """Return the newest checkpoint of a folder."""
    note = Note.read(Path(checkpoint_dir) / (latest_filename or NOTE))
    return None if note is None else os.path.join(checkpoint_dir, note.latest)


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """Return names and shapes."""
    path = checkpoint_path(ckpt_dir_or_file)
    found = [(name, list(value.shape)) for name, value in read(path).items()]
    return sorted([*found, (OBJECT_GRAPH, [])] if has_objects(path) else found)


def load_variable(ckpt_dir_or_file: str, name: str) -> Array:
    """Return one value."""
    found = read(checkpoint_path(ckpt_dir_or_file)).get(name.removesuffix(":0"))
    if found is None:
        raise NotFoundError(f"Key {name} not found in checkpoint")
    return found


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Say whether there is a checkpoint of a name."""
    return exists(local(checkpoint_prefix))


def local(path: str | os.PathLike[str]) -> str:
    """Return a path of this machine, which may be given as `file://PATH`."""
    return os.fspath(path).removeprefix("file://")


class CheckpointReader:
    """Looks into one checkpoint."""

    def __init__(self, values: dict[str, Array]) -> None:
        self._values = values

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shapes by name."""
        return {name: list(value.shape) for name, value in self._values.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DataType]:
        """Return the element types by name."""
        return {name: as_dtype(value.dtype) for name, value in self._values.items()}

    def debug_string(self) -> bytes:
        """Return a line for each value: name, element type and shape."""
        types = {number: name for name, number in ENUMS["DataType"].items()}
        lines = [
            f"{name} ({types[as_dtype(value.dtype).as_datatype_enum]}) "
            f"[{','.join(map(str, value.shape))}]"
            for name, value in sorted(self._values.items())
        ]
        return "".join(f"{line}\n" for line in lines).encode()

    def has_tensor(self, tensor_str: str) -> bool:
        """Say whether there is a value of a name."""
        return tensor_str in self._values

    def get_tensor(self, tensor_str: str) -> Array | np.generic:
        """Return a value."""
        if tensor_str not in self._values:
            raise NotFoundError(f"Key {tensor_str} not found in checkpoint")
        value = fetched([self._values[tensor_str]])[0]
        assert value is not None, "checkpoints hold values"
        return value


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """Return what looks into a checkpoint, or the newest of a folder."""
    path = checkpoint_path(ckpt_dir_or_file)
    if not checkpoint_exists(path):
        raise NoCheckpointError(
            "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
            f"{ckpt_dir_or_file}"
        )
    return CheckpointReader(read(path))


def checkpoint_path(path: str) -> str:
    """Return a checkpoint, which may be the newest of a folder."""
    return (latest_checkpoint(path) or path) if os.path.isdir(path) else path


def _given(sess: Session | None) -> Session:
    """Return a session, or raise where there is none."""
    if sess is None:
        raise TypeError("'sess' must be a Session, as the variables are of a graph; None given.")
    return sess


PARTS = "checkpoint_parts"
"""The method of objects that say themselves what is kept of them."""


class SavedPart(Protocol):
    """What a saver saves: a variable, or a part of something else."""

    @property
    def state(self) -> VariableState:
        """Return what has the value."""


def _parts(value: object) -> list[SavedPart]:
    """Return what a saver saves of something."""
    parts = getattr(value, PARTS, None)
    if parts is not None:
        return [*parts().values()]
    return [*value] if isinstance(value, PartitionedVariable) else [cast("SavedPart", value)]


def _by_name(given: Mapping[str, object] | Iterable[object]) -> dict[str, SavedPart]:
    """Return variables by what names them in files: they must differ; parts are named as such."""
    found: dict[str, SavedPart] = {}
    pairs = given.items() if isinstance(given, Mapping) else (("", each) for each in given)
    for name, value in pairs:
        for each in _parts(value):
            whole, _, share = each.state.part.partition(PART)
            key = name or whole or each.state.name
            if name and not isinstance(each, Variable):
                key = f"{name}-{each.state.name.rpartition('-')[2]}"
            key = f"{key}{PART}{share}" if share and PART not in key else key
            if found.setdefault(key, each) is not each:
                raise ValueError(
                    f"Two different ResourceVariable objects with the same shared_name "
                    f"{each.state.name!r} were passed to the Saver"
                )
    return found


class Saver:
    """Saves and restores the variables of a session, by nodes of the graph.

    Each task of a cluster writes the variables that it has, as a shard (all tasks see one folder);
    `sharded` makes a shard of those of a single task too.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: object = None,
        builder: object = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: object = None,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        del restore_sequentially, write_version, save_relative_paths
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        self._file = filename or "model"
        for option, value in (("saver_def", saver_def), ("builder", builder)):
            if value is not None:
                raise NotImplementedError(f"Saver: {option} is not supported")
        self._reshape = reshape
        self._given, self._name, self._may_be_empty = var_list, name, allow_empty
        self._var_list = var_list
        """What is saved, as it was given: code of others asks for it by this name."""
        self._keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._pads, self._sharded = pad_step_number, sharded
        self._next = time.time() + keep_checkpoint_every_n_hours * 3600
        self._last: list[str] = []
        self._built = False
        self._states: dict[str, VariableState] | None = None
        """The variables outside of graphs: they are saved and restored without a session."""
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Add the nodes that save and restore to the graph, if they are not there yet."""
        if self._built:
            return
        self._built = True
        if self._given is None and executing_eagerly():
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of "
                "variables to save"
            )
        found = self._given if self._given is not None else saveable_variables()
        self._var_list = found
        self._empty = not found
        if self._empty:
            if not self._may_be_empty:
                raise ValueError("No variables to save")
            return
        self._variables = _by_name(found)
        states = {n: v.state for n, v in self._variables.items()}
        first = next(iter(self._variables.values()))
        home = getattr(first, "graph", None)
        if executing_eagerly() and home is None:
            self._states = states
            return
        graph = home or get_default_graph()
        with (
            entered(graph),
            graph.control_dependencies(None),
            graph.name_scope(None),
            graph.name_scope(self._name or "save"),
        ):
            self._path = default_of(constant(self._file), [], name="Const")
            groups = self._groups(states)
            self._save = self._saving(graph, groups)
            kinds = [RestoreVariables(group, reshape=self._reshape) for group in groups]
            self._restore = self._all(graph, kinds, "restore_all")

    def _groups(self, states: dict[str, VariableState]) -> list[dict[str, VariableState]]:
        """Return the variables, in groups of those that a task has."""
        found: dict[str, dict[str, VariableState]] = {}
        for name, state in states.items():
            wanted = parse_device("" if state.home is None else state.home.device)
            found.setdefault(f"{wanted.job}:{wanted.task}", {})[name] = state
        return [*found.values()]

    def _all(self, graph: Graph, kinds: Sequence[Files], name: str) -> Operation:
        """Add nodes, and what waits for all of them if there are several."""
        parts = name if len(kinds) == 1 else f"{name}/shard"
        made = [graph.add(kind, [self._path], name=parts) for kind in kinds]
        for op, kind in zip(made, kinds, strict=True):
            home = next(iter(kind.states.values())).home
            op.device = "" if home is None or len(kinds) == 1 else home.device
        return made[0] if len(made) == 1 else group(*made, name=name)

    def _saving(self, graph: Graph, groups: Sequence[dict[str, VariableState]]) -> Operation:
        """Add what saves: as shards where tasks have the variables, or that is wanted."""
        count = len(groups)
        if count == 1 and not self._sharded:
            return self._all(graph, [SaveVariables(groups[0])], "SaveV2")
        kinds = [SaveVariables(each, n, count) for n, each in enumerate(groups)]
        with graph.control_dependencies([self._all(graph, kinds, "SaveV2")]):
            return graph.add(SaveShards(count), [self._path], name="MergeV2Checkpoints")

    @property
    def last_checkpoints(self) -> list[str]:
        """Return the checkpoints that are kept, the newest last."""
        return self._last

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Say which checkpoints are kept."""
        self._last = list(last_checkpoints)

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: Sequence[tuple[str, float]]
    ) -> None:
        """Say which checkpoints are kept, and when they were written."""
        self._last = [path for path, _ in last_checkpoints_with_time]

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Say which checkpoints are kept, of those that are there."""
        self._last = [path for path in checkpoint_paths if checkpoint_exists(path)]

    def save(
        self,
        sess: Session | None,
        save_path: str,
        global_step: object = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Write the values, and the graph beside them; return the path with the step in it.

        Variables outside of graphs are written without a session, and no graph beside them.
        Without variables only the graph is written, and the path is None.
        """
        del strip_default_attrs, save_debug_info
        self._check_built()
        path, note = local(save_path), latest_filename or NOTE
        if os.path.dirname(note):
            raise ValueError("'latest_filename' must not contain path components")
        if global_step is None and not self._sharded and os.path.basename(path) == note:
            raise ValueError(
                f"'latest_filename' collides with 'save_path': '{note}' and '{save_path}'"
            )
        if global_step is not None:
            is_told = sess is not None and hasattr(global_step, "graph")
            step = int(_given(sess).run(global_step) if is_told else np.asarray(global_step))
            path = f"{path}-{step:08d}" if self._pads else f"{path}-{step}"
        if self._states is not None:
            SaveVariables(self._states).use(ACTIVE[-1], path)
        elif not self._empty:  # (by names, as the session may be one of another graph)
            _given(sess).run(self._save.name, {self._path.name: path})
        if write_meta_graph and sess is not None and self._states is None:
            export_meta_graph(f"{path}.{meta_graph_suffix}", sess.graph, self.names())
        if self._empty:
            return None
        if write_state:
            self._note(path, note, meta_graph_suffix)
        return path

    def _note(self, path: str, note: str, meta: str) -> None:
        """Note a checkpoint as the newest, and delete what is too old."""
        if not self._keep:
            keep_newest(path, [], None, note)
            return
        before = list(self._last)
        if self._last and time.time() > self._next:
            self._last.pop(0)  # one that stays for good
            self._next += self._hours * 3600
        keep_newest(path, self._last, self._keep, note)
        for gone in before:
            if not checkpoint_exists(gone):
                Path(f"{gone}.{meta}").unlink(missing_ok=True)

    def _check_built(self) -> None:
        """Raise where nodes of a graph were to be added later, and were not."""
        if not self._built and not executing_eagerly():
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        self.build()

    def restore(self, sess: Session | None, save_path: str | None) -> None:
        """Read the values; nothing is changed if one is missing."""
        self._check_built()
        if self._empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        if self._states is not None:
            RestoreVariables(self._states, reshape=self._reshape).use(ACTIVE[-1], local(save_path))
        else:
            _given(sess).run(self._restore.name, {self._path.name: local(save_path)})

    def as_saver_def(self) -> SaverDef:
        """Return what is known of the saver as a message."""
        self.build()
        made = SaverDef(
            max_to_keep=self._keep or 0,
            sharded=self._sharded,
            keep_checkpoint_every_n_hours=self._hours,
            version=SaverDef.V2,
        )
        if not self._empty and self._states is None:
            made.filename_tensor_name = self._path.name
            made.save_tensor_name = f"{self._save.name}:0"
            made.restore_op_name = self._restore.name
        return made

    saver_def = property(as_saver_def)

    def names(self) -> SaverData | None:
        """Return what a saver of the same variables is made from."""
        if self._empty:
            return None
        return {
            "variables": {
                name: v.op.name for name, v in self._variables.items() if isinstance(v, Variable)
            },
            "keep": self._keep,
            "name": self._name,
        }

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: Sequence[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> MetaGraphDef:
        """Return the graph as data, with its lists and this saver; write it to a file."""
        return export_meta_graph(
            filename,
            None,
            self.names(),
            collection_list,
            clear_devices,
            as_text=as_text,
            export_scope=export_scope,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )


def create_global_step(graph: TfGraph | None = None) -> Variable:
    """Return the count of steps of a graph, which has none yet."""
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    return get_or_create_global_step(graph)


def get_or_create_global_step(graph: TfGraph | None = None) -> Variable:
    """Return the count of steps of a graph, made now if there is none."""
    found = get_global_step(graph)
    if found is None:
        home = graph or get_default_graph()
        with entered(home):
            found = Variable(np.int64(0), trainable=False, name="global_step")
        home.add_to_collection("global_step", found)
    return found


def assert_global_step(global_step_tensor: Variable | GraphTensor) -> None:
    """Raise where a count of steps is none: one integer."""
    dtype, shape = as_dtype(global_step_tensor.dtype), TensorShape(global_step_tensor.shape)
    if not dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {dtype}')
    if shape.rank not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


def get_global_step(graph: TfGraph | None = None) -> Variable | None:
    """Return the count of steps of a graph, None if there is none."""
    home = graph or get_default_graph()
    found: list[Variable] = home.get_collection("global_step")
    found = found or home.get_collection("variables", "global_step:0$")
    if not found:
        return None
    assert_global_step(found[0])
    return found[0]


def import_meta_graph(
    meta_graph_or_file: object,
    clear_devices: bool = False,
    import_scope: str | None = None,
    graph: TfGraph | None = None,
) -> Saver | None:
    """Add a graph as data to a graph; return a saver of its variables, None if there are none."""
    found = read_meta_graph(meta_graph_or_file)
    if clear_devices:
        found = found.without_devices()
    with entered(graph or get_default_graph()):
        return _imported(found, import_scope)


def _imported(found: MetaGraphDef, scope: str | None) -> Saver | None:
    """Add a graph to the default one; return the saver that is stated, or one of all variables."""
    by_name = add_meta_graph(found, scope)
    if found.saver is None:
        return Saver() if saveable_variables(scope) else None
    names = found.saver["variables"].items()
    return Saver(
        {key: by_name[name] for key, name in names},
        max_to_keep=found.saver["keep"],
        name=found.saver["name"],
    )
