"""Row B9: what sessions are told, and what they tell of a run."""

import threading
import time

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.function.staged import Staged
from gravure.frontend.graph.variables import Held

v1 = tf.compat.v1
FULL = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
X = np.arange(8, dtype=np.float32).reshape(2, 4)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def small(rows=None):
    x = v1.placeholder(tf.float32, [rows, 4], name="x")
    product = tf.matmul(x, tf.constant(np.ones((4, 3), np.float32), name="w"), name="product")
    return x, tf.nn.relu(product, name="act")


@pytest.mark.parametrize("runs", [0, 6])
def test_b9_a_full_trace_lists_every_node_that_ran_with_start_and_end(graph, runs):
    x, y = small()
    unused = tf.exp(x, name="unused")
    with v1.Session() as session:
        for _ in range(runs):
            session.run(y, {x: X})
        told = v1.RunMetadata()
        before = time.time_ns()
        found = session.run(y, {x: X}, options=FULL, run_metadata=told)
        after = time.time_ns()
        plain = session.run(y, {x: X})
    np.testing.assert_array_equal(found, plain)
    [device] = told.step_stats.dev_stats
    assert device.device == CPU
    nodes = {node.node_name: node for node in device.node_stats}
    assert [*nodes] == ["w", "product", "act"]
    assert unused.op.name not in nodes
    last = before
    for node in nodes.values():
        start, end = node.all_start_nanos, node.all_start_nanos + node.all_end_rel_nanos
        assert last <= start < end <= after
        assert node.all_start_micros == start // 1000
        last = end
    output = nodes["act"].output[0].tensor_description
    assert [d.size for d in output.shape.dim] == [2, 3]
    assert output.allocation_description.allocated_bytes == 24
    assert device.thread_names[nodes["act"].thread_id] == threading.current_thread().name


def test_b9_the_nodes_of_each_turn_of_a_loop_are_listed(graph):
    made = tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name="step"), [0])
    told = v1.RunMetadata()
    assert v1.Session().run(made, options=FULL, run_metadata=told) == [3]
    names = [node.node_name for node in told.step_stats.dev_stats[0].node_stats]
    assert names.count("step") == 3


def test_b9_costs_say_what_nodes_take_and_make(graph):
    x, y = small(2)
    config = v1.ConfigProto(graph_options=v1.GraphOptions(build_cost_model=1))
    told = v1.RunMetadata()
    v1.Session(config=config).run(y, {x: X}, run_metadata=told)
    assert not told.step_stats.dev_stats
    nodes = {node.name: node for node in told.cost_graph.node}
    product, act = nodes["product"], nodes["act"]
    assert [each.preceding_node for each in product.input_info] == [nodes["w"].id]
    assert [each.preceding_node for each in act.input_info] == [product.id]
    assert (act.output_info[0].size, act.is_final, product.is_final) == (24, True, False)
    assert act.compute_time > 0
    assert act.device == CPU


def test_b9_partition_graphs_are_what_runs_on_each_device(graph):
    x, y = small(2)
    told = v1.RunMetadata()
    options = v1.RunOptions(output_partition_graphs=True)
    v1.Session().run(y, {x: X}, options=options, run_metadata=told)
    [part] = told.partition_graphs
    nodes = {node.name: node for node in part.node}
    assert nodes["act"].input == ["product"]
    [given, _] = nodes["product"].input
    assert nodes[given].op == "_Arg"
    assert nodes[given].attr["tensor_name"].s == b"x:0"
    assert {node.device for node in part.node} == {CPU}


def test_b9_what_is_not_asked_for_is_not_told(graph):
    x, y = small()
    told = v1.RunMetadata()
    told.step_stats.dev_stats.add(device="of another run")
    v1.Session().run(y, {x: X}, run_metadata=told)
    assert told == v1.RunMetadata()


def test_b9_a_step_that_waits_too_long_ends(graph):
    queue = v1.FIFOQueue(1, tf.int32)
    wait, give = queue.dequeue(), queue.enqueue(7)
    options = v1.RunOptions(timeout_in_ms=30)
    with v1.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match="did not end within 30 ms"):
            session.run(wait, options=options)
        session.run(give)
        assert session.run(wait, options=options) == 7  # nobody waits in its place
    config = v1.ConfigProto(operation_timeout_in_ms=20)
    with v1.Session(config=config) as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match="20 ms"):
            session.run(wait)
        with pytest.raises(tf.errors.DeadlineExceededError, match="25 ms"):
            session.run(wait, options=v1.RunOptions(timeout_in_ms=25))


def test_b9_a_loop_that_does_not_end_is_stopped(graph):
    endless = tf.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 2, [0])
    with v1.Session() as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(endless, options=v1.RunOptions(timeout_in_ms=30))


