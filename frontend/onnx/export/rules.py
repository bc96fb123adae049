"""How an operation is written: by its rule, by the operator its class names, or in parts.

    @writes("gv.silu")
    def silu(out: Writer, op: Op, x: str) -> str:
        return out.node("Mul", x, out.node("Sigmoid", x))

A rule gets the names of the operands and returns those of the results. It raises
`NotWritableError` for what it cannot write; then the operation's decomposition is written, or its
formula for one element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from math import prod
from typing import Any, TypeVar

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ....ir import SOURCE, Call, DimExpr, DType, GraphEmit, Op, spec_of
from ....ir.families import EmitMath
from .extents import NotWritableError
from .writer import Writer

Result = str | Sequence[str]
Rule = Callable[..., Result]
RuleT = TypeVar("RuleT", bound=Rule)
RULES: dict[str, Rule] = {}
FAMILIES = (
    "arithmetic", "bias", "control", "index", "late", "layout", "packed", "products", "recurrent",
    "reduce", "windows",
)  # fmt: skip
GROWING = frozenset({"gv.broadcast_to", "gv.iota", "gv.random_bits", "gv.resize", "gv.one_hot"})
"""Operations that are left for the model to compute, since their results are large."""
SMALL = 4096
"""Elements up to which a known result may be larger than what it is made of."""


def writes(*names: str) -> Callable[[RuleT], RuleT]:
    """Register a rule for operations (a decorator)."""

    def enter(rule: RuleT) -> RuleT:
        for name in names:
            assert name not in RULES, f"{name} has two rules"
            RULES[name] = rule
        return rule

    return enter


@cache
def load() -> None:
    """Import the families of rules, which register themselves."""
    for family in FAMILIES:
        import_module(f".{family}", __package__)


def write(out: Writer, op: Op, depth: int = 0) -> None:
    """Write one operation, and enter the names of its results."""
    load()
    source = op.attributes.get(SOURCE)
    if isinstance(source, StringAttr):
        out.label = source.data
    attempts = [rule for rule in (_by_rule, _by_name, _decomposed, _by_formula) if depth < 20]
    if not all(isinstance(v.type, TensorType) for v in (*op.operands, *op.results)):
        attempts = [_by_rule]
    elif _fold(out, op):
        return
    reasons = []
    for attempt in attempts:
        try:
            made = out.attempt(partial(attempt, out, op, depth))
        except NotWritableError as reason:
            reasons.append(str(reason))
            continue
        if made is not None:
            names = [made] if isinstance(made, str) else made
            for result, name in zip(op.results, names, strict=True):
                dtype = out.dtype(result)
                assert out.types[name] == dtype, f"{op.name}: {out.types[name]}, not {dtype}"
                out.values[result] = name
                if isinstance(result.type, TensorType):
                    out.extents.declare_late(name, spec_of(result.type).shape or ())
            return
    raise NotWritableError(reasons[0] if reasons else f"ONNX has nothing like {op.name}")


def _fold(out: Writer, op: Op) -> bool:
    """Compute what is known, if that makes the model no larger."""
    if op.name == "gv.constant":
        out.arrays[op.results[0]] = np.asarray(op.plain_attributes()["value"])
        return True
    if op.name == "gv.weight":
        key = str(op.plain_attributes()["weight"])
        out.arrays[op.results[0]], out.stems[op.results[0]] = out.weights[key], key
        return True
    known = [out.known(operand) for operand in op.operands]
    if not known or op.regions or not op.PURE or op.name in GROWING:
        return False
    specs = op.result_specs
    if any(array is None for array in known) or not all(s.is_static for s in specs):
        return False
    elements = sum(prod(s.static_shape) for s in specs)
    size = sum(prod(s.static_shape) * s.dtype.size for s in specs)
    if elements > SMALL and size > sum(array.nbytes for array in known if array is not None):
        return False
    with np.errstate(all="ignore"):
        made = type(op).evaluate(*known, **op.plain_attributes())
    for result, array in zip(op.results, made, strict=True):
        out.arrays[result] = np.asarray(array)
        stems = [out.stems[v] for v in op.operands if v in out.stems]
        out.stems[result] = result.name_hint or (stems[0] if stems else "")
    return True


def _by_rule(out: Writer, op: Op, depth: int) -> Result | None:
    rule = RULES.get(op.name)
    return None if rule is None else rule(out, op, *_names(out, op.operands))


def _by_name(out: Writer, op: Op, depth: int) -> Result | None:
    """Write the operator that means exactly this, attributes included."""
    if type(op).ONNX is None or op.name in RULES:
        return None
    given: dict[str, Any] = {}
    for name, value in op.plain_attributes().items():
        if isinstance(value, DType | DimExpr):
            raise NotWritableError(f"{name} of {op.name} is no attribute of ONNX")
        given[name] = int(value) if isinstance(value, bool) else value
    made: Result = out.node(
        str(type(op).ONNX), *_names(out, op.operands), outputs=len(op.results), **given
    )
    return made


def _names(out: Writer, values: Sequence[SSAValue]) -> list[str]:
    return [out.name(value) for value in values]


def _decomposed(out: Writer, op: Op, depth: int) -> Result | None:
    """Write the operations that one decomposes into."""
    if not type(op).has("decompose"):
        return None

    def parts(emit: GraphEmit, operands: Sequence[SSAValue]) -> object:
        call = Call(
            type(op), operands, op.results, op.plain_attributes(), op.specs, emit, op.result_specs
        )
        return type(op).decompose(call)

    return _in_parts(out, op, parts, depth)


def _by_formula(out: Writer, op: Op, depth: int) -> Result | None:
    """Write the formula of an element with whole tensors."""
    if not type(op).has("scalar"):
        return None

    def parts(emit: GraphEmit, operands: Sequence[SSAValue]) -> object:
        return type(op).scalar(EmitMath(emit), *operands, **op.plain_attributes())

    return _in_parts(out, op, parts, depth)


def _in_parts(
    out: Writer, op: Op, parts: Callable[[GraphEmit, Sequence[SSAValue]], object], depth: int
) -> Result:
    """Write what stands for an operation, made on values that stand for its operands."""
    block = Block(arg_types=[operand.type for operand in op.operands])
    for argument, operand in zip(block.args, op.operands, strict=True):
        argument.name_hint = operand.name_hint
        array = out.known(operand)
        if array is not None:
            out.arrays[argument] = array
        if operand in out.values:
            out.values[argument] = out.values[operand]
    try:
        made = parts(GraphEmit(InsertPoint.at_end(block)), block.args)
    except (NotImplementedError, TypeError, KeyError) as error:
        raise NotWritableError(f"{op.name} has no parts: {error}") from error
    if any(each.name == op.name for each in block.ops):
        raise NotWritableError(f"ONNX has nothing like {op.name} of {op.specs[0]}")
    write_block(out, block.ops, depth + 1)
    values = made if isinstance(made, tuple) else (made,)
    return [_as_declared(out, value, old) for value, old in zip(values, op.results, strict=True)]


def _as_declared(out: Writer, value: SSAValue, result: SSAValue) -> str:
    """Return a value's name; it is repeated where a formula left out an operand's shape."""
    found, wanted = spec_of(value.type), spec_of(result.type)
    name = out.name(value)
    if found.dims == wanted.dims:
        return name
    return str(out.node("Expand", name, out.integers(wanted.dims)))


def write_block(out: Writer, ops: Sequence[Operation] | Any, depth: int = 0) -> None:
    """Write operations in order."""
    for op in ops:
        assert isinstance(op, Op), f"{op.name} is no operation of ours"
        write(out, op, depth)
