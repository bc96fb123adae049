"""Functions of elements: rows stay, values change."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import cast

from ...values.dispatch import handles
from ..core.bridge import OPERATORS, Common, TfTensor
from ..core.values import is_typed
from ..ops import array_ops as a
from ..ops import composed, special, strings
from ..ops import math_ops as m
from ..ops import nn_ops as n
from ..ops.creation import ones_like, zeros_like
from ..special import gamma, inverse_erf
from .moving import same_rows
from .planning import assembled, broadcast
from .tensor import Ragged, RaggedTensor, RaggedTensorValue, ragged_or_tensor, same_graph

Function = Callable[..., TfTensor]


def of_values(function: Function) -> Callable[..., Ragged]:
    """Return the function of rows that is one of their values."""
    first = next(iter(inspect.signature(function).parameters), "x")

    def made(*args: object, **kwargs: object) -> Ragged:
        """Apply the function to each element."""
        if args:
            x, *rest = args
        else:
            x, rest = kwargs.pop(first), []
        assert isinstance(x, RaggedTensor), "the first operand is ragged"
        with same_graph(x):
            return x.with_flat_values(function(x.flat_values, *rest, **kwargs))

    return made


def alike(values: Sequence[object]) -> list[Ragged]:
    """Return operands as tensors or ragged ones: Python's numbers take the type of the others."""
    typed = [x for x in values if isinstance(x, RaggedTensor | RaggedTensorValue) or is_typed(x)]
    dtype = next(x.dtype for x in map(ragged_or_tensor, typed) if isinstance(x, RaggedTensor))
    return [
        ragged_or_tensor(x, None if any(x is each for each in typed) else dtype) for x in values
    ]


def combined(function: Callable[..., TfTensor], values: Sequence[object]) -> Ragged:
    """Return what a function gives for the elements of several operands, which are broadcast."""
    with same_graph(*values):
        every = alike(values)
        ragged = [x for x in every if isinstance(x, RaggedTensor)]
        if len(ragged) == 1 and all(x is ragged[0] or x.shape.rank == 0 for x in every):
            flats = [x.flat_values if isinstance(x, RaggedTensor) else x for x in every]
            return ragged[0].with_flat_values(function(*flats))
        found = broadcast(every)
        return found.holding(function(*found.flats))


def of_pairs(function: Function) -> Callable[..., Ragged]:
    """Return the function of two operands that is broadcast over rows."""

    def made(x: object, y: object, name: str | None = None) -> Ragged:
        """Combine the elements of two operands."""
        return combined(function, [x, y])

    return made


def chosen(condition: object, x: object, y: object) -> Ragged:
    """Return elements of one or another operand, by a condition that is broadcast with them."""
    with same_graph(condition, x, y):
        test = ragged_or_tensor(condition, None if is_typed(condition) else "bool")
        both = [v for v in (x, y) if isinstance(v, RaggedTensor) or is_typed(v)]
        dtype = ragged_or_tensor(both[0]).dtype if both else None
        sides = [ragged_or_tensor(v, None if any(v is b for b in both) else dtype) for v in (x, y)]
        if not any(isinstance(v, RaggedTensor) for v in (test, *sides)):
            return a.where(test, sides[0], sides[1])
        found = broadcast([test, *sides])
        return found.holding(a.where(found.flats[0], found.flats[1], found.flats[2]))


UNARY: tuple[Function, ...] = (
    *(m.FUNCTIONS[name] for name in m.UNARY),
    *(m.square, m.cast, composed.saturate_cast, m.identity, m.real, m.imag, m.conj),
    *(special.lgamma, special.digamma, special.erfc, special.log_sigmoid, special.softsign),
    *(inverse_erf.erfinv, inverse_erf.ndtri, inverse_erf.erfcinv, special.reciprocal_no_nan),
    *(n.relu, n.relu6, n.elu, n.selu, n.swish, n.leaky_relu, n.gelu, n.crelu),
    *(
        zeros_like,
        ones_like,
        composed.bitcast,
        n.dropout,
        n.clip_by_value,
        OPERATORS["invert"],
    ),
    *(strings.as_string, strings.to_number, strings.lower, strings.upper, strings.strip),
    *(strings.length, strings.substr, strings.regex_replace, strings.regex_full_match),
)
BINARY: tuple[Function, ...] = (
    *(m.FUNCTIONS[name] for name in m.BINARY),
    *(m.truediv, m.squared_difference, m.truncatemod, m.complex_),
    *(special.divide_no_nan, special.xlogy, special.xlog1py, special.xdivy, special.zeta),
    *(special.multiply_no_nan, special.polygamma, gamma.igamma, gamma.igammac),
    *(composed.nextafter, *(OPERATORS[name] for name in ("and", "or", "xor"))),
)
for _function in UNARY:
    handles(RaggedTensor, _function)(of_values(_function))
