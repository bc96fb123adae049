"""Parts of the tools that reports stand on."""

import os
from argparse import Namespace
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from onnx import helper

import gravure as gv
from gravure import plugins
from gravure.ir.op import REGISTRY, find_op
from gravure.runtime.traces.timeline import Slice, _leaves
from gravure.tools import onnx_tests, watch
from gravure.tools.accuracy import fit_polynomials
from gravure.tools.accuracy.ulp_table import DOMAIN, error_in_ulp, samples
from gravure.tools.checking import widen
from gravure.tools.checking.lint import Linted
from gravure.tools.cli import main
from gravure.tools.fuzz import mutate, programs, ways
from gravure.tools.fuzz.making import elementwise, moves, products, quantised, reductions
from gravure.tools.fuzz.making.grown import grown
from gravure.tools.fuzz.making.maker import Grower, UnfitError, Value
from gravure.tools.fuzz.making.pipeline import chained, until
from gravure.tools.fuzz.making.python import written
from gravure.tools.launching import jobs
from gravure.tools.launching.jobs import Job, failure
from gravure.tools.machine import machine
from gravure.tools.options import UsageError, shapes_of
from gravure.tools.talk import listed
from gravure.tools.verbs import explain, subject
from gravure.tools.verbs.ablation import _difference
from gravure.tools.verbs.emit import _row
from gravure.tools.verbs.inspect import LibraryInspection
from gravure.tools.verbs.inspection import _counts
from gravure.tools.verbs.profile import Profiled
from gravure.tools.verbs.quantize import _split, accuracy_of
from gravure.tools.verbs.run import _described
from gravure.tools.verbs.size import SizeRow
from gravure.tools.viewing import ablation, histograms


def test_shapes_of_inputs_are_read_by_name() -> None:
    assert shapes_of(Namespace(shape=[])) is None
    assert shapes_of(Namespace(shape=["x=N, 3", "y=", "a=b=?"])) == {
        "x": ("N", 3), "y": (), "a=b": (None,),
    }  # fmt: skip
    for wrong in ("x", "=3", "x=3,,4"):
        with pytest.raises(UsageError, match="expected NAME=D,D"):
            shapes_of(Namespace(shape=[wrong]))


def test_a_difference_is_told_in_parts_of_the_largest_element() -> None:
    wanted = [np.array([1.0, -4.0]), np.array([], np.float32), np.array([0.0])]
    assert _difference(wanted, wanted) == 0
    assert _difference([np.array([1.0, -3.0]), *wanted[1:]], wanted) == 0.25
    assert _difference([*wanted[:2], np.array([0.5])], wanted) == 0.5


def test_results_are_described_also_those_that_are_lists_or_nothing() -> None:
    row = {"dtype": "float32", "shape": [2, 3]}
    x = np.zeros((2, 3), np.float32)
    assert _described(x) == row
    assert _described(None) == {"values": None}
    assert _described([x, [x]]) == {"values": [row, {"values": [row]}]}


def test_a_job_tells_who_failed_who_was_killed_or_that_none_was_started(tmp_path: Path) -> None:
    job = Job("program.py", ranks=2)
    assert failure(tmp_path, job, 3, "") == "no rank was started, mpiexec gives 3"
    assert failure(tmp_path, job, 3, "told") == "told"
    for name in ("0.pid", "1.pid", "0.done"):
        (tmp_path / name).write_text("1")
    said = failure(tmp_path, job, 9, "")
    assert said.startswith(f"a task was killed, of {job.names()[1]}; mpiexec gives 9")
    (tmp_path / "1.failed").write_text("ValueError: no")
    assert failure(tmp_path, job, 1, "") == f"task {job.names()[1]}: ValueError: no"


def test_slices_that_touch_are_both_innermost() -> None:
    outer, *inner = (
        Slice("lane", "kind", name, start, end)
        for name, start, end in (("outer", 0, 9), ("a", 0, 4), ("b", 4, 9), ("c", 11, 12))
    )
    assert [each.name for each in _leaves([outer, *inner])] == ["a", "b", "c"]


def test_what_comes_before_an_element_that_is_as_large() -> None:
    assert until([1, 3, 2, 5], 3) == [1]
    assert until([1, 2], 3) == [1, 2]