def test_b9_a_step_waits_for_another_one_no_longer_than_it_may(graph):
    x, y = small()
    v = v1.Variable(0.0)
    y = y + v.assign_add(1.0)
    session = v1.Session()
    session.run(v.initializer)
    inside, done = threading.Event(), threading.Event()

    def hold():
        with Held([v.state]):
            inside.set()
            done.wait(10)

    other = threading.Thread(target=hold)
    other.start()
    inside.wait(10)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(y, {x: X}, options=v1.RunOptions(timeout_in_ms=20))
    done.set()
    other.join()
    assert session.run(y, {x: X}, options=v1.RunOptions(timeout_in_ms=60_000)).shape == (2, 3)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"use_per_session_threads": True}, "use_per_session_threads = True"),
        ({"placement_period": 3}, "placement_period = 3"),
        ({"graph_options": v1.GraphOptions(timeline_step=4)}, "graph_options.timeline_step = 4"),
        (
            {"session_inter_op_thread_pool": [{"num_threads": 2}]},
            "session_inter_op_thread_pool",
        ),
    ],
)
def test_b9_what_has_no_effect_is_refused_by_name(graph, fields, named):
    with pytest.raises(tf.errors.UnimplementedError, match=f"ConfigProto.{named}"):
        v1.Session(config=v1.ConfigProto(**fields))


def test_b9_fields_that_do_not_exist_are_refused():
    for kind in (v1.ConfigProto, v1.RunOptions, v1.RunMetadata, v1.GPUOptions):
        with pytest.raises(ValueError, match="no_such_field"):
            kind(no_such_field=1)
        with pytest.raises(AttributeError, match="no_such_field"):
            kind().no_such_field = 1


def test_b9_options_of_another_kind_are_refused(graph):
    x, y = small()
    session = v1.Session()
    with pytest.raises(TypeError, match="options must be a RunOptions"):
        session.run(y, {x: X}, options={"timeout_in_ms": 3})
    with pytest.raises(TypeError, match="run_metadata must be a RunMetadata"):
        session.run(y, {x: X}, run_metadata={})
    with pytest.raises(TypeError, match=r"must be a tf\.ConfigProto"):
        v1.Session(config={"allow_soft_placement": True})
    with pytest.raises(tf.errors.InvalidArgumentError, match="inter_op_thread_pool: 3"):
        session.run(y, options=v1.RunOptions(inter_op_thread_pool=3))
    watched = v1.RunOptions(debug_options={"global_step": 3})
    with pytest.raises(tf.errors.UnimplementedError, match=r"debug_options\.global_step"):
        session.run(y, options=watched)


def compiled(session):
    [plan] = [p for p in session._plans.values() if p.compiled]
    return [made for made in plan.compiled.values() if isinstance(made, Staged)]


def test_b9_the_optimizer_is_as_it_was_asked_for(graph):
    x, y = small(2)
    at_once = v1.OptimizerOptions(global_jit_level=v1.OptimizerOptions.ON_1)
    config = v1.ConfigProto(intra_op_parallelism_threads=1)
    config.graph_options.optimizer_options.CopyFrom(at_once)
    config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
    config.graph_options.rewrite_options.constant_folding = 2  # OFF
    with v1.Session(config=config) as session:
        session.run(y, {x: X})
        [made] = compiled(session)
    options = made.model.compiled.options
    assert (options.level, options.slots, options.disable) == ("O0", 1, ("constant-fold",))
    never = v1.ConfigProto()
    never.graph_options.optimizer_options.global_jit_level = v1.OptimizerOptions.OFF
    with v1.Session(config=never) as session:
        for _ in range(7):
            session.run(y, {x: X})
        assert all(not plan.compiled for plan in session._plans.values())


def test_b9_placement_is_logged_once_a_plan(graph, capsys):
    x, y = small()
    with v1.Session(config=v1.ConfigProto(log_device_placement=True)) as session:
        session.run(y, {x: X})
        session.run(y, {x: X})
    assert capsys.readouterr().err.splitlines().count(f"act: (Relu): {CPU}") == 1


def test_b9_the_largest_tensors_are_named_where_memory_does_not_do(graph, monkeypatch):
    x, y = small(2)
    session = v1.Session()
    session.run(y, {x: X})
    [plan] = session._plans.values()

    def run(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(plan, "run", run)
    options = v1.RunOptions(report_tensor_allocations_upon_oom=True)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"48 bytes: w:0 .*made at .*\.py:"):
        session.run(y, {x: X}, options=options)
    with pytest.raises(MemoryError, match="no room"):
        session.run(y, {x: X})
