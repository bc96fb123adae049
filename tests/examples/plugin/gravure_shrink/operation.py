"""The operation `shrink.soft`: elements moved towards 0 by a threshold, and 0 below it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gravure.extend import Array, Sample, TensorSpec, Term, Unary, apply, register_operation


@register_operation
class Soft(Unary):
    """Each element, nearer to 0 by a threshold; 0 where it is within the threshold."""

    name = "shrink.soft"
    SAMPLES = (Sample(((3, 5),), {"threshold": 0.5}),)

    @classmethod
    def infer(cls, x: TensorSpec, *, threshold: float = 1.0) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        if threshold < 0:
            raise ValueError(f"threshold {threshold} is below 0")
        return cls.result(x)

    @classmethod
    def evaluate(cls, x: Array, *, threshold: float) -> Sequence[Array]:
        """Compute with numpy: what every other way of running it is compared with."""
        nearer = np.abs(x) - x.dtype.type(threshold)
        return (np.copysign(np.maximum(nearer, 0), x).astype(x.dtype),)

    @classmethod
    def formula(cls, x: Term, *, threshold: float) -> Term:
        """Say how one element is computed: kernels are made of this."""
        size = (x.apply("abs") - threshold).apply("maximum", 0.0)
        return (x < 0.0).where(-size, size)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term, *, threshold: float) -> Sequence[Term | None]:
        """Pass the gradient on where the result is not 0."""
        return (y.equals(0.0).where(0.0, grad),)


def soft_threshold(x: Any, threshold: float = 1.0) -> Any:
    """Apply the operation to a tensor, eagerly or inside of a function."""
    return apply(Soft, x, threshold=threshold)