@pytest.mark.parametrize("name", ["exp", "sinh", "log", "powf"])
@pytest.mark.parametrize("element", ["float", "double"])
def test_samples_are_of_all_sizes_and_signs(name: str, element: str) -> None:
    first, *_ = samples(name, element, 400)
    low, high = DOMAIN[name]
    assert ((first > low) & (first < high)).all()
    assert first.min() < 0 or low == 0
    sizes = np.log2(np.abs(first.astype(np.float64)))
    assert sizes.min() < -80
    assert len(np.unique(np.round(sizes))) > 60


def test_units_in_the_last_place_are_those_of_what_is_wanted() -> None:
    pytest.importorskip("mpmath")
    assert error_in_ulp(1.0, 1.0, "float") == 0
    assert error_in_ulp(1 + 2.0**-23, 1.0, "float") == 1
    assert error_in_ulp(-4.0, -4 - 2.0**-20, "float") == 2
    assert error_in_ulp(2.0**-149, 0.0, "float") == 1
    assert error_in_ulp(np.inf, 1.0, "double") == np.inf


def test_plugins_are_looked_at_for_names_that_are_not_known_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr(plugins, "load_installed", lambda: asked.append(1))
    assert find_op("gv.add") is REGISTRY["gv.add"]
    assert not asked
    assert find_op("gv.nothing_of_this_name") is None
    assert asked == [1]


def test_rows_of_files_and_of_bytes() -> None:
    assert SizeRow("nodes", "map", code=5, weights=7).whole == 12
    assert _row(Path("m.so"), 10, "a library: with all")[::2] == ["m.so", "a library"]
    assert _row(Path("m"), 10, "")[::2] == ["m", "several kinds in one file"]


def test_samples_in_an_array_are_as_the_input_wants_them() -> None:
    shape = helper.make_tensor_value_info("x", 1, [2, 3]).type.tensor_type.shape
    x = np.arange(12.0).reshape(4, 3)
    assert [part.tolist() for part in _split("x", x, shape)] == [x[:2].tolist(), x[2:].tolist()]
    assert [part.shape for part in _split("x", x[:2], shape)] == [(2, 3)]
    assert [part.shape for part in _split("x", x.reshape(2, 2, 3), shape)] == [(2, 3)] * 2


@pytest.mark.slow
def test_the_demo_keeps_its_library_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert not [*tmp_path.iterdir()]
    assert main(["demo", "-o", "digits.so"]) == 0
    assert (tmp_path / "digits.so").is_file()


def test_what_is_known_of_sums_of_products() -> None:
    def value(most: float, noise: float) -> Any:
        return SimpleNamespace(most=most, noise=noise, step=0.5, dtype="float32")

    exact = products.product(value(3.0, 0.0), value(5.0, 0.0), 4)
    assert exact == {"most": 60.0, "step": 0.25, "noise": 0, "single": False}
    found = products.product(value(3.0, 0.25), value(5.0, 0.5), 4)
    assert found["noise"] >= 4 * (0.25 * 5 + 0.5 * 3)
    assert found["noise"] < 4 * (0.25 * 5 + 0.5 * 3) + 1


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 1 << 40])
def test_numbers_of_protocol_buffers_are_read_where_they_stand(number: int) -> None:
    data = b"ab" + mutate._number_encoded(number)
    assert mutate._varint(data, 2) == (number, len(data))
    assert mutate._varint(data[:-1], 2) == (0, len(data))


def test_fields_of_protocol_buffers_are_written_as_they_were_read() -> None:
    fields: list[mutate.Field] = [
        (1, 0, 300), (2, 1, bytes(range(8))), (3, 2, b""), (4, 2, b"x" * 200), (1 << 20, 5, b"1234")
    ]  # fmt: skip
    data = b"".join(mutate._encoded(*field) for field in fields)
    assert mutate._fields(data) == fields
    assert mutate._fields(data[:-1]) == []
    assert mutate._fields(bytes([1 << 3 | 3])) == []


