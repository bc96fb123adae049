"""A number for what a pipeline does: the same for all that are made alike, in all processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.types.tensor import Array
from ..eager.tensor import Tensor
from ..function.graph_data import NotSerialisableError, Plain, Writer
from ..graph.func_graph import FuncGraph
from ..graph.graph import Graph, GraphTensor, Operation
from ..graph.placement import graphs_in
from ..values.run_errors import UnimplementedError
from .batches import Pile
from .host import ArrayKind
from .order import Shuffled
from .sources import Closing
from .stages import Given, Stage

Places = Mapping[int, int]
"""The numbers of tensors, by their identities, that a pipeline takes from a graph around it."""


def fingerprint(stage: Stage) -> int:
    """Return a number of 64 bits, or raise `UnimplementedError` for what only a process knows."""
    told = json.dumps(of_stage(stage, {}), sort_keys=True).encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "little")


def of_stage(stage: Stage, places: Places) -> Plain:
    """Return what a pipeline does, as data of JSON's."""
    unseeded = issubclass(stage.kind, Shuffled)  # (as in TensorFlow, orders by chance are alike)
    told = [
        (name, each) for name, each in stage.options.items() if not (unseeded and name == "seeds")
    ]
    options = {name: of_option(stage, each, places) for name, each in told}
    return [stage.kind.__name__, [of_stage(each, places) for each in stage.inputs], options]


def of_option(stage: Stage, option: object, places: Places) -> Plain:
    """Return an option of a pipeline."""
    if isinstance(option, Given):
        return of_tensor(option.tensor, places)
    if isinstance(option, tuple):
        return [of_option(stage, each, places) for each in option]
    if isinstance(option, Stage):
        return of_stage(option, places)
    if isinstance(graph := getattr(option, "graph", None), FuncGraph):
        return of_graph(graph, places)
    if isinstance(option, np.ndarray):
        return of_array(option)
    if option is None or isinstance(option, bool | int | float | str | np.dtype):
        return option.name if isinstance(option, np.dtype) else option
    raise UnimplementedError(
        f"the fingerprint of {stage.kind.__name__}: it is in a Python object, expected a source "
        "that other processes can read"
    )


def of_tensor(tensor: Tensor, places: Places) -> Plain:
    """Return a tensor: its number, its value, or its name in a graph."""
    if id(tensor) in places:
        return ["input", places[id(tensor)]]
    if not isinstance(tensor, GraphTensor):
        return of_array(np.asarray(tensor.numpy()))
    if tensor.op.type == "Const":
        return of_array(np.asarray(tensor.op.attributes["value"]))
    return ["tensor", tensor.op.name, tensor.op.outputs.index(tensor)]


def of_array(array: Array) -> Plain:
    """Return the elements of an array."""
    if array.dtype.kind != "O":
        data = hashlib.blake2b(np.ascontiguousarray(array).tobytes()).hexdigest()
        return [array.dtype.name, list(array.shape), data]
    return [list(array.shape), [of_object(each) for each in array.ravel().tolist()]]


def of_object(value: object) -> Plain:
    """Return a text, a pipeline or a value of several arrays."""
    if isinstance(value, Stage):
        return of_stage(value, {})
    if isinstance(value, Pile):
        return [type(value).__name__, *map(of_array, value.arrays())]
    return value.hex() if isinstance(value, bytes) else str(value)


def of_graph(graph: Graph, places: Places) -> Plain:
    """Return what a function does: its operations, and what they take of each other."""
    taken = graph.captures if isinstance(graph, FuncGraph) else []
    inner = list(graph.all_inputs) if isinstance(graph, FuncGraph) else []
    numbers = {id(tensor): number for number, tensor in enumerate(inner)}
    for op in graph.operations:
        for tensor in op.outputs:
            numbers.setdefault(id(tensor), len(numbers))
    told = [of_operation(op, numbers) for op in graph.operations]
    given = [numbers[id(tensor)] for tensor in getattr(graph, "outputs", ())]
    return [told, given, [of_tensor(tensor, places) for tensor in taken]]


def of_operation(op: Operation, numbers: Places) -> Plain:
    """Return what an operation does, with the numbers of its inputs."""
    inputs: Sequence[Plain] = [of_tensor(tensor, numbers) for tensor in op.inputs]
    if isinstance(op.kind, ArrayKind) and isinstance(op.kind.compute, Closing):
        step = op.kind.compute  # which may do more with the pipeline than to give it
        first = len(op.inputs) - len(step.keys)
        taken = zip(step.keys, op.inputs[first:], strict=True)
        around = {key: numbers[id(tensor)] for key, tensor in taken}
        begun = [of_tensor(tensor, numbers) for tensor in op.inputs[:first]]
        return [op.type, *begun, of_stage(step.stage, around)]
    if op.type == "Const":
        return [op.type, of_array(np.asarray(op.attributes["value"]))]
    graphs = graphs_in(op)
    if graphs:
        return [op.type, list(inputs), [of_graph(each, numbers) for each in graphs]]
    if op.type == "Placeholder":
        return [op.type, repr(op.outputs[0].spec)]
    try:
        return [op.type, list(inputs), json.dumps(Writer().kind(op.kind), sort_keys=True)]
    except NotSerialisableError as error:
        raise UnimplementedError(f"the fingerprint of {op.type}: {error.message}") from error
