"""The object cache gives back what was put, or nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gravure.codegen.llvm import cache as module
from gravure.codegen.llvm.cache import Cache, default_cache, default_folder, key_of
from gravure.target import Target

V3 = Target.parse("x86-64-v3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "objects"


def test_what_was_put_comes_back(folder: Path) -> None:
    kept = Cache(folder)
    key = key_of("text", V3)
    assert kept.get(key) is None
    kept.put(key, b"object")
    assert Cache(folder).get(key) == b"object"
    assert [entry.path.name for entry in kept.entries()] == [key + ".object"]
    assert kept.size() == len(b"object") + 32
    assert kept.clear() == 1
    assert kept.get(key) is None


def test_an_object_is_made_once(folder: Path) -> None:
    made = []

    def make() -> bytes:
        made.append(1)
        return b"x"

    for _ in range(3):
        assert Cache(folder).get_or_make("key", make) == b"x"
    assert len(made) == 1


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_a_damaged_file_is_a_miss_and_goes_away(folder: Path, damage: bytes | None) -> None:
    kept = Cache(folder)
    kept.put("key", b"object")
    path = folder / "key.object"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"T" if damage is None else damage)
    assert kept.get("key") is None
    assert not path.exists()


def test_all_that_decides_an_object_is_in_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {
        key_of("text", V3),
        key_of("text2", V3),
        key_of("text", Target.parse("x86-64-v3", "+gfni")),
        key_of("text", Target.parse("haswell")),
        key_of("text", Target.parse("aarch64")),
        key_of("text", Target.parse("x86_64-apple-darwin", "+avx2")),
    }
    monkeypatch.setattr(module, "FORMAT", module.FORMAT + 1)
    keys.add(key_of("text", V3))
    monkeypatch.setattr(module, "llvmlite_version", "0.0")
    keys.add(key_of("text", V3))
    assert len(keys) == 8
    assert key_of("text", V3) == key_of("text", Target.parse("x86-64-v3"))


def test_a_folder_that_cannot_be_written_turns_it_off_with_one_warning(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    kept = Cache(blocked / "objects")
    with pytest.warns(RuntimeWarning, match="no object cache"):
        kept.put("key", b"object")
    kept.put("key", b"object")
    assert kept.get("key") is None
    assert list(kept.entries()) == []


def test_reading_through_a_file_turns_it_off_too(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.warns(RuntimeWarning, match="no object cache"):
        assert Cache(blocked).get("key") is None


def test_the_environment_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("GRAVURE_CACHE", raising=False)
    assert default_folder() == tmp_path / ".cache" / "gravure"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_folder() == tmp_path / "x" / "gravure"
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path / "y"))
    assert default_folder() == tmp_path / "y"
    assert default_cache() is default_cache()
    monkeypatch.setenv("GRAVURE_CACHE", "off")
    assert default_folder() is None
    off = default_cache()
    off.put("key", b"object")
    assert off.get("key") is None
    assert (off.clear(), off.size()) == (0, 0)
    monkeypatch.delenv("GRAVURE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    assert default_folder() is None


def test_files_left_by_killed_processes_are_swept(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    folder.mkdir()
    old, new = folder / "old.tmp", folder / "new.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    hours_ago = time.time() - 7200
    os.utime(old, (hours_ago, hours_ago))
    monkeypatch.setenv("GRAVURE_CACHE", str(folder))
    default_cache()
    assert [path.name for path in folder.iterdir()] == ["new.tmp"]
    default_cache().clear()
    assert list(folder.iterdir()) == []


def test_writers_and_readers_in_many_processes_never_see_half_a_file(folder: Path) -> None:
    script = """
import sys
from pathlib import Path
from gravure.codegen.llvm.cache import Cache
cache = Cache(Path(sys.argv[1]))
for turn in range(150):
    size = 1000 * (1 + turn % 7)
    cache.put("key", bytes([int(sys.argv[2])]) * size)
    found = cache.get("key")
    assert found is not None and len(set(found)) == 1 and len(found) % 1000 == 0
"""
    command = [sys.executable, "-c", script, str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    workers = [subprocess.Popen([*command, str(n)], env=environment) for n in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert list(folder.glob("*.tmp")) == []
