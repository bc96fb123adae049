"""Element-wise mathematics, comparisons and reductions by TensorFlow's names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product as product_of

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dims import product
from ....ir.types.dtypes import DType
from ....ir.types.tensor import Array
from ...eager.complex_functions import COMPLEX
from ...eager.remembered import remember_all, remembered
from ...graph.func_graph import FuncGraph
from ...graph.graph import GraphTensor
from ...graph.inference import Abstract, is_unknown
from ...values.arrays import as_listed
from ...values.dtypes import DTypeLike
from ...values.nest import TensorGroup
from ...values.run_errors import UnimplementedError
from ..core import shape_rules as shapes_of
from ..core.bridge import COMPARISONS, OPERATORS, TfTensor, row_of
from ..core.calls import op, perform, rule
from ..core.required import refuse, require_no_negatives, require_no_zeros
from ..core.values import (
    InGraph,
    InvalidTypesError,
    at_once,
    axis_in,
    convert,
    elements,
    graph_of,
    same,
    static,
)

STEPS = (
    *("floor", "ceil", "round", "isnan", "isinf", "isfinite", "logical_not", "bitwise_not"),
    *("floor_divide", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
)
"""Functions that have no gradient."""


def _unary(type_: str, gv: str) -> Callable[..., TfTensor]:
    @op(type_, "x", strict=False, differentiable=gv not in STEPS)
    def function(m: Maker, x: object) -> object:
        """Apply the function to each element."""
        row = spec_of_value(x).dtype
        if row.kind == "c" and gv in COMPLEX:
            return _complex(x, COMPLEX[gv])
        if row.kind in "iu" and gv == "round":
            return x
        if row.kind == "u" and gv == "neg":
            raise TypeError(f"Value for attr 'T' of {row} is not in the list of allowed values")
        return getattr(m, gv)(x)

    return function


def _complex(x: object, function: Callable[..., object]) -> object:
    if is_unknown(x):
        return Abstract(spec_of_value(x))
    return at_once(lambda z: np.asarray(function(z)).astype(z.dtype, copy=False), x)


DIVISIONS = ("floor_divide", "mod", "div")
REFUSING = (*DIVISIONS, "pow")


def _check_broadcast(x: object, y: object, of: str) -> None:
    """Raise if two tensors do not broadcast; `of` says for what."""
    dims = spec_of_value(x).dims, spec_of_value(y).dims
    pairs = [*zip(*(reversed(each) for each in dims), strict=False)]
    for a, b in reversed(pairs):
        if isinstance(a, int) and isinstance(b, int) and a != b and 1 not in (a, b):
            raise TypeError(
                f"Incompatible shapes: {list(dims[0])} vs. {list(dims[1])}: they do not "
                f"broadcast. Dimensions must be equal, but are {a} and {b} for {of} with input "
                f"shapes: {as_listed(dims[0])}, {as_listed(dims[1])}."
            )


def _binary(type_: str, gv: str, label: str = "") -> Callable[..., TfTensor]:
    known = {"differentiable": gv not in STEPS, "refuses": gv in REFUSING}

    @op(type_, "x", "y", label=label, **known)
    def function(m: Maker, x: object, y: object) -> object:
        """Combine the elements of two tensors of one type."""
        _check_broadcast(x, y, f"'{gv}' (op: '{type_}')")
        if gv in DIVISIONS:
            require_no_zeros(m, y)
        if gv == "pow" and spec_of_value(x).dtype.kind != "c":
            require_no_negatives(m, y)
        if gv == "mul" and spec_of_value(x).dtype == rows.bool_:
            return m.logical_and(x, y)  # the product of truth values
        made = getattr(m, gv)(x, y)
        return m.trunc(made) if type_ == "TruncateDiv" and spec_of_value(x).dtype.is_float else made

    return function


UNARY = {
    "abs": "abs", "exp": "exp", "log": "log", "log1p": "log1p", "expm1": "expm1",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erf": "erf",
    "sigmoid": "sigmoid", "sign": "sign", "floor": "floor", "ceil": "ceil", "round": "round",
    "negative": "neg", "reciprocal": "reciprocal", "is_nan": "isnan",
    "is_inf": "isinf", "is_finite": "isfinite", "logical_not": "logical_not",
    "invert": "bitwise_not",
}  # fmt: skip
BINARY = {
    "add": ("AddV2", "add", "Add"), "subtract": ("Sub", "sub", "Sub"),
    "multiply": ("Mul", "mul", "Mul"), "maximum": ("Maximum", "maximum", ""),
    "minimum": ("Minimum", "minimum", ""),
    "pow": ("Pow", "pow", ""), "floormod": ("FloorMod", "mod", ""),
    "truncatediv": ("TruncateDiv", "div", ""), "floordiv": ("FloorDiv", "floor_divide", ""),
    "greater": ("Greater", "greater", ""), "greater_equal": ("GreaterEqual", "greater_equal", ""),
    "less": ("Less", "less", ""), "less_equal": ("LessEqual", "less_equal", ""),
    "equal": ("Equal", "equal", ""), "not_equal": ("NotEqual", "not_equal", ""),
    "logical_and": ("LogicalAnd", "logical_and", ""),
    "logical_or": ("LogicalOr", "logical_or", ""),
    "logical_xor": ("LogicalXor", "logical_xor", ""),
    "bitwise_and": ("BitwiseAnd", "bitwise_and", ""),
    "bitwise_or": ("BitwiseOr", "bitwise_or", ""),
    "bitwise_xor": ("BitwiseXor", "bitwise_xor", ""),
    "left_shift": ("LeftShift", "shift_left", ""),
    "right_shift": ("RightShift", "shift_right", ""),
}  # fmt: skip
TYPES = {"negative": "Neg", "reciprocal": "Reciprocal", "is_nan": "IsNan"}
FUNCTIONS: dict[str, Callable[..., TfTensor]] = {
    **{n: _unary(TYPES.get(n, n.title().replace("_", "")), gv) for n, gv in UNARY.items()},
    **{n: _binary(t, gv, label) for n, (t, gv, label) in BINARY.items()},
}


@op("Atan2", "y", "x")
def atan2(m: Maker, y: object, x: object) -> object:
    """Return the angles of points, whose heights are named first."""
    return m.atan2(y, x)


@op("Softplus", "features", strict=False)
def softplus(m: Maker, features: object) -> object:
    """Return log(exp(x) + 1)."""
    return m.softplus(features)


FUNCTIONS |= {"atan2": atan2, "softplus": softplus}


def scalar_mul(scalar: object, x: object, name: str | None = None) -> TfTensor:
    """Multiply a tensor by one number."""
    with InGraph(graph_of([scalar, x])):
        values = convert(x)
        factor = convert(scalar, values.dtype)
        if factor.shape.rank not in (None, 0):
            raise ValueError(
                f"The input scalar must be a 0-D value. Received shape {factor.shape}."
            )
        return FUNCTIONS["multiply"](factor, values, name=name)


@op("Square", "x", strict=False)
def square(m: Maker, x: object) -> object:
    """Multiply each element by itself."""
    return m.mul(x, x)


@op("SquaredDifference", "x", "y")
def squared_difference(m: Maker, x: object, y: object) -> object:
    """Square the differences."""
    d = m.sub(x, y)
    if spec_of_value(d).dtype.kind == "c":
        return m.mul(d, m.conj(d))
    return m.mul(d, d)


@op("TruncateMod", "x", "y", refuses=True)
def truncatemod(m: Maker, x: object, y: object) -> object:
    """Return what a division that rounds to zero leaves."""
    require_no_zeros(m, y)
    return m.fmod(x, y)


@op("RealDiv", "x", "y", label="truediv")
def truediv(m: Maker, x: object, y: object) -> object:
    """Divide; integers become floats first."""
    return m.div(as_floats(m, x), as_floats(m, y))


def as_floats(m: Maker, x: object) -> object:
    """Return what is divided: of integers, floats that hold all of them as far as there are any."""
    row = spec_of_value(x).dtype
    return x if row.kind in "fc" else m.to(x, rows.f64 if row.size >= 4 else rows.f32)


@op("Identity", "input", strict=False)
def identity(m: Maker, input: object) -> object:
    """Return the tensor itself, as a value of its own."""
    spec = spec_of_value(input)
    if spec.dtype.kind == "s":
        return input
    return m.reshape(input, shape=spec.dims)


@rule("Cast")
def _cast(m: Maker, x: object, dtype: DType) -> object:
    row = spec_of_value(x).dtype
    if row.kind == "c" and dtype.kind != "c":
        x, row = m.real(x), rows.PARTS[row]
    if row.is_float and dtype.kind in "iu" and dtype.size < 4:
        x = m.cast(x, dtype=rows.i32)  # what does not fit wraps
    return m.cast(x, dtype=dtype)


def cast(x: object, dtype: DTypeLike | None, name: str | None = None) -> TfTensor:
    """Convert the elements to another type; out of range integers wrap."""
    row = row_of(dtype)
    with InGraph(graph_of([x])):
        x = convert(x)
        if row is not None and "s" in (x.spec.dtype.kind, row.kind) and x.spec.dtype != row:
            raise UnimplementedError(f"Cast {x.dtype.name} to {row} is not supported")
        return x if x.spec.dtype == row else perform("Cast", [x], name=name, dtype=row)


OPERATORS["cast"] = cast


@rule("AddN", shapes=shapes_of.alike)
def _add_n(m: Maker, *xs: object) -> object:
    total = xs[0]
    for x in xs[1:]:
        dims = spec_of_value(total).dims, spec_of_value(x).dims
        if all(isinstance(d, int) for d in (*dims[0], *dims[1])) and dims[0] != dims[1]:
            raise TypeError(f"Shapes must be equal, but are {dims[0]} and {dims[1]}")
        if is_unknown(total) or is_unknown(x):
            total = Abstract(spec_of_value(x).with_shape(tuple(shapes_of.merged(dims) or ())))
        else:
            total = m.add(total, x)
    return total


def add_n(inputs: object, name: str | None = None) -> TfTensor:
    """Add several tensors of one shape."""
    if isinstance(inputs, Iterator):
        inputs = [*inputs]
    if not isinstance(inputs, Sequence) or not inputs:
        raise ValueError("Inputs must be an iterable of at least one Tensor/IndexedSlices")
    with InGraph(graph_of(inputs)):
        return perform("AddN", same(*inputs), name=name)


def axes_of(x: object, axis: object) -> tuple[int, ...]:
    """Return the axes that are reduced, in order; all of them if none are said."""
    rank = spec_of_value(x).rank
    if axis is None:
        return tuple(range(rank))
    if np.ndim(static(axis)) > 1:
        raise TypeError(f"axes must be a scalar or a vector, found {static(axis)}")
    listed = np.ravel(static(axis)).tolist()
    wrong = [a for a in listed if not (isinstance(a, int) and -rank <= a < rank)]
    if wrong:
        raise TypeError(f"Invalid reduction dimension {wrong[0]} for input with {rank} dimensions")
    found = [int(a) % rank for a in listed]
    twice = [a for a in found if found.count(a) > 1]
    if twice:
        raise TypeError(
            f"Invalid reduction arguments: Axes contains duplicate dimension: {twice[0]}"
        )
    return tuple(sorted(found))


def _reduction(type_: str, gv: str) -> Callable[..., TfTensor]:
    @op(type_, "input_tensor", strict=False, shapes=shapes_of.reduced())
    def function(
        m: Maker, input_tensor: object, axis: object = None, keepdims: bool = False
    ) -> object:
        """Reduce along axes, all of them if none is given."""
        axes = axes_of(input_tensor, axis)
        if not axes:
            return input_tensor
        spec = spec_of_value(input_tensor)
        if gv in ("max", "min", "logsumexp") and any(spec.dims[a] == 0 for a in axes):
            ends = spec.dtype.minimum, spec.dtype.maximum
            dims = [1 if i in axes else d for i, d in enumerate(spec.dims)]
            kept = [d for i, d in enumerate(dims) if keepdims or i not in axes]
            return m.filled(ends[gv == "min"], spec.dtype, kept)
        return getattr(m, gv)(input_tensor, axes=axes, keepdims=bool(keepdims))

    return function


REDUCTIONS = {
    f"reduce_{n}": _reduction(t, n)
    for n, t in (
        *(("sum", "Sum"), ("prod", "Prod"), ("max", "Max"), ("min", "Min")),
        *(("any", "Any"), ("all", "All"), ("logsumexp", "LogSumExp")),
    )
}


@op("Mean", "input_tensor", strict=False, shapes=shapes_of.reduced())
def reduce_mean(
    m: Maker, input_tensor: object, axis: object = None, keepdims: bool = False
) -> object:
    """Return the mean along axes; of integers, rounded towards zero."""
    axes = axes_of(input_tensor, axis)
    spec = spec_of_value(input_tensor)
    keepdims = bool(keepdims)
    if not axes:
        return input_tensor
    if spec.dtype.kind == "b":
        raise TypeError("Value for attr 'T' of bool is not in the list of allowed values")
    if spec.dtype.is_float:
        return m.mean(input_tensor, axes=axes, keepdims=keepdims)
    if spec.dtype.kind == "c":
        total = m.sum(input_tensor, axes=axes, keepdims=keepdims)
        count = m.extent_of(product([spec.dims[a] for a in axes]), rows.f32)
        return m.div(total, m.to(count, spec.dtype))
    wide = m.mean(m.cast(input_tensor, dtype=rows.f64), axes=axes, keepdims=keepdims)
    return m.cast(wide, dtype=spec.dtype)


@op("Variance", "input_tensor", strict=False, shapes=shapes_of.reduced())
def _variance(
    m: Maker, input_tensor: object, axis: object = None, keepdims: bool = False
) -> object:
    axes = axes_of(input_tensor, axis)
    centred = m.sub(input_tensor, m.mean(input_tensor, axes=axes, keepdims=True))
    return m.mean(m.mul(centred, centred), axes=axes, keepdims=keepdims)


def reduce_variance(
    input_tensor: object, axis: object = None, keepdims: bool = False, name: str | None = None
) -> TfTensor:
    """Return the variance along axes: a real one, of complex numbers too."""
    with InGraph(graph_of([input_tensor])):
        x = convert(input_tensor)
        if x.dtype.is_integer:
            raise InvalidTypesError(
                f"Input must be either real or complex. Received integer type {x.dtype}."
            )
        if x.spec.dtype.kind != "c":
            return _variance(x, axis, keepdims, name=name)
        centred = x - reduce_mean(x, axis, True)
        return reduce_mean(real(centred * conj(centred)), axis, keepdims, name=name)


def reduce_std(
    input_tensor: object, axis: object = None, keepdims: bool = False, name: str | None = None
) -> TfTensor:
    """Return the standard deviation along axes."""
    return FUNCTIONS["sqrt"](reduce_variance(input_tensor, axis, keepdims), name=name)


@op("EuclideanNorm", "input_tensor", strict=False, shapes=shapes_of.reduced())
def reduce_euclidean_norm(
    m: Maker, input_tensor: object, axis: object = None, keepdims: bool = False
) -> object:
    """Return the root of the sum of squares along axes."""
    axes, row, x = axes_of(input_tensor, axis), spec_of_value(input_tensor).dtype, input_tensor
    other = m.conj(x) if row.kind == "c" else x
    total = m.sum(m.mul(x, other), axes=axes, keepdims=bool(keepdims))
    return m.cast(m.sqrt(m.to(total, rows.f64)), dtype=row) if row.is_integer else m.sqrt(total)


def _extreme(type_: str, gv: str) -> Callable[..., TfTensor]:
    @op(type_, "input", strict=False, differentiable=False)
    def function(
        m: Maker, input: object, axis: object = 0, output_type: DTypeLike | None = "int64"
    ) -> object:
        """Return where the extreme element is along an axis; NaN is passed over."""
        if spec_of_value(input).dtype.kind == "b":
            input = m.to(input, rows.u8)
        dims = spec_of_value(input).dims
        place = axis_in(static(axis or 0), len(dims))
        if dims[place] == 0:
            told = f"Reduction axis {place} is empty in shape [{','.join(map(str, dims))}]"
            refuse(m, ValueError(told), input)
            rest = (*dims[:place], *dims[place + 1 :])
            return m.filled(0, row_of(output_type) or rows.i64, rest)
        made = getattr(m, gv)(input, axis=place, passes_nan=True)
        row = row_of(output_type)
        return made if row is None else m.to(made, row)

    return function


argmax, argmin = _extreme("ArgMax", "argmax"), _extreme("ArgMin", "argmin")


def _scanned(
    function: Callable[..., Array], z: Array, axis: int, exclusive: bool, reverse: bool
) -> Array:
    """Return what numpy's `cumsum` or `cumprod` gives, forwards or backwards along an axis."""
    z = np.flip(z, axis) if reverse else z
    made = function(z, axis=axis)
    if exclusive:
        one = np.moveaxis(made, axis, 0)  # (there may be none: the first is put before all then)
        first = np.full((1, *one.shape[1:]), function is np.cumprod, made.dtype)
        made = np.moveaxis(np.concatenate([first, one])[: len(one)], 0, axis)
    return np.flip(made, axis) if reverse else made


