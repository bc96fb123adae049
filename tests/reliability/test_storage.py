"""Disks and caches that are damaged, full, or not there: never half a file or a wrong result."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv

MODEL = Path(__file__).parent.parent / "models" / "mlp.onnx"
X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8)


@pytest.fixture(scope="module")
def wanted() -> Any:
    return gv.compile(MODEL, cache=False)(X)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GRAVURE_CACHE", str(folder))
    return folder


def cut(path: Path) -> None:
    """Leave the first half of a file."""
    os.truncate(path, path.stat().st_size // 2)


def clear(path: Path) -> None:
    """Leave nothing of a file."""
    os.truncate(path, 0)


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [cut, clear, flip])
def test_damaged_cache_is_made_again(
    cache: Path, wanted: Any, damage: Callable[[Path], None]
) -> None:
    gv.compile(MODEL)
    files = sorted(cache.iterdir())
    whole = [path.read_bytes() for path in files]
    for path in files:
        damage(path)
    model = gv.compile(MODEL)
    assert model.compiled.cached == 0
    np.testing.assert_array_equal(model(X), wanted)
    assert [path.read_bytes() for path in files] == whole
    assert gv.compile(MODEL).compiled.cached > 0


def test_cache_that_cannot_be_written_is_off_with_one_warning(cache: Path, wanted: Any) -> None:
    cache.write_text("a file where a folder should be")
    with pytest.warns(RuntimeWarning, match="no object cache") as warned:
        model = gv.compile(MODEL)
    assert len(warned) == 1
    np.testing.assert_array_equal(model(X), wanted)


def test_cache_that_cannot_be_looked_into_is_off_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: Any
) -> None:
    """Where the home is another user's, whatever asks whether there is a folder raised."""
    folder, stat = tmp_path / "home" / "cache", Path.stat

    def denied(path: Path, **options: Any) -> os.stat_result:
        if path.is_relative_to(folder):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    def none(path: Path, *_: Any, **__: Any) -> None:
        denied(path)

    monkeypatch.setenv("GRAVURE_CACHE", str(folder))
    for name, function in (("stat", denied), ("mkdir", none), ("read_bytes", none)):
        monkeypatch.setattr(Path, name, function)
    with pytest.warns(RuntimeWarning, match="no object cache.*Permission denied") as warned:
        model = gv.compile(MODEL)
    assert len(warned) == 1
    np.testing.assert_array_equal(model(X), wanted)


LIMITED = """
import resource, signal, sys, warnings
import numpy as np
import gravure as gv
warnings.simplefilter("ignore")
model = gv.compile(sys.argv[1], cache=False)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    model.save(sys.argv[2])
except OSError as error:
    print(type(error).__name__, error.errno)
"""


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["so", "o", "a", "h"])
def test_full_disk_leaves_the_old_artefact(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mlp.{suffix}"
    path.write_text("old")
    assert run(LIMITED, str(MODEL), str(path)).strip() == "OutputError 27"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


SHARED = """
import sys
import numpy as np
import gravure as gv
print(gv.compile(sys.argv[1])(np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8)).tolist())
"""


FOUND = """
import sys
import gravure as gv
print(gv.compile(sys.argv[1]).compiled.cached)
"""


@pytest.mark.slow
def test_processes_that_fill_one_cache_at_a_time_agree(cache: Path, wanted: Any) -> None:
    command = [sys.executable, "-c", SHARED, str(MODEL)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    workers = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    printed = {worker.communicate()[0].strip() for worker in workers}
    assert printed == {str(wanted.tolist())}
    assert not list(cache.glob("*.tmp"))
    # In another process too: this one may have operations of tests, which belong into the keys.
    assert int(run(FOUND, str(MODEL))) > 0


def run(script: str, *arguments: str) -> str:
    """Return what a process prints; where files are cut, none of Python's own is written."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
