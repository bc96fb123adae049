"""Pipelines as a whole: they can be read, and no pass of them changes what small models compute."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from gravure.frontend.files.beside import map_file
from gravure.frontend.onnx.graph import read_onnx
from gravure.ir import REGISTRY, GraphEmit, Program, Symbol, spec
from gravure.ir.ops.structure import Weight
from gravure.ir.program import finish, new_function
from gravure.ir.types import dtypes
from gravure.passes import parse_pipeline, print_pipeline, run
from gravure.passes.check import Check
from gravure.passes.pipelines import GRAPH, LEVELS

MODELS = Path(__file__).parent.parent / "models"
SMALL = ("attention", "conv_norm", "digits", "elementwise", "embedding", "mlp", "mlp_batch")
RANGES = {"attention": {"length": (1, 16)}, "mlp_batch": {"batch": (1, 8)}}


def read(name: str) -> Program:
    return read_onnx(map_file(MODELS / f"{name}.onnx"), name, dims=RANGES.get(name))


@pytest.mark.parametrize("level", LEVELS)
def test_levels_are_pipelines_that_round_trip(level: str) -> None:
    passes = parse_pipeline(LEVELS[level])
    assert parse_pipeline(print_pipeline(passes)) == passes


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", SMALL)
def test_no_pass_changes_what_a_model_computes(name: str, level: str) -> None:
    run(LEVELS[level], read(name), observers=[Check()])


@pytest.mark.parametrize("name", SMALL)
def test_passes_on_graphs_change_nothing_the_second_time(name: str) -> None:
    program = read(name)
    run(GRAPH, program, observers=[])
    before = Counter(op.name for op in program.module.walk())
    run(GRAPH, program, observers=[])
    assert Counter(op.name for op in program.module.walk()) == before


def test_chains_longer_than_pythons_stack_are_no_matter() -> None:
    function = new_function("main", [("x", spec(dtypes.f32, 2, 4, 3))])
    emit = GraphEmit.at_end(function.body.block)
    factor = weight = emit(Weight, weight=Symbol("w"), dtype=dtypes.f32, shape=(4, 1))
    value = function.body.block.args[0]
    for _ in range(1200):
        factor = emit(REGISTRY["gv.mul"], factor, weight)
        value = emit(REGISTRY["gv.tanh"], emit(REGISTRY["gv.add"], value, weight))
    finish(function, [emit(REGISTRY["gv.mul"], value, factor)], ["y"])
    program = Program(ModuleOp([function]))
    run((*GRAPH, "hoist-prepare"), program, observers=[])
    assert len(list(program.main.body.block.ops)) == 2404


@pytest.mark.parametrize("level", ["O1", "O2", "O3"])
@pytest.mark.parametrize("dtype", [dtypes.f16, dtypes.bf16])
def test_products_of_halves_have_the_kernels_of_f32(level: str, dtype: dtypes.DType) -> None:
    """They had the one of any sum of products: a convolution took 35 times onnxruntime's time."""
    kinds = []
    for each in (dtypes.f32, dtype):
        arguments = [("x", spec(each, 1, 8, 9, 9)), ("y", spec(each, 1, 12, 9, 9))]
        function = new_function("main", arguments)
        emit = GraphEmit.at_end(function.body.block)
        x, y = function.args
        windows = {"strides": (1, 1), "pads": ((1, 1), (1, 1)), "dilations": (1, 1)}
        weight = emit(Weight, weight=Symbol("w"), shape=(12, 8, 3, 3), dtype=each)
        made = emit(REGISTRY["gv.conv"], x, weight, groups=1, **windows)
        grads = emit(REGISTRY["gv.conv_weights"], x, y, groups=1, window=(3, 3), **windows)
        product = emit(REGISTRY["gv.matmul"], made, y, transpose_rhs=True)
        finish(function, [made, grads, product], ["a", "b", "c"])
        weights = {"w": np.zeros((12, 8, 3, 3), each.numpy)}
        program = Program(ModuleOp([function]), weights)
        run(LEVELS[level], program, observers=[])
        found = [op.attributes.get("gv.kind") for op in program.module.walk()]
        kinds.append({str(kind) for kind in found if kind} - {'"map"', '"turn"'})
    assert kinds[0] == kinds[1]
    assert '"gemm"' in kinds[0]
