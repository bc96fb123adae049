"""How the steps of a recurrent layer are shared, and what else is computed in their loops."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from xdsl.ir import BlockArgument, SSAValue

from ....ir import Op
from ....ir.ops.laid_out.recurrent import PackedRecurrent
from ....ir.types.tensor import TensorSpec, spec_of
from ....target import Target
from .tiles import lanes_of

WORTH_SHARING = 1 << 14
"""Multiplications of a step from which threads share it."""


def panels_of(layer: Op) -> list[tuple[int, ...]]:
    """Return the shapes of the weights of a layer's state."""
    return [spec.static_shape for spec in layer.specs[1 : 1 + len(gates_of(layer))]]


def gates_of(layer: Op) -> tuple[int, ...]:
    """Return how many gates each operand that is panels has; they stand behind the first part."""
    assert isinstance(layer, PackedRecurrent), f"{layer.name} goes through time"
    return layer.PANELS


def keeps(layer: Op) -> bool:
    """Say whether a step first computes another state, by which it multiplies then."""
    return layer.name == "gv.gru_packed" and not layer.plain_attributes()["linear_before_reset"]


def parts_of(layer: Op) -> int:
    """Return the parts of the state that a step can compute apart: panels that end with gates.

    None, 0, where panels do not end with gates, or a step is too small to be shared.
    """
    shapes = panels_of(layer)
    units, tile = shapes[0][1:]
    parts, rest = divmod(units, tile)
    fits = all(
        each == tile and count == parts * number
        for number, (count, _, each) in zip(gates_of(layer), shapes, strict=True)
    )
    work = sum(count for count, _, _ in shapes) * units * tile
    steps = layer.specs[0].dims[0]
    large = isinstance(steps, int) and steps > 1 and work >= WORTH_SHARING
    return parts if large and fits and not rest and not keeps(layer) else 0


class InputProduct(NamedTuple):
    """The product that a layer's gates are, of arguments of its kernel."""

    x: BlockArgument
    panels: BlockArgument
    bias: BlockArgument


def input_product(gates: SSAValue) -> InputProduct | None:
    """Return the product that gates are, if they are one of packed weights, and a row."""
    total = viewed(gates).owner
    if not isinstance(total, Op) or total.name != "gv.add":
        return None
    for product, bias in (total.operands, total.operands[::-1]):
        made = product.owner
        if isinstance(made, Op) and made.name == "gv.matmul_packed":
            x, panels = viewed(made.operands[0]), made.operands[1]
            row = made.result_specs[0].with_shape(total.result_specs[0].dims[-1:])
            same = spec_of(bias.type) == row and made.specs[1].dtype == row.dtype
            if same and all(isinstance(value, BlockArgument) for value in (x, panels, bias)):
                return InputProduct(x, panels, bias)  # type: ignore[arg-type]
    return None


def viewed(value: SSAValue) -> SSAValue:
    """Return what a value is a view of."""
    while isinstance(value.owner, Op) and value.owner.name == "gv.reshape":
        value = value.owner.operands[0]
    return value


def goes_along(layer: Op, panels: TensorSpec, target: Target) -> bool:
    """Say whether the gates of later steps are computed in the loops of those before.

    For one row of the batch, whose weights stay in L2: a step's product waits for them there, and
    has few sums. From L3, the weights of the inputs would be waited for as well. Inputs are about
    as wide as the state, so that neither product is much longer than the other.
    """
    steps, batch, _ = layer.specs[0].dims
    if batch != 1 or not parts_of(layer) or not isinstance(steps, int):
        return False
    shapes, lanes = panels_of(layer), lanes_of(target, panels.dtype)
    near = sum(map(prod, shapes)) * panels.dtype.size <= target.l2
    _, depth, width = panels.static_shape
    alike = shapes[0][1] <= 2 * depth and depth <= 2 * shapes[0][1]
    vectors, rest = divmod(shapes[0][2], lanes)
    full = rest == 0 and width % lanes == 0
    return near and alike and full and 2 * vectors + 3 <= target.registers and steps > 2 * vectors
