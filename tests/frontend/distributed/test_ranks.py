"""Strategies in several processes: the same bits for any number of ranks, killed or not."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.mpi, pytest.mark.slow]

PROGRAM = """
import hashlib, os, signal, sys
import numpy as np
from gravure import tf

folder, kill_at = sys.argv[1], int(sys.argv[2])
strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=4, ordered=True)
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 5)).astype(np.float32)
y = np.tanh(x @ rng.normal(size=(5, 1)).astype(np.float32))
with strategy.scope():
    w = tf.Variable(rng.normal(size=(5, 8)).astype(np.float32))
    v = tf.Variable(rng.normal(size=(8, 1)).astype(np.float32))
    optimizer = tf.optimizers.Adam(0.05)
    step = tf.Variable(0, dtype=tf.int64)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(40, seed=1).repeat().batch(16)
rows = iter(strategy.experimental_distribute_dataset(data.prefetch(2)))
checkpoint = tf.train.Checkpoint(w=w, v=v, optimizer=optimizer, step=step, rows=rows)
manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
checkpoint.restore(manager.latest_checkpoint)
print("begins at", int(step))

@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.tanh(x @ w) @ v - y) ** 2.0) / 16.0
    optimizer.apply_gradients(zip(tape.gradient(loss, [w, v]), [w, v]))
    return loss

while int(step) < 16:
    if int(step) == kill_at and strategy.comm.rank == strategy.comm.size - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    loss = strategy.reduce("SUM", strategy.run(train, next(rows)), axis=None)
    step.assign_add(1)
    if int(step) % 5 == 0 and strategy.comm.rank == 0:
        manager.save()
    strategy.comm.exchange(None, "saved")
print("sha256", hashlib.sha256(w.numpy().tobytes() + v.numpy().tobytes()).hexdigest())
"""


def launched(
    folder: Path, ranks: int, kill_at: int, program: str = PROGRAM, *options: str
) -> tuple[set[str], set[str], int]:
    """Return the steps at which ranks began, the digests that they ended with, and the status."""
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(program)
    given = [str(folder / "train.py"), str(folder / "kept"), str(kill_at)]
    done = subprocess.run(
        [sys.executable, "-m", "gravure", "launch", "-n", str(ranks), *options, *given],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    words = [line.split() for line in done.stdout.splitlines() if line.startswith("[")]
    began = {row[3] for row in words if row[1:3] == ["begins", "at"]}
    ended = {row[2] for row in words if row[1] == "sha256"}
    assert began, done.stderr
    return began, ended, done.returncode


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the digests of training that nobody disturbs, on one rank."""
    began, ended, status = launched(tmp_path_factory.mktemp("whole"), 1, -1)
    assert (began, len(ended), status) == ({"0"}, 1, 0)
    return ended


@pytest.mark.parametrize("ranks", [2, 4])
def test_any_number_of_ranks_gives_the_same_bits(
    tmp_path: Path, whole: set[str], ranks: int
) -> None:
    assert launched(tmp_path, ranks, -1) == ({"0"}, whole, 0)


