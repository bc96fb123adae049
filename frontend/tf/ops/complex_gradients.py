"""Gradients of operations on complex numbers.

The gradient of a real loss by z = x + iy is dL/dx + i dL/dy, so where w = f(z) has the derivative
f'(z), the gradient of z is that of w times the conjugate of f'(z). Functions of the parts (`Real`,
`ComplexAbs`) have no such derivative: theirs are written out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value, summed_to
from ...graph.inference import Abstract, is_unknown
from ...graph.kinds import COMPLEX_GRADIENTS, ComplexGradient
from ..core.bridge import TfTensor, dressed
from ..core.calls import op
from ..core.values import InGraph, convert, graph_of, static
from .array_ops import broadcast_to, reshape, shape, transpose
from .creation import ones_like, zeros_like
from .linear_ops import adjoint, diag_part, inv, matrix_transpose, set_diag, solve, triangular_solve
from .math_ops import (
    FUNCTIONS,
    REDUCTIONS,
    axes_of,
    cast,
    complex_,
    conj,
    cumprod,
    cumsum,
    imag,
    matmul,
    real,
)
from .nn_ops import band_part
from .special import divide_no_nan

Options: TypeAlias = Mapping[str, object]
Derivative: TypeAlias = Callable[[TfTensor, TfTensor], TfTensor]
"""The derivative of a function at x, whose value there is y."""

exp, log, sqrt, sin, cos, sinh, cosh = (
    FUNCTIONS[n] for n in ("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh")
)
DERIVATIVES: dict[str, Derivative] = {
    "Acos": lambda x, y: -1.0 / sqrt(1.0 - x * x),
    "Acosh": lambda x, y: 1.0 / sinh(y),
    "Asin": lambda x, y: 1.0 / sqrt(1.0 - x * x),
    "Asinh": lambda x, y: 1.0 / cosh(y),
    "Atan": lambda x, y: 1.0 / (1.0 + x * x),
    "Atanh": lambda x, y: 1.0 / (1.0 - x * x),
    "Cos": lambda x, y: -sin(x),
    "Cosh": lambda x, y: sinh(x),
    "Exp": lambda x, y: y,
    "Expm1": lambda x, y: exp(x),
    "Identity": lambda x, y: ones_like(x),
    "Log": lambda x, y: 1.0 / x,
    "Log1P": lambda x, y: 1.0 / (1.0 + x),
    "Neg": lambda x, y: -ones_like(x),
    "Reciprocal": lambda x, y: -y * y,
    "Rsqrt": lambda x, y: -0.5 * y * y * y,
    "Sigmoid": lambda x, y: y * (1.0 - y),
    "Sin": lambda x, y: cos(x),
    "Sinh": lambda x, y: cosh(x),
    "Sqrt": lambda x, y: 0.5 / y,
    "Square": lambda x, y: 2.0 * x,
    "Tan": lambda x, y: 1.0 / (cos(x) * cos(x)),
    "Tanh": lambda x, y: 1.0 - y * y,
}
"""The functions of one number that have a derivative, by the type of the operation."""


def _entered(
    rule: Callable[[Sequence[TfTensor], Sequence[TfTensor], Options, TfTensor], object],
) -> ComplexGradient:
    """Give a rule tensors with TensorFlow's operators, in the graph that they are of."""

    def gradients(
        inputs: Sequence[TfTensor], outputs: Sequence[TfTensor], options: Options, grad: object
    ) -> Sequence[object]:
        made_of = [*inputs, *outputs, grad]
        with InGraph(graph_of(made_of)):
            xs, ys = [dressed(x) for x in inputs], [dressed(y) for y in outputs]
            found = rule(xs, ys, options, dressed(convert(grad)))
        return found if isinstance(found, list) else [found]

    return gradients


def _of_one(derivative: Derivative) -> ComplexGradient:
    return _entered(lambda xs, ys, _, grad: grad * conj(derivative(xs[0], ys[0])))


