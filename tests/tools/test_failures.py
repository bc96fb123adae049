"""Ranks that fail: each is named in time, all end, and nothing is left, whatever the others do."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gravure.tools.launching.jobs import find_mpiexec, is_open_mpi

ROOT = Path(__file__).parents[2]
DEADLINE = 2.0
START = "60"
"""Seconds that ranks have to begin: the deadline is set when all are there."""
pytestmark = [pytest.mark.mpi, pytest.mark.slow]

PROGRAM = """
import os, sys, time
import numpy as np
from gravure import tf
from gravure.runtime.comm.world import world
from gravure.runtime.comm.protocol import in_step

folder, rank, kind, where, pidfile = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
comm = world()
open(f"{pidfile}-{comm.rank}", "w").write(str(os.getpid()))
kept = tf.train.CheckpointManager(tf.train.Checkpoint(x=tf.Variable(1.0)), folder)
comm.all_reduce(np.float32(1.0))
for line in {x.split()[-1] for x in open("/proc/self/maps") if " /dev/shm/" in x}:
    print("shares", line, flush=True)

def fail():
    comm.exchange(None, "here")
    if comm.rank != rank:
        if where == "compute":
            time.sleep(60)
        return
    time.sleep(0.3)
    print("fails", time.time(), flush=True)
    if kind == "raise":
        raise ZeroDivisionError("here")
    os.kill(os.getpid(), int(kind))

comm.exchange(None, "begin")
for step in range(8):
    if step == 4:  # a checkpoint takes as long as the disk does
        os.environ["GRAVURE_TIMEOUT"] = "2"
    with in_step(step):
        if step == 5:
            fail()
        comm.all_reduce(np.float32(1.0))
    if step == 3:
        if comm.rank == 0:
            kept.save()
        comm.exchange(None, "saved")
"""


def command(path: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "gravure", "launch", *options, str(path)]


def left(folder: Path) -> list[int]:
    """Return the ranks that still run a program of a folder, behind a second to end."""
    end = time.monotonic() + 1
    while True:
        found = [int(x.read_text()) for x in folder.glob("pid-*")]
        running = [pid for pid in found if is_running(pid, folder)]
        if not running or time.monotonic() > end:
            return running
        time.sleep(0.05)


def is_running(pid: int, folder: Path) -> bool:
    path = Path(f"/proc/{pid}")
    if not path.exists() or str(folder).encode() not in (path / "cmdline").read_bytes():
        return False
    return (path / "stat").read_text().rpartition(")")[2].split()[0] != "Z"


def failed(folder: Path, *arguments: str, ranks: int = 2) -> tuple[str, float]:
    """Return what the launcher says of a job that fails, and the seconds from when it did."""
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    (folder / "program.py").write_text(PROGRAM)
    line = command(folder / "program.py", "-n", str(ranks), "--timeout", START)
    kept = [str(folder / "kept"), *arguments, str(folder / "pid")]
    done = subprocess.run(
        [*line, *kept], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    over = time.time()
    assert done.returncode not in (0, 70), done.stderr
    assert left(folder) == []
    shared = re.findall(r"shares (/dev/shm/\S+)", done.stdout)
    assert len(shared) >= ranks, done.stdout
    assert not any(map(os.path.exists, shared))
    found = re.search(r"fails ([\d.]+)", done.stdout)
    assert found, done.stdout + done.stderr
    return done.stderr, over - float(found[1])


@pytest.mark.parametrize("where", ["wait", "compute"])
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("kind", ["raise", signal.SIGKILL, signal.SIGSTOP])
def test_c5_a_failure_is_named_in_time_and_nothing_is_left(
    tmp_path: Path, kind: Any, rank: int, where: str
) -> None:
    """Rank, operation, step and checkpoint are named; who computes is told as who waits."""
    number = kind if kind == "raise" else str(int(kind))
    said, seconds = failed(tmp_path, str(rank), number, where)
    assert seconds < DEADLINE + 2, said
    assert f"the last complete checkpoint is {tmp_path}/kept/ckpt-1" in said
    other = 1 - rank
    if kind == "raise":
        assert f"the job has failed: task {rank}: ZeroDivisionError: here" in said
        assert "of step 5" in said
    elif kind == signal.SIGKILL:
        assert f"task {rank} was killed by signal 9" in said
        assert re.search(rf"task {rank} was in \w+ of step 5, with rank {other}", said)
    elif where == "compute":
        assert re.search(rf"rank {other} has heard nothing from rank {rank} for 2 s", said)
        assert "of step 5" in said
    else:
        wait = rf"rank {other} has waited 2 s for rank {rank} in all_reduce of step 5"
        assert re.search(rf"task {other}: LateError: {wait}", said), said


def test_who_is_missing_of_many_is_named(tmp_path: Path) -> None:
    said, _ = failed(tmp_path, "2", str(int(signal.SIGSTOP)), "wait", ranks=4)
    assert re.search(r"rank [013] has waited 2 s for rank 2 in all_reduce of step 5", said)


SLEEPS = """
import os, signal, subprocess, sys, time
from pathlib import Path
from gravure.runtime.comm.world import world