def _scan(type_: str, gv: str) -> Callable[..., TfTensor]:
    @op(type_, "x", strict=False)
    def function(
        m: Maker, x: object, axis: object = 0, exclusive: bool = False, reverse: bool = False
    ) -> object:
        """Combine the elements up to each along an axis."""
        rank, place = spec_of_value(x).rank, np.asarray(static(axis))
        if place.ndim:
            raise TypeError(f"axis must be a scalar, found {place.tolist()}")
        axis = int(place)
        if not -rank <= axis < rank:
            raise TypeError(f"Expected scan axis in the range [-{rank}, {rank}), but got {axis}")
        if spec_of_value(x).dtype.kind == "c":
            if gv == "cumprod":
                return _complex(x, lambda z: _scanned(np.cumprod, z, axis, exclusive, reverse))
            both = (m.cumsum(part, axis=axis, exclusive=exclusive, reverse=reverse)
                    for part in (m.real(x), m.imag(x)))  # fmt: skip
            return m.complex(*both)
        return getattr(m, gv)(x, axis=axis, exclusive=exclusive, reverse=reverse)

    return function


cumsum, cumprod = _scan("Cumsum", "cumsum"), _scan("Cumprod", "cumprod")


@op("MatMul", "a", "b")
def _product(
    m: Maker,
    a: object,
    b: object,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    output_type: DTypeLike | None = None,
) -> object:
    """Multiply matrices."""
    for turned, adjoint, which in ((transpose_a, adjoint_a, "a"), (transpose_b, adjoint_b, "b")):
        if turned and adjoint:
            raise ValueError(f"Only one of transpose_{which} and adjoint_{which} can be True.")
    if spec_of_value(a).dtype.kind == "c":
        a, b = (m.conj(x) if c else x for x, c in ((a, adjoint_a), (b, adjoint_b)))
    row = row_of(output_type)
    if row is not None:
        a, b = m.to(a, row), m.to(b, row)
    transpose_a, transpose_b = transpose_a or adjoint_a, transpose_b or adjoint_b
    if spec_of_value(a).dtype.kind == "c":
        return _complex_product(m, a, b, transpose_a, transpose_b)
    for x in (a, b):
        spec = spec_of_value(x)
        if spec.rank < 2:
            raise TypeError(
                f"In[{0 if x is a else 1}] has rank {spec.rank}, matmul takes matrices: feed "
                f"shape ({spec.dims[0] if spec.rank else 1},1)"
            )
    p, q = spec_of_value(a).dims, spec_of_value(b).dims
    inner = p[-2] if transpose_a else p[-1], q[-1] if transpose_b else q[-2]
    if isinstance(inner[0], int) and isinstance(inner[1], int) and inner[0] != inner[1]:
        raise TypeError(
            f"Dimensions must be equal, but are {inner[0]} and {inner[1]}: Matrix "
            f"size-incompatible: In[0]: {list(p)}, In[1]: {list(q)}"
        )
    return m.matmul(a, b, transpose_lhs=transpose_a, transpose_rhs=transpose_b)


