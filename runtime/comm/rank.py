"""One rank of `gravure launch`: runs a program, and ends the whole job if that fails.

    mpiexec -n 2 python -m gravure.runtime.comm.guard NOTES program.py [arguments]

What goes wrong on one rank would hang the others: an error, or an exit that is not 0, is noted in
the folder NOTES and ends all ranks. `{job}` and `{task}` in the arguments are those of the rank.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

from ... import knobs
from .progress import PROGRESS, rank_told
from .protocol import Comm
from .world import world


def main(arguments: list[str]) -> None:
    """Run the program that the arguments name, as the main module."""
    for stream in (sys.stdout, sys.stderr):
        # a line in one piece: `mpiexec` puts the rank before each piece
        stream.reconfigure(line_buffering=True, write_through=False)  # type: ignore[union-attr]
    notes, program, *rest = arguments
    told = rank_told()
    if told is not None:  # from here on it is known if this process stops, also as MPI begins
        PROGRESS.keep_in(Path(notes), told)
    comm = world()
    job, task = place(comm.rank)
    sys.argv = [program, *(x.replace("{job}", job).replace("{task}", str(task)) for x in rest)]
    sys.path[0] = str(Path(program).resolve().parent)
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            if not isinstance(end.code, int):
                print(end.code, file=sys.stderr)
            give_up(comm, f"exit status {end.code}")
    except BaseException as error:
        traceback.print_exc()
        give_up(comm, f"{type(error).__name__}: {error}")
    PROGRESS.note("done")


def place(rank: int) -> tuple[str, int]:
    """Return job and number of the task that a rank is; tell the program by `TF_CONFIG`."""
    text = knobs.CLUSTER.text()
    if not text:
        return "worker", rank
    jobs: dict[str, list[str]] = json.loads(text)
    tasks = [(job, number) for job in sorted(jobs) for number in range(len(jobs[job]))]
    job, number = tasks[rank]
    task = {"cluster": jobs, "task": {"type": job, "index": number}}
    os.environ["TF_CONFIG"] = json.dumps(task)
    return job, number


def give_up(comm: Comm, reason: str) -> None:
    """End all ranks because this one has failed."""
    sys.stdout.flush()
    comm.abort(reason)
    os._exit(75)
