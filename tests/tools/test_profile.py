"""Profiles: what is noted of which programs, the file for Perfetto, the chain of waits."""

from __future__ import annotations

import gzip
import json
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gravure as gv
import gravure.tf as tf
from gravure.errors import RuntimeInputError
from gravure.frontend.formats.messages import XSpace
from gravure.frontend.formats.profiles import write_profile
from gravure.frontend.programs import mistakes
from gravure.runtime.comm.local import run_ranks
from gravure.runtime.queues import Queue
from gravure.runtime.traces import recorder
from gravure.runtime.traces.chain import critical_path
from gravure.runtime.traces.chrome import chrome_trace, rows
from gravure.runtime.traces.timeline import Slice, Timeline
from gravure.runtime.tracing import EARS

MODELS = Path(__file__).parents[1] / "models"
DIGITS = MODELS / "digits.onnx"
IMAGE = np.linspace(0, 1, 64, dtype=np.float32).reshape(1, 1, 8, 8)
KEYS = {"ph", "pid", "tid", "name", "args"}


def checked(text: str) -> dict[str, Any]:
    """Return a trace, if it is in Chrome's format and each row's slices lie in each other."""
    data: dict[str, Any] = json.loads(text)
    names: dict[int, str] = {}
    open_ends: dict[int, list[float]] = {}
    for event in data["traceEvents"]:
        assert event.keys() >= KEYS, event
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name", "thread_sort_index")
            if event["name"] == "thread_name":
                assert event["tid"] not in names, "a row has one name"
                names[event["tid"]] = event["args"]["name"]
            continue
        assert event["ph"] == "X"
        assert isinstance(event["cat"], str)
        assert event["dur"] >= 0
        assert event["tid"] in names, "each row has a name"
        stack = open_ends.setdefault(event["tid"], [])
        while stack and stack[-1] <= event["ts"] + 1e-6:
            stack.pop()
        assert not stack or event["ts"] + event["dur"] <= stack[-1] + 1e-6, "slices overlap"
        stack.append(event["ts"] + event["dur"])
    assert len(set(names.values())) == len(names)
    return data


def kinds(found: Any) -> set[str]:
    return {each.kind for each in found.timeline.slices}


def test_launches_of_a_model_have_their_nodes_threads_and_limits(tmp_path: Path) -> None:
    model = gv.compile(DIGITS, threads=2)
    wanted = model(IMAGE)
    with gv.profile(tmp_path / "t.json") as found:
        np.testing.assert_array_equal(model(IMAGE), wanted)
        model.run({"image": IMAGE})
    launches = [s for s in found.timeline.slices if s.kind == "launch"]
    assert len(launches) == 2 * 5
    assert [s.name for s in launches[:3]] == [
        "scale, Mul_x0", "BatchNormalization_n1, Relu_x1", "BatchNormalization_n2, Relu_x2"
    ]  # fmt: skip
    assert launches[2].details["flops"] == 593920
    assert 0 < launches[2].details["limit_share"] < 2
    lanes = {s.lane for s in found.timeline.slices if s.kind == "part"}
    assert lanes <= {"MainThread", "gravure-1"}
    assert sum(s.details["parts"] for s in launches) == sum(
        s.kind == "part" for s in found.timeline.slices
    )
    data = checked((tmp_path / "t.json").read_text())
    assert data["otherData"]["lost"] == 0


def test_nobody_pays_who_is_not_listened_to() -> None:
    model = gv.compile(DIGITS)
    assert isinstance(model.call, types.BuiltinFunctionType)
    with gv.profile(limits=False):
        assert not isinstance(model.call, types.BuiltinFunctionType)
    assert isinstance(model.call, types.BuiltinFunctionType)
    assert EARS.count == 0
    with gv.profile(limits=False) as found, pytest.raises(RuntimeInputError):
        model(np.zeros(3, np.float32))
    assert isinstance(model.call, types.BuiltinFunctionType)
    assert found.timeline.slices == ()


