"""Summaries: what they hold, the files that they are in, and TensorBoard, which reads these."""

import gzip
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.formats.messages import GraphDef
from gravure.frontend.formats.summaries import histogram, limits

v1 = tf.compat.v1


def events(folder):
    """Return the events in the files of a folder."""
    paths = sorted(map(str, Path(folder).glob("events.out.tfevents.*")))
    return [v1.Event.FromString(record.numpy()) for record in tf.data.TFRecordDataset(paths)]


def values(folder):
    """Return step, tag and value of all summaries of a folder."""
    return [(e.step, v.tag, v) for e in events(folder) for v in e.summary.value]


def run(make):
    """Return the summary that an operation of the first version gives."""
    with tf.Graph().as_default(), v1.Session() as session:
        return v1.Summary.FromString(session.run(make()))


def test_a_scalar_of_the_first_version():
    made = run(lambda: v1.summary.scalar("loss", tf.constant(2.5)))
    assert [(v.tag, v.simple_value) for v in made.value] == [("loss", 2.5)]


def test_tags_are_names_within_scopes():
    with tf.Graph().as_default():
        with v1.name_scope("a"):
            first = v1.summary.scalar("h", tf.constant(1.0))
            second = v1.summary.scalar("h", tf.constant(1.0))
        assert [first.op.name, second.op.name] == ["a/h", "a/h_1"]
        assert v1.get_default_graph().get_collection("summaries") == [first, second]


def test_a_histogram_has_tensorflows_parts():
    made = run(lambda: v1.summary.histogram("h", tf.constant([1.0, 2.0, 2.5, -3.0, 0.0, 1e-13])))
    histo = made.value[0].histo
    assert (histo.min, histo.max, histo.num, histo.sum_squares) == (-3, 2.5, 6, 20.25)
    assert histo.bucket == [0, 1, 0, 2, 0, 1, 0, 1, 0, 1, 0]
    assert histo.bucket_limit[1:4] == [-2.8787120958073054, 0, 1e-12]
    assert histo.bucket_limit[4:7] == [0.917246389039776, 1.0089710279437536, 1.9661990955585713]


def test_numbers_beside_the_limits_of_a_histogram_are_in_the_right_parts():
    edges = limits()
    near = [np.nextafter(edges[1:-1], to) for to in (-np.inf, np.inf)]
    many = np.random.default_rng(0).standard_normal(5000) * np.logspace(-14, 22, 5000)
    for values in (np.concatenate([edges, *near, many, [0.0, -0.0, 5e-324, -5e-324]]), many[::3]):
        made = histogram(values)
        found = dict(zip(made.bucket_limit, made.bucket, strict=True))
        places = np.minimum(np.searchsorted(edges, values, "right"), len(edges) - 1)
        for place, count in enumerate(np.bincount(places)):
            assert found.get(edges[place], 0) == count


def test_a_histogram_of_what_is_no_number_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Nan in summary histogram for: h"):
        run(lambda: v1.summary.histogram("h", tf.constant([1.0, np.nan])))


def test_images_are_scaled_to_bytes():
    given = np.array([[[[-1.0], [0.0]], [[0.5], [1.0]]]], np.float32)
    made = run(lambda: v1.summary.image("im", tf.constant(given), max_outputs=1))
    image = made.value[0].image
    assert (made.value[0].tag, image.height, image.width, image.colorspace) == ("im/image", 2, 2, 1)
    pixels = tf.io.decode_png(image.encoded_image_string).numpy().ravel().tolist()
    assert pixels == [1, 128, 191, 255]


def test_merged_summaries_have_each_tag_once():
    with tf.Graph().as_default(), v1.Session() as session:
        assert v1.summary.merge_all() is None
        a, b = (v1.summary.scalar(n, tf.constant(1.0)) for n in "ab")
        merged = v1.Summary.FromString(session.run(v1.summary.merge_all()))
        assert [v.tag for v in merged.value] == ["a", "b"]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag a"):
            session.run(v1.summary.merge([a, b, a]))


