"""Values that go between devices, tasks and ranks as the upper 16 bits of their numbers."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.runtime.comm.halves import refilled, upper_halves
from gravure.runtime.comm.local import LocalComm, run_ranks
from gravure.runtime.comm.mailbox import Mailbox
from gravure.runtime.comm.protocol import WorldError
from gravure.tools.launching.jobs import Job

from .test_servers import ONE_PS, on_tasks

v1 = tf.compat.v1
X = np.float32([[1.2345678, -3.3333333], [1e-40, 7.0000005], [np.inf, -0.0]])


def cut(x: Any) -> Any:
    """Return numbers with zeros for the lower halves of their bits."""
    return (np.asarray(x, np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)


def narrow(on: bool = True) -> Any:
    config = v1.ConfigProto(device_count={"CPU": 3})
    config.graph_options.enable_bfloat16_sendrecv = on
    return config


def test_e6_zeros_are_filled_in_for_what_is_cut_off() -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, (7, 11), np.uint32)
    x = bits.view(np.float32)
    for value in (x, x[::2, ::-3], x.T, x[0, 0], x[:0], np.asarray(x[3, 3])):
        sent: Any = upper_halves(value)
        assert 2 * sent.nbytes == np.asarray(value).nbytes
        came: Any = refilled(pickle.loads(pickle.dumps(sent)))
        wanted = np.ascontiguousarray(value).view(np.uint32).reshape(np.shape(value)) & 0xFFFF0000
        assert came.shape == np.shape(value)
        assert came.tobytes() == wanted.tobytes()
    for whole in (x.astype(np.float64), np.int32([1]), np.float16([1]), None, "text", b"x"):
        assert upper_halves(whole) is whole
        assert refilled(whole) is whole


def on_devices(there: str, here: str) -> Any:
    """Return a graph whose values go from a device to another, to two who use them, and back."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [3, 2], name="x")
        k = v1.placeholder(tf.int32, [3], name="k")
        with tf.device(there):
            made, count = tf.identity(x, name="made"), tf.identity(k * 70001, name="count")
        with tf.device(here):
            same = tf.identity(made, name="same")
            more = tf.negative(made, name="more")
            whole = tf.identity(count, name="whole")
        with tf.device(there):
            back = tf.identity(same, name="back")
    return graph, [x, k], [same, more, whole, back, made]


def check_cut(found: Any, bits: int) -> None:
    came = cut(X) if bits == 16 else X
    same, more, whole, back, made = found
    np.testing.assert_array_equal(same.view(np.uint32), came.view(np.uint32))
    np.testing.assert_array_equal(more.view(np.uint32), (-came).view(np.uint32))
    np.testing.assert_array_equal(back.view(np.uint32), came.view(np.uint32))
    np.testing.assert_array_equal(made.view(np.uint32), X.view(np.uint32))
    np.testing.assert_array_equal(whole, np.int32([1, 2, 3]) * 70001)


@pytest.mark.parametrize("bits", [16, 32])
def test_e6_devices_of_one_process(bits: int) -> None:
    graph, feeds, wanted = on_devices("/cpu:1", "/cpu:2")
    fed = dict(zip(feeds, [X, np.int32([1, 2, 3])], strict=True))
    with v1.Session(graph=graph, config=narrow(bits == 16)) as session:
        for _ in range(7):  # interpreted, then compiled
            check_cut(session.run(wanted, fed), bits)
        found = session.explain_placement(wanted, feeds)
    sent = {row.tensor: (row.bytes, row.is_cut) for row in found.transfers}
    assert sent == {
        "made:0": (24 * bits // 32, bits == 16), "count:0": (12, False),
        "same:0": (24 * bits // 32, bits == 16),
    }  # fmt: skip


def test_e6_tasks_send_half_the_bytes_and_as_many_as_are_said(monkeypatch: Any) -> None:
    counted: list[int] = []
    send = Mailbox.send

    def watched(self: Mailbox, key: Any, value: Any, to: int) -> None:
        before = self.counted
        send(self, key, value, to)
        if key[0] == "value":
            counted.append(self.counted - before)

    monkeypatch.setattr(Mailbox, "send", watched)

    def work(server: Any, index: int) -> Any:
        graph, feeds, wanted = on_devices("/job:ps/task:0", "/job:worker/task:0")
        fed = dict(zip(feeds, [X, np.int32([1, 2, 3])], strict=True))
        said = []
        for on in (False, True):
            counted.clear()
            with v1.Session(server.target, graph=graph, config=narrow(on)) as session:
                for _ in range(2):
                    check_cut(session.run(wanted, fed), 16 if on else 32)
                said.append((sum(counted), 2 * session.explain_placement(wanted, feeds).bytes))
        return said

    [(whole, told), (half, told_half)] = on_tasks(ONE_PS, work)["worker:0"]
    assert (whole, half) == (told, told_half) == (2 * (24 + 12 + 24), 2 * (12 + 12 + 12))


def test_e6_single_edges_by_an_attribute_that_files_keep() -> None:
    def work(server: Any, index: int) -> None:
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [3, 2], name="x")
            with tf.device("/job:ps/task:0"):
                one, both = tf.identity(x, name="one"), tf.identity(x, name="both")
            with tf.device("/job:worker/task:0"):
                with gv.distributed.transfer_bits(16):
                    a, b = tf.identity(one, name="a"), tf.identity(both, name="b")
                c = tf.identity(both, name="c")  # wants it whole, so that it comes whole
        with tf.Graph().as_default() as again:
            tf.import_graph_def(graph.as_graph_def(), name="")
        for each in (graph, again):
            with v1.Session(server.target, graph=each) as session:
                found = session.run(["a:0", "b:0", "c:0"], {"x:0": X})
                rows = session.explain_placement(["a:0", "b:0", "c:0"], ["x:0"]).transfers
            for value, wanted in zip(found, [cut(X), X, X], strict=True):
                np.testing.assert_array_equal(value.view(np.uint32), wanted.view(np.uint32))
            assert [row.is_cut for row in rows] == [True, False]
        with v1.Session(server.target, graph=graph, config=narrow()) as session:
            np.testing.assert_array_equal(session.run([a, b, c], {x: X}), [cut(X)] * 3)

    on_tasks(ONE_PS, work)


def test_e6_what_loops_of_several_tasks_carry_goes_so_too() -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:

            def body(i: Any, x: Any) -> Any:
                with tf.device("/job:ps/task:0"):
                    y = x * 1.1
                with tf.device("/job:worker/task:0"):
                    return i + 1, y + 0.3

            with tf.device("/job:worker/task:0"):
                start = v1.placeholder_with_default(np.float32([1.7]), [1])
                loop = tf.while_loop(lambda i, x: i < 5, body, (0, start))[1]
        found = []
        for on in (True, False):
            with v1.Session(server.target, graph=graph, config=narrow(on)) as session:
                found.append(session.run(loop))
        return found

    half, whole = on_tasks(ONE_PS, work)["worker:0"]
    x = exact = np.float32([1.7])
    for _ in range(5):
        x = cut(cut(x) * np.float32(1.1)) + np.float32(0.3)
        exact = exact * np.float32(1.1) + np.float32(0.3)
    np.testing.assert_array_equal(half, x)
    np.testing.assert_array_equal(whole, exact)


def test_e6_gradients_go_back_over_what_was_cut() -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2])
        with tf.device("/cpu:1"):
            y = x * 1.1
        with tf.device("/cpu:2"):
            z = tf.reduce_sum(y * y)
        slope = tf.gradients(z, x)[0]
    with v1.Session(graph=graph, config=narrow()) as session:
        found = [session.run(slope, {x: [1.3, -2.7]}) for _ in range(7)]
    exact = 2 * 1.1 * 1.1 * np.float32([1.3, -2.7])
    assert all(f.tobytes() == found[0].tobytes() for f in found)
    np.testing.assert_allclose(found[0], exact, rtol=0.02)
    assert (found[0] != exact).any()