def test_who_listens_takes_no_memory_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    model = gv.compile(DIGITS)
    call = model.call
    monkeypatch.setattr("gravure.runtime.model.aligned_bytes", lambda size: pytest.fail("memory"))
    for _ in range(2):
        with gv.profile(limits=False):
            pass
    assert model.call is call


def test_models_that_change_meanwhile_go_on_to_be_noted() -> None:
    with gv.profile(limits=False) as found:
        model = gv.compile(b"model m(x: f32[N, 64]) -> (y) { y = exp(x) }", dims={"N": (1, 9)})
        model(np.zeros((2, 64), np.float32))
        model.threads = 2
        model(np.zeros((3, 64), np.float32))
        model.close()
    costs = [s.details["functions"] for s in found.timeline.slices if s.kind == "launch"]
    assert costs == [128, 192]


def test_g6_functions_made_before_and_loaded_libraries_are_noted(tmp_path: Path) -> None:
    model = gv.compile(DIGITS)
    model.save(tmp_path / "digits.so")
    loaded = gv.load(tmp_path / "digits.so")
    again, call, bound = model.bind([IMAGE]), model.call, loaded.bind([IMAGE])
    wanted = again()[0].copy()
    with gv.profile(limits=False) as found:
        results = [again()[0], call(IMAGE), bound()[0], loaded(IMAGE)]
        inside = model.bind([IMAGE])
        results.append(inside()[0])
    for result in results:
        np.testing.assert_array_equal(result, wanted)
    kinds = [s.kind for s in found.timeline.slices]
    assert kinds.count("library") == 5
    assert kinds.count("launch") == 3 * 5
    with gv.profile(limits=False) as other:
        pass
    again(), call(IMAGE), bound(), inside()
    assert not other.timeline.slices
    assert len(found.timeline.slices) == len(kinds)


def test_g6_a_bound_function_that_is_listened_to_fails_as_before() -> None:
    text = b"model m(t: f32[5, 3], i: i64[2]) -> (y) { y = gather(t, i, axis=0) }"
    model, places = gv.compile(text), np.array([0, 4])
    table = np.ones((5, 3), np.float32)
    again = model.bind([table, places])
    with gv.profile(limits=False):
        again()
        barrier = threading.Barrier(2)
        faults: list[str] = []

        def many() -> None:
            barrier.wait()
            for _ in range(200):
                try:
                    again()
                except RuntimeInputError as error:
                    faults.append(str(error))

        others = [threading.Thread(target=many) for _ in range(2)]
        for other in others:
            other.start()
        for other in others:
            other.join()
    assert set(faults) <= {"this call is already running in another thread"}
    np.testing.assert_array_equal(again()[0], table[:2])


def test_each_turn_of_a_loop_is_a_launch() -> None:
    @gv.function
    def power(x: Any) -> Any:
        return gv.while_loop(lambda i, x: i < 7, lambda i, x: (i + 1, x * 2.0), (0, x))[1]

    x = gv.asarray(np.ones(3, np.float32))
    for _ in range(3):
        power(x)
    with gv.profile(limits=False) as found:
        assert power(x).numpy().tolist() == [128.0] * 3
    turns: dict[int, int] = {}
    for each in found.timeline.slices:
        if each.kind == "launch":
            turns[each.details["launch"]] = turns.get(each.details["launch"], 0) + 1
    assert 7 in turns.values()
    assert {"function", "library", "launch"} <= kinds(found)


def test_what_there_is_no_room_for_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "CAPACITY", 3)
    monkeypatch.setattr("gravure.codegen.profile.CAPACITY", 3)
    model = gv.compile(DIGITS)
    with gv.profile(limits=False) as found:
        model(IMAGE)
    assert found.timeline.lost == 2
    assert "2 parts were not noted" in str(found)


