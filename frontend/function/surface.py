"""What a trace asks of its function: names, classes, and how values go in and out.

gravure's own functions and those with TensorFlow's rules answer differently.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Protocol

from ...ir.types.dtypes import DType
from ..eager.tensor import Tensor
from ..graph.func_graph import FuncGraph
from ..graph.graph import GraphTensor


class Surface(Protocol):
    """A function as its traces see it."""

    signature: inspect.Signature

    @property
    def graph_class(self) -> type[FuncGraph]:
        """Return the class of its graphs."""

    @property
    def tensor_class(self) -> type[GraphTensor]:
        """Return the class of their tensors."""

    @property
    def label(self) -> str:
        """Return its name for messages."""

    def to_tensor(self, value: object, dtype: DType | None = None) -> Tensor:
        """Return an argument as a tensor."""

    def spec_of(self, tensor: GraphTensor) -> object:
        """Return the spec of an argument of a trace, as users see it."""

    def wrap(self, array: object) -> Tensor:
        """Return a result as a tensor."""

    def bind(self, args: Sequence[object], kwargs: dict[str, object]) -> Any:
        """Return the arguments of a call."""