def _complex_product(m: Maker, a: object, b: object, turn_a: bool, turn_b: bool) -> object:
    """Multiply complex matrices by numpy."""
    if is_unknown(a) or is_unknown(b):
        like = [Abstract(spec_of_value(x).with_dtype(rows.f32)) for x in (a, b)]
        made = m.matmul(*like, transpose_lhs=turn_a, transpose_rhs=turn_b)
        return Abstract(made.spec.with_dtype(spec_of_value(a).dtype))
    left, right = elements(a), elements(b)
    return np.matmul(left.mT if turn_a else left, right.mT if turn_b else right)


def identity_n(input: Iterable[object], name: str | None = None) -> list[TfTensor]:
    """Return the tensors themselves, as values of their own."""
    return [identity(x) for x in input]


def _parts(type_: str, gv: str) -> Callable[..., TfTensor]:
    """Return a function of complex numbers; real ones are their own real parts."""

    @op(type_, "input", strict=False)
    def made(m: Maker, input: object) -> object:
        """Compute it of complex numbers."""
        spec = spec_of_value(input)
        if spec.dtype.kind != "c":
            return m.filled(0, spec.dtype, spec.dims) if gv == "imag" else input
        return getattr(m, gv)(input)

    return made


_real, imag = _parts("Real", "real"), _parts("Imag", "imag")
_conj = _parts("Conj", "conj")


