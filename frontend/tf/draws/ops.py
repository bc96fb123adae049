"""Shuffles, and numbers of distributions that are drawn until they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....runtime.tracing import EARS
from ...eager.remembered import remembered
from ...eager.tensor import Tensor
from ...graph.graph import spec_with_unknowns
from ...values.context import STATE
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..arrays.making import Rates
from ..core.bridge import EagerTensor, TfTensor
from ..core.element_types import as_dtype
from ..core.host_ops import host
from ..core.values import InGraph, convert, graph_of, holds_tensor, same, static
from ..graph.flow import stop_gradient
from ..ops.array_ops import shape
from ..ops.composed import of_one_shape
from ..ops.gathering import gather
from ..ops.math_ops import FUNCTIONS, REDUCTIONS
from ..ops.random_ops import drawn_now, key_of_seed, seeded_key
from . import sampling
from .reparametrised import by_alpha
from .successes import binomial

TINY = {name: float(np.finfo(name).tiny) for name in ("float16", "float32", "float64")}


@remembered
def _permuted(value: object, key: TfTensor, name: str | None) -> TfTensor:
    """Return the slices of a tensor in the order that a key gives."""
    x = convert(value)
    dims = x.shape._dims
    spec = spec_with_unknowns(rows.i64, [None if dims is None else dims[0]])
    [found] = host("Permutation", _order, [key, shape(x)[0]], [spec])
    return gather(x, found, name=name)


def _order(key: Array, count: Array) -> Sequence[Array]:
    """Return the order of so many slices that a key gives."""
    return (_order_of(key, int(count)),)


def _order_of(key: Array, count: int) -> Array:
    dims = (max(count - 1, 0),)
    words = drawn_now("RandomUniformInt", Tensor(key), dims, rows.u32, low=None, high=None)
    return sampling.permutation(words._array, count)


def shuffle(value: object, seed: int | None = None, name: str | None = None) -> TfTensor:
    """Put the slices of a tensor in a random order, which is TensorFlow's; it has no gradient."""
    if isinstance(value, EagerTensor) and value.direct and not (STATE.busy or EARS.count):
        array = value._array
        if array.ndim and array.dtype.kind != "O":
            words = seeded_key("RandomShuffle", len(array), seed)._array
            return EagerTensor(array.take(_order_of(words, len(array)), 0))
    with InGraph(graph_of([value])):
        x = convert(value)
        if x.shape.rank == 0:
            return x
        dims = x.shape._dims
        count = shape(x)[0] if dims is None or dims[0] is None else int(dims[0])
        key = seeded_key("RandomShuffle", count, seed)
        return _permuted(stop_gradient(x), key, name)


def stateless_shuffle(
    value: object, seed: object, alg: object = "auto_select", name: str | None = None
) -> TfTensor:
    """Put the slices of a tensor in the order that a seed gives."""
    with InGraph(graph_of([value, seed])):
        x = convert(value)
        return x if x.shape.rank == 0 else _permuted(x, key_of_seed(seed), name)


@remembered
def _parameters(
    shape_: object, alpha: object, beta: object, dtype: DTypeLike
) -> tuple[TfTensor | int, TfTensor, TfTensor]:
    """Return how many numbers are drawn, and alpha and beta of one shape."""
    a, b = of_one_shape(convert(alpha, dtype), convert(1.0 if beta is None else beta, dtype))
    return _count(shape_, a), a, b


@remembered
def _rate(shape_: object, lam: object) -> tuple[TfTensor | int, TfTensor]:
    """Return how many numbers are drawn, and their rates."""
    rate = convert(lam, None if hasattr(lam, "dtype") else "float32")
    return _count(shape_, rate), rate


def _listed(known: object) -> bool:
    """Say whether the parts of a shape are listed."""
    return isinstance(known, list | tuple)


@remembered
def _gammas(
    shape_: object, key: TfTensor, a: TfTensor, b: TfTensor, dtype: DTypeLike, *, whole: bool
) -> TfTensor:
    """Return numbers of the gamma distribution."""
    drawn = _drawn("RandomGamma", sampling.gamma, shape_, key, [a], dtype, whole=whole)
    made = by_alpha(a, drawn)
    return FUNCTIONS["maximum"](convert(TINY[as_dtype(dtype).name], dtype), made / b)


@remembered
def _poissons(
    shape_: object, key: TfTensor, rate: TfTensor, dtype: DTypeLike, *, whole: bool
) -> TfTensor:
    """Return numbers of the Poisson distribution."""
    type_ = "RandomPoissonV2" if whole else "StatelessRandomPoisson"
    return _drawn(type_, sampling.poisson, shape_, key, [rate], dtype, whole=whole)


