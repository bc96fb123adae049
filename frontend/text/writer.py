"""A program of the graph level as text that reads back as the same program.

    h = relu(x @ w1 + b1)   is written as   v0 = x @ w1
                                            v1 = v0 + b1
                                            h = relu(v1)

One operation is one statement, so that the order of operations is kept. A number that only
the next operation uses is written in its place. The data of weights goes into a safetensors
file beside the text, or is left out.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ...errors import UnsupportedOp
from ...ir import DTYPES, SOURCE, Array, DimExpr, DType, Op, Program, TensorSpec, spec_of
from ...ir.ops.control.control import If, While
from ...ir.ops.structure import Yield
from ...ir.program import LEVEL, NAME, RANGES, argument_names, functions, result_names
from ...ir.types.attributes import INLINE_ELEMENTS
from ...ir.types.dims import Range, symbols
from ...ir.types.dtypes import of_numpy
from ..files.weights import write_beside
from .expressions import BITWISE, SIGNS, WORDS, fits

INFIX = {f"gv.{name}": sign for sign, name in SIGNS.items() if name not in BITWISE}

KEYWORDS = (
    "model", "function", "weight", "const", "in", "as", "at", "from", "if", "else", "while",
    "do", "with", "yield",
)  # fmt: skip
RESERVED = frozenset({*WORDS, *DTYPES, *KEYWORDS})


def write_text(program: Program, *, name: str = "main", weights: str | None = None) -> str:
    """Return the text of a program; `weights` names the file that its data will be in."""
    known = {LEVEL, RANGES}
    _refuse_attributes(program.module, known, "the module")
    parts = [
        _Function(function, program.ranges, name, weights).text()
        for function in functions(program.module)
    ]
    return "\n".join(parts)


def save_text(
    program: Program, path: Path, *, name: str = "main", weights: bool = True
) -> list[Path]:
    """Write a program's text, and its weights beside it; return the paths of both."""
    file = path.with_suffix(".safetensors") if weights and program.weights else None
    text = write_text(program, name=name, weights=file.name if file else None)
    return write_beside(path, text, program.weights, file)