def _of_numbers(function: Callable[..., TfTensor], value: object, name: str | None) -> TfTensor:
    """Return what a function gives of complex numbers; real ones are given back, text refused."""
    with InGraph(graph_of([value])):
        x = convert(value)
    if x.spec.dtype.kind == "s":
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
    return function(x, name=name) if x.spec.dtype.kind == "c" else x


def real(input: object, name: str | None = None) -> TfTensor:
    """Return the real parts; real numbers are their own."""
    return _of_numbers(_real, input, name)


def conj(x: object, name: str | None = None) -> TfTensor:
    """Return the conjugates; real numbers are their own."""
    return _of_numbers(_conj, x, name)


_complex_abs = _parts("ComplexAbs", "abs")


@op("Complex", "real", "imag")
def complex_(m: Maker, real: object, imag: object) -> object:
    """Make complex numbers of their parts."""
    types = [spec_of_value(part).dtype for part in (real, imag)]
    if types[0] != types[1] or types[0] not in (rows.f32, rows.f64):
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {types[0]} {types[1]}. They "
            "must be consistent, and one of [tf.float32, tf.float64]"
        )
    return m.complex(real, imag)


def by_parts(function: Callable[..., TfTensor], xs: Sequence[TfTensor]) -> TfTensor:
    """Return what a function that is linear in each operand gives for complex ones."""
    parts = [(real(x), imag(x)) for x in xs]
    found: list[TfTensor | None] = [None, None]
    for choice in product_of((0, 1), repeat=len(xs)):
        term = function(*(part[i] for part, i in zip(parts, choice, strict=True)))
        at, turned = sum(choice) % 2, sum(choice) % 4 > 1
        before = found[at]
        if before is None:
            found[at] = -term if turned else term
        else:
            found[at] = before - term if turned else before + term
    return complex_(*found)