def test_eager_operations_sessions_and_errors() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [4], name="x")
        y = tf.reduce_sum(x * 2.0, name="total")
    model = gv.compile(b"model m(x: f32[4]) -> (y) { y = exp(x) }")
    with gv.profile(limits=False) as found:
        gv.exp(gv.asarray([1.0]))
        with tf.compat.v1.Session(graph=graph) as session:
            for _ in range(8):
                assert session.run(y, {x: np.ones(4)}) == 8
        with pytest.raises(RuntimeInputError):
            model(np.zeros(5, np.float32))
    names = {(s.kind, s.name) for s in found.timeline.slices}
    assert {("operation", "exp"), ("step", "total:0"), ("operation", "total")} <= names
    assert "launch" in kinds(found), "the last steps are compiled"


def test_queues_messages_and_devices_have_lanes() -> None:
    queue = Queue(2)
    model = gv.compile(
        b"model m(x: f32[8]) -> (y) { y = exp(x) + 1 }", target="cuda:sm_80", device="emulated"
    )
    with gv.profile(limits=False) as found:
        taker = threading.Thread(target=lambda: queue.take(1), name="taker")
        taker.start()
        queue.put([(np.zeros(1),)])
        taker.join()
        run_ranks(2, lambda comm: comm.all_reduce(np.ones(3)))
        model(np.zeros(8, np.float32))
    lanes = {(s.lane.rstrip("0123456789"), s.kind) for s in found.timeline.slices}
    assert ("queue ", "queue") in lanes
    assert ("messages of rank ", "message") in lanes
    assert {("emulated GPU stream", "copy"), ("emulated GPU stream", "launch")} <= lanes
    checked(chrome_trace(found.timeline))


def test_a_profile_is_complete_behind_its_context() -> None:
    with gv.profile(limits=False) as found, pytest.raises(gv.GravureError, match="being taken"):
        _ = found.timeline
    assert found.timeline.slices == ()
    assert found.critical_path.length == 0


@st.composite
def slices(draw: st.DrawFn) -> list[Slice]:
    """Return slices of two threads, those of each in each other, and of a queue, as they like."""
    found = []
    for lane in ("a", "b"):
        bounds: list[tuple[int, int]] = [(0, 1000)]
        for _ in range(draw(st.integers(0, 6))):
            low, high = draw(st.sampled_from(bounds))
            start = draw(st.integers(low, high))
            end = draw(st.integers(start, high))
            if all(end <= a or start >= b or (a <= start and end <= b) for a, b in bounds):
                bounds.append((start, end))
        found += [Slice(lane, "operation", f"{lane}{a}", a, b) for a, b in bounds[1:]]
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, 1000))
        found.append(Slice("queue 0", "queue", "take", start, draw(st.integers(start, 1100))))
    return sorted(found, key=lambda s: (s.start, -s.end))


@given(slices())
def test_the_chain_has_no_gaps_and_sums_to_the_whole(found: list[Slice]) -> None:
    timeline = Timeline(tuple(found), 0)
    chain = critical_path(timeline)
    if not found:
        assert chain.links == ()
        return
    first, last = min(s.start for s in found), max(s.end for s in found)
    assert chain.length == last - first
    ends = [first, *(link.end for link in chain.links)]
    assert [link.start for link in chain.links] == ends[:-1]
    assert ends[-1] == last


@given(slices())
def test_every_timeline_is_a_file_that_viewers_take(found: list[Slice]) -> None:
    data = checked(chrome_trace(Timeline(tuple(found), 0)))
    assert sum(event["ph"] == "X" for event in data["traceEvents"]) == len(found)
    assert sum(map(len, rows(found))) == len(found)


def test_the_chain_takes_the_slower_thread() -> None:
    found = [
        Slice("MainThread", "function", "f", 0, 100),
        Slice("MainThread", "part", "short", 10, 20),
        Slice("pool", "part", "long", 10, 80),
        Slice("MainThread", "operation", "last", 85, 95),
    ]
    links = critical_path(Timeline(tuple(found), 0)).links
    inside = "inside of function f"
    assert [(x.name, x.length) for x in links] == [
        (inside, 10), ("long", 70), (inside, 5), ("last", 10), (inside, 5)
    ]  # fmt: skip