def test_e6_is_off_where_nobody_asks_and_on_for_a_whole_launch(
    monkeypatch: Any, tmp_path: Path
) -> None:
    graph, feeds, wanted = on_devices("/cpu:1", "/cpu:2")
    fed = dict(zip(feeds, [X, np.int32([1, 2, 3])], strict=True))
    plain = v1.ConfigProto(device_count={"CPU": 3})
    for bits in (32, 16):
        with v1.Session(graph=graph, config=plain) as session:
            check_cut(session.run(wanted, fed), bits)
        monkeypatch.setenv("GRAVURE_TRANSFER_BITS", "16")
    monkeypatch.setenv("GRAVURE_TRANSFER_BITS", "8")
    with pytest.raises(WorldError, match="GRAVURE_TRANSFER_BITS='8', expected 16 or 32"):
        v1.Session(graph=graph, config=plain)
    path = v1.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    table = gv.explain_placement(path, ["same", "whole"], ["x", "k"], cpus=3, bits=16)
    assert "12 bytes (upper 16 bits)" in str(table)
    assert [row["is_cut"] for row in table.as_json()["transfers"]] == [True, False]
    with pytest.raises(ValueError, match=r"transfer_bits\(8\), expected 16 or 32"):
        gv.distributed.transfer_bits(8).__enter__()
    with pytest.raises(ValueError, match="not for eager ones"):
        gv.distributed.transfer_bits(16).__enter__()


def test_e6_stages_of_a_pipeline_give_each_other_half_the_bytes(
    monkeypatch: Any, tmp_path: Path
) -> None:
    path = tmp_path / "m.parallel.json"
    model = b"model m(x: f32[4, 3]) -> (y) { a = exp(x)  b = cos(x)  y = tanh(a) + b }"
    gv.compile_parallel(model, path, "pipeline=2")
    x = np.random.default_rng(3).normal(size=(4, 3)).astype(np.float32)
    given: list[int] = []
    exchange = LocalComm.exchange

    def watched(self: LocalComm, value: Any, operation: str) -> list[Any]:
        given.append(getattr(value, "nbytes", 0))
        return exchange(self, value, operation)

    monkeypatch.setattr(LocalComm, "exchange", watched)
    results, counts = [], []
    for bits in ("32", "16"):
        monkeypatch.setenv("GRAVURE_TRANSFER_BITS", bits)
        given.clear()
        ranks = run_ranks(2, lambda _: gv.load(path).run({"x": x}))
        assert ranks[0][0].tobytes() == ranks[1][0].tobytes()
        results.append(ranks[0][0])
        counts.append(sum(given))
    assert counts[0] == 2 * counts[1] > 0
    np.testing.assert_allclose(results[1], results[0], rtol=0.05, atol=0.05)
    assert (results[1].view(np.uint32) & 0xFFFF == 0).all()
    assert (results[0].view(np.uint32) & 0xFFFF != 0).any()


def test_a_launch_tells_its_ranks_how_many_bits_to_send() -> None:
    told = Job("p.py", bits=16).environment("mpiexec")
    assert told["GRAVURE_TRANSFER_BITS"] == "16"
    assert "GRAVURE_TRANSFER_BITS" not in Job("p.py").environment("mpiexec")