def _in_parts(a: object, b: object) -> bool:
    """Say whether a product is of complex tensors, and more than numpy has done at once."""
    if not (isinstance(a, TfTensor) and isinstance(b, TfTensor) and a.dtype == b.dtype):
        return False
    if a.spec.dtype.kind != "c" or not (a.eager and b.eager):
        return a.spec.dtype.kind == "c"
    return math.prod(a.spec.static_shape) * b.spec.static_shape[-1] > 4096


@remembered
def matmul(
    a: object, b: object, transpose_a: bool = False, transpose_b: bool = False,
    adjoint_a: bool = False, adjoint_b: bool = False, a_is_sparse: bool = False,
    b_is_sparse: bool = False, output_type: DTypeLike | None = None, grad_a: bool = False,
    grad_b: bool = False, name: str | None = None,
) -> TfTensor:  # fmt: skip
    """Multiply matrices; complex ones by their real and imaginary parts.

    Of bfloat16 and float32 the product is float32.
    """
    types = {getattr(getattr(x, "dtype", None), "name", "") for x in (a, b)}
    if types == {"bfloat16", "float32"}:
        a, b = cast(a, "float32"), cast(b, "float32")
    given = [transpose_a, transpose_b, adjoint_a, adjoint_b]
    both = (transpose_a and adjoint_a) or (transpose_b and adjoint_b)
    if output_type is not None:
        with InGraph(graph_of([a, b])):
            a, b = convert(a), convert(b)
            if a.dtype != b.dtype:  # (all numbers of either are those of the result)
                a, b = cast(a, output_type), cast(b, output_type)
    if both or output_type is not None or not _in_parts(a, b):
        return _product(a, b, *given, output_type, name=name)
    pair = [conj(x) if turn else convert(x) for x, turn in ((a, adjoint_a), (b, adjoint_b))]
    turned = transpose_a or adjoint_a, transpose_b or adjoint_b
    return by_parts(lambda x, y: _product(x, y, *turned), pair)


