"""Host steps that go step by step: compiled loops in place of numpy's calls, with the same bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from math import prod
from typing import TypeAlias

from ...ir import Array
from ...ir.host import HostOp
from ...ir.ops.host.along import ReduceAlong
from ...ir.ops.host.late import ResizeBy, stretched
from ...ir.ops.resize import Resize
from ...ir.ops.selecting import NonMaxSuppression, Unique
from ...ir.types.tensor import TensorSpec, spec_of_array
from ..eager.kernels import MANY, OFTEN, Kernel, Runner, quiet
from ..values.boxes import standing_out
from ..values.distinct import distinct
from .reducing import reduced

Compute: TypeAlias = Callable[..., Sequence[Array]]


def resized(
    x: Array, scales: Array, *, axes: Sequence[int], sizes: object = (), **rules: object
) -> Sequence[Array]:
    """Return what `gv.resize_by` does; what comes often is compiled, with the same bits."""
    del sizes
    rules |= stretched(x.shape, scales, axes)
    return (_resizing(spec_of_array(x), tuple(rules.items()))(x),)


@lru_cache(maxsize=64)
def _resizing(spec: TensorSpec, rules: tuple[tuple[str, object], ...]) -> Kernel:
    """Return what resizes images of one shape by the same factors."""
    given, runner = dict(rules), Runner(Resize)

    def evaluate(x: Array) -> Array:
        return Resize.evaluate(x, **given)[0]

    (made,) = Resize.inferred([spec], given)
    much = prod(made.static_shape)
    if not spec.size or not much or not Resize.is_exact([spec.dtype]):
        return quiet(evaluate)
    often = min(OFTEN, max(OFTEN * MANY // much, 1))
    return runner.compiled([spec], {**runner.defaults, **given}, quiet(evaluate), often)


LOOPS: Mapping[type[HostOp], Compute] = {
    NonMaxSuppression: standing_out,
    ReduceAlong: reduced,
    ResizeBy: resized,
    Unique: distinct,
}
"""What gives the results of an operation, in a loop."""


def computing(op: HostOp) -> Compute:
    """Return what gives the results of operands: a loop where there is one, else `evaluate`."""
    loop, attributes = LOOPS.get(type(op)), op.plain_attributes()
    return op.ready(**attributes) if loop is None else partial(loop, **attributes)


def is_loop(op: HostOp) -> bool:
    """Say whether an operation is a loop, of which numpy never warns."""
    return type(op) in LOOPS
