"""What holds for all conversions of the process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class AutographWarning(UserWarning):
    """A function could not be converted, and runs as it is: Python's choices and loops only."""


@dataclass
class Settings:
    """How conversions go."""

    verbosity: int = 0
    """From 1 on, which functions are converted is logged (`gravure.autograph`)."""
    also_prints: bool = False
    """Whether what is logged is printed, too."""

    def say(self, message: str) -> None:
        """Log what is done, where it is asked for."""
        if self.verbosity >= 1:
            LOGGER.warning(message)
            if self.also_prints:
                print(message)


SETTINGS = Settings()
LOGGER = logging.getLogger("gravure.autograph")


class TraceSettings(threading.local):
    """What is asked for in the function that is being traced."""

    features: frozenset[str] = frozenset()


ASKED = TraceSettings()


@contextmanager
def asking(features: frozenset[str]) -> Iterator[None]:
    """Let optional features be on while a function is traced."""
    before, ASKED.features = ASKED.features, features
    try:
        yield
    finally:
        ASKED.features = before
