"""Steps of a plan, ready to run: stretches of launches, and the choices and loops between them.

A stretch is one `Replay` of the driver. The processor decides where there is a choice or a loop: it
waits for the flag to be computed and reads it, so each decision costs one way to the device and
back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ..expression import evaluate
from .driver import Code, Driver, Find, Replay, make_nodes
from .plan import GpuChoice, GpuLaunch, GpuLoop, GpuPlan, GpuStep, blocks_of


@dataclass(frozen=True)
class ReplaySequence:
    """Replays one behind the other."""

    parts: tuple[Replay, ...]

    def launch(self) -> None:
        """Run all in order."""
        for part in self.parts:
            part.launch()

    def close(self) -> None:
        """Give back what all kept."""
        for part in self.parts:
            part.close()


@dataclass(frozen=True)
class Decision:
    """A choice (`again` is false) or a loop between two replays, by a byte on the device."""

    driver: Driver
    flag: int
    first: Replay
    second: Replay
    again: bool

    def launch(self) -> None:
        """Run one of them, or the first, and as long as the byte then is not 0 both in turn."""
        if not self.again:
            (self.first if self.holds() else self.second).launch()
            return
        self.first.launch()
        while self.holds():
            self.second.launch()
            self.first.launch()

    def holds(self) -> bool:
        """Read the byte, when all before is done."""
        found = np.zeros(1, np.uint8)
        self.driver.read(self.flag, found)
        return bool(found[0])

    def close(self) -> None:
        """Give back what both kept."""
        self.first.close()
        self.second.close()


@dataclass(frozen=True)
class Maker:
    """Makes replays of a plan's steps for the values of its dimensions."""

    plan: GpuPlan
    values: Mapping[str, int]
    find: Find
    driver: Driver
    code: Code
    check: bool

    def replay(self, steps: Sequence[GpuStep]) -> Replay:
        """Return what runs steps in order."""
        parts: list[Replay] = []
        for plain, group in groupby(steps, lambda step: isinstance(step, GpuLaunch)):
            some = [*group]
            parts += [self.stretch(some)] if plain else [self.decision(step) for step in some]
        return parts[0] if len(parts) == 1 else ReplaySequence(tuple(parts))

    def stretch(self, steps: Sequence[GpuStep]) -> Replay:
        """Return what runs launches."""
        launches = [step for step in steps if isinstance(step, GpuLaunch)]
        nodes = make_nodes(self.plan, launches, self.values, self.find, self.driver)
        return self.driver.replay(self.code, nodes, check=self.check)

    def decision(self, step: GpuStep) -> Decision:
        """Return what runs a choice or a loop."""
        assert isinstance(step, GpuChoice | GpuLoop)
        flag = self.find(step.condition) + evaluate(step.condition.offset, self.values)
        first, second = map(self.replay, blocks_of(step))
        return Decision(self.driver, flag, first, second, isinstance(step, GpuLoop))
