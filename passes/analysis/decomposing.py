"""One operation as those that it is made of."""

from __future__ import annotations

from ...errors import UnsupportedOp
from ...ir import Call, GraphEmit, Op
from ...ir.verify import place


def decompose(op: Op) -> list[Op]:
    """Replace one operation; return the operations that stand for it."""
    emit = GraphEmit.before(op)
    specs, result_specs = op.specs, op.result_specs
    call = Call(
        type(op), tuple(op.operands), op.results, op.plain_attributes(), specs, emit, result_specs
    )
    try:
        values = op.decompose(call)
    except NotImplementedError as error:
        raise UnsupportedOp(str(error), location=place(op)) from error
    values = values if isinstance(values, tuple) else (values,)
    for old, new in zip(op.results, values, strict=True):
        assert new.type == old.type, f"{op.name} of type {old.type} decomposes to {new.type}"
        old.replace_all_uses_with(new)
    block = op.parent
    assert block is not None, f"{op.name} stands nowhere"
    block.erase_op(op)
    return emit.made
