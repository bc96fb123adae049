"""The module of a serial function: what its library exports.

    int64_t serial_run(address and size of each array, number, ...)
    PyObject *serial_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)

The second one is for Python: a builtin whose `self` is a capsule, as of models (see
`entry/python_call`). What is no plain array of the type that is wanted, or no number, is left to a
slow function behind the capsule.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ....runtime.direct import (
    CLASS_IN_OBJECT,
    DATA_IN_ARRAY,
    FLAGS_IN_ARRAY,
    PLAIN_FLAGS,
    POINTER_IN_CAPSULE,
    RANK_IN_ARRAY,
    SHAPE_IN_ARRAY,
    TYPE_IN_ARRAY,
    VALUE_IN_FLOAT,
)
from ....target import Target
from ..entry.routine import c_string
from ..text.build import Text
from .kinds import ELEMENTS, FLOAT, KINDS, ArrayRow, NumberKind, Scalar, Value
from .statements import Statements

TAG = "serial"
SIZE = f"""
define internal i64 @size(ptr %array) nounwind {{
entry:
  %rank.at = getelementptr i8, ptr %array, i64 {RANK_IN_ARRAY}
  %rank = load i32, ptr %rank.at
  %shape.at = getelementptr i8, ptr %array, i64 {SHAPE_IN_ARRAY}
  %shape = load ptr, ptr %shape.at
  br label %next
next:
  %i = phi i32 [ 0, %entry ], [ %i.next, %more ]
  %size = phi i64 [ 1, %entry ], [ %size.next, %more ]
  %is.end = icmp eq i32 %i, %rank
  br i1 %is.end, label %end, label %more
more:
  %at = getelementptr i64, ptr %shape, i32 %i
  %extent = load i64, ptr %at
  %size.next = mul i64 %size, %extent
  %i.next = add i32 %i, 1
  br label %next
end:
  ret i64 %size
}}
"""
"""How many elements an array of numpy's has."""
ARRAY_TYPE, INT_TYPE, FLOAT_TYPE, SLOW, RAISE, VECTORCALL, CALL, READ_INT, MAKE_INT = range(9)
"""The words behind the capsule; the element types of the arguments follow, 0 for numbers."""
WORDS = 9


def module(function: Callable[..., Any], kinds: Sequence[str], target: Target, outside: int) -> str:
    """Return the text of a module for arguments of such kinds.

    Its function gives `outside` where it would leave an array.
    """
    size, manifest = c_string(json.dumps({"tag": TAG}))
    run, declarations = _run(function, kinds, target, outside)
    return "\n".join(
        [
            f'target triple = "{target.triple}"',
            *declarations,
            f"@{TAG}_manifest = constant [{size} x i8] {manifest}",
            f"define i32 @{TAG}_check_cpu() nounwind {{",
            "  ret i32 0",
            "}",
            run,
            SIZE,
            _call(kinds, outside),
            "",
        ]
    )


def _run(
    function: Callable[..., Any], kinds: Sequence[str], target: Target, outside: int
) -> tuple[str, list[str]]:
    """Return the function of addresses, sizes and numbers, and the declarations that it needs."""
    text, parameters = Statements(target), list[str]()
    values: list[Value] = []
    for number, kind in enumerate(kinds):
        if kind in ELEMENTS:
            parameters += [f"ptr %a{number}", f"i64 %n{number}"]
            values.append(ArrayRow(f"%a{number}", f"%n{number}", ELEMENTS[kind]))
        else:
            parameters.append(f"{KINDS[kind].llvm} %a{number}")
            values.append(Scalar(f"%a{number}", KINDS[kind]))
    found = text.inside(function, values)
    lines = [
        f"define i64 @{TAG}_run({', '.join(parameters)}) nounwind {{",
        "entry:",
        *text.rooms,
        text.text.body(),
        f"  ret i64 {found.text if isinstance(found, Scalar) else 0}",
        "outside:",
        f"  ret i64 {outside}",
        "}",
    ]
    return "\n".join(lines), [*text.text.declarations, *text.text.functions.values()]


class DirectCall(Text):
    """The function for Python under construction."""

    def __init__(self) -> None:
        super().__init__()
        self.words = self.field("%self", POINTER_IN_CAPSULE, "ptr")

    def field(self, pointer: str, at: int, kind: str) -> str:
        """Return what lies some bytes behind a pointer."""
        place = self.value(f"getelementptr i8, ptr {pointer}, i64 {at}")
        return self.value(f"load {kind}, ptr {place}")

    def word(self, number: int) -> str:
        """Return a word behind the capsule."""
        return self.field(self.words, 8 * number, "ptr")

    def require(self, holds: str) -> None:
        """Take the slow way unless something holds."""
        label = self.fresh_label()
        self.line(f"br i1 {holds}, label %{label}, label %slow")
        self.label(label)

    def require_word(self, found: str, number: int) -> None:
        """Take the slow way unless a pointer is a word behind the capsule."""
        self.require(self.value(f"icmp eq ptr {found}, {self.word(number)}"))

    def array(self, given: str, number: int) -> list[str]:
        """Return address and size of an argument that is to be an array."""
        self.require_word(self.field(given, CLASS_IN_OBJECT, "ptr"), ARRAY_TYPE)
        self.require_word(self.field(given, TYPE_IN_ARRAY, "ptr"), WORDS + number)
        flags = self.value(f"and i32 {self.field(given, FLAGS_IN_ARRAY, 'i32')}, {PLAIN_FLAGS}")
        self.require(self.value(f"icmp eq i32 {flags}, {PLAIN_FLAGS}"))
        size = self.value(f"call i64 @size(ptr {given})")
        return [f"ptr {self.field(given, DATA_IN_ARRAY, 'ptr')}", f"i64 {size}"]

    def number(self, given: str, kind: NumberKind) -> list[str]:
        """Return an argument that is to be a number."""
        found = self.field(given, CLASS_IN_OBJECT, "ptr")
        self.require_word(found, FLOAT_TYPE if kind is FLOAT else INT_TYPE)
        if kind is FLOAT:
            return [f"double {self.field(given, VALUE_IN_FLOAT, 'double')}"]
        return ["i64 " + self.value(f"call i64 {self.word(READ_INT)}(ptr {given})")]


def _call(kinds: Sequence[str], outside: int) -> str:
    """Return the function for Python."""
    text, arguments = DirectCall(), list[str]()
    text.require(text.value(f"icmp eq i64 %count, {len(kinds)}"))
    for number, kind in enumerate(kinds):
        given = text.field("%arguments", 8 * number, "ptr")
        is_row = kind in ELEMENTS
        arguments += text.array(given, number) if is_row else text.number(given, KINDS[kind])
    made = text.value(f"call i64 @{TAG}_run({', '.join(arguments)})")
    left = text.value(f"icmp eq i64 {made}, {outside}")
    text.line(f"br i1 {left}, label %failed, label %success")
    text.label("success")
    text.line(f"ret ptr {text.value(f'call ptr {text.word(MAKE_INT)}(i64 {made})')}")
    text.label("failed")
    text.line(f"ret ptr {text.value(f'call ptr {text.word(CALL)}(ptr {text.word(RAISE)})')}")
    text.label("slow")
    given = f"ptr {text.word(SLOW)}, ptr %arguments, i64 %count, ptr null"
    text.line(f"ret ptr {text.value(f'call ptr {text.word(VECTORCALL)}({given})')}")
    head = f"define ptr @{TAG}_call(ptr %self, ptr %arguments, i64 %count) nounwind {{"
    return "\n".join([head, "entry:", text.body(), "}"])