def test_a_file_writer_writes_steps_and_the_graph(tmp_path):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        with tf.name_scope("layer"):
            y = tf.reduce_sum(x * 2.0, name="y")
        summary = v1.summary.scalar("total", y)
        writer = v1.summary.FileWriter(str(tmp_path), graph)
        for step in range(3):
            writer.add_summary(session.run(summary, {x: np.full([1, 3], step)}), step)
        writer.close()
    found = events(tmp_path)
    assert found[0].file_version == "brain.Event:2"
    nodes = {n.name: n for n in graph_of(found[1]).node}
    assert nodes["layer/y"].op == "Sum"
    assert list(nodes["layer/y"].input) == [nodes["layer/y"].input[0]]
    assert [d.size for d in nodes["x"].attr["_output_shapes"].list.shape[0].dim] == [-1, 3]
    assert [(s, t, v.simple_value) for s, t, v in values(tmp_path)] == [
        (0, "total", 0.0), (1, "total", 6.0), (2, "total", 12.0),
    ]  # fmt: skip


def graph_of(event):
    """Return the graph of an event."""
    return GraphDef.FromString(event.graph_def)


def test_summaries_of_the_second_version(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=4), tf.name_scope("net"):
        assert bool(tf.summary.scalar("loss", 0.5))
        tf.summary.histogram("w", np.arange(10.0), buckets=5)
        tf.summary.text("note", "hello")
        tf.summary.image("im", np.zeros((2, 3, 4, 1), np.uint8), max_outputs=1)
    found = values(tmp_path)
    assert [(s, t, v.metadata.plugin_data.plugin_name) for s, t, v in found] == [
        (4, "net/loss", "scalars"), (4, "net/w", "histograms"), (4, "net/note", "text"),
        (4, "net/im", "images"),
    ]  # fmt: skip
    assert tf.io.parse_tensor(found[0][2].tensor.SerializeToString(), tf.float32).numpy() == 0.5
    rows = tf.io.parse_tensor(found[1][2].tensor.SerializeToString(), tf.float64).numpy()
    assert rows[:, 2].tolist() == [2, 2, 2, 2, 2]
    assert rows[0, 0] == 0
    assert rows[-1, 1] == 9
    sizes = found[3][2].tensor.string_val
    assert (sizes[0], sizes[1], len(sizes)) == (b"4", b"3", 3)


def test_summaries_in_a_function_have_the_steps_of_its_runs(tmp_path):
    step = tf.Variable(np.int64(0))

    @tf.function
    def train(x):
        step.assign_add(1)
        with tf.summary.record_if(tf.equal(step % 2, 0)):
            tf.summary.scalar("even", x, step=step)
        return x * 2

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for i in range(4):
            train(tf.constant(float(i)))
    assert [(s, t) for s, t, _ in values(tmp_path)] == [(2, "even"), (4, "even")]


def test_without_a_writer_nothing_is_written_and_a_step_is_needed(tmp_path):
    assert not bool(tf.summary.scalar("x", 1.0, step=0))
    with (
        tf.summary.create_file_writer(str(tmp_path)).as_default(),
        pytest.raises(ValueError, match="No step set"),
    ):
        tf.summary.scalar("x", 1.0)
    tf.summary.experimental.set_step(3)
    assert tf.summary.experimental.get_step() == 3
    tf.summary.experimental.set_step(None)


def test_a_trace_holds_the_graphs_of_functions(tmp_path):
    @tf.function
    def double(x):
        return x * 2.0

    tf.summary.trace_on(graph=True)
    double(tf.constant(1.0))
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_export("double", step=0)
    ((_, tag, value),) = values(tmp_path)
    assert (tag, value.metadata.plugin_data.plugin_name) == ("double", "graph_run_metadata_graph")
    with pytest.raises(ValueError, match="Must enable trace before export"):
        tf.summary.trace_export("double", step=0)


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """Give a function that asks a running TensorBoard, which reads what is written before."""
    if find_spec("tensorboard") is None:
        pytest.skip("tensorboard is not installed (extra dev)")
    folder = tmp_path_factory.mktemp("runs")
    write_a_run(folder / "old", folder / "new")
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--port", "0",
               "--load_fast", "false", "--reload_interval", "1"]  # fmt: skip
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as process:
        try:
            yield asking(process)
        finally:
            process.kill()


