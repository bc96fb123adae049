"""Mend xDSL 0.74 where its `arith` falls short of MLIR's at the `loops` level.

xDSL has comparisons, `select` and most conversions for scalars only, though MLIR has them for
vectors: on vectors they could not be verified, and comparisons and `select` not be parsed or
printed either. It has no `arith.remf`. Importing this module mends the classes in place, so that
it does not matter who makes the operations; the text is what MLIR itself reads and prints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    FixedBitwidthType,
    IndexType,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    IRDLOperation,
    OperandDef,
    ResultDef,
    base,
    irdl_op_definition,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """The remainder of a division towards zero, with the sign of the dividend (C's fmod)."""

    name = "arith.remf"


def _like(element: AttrConstraint) -> AttrConstraint:
    """Return the constraint of a scalar, or a vector of such scalars."""
    return element | VectorType.constr(element)


BITS = _like(base(IntegerType))
INTEGERS = _like(base(IntegerType))
INDICES = _like(base(IntegerType) | base(IndexType))
FLOATS = _like(AnyFloatConstr)

CONVERSIONS: tuple[tuple[type[IRDLOperation], AttrConstraint, AttrConstraint, int], ...] = (
    (arith.ExtSIOp, INTEGERS, INTEGERS, 1),
    (arith.ExtUIOp, INTEGERS, INTEGERS, 1),
    (arith.TruncIOp, INTEGERS, INTEGERS, -1),
    (arith.IndexCastOp, INDICES, INDICES, 0),
    (arith.FPToSIOp, FLOATS, INTEGERS, 0),
    (arith.FPToUIOp, FLOATS, INTEGERS, 0),
    (arith.SIToFPOp, INTEGERS, FLOATS, 0),
    (arith.UIToFPOp, INTEGERS, FLOATS, 0),
    (arith.ExtFOp, FLOATS, FLOATS, 1),
    (arith.TruncFOp, FLOATS, FLOATS, -1),
)
"""Operation, what it takes, what it gives, and whether it must widen (1) or narrow (-1)."""


def bits_like(kind: Attribute) -> Attribute:
    """Return the type of a comparison of two values of a type."""
    return VectorType(i1, kind.get_shape()) if isinstance(kind, VectorType) else i1


def _split(kind: Attribute) -> tuple[Attribute, tuple[int, ...]]:
    """Return the element type and the shape."""
    return (kind.element_type, kind.get_shape()) if isinstance(kind, VectorType) else (kind, ())


def _check_conversion(direction: int) -> Callable[[Operation], None]:
    """Return the verifier of a conversion."""

    def check(op: Operation) -> None:
        (before, lanes), (after, lanes_after) = (
            _split(value.type) for value in (op.operands[0], op.results[0])
        )
        if lanes != lanes_after:
            raise VerifyException("operand and result have different shapes")
        if isinstance(op, arith.IndexCastOp):
            if isinstance(before, IndexType) == isinstance(after, IndexType):
                raise VerifyException("expected an index on exactly one side")
        elif direction:
            assert isinstance(before, FixedBitwidthType)
            assert isinstance(after, FixedBitwidthType)
            if (after.bitwidth - before.bitwidth) * direction <= 0:
                wanted = "wider" if direction > 0 else "narrower"
                raise VerifyException(f"expected a {wanted} type than {before}, found {after}")

    return check


def _check_comparison(op: Operation) -> None:
    if op.results[0].type != bits_like(op.operands[0].type):
        raise VerifyException(f"{op.results[0].type} is no comparison of {op.operands[0].type}")


def _check_select(op: Operation) -> None:
    condition = op.operands[0].type
    if condition != i1 and condition != bits_like(op.results[0].type):
        raise VerifyException(f"{condition} cannot choose lanes of {op.results[0].type}")


def _of_any_shape(make: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor of comparisons that gives a vector of bits for vectors."""

    def made(self: Operation, first: SSAValue | Operation, *arguments: Any, **named: Any) -> None:
        make(self, first, *arguments, **named)
        kind = SSAValue.get(first).type
        if isinstance(kind, VectorType):
            self.results[0]._type = bits_like(kind)

    return made


def _parse_select(cls: type[arith.SelectOp], parser: Parser) -> arith.SelectOp:
    """Parse `%c, %x, %y : T`, or `: vector<Nxi1>, T` where lanes are chosen one by one."""
    names = parser.parse_comma_separated_list(
        parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    kinds = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    condition = kinds[0] if len(kinds) == 2 else i1
    operands = parser.resolve_operands(names, [condition, kinds[-1], kinds[-1]], parser.pos)
    return cls.create(operands=operands, result_types=[kinds[-1]], attributes=attributes)


def _print_select(self: arith.SelectOp, printer: Printer) -> None:
    """Print the condition's type where it is a vector."""
    printer.print_string(" ")
    printer.print_list(self.operands, printer.print_ssa_value)
    printer.print_op_attributes(self.attributes)
    printer.print_string(" : ")
    if isinstance(self.operands[0].type, VectorType):
        printer.print_attribute(self.operands[0].type)
        printer.print_string(", ")
    printer.print_attribute(self.results[0].type)


def _mend() -> None:
    """Change xDSL's definitions."""
    changes: list[tuple[type[Operation], str, Any]] = []
    for op in (arith.CmpiOp, arith.CmpfOp):
        op.get_irdl_definition().results[0] = ("result", ResultDef(BITS))
        changes.append((op, "__init__", _of_any_shape(op.__init__)))
        changes.append((op, "verify_", _check_comparison))
    arith.SelectOp.get_irdl_definition().operands[0] = ("cond", OperandDef(BITS))
    changes.append((arith.SelectOp, "verify_", _check_select))
    changes.append((arith.SelectOp, "parse", classmethod(_parse_select)))
    changes.append((arith.SelectOp, "print", _print_select))
    for conversion, takes, gives, direction in CONVERSIONS:
        definition = conversion.get_irdl_definition()
        definition.operands[0] = ("input", OperandDef(takes))
        definition.results[0] = ("result", ResultDef(gives))
        changes.append((conversion, "verify_", _check_conversion(direction)))
    for changed, name, value in changes:
        setattr(changed, name, value)


_mend()
