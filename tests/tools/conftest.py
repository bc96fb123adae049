"""Runs the `gravure` command in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gravure.tools.cli import main

sys.path.insert(0, str(Path(__file__).parent))
MODELS = Path(__file__).parents[1] / "models"


@dataclass(frozen=True)
class Result:
    """What one command did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the result as data."""
        return json.loads(self.out)


Gravure = Callable[..., Result]


@pytest.fixture
def gravure(capsys: pytest.CaptureFixture[str]) -> Gravure:
    """Run a command with these arguments."""

    def run(*arguments: object) -> Result:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(status, captured.out, captured.err)

    return run


@pytest.fixture
def models() -> Path:
    """Return the folder of small models."""
    return MODELS