@op("SumToShape", "grad", "x", strict=False)
def _fitted(m: Maker, grad: object, x: object) -> object:
    """Return a gradient summed over the axes along which an operand was repeated.

    Which these are is known when it is run, where sizes are open.
    """
    spec = spec_of_value(x)
    if is_unknown(grad):
        return Abstract(spec.with_dtype(spec_of_value(grad).dtype))
    return summed_to(m.emit, grad, spec)


def _of_two(
    derivatives: Callable[[TfTensor, TfTensor, TfTensor], tuple[TfTensor, TfTensor]],
) -> ComplexGradient:
    """Return the rule of a function of two numbers whose shapes are made alike."""

    def rule(
        xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
    ) -> list[object]:
        a, b = xs
        return [
            _fitted(grad * conj(d), x) for d, x in zip(derivatives(a, b, ys[0]), xs, strict=True)
        ]

    return _entered(rule)


def _power(x: TfTensor, y: TfTensor, z: TfTensor) -> tuple[TfTensor, TfTensor]:
    """Return the derivatives of a power; where the base is 0, none by the exponent."""
    zero = FUNCTIONS["equal"](x, zeros_like(x))
    safe = x + cast(zero, x.dtype)
    return y * FUNCTIONS["pow"](x, y - 1.0), z * log(safe)


