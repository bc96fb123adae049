"""A sum with stored numbers behind a product or a convolution: the operator's own third input.

Conv(x, w) + b    is written as   Conv(x, w, b)
MatMul(x, w) + b                  Gemm(x, w, b)        for matrices
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....ir import Array, Op
from .rules import writes
from .writer import NodeText, Writer


@writes("gv.add")
def add(out: Writer, op: Op, a: str, b: str) -> str:
    """Add, in the operation before where it can."""
    for index, name in enumerate((a, b)):
        made = _taken_in(out, op, index, name)
        if made is not None:
            return made
    return str(out.node("Add", a, b))


def _taken_in(out: Writer, op: Op, index: int, name: str) -> str | None:
    """Return the operand that does the sum itself, or None."""
    value, other = op.operands[index], op.operands[1 - index]
    array, node = out.known(other), out.nodes[-1] if out.nodes else None
    if array is None or node is None or node.outputs != [name] or not _is_alone(value):
        return None
    if op.specs[index].dims != op.result_specs[0].dims or len(node.inputs) != 2:
        return None
    vector = _vector(node, array, op.specs[index].rank)
    if vector is None or vector.size != op.specs[index].dims[1]:
        return None
    if node.op_type == "MatMul":
        if any(out.types[each] != out.types[name] for each in node.inputs):
            return None
        node.op_type = "Gemm"
    node.inputs.append(out.store(vector, "bias"))
    return name


def _is_alone(value: SSAValue) -> bool:
    return value.has_one_use()


def _vector(node: NodeText, array: Array, rank: int) -> Array | None:
    """Return an array that goes along the channels, as a vector; None if it does not."""
    if node.op_type == "Conv":
        shape = (1,) * (rank - array.ndim) + array.shape
        wide = [axis for axis, extent in enumerate(shape) if extent != 1]
        return array.reshape(-1) if wide == [1] else None
    if node.op_type in ("MatMul", "Gemm") and rank == 2:
        shape = (1,) * (rank - array.ndim) + array.shape
        return array.reshape(-1) if shape[0] == 1 and array.dtype.kind == "f" else None
    return None
