"""Batches in parts that follow each other through the tasks of a network, as in a pipeline.

    for number, rows in enumerate(tf.split(x, 4)):         stage       0   1   2   3   4
        with gv.distributed.micro_batch(number):           worker:0    f0  f1  f2  f3
            losses.append(loss_of(rows))                                       b0  b1  b2 ...
                                                           worker:1        f0  f1  f2  f3
                                                                           b0  b1  b2  b3

Tasks work in stages, and what another task needs is sent behind the stage that makes it. So a part
begins as many stages later as it has a number: while one task is at a part, the one before it is at
the next part, and gradients go back as soon as they can. What is computed stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..graph.graph import Operation
from ..graph.transfers import marked

ATTRIBUTE = "_micro_batch"
"""The attribute of operations that says to which part of a batch they belong."""


@contextmanager
def micro_batch(number: int) -> Iterator[None]:
    """Let the operations made within belong to a part of a batch, counted from 0.

    Raises `ValueError` for another number, and where operations run at once: one ends there before
    the next one begins.
    """
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"micro_batch({number!r}), expected a number from 0")
    with marked("micro_batch", lambda op: op.attributes.setdefault(ATTRIBUTE, number)):
        yield


def is_of_part(op: Operation) -> bool:
    """Say whether an operation belongs to a part of a batch."""
    return ATTRIBUTE in op.attributes


def first_stage(op: Operation) -> int:
    """Return before which stage an operation does not begin."""
    found: int = op.attributes.get(ATTRIBUTE, 0)
    return found