class _Function:
    """Writes one function."""

    def __init__(
        self, function: FuncOp, ranges: dict[str, Range], model: str, weights: str | None
    ) -> None:
        self.function, self.ranges, self.weights = function, ranges, weights
        self.block = function.body.block
        self.is_main = function.sym_name.data == "main"
        self.title = model if self.is_main else function.sym_name.data
        self.symbols = [*ranges] if self.is_main else []
        self.names: dict[SSAValue, str] = {}
        self.taken: set[str] = set()

    def text(self) -> str:
        """Return the definition."""
        what = f"function @{self.function.sym_name.data}"
        _refuse_attributes(self.function, set(), what)
        last = self.block.last_op
        assert isinstance(last, ReturnOp), f"{what} does not return"
        for value in _values(self.function):
            for symbol in _symbols(spec_of(value.type)):
                if symbol not in self.symbols and symbol not in self.ranges:
                    self.symbols.append(symbol)
        inputs = argument_names(self.function)
        for argument, name in zip(self.block.args, inputs, strict=True):
            self._name(argument, name)
        outputs = list(zip(result_names(self.function), last.operands, strict=True))
        for name, value in outputs:
            if isinstance(value, OpResult) and value not in self.names and name not in self.taken:
                self._name(value, name)
        lines = self._lines(self.block)
        header = ", ".join([*map(self._input, self.block.args), *map(self._bounds, self.symbols)])
        results = ", ".join(self._result(*output) for output in outputs)
        kind = "model" if self.is_main else "function"
        body = "".join(f"  {line}\n" for line in lines)
        return f"{kind} {self.quoted(self.title)}({header}) -> ({results}) {{\n{body}}}\n"

    def _input(self, argument: SSAValue) -> str:
        return f"{self.quoted(self.names[argument])}: {_type(spec_of(argument.type))}"

    def _bounds(self, symbol: str) -> str:
        if symbol not in self.ranges:
            return f"{symbol} in *"
        low, high = self.ranges[symbol]
        return f"{symbol} in {low}..{'' if high is None else high}"

    def _result(self, name: str, value: SSAValue) -> str:
        own = self.quoted(name)
        source = self.use(value)
        return own if own == source else f"{own} = {source}"

    # Names.

    def _name(self, value: SSAValue, name: str) -> str:
        self.names[value] = name
        self.taken.add(name)
        return name

    def use(self, value: SSAValue) -> str:
        """Return the name of a value as it stands in the text."""
        return self.quoted(self.names[value])

    def target(self, value: SSAValue) -> str:
        """Return the name that a statement gives a value: its own, its hint, or a number."""
        if value not in self.names:
            stem = value.name_hint or "v"
            candidate = stem if value.name_hint else f"v{len(self.names)}"
            count = len(self.names)
            while candidate in self.taken:
                candidate = f"{stem}_{count}"
                count += 1
            self._name(value, candidate)
        return self.use(value)

    def quoted(self, name: str) -> str:
        """Return a name, in backquotes where it is not an ordinary one."""
        plain = re.fullmatch(r"[A-Za-z_]\w*(?:\.\w+)*", name, re.ASCII)
        if plain and name not in RESERVED and name not in self.symbols and name not in self.ranges:
            return name
        return f"`{_escaped(name, '`')}`"

    # Statements.

    def _lines(self, block: Block) -> list[str]:
        """Return the statements of a block but for the one that ends it."""
        return [line for op in block.ops if op is not block.last_op for line in self._statement(op)]

    def _region(self, block: Block) -> Iterator[str]:
        """Give the statements of a region and what it yields."""
        last = block.last_op
        assert last is not None, "a region ends in gv.yield"
        for line in self._lines(block):
            yield f"  {line}"
        yield f"  yield {', '.join(map(self.use, last.operands))}".rstrip()

    def _bindings(self, values: Sequence[SSAValue], blocks: Sequence[Block], first: int) -> str:
        """Bind arguments of blocks, which have one name in all of them, to values."""
        parts = []
        for place, value in enumerate(values, first):
            name = self.target(blocks[0].args[place])
            for block in blocks[1:]:
                self.names[block.args[place]] = self.names[blocks[0].args[place]]
            parts.append(f"{name} = {self.use(value)}")
        return ", ".join(parts)

    def _control(self, op: If | While) -> Iterator[str]:
        blocks = op.blocks()
        if isinstance(op, If):
            condition, *fixed = op.operands
            head, word, carried = f"if {self.use(condition)}", "else", 0
        else:
            carried, word = op.carried, "do"
            fixed = list(op.operands[carried:])
            head = f"while {self._bindings(op.operands[:carried], blocks, 0)}".rstrip()
        bound = self._bindings(fixed, blocks, carried)
        targets = f"{self._targets(op)} = " if op.results else ""
        yield f"{targets}{head}{f' with {bound}' if bound else ''} {{"
        yield from self._region(blocks[0])
        yield f"}} {word} {{"
        yield from self._region(blocks[1])
        yield "}"

    def _statement(self, op: Operation) -> Iterator[str]:
        if isinstance(op, CallOp):
            callee = self.quoted(op.callee.root_reference.data)
            yield f"{self._targets(op)} = {callee}({self._list(op)})"
            return
        what = op.name
        _refuse_attributes(op, set(), what)
        if isinstance(op, If | While):
            yield from self._control(op)
            return
        if not isinstance(op, Op) or op.LEVEL != "graph" or op.regions:
            raise UnsupportedOp(f"{what} cannot be written as graph text")
        match op.name:
            case "gv.weight":
                yield self._weight(op)
            case "gv.constant":
                if _user_in_place(op) is None:
                    yield self._constant(op)
            case _:
                yield f"{self._targets(op)} = {self._expression(op)}"

    def _targets(self, op: Operation) -> str:
        return ", ".join(map(self.target, op.results))

    def _list(self, op: Operation) -> str:
        return ", ".join(map(self._operand, op.operands))

    def _operand(self, value: SSAValue) -> str:
        """Return an operand: its name, or the number that stands in its place."""
        owner = value.owner
        if isinstance(owner, Op) and owner.name == "gv.constant" and value not in self.names:
            return _number(owner.plain_attributes()["value"][()])
        return self.use(value)

    def _expression(self, op: Op) -> str:
        operands = [self._operand(value) for value in op.operands]
        if op.name in INFIX and not op.properties:
            left, right = (f"({o})" if o.startswith("-") else o for o in operands)
            return f"{left} {INFIX[op.name]} {right}"
        given = op.plain_attributes()
        attributes = [f"{name}={self._value(given[name], op)}" for name in sorted(op.properties)]
        return f"{op.name.removeprefix('gv.')}({', '.join([*operands, *attributes])})"

    def _value(self, value: object, op: Op) -> str:
        """Return an attribute."""
        match value:
            case str():
                return f'"{_escaped(value, chr(34))}"'
            case tuple():
                return f"[{', '.join(self._value(item, op) for item in value)}]"
            case bool() | int() | float():
                return _number(value)
            case DimExpr() | DType():
                return str(value)
            case _:
                raise UnsupportedOp(f"{op.name}: an array cannot be written as an attribute")

    def _weight(self, op: Op) -> str:
        given = op.plain_attributes()
        name, spec = str(given["weight"]), TensorSpec(given["dtype"], given["shape"])
        value = op.results[0]
        if value not in self.names and name not in self.taken:
            self._name(value, name)
        alias = self.target(value)
        own = self.quoted(name)
        renamed = "" if own == alias else f" as {alias}"
        source = f' from "{_escaped(self.weights, chr(34))}"' if self.weights else ""
        return f"weight {own}{renamed}: {_type(spec)}{source}"

    def _constant(self, op: Op) -> str:
        array: Array = op.plain_attributes()["value"]
        spec = TensorSpec(of_numpy(array.dtype), array.shape)
        return f"const {self.target(op.results[0])}: {_type(spec)} = {_spelled(array)}"


