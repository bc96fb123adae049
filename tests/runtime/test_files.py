"""Files are the old ones or the new ones, whatever happens while they are written."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gravure.codegen.aot.weights import Weights
from gravure.errors import OutputError
from gravure.runtime.files import ASIDE, replacing, sweep, together

ROOT = Path(__file__).parents[2]

WRITE_FOREVER = """
import sys
sys.path.insert(0, sys.argv[1])
from gravure.runtime.files import replacing

letter = 0
while True:
    letter ^= 1
    with replacing(sys.argv[2]) as file:
        for _ in range(64):
            file.write(b"ab"[letter:letter + 1] * 4096)
    print(flush=True)
"""

WRITE_TOO_MUCH = """
import resource, signal, sys
sys.path.insert(0, sys.argv[1])
from gravure.errors import OutputError
from gravure.runtime.files import replacing

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    with replacing(sys.argv[2]) as file:
        for _ in range(100):
            file.write(bytes(1000))
except OutputError as error:
    print(error.errno, error)
"""


def test_new_content_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["none/file", "file/below", "folder"])
def test_a_place_that_is_none_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    wrong = tmp_path / name if name == "folder" else (tmp_path / name).parent
    with (
        pytest.raises(OutputError, match="cannot write") as caught,
        replacing(tmp_path / name) as file,
    ):
        file.write(b"new")
    assert caught.value.location == str(wrong)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder"]


def test_a_pipe_is_written_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(pipe) as file:
        file.write(b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert pipe.is_fifo()
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


def test_a_disk_that_may_only_be_read_is_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.mkstemp", refused)
    with (
        pytest.raises(OutputError, match="cannot write: read-only file system"),
        replacing(tmp_path / "file"),
    ):
        pass


def test_an_error_of_who_writes_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "file"):
        (tmp_path / "none").read_bytes()


def test_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    command = [sys.executable, "-B", "-c", WRITE_TOO_MUCH, str(ROOT), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"27 {path}: cannot write: file too large\n"
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    command = [sys.executable, "-c", WRITE_FOREVER, str(ROOT), str(path)]
    for number in range(5):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.001 * number)
            writer.send_signal(signal.SIGKILL)
        data = path.read_bytes()
        assert data in (b"a" * len(data), b"b" * len(data))
        assert len(data) == 64 * 4096


def test_permissions_are_those_of_a_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        for name, mode in (("plain", 0o644), ("program", 0o755)):
            with replacing(tmp_path / name, mode=mode):
                pass
            assert (tmp_path / name).stat().st_mode & 0o777 == mode & ~0o027
    finally:
        os.umask(before)


def test_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "file", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_weights_are_buffers_one_after_the_other() -> None:
    weights = Weights.of(b"ab", bytearray(b"cd"), memoryview(b"e"))
    assert weights.size == 5
    assert b"".join(weights.chunks()) == b"abcde"
    assert weights.digest == Weights.of(b"abcde").digest


def test_weights_are_pieces_at_their_places() -> None:
    weights = Weights.placed(10, {6: lambda: b"xy", 1: lambda: b"ab"})
    assert b"".join(weights.chunks()) == b"\0ab\0\0\0xy\0\0"
    with pytest.raises(AssertionError, match="overlap"):
        list(Weights.placed(10, {0: lambda: b"abc", 2: lambda: b"d"}).chunks())
    with pytest.raises(AssertionError, match="over the end"):
        list(Weights.placed(2, {0: lambda: b"abc"}).chunks())


def write_all(paths: list[Path]) -> None:
    with together():
        for path in paths:
            with replacing(path) as file:
                file.write(b"new")


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_files_that_are_written_together_are_all_new(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "abc"]
    paths[1].write_bytes(b"old")
    with together() as files:
        for path in (*paths, paths[0]):  # the last one that is written stays
            with replacing(path) as file:
                file.write(path.name.encode())
            assert files.path(path).read_bytes() == path.name.encode()
        assert sweep(tmp_path) == []  # somebody writes them
        assert [path for path in paths if path.exists()] == [paths[1]]
        assert paths[1].read_bytes() == b"old"
    assert held(tmp_path) == {"a": b"a", "b": b"b", "c": b"c"}
    with together(), replacing(tmp_path / "a") as file:
        file.write(b"alone")
    assert held(tmp_path) == {"a": b"alone", "b": b"b", "c": b"c"}
    with together():
        pass


def test_files_that_are_written_together_stay_where_one_fails(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "abc"]
    paths[0].write_bytes(b"old")
    paths[2].mkdir()
    with pytest.raises(OutputError, match="cannot write"):
        write_all(paths)
    assert held(tmp_path) == {"a": b"old"}
    with pytest.raises(OutputError, match="cannot write"), together():
        write_all([*paths[:2], tmp_path / "none" / "d"])  # a part of the outer block
    assert held(tmp_path) == {"a": b"old"}


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("linked", [True, False])
def test_files_that_are_written_together_give_their_places_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, linked: bool
) -> None:
    paths = [tmp_path / name for name in "abc"]
    for path in paths[:2]:
        path.write_bytes(b"old")
    inode = os.stat(paths[0]).st_ino
    replace = os.replace

    def refused(source: Path, target: Path) -> None:
        if target == paths[number] and source.read_bytes() == b"new":
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        replace(source, target)

    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr("os.replace", refused)
    if not linked:
        monkeypatch.setattr("os.link", no_link)
    with pytest.raises(OutputError, match="cannot write: operation not permitted"):
        write_all(paths)
    assert held(tmp_path) == {"a": b"old", "b": b"old"}
    assert (os.stat(paths[0]).st_ino == inode) == (linked or number == 0)
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(ASIDE)]
