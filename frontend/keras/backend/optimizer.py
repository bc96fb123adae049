"""What is added to Keras's optimisers: variables of `gravure.tf` beside Keras's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from keras.src.backend.common import KerasVariable
from keras.src.optimizers.base_optimizer import BaseOptimizer

from ...eager.tensor import Tensor
from ...function.variable import Variable as State
from ...tf.ops.indexed_slices import IndexedSlices
from ...tf.ops.nn_ops import clip_by_norm
from ...tf.train.checkpoints import settle
from ...values.context import STATE
from .layer import kept
from .tensors import Axes, rowwise

Changed: TypeAlias = "KerasVariable | State"
"""A variable that is trained."""
Gradient: TypeAlias = "Tensor | IndexedSlices"


COUNTED = {"_tracker", "_trainable_variables_indices"}
"""Attributes in which Keras keeps account of the others."""


class Optimizer(BaseOptimizer):
    """The base of Keras's optimisers on gravure."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; values of a checkpoint that wait for it are given to it."""
        super().__setattr__(name, value)
        settle()

    def checkpoint_parts(self) -> dict[str, object]:
        """Return what checkpoints keep: by the attributes that TensorFlow finds it by, in turn."""
        found = {name: kept(each) for name, each in vars(self).items() if name not in COUNTED}
        return {name: each for name, each in found.items() if each is not None}

    def _var_key(self, variable: Changed) -> int:
        """Return what an optimiser knows a variable by: its state, whatever a scope says it is."""
        return id(variable._value if isinstance(variable, KerasVariable) else variable)

    def apply(
        self,
        grads: Sequence[Gradient | None],
        trainable_variables: Sequence[Changed] | None = None,
    ) -> None:
        """Change variables by their gradients; those of all replicas are added up."""
        if STATE.replica is None or not grads:
            super().apply(grads, trainable_variables)
            return
        changed = trainable_variables or self._trainable_variables
        pairs = [(g, v) for g, v in zip(grads, changed, strict=True) if g is not None]
        STATE.replica.apply(self._applied, pairs)

    def _applied(self, pairs: Sequence[tuple[Gradient, Changed]]) -> None:
        """Change variables by gradients, which are those of all replicas."""
        super().apply([g for g, _ in pairs], [v for _, v in pairs])

    def _clip_by_norm(self, values: Gradient, axes: Axes = None) -> Gradient:
        """Return a gradient whose norm is `clipnorm` at the most."""
        return clipped(values, self.clipnorm, axes)


@rowwise
def clipped(gradient: Tensor, norm: float, axes: Axes) -> Tensor:
    """Return a gradient whose norm is cut; of rows that of the rows."""
    return clip_by_norm(gradient, norm, axes)
