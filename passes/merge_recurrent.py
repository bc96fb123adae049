"""Compute the input's part of a recurrent layer's gates in the loops of its steps.

    %g = gv.kernel %x, %w, %b ({ matmul_packed, add }) {kind = "gemm"}
    %y, %h, %c = gv.kernel (gv.reshape %g), %panels, %s ({ lstm_packed }) {kind = "rnn"}     =>

    %g, %y, %h, %c = gv.kernel %x, %w, %b, %panels, %s ({
        matmul_packed, add, reshape, lstm_packed
    }) {kind = "rnn"}

For one row of the batch: its steps wait for the weights of the state, and a product of all inputs
for arithmetic. The gates stay a result, so that all threads of the kernel see them. Needs `fuse`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import Op, Program, erase
from ..ir.ops.laid_out.recurrent import PackedRecurrent
from ..ir.ops.structure import Kernel
from ..ir.program import functions
from ..ir.types.tensor import spec_of
from .analysis.blocks import blocks_of
from .analysis.kernels.recurrent import goes_along, input_product
from .analysis.targets import target_of
from .base import Pass
from .merge_maps import merge


@dataclass(frozen=True)
class MergeRecurrent(Pass):
    """Compute the input's part of a recurrent layer's gates in the loops of its steps."""

    LEVEL = "fused"
    FOR = (PackedRecurrent,)

    def apply(self, program: Program) -> None:
        """Merge in every function."""
        target = target_of(program)
        if not target.can.pack_panels:
            return
        for block in [b for f in functions(program.module) for b in blocks_of(f)]:
            for steps in [op for op in block.ops if isinstance(op, Kernel)]:
                layer = next((op for op in steps.body.ops if isinstance(op, PackedRecurrent)), None)
                view = viewed_product(steps)
                if layer is None or view is None:
                    continue
                product = view.operands[0].owner
                assert isinstance(product, Kernel), "what is viewed is of a kernel"
                found = input_product(product.yielded[0])
                if found and goes_along(layer, spec_of(found.panels.type), target):
                    view_inside(view, steps)
                    merge(product, steps, block, "rnn", keep=True)
                    self.count("layers")


def viewed_product(steps: Kernel) -> Op | None:
    """Return the view of a product through which a kernel, and nothing else, has its result."""
    view = steps.operands[0].owner if steps.operands else None
    if not isinstance(view, Op) or view.name != "gv.reshape":
        return None
    made = view.operands[0].owner
    alone = view.results[0].has_one_use() and view.operands[0].has_one_use()
    return view if alone and isinstance(made, Kernel) and made.kind == "gemm" else None


def view_inside(view: Op, steps: Kernel) -> None:
    """Have a kernel see its first operand as it was before a view."""
    body, argument = steps.body, steps.body.args[0]
    given = body.insert_arg(view.operands[0].type, 0)
    first = body.first_op
    assert first is not None, "a kernel computes something"
    inside = view.clone({view.operands[0]: given})
    body.insert_op_before(inside, first)
    argument.replace_all_uses_with(inside.results[0])
    body.erase_arg(argument)
    steps.operands[0] = view.operands[0]
    erase(view)
