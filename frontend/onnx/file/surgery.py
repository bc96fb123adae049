"""Change an ONNX model as the file that it is: cut, rename, give other shapes, other versions.

    surgery = Surgery.of("model.onnx")
    surgery.extract(["hidden"], ["scores"])
    surgery.save(Path("tail.onnx"))

Nothing is rewritten that was not asked for; weights beside the model stay in their file where the
new model lies in the same folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    external_data_helper,
    helper,
    shape_inference,
)

from ....errors import GraphError, UnsupportedOp, did_you_mean
from ....ir import Program
from ....ir.program import result_names, result_specs
from ....runtime.files import replacing, together
from ...dims.symbols import ShapeOption
from ...files.beside import map_file
from ..export.model import ALIGNMENT, EMBEDDED, SMALL, converted
from .read import read_model


def convert_version(source: str | bytes, path: Path, opset: int) -> Path:
    """Write a model for another version of the operator set; return the path."""
    surgery = Surgery.of(source)
    surgery.load_weights()
    model = converted(surgery.proto, opset)
    with replacing(path) as file:
        file.write(model.SerializeToString(deterministic=True))
    return path


@dataclass
class Surgery:
    """A model that is being changed."""

    proto: ModelProto
    name: str
    directory: Path | None

    @classmethod
    def of(cls, source: str | bytes) -> Surgery:
        """Return the model in a file or in bytes, after a look whether it is one."""
        if isinstance(source, bytes):
            name, directory, data = "<bytes>", None, source
        else:
            path = Path(source)
            name, directory, data = path.name, path.parent, map_file(path).tobytes()
        read_model(np.frombuffer(data, np.uint8), name, directory)  # raises what is wrong
        proto = ModelProto()
        proto.ParseFromString(data)
        return cls(proto, name, directory)

    @property
    def graph(self) -> GraphProto:
        """Return the main graph."""
        return self.proto.graph

    # Cutting.

    def extract(self, first: Sequence[str], last: Sequence[str]) -> None:
        """Keep what leads from the values `first` to the values `last`."""
        graph = self.graph
        outputs = list(last) or [value.name for value in graph.output]
        known = self._values()
        self._refuse_unknown([*first, *outputs], known)
        makers = {name: node for node in graph.node for name in node.output if name}
        kept, needed = _leading(outputs, frozenset(first), makers)
        cut_through = [name for name in needed if name not in known]
        if cut_through:
            raise GraphError(f"nothing makes the value {cut_through[0]!r}", location=self.name)
        stored = _stored(graph)
        inputs = {value.name for value in graph.input} - stored
        begins = [n for n in needed if n in inputs or (n in first and n not in stored)]
        wanted = [known[name] for name in begins], [known[name] for name in outputs]
        for field, values in zip((graph.input, graph.output), wanted, strict=True):
            del field[:]
            field.extend(values)
        order = [node for node in graph.node if id(node) in kept]
        nodes = [_copied(node) for node in order]
        del graph.node[:]
        graph.node.extend(nodes)
        self._keep_weights(set(needed))

    def _keep_weights(self, needed: set[str]) -> None:
        """Keep the stored tensors that are read, and no shapes of values that are gone."""
        graph = self.graph
        unused = [i for i, t in enumerate(graph.initializer) if t.name not in needed]
        for index in reversed(unused):
            del graph.initializer[index]
        sparse = enumerate(graph.sparse_initializer)
        for index in reversed([i for i, t in sparse if t.values.name not in needed]):
            del graph.sparse_initializer[index]
        made = {name for node in graph.node for name in node.output}
        shapes = [_copied(value) for value in graph.value_info if value.name in made]
        del graph.value_info[:]
        graph.value_info.extend(shapes)

    def drop_unread_weights(self) -> None:
        """Keep the stored tensors that something reads."""
        read = {name for node in self.graph.node for name in node.input}
        read |= {name for node in self.graph.node for name in _captured(node)}
        self._keep_weights(read | {value.name for value in self.graph.output})

    def _values(self) -> dict[str, ValueInfoProto]:
        """Return all values of the main graph with what is known of their types."""
        inferred = shape_inference.infer_shapes(self.proto).graph
        found = {v.name: v for v in (*inferred.input, *inferred.value_info, *inferred.output)}
        for tensor in inferred.initializer:
            info = helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            found.setdefault(tensor.name, info)
        for node in inferred.node:
            for name in filter(None, node.output):
                found.setdefault(name, ValueInfoProto(name=name))
        return {name: _copied(value) for name, value in found.items()}

    def _refuse_unknown(self, names: Sequence[str], known: Mapping[str, object]) -> None:
        for name in names:
            if name not in known:
                hint = did_you_mean(name, list(known))
                raise GraphError(f"there is no value {name!r}", location=self.name, hint=hint)

    # Naming.

    def rename(self, names: Mapping[str, str]) -> int:
        """Give values other names; return at how many places they stood."""
        known = self._values()
        self._refuse_unknown(list(names), known)
        left = {*known, *_inner_names(self.graph)} - names.keys()
        for old, new in names.items():
            if new in left or list(names.values()).count(new) > 1:
                raise GraphError(f"{old!r}: the name {new!r} is taken", location=self.name)
        return _renamed(self.graph, names)

    # Shapes.

    def reshape(self, program: Program, shapes: Mapping[str, ShapeOption]) -> dict[str, str]:
        """Give inputs other shapes; return the shapes of the outputs that follow.

        `program` is the model as it was read with these shapes, so that all its nodes take them.
        """
        graph = self.graph
        for value in graph.input:
            if value.name in shapes:
                _set_shape(value, shapes[value.name])
        del graph.value_info[:]
        found = {}
        specs = zip(result_names(program.main), result_specs(program.main), strict=True)
        outputs = {value.name: value for value in graph.output}
        for name, spec in specs:
            dims = tuple(d if isinstance(d, int) else str(d) for d in spec.dims)
            _set_shape(outputs[name], dims)
            found[name] = str(spec)
        return found

    # Looking inside.

    def mark(self) -> dict[str, NodeProto]:
        """Make outputs of all tensors that nodes give; return them in order, and what gives each.

        Sequences, optionals and texts are left out, and what lies inside of branches and loops.
        """
        known, graph = self._values(), self.graph
        found = {
            name: node
            for node in graph.node
            for name in filter(None, node.output)
            if node.op_type != "Constant" and _is_numeric(known[name])
        }
        there = {value.name for value in graph.output}
        graph.output.extend(known[name] for name in found if name not in there)
        return found

    # Writing.

    def save(self, path: Path) -> list[Path]:
        """Write the model; return the paths of the files that were written."""
        external = [t for t in self._tensors() if t.data_location == TensorProto.EXTERNAL]
        moved = self.directory is None or path.parent.resolve() != self.directory.resolve()
        if not external or not moved:
            with replacing(path) as file:
                file.write(self.proto.SerializeToString(deterministic=True))
            return [path]
        self.load_weights()
        size = sum(len(tensor.raw_data) for tensor in self._tensors())
        if size <= EMBEDDED:
            with replacing(path) as file:
                file.write(self.proto.SerializeToString(deterministic=True))
            return [path]
        data = path.with_name(f"{path.name}.data")
        with together():
            with replacing(data) as file:
                self._move_weights(file, data.name)
            with replacing(path) as file:
                file.write(self.proto.SerializeToString(deterministic=True))
        self.directory = path.parent
        return [path, data]

    def _move_weights(self, file: BinaryIO, location: str) -> None:
        """Write the bytes of large weights into a file; they are out of the model then."""
        end = 0
        for tensor in self._tensors():
            size = len(tensor.raw_data)
            if size <= SMALL:
                continue
            gap = -end % ALIGNMENT
            file.write(bytes(gap))
            file.write(tensor.raw_data)
            external_data_helper.set_external_data(tensor, location, end + gap, size)
            tensor.ClearField("raw_data")
            end += gap + size

    def load_weights(self) -> None:
        """Take weights that are in other files into the model."""
        if self.directory is not None:
            external_data_helper.load_external_data_for_model(self.proto, str(self.directory))

    def _tensors(self) -> Iterator[TensorProto]:
        for graph in graphs_of(self.graph):
            yield from graph.initializer


MessageT = TypeVar("MessageT", NodeProto, ValueInfoProto)


def _copied(message: MessageT) -> MessageT:
    """Return a copy of a protobuf message, which lives on when its list is emptied."""
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def _is_numeric(value: ValueInfoProto) -> bool:
    """Say whether a value is a tensor of numbers, as far as is known."""
    kind = value.type.WhichOneof("value")
    is_text = kind == "tensor_type" and value.type.tensor_type.elem_type == TensorProto.STRING
    return kind in (None, "tensor_type") and not is_text


def _stored(graph: GraphProto) -> set[str]:
    return {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}


def _leading(
    outputs: Sequence[str], first: frozenset[str], makers: Mapping[str, NodeProto]
) -> tuple[set[int], list[str]]:
    """Return which nodes lead to the outputs, and the values that no kept node makes."""
    kept: set[int] = set()
    seen: dict[str, None] = {}
    waiting = list(outputs)
    while waiting:
        name = waiting.pop()
        node = None if name in first else makers.get(name)
        if node is None:
            seen[name] = None
        elif id(node) not in kept:
            kept.add(id(node))
            waiting += [*filter(None, node.input), *_captured(node)]
    return kept, list(seen)


def graphs_of(graph: GraphProto) -> Iterator[GraphProto]:
    """Give a graph, and all graphs inside of its nodes."""
    yield graph
    for node in graph.node:
        for inner in _bodies(node):
            yield from graphs_of(inner)


def _bodies(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _captured(node: NodeProto) -> set[str]:
    """Return the names that graphs inside of a node take from around it."""
    found: set[str] = set()
    for graph in _bodies(node):
        own = {value.name for value in graph.input} | _stored(graph)
        own |= {name for inner in graph.node for name in inner.output}
        read = {name for inner in graph.node for name in filter(None, inner.input)}
        read |= {value.name for value in graph.output}
        read |= {name for inner in graph.node for name in _captured(inner)}
        found |= read - own
    return found


def _inner_names(graph: GraphProto) -> set[str]:
    """Return the names of values in graphs inside of nodes."""
    found: set[str] = set()
    for inner in graphs_of(graph):
        if inner is not graph:
            found |= {value.name for value in inner.input} | _stored(inner)
            found |= {name for node in inner.node for name in node.output}
    return found


def _renamed(graph: GraphProto, names: Mapping[str, str]) -> int:
    """Change names in a graph and those inside of it; return at how many places."""
    count = 0
    for field in (graph.input, graph.output, graph.value_info, graph.initializer):
        for each in field:
            if each.name in names:
                each.name = names[each.name]
                count += 1
    for sparse in graph.sparse_initializer:
        if sparse.values.name in names:
            sparse.values.name = names[sparse.values.name]
            count += 1
    for node in graph.node:
        for row in (node.input, node.output):
            for index, name in enumerate(row):
                if name in names:
                    row[index] = names[name]
                    count += 1
        count += sum(_renamed(inner, names) for inner in _bodies(node))
    return count


def _set_shape(value: ValueInfoProto, shape: ShapeOption) -> None:
    if value.type.WhichOneof("value") != "tensor_type":
        raise UnsupportedOp(f"{value.name!r} is no tensor")
    dims = value.type.tensor_type.shape.dim
    del dims[:]
    for extent in shape:
        dim = dims.add()
        if isinstance(extent, int):
            dim.dim_value = extent
        elif extent is not None:
            dim.dim_param = str(extent)