@remembered
def absolute(x: object, name: str | None = None) -> TfTensor:
    """Return the size of each element, of complex numbers too."""
    value = convert(x)
    function = _complex_abs if value.spec.dtype.kind == "c" else _real_abs
    return function(value, name=name)


_real_abs, FUNCTIONS["abs"] = FUNCTIONS["abs"], absolute


def _logic(name: str) -> Callable[..., TfTensor]:
    def function(a: object, b: object) -> TfTensor:
        x, y = same(a, b)
        kind = "logical" if x.spec.dtype == rows.bool_ else "bitwise"
        return FUNCTIONS[f"{kind}_{name}"](x, y)

    return function


def _compare(name: str) -> Callable[..., TfTensor | bool]:
    def function(a: object, b: object) -> TfTensor | bool:
        if b is None:
            return name == "not_equal"
        if isinstance(a, GraphTensor) and not isinstance(a.graph, FuncGraph):
            return (a is b) == (name == "equal")  # tensors of the first version's graphs
        if isinstance(a, TensorGroup) or isinstance(b, TensorGroup):
            return FUNCTIONS[name](a, b)
        x, y = same(a, b)
        a_dims, b_dims = x.spec.shape, y.spec.shape
        if a_dims is not None and b_dims is not None and not _broadcast(a_dims, b_dims):
            return convert(np.array(name == "not_equal"))
        return FUNCTIONS[name](x, y)

    return function


