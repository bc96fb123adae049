"""The world of this process: what `mpiexec` started, or one rank.

A program that is run by itself is a world of one; the same program under `gravure launch` or
`mpiexec` is one rank of several.
"""

from __future__ import annotations

import os
import threading
from importlib.util import find_spec

from ... import knobs
from ...forks import renewed
from .local import STANDING, alone
from .progress import RANKS
from .protocol import Comm, WorldError

SIGNS = (*RANKS, "PMI_SIZE", "MPI_LOCALNRANKS")
"""What launchers of MPI set in the environment of the processes that they start."""


_OF_PROCESS: list[Comm] = []
_LOCK = renewed(threading.Lock())


def world() -> Comm:
    """Return the world that this thread is a rank of."""
    if STANDING.comm is not None:
        return STANDING.comm
    with _LOCK:
        if not _OF_PROCESS:
            _OF_PROCESS.append(started())
        return _OF_PROCESS[0]


def started() -> Comm:
    """Return the world that was started; refuse one that is not what its launcher promised."""
    promised = knobs.WORLD_SIZE.text()
    if not promised and not any(name in os.environ for name in SIGNS):
        return alone()
    if find_spec("mpi4py") is None:
        raise WorldError(
            "this process was started as one of several, and mpi4py is not installed",
            hint="pip install 'gravure[dist]'",
        )
    from .mpi import MpiComm, library  # noqa: PLC0415  (only who is one of several)

    comm = MpiComm()
    if promised and int(promised) != comm.size:
        raise WorldError(
            f"the launcher {knobs.LAUNCHER.text() or 'mpiexec'} has started {promised} ranks, and "
            f"the library of mpi4py ({library()}) knows of {comm.size}",
            hint="the launcher and the library are of different MPIs: install both by one package",
        )
    return comm
