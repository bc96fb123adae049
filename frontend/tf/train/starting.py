"""Variables that start with what a checkpoint has: `init_from_checkpoint`, `warm_start`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ....ir.op import Array
from ...graph.checkpoint_ops import RestoreVariables
from ...values.context import entered
from ..core.shapes import TensorShape
from ..graph.graph_lists import GraphKeys, get_collection
from ..graph.state import Variable
from ..ops.array_ops import where
from ..ops.creation import constant, zeros
from ..variables.partitioned import PartitionedVariable
from ..variables.scopes import scopes
from .savers import CheckpointReader, checkpoint_path, load_checkpoint


def init_from_checkpoint(
    ckpt_dir_or_file: str, assignment_map: Mapping[str, object] | Sequence[tuple[str, object]]
) -> None:
    """Let initialisers of variables read a checkpoint.

    The map says which values become which variables: names (or scopes, with a slash behind) of
    the checkpoint to names, scopes, variables, or parts of one.
    """
    reader, path = load_checkpoint(ckpt_dir_or_file), checkpoint_path(ckpt_dir_or_file)
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    known = scopes().variables
    for old, new in pairs:
        if isinstance(new, Variable):
            _start(new, old, reader, path)
        elif isinstance(new, list | tuple):
            _start_parts(new, old, reader)
        elif not isinstance(new, str):
            raise TypeError(f"assignment_map: {new!r} is no name, variable, or list of parts")
        elif not new.endswith("/"):
            if new not in known:
                raise ValueError(
                    f"Assignment map with scope only name {new} should map to scope only {old}. "
                    "Should be 'scope/': 'other_scope/'."
                    if old.endswith("/")
                    else f"Tensor {new} is not found in current graph."
                )
            _start(known[new], old, reader, path)
        else:
            _start_scope(known, old, new, reader, path)


def _start_scope(
    known: Mapping[str, Variable | PartitionedVariable],
    old: str,
    new: str,
    reader: CheckpointReader,
    path: str,
) -> None:
    """Let all variables of a scope start with those of a scope of a checkpoint."""
    if not old.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {new} should map to scope only {old}. Should be "
            "'scope/': 'other_scope/'."
        )
    inner, outer = (each if each != "/" else "" for each in (new, old))
    found = {name: v for name, v in known.items() if name.startswith(inner)}
    for name, variable in found.items():
        label = outer + name.removeprefix(inner)
        if not reader.has_tensor(label):
            raise ValueError(
                f"Tensor {label} ({name.removeprefix(inner)} in {old}) is not found in {path} "
                "checkpoint"
            )
        _start(variable, label, reader, path)


def _start(
    variable: Variable | PartitionedVariable, name: str, reader: CheckpointReader, path: str
) -> None:
    """Let a variable start with a value of a checkpoint."""
    if not reader.has_tensor(name):
        raise ValueError(
            f"Tensor {name} is not found in {path} checkpoint {reader.get_variable_to_shape_map()}"
        )
    shape = reader.get_variable_to_shape_map()[name]
    if not variable.shape.is_compatible_with(shape):
        raise ValueError(
            f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape of "
            f"tensor {name} ({TensorShape(shape).as_list()}) from checkpoint reader."
        )
    if isinstance(variable, PartitionedVariable):
        _start_parts(list(variable), name, reader)
        return
    graph = variable.graph
    if graph is None:
        variable.assign(reader.get_tensor(name))
        return
    scope = graph.name_scope("checkpoint_initializer")
    with entered(graph), graph.control_dependencies(None), scope:
        kind = RestoreVariables({name: variable.state})
        variable.initializer = graph.add(kind, [graph.owned(constant(path))], name="RestoreV2")
    variable.state.initial = variable.initializer


def _start_parts(parts: Sequence[Variable], name: str, reader: CheckpointReader) -> None:
    """Let the parts of a variable start with the parts of a value, which is read now."""
    value, begin = np.asarray(reader.get_tensor(name)), 0
    shapes = [part.shape.known() for part in parts]
    axis = next((i for i, n in enumerate(value.shape) if shapes[0][i] != n), 0)
    for part, shape in zip(parts, shapes, strict=True):
        piece = value.take(range(begin, begin + shape[axis]), axis)
        begin += shape[axis]
        if part.graph is None:
            part.assign(piece)
            continue
        with entered(part.graph), part.graph.control_dependencies(None):
            part.initializer = part.assign(constant(piece, part.dtype), read_value=False)
        part.state.initial = part.initializer


class VocabInfo(NamedTuple):
    """Of a matrix whose rows (or columns) are those of words: the words now, and before."""

    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Callable[..., object] | None = None
    axis: int = 0


def _warmed(wanted: object) -> dict[str, list[Variable]]:
    """Return the variables that are to start warm, by name; parts of one stand together."""
    if wanted is None or isinstance(wanted, str):
        found = get_collection(GraphKeys.TRAINABLE_VARIABLES, wanted)
    elif isinstance(wanted, list) and all(isinstance(v, str) for v in wanted):
        found = [v for scope in wanted for v in get_collection(GraphKeys.GLOBAL_VARIABLES, scope)]
    elif isinstance(wanted, list) and all(isinstance(v, Variable) for v in wanted):
        found = wanted
    else:
        raise ValueError(
            "`vars_to_warm_start` must be a str, None, or a list that is all `Variable` or all "
            f"`str`, got {wanted!r}"
        )
    wholes = {id(part): whole for whole in scopes().variables.values()
              if isinstance(whole, PartitionedVariable) for part in whole}  # fmt: skip
    made: dict[str, list[Variable]] = {}
    for each in found:
        assert isinstance(each, Variable), "the lists are of variables"
        named = wholes.get(id(each), each)
        made.setdefault(named.name.removesuffix(":0"), []).append(each)
    return made


def warm_start(
    ckpt_to_initialize_from: str,
    vars_to_warm_start: object = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Let variables start with the values that a checkpoint has under the same names, or others."""
    words, before = dict(var_name_to_vocab_info or {}), dict(var_name_to_prev_var_name or {})
    found = _warmed(vars_to_warm_start)
    for given, label in ((before, "var_name_to_prev_var_name"), (words, "var_name_to_vocab_info")):
        if unused := [name for name in given if name not in found]:
            raise ValueError(
                f"You provided the following variables in {label} that were not used: {unused}. "
                f"Perhaps you misspelled them?  Viable variable names: {[*found]}"
            )
    for name, parts in found.items():
        old = before.get(name, name)
        if name in words:
            _start_with_words(parts, old, ckpt_to_initialize_from, words[name])
        elif vars_to_warm_start:
            whole = parts[0] if len(parts) == 1 else parts
            init_from_checkpoint(ckpt_to_initialize_from, [(old, whole)])


