"""What a call gives does not depend on what was done before, or is done beside it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SESSION = Path(__file__).with_name("history_session.py")
COUNT = int(os.environ.get("GRAVURE_HISTORIES", "2"))
"""How many histories are drawn: each takes some seconds."""


@pytest.mark.slow
def test_any_order_of_calls_gives_what_each_gives_alone(tmp_path: Path) -> None:
    environment = {**os.environ, "GRAVURE_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, str(SESSION), "0", str(COUNT)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[-8000:]
    assert done.stdout.startswith(f"{COUNT} histories, ")
