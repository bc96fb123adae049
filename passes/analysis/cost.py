"""Count what operations do: multiplications with addition, arithmetic, functions, bytes.

The numbers come from the operations' own rules: the formula of an element is run on a `math` that
counts, and a loop nest has as many points as its extents say. So a new operation is counted
without being named here. Only operations that have neither rule stand in a table.

    matmul of [M, K] and [K, N]     M * N * K multiplications with addition, twice that many flops

A comparison, a choice or a negation is one flop; a conversion or a move is none. Functions (exp,
tanh, a square root) are counted by themselves, since what they cost is up to the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from math import prod
from typing import Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from ...ir import Dim, DType, Op
from ...ir.ops.laid_out.winograd import form_of
from ...ir.types import dims, dtypes
from ...ir.types.tensor import TensorSpec, spec_of
from ..decompose import decompose

FREE = frozenset({"constant", "cast", "dtype_of"})
FUNCTIONS = frozenset(
    {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos"}
    | {"tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf"}
    | {"pow", "atan2"}
)


@dataclass(frozen=True)
class Cost:
    """What is done once: all numbers are exact for the sizes they were counted for."""

    macs: int = 0
    """Multiplications whose product is added to a sum."""
    flops: int = 0
    """Arithmetic on elements; each of `macs` is two of these."""
    functions: int = 0
    """Calls of functions such as exp, not counted as flops."""
    read: int = 0
    """Bytes of operands, each counted once."""
    written: int = 0
    """Bytes of results."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def as_json(self) -> dict[str, int]:
        """Return the numbers by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def cost_of_function(function: FuncOp, sizes: Mapping[str, int]) -> Cost:
    """Return the cost of all operations of a function on tensors, those in regions included."""
    ops = (op for op in function.body.block.walk() if isinstance(op, Op))
    return total(cost_of(op, sizes) for op in ops)


def cost_of_kernel(function: FuncOp, sizes: Mapping[str, int]) -> Cost:
    """Return what a kernel computes, and the bytes that it is given and returns, each once.

    Of an argument that is only selected from, what is selected counts.
    """
    work, size = cost_of_function(function, sizes), _Sizes(sizes)
    block = function.body.block
    last = block.last_op
    assert last is not None, "a kernel returns what it computes"
    read = sum(_read(argument, size) for argument in block.args)
    written = size.bytes(spec_of(value.type) for value in last.operands)
    return Cost(work.macs, work.flops, work.functions, read, written)


def _read(argument: SSAValue, size: _Sizes) -> int:
    whole = size.bytes([spec_of(argument.type)])
    users = [use.operation for use in argument.uses]
    chosen = [op for op in users if isinstance(op, Op) and op.name in SELECTIONS]
    if len(chosen) < len(users):
        return whole
    return min(whole, sum(size.bytes(op.result_specs) for op in chosen))


def cost_of(op: Op, sizes: Mapping[str, int]) -> Cost:
    """Return the cost of one operation; what it only holds in regions is not in it."""
    if op.name in MOVES or op.regions:
        return Cost()
    size = _Sizes(sizes)
    bytes_ = Cost(read=size.bytes(op.specs), written=size.bytes(op.result_specs))
    if op.has("scalar"):
        counter = CountingMath()
        _run(type(op).scalar, counter, op.specs, op.plain_attributes())
        return counter.times(size.of(op.result_specs[0].dims)) + bytes_
    if op.has("iteration"):
        return _iteration(op, size) + bytes_
    if op.name in TABLE:
        return TABLE[op.name](op, size) + bytes_
    if op.has("decompose"):
        parts = total(cost_of(part, sizes) for part in _parts(op))
        return Cost(parts.macs, parts.flops, parts.functions) + bytes_
    return bytes_


def total(costs: Iterable[Cost]) -> Cost:
    """Return the sum."""
    return sum(costs, Cost())


def largest(ranges: Mapping[str, dims.Range]) -> dict[str, int]:
    """Return a value for each symbol: its largest, or its smallest if it is not bounded."""
    return {name: low if high is None else high for name, (low, high) in ranges.items()}


class CountingMath:
    """A `ScalarMath` whose elements are their types, and which counts what it is asked for."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def count(*values: Any) -> Any:
            self.counts[name] = self.counts.get(name, 0) + 1
            return next((v for v in values if isinstance(v, DType)), dtypes.f32)

        return count

    def constant(self, value: Any, dtype: DType) -> DType:
        """Return the type: constants cost nothing."""
        return dtype

    def cast(self, x: DType, dtype: DType) -> DType:
        """Return the new type."""
        return dtype

    def dtype_of(self, x: DType) -> DType:
        """Return the type."""
        return x

    def compare(self, predicate: str, a: DType, b: DType) -> DType:
        """Count a comparison."""
        self.counts["compare"] = self.counts.get("compare", 0) + 1
        return dtypes.bool_

    def select(self, condition: DType, a: DType, b: DType) -> DType:
        """Count a choice."""
        self.counts["select"] = self.counts.get("select", 0) + 1
        return a

    def times(self, elements: int) -> Cost:
        """Return what was counted, so many times."""
        flops = functions = 0
        for name, number in self.counts.items():
            if name in FUNCTIONS:
                functions += number
            else:
                flops += number * (2 if name == "fma" else 1)
        return Cost(flops=flops * elements, functions=functions * elements)


