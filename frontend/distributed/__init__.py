"""Several ranks that run one program: what they compute together, eagerly and compiled.

    total = gravure.distributed.all_reduce(x)          # in a function, in a graph, or at once

Under `gravure launch -n 4 program.py` there are four ranks; a program by itself is one, and each
function gives what it gets. Read in this order:

- `collectives`: the functions, and what they are for tapes and graphs.
- `cut`: a plan of a session between tasks of a cluster. `tasks`: this process as one of them.
  `client`: steps that begin here.
- `micro_batches`: parts of a batch that follow each other through the tasks.
- `places`: on which tasks operations are. `simulate`: where they would end first. `delays`: which
  values wait until they are needed. `closed`: what is run once more for its gradient, elsewhere.
- `running`: a part of a plan that is run, and loops that several tasks carry out. `crew`: by whom.
- `remote`: eager operations on devices of other tasks. `kept`: what these do for others.
- `ranked`: a model that was compiled for several ranks, of which each loads its part.
"""

from __future__ import annotations

from ...runtime.comm.protocol import AbortedWorldError as AbortedWorldError
from ...runtime.comm.protocol import CommError as CommError
from ...runtime.comm.protocol import LateError as LateError
from ...runtime.comm.protocol import WorldError as WorldError
from ...runtime.comm.protocol import in_step as in_step
from ..graph.transfers import transfer_bits as transfer_bits
from .collectives import all_gather as all_gather
from .collectives import all_reduce as all_reduce
from .collectives import barrier as barrier
from .collectives import broadcast as broadcast
from .collectives import ordered_sum as ordered_sum
from .collectives import rank as rank
from .collectives import size as size
from .micro_batches import micro_batch as micro_batch
from .simulate import CostModel as CostModel

__all__ = [
    "AbortedWorldError",
    "CommError",
    "CostModel",
    "LateError",
    "WorldError",
    "all_gather",
    "all_reduce",
    "barrier",
    "broadcast",
    "in_step",
    "micro_batch",
    "ordered_sum",
    "rank",
    "size",
    "transfer_bits",
]