def asking(process):
    """Return what asks a TensorBoard once it says where it is."""
    for line in process.stderr:
        found = re.search(rb"http://[^ :]+:(\d+)", line)
        if found:
            root = f"http://127.0.0.1:{int(found[1])}/data/plugin/"
            return lambda path: _answer(root + path)
    raise AssertionError("TensorBoard did not start")


def _answer(url):
    for _ in range(60):
        with urllib.request.urlopen(url, timeout=30) as answer:
            data = answer.read()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        if data.strip() not in (b"{}", b"[]", b""):
            return data.decode()
        time.sleep(0.5)
    return "{}"


def write_a_run(old, new):
    """Write summaries of both versions."""
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name="x")
        with tf.name_scope("tower"):
            total = tf.reduce_sum(x, name="total")
        merged = v1.summary.merge(
            [v1.summary.scalar("loss", total), v1.summary.histogram("weights", x)]
        )
        with v1.summary.FileWriter(str(old), graph) as writer:
            for step in range(4):
                writer.add_summary(session.run(merged, {x: np.arange(step + 1.0)}), step)

    @tf.function
    def double(v):
        return v * 2.0

    tf.summary.trace_on(graph=True, profiler=True, profiler_outdir=str(new))
    for step in range(3):
        with tf.profiler.experimental.Trace("train", step_num=step):
            double(tf.constant(1.0))
    with tf.summary.create_file_writer(str(new)).as_default():
        for step in range(3):
            tf.summary.scalar("accuracy", step / 2, step=step)
            tf.summary.histogram("spread", np.arange(20.0) * step, step=step)
        tf.summary.image("picture", np.zeros((1, 2, 2, 3), np.float32), step=0)
        tf.summary.text("note", "hello *board*", step=0)
        tf.summary.trace_export("double", step=0)


@pytest.mark.slow
def test_tensorboard_shows_scalars(board):
    tags = json.loads(board("scalars/tags"))
    assert set(tags["old"]) == {"loss"}
    assert set(tags["new"]) == {"accuracy"}
    found = json.loads(board("scalars/scalars?run=old&tag=loss"))
    assert [(step, value) for _, step, value in found] == [(0, 0.0), (1, 1.0), (2, 3.0), (3, 6.0)]


@pytest.mark.slow
def test_tensorboard_shows_histograms(board):
    assert set(json.loads(board("histograms/tags"))["old"]) == {"weights"}
    found = json.loads(board("histograms/histograms?run=new&tag=spread"))
    assert [step for _, step, _ in found] == [0, 1, 2]
    assert sum(count for _, _, count in found[2][2]) == 20


@pytest.mark.slow
def test_tensorboard_draws_the_graph(board):
    info = json.loads(board("graphs/info"))
    assert info["old"]["run_graph"]
    assert info["new"]["tags"]["double"]["op_graph"]
    drawn = board("graphs/graph?run=old&conceptual=false")
    assert 'name: "tower/total"' in drawn
    assert 'op: "Mul"' in board("graphs/graph?run=new&tag=double&conceptual=false")


@pytest.mark.slow
def test_tensorboard_shows_images_and_texts(board):
    assert set(json.loads(board("images/tags"))["new"]) == {"picture"}
    assert set(json.loads(board("text/tags"))["new"]) == {"note"}
    assert "hello" in board("text/text?run=new&tag=note")


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("tensorboard_plugin_profile") is None, reason="the plug-in is not installed (dev)"
)
def test_tensorboard_shows_the_profile(board):
    [run] = json.loads(board("profile/runs"))
    assert "trace_viewer@" in json.loads(board(f"profile/run_tools?run={run}"))
    [host] = json.loads(board(f"profile/hosts?run={run}&tag=trace_viewer"))
    data = f"profile/data?run={run}&host={host['hostname']}&tag="
    drawn = json.loads(board(f"{data}trace_viewer"))["traceEvents"]
    assert {"train 0", "double"} <= {each["name"] for each in drawn if each}  # not what is tiny
    rows = json.loads(board(f"{data}framework_op_stats"))[1]["rows"]
    assert "Mul" in {cell["v"] for row in rows for cell in row["c"] if cell}


