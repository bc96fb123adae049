"""Whichever change of a folder fails, or comes before a kill: the newest state is there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LEAST = {"saver": 40, "manager": 40, "module": 50, "artefact": 20, "listing": 40, "cache": 15}
"""Fewer changes than this would mean that they are not seen."""


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    library = tmp_path_factory.mktemp("shim") / "faults.so"
    source = HERE / "faults.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAST)
def test_no_change_that_fails_or_kills_loses_a_state(name: str, shim: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment["LD_PRELOAD"] = str(shim)
    command = [sys.executable, str(HERE / "fault_session.py"), name, str(tmp_path / "folder")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= LEAST[name]
