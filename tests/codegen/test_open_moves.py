"""Moves before and behind products, with open sizes: what fuses computes what each gives alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

import gravure as gv
from gravure.ir import (
    REGISTRY,
    GraphEmit,
    Program,
    TensorSpec,
    interpret,
    parse,
    print_module,
    spec_of,
)
from gravure.ir.program import finish, new_function, set_ranges
from gravure.ir.types.dims import Dim, evaluate, floor_divide, remainder, symbol
from gravure.ir.types.dtypes import f32

B, S, P = symbol("b"), symbol("s"), symbol("p")
RANGES = {"b": (1, 4), "s": (1, 12), "p": (0, 9)}
SIZES = ({"b": 1, "s": 1, "p": 0}, {"b": 2, "s": 5, "p": 3}, {"b": 3, "s": 9, "p": 8})
BATCHES: tuple[tuple[Dim, ...], ...] = ((), (B,), (B, 4), (4,), (2, B))
LENGTHS: tuple[Dim, ...] = (S, P + 1, S + P, 2 * S, B * S, 6, 1)
WIDTHS: tuple[Dim, ...] = (8, 12, 24, S, P + 1)
Shape = tuple[Dim, ...]


@dataclass
class Before:
    """Goes back from a shape to an argument's, and notes the moves that lead from it here."""

    draw: Any
    shape: Shape
    moves: list[tuple[str, dict[str, Any]]]

    def pick(self, options: Any) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def step(self) -> None:
        """Take one move back."""
        rules = (self.transpose, self.merge, self.part, self.regroup, self.slice, self.repeat)
        self.pick(rules)()

    def note(self, name: str, source: Shape, **attributes: Any) -> None:
        self.moves.append((name, attributes))
        self.shape = source

    def transpose(self) -> None:
        order = tuple(self.draw(st.permutations(range(len(self.shape)))))
        source = [self.shape[order.index(axis)] for axis in range(len(order))]
        self.note("transpose", tuple(source), order=order)

    def reshape(self, source: Shape) -> None:
        self.note("reshape", source, shape=self.shape)

    def merge(self) -> None:
        """Let two axes have been one."""
        if len(self.shape) > 1:
            at = self.pick(range(len(self.shape) - 1))
            one = self.shape[at] * self.shape[at + 1]
            self.reshape((*self.shape[:at], one, *self.shape[at + 2 :]))

    def part(self) -> None:
        """Let one axis have been two."""
        at = self.pick(range(len(self.shape)))
        parts = [f for f in (1, 2, 3, 4, B, S, P + 1) if remainder(self.shape[at], f) == 0]
        if parts:
            outer = self.pick(parts)
            inner = floor_divide(self.shape[at], outer)
            self.reshape((*self.shape[:at], outer, inner, *self.shape[at + 1 :]))

    def regroup(self) -> None:
        """Let two neighbours have been cut elsewhere."""
        if len(self.shape) > 1:
            at = self.pick(range(len(self.shape) - 1))
            a, b = self.shape[at : at + 2]
            factors = [f for f in (2, 3, 4, S) if remainder(b, f) == 0]
            if factors:
                f = self.pick(factors)
                pair = (a * f, floor_divide(b, f))
                self.reshape((*self.shape[:at], *pair, *self.shape[at + 2 :]))

    def slice(self) -> None:
        """Let an axis have been cut out of a longer one, or be turned around."""
        at = self.pick(range(len(self.shape)))
        dim = self.shape[at]
        before, behind, step = self.pick([(0, 0, -1), (2, 0, 1), (0, dim, 1), (dim, 1, 1)])
        source = (*self.shape[:at], before + dim + behind, *self.shape[at + 1 :])
        stops: list[Dim] = list(self.shape)
        starts: list[Dim] = [0] * len(stops)
        steps = [1] * len(stops)
        starts[at], stops[at] = before, before + dim
        if step < 0:
            starts[at], stops[at], steps[at] = dim - 1, -1 - dim, -1
        attributes = {"starts": tuple(starts), "stops": tuple(stops), "steps": tuple(steps)}
        self.note("slice", source, **attributes)

    def repeat(self) -> None:
        """Let each element of an axis have been one for several neighbours."""
        at = self.pick(range(len(self.shape)))
        if remainder(self.shape[at], 2) == 0:
            half = floor_divide(self.shape[at], 2)
            wide = (*self.shape[:at], half, 2, *self.shape[at + 1 :])
            self.reshape(wide)
            narrow = (*self.shape[:at], half, 1, *self.shape[at + 2 :])
            self.note("broadcast_to", narrow, shape=wide)


def apply(emit: GraphEmit, value: SSAValue, moves: list[tuple[str, dict[str, Any]]]) -> SSAValue:
    for name, attributes in reversed(moves):
        value = emit(REGISTRY[f"gv.{name}"], value, **attributes)
    return value


