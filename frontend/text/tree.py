"""The syntax tree of graph text, and text to tree."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from ...errors import ParseError
from .places import SourceText, TextFault

MAX_DEPTH = 200
"""Parentheses nested deeper than this are refused."""


class Name(NamedTuple):
    """A name; in backquotes it is a value's and nothing else's."""

    text: str
    quoted: bool
    at: int


class Literal(NamedTuple):
    """A number or a text."""

    value: int | float | str
    at: int


class Items(NamedTuple):
    """A list in brackets."""

    items: tuple[Expression, ...]
    at: int


class Keyword(NamedTuple):
    """An attribute of a call."""

    name: Name
    value: Expression


class Call(NamedTuple):
    """An operator or a function applied to arguments."""

    name: str
    arguments: tuple[Expression, ...]
    keywords: tuple[Keyword, ...]
    at: int


class Operation(NamedTuple):
    """One of the signs between operands, or before one."""

    sign: str
    operands: tuple[Expression, ...]
    at: int


class Range(NamedTuple):
    """`start:stop:step` of one axis; an index is a range with `single` set."""

    start: Expression | None
    stop: Expression | None
    step: Expression | None
    single: bool


class Index(NamedTuple):
    """A value cut along its axes."""

    value: Expression
    ranges: tuple[Range, ...]
    at: int


Expression: TypeAlias = Name | Literal | Items | Call | Operation | Index


class Type(NamedTuple):
    """An element type and dimensions; None where even the rank is unknown."""

    dtype: Name
    dims: tuple[Expression, ...] | None


class Input(NamedTuple):
    """A parameter that is a tensor."""

    name: Name
    type: Type


class Bounds(NamedTuple):
    """A parameter that bounds a dimension; low is None where it is left unbounded."""

    name: Name
    low: int | None
    high: int | None


class NamedResult(NamedTuple):
    """A result's name, and the value's where it differs."""

    name: Name
    value: Name


class Target(NamedTuple):
    """A name that is given a value, with the type it is said to have."""

    name: Name
    type: Type | None


class Assign(NamedTuple):
    """`a, b = expression`."""

    targets: tuple[Target, ...]
    value: Expression


Source: TypeAlias = tuple[tuple[Literal, Literal | None] | None, Expression | None]
"""Where a weight comes from: a file, with the key of the weight in it, or what makes it up."""


class Weight(NamedTuple):
    """The declaration of a stored tensor."""

    name: Name
    alias: Name
    type: Type
    file: tuple[Literal, Literal | None] | None
    fill: Expression | None
    at: int


class Const(NamedTuple):
    """The declaration of a constant."""

    name: Name
    type: Type
    value: Expression
    at: int


class Binding(NamedTuple):
    """A name inside a region, and the value it has there."""

    name: Name
    value: Expression


class Region(NamedTuple):
    """Statements that see only what is bound for them, and what they yield."""

    body: tuple[Statement, ...]
    values: tuple[Expression, ...]
    at: int


class Choice(NamedTuple):
    """`if`: one of two regions."""

    targets: tuple[Target, ...]
    condition: Expression
    bindings: tuple[Binding, ...]
    regions: tuple[Region, Region]
    at: int


class Loop(NamedTuple):
    """`while`: a region as long as another one yields true."""

    targets: tuple[Target, ...]
    carried: tuple[Binding, ...]
    fixed: tuple[Binding, ...]
    regions: tuple[Region, Region]
    at: int


Statement: TypeAlias = Assign | Weight | Const | Choice | Loop


class Definition(NamedTuple):
    """A model or a function."""

    kind: str
    name: Name
    inputs: tuple[Input, ...]
    bounds: tuple[Bounds, ...]
    results: tuple[NamedResult, ...]
    body: tuple[Statement, ...]


def parse(text: SourceText) -> tuple[Definition, ...]:
    """Return the definitions in a text, or raise `ParseError` at the place that is wrong."""
    _refuse_deep(text)
    try:
        tree: Any = _parser().parse(text.content)
    except UnexpectedInput as error:
        raise text.error(ParseError, _fault(text, error)) from error
    except ValueError as error:
        raise ParseError(str(error), location=text.name) from error
    return tuple(tree)


@cache
def _parser() -> Lark:
    grammar = files(__package__).joinpath("graph.lark").read_text()
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=Builder())


@v_args(inline=True)
class Builder(Transformer[Token, Any]):
    """Makes the nodes of the tree, innermost first."""

    def name(self, token: Token) -> Name:
        """Return a name."""
        text = str(token)
        quoted = text[0] == "`"
        return Name(_unescape(text) if quoted else text, quoted, _at(token))

    def number(self, token: Token) -> Literal:
        """Return a number."""
        text = str(token)
        if token.type == "INTEGER" and len(text) > 40:
            raise ValueError(f"number {text[:10]}... has {len(text)} digits")
        return Literal(int(text) if token.type == "INTEGER" else float(text), _at(token))

    def string(self, token: Token) -> Literal:
        """Return a text."""
        return Literal(_unescape(str(token)), _at(token))

    def variable(self, name: Name) -> Name:
        """Return a name that is used."""
        return name

    def list(self, opening: Token, *items: Expression) -> Items:
        """Return a list."""
        return Items(items, _at(opening))

    def call(self, name: Name, arguments: Sequence[Expression | Keyword]) -> Call:
        """Return a call."""
        operands = tuple(a for a in arguments if not isinstance(a, Keyword))
        keywords = tuple(a for a in arguments if isinstance(a, Keyword))
        return Call(name.text, operands, keywords, name.at)

    def arguments(self, *arguments: Expression | Keyword) -> Sequence[Expression | Keyword]:
        """Return the arguments."""
        return arguments

    keyword = Keyword

    def binary(self, lhs: Expression, sign: Token, rhs: Expression) -> Operation:
        """Return two operands and the sign between them."""
        return Operation(str(sign), (lhs, rhs), _at(sign))

    def unary(self, sign: Token, operand: Expression) -> Operation:
        """Return an operand and the sign before it."""
        return Operation(str(sign), (operand,), _at(sign))

    def index(self, value: Expression, opening: Token, ranges: tuple[Range, ...]) -> Index:
        """Return a value cut along axes."""
        return Index(value, ranges, _at(opening))

    def subscripts(self, *ranges: Range) -> tuple[Range, ...]:
        """Return the ranges."""
        return ranges

    def at(self, place: Expression) -> Range:
        """Return one place of an axis."""
        return Range(place, None, None, single=True)

    def cut(self, *ends: Expression | None) -> Range:
        """Return a range of an axis."""
        return Range(ends[0], ends[1], ends[2], single=False)

    def type(self, dtype: Name, dims: tuple[Expression, ...]) -> Type:
        """Return a type."""
        return Type(dtype, dims)

    def unranked(self, dtype: Name, star: Token) -> Type:
        """Return a type of unknown rank."""
        return Type(dtype, None)

    def dims(self, *dims: Expression) -> tuple[Expression, ...]:
        """Return dimensions."""
        return dims

    input = Input

    def symbol(self, name: Name, ends: tuple[int | None, int | None]) -> Bounds:
        """Return the bounds of a dimension."""
        return Bounds(name, *ends)

    def range(self, *tokens: Token | None) -> tuple[int | None, int | None]:
        """Return lowest and highest value."""
        first = tokens[0]
        if first is None or first.type == "STAR":
            return None, None
        low = int(first)
        if len(tokens) == 1:
            return low, low
        return low, None if tokens[2] is None else int(tokens[2])

    def parameters(self, *parameters: object) -> Sequence[object]:
        """Return the parameters."""
        return parameters

    def result(self, name: Name, value: Name | None) -> NamedResult:
        """Return a result."""
        return NamedResult(name, value or name)

    def results(self, *results: NamedResult) -> tuple[NamedResult, ...]:
        """Return the results."""
        return results

    target = Target

    def targets(self, *targets: Target) -> tuple[Target, ...]:
        """Return the names that are given values."""
        return targets

    assign = Assign

    def weight(
        self, word: Token, name: Name, alias: Name | None, type: Type, source: Source | None
    ) -> Weight:
        """Return the declaration of a weight."""
        file, fill = source or (None, None)
        return Weight(name, alias or name, type, file, fill, _at(word))

    def file(self, path: Token, key: Token | None) -> Source:
        """Return the file that holds a weight."""
        return (self.string(path), self.string(key) if key else None), None

    def fill(self, value: Expression) -> Source:
        """Return what makes up a weight."""
        return None, value

    def const(self, word: Token, name: Name, type: Type, value: Expression) -> Const:
        """Return the declaration of a constant."""
        return Const(name, type, value, _at(word))

    binding = Binding

    def bindings(self, *bindings: Binding) -> tuple[Binding, ...]:
        """Return the names that are bound for a region."""
        return bindings

    def block(self, *parts: Any) -> Region:
        """Return a region."""
        place = next(i for i, part in enumerate(parts) if isinstance(part, Token))
        return Region(parts[:place], parts[place + 1 :], _at(parts[place]))

    def choice(
        self, targets: tuple[Target, ...] | None, word: Token, condition: Expression, *parts: Any
    ) -> Choice:
        """Return a choice."""
        bindings, then, other = parts
        return Choice(targets or (), condition, bindings or (), (then, other), _at(word))

    def loop(self, targets: tuple[Target, ...] | None, word: Token, *parts: Any) -> Loop:
        """Return a loop."""
        carried, fixed, test, body = parts
        return Loop(targets or (), carried or (), fixed or (), (test, body), _at(word))

    def definition(
        self,
        kind: Token,
        name: Name,
        parameters: Sequence[object],
        results: tuple[NamedResult, ...],
        *body: Statement,
    ) -> Definition:
        """Return a model or a function."""
        inputs = tuple(p for p in parameters if isinstance(p, Input))
        bounds = tuple(p for p in parameters if isinstance(p, Bounds))
        return Definition(str(kind), name, inputs, bounds, results, body)

    def start(self, *definitions: Definition) -> tuple[Definition, ...]:
        """Return all definitions."""
        return definitions


def _at(token: Token) -> int:
    return token.start_pos or 0


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


def _unescape(quoted: str) -> str:
    r"""Return the text between quotes: `\n`, `\x41`, and `\` before any other letter."""

    def letter(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else _LETTERS.get(match[3], match[3])

    return _ESCAPE.sub(letter, quoted[1:-1])


_STRUCTURE = re.compile(
    r'#[^\n]*|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|`[^`\\\n]*(?:\\.[^`\\\n]*)*`?|[()\[\]{}]'
)


def _refuse_deep(text: SourceText) -> None:
    depth = 0
    for match in _STRUCTURE.finditer(text.content):
        sign = match.group()
        if sign[0] in '"`' and (len(sign) < 2 or sign[-1] != sign[0]):
            raise text.error(ParseError, TextFault(match.start(), f"{sign[0]} is not closed"))
        depth += (sign in "([{") - (sign in ")]}")
        if depth > MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH}"
            raise text.error(ParseError, TextFault(match.start(), message))


