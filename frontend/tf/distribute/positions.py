"""How far random operations have counted, as a leaf of checkpoints.

    {"seed": 7, "between": {...}, "replica":
        {"numbers": ...,                                        how eager draws get their seeds
         "used": [["RandomUniform", "f32", [7, 0], 8]],         counters of eager draws
         "draws": [["function 'step'", "RandomUniform", [7, 0], 0, 8]]}}        and of functions

What a replica has drawn is kept without its number: all of them draw equally often, so that the
first rank, which writes the checkpoint, tells it for those of other ranks as well.
"""

from __future__ import annotations

import json
from random import Random
from typing import Protocol, TypedDict

import numpy as np

from ....ir.op import Array
from ....ir.types.dtypes import u8
from ....ir.types.tensor import TensorSpec
from ...function.traces import ACTIVE
from ...graph.frame import NamedDraw
from ...graph.graph import spec_with_unknowns
from ...values.run_errors import InvalidArgumentError
from ..runs.seeds import Seeds

Numbers = tuple[int, tuple[int, ...], float | None]
"""The state of `random.Random`."""
Used = tuple[str, str, tuple[int, int], int]
Drawn = tuple[str, str, tuple[int, int], int, int]


class Replicas(Protocol):
    """What is asked of a strategy."""

    devices: list[str]

    @property
    def num_replicas_in_sync(self) -> int:
        """Return how many replicas there are, in all processes."""

    @property
    def first_replica(self) -> int:
        """Return the number of the first replica of this process."""


class Counts(TypedDict):
    """What one replica has drawn, or what was drawn between them."""

    numbers: Numbers | None
    used: list[Used]
    draws: list[Drawn]


class Positions(TypedDict):
    """What is kept."""

    seed: int | None
    between: Counts
    replica: Counts


class DrawsState:
    """How far the replicas of a strategy have drawn, and what was drawn between them."""

    def __init__(self, strategy: Replicas) -> None:
        self.strategy = strategy

    @property
    def spec(self) -> TensorSpec:
        """Return what the state is: bytes, of a number that nobody knows before."""
        return spec_with_unknowns(u8, (None,))

    @property
    def state(self) -> DrawsState:
        """Return what a checkpoint asks for the value."""
        return self

    def value_in(self, store: object) -> Array:
        """Return the counts as an array of bytes; those of all replicas must be the same."""
        first = self.strategy.first_replica
        own = range(first, first + len(self.strategy.devices))
        counts = [counted(replica) for replica in own]
        for replica, each in zip(own, counts, strict=True):
            if each != counts[0]:
                raise InvalidArgumentError(
                    f"replica {replica} has drawn other random numbers than replica {first}: a "
                    "checkpoint keeps how far all replicas of an ordered strategy have drawn"
                )
        kept: Positions = {"seed": Seeds.value, "between": counted(None), "replica": counts[0]}
        return np.frombuffer(json.dumps(kept).encode(), np.uint8)

    def assign(self, value: object) -> None:
        """Go on drawing from there, if the seed is the same."""
        kept: Positions = json.loads(np.asarray(value, np.uint8).tobytes())
        if kept["seed"] != Seeds.value:
            return
        take(None, kept["between"])
        for replica in range(self.strategy.num_replicas_in_sync):
            take(replica, kept["replica"])


def counted(replica: int | None) -> Counts:
    """Return what a replica has drawn; None: what was drawn between them."""
    numbers = Seeds.numbers if replica is None else Seeds.of_replicas.get(replica)
    used = [(*key[1:], n) for key, n in [*Seeds.used.items()] if key[0] == replica]
    draws = [
        (*key[1:], n)
        for key, n in [*ACTIVE[-1].draws.items()]
        if isinstance(key, NamedDraw) and key.replica == replica
    ]
    state = None if numbers is None else numbers.getstate()
    return {"numbers": state, "used": sorted(used), "draws": sorted(draws)}


def take(replica: int | None, counts: Counts) -> None:
    """Let a replica go on from what it, or another one, has drawn."""
    if counts["numbers"] is not None:
        version, words, rest = counts["numbers"]
        numbers = Seeds.numbers if replica is None else Random()
        numbers.setstate((version, tuple(words), rest))
        if replica is not None:
            Seeds.of_replicas[replica] = numbers
    for key in [key for key in [*Seeds.used] if key[0] == replica]:
        del Seeds.used[key]
    draws = ACTIVE[-1].draws
    for each in [each for each in [*draws] if is_of(each, replica)]:
        del draws[each]
    for type_, kind, seeds, used in counts["used"]:
        Seeds.used[replica, type_, kind, (seeds[0], seeds[1])] = used
    for function, type_, seeds, place, used in counts["draws"]:
        draws[NamedDraw(replica, function, type_, (seeds[0], seeds[1]), place)] = used


def is_of(counter: object, replica: int | None) -> bool:
    """Say whether a counter is one of a replica's, by name."""
    return isinstance(counter, NamedDraw) and counter.replica == replica