def _start_with_words(parts: Sequence[Variable], old: str, path: str, info: VocabInfo) -> None:
    """Let a matrix start with the rows or columns of the words that were there before."""
    if info.axis not in (0, 1):
        raise ValueError(
            f"The only supported values for the axis argument are 0 and 1: {info.axis}"
        )
    value = np.asarray(load_checkpoint(path).get_tensor(old))
    texts = [Path(each).read_bytes().splitlines() for each in (info.old_vocab, info.new_vocab)]
    known = texts[0] if info.old_vocab_size < 0 else texts[0][: info.old_vocab_size]
    places = {word: i for i, word in enumerate(known)}
    now = [places.get(word, -1) for word in texts[1][: info.new_vocab_size]]
    taken = np.array([*now, *[-1] * info.num_oov_buckets])
    begin = 0
    for part in parts:
        shape = part.shape.known()
        rows = taken[begin : begin + shape[0]] if info.axis == 0 else taken
        begin += shape[0]
        start = value if info.axis == 0 else value[begin - shape[0] : begin]
        _start_mixed(part, start.take(np.maximum(rows, 0), info.axis), rows < 0, info)


def _start_mixed(part: Variable, values: Array, new: Array, info: VocabInfo) -> None:
    """Let a variable start with values, and where there were none with those of an initialiser."""
    shape = part.shape.known()
    if list(values.shape) != list(shape):
        raise ValueError(f"{part.name} has shape {shape}, of the checkpoint comes {values.shape}")
    graph = part.graph
    if graph is None:
        raise ValueError(f"warm_start: {part.name} is a variable of no graph")
    with entered(graph), graph.control_dependencies(None):
        blank = zeros(shape, part.dtype)
        other = (
            blank if info.backup_initializer is None else info.backup_initializer(shape, part.dtype)
        )
        mask = np.broadcast_to(new[:, None] if info.axis == 0 else new, shape[:2])
        mixed = where(mask, other, constant(values, part.dtype))
        part.initializer = part.assign(mixed, read_value=False)
    part.state.initial = part.initializer
