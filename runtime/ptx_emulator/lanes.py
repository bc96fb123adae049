"""What barriers and the search for races see of the lanes that an emulator runs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

from .memory import Array, Scratch


class Order(Protocol):
    """What keeps count of which warp knows of which other one's steps."""

    def arrive(self, key: Hashable, block: int, warp: int) -> None:
        """Note that a warp has come to a barrier."""

    def complete(self, key: Hashable) -> None:
        """Note that all have come."""

    def passed(self, key: Hashable, block: int, warp: int) -> None:
        """Note that a warp goes on behind a barrier."""


class Lanes(Protocol):
    """The lanes of some blocks: where they are, and what they wait for."""

    program: Any
    lanes: Array | None
    threads: int
    cluster: int
    lanes_per_block: int
    count: int
    blocks: Array
    block_of: Array
    warp_of: Array
    state: Array
    pc: Array
    shared: Scratch

    @property
    def races(self) -> Order | None:
        """Return what looks for races, if anything does."""

    def active(self) -> Array:
        """Return the numbers of the lanes that an instruction is done for."""

    def of_lanes(self, values: Array) -> Array:
        """Return what belongs to these lanes."""

    def wake(self) -> None:
        """Let the lanes look again that wait for a phase."""
