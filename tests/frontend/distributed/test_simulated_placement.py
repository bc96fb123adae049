"""Placement by simulation: as it is worked out by hand, and the same results wherever it leads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.errors import InputError
from gravure.frontend.values.devices import PlacementError
from gravure.tools import cli

from .test_servers import CLUSTER, on_tasks

v1 = tf.compat.v1


def fork() -> Any:
    """Return a graph of two long ways that meet.

    x -> start (1 s) -> left (4 s)  -> meet (1 s)
                     -> right (3 s) ->
    """
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [250], name="x")
        start = tf.exp(x, name="start")
        left = tf.sin(start, name="left")
        right = tf.cos(start, name="right")
        meet = tf.add(left, right, name="meet")
    return graph, x, meet


SECONDS = {"start": 1.0, "left": 4.0, "right": 3.0, "meet": 1.0}
CPUS = v1.ConfigProto(device_count={"CPU": 2})


def places(costs: Any) -> dict[str, str]:
    graph, x, meet = fork()
    with v1.Session(graph=graph, config=CPUS) as session:
        session.costs = costs
        found = session.explain_placement(meet, [x])
        value = np.linspace(0, 1, 250, dtype=np.float32)
        wanted = np.sin(np.exp(value)) + np.cos(np.exp(value))
        np.testing.assert_allclose(session.run(meet, {x: value}), wanted, rtol=1e-5, atol=1e-6)
    return {row.operation: row.device[-1] for row in found.rows}


def test_e3_the_trace_worked_by_hand_is_what_is_placed() -> None:
    # A value of 1000 bytes takes 0.5 + 1000 / 2000 = 1 s. start: cpu:0 until 1. left: 5 here, 1 + 1
    # + 4 = 6 there, so here until 5. right: 5 + 3 = 8 here, 1 + 1 + 3 = 5 there, so there until 5.
    # meet: 5 + 1 + 1 = 7 on either, so on the first.
    costs = gv.distributed.CostModel(bandwidth=2000.0, latency=0.5, measured=SECONDS)
    assert places(costs) == {"start": "0", "left": "0", "right": "1", "meet": "0"}
    # A transfer of 4 s does not pay: right would end at 1 + 4 + 3 = 8 there, and at 8 here.
    slow = gv.distributed.CostModel(bandwidth=2000.0, latency=3.5, measured=SECONDS)
    assert set(places(slow).values()) == {"0"}
    assert set(places(None).values()) == {"0"}


def test_e3_a_measured_time_changes_where_an_operation_is() -> None:
    there = {"/job:localhost/replica:0/task:0/device:CPU:0": 9.0,
             "/job:localhost/replica:0/task:0/device:CPU:1": 1.0}  # fmt: skip
    measured = {**SECONDS, "left": there}
    costs = gv.distributed.CostModel(bandwidth=2e9, latency=0.1, measured=measured)
    assert places(costs)["left"] == "1"
    graph, x, meet = fork()
    told = v1.RunMetadata()
    config = v1.ConfigProto(graph_options=v1.GraphOptions(build_cost_model=1))
    with v1.Session(graph=graph, config=config) as session:
        session.run(meet, {x: np.ones(250)}, None, told)
    kept = gv.distributed.CostModel.measured_by(told, latency=1e-9, bandwidth=1e15)
    assert {"start", "left", "right", "meet"} <= set(kept.measured)
    assert places(kept)["right"] == "1"  # (what costs nothing to send is beside what is busy)


def test_e3_what_asks_for_a_device_or_has_state_stays_and_results_are_the_same() -> None:
    def build() -> Any:
        rng = np.random.default_rng(3)
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [64, 64])
            v = v1.get_variable("v", initializer=np.eye(64, dtype=np.float32), use_resource=True)
            values = [x, v.read_value()]
            for _ in range(12):
                a, b = (values[i] for i in rng.integers(0, len(values), 2))
                values.append(tf.tanh(tf.matmul(a, b)))
            with tf.device("/job:ps/task:1"):
                last = tf.add_n(values[-3:], name="last")
            slope = tf.gradients(last, x)[0]
            with tf.control_dependencies([last, slope]):
                write = v.assign_add(values[4] * 0.01)
        return graph, x, [last, slope, write], v.initializer

    rows = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)

    def results(target: str, costs: Any) -> Any:
        graph, x, wanted, init = build()
        for op in graph.get_operations() if not target else ():
            op.device = ""
        with v1.Session(target, graph=graph) as session:
            session.costs = costs
            session.run(init)
            made = [session.run(wanted, {x: rows}) for _ in range(2)]
            found = session.explain_placement(wanted, [x])
            return [a.tobytes() for each in made for a in each], found

    def work(server: Any, index: int) -> Any:
        if index:
            return None
        costs = gv.distributed.CostModel(flops=1e6, bandwidth=1e12, latency=1e-9)
        return results(server.target, costs)

    found, partition = on_tasks(CLUSTER, work)["worker:0"]
    assert found == results("", None)[0]
    rows_by_name = {row.operation: row for row in partition.rows}
    assert len({row.device for row in partition.rows}) >= 3  # it was shared out
    assert "ps/replica:0/task:1" in rows_by_name["last"].device
    assert {row.why for row in partition.rows} >= {"would end there first"}
    states = [row for row in partition.rows if row.type == "ReadVariableOp"]
    assert {row.device for row in states} == {"/job:worker/replica:0/task:0/device:CPU:0"}


def test_e3_what_can_be_nowhere_is_refused_by_its_name() -> None:
    with tf.Graph().as_default() as graph, tf.device("/cpu:7"):
        y = tf.exp(1.0, name="nowhere")
    with v1.Session(graph=graph, config=CPUS) as session:
        session.costs = gv.distributed.CostModel()
        with pytest.raises(PlacementError, match="'nowhere/x'"):
            session.run(y)


def test_e3_costs_are_kept_in_a_file_that_the_command_reads(tmp_path: Path) -> None:
    graph, _, _ = fork()
    pb = v1.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    kept = tmp_path / "costs.json"
    costs = gv.distributed.CostModel(bandwidth=2000.0, latency=0.5, measured=SECONDS)
    costs.write(kept)
    assert gv.distributed.CostModel.read(kept) == costs
    command = ["explain", "placement", pb, "--cpus", "2", "--fetch", "meet", "--feed", "x"]
    assert cli.main([*command, "--costs", str(kept)]) == 0
    found = gv.explain_placement(pb, ["meet"], ["x"], cpus=2, costs=kept).partition
    assert {row.operation: row.device[-1] for row in found.rows}["right"] == "1"
    assert "would end there first" in {row.why for row in found.rows}
    assert all(row.device[-1] == "0" for row in
               gv.explain_placement(pb, ["meet"], ["x"], cpus=2).partition.rows)  # fmt: skip


def test_a_measured_run_is_kept_and_places_the_same_graph(tmp_path: Path) -> None:
    graph, x, meet = fork()
    config = v1.ConfigProto(graph_options={"build_cost_model": 1})
    with v1.Session(graph=graph, config=config) as session:
        told = v1.RunMetadata()
        session.run(meet, {x: np.ones(250)}, run_metadata=told)
    costs = gv.distributed.CostModel.measured_by(told)
    assert {"start", "left", "right", "meet"} <= set(costs.measured)
    costs.write(tmp_path / "c.json")
    pb = v1.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    found = gv.explain_placement(pb, ["meet"], ["x"], cpus=2, costs=tmp_path / "c.json")
    assert len(found.partition.rows) == 4


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no costs: "),
        ("[]", "no costs of the schema 'gravure.costs/1'"),
        ('{"schema": "gravure.costs/2"}', "no costs of the schema"),
        ('{"schema": "gravure.costs/1", "speed": 1}', "'speed', expected flops, memory, bandwidth"),
        ('{"schema": "gravure.costs/1", "flops": -1}', "flops 'flops' is -1, expected numbers of"),
        ('{"schema": "gravure.costs/1", "flops": "1"}', "is '1', expected numbers"),
        (
            '{"schema": "gravure.costs/1", "measured": []}',
            r"measured \[\], expected seconds",
        ),
        ('{"schema": "gravure.costs/1", "measured": {"a": NaN}}', "measured 'a' is nan"),
        ('{"schema": "gravure.costs/1", "measured": {"a": {"d": true}}}', "expected numbers"),
        ('{"schema": "gravure.costs/1", "measured": {"gone": 1}}', "'gone' that the graph has not"),
        ('{"schema": "gravure.costs/1", "measured": {"left": {"/cpu:0": 1}}}', "device '/cpu:0'"),
    ],
)
def test_costs_that_do_not_fit_are_refused(tmp_path: Path, text: str, why: str) -> None:
    graph, _, _ = fork()
    pb = v1.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(InputError, match=why):
        gv.explain_placement(pb, ["meet"], ["x"], cpus=2, costs=tmp_path / "c.json")
    with pytest.raises(InputError, match="no costs: "):
        gv.explain_placement(pb, ["meet"], ["x"], cpus=2, costs=tmp_path / "none.json")
