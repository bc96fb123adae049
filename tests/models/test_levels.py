"""Small models of each kind: the interpreter at every level and the compiled code agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.codegen.compile import Options, lower_kernels
from gravure.frontend.programs.load import load_program
from gravure.ir import Program, interpret, parse, print_module, verify
from gravure.ir.interpret.planned import interpret_planned
from gravure.ir.program import argument_specs, result_specs
from gravure.ir.types import dims
from gravure.passes.manager import run
from gravure.passes.pipelines import LEVELS
from gravure.target import Target
from gravure.tools.measuring.bench_attention import make_model

Array = np.ndarray[Any, Any]
MODELS = sorted((Path(__file__).parent / "small").glob("*.gv"))
PIPELINE = LEVELS["O2"]
SIZES = {"N": 5}


def arguments(program: Program) -> list[Array]:
    random = np.random.default_rng(0)
    made = []
    for spec in argument_specs(program.main):
        shape = [dims.evaluate(d, SIZES) for d in spec.dims]
        if spec.dtype.is_float:
            made.append(random.standard_normal(shape).astype(spec.dtype.numpy))
        else:
            made.append(random.integers(0, 9, shape).astype(spec.dtype.numpy))
    return made


def close(found: list[Array], wanted: list[Array], level: str) -> None:
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted, strict=True):
        scale = float(np.abs(want).max(initial=1e-6))
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * scale, err_msg=level)


def read_back(program: Program) -> Program:
    """Return the program printed and parsed: a level is what its text says."""
    module = parse(print_module(program.module))
    assert print_module(module) == print_module(program.module)
    return Program(module, program.weights)


def prepared(program: Program, inputs: list[Array]) -> list[Array]:
    """Return the results of a program whose weights are prepared by its own function."""
    weights = dict(program.weights)
    names = {op.sym_name.data for op in program.module.ops}  # type: ignore[attr-defined]
    if "prepare" in names:
        from gravure.ir.program import find_function, result_names  # noqa: PLC0415

        values = interpret(program, [], function="prepare")
        weights.update(
            zip(result_names(find_function(program.module, "prepare")), values, strict=True)
        )
    return interpret(program, inputs, weights=weights)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_level_computes_the_same(path: Path) -> None:
    program = load_program(path)
    inputs = arguments(program)
    wanted = interpret(program, inputs)
    program.module.attributes["gv.target"] = gv_target()
    before_fuse = PIPELINE[: PIPELINE.index("fuse")]
    run(",".join(before_fuse), program)
    close(prepared(read_back(program), inputs), wanted, "graph")
    run("fuse", program)
    close(prepared(read_back(program), inputs), wanted, "fused")
    run(",".join(PIPELINE[PIPELINE.index("fuse") + 1 :]), program)
    close(interpret_planned(read_back(program), inputs), wanted, "planned")
    lower_kernels(program, Target.parse("native"))
    verify(program.module)
    close(interpret_planned(read_back(program), inputs), wanted, "loops")


def gv_target() -> Any:
    from xdsl.dialects.builtin import StringAttr  # noqa: PLC0415

    return StringAttr("native")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_compiled_code_computes_the_same(path: Path, level: str) -> None:
    program = load_program(path)
    inputs = arguments(program)
    wanted = interpret(program, inputs)
    model = gv.compile(path, options=Options(level=level), threads=2)
    assert [i.name for i in model.outputs]
    assert len(result_specs(load_program(path).main)) == len(wanted)
    close(model.run(inputs), wanted, level)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_one_and_two_threads_give_the_same_bits(path: Path) -> None:
    inputs = arguments(load_program(path))
    one, two = (gv.compile(path, threads=n).run(inputs) for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_threads_share_the_keys_of_a_head_and_change_no_bit(tmp_path: Path) -> None:
    path, arrays = make_model(tmp_path, "decode", 2500, 1, 16)
    one, two = (gv.compile(path, threads=n).run(arrays)[0] for n in (1, 2))
    q, k, v = (arrays[name].reshape(-1, 16).astype(np.float64) for name in ("q", "k", "v"))
    weights = np.exp(q @ k.T / 4)
    np.testing.assert_allclose(one[0], weights @ v / weights.sum(), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(one, two)