_WORDS = {
    "NAME": "a name", "QUOTED": "a name", "STRING": "a text", "NUMBER": "a number",
    "INTEGER": "a number", "KIND": "'model' or 'function'", "WEIGHT": "'weight'",
    "CONST": "'const'", "IF": "'if'", "WHILE": "'while'", "YIELD": "'yield'",
    "$END": "the end", "TIMES": "'/'", "SHIFT": "'<<'",
    "COMPARE": "'<'", "OPEN": "'['", "DOTS": "'..'",
}  # fmt: skip
_OPERATORS = frozenset({
    "TIMES", "AND", "OR", "XOR", "SHIFT", "COMPARE", "STAR", "POWER", "PLUS", "MINUS", "SEMICOLON",
})  # fmt: skip


def _fault(text: SourceText, error: UnexpectedInput) -> TextFault:
    """Return what lark found, and what would have been right there."""
    at = error.pos_in_stream if error.pos_in_stream is not None else len(text.content)
    if isinstance(error, UnexpectedCharacters):
        return TextFault(at, f"unexpected {text.content[at]!r}")
    assert isinstance(error, UnexpectedToken), "lark's other errors are of other parsers"
    token = error.token
    found = "the end" if token.type == "$END" else json.dumps(str(token)[:40])
    at = len(text.content.rstrip()) if token.type == "$END" else at
    wanted = [_word(name) for name in sorted(error.accepts or error.expected)
              if name not in _OPERATORS or len(error.expected) < 4]  # fmt: skip
    expected = f", expected {', '.join(dict.fromkeys(wanted))}" if wanted else ""
    return TextFault(at, f"unexpected {found}{expected}")


def _word(name: str) -> str:
    for terminal in _parser().terminals:
        if terminal.name == name and name not in _WORDS:
            return repr(str(terminal.pattern.value))
    return _WORDS.get(name, name.lower())
