"""The object cache gives back what was put, or nothing."""

from __future__ import annotations

import grp
import os
import pwd
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gravure.codegen import keys as module
from gravure.codegen.cache import Cache, CacheError, default_cache, default_folder
from gravure.codegen.keys import key_of
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
    assert kept.size() == len(b"object") + 32 + len(key) + 2
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
    monkeypatch.setattr(module, "package_stamp", lambda: "other packages")
    keys.add(key_of("text", V3))
    monkeypatch.setattr(module, "compiler_stamp", lambda: "another compiler")
    keys.add(key_of("text", V3))
    keys.add(key_of("text", replace(V3, l2=V3.l2 * 2)))
    assert len(keys) == 10
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
from gravure.codegen.cache import Cache
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


def test_an_entry_copied_over_another_is_never_run(folder: Path) -> None:
    kept = Cache(folder)
    kept.put("one", b"object of one")
    kept.put("two", b"object of two")
    (folder / "two.object").write_bytes((folder / "one.object").read_bytes())
    assert kept.get("two") is None
    assert not (folder / "two.object").exists()
    assert kept.get("one") == b"object of one"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_folder_that_others_may_write_is_not_used(folder: Path, mode: int) -> None:
    Cache(folder).put("key", b"planted")
    folder.chmod(mode)
    kept = Cache(folder)
    with pytest.warns(RuntimeWarning, match="everybody may write it") as warned:
        assert kept.get("key") is None
    assert len(warned) == 1
    kept.put("other", b"object")
    assert len(list(folder.iterdir())) == 1


def test_the_folder_of_another_user_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache(folder).put("key", b"planted")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.warns(RuntimeWarning, match=f"it belongs to user {user}, expected {user + 1}"):
        assert Cache(folder).get("key") is None


def test_a_folder_that_a_group_of_several_users_may_write_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache(folder).put("key", b"planted")
    user, group = pwd.getpwuid(os.geteuid()), folder.stat().st_gid
    folder.chmod(0o770)

    def of_group(name: str, members: list[str], primary: int = group) -> bytes | None:
        row = grp.struct_group((name, "x", group, members))
        monkeypatch.setattr(grp, "getgrgid", lambda _: row)
        one = pwd.struct_passwd((*user[:3], primary, *user[4:]))
        monkeypatch.setattr(pwd, "getpwuid", lambda _: one)
        return Cache(folder).get("key")

    assert of_group(user.pw_name, []) == b"planted"
    assert of_group(user.pw_name, [user.pw_name]) == b"planted"
    others = (("users", [], group), (user.pw_name, ["eve"], group), (user.pw_name, [], group + 1))
    for name, members, primary in others:
        with pytest.warns(RuntimeWarning, match=f"group {group} may write it"):
            assert of_group(name, members, primary) is None

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(grp, "getgrgid", unknown)
    with pytest.warns(RuntimeWarning, match=f"group {group} may write it"):
        assert Cache(folder).get("key") is None


def test_a_new_folder_is_the_users_alone(folder: Path) -> None:
    Cache(folder).put("key", b"object")
    assert folder.stat().st_mode & 0o777 == 0o700


def aged(folder: Path, key: str, hours: float) -> None:
    """Let an entry be one that was used so long ago."""
    then = time.time() - 3600 * hours
    os.utime(folder / f"{key}.object", (then, then))


def test_what_was_used_the_longest_ago_goes_first(folder: Path) -> None:
    kept = Cache(folder, limit=10_000)
    for number, key in enumerate("abcdefghi"):
        kept.put(key, bytes(1000))
        aged(folder, key, 9 - number)
    assert kept.get("a") is not None  # used now
    for key in "jk":
        kept.put(key, bytes(1000))
    left = {entry.key for entry in kept.entries()}
    assert left == {"a", *"defghijk"}
    assert kept.size() <= 10_000
    aged(folder, "k", 20)
    assert [entry.key for entry in kept.trim(7000)] == ["k", "d", "e"]
    assert len(Cache(folder).trim(0)) == 6
    assert not list(kept.entries())


def test_short_processes_keep_within_the_limit_and_seldom_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    size = Cache.size
    monkeypatch.setattr(Cache, "size", lambda kept: counted.append(found := size(kept)) or found)
    for number in range(2000):  # each a process that keeps one small object
        Cache(folder, limit=100_000).put(f"{number}", bytes(200))
    assert 3 <= len(counted) < 20
    assert size(Cache(folder)) < 200_000 < 2000 * 200


def test_processes_that_trim_at_a_time_keep_within_the_limit(folder: Path) -> None:
    script = """
import sys
from pathlib import Path
from gravure.codegen.cache import Cache
cache = Cache(Path(sys.argv[1]), limit=20_000)
for turn in range(60):
    cache.put(f"{sys.argv[2]}-{turn}", bytes(1000))
    cache.get(f"{1 - int(sys.argv[2])}-{turn}")
"""
    command = [sys.executable, "-W", "error", "-c", script, str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    workers = [subprocess.Popen([*command, str(n)], env=environment) for n in range(2)]
    assert [worker.wait() for worker in workers] == [0, 0]
    assert 0 < Cache(folder).size() <= 40_000  # each counts on what it has seen of the other


def test_the_environment_says_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVURE_CACHE_SIZE", "3M")
    assert default_cache().limit == 3 << 20
    monkeypatch.setenv("GRAVURE_CACHE_SIZE", "much")
    with pytest.raises(CacheError, match="size 'much' is no number of bytes"):
        default_cache()
