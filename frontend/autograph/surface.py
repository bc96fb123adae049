"""What a set of names over the core does in its own way for Python's functions.

The core's own graphs have the functions here; `gravure.tf` enters a `Surface` of its own for the
tensors of its graphs.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.types import dtypes as rows
from ...ir.types.dtypes import DType
from ..eager.tensor import Tensor, apply
from ..graph.graph import Graph, GraphTensor
from ..graph.kinds import Composite, Rule, register_rule

MAKE = Maker(apply)


def _required(m: Maker, holds: object, message: str) -> object:
    return m.require(holds, message=message)


ASSERT = register_rule(
    Rule("AssertTrue", _required, "Assert", differentiable=False, refuses=True, is_check=True)
)


class TensorRange:
    """The numbers of `range(...)` of tensors, which a loop of a graph goes through."""

    def __init__(self, start: GraphTensor, limit: GraphTensor, step: GraphTensor) -> None:
        self.start, self.limit, self.step = start, limit, step


class Surface:
    """The core's way."""

    def range(
        self, graph: Graph, start: object, limit: object, step: object
    ) -> TensorRange | Tensor:
        """Return `range(start, limit, step)`, of which some are tensors."""
        tensors = [graph.owned(graph.convert(x)) for x in (start, limit, step)]
        row = next(x.spec.dtype for x, g in zip(tensors, (start, limit, step), strict=True)
                   if not isinstance(g, int))  # fmt: skip
        return TensorRange(*[MAKE.to(x, row) for x in tensors])

    def number(self, graph: Graph, value: object, kind: type[int | float]) -> Tensor:
        """Return `int(value)` or `float(value)`."""
        made: Tensor = MAKE.to(graph.owned(graph.convert(value)), self.types[kind])
        return made

    types: ClassVar[dict[type, DType]] = {int: rows.i64, float: rows.f64}

    def sorted(self, value: object, *, reverse: bool) -> Tensor:
        """Return `sorted(value)`: the core has none."""
        del reverse
        raise TypeError(f"sorted() of a tensor of a graph ({value}); use gravure.sort")

    def print(self, values: tuple[object, ...], options: dict[str, Any]) -> None:
        """Print when the graph is traced."""
        print(*values, **options)

    def require(self, graph: Graph, holds: object, message: object) -> None:
        """Let the graph refuse to run on where a condition does not hold."""
        tensor = graph.owned(graph.convert(holds))
        if tensor.spec.dims != ():
            tensor = MAKE.all(tensor, axes=tuple(np.arange(len(tensor.spec.dims)).tolist()))
        kind = Composite(ASSERT, {"message": str(message) or "assertion failed"})
        graph.add(kind, [tensor], {"known": {}})


SURFACES: dict[type[GraphTensor], Surface] = {GraphTensor: Surface()}


def surface_of(graph: Graph) -> Surface:
    """Return the surface of a graph's tensors."""
    return SURFACES[graph.tensor_class]
