"""Parts of a batch that follow each other through the tasks of a network: at once, and the same."""

import threading
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.frontend.function.session import Session

from .test_servers import on_tasks

v1 = tf.compat.v1
TWO = {"worker": ["h:1", "h:2"]}
THREE = {"worker": ["h:1", "h:2", "h:3"]}
ROWS = np.random.default_rng(0).normal(size=(12, 6)).astype(np.float32)


def network(devices: list[str], parts: int) -> Any:
    """Return a graph of a network that is on several devices, its data, loss, step and weights."""
    with tf.Graph().as_default() as graph:
        data = v1.placeholder(tf.float32, ROWS.shape)
        weights, losses = [], []
        for place, device in enumerate(devices):
            with tf.device(device):
                first = np.random.default_rng(place).normal(size=(6, 6)).astype(np.float32)
                weights.append(v1.Variable(first, name=f"w{place}"))
        for number, rows in enumerate(tf.split(data, parts)):
            x = rows
            with gv.distributed.micro_batch(number):
                for place, device in enumerate(devices):
                    with tf.device(device):
                        x = tf.tanh(tf.matmul(x, weights[place]), name=f"part{number}_{place}")
                with tf.device(devices[-1]):
                    losses.append(tf.reduce_mean((x - 0.5) ** 2.0))
        with tf.device(devices[-1]):
            loss = tf.add_n(losses) / float(parts)
        train = v1.train.AdamOptimizer(0.1).minimize(loss)
        return graph, data, loss, train, weights, v1.global_variables_initializer()


def trained(target: str, devices: list[str], parts: int) -> tuple[list[float], list[bytes]]:
    """Return the losses and the weights of some steps."""
    graph, data, loss, train, weights, init = network(devices, parts)
    with v1.Session(target, graph=graph) as session:
        session.run(init)
        losses = [float(session.run([loss, train], {data: ROWS})[0]) for _ in range(8)]
        return losses, [w.tobytes() for w in session.run(weights)]


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("cluster", [TWO, THREE], ids=["two", "three"])
def test_a_network_over_tasks_trains_as_one_process_does(cluster: Any, parts: int) -> None:
    devices = [f"/job:worker/task:{n}" for n in range(len(cluster["worker"]))]
    wanted = trained("", [""] * len(devices), parts)
    assert wanted[0][-1] < wanted[0][0]

    def work(server: Any, index: int) -> Any:
        return trained(server.target, devices, parts) if index == 0 else None

    assert on_tasks(cluster, work)["worker:0"] == wanted


def test_a_task_is_at_the_next_part_while_the_other_is_at_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each waits for the other within its work: what is done one after the other never ends."""
    meet, run_plan = threading.Barrier(2), Session.run_plan
    met: list[str] = []

    def watched(self: Session, plan: Any, values: Any) -> Any:
        names = {op.name for op in plan.ops}
        ahead = next((n for n in range(1, 4) if f"part{n}_0" in names), None)
        behind = next((n for n in range(3) if f"part{n}_1" in names), None)
        if (ahead is None) != (behind is None) and training.is_set():
            meet.wait(20)
            met.append(f"part{ahead}_0" if behind is None else f"part{behind}_1")
        return run_plan(self, plan, values)

    training = threading.Event()
    devices = ["/job:worker/task:0", "/job:worker/task:1"]

    def work(server: Any, index: int) -> None:
        if index:
            return
        graph, data, _, train, _, init = network(devices, 4)
        with v1.Session(server.target, graph=graph) as session:
            session.run(init)
            training.set()
            session.run(train, {data: ROWS})
            training.clear()

    monkeypatch.setattr(Session, "run_plan", watched)
    on_tasks(TWO, work)
    first, second = [f"part{n}_0" for n in (1, 2, 3)], [f"part{n}_1" for n in (0, 1, 2)]
    assert sorted(met) == sorted(first + second)


def test_files_keep_to_which_part_operations_belong() -> None:
    def work(server: Any, index: int) -> Any:
        if index:
            return None
        graph, _, loss, _, _, init = network(["/job:worker/task:0", "/job:worker/task:1"], 3)
        with tf.Graph().as_default() as again:
            tf.import_graph_def(graph.as_graph_def(), name="")
        found = []
        for each in (graph, again):
            with v1.Session(server.target, graph=each) as session:
                session.run(init.name)
                told = v1.RunMetadata()
                options = v1.RunOptions(output_partition_graphs=True)
                session.run(loss.name, {"Placeholder:0": ROWS}, options, told)
                found.append([op.attributes.get("_micro_batch") for op in each.operations])
        return found

    made, read = on_tasks(TWO, work)["worker:0"]
    assert made == read
    assert {None, 0, 1, 2} == set(made)


def test_what_is_no_part_is_refused() -> None:
    marked = gv.distributed.micro_batch
    with pytest.raises(ValueError, match="micro_batch is for operations of graphs"), marked(0):
        pass
    wrong = pytest.raises(ValueError, match=r"micro_batch\(-1\), expected a number from 0")
    with tf.Graph().as_default(), wrong, marked(-1):
        pass
