"""An ONNX graph to a program: inputs, nodes in order, outputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    NodeProto,
    TypeProto,
    ValueInfoProto,
)
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, OpResult, SSAValue

from ...errors import (
    GraphError,
    GravureError,
    ParseError,
    UnsupportedOp,
    did_you_mean,
)
from ...ir import Array, Dim, GraphEmit, Op, Program, Symbol, TensorSpec
from ...ir.host import HostOp, defined, symbols_of
from ...ir.ops.fitted import Meant
from ...ir.program import finish, new_function, set_level, set_ranges
from ...ir.types import dims as dim_rules
from ...ir.types.dtypes import of_numpy
from ...ir.types.values import ANY, OptionalSpec, SequenceSpec, Spec, value_spec
from ...passes.cut_layers import LAYERS
from ...plugins import blaming
from ..dims.assume import Assumption, NeedsAssumptionError, clashes
from ..dims.choose import assumption
from ..dims.symbols import ArrayShape, DimOption, ShapeOption, Symbols
from ..files.beside import Bytes
from .file.checks import check_names, check_node
from .file.data import MAX_BYTES, MAX_RANK, dtype_of
from .file.faults import Faults
from .file.read import OWN_DOMAINS, Model, Stored, graphs_of, initializers, node_label, read_model
from .file.sparse import dense
from .file.wire import NO_FIELDS
from .functions import bind_attributes, fitted, has_function, standard_function
from .layers import Short, shorten
from .node import Node, Parts
from .order import ordered, outer_names
from .registry import TAKES_PARTS, Rule, find_rule, suggestion
from .shapes import KnownEmit
from .spread import spread_counts, spread_given, spread_sizes, taken_back

BAD = (TypeError, ValueError, ArithmeticError, LookupError)
"""What rules raise on attributes and values that make no sense."""

MAX_ASSUMPTIONS = 64
"""A model that needs more is refused."""

MAX_DEPTH = 50
"""Functions and graphs nested deeper than this are refused."""


def read_onnx(  # noqa: PLR0913  (as `load_program`)
    data: Bytes,
    name: str,
    *,
    directory: Path | None = None,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    constants: Mapping[str, Array] | None = None,
    settable: Collection[str] = (),
    short: bool = False,
    whichever: bool = False,
) -> Program:
    """Return the program of a serialised model.

    `shapes` replaces the shapes of inputs by name, `dims` fixes or bounds symbols, `constants`
    gives inputs that are no longer inputs their values. The tensors `settable` stay weights.
    With `short`, most of a long chain of equal layers is left out, as `cut-layers` does it. With
    `whichever`, either of two sizes that broadcast may be 1; a model without such is an error.
    """
    graphs = graphs_of(data, name)
    few = shorten(data, graphs, settable, directory) if short and not constants else None
    model = read_model(data, name, directory, graphs, few.without if few else NO_FIELDS)
    assumptions: list[Assumption] = []
    while True:
        symbols = Symbols(dims, name)
        for each in assumptions:
            symbols.assume(each)
        try:
            given = constants or {}, settable, few
            reader = Reader(model, symbols, Faults(name), *given, whichever=whichever)
            program = reader.read(shapes or {})
            if whichever and not reader.spreads:
                refusal = UnsupportedOp("no two sizes broadcast of which either may be 1")
                refusal.is_needless = True
                raise refusal
            program.assumed = [(str(each), each.reason) for each in assumptions]
            return program
        except NeedsAssumptionError as needs:
            assumptions.append(needs.assumption)
        except NotShortError:
            few, model = None, read_model(data, name, directory, graphs)


class NotShortError(Exception):
    """Layers that looked alike did not become so, or have faults: all of them are to be read."""


class LostError(Exception):
    """A graph inside of a node has a fault, which is noted already."""


class Lost:
    """Stands for a value whose node could not be read."""


LOST = Lost()
Value = SSAValue | Parts | Lost


@dataclass
class Scope:
    """The names that are visible at one place, and where they are looked up."""

    opsets: Mapping[str, int]
    block: Block
    """Where its initializers are put."""
    outer: Scope | None = None
    values: dict[str, Value] = field(default_factory=dict)
    stored: dict[str, Stored] = field(default_factory=dict)
    """Initializers that nobody has asked for yet."""
    attributes: Mapping[str, AttributeProto] = field(default_factory=dict)
    """Inside a function, the attributes that it was called with."""
    prefix: str = ""
    """Put before the names of nodes."""
    depth: int = 0
    trips: tuple[SSAValue, ...] = ()
    """The counts of the trips of the loops around."""

    def inside(self, prefix: str, block: Block, trip: SSAValue | None) -> Scope:
        """Return the scope of a graph inside a node."""
        return Scope(
            self.opsets, block, self, attributes=self.attributes, prefix=prefix,
            depth=self.depth + 1, trips=(*self.trips, *(() if trip is None else (trip,))),
        )  # fmt: skip

    def __contains__(self, name: object) -> bool:
        inner = name in self.values or name in self.stored
        return inner or (self.outer is not None and name in self.outer)


class Reader:
    """Reads one model into a new module."""

    def __init__(  # noqa: PLR0913  (as `read_onnx`)
        self,
        model: Model,
        symbols: Symbols,
        faults: Faults,
        constants: Mapping[str, Array],
        settable: Collection[str] = (),
        few: Short | None = None,
        *,
        whichever: bool = False,
    ) -> None:
        self.settable, self.few = settable, few
        self.model, self.symbols, self.faults = model, symbols, faults
        self.constants = {name: np.asarray(value) for name, value in constants.items()}
        self.weights: dict[str, Array] = {}
        self.of_layers: Mapping[str, str] = few.own if few is not None else {}
        """What weights of layers are called that are weights however small they are."""
        self.emitter: KnownEmit
        self.main: Block
        self.whichever, self.spreads = whichever, 0
        """Whether either of two sizes may be 1 that broadcast, and where that was so."""

    def read(self, shapes: Mapping[str, ShapeOption]) -> Program:
        """Return the program, or raise one error with all that is wrong."""
        graph, few = self.model.graph, self.few
        check_names(self.model)
        stored = initializers(self.model)
        held = stored if few is None else {*few.stored.names}
        for unknown in [each for each in self.settable if each not in held]:
            hint = did_you_mean(unknown, [*held])
            self.faults.add(f"there is no stored tensor {unknown!r} that could be set", hint=hint)
        inputs = self._inputs(graph, held, shapes)
        self.faults.raise_if_any()
        main = new_function("main", inputs)
        block = self.main = main.body.block
        scope = Scope(self.model.opsets, block, stored=stored)
        self.emitter = KnownEmit(GraphEmit.at_end(block), self.symbols.ranges, self.symbols.facts)
        for (name, _), argument in zip(inputs, block.args, strict=True):
            scope.values[name] = argument
        for name, array in self.constants.items():
            node = self._node(NodeProto(op_type="Constant"), name, scope)
            scope.values[name] = node.stored(name, array)
        if few is None:
            self.nodes(self.model.nodes, scope)
        else:
            for index, node in zip(few.nodes, self.model.nodes, strict=True):
                self._read(few.linked(index, node), node_label(node, index), scope)
        values = self._meant(self._outputs(graph, scope))
        self.symbols.check()  # behind the nodes: their results may have dimensions too
        if few is not None and self.faults.found:
            raise NotShortError
        self.faults.raise_if_any()
        finish(main, values, [output.name for output in graph.output])
        sweep(block)
        module = ModuleOp([main])
        set_level(module, "graph")
        set_ranges(module, self.symbols.ranges)
        weights = self._used(block)
        if few is not None:
            missing = few.missing(block, self.weights)
            if missing is None:
                raise NotShortError
            module.attributes[LAYERS] = few.cut.attribute()
            weights |= missing
        return Program(module, weights, self.model.name)

    # Inputs and outputs.

    def _inputs(
        self, graph: GraphProto, stored: Collection[str], shapes: Mapping[str, ShapeOption]
    ) -> list[tuple[str, Spec]]:
        """Return the inputs that are not stored in the model, or are given a shape."""
        found: dict[str, Spec] = {}
        declared = [value.name for value in graph.input]
        for name, array in self.constants.items():
            if name not in declared:
                self.faults.add(f"there is no input {name!r}, inputs are {declared}")
            try:
                of_numpy(array.dtype)
            except TypeError as error:
                self.faults.add(f"constant {name!r}: {error}", supported=False)
        given = {*stored} - {*shapes} | {*self.constants}
        inputs = [value for value in graph.input if value.name not in given]
        names = [value.name for value in inputs]
        for unknown in [name for name in shapes if name not in names]:
            hint = did_you_mean(unknown, names)
            self.faults.add(f"there is no input {unknown!r}, inputs are {names}", hint=hint)
        told = dict[str, ShapeOption | None](shapes) | self._of_arrays(inputs, shapes)
        for value in inputs:
            if value.name in found or not value.name:
                self.faults.add(f"input {value.name!r} is declared twice or has no name")
                continue
            try:
                found[value.name] = self._input(value, told.get(value.name))
            except (GraphError, UnsupportedOp, ParseError) as error:
                supported = not isinstance(error, UnsupportedOp)
                self.faults.add(error.message, hint=error.hint, supported=supported)
        return list(found.items())

    def _of_arrays(
        self, inputs: Sequence[ValueInfoProto], shapes: Mapping[str, ShapeOption | None]
    ) -> dict[str, ShapeOption | None]:
        """Fix what the shapes of arrays tell; return the inputs whose own shape is enough then."""
        done: dict[str, ShapeOption | None] = {}
        for value in inputs:
            shape = shapes.get(value.name)
            if isinstance(shape, ArrayShape) and value.type.tensor_type.HasField("shape"):
                dims = [
                    dim.dim_param or (dim.dim_value if dim.HasField("dim_value") else None)
                    for dim in value.type.tensor_type.shape.dim
                ]
                self.symbols.follow(value.name, dims, shape)
                done[value.name] = None
        return done

    def _input(self, value: ValueInfoProto, option: ShapeOption | None) -> Spec:
        what = f"input {value.name!r}"
        if value.type.WhichOneof("value") != "tensor_type":
            if option is not None:
                raise GraphError(f"{what} is no tensor, expected one to give a shape")
            return held_spec(value.type, what)
        tensor = value.type.tensor_type
        dtype = dtype_of(tensor.elem_type, what)
        if option is None and not tensor.HasField("shape"):
            hint = f"give it: shapes={{{value.name!r}: ...}}"
            raise GraphError(f"{what} has no shape", hint=hint)
        rank = len(tensor.shape.dim)
        if option is not None and tensor.HasField("shape") and len(option) != rank:
            raise GraphError(f"{what} has rank {rank}, the shape given for it {[*option]}")
        if option is not None:
            shape = self.symbols.shape(value.name, option)
        else:
            shape = self._declared(value)
        spec = TensorSpec(dtype, shape)
        if spec.rank > MAX_RANK or (isinstance(spec.nbytes, int) and spec.nbytes >= MAX_BYTES):
            raise GraphError(f"{what}: {spec} is too large")
        return spec

    def _declared(self, value: ValueInfoProto) -> tuple[Dim, ...]:
        dims: list[Dim] = []
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param:
                dims.append(self.symbols.parsed(dim.dim_param))
            elif not dim.HasField("dim_value"):
                dims.append(self.symbols.without_name(f"{value.name}_d{axis}"))
            elif dim.dim_value < 0:
                raise GraphError(
                    f"input {value.name!r} has dimension {dim.dim_value}, expected a size or a name"
                )
            else:
                dims.append(dim.dim_value)
        return tuple(dims)

    def _outputs(self, graph: GraphProto, scope: Scope) -> list[SSAValue]:
        values = []
        if not graph.output:
            self.faults.add("the graph has no outputs")
        for output in graph.output:
            value = self.find(output.name, scope)
            if value is None:
                self.faults.add(f"output {output.name!r} is made by nothing")
            elif not isinstance(value, Lost):
                node = self._node(NodeProto(op_type="Identity"), output.name, scope)
                made = node.value(value)
                self._check_type(output, made)
                values.append(made)
        return values

    def _meant(self, values: list[SSAValue]) -> list[SSAValue]:
        """Have each run look at what is assumed of several sizes: it is said of the first tensor.

        What the range of one size says is looked at anyway.
        """
        specs = [value_spec(value.type) for value in values]
        at = next((i for i, spec in enumerate(specs) if isinstance(spec, TensorSpec)), None)
        if at is None:
            return values
        for each in self.symbols.meant:
            wanted = dim_rules.symbols(each.large - each.small)
            tells = [x for x in self.main.args if wanted & _sizes_of(x)]
            if wanted <= {name for x in tells for name in _sizes_of(x)}:
                text = f"sizes with {each} are expected: {each.reason}"
                rules = {"small": each.small, "large": each.large, "text": text}
                values[at] = self.emitter(Meant, values[at], *tells, **rules)
        return values

    def _check_type(self, output: ValueInfoProto, value: SSAValue) -> None:
        spec = value_spec(value.type)
        if not isinstance(spec, TensorSpec):
            return  # what holds tensors may be declared wider
        declared, found = output.type.tensor_type.elem_type, spec.dtype
        if declared and dtype_of(declared, f"output {output.name!r}") != found:
            expected = dtype_of(declared, "output")
            self.faults.add(f"output {output.name!r} is {found}, declared {expected}")

    def _used(self, block: Block) -> dict[str, Array]:
        """Return the weights that are left after the sweep."""
        names = [
            str(op.plain_attributes()["weight"])
            for op in block.walk()
            if isinstance(op, Op) and op.name == "gv.weight"
        ]
        return {name: self.weights[name] for name in names}

    # Values.

    def find(self, name: str, scope: Scope) -> Value | None:
        """Return the value of a name, or None where there is none."""
        place: Scope | None = scope
        while place is not None:
            if name in place.values:
                return place.values[name]
            if name in place.stored:
                place.values[name] = self._stored(name, place.stored[name], place.block)
                return place.values[name]
            place = place.outer
        return None

    def _stored(self, name: str, stored: Stored, block: Block) -> Value:
        """Return an initializer as a constant or a weight."""
        try:
            array = self.model.tensors.read(*stored)
        except (ParseError, UnsupportedOp) as error:
            self.faults.add(
                error.message, hint=error.hint, supported=not isinstance(error, UnsupportedOp)
            )
            return LOST
        source = self.emitter.emit.source
        scope = Scope(self.model.opsets, block)
        node = self._node(NodeProto(op_type="Constant"), name, scope)
        with node.inside(block):
            called = self.of_layers.get(name, name) if block is self.main else name
            settable = (name in self.settable and block is self.main) or called != name
            value = node.weight(called, array) if settable else node.stored(name, array)
        self.emitter.emit.source = source
        if name.isidentifier():
            value.name_hint = name
        return value

    def add_weight(self, name: str, array: Array) -> Symbol:
        """Store an array under a name like this one, and return the name it got."""
        unique, count = name, 1
        while unique in self.weights:
            count += 1
            unique = f"{name}_{count}"
        self.weights[unique] = array
        return Symbol(unique)

    # Nodes.

    def nodes(self, nodes: Sequence[NodeProto], scope: Scope) -> None:
        """Append all nodes of a graph."""
        order = ordered(nodes, scope, self.faults)
        for index in order:
            label = scope.prefix + node_label(nodes[index], index)
            self._read(nodes[index], label, scope)
        for index in set(range(len(nodes))).difference(order):
            scope.values.update(dict.fromkeys(filter(None, nodes[index].output), LOST))

    def _read(self, proto: NodeProto, label: str, scope: Scope) -> None:
        """Append one node and enter its outputs, `LOST` where it cannot be read."""
        inputs = [(self.find(name, scope) or LOST) if name else None for name in proto.input]
        proto = bind_attributes(proto, scope.attributes)
        node = self._node(proto, label, scope)
        results: Iterable[Value | None] = ()
        try:
            with suppress(LostError):
                results = self._fitted(node, inputs, scope)
        except (*BAD, GraphError, ParseError) as error:
            self._assume(node, inputs, error)
            self._note(node, inputs, error)
        except UnsupportedOp as error:
            self._note(node, inputs, error)
        given = dict(zip(proto.output, results, strict=False))
        for name in filter(None, proto.output):
            value = scope.values[name] = given.get(name) or LOST
            if isinstance(value, OpResult) and value.name_hint is None and name.isidentifier():
                value.name_hint = name

    def _fitted(
        self, node: Node, inputs: Sequence[Value | None], scope: Scope
    ) -> list[Value | None]:
        """Return the outputs of a node; where counts do not broadcast, of inputs that do."""
        for _ in range(MAX_RANK):
            last = node.block.last_op
            try:
                return self._apply(node, inputs, scope)
            except BAD as error:
                if not taken_back(node.block, last):
                    raise
                spread = spread_counts(node, inputs, error, self.main)
                if spread is None:
                    spread = self._spread(node, inputs, error)
                if spread is None:
                    raise
                inputs = spread
        return self._apply(node, inputs, scope)

    def _spread(
        self, node: Node, inputs: Sequence[Value | None], error: BaseException
    ) -> list[Value | None] | None:
        """Return inputs of which either of two sizes may be 1; None where it may not be."""
        if not self.whichever:
            if node.block is not self.main:  # what a trip gives has to be as what it was given
                return None
            return spread_given(node, inputs, error, self.symbols.given_ranges())
        made = spread_sizes(node, inputs, error)
        self.spreads += made is not None
        return made

    def _node(self, proto: NodeProto, label: str, scope: Scope) -> Node:
        domain = "" if proto.domain == "ai.onnx" else proto.domain
        self.emitter.emit.source = StringAttr(label)

        def read_graph(
            graph: GraphProto, inputs: Sequence[object], trip: SSAValue | None = None
        ) -> list[Any]:
            block = self.emitter.emit.point.block
            outputs = self._graph(graph, inputs, scope.inside(f"{label}/", block, trip))
            self.emitter.emit.source = StringAttr(label)
            return outputs

        return Node(
            proto, label, domain, scope.opsets.get(domain, 0), self.emitter, self.model.tensors,
            self.add_weight, read_graph, self.symbols.of_data,
            partial(self._there, scope), scope.trips,
        )  # fmt: skip

    def _there(self, scope: Scope, name: str) -> Any:
        """Return the value that an attribute names, None if there is none."""
        found = self.find(name, scope)
        if isinstance(found, Lost):
            raise LostError
        return found

    def _apply(
        self, node: Node, inputs: Sequence[Value | None], scope: Scope
    ) -> list[Value | None]:
        """Return the outputs of a node by its function or its rule."""
        if scope.depth > MAX_DEPTH:
            node.refuse(f"functions or graphs nest deeper than {MAX_DEPTH}")
        function = self.model.functions.get((node.domain, node.op_type))
        if function is not None:
            return self._function(function, node, inputs, scope)
        if not node.version:
            node.fail(f"the model does not import the operator set of domain {node.domain!r}")
        rule = find_rule(node.domain, node.op_type, node.version)
        if rule is not None:
            return self._rule(rule, node, inputs)
        if not has_function(node):
            node.refuse("not supported", hint=suggestion(node.domain, node.op_type))
        if any(isinstance(value, Lost) for value in inputs):
            return [LOST for _ in node.proto.output]
        function = standard_function(node, inputs)
        return self._function(function, node, fitted(node, inputs), scope)

    def _rule(self, rule: Rule, node: Node, inputs: Sequence[Value | None]) -> list[Value | None]:
        check_node(node, has_function)
        if any(isinstance(value, Lost) for value in inputs):
            return [LOST for _ in node.proto.output]
        if rule not in TAKES_PARTS and any(map(is_holder, inputs)):
            node.refuse("sequences and optionals are not supported here")
        with blaming():
            results = rule(node, *inputs)
        made = [results] if isinstance(results, SSAValue) else list(results)
        if node.unused:
            node.refuse(f"attribute {node.unused[0]} is not supported")
        for index in range(len(node.proto.output)):
            if node.wants(index) and (index >= len(made) or made[index] is None):
                node.refuse(f"output {index} is not supported")
        for value in made:
            _check_size(node, value)
        return list(made)

    def _function(
        self,
        function: FunctionProto,
        node: Node,
        inputs: Sequence[Value | None],
        scope: Scope,
    ) -> list[Value | None]:
        """Append the nodes of a function in place of the node that calls it."""
        own = {OWN_DOMAINS.get(e.domain, e.domain): e.version for e in function.opset_import}
        opsets = {**scope.opsets, **own}
        attributes = {a.name: a for a in function.attribute_proto}
        attributes |= {a.name: a for a in node.proto.attribute}
        inner = Scope(
            opsets, node.block,
            attributes=attributes, prefix=f"{node.label}/", depth=scope.depth + 1,
            trips=scope.trips,
        )  # fmt: skip
        for name, value in zip(function.input, inputs, strict=False):
            if value is not None:
                inner.values[name] = value
        for name in outer_names(node.proto):  # what the graphs that it is given read
            if name in function.input:
                node.refuse(f"a graph that reads {name!r}, as an input of its function is called")
            if (value := self.find(name, scope)) is not None:
                inner.values[name] = value
        absent = set(function.input) - inner.values.keys()
        body = [_without(inner_node, absent) for inner_node in function.node]
        self.nodes(body, inner)
        found = [self.find(name, inner) for name in function.output]
        for index in range(len(node.proto.output)):
            if node.wants(index) and (index >= len(found) or found[index] is None):
                node.refuse(f"its function gives no output {index} for these inputs")
        return found

    def _graph(self, graph: GraphProto, inputs: Sequence[Any], scope: Scope) -> list[Any]:
        """Append the nodes of a graph inside a node; return its outputs."""
        every = [dense(sparse, self.model.tensors) for sparse in graph.sparse_initializer]
        scope.stored = {t.name: Stored(t) for t in (*graph.initializer, *every)}
        for declared, value in zip(graph.input, inputs, strict=True):
            scope.values[declared.name] = value
        self.nodes(graph.node, scope)
        found = [self.find(output.name, scope) for output in graph.output]
        for output, value in zip(graph.output, found, strict=True):
            if value is None:
                raise GraphError(f"output {output.name!r} of a graph inside is made by nothing")
        if any(isinstance(value, Lost) for value in found):
            raise LostError
        return found

    def _assume(self, node: Node, inputs: Sequence[Value | None], error: Exception) -> None:
        """Ask to read again where the node fits once something is assumed of symbols."""
        if not isinstance(error, TypeError) or self.symbols.assumed >= MAX_ASSUMPTIONS:
            return
        reason = f"node {node.label!r}: {error}"
        values = [v for v in inputs if isinstance(v, SSAValue)]
        found = assumption(error, _tensors(values), self.symbols, _tensors(self.main.args), reason)
        if found is not None:
            raise NeedsAssumptionError(found)

    def _note(self, node: Node, inputs: Sequence[Value | None], error: Exception) -> None:
        """Note what is wrong with a node: its name, operator and inputs."""
        specs = [value_spec(v.type) if isinstance(v, SSAValue) else "?" for v in inputs if v]
        domain = f"{node.domain} " if node.domain else "opset "
        operator = f"{node.op_type} ({domain}{node.version})"
        on = f" on {', '.join(map(str, specs))}" if specs else ""
        hint, supported = "", not isinstance(error, UnsupportedOp)
        if isinstance(error, GravureError):
            hint = error.hint
        elif isinstance(error, TypeError) and (symbol := _first_symbol(specs)):
            hint, supported = f"it may fit when {symbol} is fixed: dims={{{symbol!r}: ...}}", False
        message = error.message if isinstance(error, GravureError) else str(error)
        size = error.size if isinstance(error, UnsupportedOp) else None
        self.faults.add(
            f"node {node.label!r}: {operator}{on}: {message}", hint=hint, supported=supported,
            size=size,
        )  # fmt: skip


def _first_symbol(specs: Sequence[Spec | str]) -> str:
    """Return the name of a symbol in shapes, best one where they clash, or nothing."""
    known = [s for s in specs if isinstance(s, TensorSpec)]
    dims = [d for pair in clashes(known) for d in pair]
    dims += [d for s in known for d in s.shape or ()]
    return next((name for d in dims for name in sorted(dim_rules.symbols(d))), "")


def _tensors(values: Iterable[SSAValue]) -> list[TensorSpec]:
    kinds = [value_spec(value.type) for value in values]
    return [kind for kind in kinds if isinstance(kind, TensorSpec)]


def _sizes_of(value: SSAValue) -> frozenset[str]:
    """Return the symbols in a tensor's shape."""
    spec = value_spec(value.type)
    shape = spec.shape if isinstance(spec, TensorSpec) else None
    return frozenset(name for dim in shape or () for name in dim_rules.symbols(dim))


