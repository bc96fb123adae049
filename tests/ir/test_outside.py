"""An operation touches its class alone: those of `outside.py`, which is no part of gravure, do all.

Each states one lowering, and is carried out, differentiated, compiled, shown, counted and proven
like gravure's own. Nothing here registers anything but the classes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_ops as judge
from xdsl.dialects.builtin import ModuleOp

import gravure as gv
from gravure import plugins
from gravure.codegen.compiled import Options
from gravure.codegen.stages import lower
from gravure.frontend.eager.tensor import apply
from gravure.frontend.programs.load import load_program
from gravure.frontend.text.writer import write_text
from gravure.ir import REGISTRY, Array, Program, print_module, spec_of_array
from gravure.ir.program import set_ranges
from gravure.ir.types.dtypes import f32, f64
from gravure.passes import run
from gravure.passes.analysis.cost import Cost, cost_of_function
from gravure.tools.cli import main

HERE = Path(__file__).parent
NAMES = ("length", "held", "swapped", "mirrored", "energy", "spread")
LOWERINGS = ("scalar", "source_index", "element_at", "iteration", "decompose")


@pytest.fixture(scope="module", autouse=True)
def outside() -> Iterator[None]:
    """Let gravure have the operations while these tests run."""
    plugin = plugins.load_file(HERE / "outside.py")
    yield
    plugins.unload(plugin)


def cases(name: str, dtype: Any = f32) -> list[judge.Case]:
    op = REGISTRY[f"outside.{name}"]
    return [judge.Case(op, number, dtype) for number in range(len(op.SAMPLES))]


@pytest.mark.parametrize("name", NAMES)
def test_it_states_one_lowering_and_stands_nowhere_else(name: str) -> None:
    op = REGISTRY[f"outside.{name}"]
    assert sum(op.has(rule) for rule in LOWERINGS) == 1
    root = HERE.parent.parent
    for folder in ("ir", "passes", "codegen", "frontend", "tools", "runtime"):
        assert not [p for p in (root / folder).rglob("*.py") if op.name in p.read_text()]


PATHS = {
    **judge.paths(),
    **{f"compiled by {level}": level for level in ("O1", "O3")},
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", NAMES)
def test_every_path_computes_what_is_evaluated(name: str, path: str) -> None:
    rows = cases(name)
    drawn = [case.draw() for case in rows]
    specs = [[spec_of_array(x) for x in operands] for operands in drawn]
    way = PATHS[path]
    module = judge.make_module(rows, specs)
    if isinstance(way, str):
        found = judge.compiled(module, judge.flat(drawn), level=way)
    else:
        found = way(module, judge.flat(drawn))
    judge.compare(rows, drawn, found)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_slopes_by_the_tape_and_compiled(name: str) -> None:
    for case in cases(name, f64):
        judge.test_gradient_is_the_slope(case)
        operands, weights = case.draw(), judge.result_weights(case)
        wanted = case.op.gradient(case.call(operands, case.evaluate(operands), judge.EagerEmit()),
                                  *weights)  # fmt: skip
        for found in (slopes(case, operands, weights), staged(case, operands, weights)):
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def slopes(case: judge.Case, operands: Sequence[Array], weights: Sequence[Any]) -> list[Array]:
    """Return what the tape gives."""
    given = [gv.asarray(x) for x in operands]
    with gv.GradientTape() as tape:
        for x in given:
            tape.watch(x)
        made = apply(case.op, *given, **case.sample.attributes)
    return [x.numpy() for x in tape.gradient(made, given, output_gradients=gv.asarray(weights[0]))]


def staged(case: judge.Case, operands: Sequence[Array], weights: Sequence[Any]) -> list[Array]:
    """Return what a compiled function gives."""

    @gv.function
    def both(*values: Any) -> Any:
        with gv.GradientTape() as tape:
            for x in values[:-1]:
                tape.watch(x)
            made = apply(case.op, *values[:-1], **case.sample.attributes)
        return tape.gradient(made, list(values[:-1]), output_gradients=values[-1])

    for _ in range(3):
        found = both(*map(gv.asarray, operands), gv.asarray(weights[0]))
    assert not [line for line in both.explain() if "not compiled" in line or "Python" in line]
    return [x.numpy() for x in found]


def open_module(name: str) -> tuple[list[judge.Case], ModuleOp]:
    """Return a module whose sizes are symbols."""
    rows = [case for case in cases(name) if case.sample.shapes[0]]
    module = judge.make_module(rows, [judge.symbolic_specs(case) for case in rows])
    set_ranges(module, {n: (1, 100) for n in judge.SIZES if n in print_module(module)})
    return rows, module


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", NAMES)
def test_kernels_of_any_size_are_shown_to_stay_inside_of_their_buffers(
    name: str, target: str
) -> None:
    program = Program(open_module(name)[1])
    lower(program, Options(target=target), "loops")
    run("check-bounds", program)


@pytest.mark.parametrize("path", ["unoptimised", "compiled", "GPU"])
@pytest.mark.parametrize("name", NAMES)
def test_every_compiler_takes_any_size(name: str, path: str) -> None:
    rows, module = open_module(name)
    drawn = [case.draw() for case in rows]
    judge.compare(rows, drawn, judge.paths()[path](module, judge.flat(drawn)))


@pytest.mark.parametrize("name", NAMES)
def test_text_shows_and_reads_it(name: str, tmp_path: Path, capsys: Any) -> None:
    case = cases(name)[0]
    operands = case.draw()
    names = [f"x{i}" for i in range(len(operands))]
    types = ", ".join(
        f"{n}: f32[{', '.join(map(str, x.shape))}]" for n, x in zip(names, operands, strict=True)
    )
    text = f"model m({types}) -> (y) {{ y = outside.{name}({', '.join(names)}) }}"
    model = gv.compile(text.encode(), cache=False)
    (wanted,) = case.evaluate(operands)
    np.testing.assert_allclose(model(*operands), wanted, rtol=1e-5, atol=1e-6)
    again = write_text(load_program(text.encode()), name="m")
    assert f"outside.{name}({', '.join(names)})" in again
    path = tmp_path / "m.gv"
    path.write_text(text)
    assert main(["inspect", str(path), "--ops"]) == 0
    assert f"outside.{name}" in capsys.readouterr().out


def graph(text: str, passes: str) -> str:
    """Return a model of two inputs and a fixed row as text, behind some passes."""
    head = "model m(x: f32[4, 6], y: f32[4, 6]) -> (z) { const w: f32[6] = [1, 2, 3, 4, 5, 6]\n"
    program = load_program(f"{head}{text} }}".encode())
    run(passes, program)
    return print_module(program.module)


def test_what_holds_of_it_is_used_by_passes() -> None:
    twice = graph("z = outside.held(outside.held(x))", "canonicalize")
    assert twice.count("outside.held ") == 1
    alike = "z = outside.length(x, y) + outside.length(y, x)"
    assert graph(alike, "cse").count("outside.length ") == 1
    wide = "z = outside.length(x, broadcast_to(w, shape=[4, 6]))"
    assert "broadcast_to" not in graph(wide, "canonicalize")
    turned = graph("z = transpose(outside.swapped(x), order=[1, 0])", "canonicalize,fuse")
    assert turned.count("gv.kernel") == 1


def test_a_factor_goes_back_over_it_into_a_weight() -> None:
    text = "z = outside.length(matmul(x, transpose(y, order=[1, 0])), w[0]) * 2.0"
    fixed = text.replace("transpose(y, order=[1, 0])", "m").replace("w[0]", "w")
    head = "const m: f32[6, 6] = " + str(np.eye(6).tolist()).replace(" ", "") + "\n"
    before = graph(head + fixed, "canonicalize")
    after = graph(head + fixed, "canonicalize,fold-scale,constant-fold,canonicalize")
    assert before.count("gv.mul") == 1
    assert after.count("gv.mul") == 0


def cost(text: str) -> Cost:
    program = load_program(f"model m(x: f32[4, 6]) -> (z) {{ z = {text} }}".encode())
    return cost_of_function(program.main, {})


def test_its_cost_is_counted() -> None:
    assert cost("outside.length(x, x)") == Cost(flops=3 * 24, functions=24, read=2 * 96, written=96)
    assert cost("outside.energy(x)") == Cost(
        macs=24, flops=2 * 24, functions=4, read=96, written=16
    )
    assert cost("outside.spread(x)") == Cost(flops=2 * 24, read=96, written=96)
    assert cost("outside.swapped(x)") == Cost(read=96, written=96)