class _Sizes:
    """Sizes as numbers."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self.values = values

    def of(self, shape: Iterable[Dim]) -> int:
        """Return the number of elements."""
        return prod(dims.evaluate(dim, self.values) for dim in shape)

    def bytes(self, specs: Iterable[TensorSpec]) -> int:
        """Return the bytes of tensors."""
        return sum(self.of(spec.dims) * spec.dtype.size for spec in specs)


def _run(
    rule: Callable[..., Any],
    counter: CountingMath,
    specs: Iterable[TensorSpec],
    attributes: Mapping[str, Any],
) -> None:
    rule(counter, *(spec.dtype for spec in specs), **attributes)


def _iteration(op: Op, size: _Sizes) -> Cost:
    nest = type(op).iteration(*op.specs, **op.plain_attributes())
    parallel = size.of(nest.parallel)
    points = parallel * size.of(nest.reduce)
    body, finish = CountingMath(), CountingMath()
    nest.body(body, *(spec.dtype for spec in op.specs))
    if nest.finish is not None:
        nest.finish(finish, op.result_specs[0].dtype)
    is_product = nest.combiner == "add" and "mul" in body.counts
    combined = Cost(macs=points if is_product else 0, flops=points)
    return body.times(points) + finish.times(parallel) + combined


def _parts(op: Op) -> list[Op]:
    """Return the operations that one decomposes into, from a copy of it."""
    block = Block(arg_types=[operand.type for operand in op.operands])
    copy = type(op).create(
        operands=block.args,
        result_types=[result.type for result in op.results],
        properties=op.properties.copy(),
    )
    block.add_op(copy)
    decompose(copy)
    return [part for part in block.ops if isinstance(part, Op)]


MOVES = frozenset({"gv.constant", "gv.weight", "gv.reshape", "gv.yield", "gv.view", "gv.buffer"})
"""What is no work: values that are there, and other names for them."""

SELECTIONS = frozenset({"gv.slice", "gv.gather", "gv.gather_elements", "gv.gather_nd"})
"""What reads as much of its first operand as it returns."""

GATES = {"gv.lstm": (5, 4), "gv.gru": (3, 3), "gv.rnn": (1, 1)}
"""Functions and gates for each element of a state."""

Rule = Callable[[Op, _Sizes], Cost]


def _products(macs: int) -> Cost:
    return Cost(macs=macs, flops=2 * macs)


def _packed(op: Op, size: _Sizes) -> Cost:
    """Count K products for each element of the result: panels are [P, K, tile]."""
    inner = size.of(op.specs[1].dims[1:2])
    return _products(size.of(op.result_specs[0].dims) * inner)


def _conv_weights(op: Op, size: _Sizes) -> Cost:
    """Count a product for each weight and place: images are [N, *P, O]."""
    places = size.of(op.specs[1].dims[:-1])
    return _products(size.of(op.result_specs[0].dims) * places)


def _winograd(op: Op, size: _Sizes) -> Cost:
    """Count the products of each place of each tile, whole tiles."""
    flags = op.plain_attributes()
    form = form_of(flags["tile"], flags["stride"])
    images, rows, columns, filters = (size.of((d,)) for d in op.result_specs[0].dims)
    tiles = images * -(-rows // form.tile) * -(-columns // form.tile)
    return _products(tiles * form.seen**2 * filters * size.of(op.specs[1].dims[2:3]))


def _recurrent(op: Op, size: _Sizes) -> Cost:
    """Count the products of every step with the weights of input and state."""
    x, *weights = op.specs
    products = _products(size.of(x.dims[:2]) * sum(size.of(w.dims) for w in weights[:2]))
    return products + _gates(op, size)


def _state(op: Op, size: _Sizes) -> Cost:
    """Count the state's part, for gates [T, B, G * H] and states [T, B, H]."""
    products = _products(size.of(op.specs[0].dims) * size.of(op.result_specs[0].dims[2:]))
    return products + _gates(op, size)


def _gates(op: Op, size: _Sizes) -> Cost:
    """Count the functions of all gates, and about what is added and multiplied around them."""
    functions, gates = GATES[op.name.removesuffix("_packed")]
    states = size.of(op.result_specs[0].dims)
    return Cost(flops=(2 * gates + 4) * states, functions=functions * states)


def _each(op: Op, size: _Sizes) -> Cost:
    return Cost(flops=size.of(op.result_specs[0].dims))


def _scatter(op: Op, size: _Sizes) -> Cost:
    adds = op.plain_attributes()["reduction"] != "none"
    return Cost(flops=size.of(op.specs[2].dims) if adds else 0)


def _top_k(op: Op, size: _Sizes) -> Cost:
    spec, axis = op.specs[0], op.plain_attributes()["axis"]
    depth = max(size.of((spec.dims[axis],)), 1).bit_length()
    return Cost(flops=size.of(spec.dims) * depth)


TABLE: Mapping[str, Rule] = {
    **dict.fromkeys(("gv.matmul_packed", "gv.conv_packed"), _packed),
    "gv.conv_weights_packed": _conv_weights,
    "gv.winograd_packed": _winograd,
    **dict.fromkeys(("gv.lstm", "gv.gru", "gv.rnn"), _recurrent),
    **dict.fromkeys(("gv.lstm_packed", "gv.gru_packed", "gv.rnn_packed"), _state),
    **dict.fromkeys(("gv.cumsum", "gv.cumprod"), _each),
    **dict.fromkeys(("gv.scatter_elements", "gv.scatter_nd"), _scatter),
    "gv.top_k": _top_k,
}
"""Operations without a formula and a loop nest."""
