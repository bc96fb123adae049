"""Rows of the feature table that need more than a graph and a session."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.errors import GravureError
from gravure.frontend.formats.messages import RewriterConfig
from gravure.frontend.function.graph_data import NotSerialisableError
from gravure.frontend.function.graph_text import graph_text, read_graph
from gravure.frontend.function.libraries import program_of
from gravure.frontend.function.staged import Staged
from gravure.frontend.graph.frame import Store
from gravure.frontend.graph.placement import PlacementError, parse_device
from gravure.frontend.tf.graph.state import TfGraph
from gravure.ir.text import print_module
from gravure.passes.manager import run
from gravure.passes.pipelines import pipeline_of

v1 = tf.compat.v1
ROOT = Path(__file__).parent.parent.parent


def test_a5_an_operation_without_a_kernel_for_a_device_is_refused():
    with tf.Graph().as_default() as graph:
        with tf.device("/gpu:0"):
            y = tf.numpy_function(lambda: np.float32(1.0), [], tf.float32, name="host")
        with v1.Session(graph=graph) as session, pytest.raises(PlacementError) as error:
            session.run(y)
        for part in ("'host'", "/device:GPU:0", "devices with a kernel: CPU"):
            assert part in str(error.value)
        soft = v1.ConfigProto(allow_soft_placement=True)
        assert v1.Session(graph=graph, config=soft).run(y) == 1.0


def test_e1_names_of_devices_have_parts():
    full = parse_device("/job:worker/task:17/device:gpu:3")
    assert (full.job, full.task, full.kind, full.index) == ("worker", 17, "GPU", 3)
    assert parse_device("/gpu:3").is_within(full)
    assert not parse_device("/cpu:0").is_within(full)
    with pytest.raises(ValueError, match="not the name of a device"):
        parse_device("/job=worker")


def test_e11_the_inner_device_wins_in_a_function():
    @tf.function
    def f(a):
        with tf.device("/cpu:0"):
            inner = a + 1.0
        return inner, a * 2.0

    with tf.device("/cpu:0"):
        a = tf.constant(1.0)
        graph = f.get_concrete_function(a).graph
        assert [float(x) for x in f(a)] == [2.0, 2.0]
    assert a.device.endswith("CPU:0")
    assert a.cpu() is a
    assert [op.device for op in graph.get_operations() if op.type == "AddV2"] == ["/device:CPU:0"]


def test_a11_every_order_of_ready_operations_gives_the_same():
    chosen = random.Random(7)
    with tf.Graph().as_default() as graph:
        nodes = [tf.constant(float(i)) for i in range(5)]
        functions = [tf.add, tf.subtract, tf.maximum, tf.minimum]
        while len(nodes) < 500:
            a, b = chosen.choices(nodes, k=2)
            nodes.append(chosen.choice(functions)(a, b))
        with v1.Session(graph=graph) as session:
            expected = session.run(nodes)
            for seed in range(5):
                session.order = random.Random(seed).randrange
                assert session.run(nodes) == expected


def program(graph):
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", [2, 2], initializer=v1.constant_initializer(2.0))
        h = tf.nn.relu(tf.matmul(x, w)[:, ::-1])
        y = tf.cond(tf.reduce_sum(h) > 5.0, lambda: h * 2.0, lambda: -h)
        i, z = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z + y), [0, y])
        tf.identity(z + tf.cast(i, tf.float32), name="out")
        tf.gradients(tf.reduce_sum(h * h), w)


def test_a12_a_graph_goes_through_text_and_stays_the_same():
    first, second = TfGraph(), TfGraph()
    program(first)
    text = graph_text(first)
    with second.as_default():
        read_graph(text, second)
    assert graph_text(second) == text
    feed = {"x:0": [[1.0, 2.0]]}
    a, b = v1.Session(graph=first), v1.Session(graph=second)
    a.run("w/Assign"), b.run("w/Assign")
    assert np.array_equal(a.run("out:0", feed), b.run("out:0", feed))
    gradient = next(op.name for op in reversed(first.get_operations()) if op.outputs)
    assert np.array_equal(a.run(f"{gradient}:0", feed), b.run(f"{gradient}:0", feed))


def test_a12_a_graph_is_imported_under_a_name():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name="x")
        tf.multiply(x, 2.0, name="y")
    with tf.Graph().as_default():
        given = {"x": tf.constant(4.0)}
        [y] = tf.import_graph_def(graph.as_graph_def(), given, ["y:0"], name="im")
        assert (y.name, v1.Session().run(y)) == ("im/y:0", 8.0)


def test_i17_python_in_a_graph_has_a_gradient_and_no_text():
    def collatz(x):
        n, steps = float(x), 0
        while n != 1.0:
            n, steps = (n / 2 if n % 2 == 0 else 3 * n + 1), steps + 1
        return x * float(steps) / float(x)

    @tf.function
    def f(x):
        return tf.py_function(collatz, [x], tf.float32)

    x = tf.constant(8.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert (float(y), float(tape.gradient(y, x))) == (3.0, 0.375)
    with tf.Graph().as_default() as graph:
        z = v1.placeholder(tf.float32, [])
        cube = tf.py_function(lambda t: t * t * t, [z], tf.float32, name="cube")
        [slope] = tf.gradients(cube, z)
        assert v1.Session().run([cube, slope], {z: 2.0}) == [8.0, 12.0]
        with pytest.raises(NotSerialisableError, match="cube"):
            graph.as_graph_def().SerializeToString()


def test_f6_the_gradient_of_rows_is_values_and_indices():
    with tf.Graph().as_default():
        v = v1.Variable([[1.0], [2.0], [3.0], [4.0], [5.0]])
        rows = tf.gather(v, [1, 1, 4])
        [g] = tf.gradients(tf.reduce_sum(rows * [[1.0], [2.0], [3.0]]), v)
        train = v1.train.GradientDescentOptimizer(1.0).apply_gradients([(g, v)])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            found = session.run(g)
            assert found.indices.tolist() == [1, 1, 4]
            assert found.values.ravel().tolist() == [1.0, 2.0, 3.0]
            session.run(train)
            assert session.run(v).ravel().tolist() == [1.0, -1.0, 3.0, 4.0, 2.0]


TRAINING = """
import os, signal, sys
import numpy as np
import gravure.tf as tf
v1 = tf.compat.v1
folder, stop = sys.argv[1], int(sys.argv[2])
with tf.Graph().as_default():
    w = v1.Variable(np.linspace(-1, 1, 12, dtype=np.float32), name="w")
    step = v1.train.get_or_create_global_step()
    x = v1.placeholder(tf.float32, [12])
    loss = tf.reduce_sum(tf.square(tf.sin(w) * x - 0.3))
    train = v1.train.AdamOptimizer(0.05).minimize(loss, global_step=step)
    session = v1.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=10)
    with session:
        first = int(session.run(step))
        for i in range(first, 70):
            if i == stop:
                os.kill(os.getpid(), signal.SIGKILL)
            session.run(train, {x: np.cos(np.arange(12) * (i + 1)).astype(np.float32)})
        print(first, session.run(w).tobytes().hex())