def test_one_bit_is_turned_and_each_has_its_turn() -> None:
    random, seen = Random(1), set()
    for _ in range(200):
        data = bytearray(3)
        mutate._flip(data, random)
        [changed] = [(place, byte) for place, byte in enumerate(data) if byte]
        seen.add(changed)
    assert seen == {(place, 1 << bit) for place in range(3) for bit in range(8)}


def test_a_machine_has_processors() -> None:
    assert machine()["cores"] == os.cpu_count()


def test_results_that_are_missing_differ_from_those_that_are_not() -> None:
    one = np.float32(1)
    assert onnx_tests.difference(None, None, (0, 0)) == ""
    assert "expected" in onnx_tests.difference(None, one, (0, 0))
    assert "expected" in onnx_tests.difference(one, None, (0, 0))


def test_lines_below_each_other_have_one_name() -> None:
    assert listed("n", ["a", "b"]) == [["n", "a"], ["", "b"]]


def test_errors_are_listed_by_the_first_line_of_their_text() -> None:
    text = str(explain.ErrorPages((explain.ErrorPage("GV1", "Name", 1, "the first\nthe second"),)))
    assert "the first" in text
    assert "the second" not in text


def test_accuracy_is_in_decibels() -> None:
    wanted = np.float32([[10, 0], [0, 10]])
    found = accuracy_of("y", [(wanted, wanted + np.float32([[2, 0], [0, 0]]))])
    assert found.decibels == pytest.approx(10 * np.log10(200 / 4))
    assert accuracy_of("y", [(wanted, wanted)]).decibels == float("inf")


def test_a_library_wants_numbers_as_dimensions() -> None:
    assert subject._sizes({"n": 3}) == {"n": 3}
    with pytest.raises(UsageError, match="expected a number"):
        subject._sizes({"n": (1, 3)})


def test_ratios_are_drawn_where_they_are() -> None:
    row = {"pass": "fuse", "ratio": 0.8, "ratio_interval": [0.7, 0.9]}
    kinds = {
        (significant, same): ablation._ratios(
            [{**row, "significant": significant, "same_code": same}]
        )
        for significant in (False, True)
        for same in (False, True)
    }
    slower, same = ablation.COLOURS["slower"], ablation.COLOURS["same"]
    assert slower in kinds[True, False]
    for key in ((True, True), (False, True), (False, False)):
        assert slower not in kinds[key]
        assert same in kinds[key]
    one = ablation.LEFT + ablation.WIDE * (1 - 0.7) / (1.05 - 0.7)
    assert f'x1="{one:.1f}"' in kinds[False, False]


def test_weights_that_are_looked_at_whole_are_not_sampled() -> None:
    whole = histograms.row_of("w", np.arange(10.0))
    part = histograms.row_of("w", np.zeros(histograms.MOST * 2, np.float32))
    assert (whole["sampled"], part["sampled"]) == (False, True)


def test_passes_are_watched_before_or_after_them() -> None:
    rest = dict.fromkeys(
        ("print_ir_before_all", "print_ir_after_all", "print_ir_after_change", "check"), False
    )
    none = {"function": "", "dump_dir": None, "dump_change": False, **rest}
    for before, after, wanted in (
        (["dce"], [], 1),
        ([], ["dce"], 1),
        (["dce"], ["cse"], 1),
        ([], [], 0),
    ):
        args = Namespace(print_ir_before=before, print_ir_after=after, **none)
        assert len(watch.observers_of(args)) == wanted


def test_nothing_found_is_true() -> None:
    assert Linted((), 1)
    assert not Linted((SimpleNamespace(),), 1)  # type: ignore[arg-type]


def test_what_stands_for_many_numbers_stays_one() -> None:
    many = np.broadcast_to(np.float32(0.1), (3, 4))
    assert widen._wide_array(many).strides == (0, 0)
    np.testing.assert_array_equal(widen._wide_array(many), np.float64(np.float32(0.1)))
    assert widen._wide_array(np.float32([3])).strides == (8,)
    assert widen._wide_array(np.float32([3])).flags.writeable
    assert widen._wide_array(np.int32([3])).dtype == np.int32


