"""What expressions of serial functions become."""

from __future__ import annotations

import ast
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....target import Target
from ..math.functions import MATH
from ..text.build import Shape, Text, number
from .kinds import FLOAT, INT, KINDS, TRUTH, WORD, ArrayRow, NumberKind, Scalar, Value

WHOLE: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor",
}  # fmt: skip
REAL: Mapping[type[ast.operator], str] = {
    ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv",
}  # fmt: skip
ORDER: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"), ast.Lt: ("lt", "olt"),
    ast.LtE: ("le", "ole"), ast.Gt: ("gt", "ogt"), ast.GtE: ("ge", "oge"),
}  # fmt: skip
OF_LIBM = ("exp", "log", "log1p")
"""The functions of `math` that are those of the system's library."""
OF_NUMBERS = ("sqrt", "single", "exp_single", "isnan", "abs", "min", "max")
WIDTH = 64
LITTLE = 3
"""The arguments of `little`; `put_little` has the number behind them."""
MOST = 1 << 63


class Expressions:
    """The text of one function, as far as values go."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.text, self.names, self.rooms = Text(), dict[str, Any](), list[str]()
        self.scope: dict[str, Value] = {}
        """What arrays are called, and where variables lie."""
        self.globals: dict[str, Any] = {}
        self.inside_for_sure: set[ast.Subscript] = set()
        """Elements that need not be looked for: the loop around them is known to stay inside."""
        self.by_node: dict[type[ast.expr], Callable[[Any], Value]] = {
            ast.Constant: self.constant,
            ast.Name: self.name,
            ast.Tuple: lambda node: tuple(self.scalar(x) for x in node.elts),
            ast.BinOp: lambda node: self.binary(
                type(node.op), self.scalar(node.left), self.scalar(node.right)
            ),
            ast.UnaryOp: self.unary,
            ast.Compare: self.comparison,
            ast.BoolOp: self.both_or_either,
            ast.IfExp: self.choice,
            ast.Subscript: self.element,
            ast.Call: self.call,
        }

    # -- values ---------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """Return what an expression gives."""
        known = self.by_node.get(type(node))
        if known is None:
            raise self.wrong(node, "is not known in serial functions")
        return known(node)

    def scalar(self, node: ast.expr, kind: NumberKind | None = None) -> Scalar:
        """Return a number, of a kind if one is named."""
        found = self.value(node)
        if not isinstance(found, Scalar):
            raise self.wrong(node, "is no number")
        return found if kind is None else self.as_kind(found, kind, node)

    def wrong(self, node: ast.AST, why: str) -> TypeError:
        """Return the error that names an expression."""
        return TypeError(f"line {getattr(node, 'lineno', 0)}: {ast.unparse(node)} {why}")

    def constant(self, node: ast.Constant) -> Scalar:
        """Return a number that is written there."""
        return self.plain(node.value, node)

    def plain(self, value: object, node: ast.expr) -> Scalar:
        """Return a number of Python's."""
        if isinstance(value, bool):
            return Scalar(number("i1", value), TRUTH)
        if isinstance(value, int):
            return Scalar(number("i64", value), INT if -MOST <= value < MOST else WORD, value)
        if isinstance(value, float):
            bits = struct.unpack("<Q", struct.pack("<d", value))[0]
            return Scalar(f"0x{bits:016X}", FLOAT)
        raise self.wrong(node, "is no number")

    def name(self, node: ast.Name) -> Value:
        """Return a variable, or a number of the module."""
        found = self.scope.get(node.id)
        if isinstance(found, Scalar):
            return self.loaded(found)
        return self.plain(self.globals.get(node.id), node) if found is None else found

    def loaded(self, room: Scalar) -> Scalar:
        """Return what a variable is."""
        kind = room.kind
        return Scalar(self.text.value(f"load {kind.llvm}, ptr {room.text}"), kind)

    def as_kind(self, x: Scalar, kind: NumberKind, node: ast.AST) -> Scalar:
        """Return a number as one of a wider kind."""
        if x.kind is kind or {x.kind, kind} == {INT, WORD}:
            return Scalar(x.text, kind, x.known)
        if kind is FLOAT and x.kind is INT:
            return Scalar(self.text.value(f"sitofp i64 {x.text} to double"), FLOAT)
        if kind in (INT, WORD) and x.kind is TRUTH:
            return Scalar(self.text.value(f"zext i1 {x.text} to i64"), kind)
        raise self.wrong(node, f"is {x.kind.name}, expected {kind.name}")

    def common(self, x: Scalar, y: Scalar, node: ast.AST) -> tuple[Scalar, Scalar]:
        """Return two numbers as of one kind."""
        kind = next((k for k in (FLOAT, WORD) if k in (x.kind, y.kind)), INT)
        if x.kind is y.kind is TRUTH:
            return x, y
        return self.as_kind(x, kind, node), self.as_kind(y, kind, node)

    # -- arithmetic -----------------------------------------------------------------------

    def binary(self, op: type[ast.operator], x: Scalar, y: Scalar) -> Scalar:
        """Return what an operator makes of two numbers."""
        node = ast.Constant(op.__name__)
        if op in (ast.LShift, ast.RShift):
            return self.shifted(op, x, self.as_kind(y, INT, node))
        x, y = self.common(x, y, node)
        if op is ast.Div and x.kind is INT:
            x, y = self.as_kind(x, FLOAT, node), self.as_kind(y, FLOAT, node)
        table = REAL if x.kind is FLOAT else WHOLE
        if op in table:
            if x.kind is TRUTH and op not in (ast.BitAnd, ast.BitOr, ast.BitXor):
                x, y = self.as_kind(x, INT, node), self.as_kind(y, INT, node)
            made = self.text.value(f"{table[op]} {x.kind.llvm} {x.text}, {y.text}")
            return Scalar(made, x.kind)
        if op not in (ast.FloorDiv, ast.Mod) or x.kind not in (INT, WORD):
            raise self.wrong(node, f"of {x.kind.name} is not known in serial functions")
        self.require(self.text.value(f"icmp ne i64 {y.text}, 0"))
        if x.kind is WORD:
            name = "udiv" if op is ast.FloorDiv else "urem"
            return Scalar(self.text.value(f"{name} i64 {x.text}, {y.text}"), WORD)
        return self.divided(op, x, y)

    def divided(self, op: type[ast.operator], x: Scalar, y: Scalar) -> Scalar:
        """Return a quotient rounded down, or what is left of it."""
        value = self.text.value
        turns = value(f"icmp eq i64 {y.text}, -1")  # the least number by -1 would end the process
        by = value(f"select i1 {turns}, i64 1, i64 {y.text}")
        quotient, rest = (value(f"{name} i64 {x.text}, {by}") for name in ("sdiv", "srem"))
        quotient = value(f"select i1 {turns}, i64 {value(f'sub i64 0, {x.text}')}, i64 {quotient}")
        some = value(f"icmp ne i64 {rest}, 0")
        differ = value(f"icmp slt i64 {value(f'xor i64 {rest}, {y.text}')}, 0")
        lower = value(f"and i1 {some}, {differ}")
        if op is ast.FloorDiv:
            return Scalar(value(f"sub i64 {quotient}, {value(f'zext i1 {lower} to i64')}"), INT)
        more = value(f"select i1 {lower}, i64 {y.text}, i64 0")
        return Scalar(value(f"add i64 {rest}, {more}"), INT)

    def shifted(self, op: type[ast.operator], x: Scalar, by: Scalar) -> Scalar:
        """Return a number whose bits are moved; by too many, nothing is left."""
        name = "shl" if op is ast.LShift else "ashr" if x.kind is INT else "lshr"
        made = self.text.value(f"{name} i64 {x.text}, {by.text}")
        if by.known is None or by.known >= WIDTH:
            few = self.text.value(f"icmp ult i64 {by.text}, {WIDTH}")
            made = self.text.value(f"select i1 {few}, i64 {made}, i64 0")
        return Scalar(made, x.kind)

    def unary(self, node: ast.UnaryOp) -> Scalar:
        """Return what a sign makes of a number."""
        x = self.scalar(node.operand)
        if isinstance(node.op, ast.Not):
            return Scalar(self.text.value(f"xor i1 {self.truth(x)}, true"), TRUTH)
        if isinstance(node.op, ast.USub) and x.known is not None:
            return self.plain(-x.known, node)
        if isinstance(node.op, ast.USub):
            if x.kind is FLOAT:
                return Scalar(self.text.value(f"fneg double {x.text}"), FLOAT)
            return Scalar(self.text.value(f"sub i64 0, {x.text}"), x.kind)
        if isinstance(node.op, ast.Invert):
            return Scalar(self.text.value(f"xor i64 {x.text}, -1"), x.kind)
        return x

    # -- choices --------------------------------------------------------------------------

    def truth(self, x: Scalar) -> str:
        """Return whether a number counts as true."""
        if x.kind is TRUTH:
            return x.text
        if x.kind is FLOAT:
            return self.text.value(f"fcmp une double {x.text}, 0.0")
        return self.text.value(f"icmp ne i64 {x.text}, 0")

    def comparison(self, node: ast.Compare) -> Scalar:
        """Say whether each number is to the next as is written."""
        values = [self.scalar(x) for x in (node.left, *node.comparators)]
        made = ""
        for op, x, y in zip(node.ops, values, values[1:], strict=False):
            one = self.compared(type(op), *self.common(x, y, node))
            made = self.text.value(f"and i1 {made}, {one}") if made else one
        return Scalar(made, TRUTH)

    def compared(self, op: type[ast.cmpop], x: Scalar, y: Scalar) -> str:
        """Say how two numbers of a kind are to each other."""
        whole, real = ORDER[op]
        if x.kind is FLOAT:
            return self.text.value(f"fcmp {real} double {x.text}, {y.text}")
        sign = "" if op in (ast.Eq, ast.NotEq) else "s" if x.kind is INT else "u"
        return self.text.value(f"icmp {sign}{whole} {x.kind.llvm} {x.text}, {y.text}")

    def both_or_either(self, node: ast.BoolOp) -> Scalar:
        """Say whether all hold, or any; behind the one that decides none is looked at."""
        room, end = self.room(TRUTH), self.text.fresh_label()
        for x in node.values:
            found = self.truth(self.scalar(x))
            self.text.line(f"store i1 {found}, ptr {room}")
            goes_on = self.text.fresh_label()
            ways = (goes_on, end) if isinstance(node.op, ast.And) else (end, goes_on)
            self.text.line(f"br i1 {found}, label %{ways[0]}, label %{ways[1]}")
            self.text.label(goes_on)
        self.jump(end)
        self.text.label(end)
        return Scalar(self.text.value(f"load i1, ptr {room}"), TRUTH)

    def choice(self, node: ast.IfExp) -> Value:
        """Return one of two values, of which only that is computed."""
        labels = [self.text.fresh_label() for _ in range(3)]
        found = self.truth(self.scalar(node.test))
        self.text.line(f"br i1 {found}, label %{labels[0]}, label %{labels[1]}")
        ends: list[tuple[Value, str]] = []
        for label, x in zip(labels, (node.body, node.orelse), strict=False):
            self.text.label(label)
            ends.append((self.value(x), self.text.block))
            self.text.line(f"br label %{labels[2]}")
        self.text.label(labels[2])
        (one, first), (other, second) = ends
        if isinstance(one, Scalar) and isinstance(other, Scalar):
            return self.either(one, first, other, second, node)
        if isinstance(one, tuple) and isinstance(other, tuple):
            pairs = zip(one, other, strict=True)
            return tuple(self.either(x, first, y, second, node) for x, y in pairs)
        raise self.wrong(node, "is no number")

    def either(self, x: Scalar, first: str, y: Scalar, second: str, node: ast.AST) -> Scalar:
        """Return the number that comes from the block that was left."""
        if x.kind is not y.kind and {x.kind, y.kind} != {INT, WORD}:
            raise self.wrong(node, f"is {x.kind.name} or {y.kind.name}")
        kind = WORD if WORD in (x.kind, y.kind) else x.kind
        pairs = f"[ {x.text}, %{first} ], [ {y.text}, %{second} ]"
        return Scalar(self.text.value(f"phi {kind.llvm} {pairs}"), kind)

    # -- memory ---------------------------------------------------------------------------

    def room(self, kind: NumberKind) -> str:
        """Return where a variable lies."""
        name = self.text.fresh()
        self.rooms.append(f"  {name} = alloca {kind.llvm}, align 8")
        return name

    def row(self, node: ast.expr) -> ArrayRow:
        """Return an array."""
        found = self.value(node)
        if not isinstance(found, ArrayRow):
            raise self.wrong(node, "is no array")
        return found

    def require(self, holds: str) -> None:
        """Go on where something holds, and leave the function where it does not."""
        inside = self.text.fresh_label()
        self.text.line(f"br i1 {holds}, label %{inside}, label %outside")
        self.text.label(inside)

    def place(self, row: ArrayRow, at: Scalar, node: ast.AST, count: int = 1) -> str:
        """Return the address of an element, behind which there are to be some."""
        index = self.as_kind(at, INT, node).text
        last = index if count == 1 else self.text.value(f"add i64 {index}, {count - 1}")
        if count > 1:
            self.require(self.text.value(f"icmp sge i64 {index}, 0"))
        if node not in self.inside_for_sure:
            self.require(self.text.value(f"icmp ult i64 {last}, {row.size}"))
        return self.text.value(f"getelementptr {row.element.llvm}, ptr {row.place}, i64 {index}")

    def element(self, node: ast.Subscript) -> Scalar:
        """Return an element of an array."""
        row = self.row(node.value)
        where = self.place(row, self.scalar(node.slice), node)
        found, kind = row.element, row.element.kind
        made = self.text.value(f"load {found.llvm}, ptr {where}")
        if found.widen:
            made = self.text.value(f"{found.widen} {found.llvm} {made} to {kind.llvm}")
        return Scalar(made, kind)

    def put(self, node: ast.Subscript, x: Scalar) -> None:
        """Write an element of an array."""
        row = self.row(node.value)
        where = self.place(row, self.scalar(node.slice), node)
        found, kind = row.element, row.element.kind
        made = self.as_kind(x, kind, node).text
        if found.narrow:
            made = self.text.value(f"{found.narrow} {kind.llvm} {made} to {found.llvm}")
        self.text.line(f"store {found.llvm} {made}, ptr {where}")

    # -- calls ----------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Value:
        """Return what a function gives: one that is known here, or another serial one."""
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.wrong(node, "is no plain call")
        name, given = node.func.id, node.args
        if name == "len":
            return Scalar(self.row(given[0]).size, INT)
        if name in ("little", "put_little"):
            return self.word(node)
        if name == "rounded":
            return self.rounded(node)
        if name in KINDS:
            return self.converted(self.scalar(given[0]), KINDS[name])
        if name in OF_LIBM or name in OF_NUMBERS:
            return self.function(name, [self.scalar(x) for x in given], node)
        return self.written_out(node)

    def written_out(self, node: ast.Call) -> Value:
        """Return what another function gives."""
        raise NotImplementedError

    def word(self, node: ast.Call) -> Scalar:
        """Return some bytes as a number, or write it."""
        row, count = self.row(node.args[0]), self.scalar(node.args[2]).known
        if count not in (4, 8) or row.element.bytes != 1:
            raise self.wrong(node, "is no word of 4 or 8 bytes")
        where = self.place(row, self.scalar(node.args[1]), node, count)
        kind = f"i{8 * count}"
        if len(node.args) > LITTLE:
            word = self.scalar(node.args[LITTLE], WORD).text
            if count < WIDTH // 8:
                word = self.text.value(f"trunc i64 {word} to {kind}")
            self.text.line(f"store {kind} {word}, ptr {where}, align 1")
            return Scalar(str(count), INT, count)
        made = self.text.value(f"load {kind}, ptr {where}, align 1")
        if count < WIDTH // 8:
            made = self.text.value(f"zext {kind} {made} to i64")
        return Scalar(made, WORD)

    def rounded(self, node: ast.Call) -> Scalar:
        """Return a number as an array of floats would hold it."""
        x, like = self.scalar(node.args[0], FLOAT), self.row(node.args[1]).element
        if like.kind is not FLOAT:
            raise self.wrong(node, "is not of floats")
        return self.function("single", [x], node) if like.narrow else x

    def converted(self, x: Scalar, kind: NumberKind) -> Scalar:
        """Return a number as one of another kind; floats that are integers end at the last one."""
        if kind is TRUTH:
            return Scalar(self.truth(x), TRUTH)
        if x.kind is FLOAT and kind is not FLOAT:
            self.text.declare("declare i64 @llvm.fptosi.sat.i64.f64(double)")
            call = f"call i64 @llvm.fptosi.sat.i64.f64(double {x.text})"
            return Scalar(self.text.value(call), kind)
        if x.kind is WORD and kind is FLOAT:
            return Scalar(self.text.value(f"uitofp i64 {x.text} to double"), FLOAT)
        return self.as_kind(x, kind, ast.Constant(x.text))

    def function(self, name: str, given: Sequence[Scalar], node: ast.Call) -> Scalar:
        """Return what a known function of numbers gives."""
        if name in ("min", "max"):
            one, other = given
            x, y = self.common(one, other, node)
            better = self.compared(ast.Lt if name == "min" else ast.Gt, y, x)
            kind = x.kind.llvm
            made = self.text.value(f"select i1 {better}, {kind} {y.text}, {kind} {x.text}")
            return Scalar(made, x.kind)
        if name == "abs" and given[0].kind is INT:
            x = given[0]
            less = self.text.value(f"sub i64 0, {x.text}")
            is_less = self.text.value(f"icmp slt i64 {x.text}, 0")
            return Scalar(self.text.value(f"select i1 {is_less}, i64 {less}, i64 {x.text}"), INT)
        x = self.as_kind(given[0], FLOAT, node)
        if name == "isnan":
            return Scalar(self.text.value(f"fcmp uno double {x.text}, 0.0"), TRUTH)
        if name in ("single", "exp_single"):
            narrow = self.text.value(f"fptrunc double {x.text} to float")
            if name == "exp_single":
                narrow = MATH["math.exp"](self.text, Shape("float"), self.target, narrow)
            return Scalar(self.text.value(f"fpext float {narrow} to double"), FLOAT)
        symbol = (
            name if name in OF_LIBM else {"sqrt": "llvm.sqrt.f64", "abs": "llvm.fabs.f64"}[name]
        )
        self.text.declare(f"declare double @{symbol}(double)")
        return Scalar(self.text.value(f"call double @{symbol}(double {x.text})"), FLOAT)

    def jump(self, label: str) -> None:
        """Go on at a label."""
        self.text.line(f"br label %{label}")