@pytest.mark.parametrize("form", [str, os.fsencode, Path, lambda p: tf.constant(str(p))])
def test_the_folder_of_a_writer_is_a_path_of_any_form(tmp_path, form):
    with tf.summary.create_file_writer(form(tmp_path / "a")).as_default(step=1):
        tf.summary.scalar("x", 2.0)
    assert [row[1] for row in values(tmp_path / "a")] == ["x"]
    with v1.Graph().as_default() as graph:
        v1.summary.FileWriter(form(tmp_path / "b"), graph).close()
        tf.io.write_graph(graph, form(tmp_path / "c"), "g.pb", as_text=False)
    assert len(list((tmp_path / "b").iterdir())) == 1
    assert (tmp_path / "c" / "g.pb").exists()


@pytest.mark.parametrize("make", [
    tf.summary.create_file_writer, v1.summary.FileWriter, v1.train.summary_iterator,
    lambda x: tf.io.write_graph(v1.Graph(), x, "g.pb"),
])  # fmt: skip
def test_a_folder_that_only_a_run_knows_is_refused(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)
    with v1.Graph().as_default():
        for path in (v1.placeholder(tf.string, [], name="where"), 5):
            with pytest.raises(TypeError, match=r"where:0.*has no value before|5 is no path"):
                make(path)
    assert not list(tmp_path.iterdir())