def _drawn(
    type_: str, function: Callable[..., Array], shape_: object, key: TfTensor,
    parameters: Sequence[TfTensor], dtype: DTypeLike, *, whole: bool,
) -> TfTensor:  # fmt: skip
    """Return numbers of a distribution: of the shape, with `whole` that and the parameters'."""
    row = as_dtype(dtype).row
    known = static(shape_)
    given = convert(shape_, "int32")

    def draw(key: Array, wanted: Array, *values: Array) -> Sequence[Array]:
        dims = tuple(wanted.tolist())
        all_ = (*dims, *values[0].shape) if whole else dims
        count = values[0].size
        per = prod(all_) // count if count else 0
        made = sampling.in_turn(key, np.stack([v.ravel() for v in values]), per, function)
        with np.errstate(all="ignore"):
            return (made.reshape(all_).astype(row.numpy),)

    dims: list[int | None] | None = None
    if _listed(known):
        dims = [d if isinstance(d, int) else None for d in known]
    elif given.shape.rank and (count := given.shape.as_list()[0]) is not None:
        dims = [None] * count
    inner = parameters[0].shape._dims if whole else ()
    every = None if dims is None or inner is None else (*dims, *inner)
    made = host(type_, draw, [key, given, *parameters], [spec_with_unknowns(row, every)])
    return made[0]


def _count(shape_: object, of: TfTensor) -> TfTensor | int:
    """Return how many numbers are drawn: a number if it is known."""
    known = static(shape_)
    if _listed(known) and all(isinstance(d, int) for d in known) and of.shape.is_fully_defined():
        return prod([*known, *of.shape.known()])
    total = REDUCTIONS["reduce_prod"]
    return total(convert(shape_, "int32")) * total(shape(of))


def gamma(
    shape: object,
    alpha: object,
    beta: object = None,
    dtype: DTypeLike = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> TfTensor:
    """Draw from the gamma distribution: a block of the shape for each alpha; TensorFlow's numbers.

    Gradients go to alpha and beta.
    """
    with InGraph(graph_of([shape, alpha, beta])):
        count, a, b = _parameters(shape, alpha, beta, dtype)
        key = seeded_key(f"RandomGamma/{as_dtype(dtype).name}", count, seed)
        return _gammas(shape, key, a, b, dtype, whole=True)


def stateless_gamma(
    shape: object,
    seed: object,
    alpha: object,
    beta: object = None,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> TfTensor:
    """Draw what the seed says from the gamma distribution."""
    with InGraph(graph_of([shape, seed, alpha, beta])):
        _, a, b = _parameters(shape, alpha, beta, dtype)
        return _gammas(shape, key_of_seed(seed), a, b, dtype, whole=False)


def poisson(
    shape: object,
    lam: object,
    dtype: DTypeLike = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> TfTensor:
    """Draw from the Poisson distribution: a block of the shape for each rate."""
    with InGraph(graph_of([shape, lam])):
        count, rate = _rate(shape, lam)
        kinds = f"{rate.dtype.name}/{as_dtype(dtype).name}"
        key = seeded_key(f"RandomPoissonV2/{kinds}", count, seed)
        return _poissons(shape, key, rate, dtype, whole=True)


Rates.drawn = poisson


def random_poisson(
    lam: object,
    shape: object,
    dtype: DTypeLike = "float32",
    seed: int | None = None,
    name: str | None = None,
) -> TfTensor:
    """Draw from the Poisson distribution, the rates first."""
    return poisson(shape, lam, dtype, seed, name)


def stateless_poisson(
    shape: object,
    seed: object,
    lam: object,
    dtype: DTypeLike = "int32",
    name: str | None = None,
) -> TfTensor:
    """Draw what the seed says from the Poisson distribution."""
    with InGraph(graph_of([shape, seed, lam])):
        _, rate = _rate(shape, lam)
        return _poissons(shape, key_of_seed(seed), rate, dtype, whole=False)


@remembered
def binomials(
    shape_: object, key: TfTensor, counts: object, probs: object, dtype: DTypeLike,
    type_: str = "StatefulRandomBinomial",
) -> TfTensor:  # fmt: skip
    """Return numbers of the binomial distribution; the last axes are those of its parameters."""
    tries, chances = of_one_shape(*same(counts, probs))
    refuse_other_axes(shape_, tries)
    return _drawn(type_, binomial, shape_, key, [tries, chances], dtype, whole=False)


def refuse_other_axes(shape_: object, of: TfTensor) -> None:
    """Raise where a shape is known not to end with that of the parameters."""
    wanted, known = static(shape_), of.shape
    if _listed(wanted) and known.is_fully_defined():
        inner = known.known()
        if wanted[len(wanted) - len(inner) :] != inner or len(inner) > len(wanted):
            raise InvalidArgumentError(
                f"Shape passed in must end with broadcasted shape: {wanted}, expected {inner}"
            )


def stateless_binomial(
    shape: object,
    seed: object,
    counts: object,
    probs: object,
    output_dtype: DTypeLike = "int32",
    name: str | None = None,
) -> TfTensor:
    """Draw what the seed says: how many of so many tries succeed by a chance.

    Both are of one type, that of a tensor among them; without one they are doubles.
    """
    with InGraph(graph_of([shape, seed, counts, probs])):
        if not (holds_tensor(counts) or holds_tensor(probs)):
            counts, probs = convert(counts, "float64"), convert(probs, "float64")
        key, type_ = key_of_seed(seed), "StatelessRandomBinomial"
        return binomials(shape, key, counts, probs, output_dtype, type_)