def test_what_others_do_is_not_the_time_of_who_launched_it() -> None:
    found = [
        Slice("MainThread", "library", "model", 0, 100),
        Slice("launches of MainThread", "launch", "conv", 10, 90, {"parts": 1}),
        Slice("pool", "part", "conv", 10, 90, {"launch": 0}),
    ]
    links = critical_path(Timeline(tuple(found), 0)).links
    inside = "inside of library model"
    assert [(x.name, x.length) for x in links] == [(inside, 10), ("conv", 80), (inside, 10)]


def test_tensorflows_profiler_writes_where_its_folders_have_it(tmp_path: Path) -> None:
    with tf.profiler.experimental.Profile(str(tmp_path)):
        for step in range(2):
            with tf.profiler.experimental.Trace("train", step_num=step):
                tf.exp(tf.constant(1.0))
    (path,) = tmp_path.glob("plugins/profile/*/*.trace.json.gz")
    data = checked(gzip.decompress(path.read_bytes()).decode())
    assert {"train 0", "train 1", "exp"} <= {each["name"] for each in data["traceEvents"]}
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        tf.profiler.experimental.stop()
    with pytest.raises(tf.errors.UnimplementedError, match="python_tracer_level = 1"):
        tf.profiler.experimental.ProfilerOptions(python_tracer_level=1)
    tf.profiler.experimental.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
        tf.profiler.experimental.start(str(tmp_path))
    tf.profiler.experimental.stop(save=False)
    assert len([*tmp_path.glob("plugins/profile/*/*")]) == 2


def test_the_file_of_tensorboards_plugin_has_all_slices(tmp_path: Path) -> None:
    fused = {"operations": ["conv", "relu"]}
    found = [
        Slice("MainThread", "step", "train 7", 0, 90, {"step_num": 7}),
        Slice("MainThread", "function", "f", 5, 80, {}),
        Slice("pool", "part", "a/Conv_c1, Relu", 10, 30, {**fused, "limit_share": 0.5}),
        Slice("pool", "part", "a/Conv_c1, Relu", 40, 70, fused),
        Slice("queue", "queue", "q", 10, 30, {}),
        Slice("queue", "queue", "q", 20, 40, {}),
    ]  # fmt: skip
    path = write_profile(Timeline(tuple(found), 1_000), tmp_path)
    plane, about = XSpace.FromString(path.read_bytes()).planes
    names = {number: row.name for number, row in plane.event_metadata.items()}
    events = {
        line.name: [(names[e.metadata_id], e.offset_ps, e.duration_ps) for e in line.events]
        for line in plane.lines
    }
    assert events == {
        "MainThread": [("train", 0, 90_000), ("function f", 5_000, 75_000)],
        "pool": [
            ("a/Conv_c1__Relu:ConvRelu", 10_000, 20_000),
            ("a/Conv_c1__Relu:ConvRelu", 40_000, 30_000),
        ],
        "queue": [("queue q", 10_000, 20_000)],
        "queue (2)": [("queue q", 20_000, 20_000)],
    }
    labels = {number: row.name for number, row in plane.stat_metadata.items()}
    first = plane.lines[1].events[0].stats
    said = {labels[s.metadata_id]: getattr(s, s.WhichOneof("value")) for s in first}
    assert said == {"operations": "conv, relu", "limit_share": 0.5}
    assert [s.int64_value for s in about.stats] == [1_000, 1_090]


def test_summaries_of_functions_come_with_a_profile(tmp_path: Path) -> None:
    @tf.function
    def double(x: Any) -> Any:
        return x * 2.0

    tf.summary.trace_on(graph=True, profiler=True, profiler_outdir=str(tmp_path))
    double(tf.constant(1.0))
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_export("double", step=0)
    assert [*tmp_path.glob("plugins/profile/*/*.trace.json.gz")]