def _values(function: FuncOp) -> Iterator[SSAValue]:
    yield from function.body.block.args
    for op in function.body.walk():
        yield from op.results


def _symbols(spec: TensorSpec) -> list[str]:
    return [name for dim in spec.shape or () for name in sorted(symbols(dim))]


def _refuse_attributes(op: Operation, known: set[str], what: str) -> None:
    unknown = [name for name in op.attributes if name not in known and name != SOURCE]
    if isinstance(op, FuncOp):
        rows: list[Any] = [*(op.arg_attrs or ()), *(op.res_attrs or ())]
        unknown += [name for row in rows for name in row.data if name != NAME]
    if unknown:
        raise UnsupportedOp(f"{what} has attribute {unknown[0]}, which graph text cannot hold")


def _user_in_place(op: Op) -> Operation | None:
    """Return the operation in which a constant can stand as a number, if there is one.

    It is the next operation but for other such constants, the only user, and would read the
    number as this constant's type.
    """
    uses = list(op.results[0].uses)
    if len(uses) != 1 or not isinstance(uses[0].operation, Op) or not _is_number(op):
        return None
    user = uses[0].operation
    if user.regions or isinstance(user, Yield):
        return None
    numbers = [v.owner for v in user.operands if _is_single(v)]
    before: list[Operation] = []
    at = user.prev_op
    while at is not None and len(before) < len(numbers):
        before.insert(0, at)
        at = at.prev_op
    return user if before == numbers and _adopts(user) else None


def _is_single(value: SSAValue) -> bool:
    owner = value.owner
    is_constant = isinstance(owner, Op) and owner.name == "gv.constant" and _is_number(owner)
    return is_constant and value.has_one_use()


def _is_number(op: Op) -> bool:
    array: Array = op.plain_attributes()["value"]
    return not array.ndim and array.dtype.kind != "c"


def _adopts(user: Op) -> bool:
    """Say whether numbers among the operands would be read as the types they have."""
    numbers = [value for value in user.operands if _is_single(value)]
    wanted = {spec_of(value.type).dtype.name for value in numbers}
    others = [spec_of(v.type).dtype for v in user.operands if not _is_single(v)]
    values = [v.owner.plain_attributes()["value"][()].item() for v in numbers]  # type: ignore[union-attr]
    for dtype in others:
        if all(fits(value, dtype) for value in values):
            return {dtype.name} == wanted
    return False


def _type(spec: TensorSpec) -> str:
    dims = "*" if spec.shape is None else ", ".join(map(str, spec.shape))
    return f"{spec.dtype}[{dims}]"


def _spelled(array: Array) -> str:
    """Return the elements of a constant."""
    if array.size > 1 and not any(array.strides):
        return _number(array[(0,) * array.ndim])
    if array.size > INLINE_ELEMENTS:
        return f'base64("{base64.b64encode(array.tobytes()).decode()}")'
    return _nested(array)


def _nested(array: Array) -> str:
    if not array.ndim:
        return _number(array[()])
    if not array.size:
        return "[]"
    return f"[{', '.join(_nested(part) for part in array)}]"


def _number(value: Any) -> str:
    """Return a number so that it reads back as the same value."""
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, complex):
        return f'"{plain!r}"'
    if isinstance(plain, int):
        return str(plain)
    number = float(plain)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return str(value) if isinstance(value, np.float32 | np.float16) else repr(number)


def _escaped(text: str, quote: str) -> str:
    """Return a text as it stands between quotes."""
    return "".join(_letter(c, quote) for c in text)


def _letter(letter: str, quote: str) -> str:
    if letter in ("\\", quote):
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else letter