def sweep(block: Block) -> None:
    """Erase the operations that nobody uses, users first; of host steps also their sizes count."""
    has_hosts = any(isinstance(op, HostOp) for op in block.ops)
    needed: set[str] = set()
    op = block.last_op
    while op is not None:
        before = op.prev_op
        is_used = any(result.first_use for result in op.results)
        is_used = is_used or (has_hosts and not needed.isdisjoint(defined(op)))
        if isinstance(op, Op) and op.PURE and not is_used:
            block.erase_op(op)
        elif has_hosts:
            needed.update(symbols_of(op))
        op = before


def _check_size(node: Node, value: SSAValue | Parts | None) -> None:
    if not isinstance(value, SSAValue):
        return
    spec = node.kind(value)
    if not isinstance(spec, TensorSpec) or spec.shape is None:
        return
    if spec.rank > MAX_RANK or (isinstance(spec.nbytes, int) and spec.nbytes >= MAX_BYTES):
        node.fail(f"the result {spec} is too large")


def is_holder(value: object) -> bool:
    """Say whether a value is a sequence or an optional."""
    if isinstance(value, SSAValue):
        return not isinstance(value_spec(value.type), TensorSpec)
    return isinstance(value, Parts)


def held_spec(declared: TypeProto, what: str) -> Spec:
    """Return the spec of an input that is no tensor, or of what it holds."""
    kind = declared.WhichOneof("value")
    if kind == "sequence_type":
        return SequenceSpec(held_spec(declared.sequence_type.elem_type, what))
    if kind == "optional_type":
        return OptionalSpec(held_spec(declared.optional_type.elem_type, what))
    if kind != "tensor_type":
        found = (kind or "no type").removesuffix("_type")
        raise UnsupportedOp(f"{what}: found {found}, expected a tensor, a sequence or an optional")
    tensor = declared.tensor_type
    dtype = dtype_of(tensor.elem_type, what)
    # Models declare the shape [] where they mean that nothing is known.
    if not tensor.shape.dim:
        return TensorSpec(dtype, None)
    dims = [d.dim_value if d.HasField("dim_value") else ANY for d in tensor.shape.dim]
    return TensorSpec(dtype, tuple(dims))


def _without(node: NodeProto, absent: set[str]) -> NodeProto:
    """Return a node with the inputs left out that its function was not given."""
    if not absent.intersection(node.input):
        return node
    made = NodeProto()
    made.CopyFrom(node)
    made.input[:] = ["" if name in absent else name for name in node.input]
    return made
