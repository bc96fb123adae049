"""Which ONNX operators are read, at which version, and how they run.

Everything is found, nothing is typed: the operators and their versions in the `onnx` package, how
each is read in the rules.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import CodeType
from typing import Any

from onnx import FunctionProto, NodeProto, TensorProto, TypeProto, defs, helper

from ...ir import REGISTRY, Op
from ...ir.host import HostOp
from ...ir.ops.host import along, late, mel, resizing, texts
from ...ir.ops.selecting import Leading
from .registry import RULES, find_rule, known_operators

COMPILED, HOST, PARTLY, REFUSED = "compiled", "host", "partly host", "refused"

_RULES = f"{__package__}.rules."

HEAD = """\
# ONNX operators

Written by `python -m gravure.tools.operator_table`. For each operator, the versions of the operator
set in which it was changed, by how a model with it runs:

- **compiled**: as native code. An operand that gives a shape or axes may have to be a constant.
- **host**: as a step between compiled parts, where it is not resolved when the model is read. What
  is in both columns is a step on the host for texts, or where sizes come from data.
- **refused**: with a message that names it.

An operator without a rule that the standard defines by a function is what the function's operators
are. Operators that a version of the standard removed are left out.
"""


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for domain in sorted({schema.domain for schema in _schemas()}):
        parts.append(f"\n## {domain or 'ai.onnx'}\n\n")
        parts.append("| operator | compiled | host | refused |\n|---|---|---|---|\n")
        parts.extend(_row(domain, name, versions) for name, versions in _versions(domain).items())
    parts.append("\n## com.microsoft\n\n")
    names = sorted(name for domain, name in RULES if domain == "com.microsoft")
    hosts = [name for name in names if _is_of_texts("com.microsoft", name)]
    compiled = [name for name in names if name not in hosts]
    parts.append(f"Compiled: {', '.join(compiled)}.\n\nHost: {', '.join(hosts)}.\n")
    return "".join(parts)


def _is_of_texts(domain: str, name: str) -> bool:
    """Say whether an operator that has no schema here works on texts, which the host does."""
    rule = find_rule(domain, name, 1)
    assert rule is not None, f"{name} has a rule"
    return any(op.__module__ == texts.__name__ for op in _steps(rule))


def _row(domain: str, name: str, versions: list[int]) -> str:
    columns: dict[str, list[str]] = {COMPILED: [], HOST: [], REFUSED: []}
    for version in versions:
        found = status(domain, name, version)
        for column in (COMPILED, HOST) if found == PARTLY else (found,):
            columns[column].append(str(version))
    return f"| {name} | {' | '.join(', '.join(c) for c in columns.values())} |\n"


@cache
def _schemas() -> tuple[Any, ...]:
    known_operators()  # loads the rules
    return tuple(s for s in defs.get_all_schemas_with_history() if not s.deprecated)


def _versions(domain: str) -> dict[str, list[int]]:
    """Return the operators of a domain, and the versions at which each changed."""
    found: dict[str, list[int]] = {}
    for schema in sorted(_schemas(), key=lambda s: (s.name, s.since_version)):
        if schema.domain == domain:
            found.setdefault(schema.name, []).append(schema.since_version)
    return found


BY_DATA = (along, late, mel, resizing)
"""What is a step on the host only where operands that mostly are known are data."""


@cache
def status(domain: str, name: str, version: int) -> str:
    """Return how an operator runs."""
    rule = find_rule(domain, name, version)
    if rule is not None:
        return _by_rule(rule, defs.get_schema(name, version, domain))
    inner = [status(d, n, v) for d, n, v in _inside(domain, name, version)]
    if not inner or REFUSED in inner:
        return REFUSED
    return HOST if HOST in inner else COMPILED


def _by_rule(rule: Callable[..., object], schema: Any) -> str:
    """Return how a rule does it: by the operations that it names, itself or in what it calls."""
    steps = _steps(rule)
    if not steps:
        return COMPILED
    numbers = schema.inputs and any(t != "tensor(string)" for t in schema.inputs[0].types)
    special = {each.__name__ for each in BY_DATA}
    if numbers:
        special.add(texts.__name__)
    return PARTLY if all(op.__module__ in special or op is Leading for op in steps) else HOST


def _steps(rule: Callable[..., object]) -> list[type[Op]]:
    """Return the host steps that a rule names, itself or in what it calls."""
    makes = {f"gv.{name}" for name in _names(rule.__code__, rule.__globals__, set())}
    return [op for name, op in REGISTRY.items() if name in makes and issubclass(op, HostOp)]


def _names(code: CodeType, scope: dict[str, object], seen: set[CodeType]) -> Iterator[str]:
    """Give the attributes used in a function, and in those beside it that it calls."""
    if code in seen:
        return
    seen.add(code)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner, scope, seen)
    for instruction in dis.get_instructions(code):
        name = str(instruction.argval)
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield name
        used = scope.get(name) if instruction.opname == "LOAD_GLOBAL" else None
        if getattr(used, "__module__", "").startswith(_RULES):
            for function in (used, *(vars(used).values() if inspect.isclass(used) else ())):
                if inspect.isfunction(function):
                    yield from _names(function.__code__, function.__globals__, seen)


def _inside(domain: str, name: str, version: int) -> list[tuple[str, str, int]]:
    """Return the operators of the function that the standard defines an operator by."""
    schema: Any = defs.get_schema(name, version, domain)
    body: Any = None
    if schema.has_function:
        body = schema.get_function_with_opset_version(min(schema.function_opset_versions))
    elif schema.has_context_dependent_function:
        body = _function_of_floats(schema)
    if body is None:
        return []
    function = FunctionProto()
    function.ParseFromString(body if isinstance(body, bytes) else body.SerializeToString())
    opsets = {"": defs.onnx_opset_version(), domain: version}
    opsets |= {entry.domain: entry.version for entry in function.opset_import}
    return [(n.domain, n.op_type, opsets[n.domain]) for n in function.node]


def _function_of_floats(schema: Any) -> object:
    """Return the function for operands of f32 where they may be, of some rank that it takes."""
    for rank in (1, 3, 4):
        proto, kinds = _sample(schema, [2] * rank)
        version = min(schema.context_dependent_function_opset_versions)
        types = [kind.SerializeToString() for kind in kinds]
        body = schema.get_context_dependent_function_with_opset_version(
            version, proto.SerializeToString(), types
        )
        if body:
            return body
    return None


def _sample(schema: Any, shape: Sequence[int]) -> tuple[NodeProto, list[TypeProto]]:
    """Return a node with what it must have, and the types of its operands."""
    vector = helper.make_tensor_type_proto(TensorProto.FLOAT, shape)
    places = helper.make_tensor_type_proto(TensorProto.INT64, shape)
    parts = helper.make_sequence_type_proto(vector)
    kinds = []
    for given in schema.inputs[: max(schema.min_input, 1)]:
        plain = vector if "tensor(float)" in given.types else places
        kinds.append(plain if any(t.startswith("tensor") for t in given.types) else parts)
    names = [f"x{i}" for i in range(len(kinds))]
    results = [f"y{i}" for i in range(schema.min_output)]
    proto = NodeProto(op_type=schema.name, domain=schema.domain, input=names, output=results)
    for attribute in schema.attributes.values():
        if attribute.required and attribute.type == defs.OpSchema.AttrType.INT:
            proto.attribute.append(helper.make_attribute(attribute.name, 1))
        if attribute.required and attribute.type == defs.OpSchema.AttrType.GRAPH:
            given = [helper.make_value_info(f"b{name}", vector) for name in names]
            same = NodeProto(op_type="Identity", input=["bx0"], output=["b"])
            graph = helper.make_graph([same], "body", given, [helper.make_value_info("b", vector)])
            proto.attribute.append(helper.make_attribute(attribute.name, graph))
    return proto, kinds
