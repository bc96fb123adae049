"""Operations of graphs that are a function of arrays: files, text, pictures, pipelines.

They are carried out by the host, at once or as nodes of a graph; they have no gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...ir.types.tensor import TensorSpec
from ..graph.frame import Frame, OutsideError
from ..graph.graph import Kind, Operation
from ..values.texts import Text

Infer = Callable[[Sequence[TensorSpec]], Sequence[TensorSpec]]


class ArrayKind(Kind):
    """A function of arrays, and what is known of its results before it runs."""

    def __init__(
        self,
        type_: str,
        compute: Callable[..., Sequence[object]],
        infer: Infer,
        *,
        effect: bool = False,
        reads_text: bool = False,
    ) -> None:
        self.type, self.compute, self.inferred, self.stateful = type_, compute, infer, effect
        self.reads_text = reads_text
        self.is_numbers = not effect and type(self) is ArrayKind

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return what is known."""
        return self.inferred(specs)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Call the function; one with an effect is called as Python is, once in a run."""
        if self.stateful and type(self) is ArrayKind:
            return frame.host(self.compute, inputs, [x.spec.dtype for x in op.outputs])
        if frame.is_staging:
            raise OutsideError(self.type)
        made: Sequence[object] = self.compute(
            *[x if isinstance(x, Text) and self.reads_text else np.asarray(x) for x in inputs]
        )
        return made

    def gradient(self, op: Operation, grads: Sequence[object], emit: object) -> Sequence[object]:
        """Return nothing."""
        return (None,) * len(op.inputs)