"""


def trained(folder, stop):
    command = [sys.executable, "-c", TRAINING, str(folder), str(stop)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def test_c5_what_was_killed_goes_on_where_it_was_saved(tmp_path):
    assert trained(tmp_path / "a", 57).returncode == -signal.SIGKILL
    resumed, whole = trained(tmp_path / "a", -1), trained(tmp_path / "b", -1)
    assert resumed.stdout.split()[0] == "50", resumed.stderr
    assert resumed.stdout.split()[1] == whole.stdout.split()[1]


def test_c6_a_checkpoint_is_of_one_step(tmp_path):
    with tf.Graph().as_default():
        a, b = v1.Variable(0.0, name="a"), v1.Variable(0.0, name="b")
        both = tf.group(v1.assign_add(a, 1.0), v1.assign_add(b, 1.0))
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            stopped = threading.Event()

            def write():
                while not stopped.is_set():
                    session.run(both)

            thread = threading.Thread(target=write)
            thread.start()
            for i in range(20):
                path = saver.save(session, str(tmp_path / "m"), i)
                found = [tf.train.load_variable(path, name) for name in "ab"]
                assert found[0] == found[1]
            stopped.set()
            thread.join()


def test_g2_a_queue_waits_and_is_closed():
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(2, tf.float32, shapes=[[]])
        x = v1.placeholder(tf.float32, [])
        put, take, close = queue.enqueue(x), queue.dequeue(), queue.close()
        with v1.Session() as session:
            found: list[float] = []
            thread = threading.Thread(target=lambda: found.append(session.run(take)))
            thread.start()
            time.sleep(0.05)
            assert not found
            session.run(put, {x: 2.0})
            thread.join(5)
            assert found == [2.0]
            session.run(close)
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(take)
            with pytest.raises(tf.errors.CancelledError):
                session.run(put, {x: 1.0})


def test_g3_a_shuffling_queue_keeps_some_back():
    with tf.Graph().as_default():
        queue = tf.queue.RandomShuffleQueue(50, 10, tf.int32, shapes=[[]], seed=1)
        put, take = queue.enqueue_many([tf.range(20)]), queue.dequeue()
        with v1.Session() as session:
            session.run(put)
            found = [int(session.run(take)) for _ in range(10)]
            assert len(set(found)) == 10
            assert found != sorted(found)
            assert session.run(queue.size()) == 10


def test_g4_a_thousand_dequeues_wait_and_hold_no_thread():
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(8, [tf.float32], shapes=[[]])
        taken = [queue.dequeue() for _ in range(1000)]
        given = [queue.enqueue(float(i)) for i in range(1000)]
        with tf.compat.v1.Session() as session:
            before, found = threading.active_count(), []
            both = session.run([taken, given])[0]
            assert threading.active_count() == before
            waiting = threading.Thread(target=lambda: found.append(session.run(taken[:100])))
            waiting.start()  # a hundred are asked for at once, and come one by one
            for each in given[:100]:
                session.run(each)
                assert threading.active_count() <= before + 1
            waiting.join()
    assert both == list(range(1000))
    assert found[0] == both[:100]


def test_g4_a_closed_queue_ends_who_waits():
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(8, [tf.float32], shapes=[[]])
        taken, other = [queue.dequeue() for _ in range(3)], queue.close()
        with tf.compat.v1.Session() as session, pytest.raises(tf.errors.OutOfRangeError):
            session.run([taken, other])


def test_g7_the_first_node_that_gives_nan_is_named():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2])
        y = tf.debugging.check_numerics(tf.math.log(x), "after log")
        with v1.Session() as session:
            assert np.isfinite(session.run(y, {x: [1.0, 2.0]})).all()
            with pytest.raises(tf.errors.InvalidArgumentError, match="after log"):
                session.run(y, {x: [1.0, -2.0]})


def test_i19_functions_run_in_each_other_and_in_sessions():
    inner = tf.function(lambda x: x * 2.0)
    outer = tf.function(lambda x: inner(x) + 1.0)
    assert float(outer(tf.constant(3.0))) == 7.0
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        assert v1.Session().run(outer(x), {x: 3.0}) == 7.0
    core = gv.function(lambda x: x * 2.0 + 1.0)
    assert float(core(gv.asarray(3.0))) == 7.0


def test_i23_arrays_of_numpy_are_saved_with_the_variables(tmp_path):
    class Holder(tf.Module):
        pass

    a = Holder()
    a.seen, a.v = np.array([3, 4]), tf.Variable(2.0)
    path = tf.train.Checkpoint(net=a).save(str(tmp_path / "c"))
    b = Holder()
    b.seen, b.v = np.array([0, 0]), tf.Variable(0.0)
    tf.train.Checkpoint(net=b).restore(path).assert_consumed()
    assert b.seen.tolist() == [3, 4]
    assert float(b.v) == 2.0


def test_saved_modules_run_without_their_python(tmp_path):
    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0], [2.0]])

        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def __call__(self, x):
            return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x @ self.w, lambda: -x @ self.w)

    net = Net()
    tf.saved_model.save(net, str(tmp_path / "m"))
    made = tf.saved_model.load(str(tmp_path / "m"))
    for x in ([[1.0, 1.0]], [[-1.0, -1.0], [0.0, 0.0]]):
        assert np.array_equal(made(tf.constant(x)), net(tf.constant(x)))
    made.w.assign([[0.0], [0.0]])
    assert float(made(tf.ones([1, 2]))[0, 0]) == 0.0


def test_codes_of_errors_are_of_one_class_each():
    seen: dict[str, type] = {}
    waiting: list[type] = [GravureError]
    while waiting:
        kind = waiting.pop()
        code = vars(kind).get("code")
        assert code is None or seen.setdefault(code, kind) is kind, (code, kind, seen[code])
        waiting += kind.__subclasses__()


def of_layers(count, group=0):
    """Return the gradient of a network by its weights as a function of values and weights.

    With a `group`, so many layers are computed again for their gradient, together.
    """

    def layers(start, stop):
        def run(x, w):
            for i in range(start, stop):
                x = tf.nn.swish(x @ w[i])
            return x

        return tf.recompute_grad(run) if group else run

    def gradient(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            for start in range(0, count, group or count):
                x = layers(start, min(start + (group or count), count))(x, w)
            loss = tf.reduce_sum(x * x)
        return tape.gradient(loss, w)

    specs = tf.TensorSpec([256, 16]), tf.TensorSpec([count, 16, 16])
    graph = tf.function(gradient).get_concrete_function(*specs).graph
    return program_of(graph.whole_plan(), graph.inputs, ["gradient"], Store(), {})


def peak_of(program):
    """Return how much memory a program takes at most."""
    report = run(pipeline_of("O2"), program)
    [plan] = [s.rewrite for s in report.steps if s.rewrite.name == "plan-memory"]
    return plan.counts["peak bytes"]


@pytest.mark.sweep
def test_f7_what_is_computed_again_takes_less_than_half_of_the_memory():
    x = np.ones((256, 16), np.float32)
    w = np.random.default_rng(0).normal(0, 0.3, (50, 16, 16)).astype(np.float32)
    assert peak_of(of_layers(50, 7)) < 0.5 * peak_of(of_layers(50))
    plain, again = (gv.compile(of_layers(50, group))(x, w) for group in (0, 7))
    assert np.array_equal(plain, again)


@pytest.mark.sweep
def test_f7_the_pass_computes_layers_again_and_less_than_a_quarter_is_kept():
    x = np.ones((256, 16), np.float32)
    w = np.random.default_rng(0).normal(0, 0.3, (50, 16, 16)).astype(np.float32)
    without, peaks, found = pipeline_of("O2"), [], []
    for pipeline in (without, without.replace(",fuse,", ",rematerialise{layers},fuse,")):
        report = run(pipeline, of_layers(50))
        [plan] = [s.rewrite for s in report.steps if s.rewrite.name == "plan-memory"]
        peaks.append(plan.counts["peak bytes"])
        found.append(gv.compile(of_layers(50), passes=pipeline)(x, w))
    assert peaks[1] < peaks[0] / 4
    assert np.array_equal(*found)


@pytest.mark.sweep
def test_f7_a_limit_of_memory_lets_layers_be_computed_again(tmp_path):
    path = tmp_path / "layers.mlir"
    path.write_text(print_module(of_layers(50).module))
    whole, half = (
        gv.emit(path, tmp_path / "m.so", limit=limit, threads=1) for limit in (0, 500_000)
    )
    assert half.made.spared == "layers are computed again"
    memory = [made.as_json()["memory"] for made in (whole, half)]
    assert memory[1]["run"] <= 500_000 < memory[0]["run"] / 2


def test_f7_less_is_kept_for_the_way_back():
    without, peaks, found = pipeline_of("O2"), [], []
    x = np.ones((256, 16), np.float32)
    w = np.random.default_rng(0).normal(0, 0.3, (4, 16, 16)).astype(np.float32)
    for pipeline in (without, without.replace(",fuse,", ",rematerialise{distance=8},fuse,")):
        report = run(pipeline, of_layers(50))
        [plan] = [s.rewrite for s in report.steps if s.rewrite.name == "plan-memory"]
        peaks.append(plan.counts["peak bytes"])
        found.append(gv.compile(of_layers(4), passes=pipeline)(x, w))
    assert peaks[1] < 0.8 * peaks[0]
    assert np.array_equal(*found)


def workspaces(compiled):
    """Return how many bytes compiled steps work in."""
    return [made.model.workspace_bytes for made in compiled if isinstance(made, Staged)]


def layers_trained(recompute):
    """Return what steps leave of 50 layers, the bytes that they work in, and what they say."""
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(0, 0.3, (16, 16)).astype(np.float32)) for _ in range(50)]
    given = tf.constant(rng.normal(size=(256, 16)).astype(np.float32))

    @tf.function(recompute=recompute)
    def step(x):
        with tf.GradientTape() as tape:
            y = x
            for w in weights:
                y = tf.tanh(y @ w)
            loss = tf.reduce_mean((y - x) ** 2.0)
        for w, grad in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.1 * grad)
        return loss

    losses = [float(step(given)) for _ in range(8)]
    assert losses[-1] < losses[0]
    [concrete] = step.cache.values()
    [bytes_] = workspaces(concrete.compiled.values())
    return [w.numpy() for w in weights], bytes_, step.explain()


def test_f7_a_training_step_of_a_function_computes_its_layers_again():
    plain, kept, said = layers_trained(recompute=False)
    again, less, told = layers_trained(recompute=True)
    assert less < kept / 2
    assert told[-1].endswith(f"works in {less} bytes, as layers are computed again")
    assert len(told) == len(said) + 1
    assert all(map(np.array_equal, plain, again))


def test_f7_a_session_is_told_to_compute_layers_again():
    rng = np.random.default_rng(0)
    first = [rng.normal(0, 0.3, (16, 16)).astype(np.float32) for _ in range(50)]
    rows = rng.normal(size=(256, 16)).astype(np.float32)
    found, kept = [], []
    for way in (RewriterConfig.NO_MEM_OPT, RewriterConfig.RECOMPUTATION_HEURISTICS):
        config = v1.ConfigProto()
        config.graph_options.rewrite_options.memory_optimization = way
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [256, 16])
            weights = [v1.Variable(each) for each in first]
            y = x
            for w in weights:
                y = tf.tanh(y @ w)
            train = v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y * y))
            with v1.Session(graph=graph, config=config) as session:
                session.run(v1.global_variables_initializer())
                for _ in range(8):
                    session.run(train, {x: rows})
                found.append(session.run(weights))
                plans = session._plans.values()
                kept.append(max(b for p in plans for b in workspaces(p.compiled.values())))
    assert kept[1] < kept[0] / 2
    assert all(map(np.array_equal, *found))
