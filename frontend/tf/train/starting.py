"""Variables that start with what a checkpoint has: `init_from_checkpoint`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...graph.checkpoint_ops import RestoreVariables
from ...values.context import entered
from ..core.shapes import TensorShape
from ..graph.state import Variable
from ..ops.creation import constant
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
