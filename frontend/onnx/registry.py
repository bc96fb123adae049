"""How the rule of a node is found: by domain, operator, and version of the operator set.

A rule appends graph operations for one node and returns its outputs:

    @rule("Softmax", since=13)
    def softmax(node: Node, x: SSAValue) -> SSAValue:
        return node.make.softmax(x, axis=node.integer("axis", -1) % node.rank(x))

Inputs come by position, absent ones as None. Of the rules of one operator the one with the
highest `since` that is not above the version applies. A graph operation whose class names an
ONNX operator (`ONNX = "Add"`) needs no rule: its attributes are passed by name. An operator
without either that the standard defines by a function of other operators is read as that.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from onnx import AttributeProto, defs
from xdsl.ir import SSAValue

from ... import extensions, plugins
from ...ir import REGISTRY, Op
from .node import Node, Parts

Result = SSAValue | Sequence[SSAValue | Parts | None]
Rule = Callable[..., Result]


@dataclass(frozen=True)
class Versioned:
    """One rule, and the first and last version of the operator set it is for."""

    since: int
    until: int
    rule: Rule


RULES: dict[tuple[str, str], list[Versioned]] = {}


TAKES_PARTS: set[Rule] = set()
"""The rules whose operands may be sequences."""


def rule(
    *names: str, since: int = 1, until: int = 9999, domain: str = "", takes_parts: bool = False
) -> Callable[[Rule], Rule]:
    """Register a rule for operators (a decorator)."""

    def enter(function: Rule) -> Rule:
        if takes_parts:
            TAKES_PARTS.add(function)
        if extensions.is_outside(function):
            _refuse_taken(function, names, domain)
        made = Versioned(since, until, function)
        for name in names:
            RULES.setdefault((domain, name), []).append(made)

        def undo() -> None:
            for name in names:
                RULES[domain, name].remove(made)

        for name in names:
            full = full_name(domain, name)
            extensions.note("ONNX rule", full, function, undo if name == names[0] else _nothing)
        return function

    return enter


def full_name(domain: str, op_type: str) -> str:
    """Return the name of an operator with its domain, if that is not the standard's."""
    return f"{domain}.{op_type}" if domain else op_type


def _nothing() -> None:
    """Do nothing: the first name of a rule takes out all."""


def _refuse_taken(function: Rule, names: Sequence[str], domain: str) -> None:
    """Raise `NameTakenError` for an operator whose rules are of another module."""
    _load()
    for name in names:
        known = [each.rule for each in RULES.get((domain, name), ())]
        is_own = not domain and name in _one_to_one()
        if is_own or any(each.__module__ != function.__module__ for each in known):
            raise extensions.taken("ONNX rule", full_name(domain, name))


def find_rule(domain: str, op_type: str, version: int) -> Rule | None:
    """Return the rule for an operator at a version, or None."""
    _load()
    found = _known_rule(domain, op_type, version)
    if found is None and plugins.load_installed():
        found = _known_rule(domain, op_type, version)
    return found


def _known_rule(domain: str, op_type: str, version: int) -> Rule | None:
    fitting = [v for v in RULES.get((domain, op_type), ()) if v.since <= version <= v.until]
    if fitting:
        return max(fitting, key=lambda v: v.since).rule
    op = _one_to_one().get(op_type) if not domain else None
    return _by_name(op) if op is not None else None


def known_operators() -> list[str]:
    """Return the names of the standard's operators that can be read by a rule."""
    _load()
    return sorted({*(name for domain, name in RULES if not domain), *_one_to_one()})


def suggestion(domain: str, op_type: str) -> str:
    """Return what the user can do about an operator without a rule."""
    if domain.startswith("com.microsoft"):
        return "export without onnxruntime's fusions (optimisation level basic)"
    close = difflib.get_close_matches(op_type, known_operators(), 1, 0.8)
    standard = op_type in _standard()
    if close and not standard:
        return f"did you mean {close[0]}?"
    if domain and not standard:
        return "give the operator as a function inside the model"
    return ""


@cache
def _load() -> None:
    """Import the files of rules, which register themselves."""
    for path in sorted((Path(__file__).parent / "rules").glob("*.py")):
        import_module(f"{__package__}.rules.{path.stem}")


def _one_to_one() -> dict[str, type[Op]]:
    return _one_to_one_of(tuple(row.name for row in extensions.REGISTERED))


@cache
def _one_to_one_of(outside: tuple[str, ...]) -> dict[str, type[Op]]:
    """Return operations by the operator that they are; others where there are others `outside`."""
    del outside
    return {op.ONNX: op for op in REGISTRY.values() if op.ONNX}


@cache
def _standard() -> frozenset[str]:
    return frozenset(schema.name for schema in defs.get_all_schemas())


@cache
def _by_name(op: type[Op]) -> Rule:
    """Return the rule that passes operands and attributes on by name."""
    parameters = inspect.signature(op.infer).parameters

    def pass_on(node: Node, *operands: SSAValue | None) -> Result:
        given = list(operands)
        while given and given[-1] is None:
            given.pop()
        if any(operand is None for operand in given):
            node.refuse("an input left out is not supported")
        names = [a for a in op.signature().attributes if node.has(a)]
        attributes = {n: _value(node, n, str(parameters[n].annotation)) for n in names}
        return node.emit(op, *[v for v in given if v is not None], **attributes)  # type: ignore[no-any-return]

    return pass_on


def _value(node: Node, name: str, annotation: str) -> Any:
    """Return an attribute as the type that `infer` says it has."""
    kind = next(a.type for a in node.proto.attribute if a.name == name)
    if annotation == "bool":
        return bool(node.integer(name))
    if kind not in READERS:
        node.refuse(f"attribute {name} is not supported")
    return READERS[kind](node, name)


READERS: dict[int, Callable[[Node, str], object]] = {
    AttributeProto.INT: Node.integer,
    AttributeProto.FLOAT: Node.number,
    AttributeProto.STRING: Node.text,
    AttributeProto.INTS: Node.integers,
    AttributeProto.FLOATS: Node.floats,
}