def test_a_writer_that_is_entered_in_a_function_is_flushed_in_each_run(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function
    def step(number):
        with writer.as_default():
            return tf.summary.write("tag", 1, step=number)

    def count():
        (path,) = tmp_path.iterdir()
        return len([*tf.compat.v1.train.summary_iterator(str(path))])

    for number in range(3):
        assert step(tf.constant(number, tf.int64))
        assert count() == number + 2


def test_a_writer_that_writes_nothing_leaves_the_others_to_write(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        with tf.summary.create_noop_writer().as_default():
            assert tf.summary.write("tag", 1, step=1)
        with tf.summary.record_if(False):
            assert not tf.summary.write("tag", 1)
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.write("tag", 1)


def test_summaries_of_the_first_version_are_made_at_once_in_eager_code():
    with tf.name_scope("q"):
        with pytest.warns(UserWarning, match="writer not found"):
            made = v1.summary.scalar("a", 1.5, family="f")
        with pytest.warns(UserWarning, match="writer not found"):
            shown = v1.summary.text("t", tf.constant("x"))
    assert v1.Summary.FromString(made.numpy()).value[0].tag == "f/q/f/a"
    assert v1.Summary.FromString(shown.numpy()).value[0].metadata.plugin_data.plugin_name == "text"
    with pytest.raises(RuntimeError, match="not compatible with eager"):
        v1.summary.merge([made])
    with pytest.raises(RuntimeError, match="not compatible with eager"):
        v1.summary.merge_all()


@pytest.mark.parametrize("staged", [False, True])
def test_summaries_of_the_first_version_go_to_a_writer_that_is_entered(tmp_path, staged):
    def put(x):
        v1.summary.histogram("h", [x, 2.0])
        v1.summary.image("i", tf.zeros([2, 3, 3, 1]))
        v1.summary.audio("s", tf.zeros([2, 5]), 100.0)
        return v1.summary.scalar("a", x, family="f")

    run = tf.function(put) if staged else put
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=4):
        assert run(1.0).numpy() == b""
    with writer.as_default(), pytest.warns(UserWarning, match="step not set"):
        assert v1.summary.scalar("b", 1.0).numpy() != b""
    writer.close()
    assert [(step, tag) for step, tag, _ in values(tmp_path)] == [
        (4, "h"), (4, "i"), (4, "s"), (4, "f/f/a"),
    ]  # fmt: skip


def test_a_writer_of_a_graph_begins_and_ends_its_file_in_runs(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        writer = tf.summary.create_file_writer(str(tmp_path))
        with writer.as_default(step=1):
            write = tf.summary.write("tag", 1.0)
        for _ in range(3):
            session.run(writer.init())
            session.run(write)
            session.run(writer.flush())
            session.run(writer.close())
    assert len(list(tmp_path.iterdir())) == 3
    assert [(step, tag) for step, tag, _ in values(tmp_path)] == [(1, "tag")] * 3


def test_a_writer_that_is_made_in_a_function_begins_where_it_is_traced(tmp_path):
    kept = []

    @tf.function
    def make(folder):
        kept.append(tf.summary.create_file_writer(folder))

    make(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(ValueError, match=r"Invalid graph Tensor argument.*logdir"):
        tf.function(lambda: tf.summary.create_file_writer(tf.constant("a")))()
    with pytest.raises(ValueError, match="cannot be None"):
        tf.summary.create_file_writer(None)


def test_what_a_writer_and_its_queue_refuse(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=1, flush_millis=999999)
    with writer.as_default(step=0):
        tf.summary.write("tag", 1)
        assert len(events(tmp_path)) == 1
        tf.summary.write("tag", 1)
        assert len(events(tmp_path)) == 3
        with pytest.raises(tf.errors.DataLossError, match=r"Bad .*Summary binary proto"):
            tf.summary.experimental.write_raw_pb("notaproto")
    for value in (1, "x", ()):
        with pytest.raises(ValueError, match="Invalid argument to flush"):
            tf.summary.flush(value)
    writer.close()
    writer.close()
    writer.flush()
    for use in (writer.init, writer.set_as_default, writer.as_default().__enter__):
        with pytest.raises(RuntimeError, match="already closed"):
            use()


def test_several_messages_of_summaries_are_one_event(tmp_path):
    parts = [v1.Summary(), v1.Summary()]
    for i, n in enumerate((2, 1)):
        for k in range(n):
            parts[i].value.add(simple_value=10.0 * i + k)
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        assert tf.summary.experimental.write_raw_pb([p.SerializeToString() for p in parts], step=2)
    _, event = events(tmp_path)
    assert [v.simple_value for v in event.summary.value] == [0.0, 1.0, 10.0]


@pytest.mark.parametrize("form", [lambda m: m, lambda m: m.SerializeToString(),
                                  lambda m: tf.constant(m.SerializeToString())])  # fmt: skip
def test_what_says_how_a_summary_is_shown_is_a_message_or_its_bytes(tmp_path, form):
    shown = v1.SummaryMetadata()
    shown.plugin_data.plugin_name = "foo"
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.write("tag", 0, 0, metadata=form(shown))
    assert values(tmp_path)[0][2].metadata == shown


def test_a_summary_has_its_operations_name_and_a_scope_of_letters(tmp_path):
    names = []

    @tf.function
    def put():
        names.append(tf.summary.write("tag", 42, step=12, name="mine").name)

    put()
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.function(put.python_function)()
    assert [n.partition(":")[0].partition("/")[0] for n in names] == ["mine", "mine"]
    with tf.summary.experimental.summary_scope("f?o?o") as (tag, scope):
        assert (tag, scope) == ("f?o?o", "foo/")
    with tf.summary.experimental.summary_scope("???", "backup") as (tag, scope):
        assert (tag, scope) == ("???", "backup/")


def test_graphs_as_messages_are_written_and_others_refused(tmp_path):
    graph = tf.function(lambda: tf.constant(1) + 2).get_concrete_function().graph
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.graph(graph.as_graph_def())
        with pytest.raises(ValueError, match=r"'graph_data' is not tf.Graph"):
            tf.summary.graph("hello")
        with pytest.raises(ValueError, match=r"graph\(\) cannot be invoked inside a graph"):
            tf.function(lambda: tf.summary.graph(graph))()
    assert GraphDef.FromString(events(tmp_path)[1].graph_def).node
    tf.function(tf.summary.trace_on)()
    tf.function(lambda: tf.summary.trace_export("t", step=0))()
    with pytest.raises(ValueError, match="Must enable trace"):
        tf.summary.trace_export("t", step=0)
