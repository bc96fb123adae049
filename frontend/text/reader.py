"""Graph text to a program: names, types and statements. See `graph.lark` for the language.

All that is wrong in a text is reported at once, each fault with its line and a caret. What
follows from a fault is not reported again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from ...errors import GraphError, did_you_mean
from ...ir import (
    DTYPES,
    SOURCE,
    Array,
    Dim,
    DimExpr,
    GraphEmit,
    Program,
    Symbol,
    TensorSpec,
    spec_of,
)
from ...ir.compose.maker import Maker
from ...ir.ops.control.control import If, While
from ...ir.ops.structure import Yield
from ...ir.program import argument_specs, finish, new_function, result_specs, set_level, set_ranges
from ...ir.types.dims import Range as DimRange
from ..dims.symbols import DEFAULT, ArrayShape, DimOption, ShapeOption, Symbols
from .expressions import (
    FAILED,
    WORDS,
    Failed,
    FunctionScope,
    Value,
    WrongError,
    as_array,
    children,
    fits,
    tensors_of,
)
from .places import SourceText, TextFault
from .stored import Stored, spelled
from .tree import (
    Assign,
    Binding,
    Choice,
    Const,
    Definition,
    Expression,
    Literal,
    Loop,
    Name,
    Region,
    Statement,
    Target,
    Type,
    Weight,
    parse,
)

MAX_CALLS = 50
"""Functions that call each other deeper than this are refused."""

MAX_REGIONS = 40
"""Choices and loops nested deeper than this are refused."""

MAX_BYTES = 1 << 62


def read_text(
    content: str,
    name: str = "<text>",
    *,
    directory: Path | None = None,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
) -> Program:
    """Return the program that a text describes; files it names are looked for in `directory`."""
    text = SourceText(content, name)
    return Reader(text, directory, Symbols(dims, name), shapes or {}).read(parse(text))


class Reader:
    """Reads the definitions of one text into a new module."""

    def __init__(
        self,
        text: SourceText,
        directory: Path | None,
        symbols: Symbols,
        shapes: Mapping[str, ShapeOption],
    ) -> None:
        self.text, self.shapes, self.symbols = text, shapes, symbols
        self.stored = Stored(directory)
        self.dims: dict[str, Dim] = {}
        """The dimension of each symbol of the text."""
        self.weights: dict[str, Array] = {}
        self.definitions: dict[str, Definition] = {}
        self.made: dict[str, FuncOp | None] = {}
        """The functions read so far, None while one is being read."""

    def read(self, definitions: Sequence[Definition]) -> Program:
        """Return the program, or raise one error with all that is wrong."""
        models = [each for each in definitions if each.kind == "model"]
        if len(models) != 1:
            at = models[1].name.at if models else definitions[0].name.at
            self.text.fault(at, f"{len(models)} models in the text, expected one")
        for each in definitions:
            if each.kind == "model":
                continue
            if each.name.text in self.definitions or each.name.text in ("main", *DTYPES):
                self.text.fault(each.name.at, f"function {each.name.text!r} is defined twice")
            self.definitions[each.name.text] = each
        self.text.raise_if_faulty()
        self._check_options(models[0])
        for each in definitions:
            if each.kind == "model":
                self.made["main"] = self._function(each, "main")
            else:
                self.function(each.name.text, each.name.at)
        self.text.raise_if_faulty()
        self.symbols.check()
        names = ["main" if each.kind == "model" else each.name.text for each in definitions]
        module = ModuleOp([f for f in map(self.made.get, names) if f is not None])
        set_level(module, "graph")
        set_ranges(module, self.symbols.ranges)
        return Program(module, self.weights, self.text.name)

    def _check_options(self, model: Definition) -> None:
        names = [each.name.text for each in model.inputs]
        for unknown in [name for name in self.shapes if name not in names]:
            raise GraphError(
                f"there is no input {unknown!r}, inputs are {names}",
                location=self.text.name,
                hint=did_you_mean(unknown, names),
            )

    def function(self, name: str, at: int) -> FuncOp | None:
        """Return a function of the text, read when it is first asked for."""
        if name not in self.definitions:
            return None
        if name not in self.made:
            self.made[name] = None
            if sum(made is None for made in self.made.values()) > MAX_CALLS:
                self.text.fault(at, f"functions call each other deeper than {MAX_CALLS}")
                return None
            self.made[name] = self._function(self.definitions[name], name)
        return self.made[name]

    def _function(self, definition: Definition, symbol: str) -> FuncOp:
        self._declare(definition)
        inputs = self._inputs(definition, self.shapes if symbol == "main" else {})
        made = new_function(symbol, inputs, private=symbol != "main")
        Body(self, made.body.block).read(definition, made)
        return made

    def _declare(self, definition: Definition) -> None:
        """Enter the symbols of a definition: those it bounds, and those of its inputs' types."""
        for bounds in definition.bounds:
            name = bounds.name
            if name.text in DTYPES or name.text in WORDS:
                self.text.fault(name.at, f"{name.text!r} is a word of the language")
            low = bounds.low
            high = bounds.high
            if low is not None and high is not None and not 0 <= low <= high < 1 << 62:
                self.text.fault(name.at, f"{low} to {high} is not a range of sizes")
                continue
            given: DimRange | None = None if low is None else (low, high)
            self.dims[name.text] = self.symbols.named(name.text, given)
        self._follow(definition)
        for each in definition.inputs:
            for name in _names(each.type.dims or ()):
                if name.text not in self.dims and name.text not in ("max", "min"):
                    self.dims[name.text] = self.symbols.named(name.text, DEFAULT)
        for option in self.shapes.values():
            for dim in option:
                if isinstance(dim, str) and dim.isidentifier():
                    self.dims.setdefault(dim, self.symbols.named(dim))

    def _follow(self, definition: Definition) -> None:
        """Fix what the shapes of arrays tell."""
        for each in definition.inputs:
            shape = self.shapes.get(each.name.text)
            if isinstance(shape, ArrayShape) and each.type.dims is not None:
                dims = [_plain(dim) for dim in each.type.dims]
                self.symbols.follow(each.name.text, dims, shape)

    def _inputs(
        self, definition: Definition, shapes: Mapping[str, ShapeOption]
    ) -> list[tuple[str, TensorSpec]]:
        found: dict[str, TensorSpec] = {}
        for each in definition.inputs:
            name = each.name.text
            if name in found:
                self.text.fault(each.name.at, f"input {name!r} is declared twice")
            spec = self.type(each.type)
            option = shapes.get(name)
            if isinstance(option, ArrayShape) and spec.shape is not None:
                pass  # it has told the dimensions already
            elif option is not None and spec.shape is not None and len(option) != spec.rank:
                self.text.fault(each.name.at, f"the shape given for it is {[*option]}")
            elif option is not None:
                spec = spec.with_shape(self.symbols.shape(name, option))
            found[name] = spec
        return list(found.items())

    def type(self, type: Type) -> TensorSpec:
        """Return the spec that a type stands for; faults are noted, and f32 stands in."""
        dtype = DTYPES.get(type.dtype.text)
        if dtype is None:
            known = did_you_mean(type.dtype.text, DTYPES)
            self.text.fault(type.dtype.at, f"element type {type.dtype.text!r} is unknown", known)
        if type.dims is None:
            return TensorSpec(dtype or DTYPES["f32"], None)
        scope = FunctionScope(self.text, GraphEmit.at_end(Block()), self.dims, {}, lambda *_: None)
        shape: list[Dim] = []
        for expression in type.dims:
            value = scope.evaluate(expression)
            if isinstance(value, Failed):
                value = 1
            elif (
                isinstance(value, bool)
                or not isinstance(value, int | DimExpr)
                or (isinstance(value, int) and value < 0)
            ):
                self.text.fault(expression.at, "this is not a dimension")
                value = 1
            shape.append(value)
        spec = TensorSpec(dtype or DTYPES["f32"], tuple(shape))
        if isinstance(spec.nbytes, int) and spec.nbytes >= MAX_BYTES:
            self.text.fault(type.dtype.at, f"{spec} is too large")
            return spec.with_shape(())
        return spec


