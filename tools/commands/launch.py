"""Run a program on several ranks, which work together by MPI.

    gravure launch -n 4 train.py
    gravure launch -n 2 --restarts 3 --timeout 30 train.py --steps 100
    gravure launch --cluster ps=1,worker=3 train.py --job_name={job} --task_index={task}
    gravure launch -n 8 --hosts node1,node2 train.py

Each line of a rank is printed behind its number, or its task. When a rank fails, all are ended;
with --restarts the program is started again, and goes on from the checkpoint that it finds. `{job}`
and `{task}` in its arguments are those of the rank; TF_CONFIG says the same. Needs gravure[dist].
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..console import Console
from ..errors import UsageError
from ..given import above_zero, natural, positive

NAME = "launch"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("-n", "--ranks", type=positive, metavar="N", help="how many ranks")
    parser.add_argument("--cluster", metavar="JOBS", help="tasks of each job, as ps=1,worker=3")
    parser.add_argument("--hosts", metavar="NAMES", help="machines, parted by commas")
    parser.add_argument(
        "--restarts",
        type=natural,
        default=0,
        metavar="K",
        help="start again so often after a failure",
    )
    parser.add_argument(
        "--timeout", type=above_zero, metavar="S", help="seconds that one rank waits for another"
    )
    parser.add_argument("--mpiexec", metavar="PATH", help="the launcher of MPI, if not the first")
    parser.add_argument(
        "--transfer-bits",
        type=int,
        choices=(16, 32),
        metavar="BITS",
        help="16: send f32 values from device to device as the upper halves of their bits",
    )
    parser.add_argument("program", help="a Python program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")


def run(args: argparse.Namespace) -> int:
    """Supervise the ranks."""
    from ..launching.jobs import Job, supervise

    console: Console = args.console
    cluster = cluster_of(args.cluster)
    ranks = args.ranks if args.ranks is not None else sum(cluster.values())
    if ranks < 1:
        raise UsageError("no ranks", hint="-n 4, or --cluster ps=1,worker=3")
    if cluster and ranks != sum(cluster.values()):
        total = sum(cluster.values())
        raise UsageError(f"-n {ranks}, and --cluster {args.cluster} has {total} tasks")
    if not Path(args.program).is_file():
        raise UsageError(f"there is no program {args.program!r}")
    hosts = tuple(filter(None, (args.hosts or "").split(",")))
    job = Job(
        args.program,
        tuple(args.arguments),
        ranks,
        cluster,
        hosts,
        args.timeout,
        args.mpiexec,
        args.transfer_bits,
    )
    return supervise(job, args.restarts, lambda line: print(line, flush=True), console.say)


def cluster_of(text: str | None) -> dict[str, int]:
    """Return how many tasks each job has."""
    found: dict[str, int] = {}
    for part in filter(None, (text or "").split(",")):
        job, _, count = part.partition("=")
        if not job.isidentifier() or not count.isdecimal() or not int(count) or job in found:
            raise UsageError(f"--cluster {text!r}, expected jobs with counts, as ps=1,worker=3")
        found[job] = int(count)
    return found
