"""Operations of graphs that are a function of arrays: files, text, pictures, pipelines.

They are carried out by the host, at once or as nodes of a graph; they have no gradient: who asks
for one of numbers that are made of others is told so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec
from ..graph.frame import Frame, OutsideError
from ..graph.graph import Kind, Operation
from ..graph.kinds import NoGradientError
from ..values.texts import Text

Infer = Callable[[Sequence[TensorSpec]], Sequence[TensorSpec]]
FLAT = {
    *("CTCBeamSearchDecoder", "CTCGreedyDecoder", "DrawBoundingBoxes", "EditDistance"),
    *("LoadAndRemapMatrix", "LookupTableFindV2", "SampleDistortedBoundingBoxV2"),
    *("StatelessRandomBinomial", "StatelessRandomPoisson"),
}
"""Those whose results TensorFlow takes for constants: their gradients are None."""


def lacks_gradient(type_: str, operands: Iterable[DType], results: Iterable[DType]) -> bool:
    """Say whether who asks for the gradient of an operation of a type and elements is refused."""
    smooth = (any(dtype.kind in "fc" for dtype in dtypes) for dtypes in (operands, results))
    return type_ not in FLAT and all(smooth)


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
        """Return nothing, or refuse to give any."""
        dtypes = ([x.spec.dtype for x in tensors] for tensors in (op.inputs, op.outputs))
        if type(self) is ArrayKind and lacks_gradient(self.type, *dtypes):
            raise NoGradientError.of(op)
        return (None,) * len(op.inputs)