class Body:
    """Reads the statements of one function, or of a region inside of one."""

    def __init__(self, reader: Reader, block: Block, depth: int = 0) -> None:
        self.reader, self.text, self.block, self.depth = reader, reader.text, block, depth
        self.emit = GraphEmit(InsertPoint.at_end(self.block))
        self.make = Maker(self.emit)
        self.scope = FunctionScope(
            self.text, self.emit, reader.dims, reader.symbols.ranges, self.call
        )

    def statements(self, statements: Sequence[Statement]) -> None:
        """Append statements."""
        for statement in statements:
            match statement:
                case Assign():
                    self._assign(statement)
                case Weight():
                    self._weight(statement)
                case Const():
                    self._const(statement)
                case Choice():
                    self._choice(statement)
                case Loop():
                    self._loop(statement)

    def read(self, definition: Definition, function: FuncOp) -> None:
        """Append all statements of a function and the return."""
        for each, argument in zip(definition.inputs, self.block.args, strict=False):
            self.define(each.name, argument)
        self.statements(definition.body)
        names, values = [], []
        for result in definition.results:
            self._at(result.value.at)
            value = self._tensor(self.scope.evaluate(result.value), result.value.at)
            names.append(result.name.text)
            values += [value] if isinstance(value, SSAValue) else []
        if not definition.results:
            self.text.fault(definition.name.at, f"{definition.name.text!r} has no results")
        finish(function, values, names)

    def define(self, name: Name, value: Value) -> None:
        """Give a name its value."""
        taken = name.text in WORDS or name.text in DTYPES or name.text in self.reader.dims
        if taken and not name.quoted:
            what = "a dimension" if name.text in self.reader.dims else "a word of the language"
            self.text.fault(name.at, f"{name.text!r} is {what}, expected another name")
        elif name.text in self.scope.values:
            self.text.fault(name.at, f"{name.text!r} is given a value twice")
        self.scope.values[name.text] = value
        if isinstance(value, SSAValue) and value.name_hint is None and name.text.isidentifier():
            value.name_hint = name.text

    def _at(self, place: int) -> None:
        """Let what is appended say where it comes from."""
        self.emit.source = StringAttr(f"{self.text.name}:{self.text.line(place)}")

    def _assign(self, statement: Assign) -> None:
        at = statement.targets[0].name.at
        self._at(at)
        self._bind(statement.targets, self.scope.evaluate(statement.value), at)

    def _bind(self, targets: Sequence[Target], value: Value, at: int) -> None:
        """Give names the parts of a value, in the statement that is there."""
        parts: tuple[Value, ...] = (value,)
        if isinstance(value, tuple) and tensors_of(value) is not None:
            parts = value
        if isinstance(value, Failed):
            parts = (FAILED,) * len(targets)
        if len(parts) != len(targets):
            message = f"{len(targets)} names for {len(parts)} values"
            self.text.fault(targets[0].name.at if targets else at, message)
            parts = (FAILED,) * len(targets)
        for target, part in zip(targets, parts, strict=True):
            if target.type is not None:
                part = self._typed(part, target.type, target.name)  # noqa: PLW2901
            self.define(target.name, part)

    # Regions.

    def _bound(self, bindings: Sequence[Binding]) -> list[SSAValue | Failed]:
        """Return the values that are bound for regions."""
        return [self._tensor(self.scope.evaluate(b.value), b.name.at) for b in bindings]

    def region(self, region: Region, names: Sequence[Name], values: Sequence[SSAValue]) -> Block:
        """Return the block of a region whose names have values of these types."""
        made = Block(arg_types=[value.type for value in values])
        inner = Body(self.reader, made, self.depth + 1)
        for name, argument in zip(names, made.args, strict=True):
            inner.define(name, argument)
        inner.statements(region.body)
        inner._at(region.at)
        yielded = [inner._tensor(inner.scope.evaluate(v), region.at) for v in region.values]
        made.add_op(Yield.make(*(v for v in yielded if isinstance(v, SSAValue))))
        return made

    def _check_depth(self, place: int) -> None:
        if self.depth > MAX_REGIONS:
            fault = TextFault(place, f"regions nest deeper than {MAX_REGIONS}")
            raise self.text.error(GraphError, fault)

    def _choice(self, statement: Choice) -> None:
        self._at(statement.at)
        self._check_depth(statement.at)
        condition = self._tensor(self.scope.evaluate(statement.condition), statement.at)
        values = self._bound(statement.bindings)
        names = [binding.name for binding in statement.bindings]
        tensors = tensors_of(values)
        if isinstance(condition, Failed) or tensors is None:
            self._bind(statement.targets, FAILED, statement.at)
            return
        blocks = [self.region(region, names, tensors) for region in statement.regions]
        self._control(statement, If.make_from(condition, tensors, *blocks))

    def _loop(self, statement: Loop) -> None:
        self._at(statement.at)
        self._check_depth(statement.at)
        bindings = (*statement.carried, *statement.fixed)
        values, count = self._bound(bindings), len(statement.carried)
        tensors = tensors_of(values)
        if tensors is None:
            self._bind(statement.targets, FAILED, statement.at)
            return
        names = [binding.name for binding in bindings]
        blocks = [self.region(region, names, tensors) for region in statement.regions]
        self._control(statement, While.make_from(tensors[:count], tensors[count:], *blocks))

    def _control(self, statement: Choice | Loop, op: Operation) -> None:
        """Append an operation with regions, if these fit together."""
        try:
            if not self.text.faults:
                op.verify_()
        except VerifyException as error:
            self.text.fault(statement.at, f"{op.name}: {error}")
        if self.emit.source is not None:
            op.attributes[SOURCE] = self.emit.source
        self.block.add_op(op)
        results: Value = tuple(op.results)
        self._bind(statement.targets, FAILED if self.text.faults else results, statement.at)

    def _typed(self, value: Value, type: Type, name: Name) -> Value:
        """Return a value after a check of the type that it is said to have."""
        declared = self.reader.type(type)
        if isinstance(value, SSAValue) and (found := spec_of(value.type)) != declared:
            self.text.fault(name.at, f"{name.text!r} is {found}, declared {declared}")
            return FAILED
        return value

    def _weight(self, statement: Weight) -> None:
        self._at(statement.at)
        spec = self._static(statement.type, statement.name)
        value: Value = FAILED
        if spec is not None:
            name = statement.name.text
            try:
                data = self.reader.stored.weight(statement, spec)
            except WrongError as error:
                self.text.fault(error.at, error.message)
                data = None
            if data is not None:
                self.reader.weights[name] = data
            value = self.make.weight(weight=Symbol(name), dtype=spec.dtype, shape=spec.dims)
        self.define(statement.alias, value)

    def _const(self, statement: Const) -> None:
        self._at(statement.at)
        spec = self._static(statement.type, statement.name)
        value: Value = FAILED
        try:
            if spec is not None:
                value = self.make.constant(value=spelled(statement.value, spec))
        except WrongError as error:
            self.text.fault(error.at, error.message)
        self.define(statement.name, value)

    def _static(self, type: Type, name: Name) -> TensorSpec | None:
        """Return the spec of stored data; None after a fault.

        What stands in for a dimension that is wrong may be much data, which nobody would look at.
        """
        faults = len(self.text.faults)
        spec = self.reader.type(type)
        if len(self.text.faults) > faults:
            return None
        if not spec.is_static:
            self.text.fault(name.at, f"{name.text!r} is {spec}, expected numbers as dimensions")
            return None
        return spec

    def _tensor(self, value: Value, at: int) -> SSAValue | Failed:
        """Return a value as a tensor: numbers become constants."""
        if isinstance(value, SSAValue | Failed):
            return value
        if isinstance(value, bool | int | float):
            dtype = DTYPES[{bool: "bool", int: "i64", float: "f32"}[type(value)]]
            if fits(value, dtype):
                made: SSAValue = self.make.constant(value=as_array(value, dtype))
                return made
        self.text.fault(at, "this is not a tensor")
        return FAILED

    def call(self, name: str, operands: Sequence[SSAValue], at: int) -> Value | None:
        """Append a call of a function of the text; None where there is none of this name."""
        if name not in self.reader.definitions:
            return None
        source = self.emit.source
        callee = self.reader.function(name, at)
        if callee is None:
            raise WrongError(at, f"function {name!r} calls itself")
        wanted, found = argument_specs(callee), [spec_of(v.type) for v in operands]
        if wanted != found:
            lists = ", ".join(map(str, found)), ", ".join(map(str, wanted))
            raise WrongError(at, f"{name}: arguments {lists[0]}, expected {lists[1]}")
        types = [spec.type for spec in result_specs(callee)]
        made = CallOp(name, list(operands), types)
        if source is not None:
            made.attributes[SOURCE] = source
        self.block.add_op(made)
        return made.results[0] if len(types) == 1 else tuple(made.results)


def _plain(dim: Expression) -> int | str:
    """Return the number or the name that a dimension is; nothing for an expression."""
    if isinstance(dim, Literal) and isinstance(dim.value, int):
        return dim.value
    return dim.text if isinstance(dim, Name) else ""


def _names(expressions: Sequence[Expression]) -> list[Name]:
    """Return the names that stand in expressions."""
    found, stack = [], list(expressions)[::-1]
    while stack:
        node = stack.pop()
        if isinstance(node, Name):
            found.append(node)
        stack.extend(reversed(children(node)))
    return found