@st.composite
def products(draw: Any) -> str:
    """A product, or two with a softmax between, of arguments that were moved about."""
    batch, rows, columns = (draw(st.sampled_from(x)) for x in (BATCHES, LENGTHS, LENGTHS))
    depth, width = draw(st.sampled_from(WIDTHS)), draw(st.sampled_from(WIDTHS))
    pairs = ((rows, depth), (columns, depth), (columns, width))
    shapes: list[Shape] = [(*batch, *pair) for pair in pairs]
    attends, shared = draw(st.booleans()), draw(st.booleans())
    count = 3 if attends else 2
    behind = [Before(draw, shape, []) for shape in shapes[:count]]
    for each in behind:
        for _ in range(draw(st.integers(0, 4))):
            each.step()
    specs = [TensorSpec(f32, each.shape) for each in behind]
    if shared and len({each.shape for each in behind}) < count:
        specs = list(dict.fromkeys(specs))
    sizes = TensorSpec(f32, (B, S, P))
    inputs = [(f"x{i}", spec) for i, spec in enumerate([*specs, sizes])]
    function = new_function("main", inputs)
    emit = GraphEmit.at_end(function.body.block)
    arguments = dict(zip(specs, function.body.block.args, strict=False))
    operands = [apply(emit, arguments[TensorSpec(f32, each.shape)], each.moves) for each in behind]
    flags = {"transpose_lhs": False, "transpose_rhs": True}
    made = emit(REGISTRY["gv.matmul"], *operands[:2], **flags)
    if attends:
        made = emit(REGISTRY["gv.softmax"], made, axis=spec_of(made.type).rank - 1)
        flags["transpose_rhs"] = False
        made = emit(REGISTRY["gv.matmul"], made, operands[2], **flags)
    if draw(st.booleans()):
        made = emit(REGISTRY["gv.relu"], made)
    after = Before(draw, tuple(spec_of(made.type).dims), [])
    for _ in range(draw(st.integers(0, 2))):
        made = forward(emit, after, made)
    finish(function, [made], ["y"])
    module = ModuleOp([function])
    set_ranges(module, RANGES)
    return print_module(module)


def forward(emit: GraphEmit, maker: Before, value: SSAValue) -> SSAValue:
    """Append a move behind a value: what leads back from its shape leads on as well."""
    dims = tuple(spec_of(value.type).dims)
    going = Before(maker.draw, dims, [])
    maker.draw(st.sampled_from((going.merge, going.part, going.regroup, going.transpose)))()
    if not going.moves:
        return value
    if going.moves[0][0] == "transpose":
        return emit(REGISTRY["gv.transpose"], value, **going.moves[0][1])
    return emit(REGISTRY["gv.reshape"], value, shape=going.shape)


def check(text: str) -> None:
    """Compare compiled code with the interpreter, for small and larger sizes."""
    program = Program(parse(text), {}, "moves")
    model = gv.compile(Program(parse(text), {}, "moves"))
    random = np.random.default_rng(0)
    specs = [spec_of(t) for t in program.main.function_type.inputs]
    for sizes in SIZES:
        arrays = [
            random.standard_normal([evaluate(d, sizes) for d in s.dims]).astype(np.float32)
            for s in specs
        ]
        (wanted,) = interpret(program.main, arrays)
        feed = {f"x{i}": a for i, a in enumerate(arrays)}
        (got,) = model.run(feed)
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4, err_msg=f"at {sizes}")


@pytest.mark.sampled(2)
@given(products())
@settings(max_examples=12, deadline=None)
def test_products_of_what_was_moved(text: str) -> None:
    check(text)


def heads() -> str:
    """Return heads of which each has its queries, keys and values beside each other."""
    function = new_function("main", [("x0", TensorSpec(f32, (B, S, 96)))])
    emit = GraphEmit.at_end(function.body.block)
    made = emit(REGISTRY["gv.reshape"], function.body.block.args[0], shape=(B, S, 4, 24))
    made = emit(REGISTRY["gv.transpose"], made, order=(0, 2, 1, 3))
    q, k, v = (
        emit(
            REGISTRY["gv.slice"], made, starts=(0, 0, 0, at), stops=(B, 4, S, at + 8),
            steps=(1, 1, 1, 1),
        )
        for at in (0, 8, 16)
    )  # fmt: skip
    made = emit(REGISTRY["gv.matmul"], q, k, transpose_lhs=False, transpose_rhs=True)
    made = emit(REGISTRY["gv.softmax"], made, axis=3)
    made = emit(REGISTRY["gv.matmul"], made, v, transpose_lhs=False, transpose_rhs=False)
    finish(function, [made], ["y"])
    module = ModuleOp([function])
    set_ranges(module, RANGES)
    return print_module(module)


def grouped() -> str:
    """Return heads that share keys and values of which there is one more than was kept."""
    specs = [TensorSpec(f32, shape) for shape in ((B, 4, S, 8), (B, 2, P + 1, 8), (P,))]
    function = new_function("main", [(f"x{i}", spec) for i, spec in enumerate(specs)])
    emit = GraphEmit.at_end(function.body.block)
    q, x, _ = function.body.block.args
    wide = emit(REGISTRY["gv.reshape"], x, shape=(B, 2, 1, P + 1, 8))
    wide = emit(REGISTRY["gv.broadcast_to"], wide, shape=(B, 2, 2, P + 1, 8))
    k = emit(REGISTRY["gv.reshape"], wide, shape=(B, 4, P + 1, 8))
    flags = {"transpose_lhs": False, "transpose_rhs": True}
    made = emit(REGISTRY["gv.matmul"], q, k, **flags)
    finish(function, [made], ["y"])
    module = ModuleOp([function])
    set_ranges(module, RANGES)
    return print_module(module)


@pytest.mark.parametrize("text", [heads(), grouped()], ids=["split heads", "grouped queries"])
def test_heads_of_open_length(text: str) -> None:
    check(text)