def test_the_command_writes_for_tensorboard(gravure: Any, models: Path, tmp_path: Path) -> None:
    arguments = ["profile", models / "mlp.onnx", "--tensorboard", tmp_path / "logs", "--no-limits"]
    assert gravure(*arguments).status == 0
    (path,) = (tmp_path / "logs").glob("plugins/profile/*/*.xplane.pb")
    names = {m.name for m in XSpace.FromString(path.read_bytes()).planes[0].event_metadata.values()}
    assert any(name.endswith(":MatmulPackedAddRelu") for name in names), names


def test_the_command_profiles_programs_and_models(gravure: Any, tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(
        "import sys\nimport gravure as gv\nassert sys.argv[1:] == ['--epochs', '2']\n"
        "for _ in range(3):\n    gv.exp(gv.asarray([1.0]))\nsys.exit(0)\n"
    )
    trace = tmp_path / "t.json"
    found = gravure("profile", program, "-o", trace, "--args", "--epochs 2", "--no-limits")
    assert found.status == 0, found.err
    assert "exp" in found.out
    checked(trace.read_text())
    chain = gravure("profile", DIGITS, "--runs", "3", "--critical-path", "--json", "--no-limits")
    path = chain.json["critical_path"]
    assert sum(link["seconds"] for link in path["links"]) == pytest.approx(chain.json["seconds"])
    assert {"part", "between"} == {link["kind"] for link in path["links"]}
    assert sum(row["kind"] == "library" for row in chain.json["slices"]) == 3
    refused = gravure("profile", DIGITS, "--args", "x")
    assert (refused.status, "is no program" in refused.err) == (2, True)


GIVEN = """
def divided(x):
    return 1 / x

def checked(x):
    assert x, (
        "x is 0"
    )

def missing(x):
    return x.nothing

def said(x):
    assert not x, "before it"
    raise ValueError(f"{x}, expected 1")

def said_to_be_so(x):
    assert not x, "before it"
    raise AssertionError("x is 0")

def handed_on(*args):
    return divided(*args)

def called(function):
    return function()

class Asked:
    parts = {}
    def __getattr__(self, name):
        return self.parts[name]
"""
"""Stands for a file of gravure."""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import gravure as gv\n1 / 0\n", "train.py:2: ZeroDivisionError: division by zero"),
        ("def f(:\n", "train.py:1: SyntaxError: invalid syntax"),
        ("import gravure as gv\ngv.ones((2,)) + gv.ones((3,))\n", "do not broadcast"),
    ],
)
def test_what_a_program_raises_is_its_own(
    gravure: Any, tmp_path: Path, text: str, told: str
) -> None:
    program = tmp_path / "train.py"
    program.write_text(text)
    found = gravure("profile", program, "--no-limits")
    assert found.status == 65
    assert told in found.err
    assert "mistake in gravure" not in found.err


@pytest.mark.parametrize(
    ("text", "is_ours"),
    [
        ("given.divided(0)", True),
        ("given.checked(0)", True),
        ("given.missing(0)", True),
        ("given.said(0)", False),
        ("given.said_to_be_so(0)", False),
        ("given.handed_on(1, 2, 3)", False),
        ("given.Asked().name", False),
        ("given.called(lambda: 1 / 0)", False),
        ("1 / 0", False),
    ],
)
def test_what_python_raises_in_gravure_is_our_mistake(
    gravure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_ours: bool
) -> None:
    source = tmp_path / "given.py"
    source.write_text(GIVEN)
    monkeypatch.setattr(mistakes, "PACKAGE", str(source))
    program = tmp_path / "train.py"
    program.write_text(f"import given\n{text}\n")
    found = gravure("profile", program, "--no-limits")
    del sys.modules["given"]
    assert found.status == (70 if is_ours else 65)
    assert ("mistake in gravure" in found.err) == is_ours
    assert ("train.py:2" in found.err) != is_ours


def test_a_run_of_the_command_can_be_traced(gravure: Any, tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    assert gravure("run", DIGITS, "--trace", trace).status == 0
    names = {event.get("cat") for event in checked(trace.read_text())["traceEvents"]}
    assert {"library", "launch", "part"} <= names