@pytest.mark.parametrize(
    ("kill_at", "before", "behind"),
    [(0, 2, 4), (7, 4, 1), (11, 1, 2)],
)
def test_c5_killed_at_any_step_and_resumed_on_other_ranks_it_gives_the_same_bits(
    tmp_path: Path, whole: set[str], kill_at: int, before: int, behind: int
) -> None:
    began, ended, status = launched(tmp_path, before, kill_at)
    assert (began, ended) == ({"0"}, set())
    assert status != 0
    assert launched(tmp_path, behind, -1) == ({str(kill_at // 5 * 5)}, whole, 0)


def with_draws(program: str) -> str:
    """Return a program that drops out in its function, and draws between its steps."""
    program = program.replace("strategy = tf", "tf.random.set_seed(5)\nstrategy = tf", 1)
    program = program.replace("tf.tanh(x @ w) @ v", "tf.nn.dropout(tf.tanh(x @ w), 0.3) @ v")
    return program.replace(
        "    step.assign_add(1)",
        "    w.assign_add(tf.random.normal([5, 8]) * 1e-3); step.assign_add(1)",
    )


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory, whole: set[str]) -> set[str]:
    """Return the digests of training with draws that nobody disturbs, on one rank."""
    began, ended, status = launched(tmp_path_factory.mktemp("drawn"), 1, -1, with_draws(PROGRAM))
    assert (began, len(ended), status) == ({"0"}, 1, 0)
    assert ended != whole
    return ended


def test_c5_draws_go_on_behind_a_kill_on_other_ranks(tmp_path: Path, drawn: set[str]) -> None:
    program = with_draws(PROGRAM)
    assert launched(tmp_path / "on 2", 2, -1, program) == ({"0"}, drawn, 0)
    began, ended, _ = launched(tmp_path / "killed", 2, 7, program)
    assert (began, ended) == ({"0"}, set())
    assert launched(tmp_path / "killed", 4, -1, program) == ({"5"}, drawn, 0)


KILLED = """
def killed(step):
    note = f"{folder}/killed-{step}"
    if KILLS.get(step) != strategy.comm.rank or os.path.exists(note):
        return False
    os.makedirs(folder, exist_ok=True)
    open(note, "w").close()
    return True

print("""


def killed_at(kills: dict[int, int], program: str) -> str:
    """Return a program of which a rank is killed at each of some steps, once."""
    condition = "int(step) == kill_at and strategy.comm.rank == strategy.comm.size - 1"
    program = program.replace(condition, "killed(int(step))")
    return program.replace("print(", KILLED.replace("KILLS", repr(kills)), 1)


def test_restarts_go_on_by_themselves_with_the_same_draws(tmp_path: Path, drawn: set[str]) -> None:
    program = killed_at({4: 1, 8: 0, 12: 1}, with_draws(PROGRAM))
    found = launched(tmp_path, 2, -1, program, "--restarts", "3")
    assert found == ({"0", "5", "10"}, drawn, 0)


def test_what_is_killed_too_often_goes_on_on_other_ranks(tmp_path: Path, drawn: set[str]) -> None:
    program = killed_at({2: 0, 9: 1, 13: 0, 14: 1}, with_draws(PROGRAM))
    began, ended, status = launched(tmp_path, 2, -1, program, "--restarts", "3")
    assert (began, ended) == ({"0", "5", "10"}, set())
    assert status != 0
    assert launched(tmp_path, 4, -1, program) == ({"10"}, drawn, 0)


SERVERS = """
import json, os, sys, time
import numpy as np
from gravure import tf
v1 = tf.compat.v1

told = json.loads(os.environ["TF_CONFIG"])
job, index = told["task"]["type"], told["task"]["index"]
cluster = tf.train.ClusterSpec(told["cluster"])
server = tf.distribute.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
    print("served", server.task.messages > 20)
    sys.exit()
x_all = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
y_all = x_all @ np.float32([[1], [-2], [3]])
setter = tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")
with tf.Graph().as_default() as graph, tf.device(setter):
    x, y = v1.placeholder(tf.float32, [None, 3]), v1.placeholder(tf.float32, [None, 1])
    w = v1.get_variable("w", [3, 1], initializer=v1.zeros_initializer())
    count = v1.train.get_or_create_global_step()
    loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2.0)
    train = v1.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=count)
    ready = [v1.is_variable_initialized(v) for v in v1.global_variables()]
    init = v1.global_variables_initializer()
with v1.Session(server.target, graph=graph) as session:
    if index == 0:
        session.run(init)
    while not all(session.run(ready)):
        time.sleep(0.01)
    for _ in range(30):
        session.run(train, {x: x_all, y: y_all})
    while session.run(count) < 60:
        time.sleep(0.01)
    print("steps", session.run(count), bool(session.run(loss, {x: x_all, y: y_all}) < 0.5))
"""


def test_e7_parameter_servers_and_workers_in_processes(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    (tmp_path / "servers.py").write_text(SERVERS)
    options = ["--cluster", "ps=1,worker=2", "--timeout", "30", str(tmp_path / "servers.py")]
    done = subprocess.run(
        [sys.executable, "-m", "gravure", "launch", *options],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "[ps:0] served True",
        "[worker:0] steps 60 True",
        "[worker:1] steps 60 True",
    ]