def started_by(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

comm, proxy = world(), os.getppid()
while "python" in Path(f"/proc/{proxy}/comm").read_text():
    proxy = started_by(proxy)
comm.exchange(None, "here")
if comm.rank == 1:
    os.kill(proxy, signal.SIGSTOP)  # as if others had the processor: what starts ranks sees late
    print(*range(2000), sep="\\n", flush=True)
    if sys.argv[1] == "raise":
        raise ZeroDivisionError("here")
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(0.5)
subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -CONT {proxy}"], start_new_session=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("kind", ["raise", "kill"])
def test_of_two_that_die_the_first_is_named_and_all_that_it_printed_is_read(
    tmp_path: Path, kind: str
) -> None:
    """Also where `mpiexec` is told of both deaths at once, and has passed nothing on by then."""
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    (tmp_path / "program.py").write_text(SLEEPS)
    done = subprocess.run(
        [*command(tmp_path / "program.py", "-n", "2", "--timeout", START), kind],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    how = "task 1: ZeroDivisionError" if kind == "raise" else "task 1 was killed by signal 9"
    assert f"the job has failed: {how}" in done.stderr
    printed = [line for line in done.stdout.splitlines() if re.fullmatch(r"\[1\] \d+", line)]
    assert printed == [f"[1] {number}" for number in range(2000)]


ENDS = """
import os, sys, time
from gravure.runtime.comm.world import world
comm = world()
open(f"{sys.argv[1]}-{comm.rank}", "w").write(str(os.getpid()))
comm.exchange(None, "here")
os.environ["GRAVURE_TIMEOUT"] = "2"
if comm.rank == int(sys.argv[2]):
    print("fails", time.time(), flush=True)
    os.kill(os.getpid(), 19)
"""


def test_a_rank_at_its_end_does_not_wait_for_one_that_is_stopped(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    (tmp_path / "program.py").write_text(ENDS)
    for rank in (0, 1):
        line = command(tmp_path / "program.py", "-n", "2", "--timeout", START)
        done = subprocess.run(
            [*line, str(tmp_path / "pid"), str(rank)],
            cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        seconds = time.time() - float(done.stdout.partition("fails ")[2].split()[0])
        said = f"rank {1 - rank} has heard nothing from rank {rank} for 2 s"
        assert said in done.stderr, done.stdout + done.stderr
        assert seconds < DEADLINE + 2
        assert left(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_launcher_that_is_ended_leaves_nothing(tmp_path: Path, number: int) -> None:
    """Ctrl-C ends it also where these tests are run by what ignores it (`nohup`, `&`)."""
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    (tmp_path / "program.py").write_text(ENDS + "else:\n    time.sleep(60)\n")
    line = command(tmp_path / "program.py", "-n", "2", "--timeout", "50")
    process = subprocess.Popen(
        [*line, str(tmp_path / "pid"), "7"],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (one call)
    )  # fmt: skip
    end = time.monotonic() + 30
    while len(list(tmp_path.glob("pid-*"))) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(10) != 0
    time.sleep(1)
    assert left(tmp_path) == []


SERVERS = """
import json, os, sys, time
from gravure import tf
v1 = tf.compat.v1
told = json.loads(os.environ["TF_CONFIG"])
job, index = told["task"]["type"], told["task"]["index"]
open(f"{sys.argv[1]}-{job}", "w").write(str(os.getpid()))
server = tf.distribute.Server(told["cluster"], job_name=job, task_index=index)
server.task.comm.exchange(None, "begin")
if job == "ps":
    os.environ["GRAVURE_TIMEOUT"] = "2"

def fail():
    print("fails", time.time(), flush=True)
    os.kill(os.getpid(), int(sys.argv[3]))

if job == "ps":
    if sys.argv[2] == "ps":
        import threading
        def later():
            while server.task.messages < 20:
                time.sleep(0.01)
            fail()
        threading.Thread(target=later, daemon=True).start()
    server.join()
    sys.exit()
with tf.Graph().as_default() as graph, tf.device("/job:ps/task:0"):
    v = v1.get_variable("v", [], initializer=v1.zeros_initializer())
    more = v.assign_add(1.0)
with v1.Session(server.target, graph=graph) as session:
    session.run(v.initializer)
    for step in range(10000):
        session.run(more)
        if step == 3:  # (the first ones compile)
            os.environ["GRAVURE_TIMEOUT"] = "2"
        if step == 30 and sys.argv[2] == "worker":
            fail()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("job", ["ps", "worker"])
def test_a_task_of_a_cluster_that_is_gone_is_named(tmp_path: Path, job: str, number: int) -> None:
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    (tmp_path / "program.py").write_text(SERVERS)
    options = ("--cluster", "ps=1,worker=1", "--timeout", START)
    done = subprocess.run(
        [*command(tmp_path / "program.py", *options), str(tmp_path / "pid"), job, str(int(number))],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    seconds = time.time() - float(done.stdout.partition("fails ")[2].split()[0])
    rank = 0 if job == "ps" else 1
    killed = rf"task {job}:0 was killed by signal 9"
    late = rf"(for rank {rank} \(ps:0\) in .* of step \d+|has heard nothing from rank {rank}) for 2"
    wanted = killed if number == signal.SIGKILL else f"{late}|has waited 2 s for rank {rank}"
    assert re.search(wanted, done.stderr), done.stdout + done.stderr
    assert seconds < DEADLINE + 2
    assert left(tmp_path) == []


# Two machines: two namespaces of the network, each with one end of a cable.

AGENT = """#!/bin/bash
# what `mpiexec` calls instead of ssh: options, a host, and a command
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec NAME-$host unshare --uts bash -c "hostname $host; $*"
"""
ADDRESSES = ("10.77.31.1", "10.77.31.2")


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, timeout=10)


def until_up(spaces: list[str]) -> None:
    """Wait until the ends of the cable see each other."""
    for space in spaces:
        line = ["ip", "-n", space, "link", "show", "cable"]
        for _ in range(100):
            if "state UP" in subprocess.check_output(line, text=True):
                break
            time.sleep(0.05)
        else:
            pytest.fail(f"the cable of {space} does not come up")


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[str]:
    """Give the prefix of two namespaces, with a cable between them."""
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    if os.geteuid() or not all(map(shutil.which, ("ip", "unshare", "bash"))):
        pytest.skip("machines as namespaces of the network need root, ip and unshare")
    if is_open_mpi(find_mpiexec()):
        pytest.skip("only MPICH's mpiexec starts ranks in namespaces by an agent of ours")
    name = f"gv{os.getpid()}"
    made = []
    try:
        for address in ADDRESSES:
            try:
                run("ip", "netns", "add", f"{name}-{address}")
            except subprocess.CalledProcessError as error:
                pytest.skip(f"no namespaces of the network: {error.stderr.decode().strip()}")
            made.append(f"{name}-{address}")
        ends = ("cable", "netns", made[0], "type", "veth", "peer", "name", "cable")
        run("ip", "link", "add", *ends, "netns", made[1])
        for space, address in zip(made, ADDRESSES, strict=True):
            run("ip", "-n", space, "addr", "add", f"{address}/24", "dev", "cable")
            for link in ("lo", "cable"):
                run("ip", "-n", space, "link", "set", link, "up")
        until_up(made)
        yield name
    finally:
        for space in made:
            run("ip", "netns", "del", space)


CABLE = PROGRAM.replace("os.kill(os.getpid(), int(kind))", "subprocess.run(kind.split())").replace(
    "import os,", "import subprocess, os,"
)
TOLD = 'print("fails", time.time(), flush=True)'
assert TOLD in CABLE
CABLE = CABLE.replace(TOLD, 'open(f"{folder}-fails", "w").write(str(time.time()))')
"""What is printed goes over the cable, and may not have come when that is pulled."""


@pytest.mark.parametrize("where", ["wait", "compute"])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_cable_that_is_pulled_ends_the_ranks_on_both_sides(
    tmp_path: Path, machines: str, rank: int, where: str
) -> None:
    agent, program = tmp_path / "agent", tmp_path / "program.py"
    agent.write_text(AGENT.replace("NAME", machines))
    agent.chmod(0o755)
    program.write_text(CABLE)
    pull = f"ip -n {machines}-{ADDRESSES[0]} link set cable down"
    line = command(program, "--hosts", ",".join(ADDRESSES), "-n", "2", "--timeout", START)
    there = ["ip", "netns", "exec", f"{machines}-{ADDRESSES[0]}", "unshare", "--uts", "bash", "-c"]
    done = subprocess.run(
        [*there, f'hostname {ADDRESSES[0]}; exec "$@"', "bash", *line,
         str(tmp_path / "kept"), str(rank), pull, where, str(tmp_path / "pid")],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": str(agent),
             "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "cable",
             "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )  # fmt: skip
    over, said = time.time(), done.stderr
    fails = tmp_path / "kept-fails"
    assert fails.exists(), done.stdout + done.stderr
    assert over - float(fails.read_text()) < DEADLINE + 2
    late = r"rank (\d) has (waited 2 s for|heard nothing from) rank (\d).*of step 5"
    match = re.search(late, said)
    assert match, said
    assert {match[1], match[3]} == {"0", "1"}
    assert f"the last complete checkpoint is {tmp_path}/kept/ckpt-1" in said
    assert left(tmp_path) == []
