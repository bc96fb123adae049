"""Linear systems solved step by step, by products alone."""

from __future__ import annotations

from typing import NamedTuple

from ..core.bridge import TfTensor
from ..core.values import InGraph, convert, graph_of
from ..graph.loops import while_loop
from ..ops.array_ops import broadcast_dynamic_shape, broadcast_to, concat, shape
from ..ops.creation import constant, zeros
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, conj
from ..ops.window_ops import norm
from .operator import LinearOperator


class CGState(NamedTuple):
    """Where the conjugate gradients are: step, solution, what is left, direction, its weight."""

    i: TfTensor
    x: TfTensor
    r: TfTensor
    p: TfTensor
    gamma: TfTensor


def _dot(x: TfTensor, y: TfTensor) -> TfTensor:
    """Return the products of vectors."""
    return REDUCTIONS["reduce_sum"](conj(x) * y, axis=-1)


def conjugate_gradient(
    operator: LinearOperator,
    rhs: object,
    preconditioner: LinearOperator | None = None,
    x: object = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """Solve a self-adjoint, positive definite system by conjugate gradients.

    It ends after `max_iter` steps, or when what is left is `tol` of the right-hand side.
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    with InGraph(graph_of([rhs, x])):
        right = convert(rhs)
        outer = broadcast_dynamic_shape(shape(right)[:-1], operator.batch_shape_tensor())
        if preconditioner is not None:
            outer = broadcast_dynamic_shape(outer, preconditioner.batch_shape_tensor())
        whole = concat([outer, [shape(right)[-1]]], axis=-1)
        left = broadcast_to(right, whole)
        bound = convert(tol, left.dtype) * norm(left, axis=-1)
        start = zeros(whole, dtype=right.dtype) if x is None else convert(x)
        left = left if x is None else right - operator.matvec(start)

        def nearer(r: TfTensor) -> TfTensor:
            """Return what is left as the preconditioner turns it."""
            return r if preconditioner is None else preconditioner.matvec(r)

        def goes_on(i: TfTensor, state: CGState) -> TfTensor:
            open_ = REDUCTIONS["reduce_any"](norm(state.r, axis=-1) > bound)
            return FUNCTIONS["logical_and"](i < max_iter, open_)

        def step(i: TfTensor, state: CGState) -> tuple[TfTensor, CGState]:
            image = operator.matvec(state.p)
            length = (state.gamma / _dot(state.p, image))[..., None]
            found, r = state.x + length * state.p, state.r - length * image
            q = nearer(r)
            gamma = _dot(r, q)
            direction = q + (gamma / state.gamma)[..., None] * state.p
            return i + 1, CGState(i + 1, found, r, direction, gamma)

        first, number = nearer(left), constant(0)
        begun = CGState(number, start, left, first, _dot(left, first))
        found: CGState = while_loop(goes_on, step, [number, begun])[1]
        return found