def test_what_is_nearer_to_infinity_than_to_the_largest_is_right_there() -> None:
    largest = float(np.finfo(np.float32).max)
    assert error_in_ulp(float("inf"), mp.mpf(largest) * (1 + mp.mpf(2) ** -20), "float") == 0
    assert error_in_ulp(float("inf"), mp.mpf(largest), "float") == float("inf")
    assert error_in_ulp(float("-inf"), mp.mpf(largest) * 2, "float") == float("inf")


def test_functions_of_integers_need_a_sign_to_change_it() -> None:
    class Asks:
        def __init__(self) -> None:
            self.names: list[str] = []

        def choose(self, names: list[str]) -> str:
            self.names = names
            return names[0]

        def node(self, *given: object, **more: object) -> None:
            del given, more

    for dtype, changes in (("int32", True), ("uint8", False)):
        asks: Any = Asks()
        elementwise.unary(asks, SimpleNamespace(is_float=False, dtype=dtype))  # type: ignore[arg-type]
        assert ("Neg" in asks.names) == changes


def test_others_are_asked_where_that_is_wanted_and_operands_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(ways, "against_onnxruntime", lambda graph, *rest: asked.append(graph))
    monkeypatch.setattr(ways, "find_spec", lambda name: name == "onnxruntime")
    graph = grown(Random(3), most=2, cases=False)
    assert not graph.wrong
    for given, peer in ((graph, False), (replace(graph, wrong=frozenset({1})), True)):
        ways.judged(given, [], peer=peer)
    assert not asked
    ways.judged(graph, [], peer=True)
    assert asked == [graph]


def test_only_floats_that_are_rounded_may_differ() -> None:
    wanted = np.float32([0, 50, np.inf])
    for dtype, noise in (("float32", 0.0), ("int32", 1.0)):
        found = ways.tolerance(Value("x", dtype, ((3,),), noise=noise), wanted)
        assert (found.relative, found.absolute) == (0, 0)
    found = ways.tolerance(Value("x", "float32", ((3,),), noise=0.25), wanted)
    assert found.relative == ways.ROUNDED["float32"]
    assert found.absolute == 1 + ways.ROUNDED["float32"] * 50


def test_rules_that_do_not_fit_take_back_what_they_made_alone() -> None:
    maker = Grower(Random(1), 2)
    x = maker.input("float32", [(2, 2)])
    for _ in range(3):
        maker.values.append(maker.node("Neg", [x]))
    before = [*maker.values], len(maker.nodes), len(maker.inputs)
    with maker.tried():
        maker.values.append(maker.node("Exp", [maker.input("float32", [(3, 3)])]))
        raise UnfitError
    assert (maker.values, len(maker.nodes), len(maker.inputs)) == before


def test_slices_go_by_all_steps() -> None:
    steps = set()
    for seed in range(150):
        maker = Grower(Random(seed), 2)
        x = maker.input("float32", [(9, 9), (4, 7)])
        with maker.tried():
            moves.sliced(maker, x)
            steps |= {*maker.constants[maker.nodes[-1].input[4]].tolist()}
    assert steps == {1, 2, 3, -1, -2}


def test_edges_that_go_round_are_no_wider_than_what_there_is() -> None:
    seen = 0
    for seed in range(400):
        maker = Grower(Random(seed), 2)
        x = maker.input("float32", [(1, 1), (5, 5)])
        with maker.tried():
            moves.padded(maker, x)
            [mode] = [a.s for a in maker.nodes[-1].attribute if a.name == "mode"] or [b""]
            pads = maker.constants[maker.nodes[-1].input[1]]
            seen += mode == b"wrap"
            assert mode != b"wrap" or pads[[0, 2]].max() <= 1
    assert seen > 20


def test_what_rounds_has_noise() -> None:
    for seed in range(20):
        maker = Grower(Random(seed), 2)
        with maker.tried():
            found = reductions.softened(maker, maker.input("float32", [(3, 3), (4, 4)]))
            assert found.noise >= 0
            assert found.step == 1 or found.noise > 0
        with maker.tried():
            x = replace(maker.input("float32", [(3, 3), (4, 4)]), noise=1e-3, step=0.0)
            assert reductions.softened(maker, x).noise > 2 * x.noise


