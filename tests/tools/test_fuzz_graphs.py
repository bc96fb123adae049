"""Graphs that are grown by chance: all ways agree; a few here, more by `gravure fuzz graphs`."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gravure.frontend.programs.load import load_program
from gravure.ir import interpret
from gravure.passes.pipelines import LEVELS
from gravure.tools.fuzz import shrink
from gravure.tools.fuzz.graphs import case
from gravure.tools.fuzz.making.grown import Grown, grown
from gravure.tools.fuzz.making.maker import Grower, Input, UnfitError, Value
from gravure.tools.fuzz.making.reductions import multiplied
from gravure.tools.fuzz.ways import WAYS, Findings, differs, judged, run_way, some_ways, usable
from gravure.tools.fuzz.workers import FAULT, READ, REFUSED


@pytest.mark.sweep
def test_ways_agree_on_grown_graphs() -> None:
    counts = {READ: 0, REFUSED: 0}
    for number in range(12):
        random = Random(f"test {number}")
        graph = grown(random, most=8, cases=False)
        kind, text, _ = judged(graph, some_ways(random), peer=False)
        assert kind != FAULT, text
        counts[kind] += 1
    assert counts[READ] > counts[REFUSED]


@pytest.mark.sweep
def test_ways_of_gpus_agree_on_grown_graphs() -> None:
    counts = {READ: 0, REFUSED: 0}
    for number in range(4):
        random = Random(f"gpu {number}")
        graph = grown(random, most=4, cases=False)
        kind, text, _ = judged(graph, some_ways(random, "emulated"), peer=False)
        assert kind != FAULT, text
        counts[kind] += 1
    assert counts[READ]


@pytest.mark.sweep
@settings(max_examples=3)
@given(st.randoms(use_true_random=False))
def test_graphs_that_are_not_optimised_are_the_interpreters(random: Random) -> None:
    kind, text, _ = judged(grown(random, most=3, cases=False), [WAYS[0]], peer=False)
    assert kind != FAULT, text


def test_a_seed_is_a_graph() -> None:
    made = [grown(Random(7), cases=False) for _ in range(2)]
    assert made[0].model == made[1].model
    assert len({grown(Random(seed), cases=False).model for seed in range(20)}) == 20


def test_graphs_are_the_standards_and_have_open_sizes() -> None:
    operators: set[str] = set()
    opened = 0
    for seed in range(60):
        graph = grown(Random(seed), cases=False)
        model = onnx.load_from_string(graph.model)
        if not graph.wrong:
            onnx.checker.check_model(model, full_check=True)
        operators |= {node.op_type for node in model.graph.node}
        opened += bool(graph.ranges)
        for world in range(len(graph.worlds)):
            sizes = graph.worlds[world]
            for each, array in zip(graph.inputs, graph.arrays(world), strict=True):
                assert array.shape == tuple(sizes.get(d, d) for d in each.dims)
    assert len(operators) > 60
    assert 20 < opened < 60


def test_windows_larger_than_what_they_slide_over_are_left_out() -> None:
    graph = grown(case(630001, 412), most=24, cases=False)
    assert graph.ranges
    assert all(low >= 0 for low, _ in graph.ranges.values())


def test_what_differs_is_found() -> None:
    graph = grown(Random(3), most=3, cases=False)
    program = load_program(graph.model, dims=graph.ranges)
    arrays = [np.asarray(x) for x in graph.arrays(0)]
    right = interpret(program, arrays)
    wrong = [np.asarray(x).copy() for x in right]
    assert not differs(right, right, graph, 0)
    wrong[0] = wrong[0].reshape((*wrong[0].shape, 1))
    assert "expected" in differs(wrong, right, graph, 0)
    assert "the interpreter does not" in differs(ValueError("no"), right, graph, 0)
    found = Findings()
    run_way(WAYS[0], program, graph, [ValueError("no")], found)
    assert found.way.startswith("O0")
    assert "gave results" in found.lines[0]


def test_every_way_of_this_machine_is_used() -> None:
    assert {"O0", "O3", "threads", "bounds", "exact"} <= {way.name for way in usable()}


def test_values_know_what_they_are() -> None:
    value = Value("x", "float32", ((3, 0), (2, 2)), 4.0, 0.5)
    assert value.is_exact
    assert value.can_be_empty
    assert value.rank == 2


def test_the_command_counts_and_keeps(gravure: Any, tmp_path: Any) -> None:
    found = gravure("fuzz", "graphs", "--cases", "2", "--most", "3", "--no-peer", "--no-cases",
                    "--keep", tmp_path, "--json")  # fmt: skip
    assert found.status == 0, found.out
    assert found.json["right"] + sum(found.json["refused"].values()) == 2


GROWN = """<ir_version: 10, opset_import: ["": 22]> m (float[N, 2] x) => (float[N, 2] y)
{ a = Exp(x)  b = Tanh(a)  c = Relu(b)  y = Add(c, x) }"""


def test_what_fails_is_made_small_and_written(
    monkeypatch: Any, tmp_path: Any, gravure: Any
) -> None:
    def run(program: Any, arrays: Any) -> list[Any]:
        wrong = 1 if "gv.tanh" in str(program.module) else 0
        return [array + wrong for array in interpret(program, arrays)]

    monkeypatch.setattr(shrink, "compiled", lambda program, way: [(1, program)])
    monkeypatch.setattr(shrink, "ran", run)
    value = Value("x", "float32", ((3, 0), (2, 2)))
    data = onnx.parser.parse_model(GROWN).SerializeToString()
    graph = Grown(data, [Input(value, ("N", 2))], [], [{"N": 3}, {"N": 0}])
    path = tmp_path / "small.mlir"
    assert shrink.write_shrunk(graph, "O3 on 2 threads, world 0: result y: 1 of 6", path)
    head, why, *rest = path.read_text().splitlines()
    assert head == f"// test: {','.join(LEVELS['O3'])}"
    command = why.partition(": gravure ")[2].split()
    assert command == ["run", "small.mlir", "-O3", "--vs", "interp", "-i", "in0=3x2xf32"]
    monkeypatch.chdir(tmp_path)
    assert gravure(*command).status == 0
    assert sum("= gv." in line for line in rest) == 1
    assert load_program(path).main
    assert not shrink.write_shrunk(graph, "onnxruntime, world 0: result y", path)
    assert not shrink.write_shrunk(graph, "O3 on 2 threads, world 1: result y", path)


def test_devices_are_for_what_runs_on_them(gravure: Any) -> None:
    found = gravure("fuzz", "files", "--device", "emulated")
    assert found.status == 2
    assert "fuzz files runs on no device" in found.err
    found = gravure("fuzz", "programs", "--device", "gpux")
    assert "expected 'gpu:N' or 'emulated'" in found.err


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("size", [5, 40, 2000])
def test_products_that_no_float_holds_do_not_fit(dtype: str, size: int) -> None:
    maker = Grower(Random(1), 1)
    with pytest.raises(UnfitError):
        multiplied(maker, Value("x", dtype, ((size,),), most=2.0**300))