def _broadcast(a: Sequence[object], b: Sequence[object]) -> bool:
    """Say whether shapes may fit together."""
    pairs = zip(reversed(a), reversed(b), strict=False)
    return all(x == y or 1 in (x, y) or not isinstance(x, int) or not isinstance(y, int)
               for x, y in pairs)  # fmt: skip


def _invert(x: object) -> TfTensor:
    x = convert(x)
    return FUNCTIONS["logical_not" if x.spec.dtype == rows.bool_ else "invert"](x)


def _named(function: Callable[..., TfTensor], name: str) -> Callable[..., TfTensor]:
    return lambda a, b: function(a, b, name=name)


OPERATORS.update(
    {
        "add": _named(FUNCTIONS["add"], "add"),
        "sub": _named(FUNCTIONS["subtract"], "sub"),
        "mul": _named(FUNCTIONS["multiply"], "mul"),
        "truediv": _named(truediv, "truediv"),
        "floordiv": _named(FUNCTIONS["floordiv"], "floordiv"),
        "mod": _named(FUNCTIONS["floormod"], "mod"),
        "pow": _named(FUNCTIONS["pow"], "pow"),
        "matmul": _named(matmul, "matmul"),
        "and": remembered(_logic("and")),
        "or": remembered(_logic("or")),
        "xor": remembered(_logic("xor")),
        "less": FUNCTIONS["less"],
        "less_equal": FUNCTIONS["less_equal"],
        "greater": FUNCTIONS["greater"],
        "greater_equal": FUNCTIONS["greater_equal"],
        "neg": FUNCTIONS["negative"],
        "invert": remembered(_invert),
        "abs": FUNCTIONS["abs"],
    }
)
COMPARISONS.update({name: _compare(name) for name in ("equal", "not_equal")})

__all__ = ["FUNCTIONS", "REDUCTIONS", "InvalidTypesError"]


remember_all(globals())