def test_floats_become_eight_bits() -> None:
    maker = Grower(Random(5), 2)
    x = maker.input("float32", [(3, 3), (4, 4)])
    assert quantised.quantised(maker, x).dtype in ("int8", "uint8")
    with pytest.raises(UnfitError):
        quantised.quantised(maker, maker.input("float16", [(3, 3)]))


def test_the_largest_of_integers_is_made_of_all_that_there_are() -> None:
    for dtype in ("int8", "int32", "int64", "uint8"):
        made = set()
        for seed in range(60):
            maker = Grower(Random(seed), 2)
            x = maker.input(dtype, [(3, 3)])
            with maker.tried():
                elementwise.arithmetic(maker, x)
                made |= {node.op_type for node in maker.nodes}
        assert {"Max", "Min", "Add", "Mul"} <= made


def test_a_program_that_is_written_can_be_carried_out() -> None:
    scripts = (written(Random(f"carried {seed}")) for seed in count())
    for made in islice((made for made in scripts if "tf.cond" in made.text), 5):
        with np.errstate(all="ignore"):
            next(programs.at_once(made))


def test_moments_of_a_profile_are_in_seconds() -> None:
    slices = [Slice("lane", "kind", "name", 2 * 10**9, 3 * 10**9)]
    profile = Profiled(SimpleNamespace(), limits=False, done=True)  # type: ignore[arg-type]
    vars(profile).update(
        timeline=SimpleNamespace(slices=slices, lost=0),
        critical_path=SimpleNamespace(as_json=list, length=10**9),
    )
    found = profile.as_json()
    assert (found["slices"][0]["start"], found["slices"][0]["seconds"]) == (2.0, 1.0)


def test_lines_of_counts_are_no_longer_than_they_may_be() -> None:
    one = {"a" * 38: 1}
    assert _counts({**one, "b" * 38: 1}) == [f"1 {'a' * 38}, 1 {'b' * 38}"]
    assert _counts({**one, "b" * 39: 1}) == [f"1 {'a' * 38},", f"1 {'b' * 39}"]


def test_passes_are_told_the_target_that_is_asked_for() -> None:
    text = b"model m(x: f32[2]) -> (y) { y = relu(x) }"
    for options in ({"target": "x86-64-v3"}, {"mattr": "+avx2"}, {"level": "O1", "to": "graph"}):
        found = gv.optimize(text, None if "level" in options else "dce", **options)  # type: ignore[arg-type]
        assert "gv.target" in found.program.module.attributes
    assert "gv.target" not in gv.optimize(text, "dce").program.module.attributes


def test_who_has_ended_is_not_told_to_have_done_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job("program.py", ranks=2)
    for name in ("0.pid", "1.pid", "0.done"):
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(jobs, "doing_of", lambda notes, rank: f"all_reduce {rank}")
    said = failure(tmp_path, job, 9, "")
    assert f"task {job.names()[1]} was in all_reduce 1" in said
    assert "all_reduce 0" not in said


def test_series_are_fitted_to_what_is_left_of_the_function() -> None:
    f = mp.mpf("0.0001")
    assert abs(fit_polynomials.log1p_tail(3, f, 2 * f).function(f) - mp.mpf(1) / 3) < 1e-3
    fit = fit_polynomials.atanh_tail(3, mp.mpf(2), mp.mpf(2) / 3)
    u = mp.mpf("0.01")
    s = mp.sqrt(u)
    assert abs(fit.weight(u) - s * u**2 / (2 * mp.atanh(s))) < 1e-12


def test_pipelines_of_numbers_go_through_steps_of_numbers() -> None:
    texts = " ".join(chained(Random(seed), most=5).text for seed in range(150))
    assert all(f".{step}(" in texts for step in ("batch", "scan", "window", "unique", "interleave"))


def test_libraries_say_what_they_need_of_the_processor(tmp_path: Path) -> None:
    for target, has in (("x86-64-v3", True), ("x86-64-v2", False)):
        path = tmp_path / f"{target}.so"
        text = b"model m(x: f32[8]) -> (y) { y = -x }"
        gv.compile(text, target=target).save(path)
        [line] = [row for row in str(LibraryInspection.of(path)).splitlines() if "needs" in row]
        assert ("avx2" in line) == has
        assert "nothing beyond" not in line