for _function in BINARY:
    handles(RaggedTensor, _function)(of_pairs(_function))


@handles(RaggedTensor, m.add_n)
def add_n(inputs: Sequence[object], name: str | None = None) -> Ragged:
    """Add several values with the same rows."""
    with same_graph(*inputs):
        every = [ragged_or_tensor(x) for x in inputs]
        ragged = [x for x in every if isinstance(x, RaggedTensor)]
        if len(ragged) != len(every) or len({x.ragged_rank for x in ragged}) > 1:
            raise ValueError("ragged inputs of add_n have the same number of rows' levels")
        splits = same_rows(ragged)
        total = m.add_n([x.flat_values for x in ragged])
        return assembled(total, splits, ragged[0].row_sizes()[1:])


@handles(RaggedTensor, strings.join)
def join(inputs: Sequence[object], separator: str = "", name: str | None = None) -> Ragged:
    """Put the texts at each place together."""
    return combined(lambda *xs: strings.join(xs, separator), list(inputs))


def _comparison(function: Function, *, different: bool) -> Callable[..., object]:
    """Return the method of an operator; nothing is equal to None."""
    return lambda self, other: different if other is None else function(self, other)


def map_flat_values(op: Callable[..., object], *args: object, **kwargs: object) -> object:
    """Return what a function gives for the values of rows, which are the same for all operands."""
    found: list[RaggedTensor] = []
    _collect([args, kwargs], found)
    if not found:
        return op(*args, **kwargs)
    if len({x.ragged_rank for x in found}) > 1:
        raise ValueError(
            "Inputs must have identical ragged splits: All ragged inputs must have the same "
            "ragged_rank."
        )
    with same_graph(*found):
        splits = same_rows(found)
        inner = cast("list[object]", _flat(list(args)))
        named = cast("dict[str, object]", _flat(kwargs))
        result = op(*inner, **named)
        first = found[0]
        made = ragged_or_tensor(result)
        dims, wanted = made.shape._dims, first.flat_values.shape._dims
        sizes = {d[0] for d in (dims, wanted) if d and d[0] is not None}
        if dims == () or len(sizes) > 1:
            raise ValueError(
                "tf.ragged.map_flat_values requires that the output of `op` have the same "
                f"outer-dimension size as flat_values of any ragged inputs. (output shape: "
                f"{made.shape}; expected outer dimension size: {wanted and wanted[0]})"
            )
        return assembled(made, splits, first.row_sizes()[1:])


def _collect(value: object, found: list[RaggedTensor]) -> None:
    """Append the ragged tensors of a structure."""
    if isinstance(value, RaggedTensor):
        found.append(value)
    elif isinstance(value, list | tuple):
        for each in value:
            _collect(each, found)
    elif isinstance(value, dict):
        _collect(list(value.values()), found)


def _flat(value: object) -> object:
    """Return a structure with the values of its ragged tensors."""
    if isinstance(value, RaggedTensor):
        return value.flat_values
    if isinstance(value, list | tuple):
        return type(value)([_flat(each) for each in value])
    if isinstance(value, dict):
        return {key: _flat(each) for key, each in value.items()}
    return value


for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"),
    *("radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rand", "ror", "rxor"),
    *("lt", "le", "gt", "ge", "neg", "invert", "abs", "matmul", "rmatmul"),
):
    setattr(RaggedTensor, f"__{_name}__", getattr(Common, f"__{_name}__"))
for _name, _function in (("eq", m.FUNCTIONS["equal"]), ("ne", m.FUNCTIONS["not_equal"])):
    setattr(RaggedTensor, f"__{_name}__", _comparison(_function, different=_name == "ne"))
