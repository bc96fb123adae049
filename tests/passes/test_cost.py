"""What operations cost, against numbers counted by hand; and every operation is counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from gravure.frontend.programs.load import load_program
from gravure.ir import REGISTRY, Op, Program, Sample, TensorSpec
from gravure.ir.program import finish, new_function
from gravure.passes import run
from gravure.passes.analysis.cost import Cost, cost_of, cost_of_function, cost_of_kernel, largest
from gravure.passes.analysis.finite import first_not_finite

MODELS = Path(__file__).parents[1] / "models"


def program(body: str, arguments: str = "x: f32[2, 3]") -> Program:
    return load_program(f"model m({arguments}) -> (y) {{ {body} }}".encode())


def cost(body: str, arguments: str = "x: f32[2, 3]", **sizes: int) -> Cost:
    return cost_of_function(program(body, arguments).main, sizes)


def test_element_wise_operations_are_counted_by_their_formula() -> None:
    assert cost("y = relu(x)").flops == 6
    assert cost("y = exp(x)") == Cost(functions=6, read=24, written=24)
    assert cost("y = x + x * x").flops == 12
    assert cost('y = gelu(x, approximate="none")').functions == 6
    assert cost("y = cast(x, dtype=i32)") == Cost(read=24, written=24)


def test_product_is_two_flops_for_each_mac() -> None:
    found = cost("y = x @ w", "x: f32[4, 5], w: f32[5, 7]")
    assert (found.macs, found.flops) == (4 * 5 * 7, 2 * 4 * 5 * 7)
    assert (found.read, found.written) == (4 * (20 + 35), 4 * 28)


def test_reductions_and_windows() -> None:
    assert cost("y = sum(x, axes=[1])").flops == 6
    assert cost("y = sum(x, axes=[1])").macs == 0
    image = "x: f32[1, 2, 6, 6], w: f32[4, 2, 3, 3]"
    text = "y = conv(x, w, strides=[1, 1], pads=[[0, 0], [0, 0]], dilations=[1, 1])"
    assert cost(text, image).macs == 4 * 4 * 4 * 2 * 9


def test_operations_made_of_others_cost_what_those_do() -> None:
    found = cost("y = softmax(x, axis=1)")
    assert found.functions == 6
    assert found.flops >= 4 * 6
    assert (found.read, found.written) == (24, 24)


def test_moves_and_names_are_free() -> None:
    found = cost("y = reshape(x, shape=[3, 2])")
    assert found == Cost()
    assert cost("y = transpose(x, order=[1, 0])") == Cost(read=24, written=24)


def test_dimensions_are_what_they_are_said_to_be() -> None:
    arguments = "x: f32[N, 8], w: f32[8, 4], N in 1..64"
    assert cost("y = x @ w", arguments, N=10).macs == 10 * 32
    assert largest({"N": (1, 64), "M": (2, None)}) == {"N": 64, "M": 2}


def test_packing_does_not_change_the_number_of_products() -> None:
    whole = load_program(MODELS / "conv_norm.onnx")
    before = cost_of_function(whole.main, {}).macs
    run("canonicalize,fold-batch-norm,choose-layout,decompose,pack-weights,hoist-prepare", whole)
    assert cost_of_function(whole.main, {}).macs == before == 6 * 5 * 6 * 27


def samples() -> Iterator[tuple[str, int]]:
    for name, op in REGISTRY.items():
        yield from ((name, number) for number in range(len(op.SAMPLES)))


@pytest.mark.parametrize(("name", "number"), list(samples()))
def test_every_operation_can_be_counted(name: str, number: int) -> None:
    kind: type[Op] = REGISTRY[name]
    sample: Sample = kind.SAMPLES[number]
    types = [dtype or sample.dtypes[0] for dtype in (*sample.operand_dtypes, *[None] * 9)]
    specs = [TensorSpec(dtype, shape) for dtype, shape in zip(types, sample.shapes, strict=False)]
    block = Block(arg_types=[spec.type for spec in specs])
    found = cost_of(kind.make(*block.args, **sample.attributes), {})
    assert min(vars(found).values()) >= 0
    assert found.flops >= 2 * found.macs


def test_first_operation_that_leaves_the_finite_numbers() -> None:
    made = program("y = (x * 1.0e30) * (x * 1.0e30)")
    assert first_not_finite(made, [np.ones((2, 3), np.float32)]).infinities == 6  # type: ignore[union-attr]
    assert first_not_finite(made, [np.zeros((2, 3), np.float32)]) is None


def test_infinities_of_masks_are_not_looked_for() -> None:
    made = program("const m: f32[3] = [-inf, 0.0, 1.0]\n y = exp(x + m)")
    assert first_not_finite(made, [np.ones((2, 3), np.float32)]) is None


def test_nan_is_told_with_what_it_was_made_of() -> None:
    found: Any = first_not_finite(program("y = log(x)"), [np.full((2, 3), -1, np.float32)])
    assert str(found).endswith("gv.log gives 6 NaN, from float32[2, 3] from -1.0 to -1.0")


def test_a_function_of_its_own_is_counted() -> None:
    main = new_function("main", [("x", TensorSpec(REGISTRY["gv.relu"].SAMPLES[0].dtypes[0], (4,)))])
    relu = REGISTRY["gv.relu"].make(main.body.block.args[0])
    main.body.block.add_op(relu)
    finish(main, relu.results, ["y"])
    assert cost_of_function(Program(ModuleOp([main])).main, {}).flops == 4


def test_a_kernel_reads_what_it_is_given_once_and_writes_what_it_returns() -> None:
    made = program("y = exp(x + x * x) * x").main
    assert cost_of_kernel(made, {}) == Cost(flops=18, functions=6, read=24, written=24)
    table = "x: f32[100, 8], i: i64[3]"
    made = program("y = gather(x, i, axis=0)", table).main
    assert cost_of_kernel(made, {}) == Cost(read=3 * 8 * 4 + 3 * 8, written=3 * 8 * 4)
