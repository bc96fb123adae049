"""What ranks compute together, on tensors: an operation of the IR where there are several ranks.

Gradients go through sums and collections: what each rank gets depends on the operands of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from ...ir.op import Op
from ...ir.ops.host.collective import TALK, AllGather, AllReduce, Broadcast
from ...runtime.comm import protocol
from ...runtime.comm.local import standing
from ...runtime.comm.protocol import Comm
from ...runtime.comm.world import world
from ..array.elementwise import add
from ..array.manipulation import stack
from ..eager.tape import identity
from ..eager.tensor import Tensor, apply, as_tensor
from ..models.later import ReadyQueue
from ..values.context import STATE

Found = TypeVar("Found")

TALK.reduce = lambda arrays, how: world().all_reduce_each(arrays, how)
TALK.gather = lambda array: protocol.all_gather(world(), array)
TALK.send = lambda array, root: protocol.broadcast(world(), array, root)


def apart(call: Callable[[], Found]) -> Callable[[], Found]:
    """Return a call for another thread, which is of the same world and step."""
    comm, number = world(), protocol.STEP.number

    def run() -> Found:
        with standing(comm), protocol.beside(number):
            return call()

    return run


def queue() -> ReadyQueue:
    """Return where the reductions of this rank wait for their turn."""
    return QUEUES.setdefault(world(), ReadyQueue(1))


QUEUES: WeakKeyDictionary[Comm, ReadyQueue] = WeakKeyDictionary()
TALK.may_go_on = lambda: world().has_threads
TALK.apart, TALK.queue = apart, queue


def rank() -> int:
    """Return the number of this rank, from 0."""
    return world().rank


def size() -> int:
    """Return how many ranks there are."""
    return world().size


def all_reduce(x: object, how: str = "sum") -> Tensor:
    """Return tensors of all ranks reduced, element by element: `sum`, `prod`, `min` or `max`.

    Every rank gives the same shape and type, and gets the same result. The order in which
    elements are added is not said: see `ordered_sum`. Raises `LateError` if another rank does not
    come, `TypeError` for what are no numbers.
    """
    return talked(AllReduce, x, how=how)


def all_gather(x: object) -> Tensor:
    """Return the tensors of all ranks behind each other, on their first axis, in order.

    Every rank gives the same shape (of at least one axis) and type.
    """
    return talked(AllGather, x, ranks=size(), rank=rank())


def broadcast(x: object, root: int = 0) -> Tensor:
    """Return the tensor of one rank, on all of them; every rank gives the same shape and type."""
    if not 0 <= root < size():
        raise protocol.WorldError(f"broadcast from rank {root}, there are {size()} ranks")
    return talked(Broadcast, x, root=root, rank=rank())


def barrier() -> None:
    """Wait until all ranks are here; in a function, when it is run."""
    if STATE.context is None:
        protocol.barrier(world())
    else:
        all_reduce(np.zeros((), np.int32))


def ordered_sum(parts: Sequence[object]) -> Tensor:
    """Return the sum of the parts of all ranks, added one by one in order of ranks and parts.

    So the result is the same, bit for bit, for any number of ranks that share the same parts
    out in order: two ranks of four parts, four ranks of two. All parts have one shape and type.
    It sends more than `all_reduce` does.
    """
    if not parts:
        raise ValueError("a sum of no parts")
    whole = all_gather(stack([as_tensor(part) for part in parts]))
    total = whole[0]
    for number in range(1, len(parts) * size()):
        total = add(total, whole[number])
    return total


def talked(op: type[Op], x: object, **attributes: object) -> Tensor:
    """Carry an operation out; with one rank it gives what it gets."""
    tensor = as_tensor(x)
    if size() > 1:
        made: Tensor = apply(op, tensor, **attributes)
        return made
    spec = tensor.spec
    op.infer(spec, **attributes)
    return identity(tensor)