def _product(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Multiply by all other elements along the axes, which may hold zeros."""
    (x,) = xs
    axes = list(axes_of(x, options.get("axis")))
    rest = [a for a in range(len(x.spec.dims)) if a not in axes]
    order = [*rest, *axes]
    turned = transpose(x, order)
    dims = shape(turned)
    count = REDUCTIONS["reduce_prod"](dims[: len(rest)])
    flat = reshape(turned, [count, -1])
    before = cumprod(flat, axis=-1, exclusive=True)
    others = before * cumprod(flat, axis=-1, exclusive=True, reverse=True)
    made = reshape(reshape(grad, [count, 1]) * conj(others), dims)
    return transpose(made, [order.index(a) for a in range(len(order))])


def _matrices(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> list[object]:
    """Go back over a product of matrices, either of which may be turned or conjugated."""
    flips = [
        "adjoint" if options.get(f"adjoint_{n}") else "transpose" if options.get(f"transpose_{n}")
        else "" for n in "ab"
    ]  # fmt: skip
    a, b = (_flipped(x, how) for x, how in zip(xs, flips, strict=True))
    found = [matmul(grad, b, adjoint_b=True), matmul(a, grad, adjoint_a=True)]
    return [_fitted(_flipped(g, how), x) for g, how, x in zip(found, flips, xs, strict=True)]


def _flipped(x: TfTensor, how: str) -> TfTensor:
    if not how:
        return x
    return adjoint(x) if how == "adjoint" else matrix_transpose(x)


def _turned(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Put the axes back."""
    perm, conjugate = static(options.get("perm")), bool(options.get("conjugate"))
    back = None if perm is None else np.argsort(perm).tolist()
    return transpose(grad, back, conjugate=conjugate)


def _means(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Give each element its part."""
    (x,) = xs
    ones = ones_like(real(x))
    count = REDUCTIONS["reduce_sum"](ones, axis=options.get("axis"), keepdims=True)
    return (reshape(grad, shape(count)) + zeros_like(x)) / cast(count, x.dtype)


def _directions(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Take away what leads along a number: its direction does not change by that."""
    along = cast(real(conj(ys[0]) * grad), grad.dtype) * ys[0]
    return divide_no_nan(grad - along, cast(FUNCTIONS["abs"](xs[0]), grad.dtype))


def _products(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Sum products from the other end, as TensorFlow does: nothing is conjugated."""
    (x,) = xs
    axis, exclusive = static(options.get("axis", 0)), bool(options.get("exclusive", False))
    reverse = not options.get("reverse", False)
    return divide_no_nan(cumsum(ys[0] * grad, axis, exclusive=exclusive, reverse=reverse), x)


def _squares(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> list[object]:
    """Multiply by the difference, twice."""
    made = 2.0 * grad * (xs[0] - xs[1])
    return [_fitted(made, xs[0]), _fitted(-made, xs[1])]


def _sizes(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Go back over absolute values: each number has its own direction, 0 has none."""
    wide = xs[0].dtype
    return cast(grad, wide) * divide_no_nan(xs[0], cast(ys[0], wide))


def _of_parts(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> list[object]:
    return [_fitted(real(grad), xs[0]), _fitted(imag(grad), xs[1])]


def _sums(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Sum from the other end."""
    reverse = not options.get("reverse", False)
    exclusive = bool(options.get("exclusive", False))
    return cumsum(grad, static(options.get("axis", 0)), exclusive=exclusive, reverse=reverse)


def _inverses(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Multiply by the inverses, from both sides."""
    inverse = adjoint(ys[0]) if options.get("adjoint") else ys[0]
    given = adjoint(grad) if options.get("adjoint") else grad
    return -matmul(inverse, matmul(given, inverse, adjoint_b=True), adjoint_a=True)


def _determinants(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Multiply the inverses by the determinants, as TensorFlow does: those are not conjugated."""
    return (grad * ys[0])[..., None, None] * inv(xs[0], adjoint=True)


def _roots(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> TfTensor:
    """Return the gradient of Hermitian matrices from that of their lower triangles."""
    lower = ys[0]
    inner = matmul(lower, grad, adjoint_a=True)
    inner = band_part(set_diag(inner, 0.5 * diag_part(inner)), -1, 0)
    left = triangular_solve(lower, inner, adjoint=True)
    whole = adjoint(triangular_solve(lower, adjoint(left), adjoint=True))
    return 0.5 * (whole + adjoint(whole))


def _solutions(
    xs: Sequence[TfTensor], ys: Sequence[TfTensor], options: Options, grad: TfTensor
) -> list[object]:
    """Solve the system that is turned; of the matrix, the outer product with the result."""
    turned = bool(options.get("adjoint"))
    for_b = solve(xs[0], grad, adjoint=not turned)
    for_a = -(
        matmul(ys[0], for_b, adjoint_b=True) if turned else matmul(for_b, ys[0], adjoint_b=True)
    )
    return [_fitted(g, x) for g, x in zip((for_a, for_b), xs, strict=True)]


COMPLEX_GRADIENTS.update(
    {
        "Cumprod": _entered(_products),
        "Mean": _entered(_means),
        "Sign": _entered(_directions),
        "SquaredDifference": _entered(_squares),
        "Cumsum": _entered(_sums),
        **{type_: _of_one(found) for type_, found in DERIVATIVES.items()},
        "AddV2": _of_two(lambda a, b, z: (ones_like(z), ones_like(z))),
        "Sub": _of_two(lambda a, b, z: (ones_like(z), -ones_like(z))),
        "Mul": _of_two(lambda a, b, z: (b, a)),
        "RealDiv": _of_two(lambda a, b, z: (1.0 / b, -z / b)),
        "Pow": _of_two(_power),
        "MatMul": _entered(_matrices),
        "Cholesky": _entered(_roots),
        "MatrixDeterminant": _entered(_determinants),
        "MatrixInverse": _entered(_inverses),
        **{type_: _entered(_solutions) for type_ in ("MatrixSolve", "MatrixTriangularSolve")},
        "Prod": _entered(_product),
        "Transpose": _entered(_turned),
        "MatrixTranspose": _entered(
            lambda xs, ys, o, g: matrix_transpose(g, conjugate=bool(o.get("conjugate")))
        ),
        "Cast": _entered(lambda xs, ys, o, g: cast(g, xs[0].dtype)),
        "Complex": _entered(_of_parts),
        "ComplexAbs": _entered(_sizes),
        "Conj": _entered(lambda xs, ys, o, g: conj(g)),
        "Imag": _entered(lambda xs, ys, o, g: complex_(zeros_like(g), g)),
        "SumToShape": _entered(lambda xs, ys, o, g: [broadcast_to(g, shape(xs[0])), None]),
        "Real": _entered(lambda xs, ys, o, g: complex_(g, zeros_like(g))),
    }
)
