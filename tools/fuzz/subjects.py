"""The kinds of files: examples of each, how they are changed, and who reads them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np

from ...codegen.cache import Cache
from ...codegen.compiled import Options
from ...errors import GravureError
from ...frontend.files.ir_text import ir_text
from ...frontend.files.records import Records
from ...frontend.files.weights import read_safetensors, write_safetensors
from ...frontend.graph.checkpoint_ops import NOTE, Note, read, write
from ...frontend.onnx.export.model import to_model
from ...frontend.programs.compile import compile, load  # noqa: A004  (it is called that)
from ...frontend.programs.load import load_program
from ...runtime.gpu.file import from_bytes
from ...target import Target
from .mutate import (
    Change,
    behind_length,
    bytes_changed,
    json_changed,
    records_changed,
    text_changed,
)
from .workers import READ, REFUSED

Reader = Callable[[bytes, Random], None]


@dataclass(frozen=True)
class Subject:
    """One kind of file."""

    name: str
    examples: Callable[[], Sequence[bytes]]
    changes: tuple[Change, ...]
    reader: Reader
    suffixes: tuple[str, ...] = ()

    def case(self, seed: int, number: int, more: Sequence[bytes] = ()) -> bytes:
        """Return the file of a case, the same each time."""
        random = Random(f"{self.name} {seed} {number}")
        example = random.choice([*examples_of(self), *more])
        return random.choice(self.changes)(example, random)

    def judge(self, data: bytes) -> tuple[int, str]:
        """Read a file; what is not refused by an error of ours is a fault, and goes on up."""
        try:
            self.reader(data, Random(len(data)))
        except GravureError as error:
            return REFUSED, str(error)
        return READ, ""


@cache
def examples_of(subject: Subject) -> Sequence[bytes]:
    """Return the examples of a kind, made once."""
    return subject.examples()


TEXTS = (
    """model mlp(x: f32[N, 8], N in 1..64) -> (y) {
  weight w1: f32[8, 16] = random(seed=1)
  weight b1: f32[16] = zeros
  const half: f32[] = 0.5
  h = relu(x @ w1 + b1) * half
  y = softmax(h, axis=-1)
}
""",
    """model conv(x: f32[1, 3, 8, 8]) -> (y) {
  weight w: f32[4, 3, 3, 3] = random(seed=1)
  a = conv(x, w, strides=[1, 1], pads=[[1, 1], [1, 1]], dilations=[1, 1], groups=1)
  y = mean(sigmoid(a), axes=[2, 3], keepdims=true)
}
""",
    """model loop(x: f32[4], c: bool[]) -> (y, n) {
  z = if c with a = x { yield a * 2.0 } else { yield -a }
  n, y = while i = 0, v = z with limit = 3 { yield i < limit } do { yield i + 1, v * v }
}
""",
    """function twice(x: f32[3]) -> (y) { y = x + x }
model calls(x: f32[3], k: i64[2]) -> (y) {
  const t: f32[3] = [1.0, -inf, nan]
  a = transpose(reshape(concat(x, t, axis=0), shape=[2, 3]), order=[1, 0])
  y = twice(a[0:3:2, 0][0] + x) + gather(t, k, axis=0)[0]
}
""",
)


def texts() -> list[bytes]:
    """Return graphs as people write them."""
    return [text.encode() for text in TEXTS]


def models() -> list[bytes]:
    """Return ONNX models: the texts', and the small ones that come with the onnx package."""
    made = [to_model(load_program(text)).SerializeToString() for text in texts()]
    spec = find_spec("onnx")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        paths = sorted((Path(folder) / "backend" / "test" / "data").rglob("model.onnx"))
        made += [data for path in paths if len(data := path.read_bytes()) < 1 << 16]
    return made


def listings() -> list[bytes]:
    """Return IR text, of several levels."""
    return [ir_text(load_program(text)).encode() for text in texts()]


ARRAYS: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array(3, np.int64),
    "c": np.array([1 + 2j]),
    "d": np.zeros((0, 2), np.float16),
}


def _in_folder(name: str, make: Callable[[Path], object]) -> bytes:
    """Return a file that something writes into a folder."""
    with tempfile.TemporaryDirectory(prefix="gravure-fuzz-") as folder:
        make(Path(folder))
        return (Path(folder) / name).read_bytes()


def weights() -> list[bytes]:
    """Return a file of weights."""
    return [_in_folder("w", lambda folder: write_safetensors(folder / "w", ARRAYS))]


def checkpoints() -> list[bytes]:
    """Return the file of a checkpoint."""
    return [_in_folder("c.safetensors", lambda folder: write(str(folder / "c"), ARRAYS, ["a"]))]


def notes() -> list[bytes]:
    """Return the note of a folder of checkpoints."""
    return [json.dumps({"latest": "c-2", "all": ["c-1", "c-2"], "dropped": ["c-0"]}).encode()]


def records() -> list[bytes]:
    """Return a file of measured decisions."""
    key = Target.parse("x86-64-v3").key
    return [_in_folder("r", lambda folder: Records(key, {"a": 3}).write(folder / "r", {}))]


def libraries() -> list[bytes]:
    """Return a compiled model."""
    made = compile(TEXTS[0].encode())
    return [_in_folder("m.so", lambda folder: made.save(folder / "m.so"))]


def gpu_models() -> list[bytes]:
    """Return a model for GPUs."""
    text = "model m(x: f32[64]) -> (y) { y = exp(x) * 2.0 }"
    made = compile(text.encode(), target="cuda:sm_80", device="emulated")
    return [_in_folder("m.gpu", lambda folder: made.save(folder / "m.gpu"))]


def entries() -> list[bytes]:
    """Return an entry of the cache."""
    return [_in_folder("k.object", lambda folder: Cache(folder).put("k", b"content", "label"))]


OFTEN = 8
"""One of so many programs that can be read is compiled, too."""


def read_program(data: bytes, random: Random) -> None:
    """Read a program; compile some."""
    load_program(data)
    if not random.randrange(OFTEN):
        compile(data, options=Options(level=random.choice(("O0", "O2")), cache=False))


def _read_ir(data: bytes, random: Random) -> None:
    del random
    load_program(data, format="mlir")


def _read_entry(data: bytes, random: Random) -> None:
    del random

    def read_again(folder: Path) -> None:
        (folder / "k.object").write_bytes(data)
        found = Cache(folder).get("k")
        assert found in (None, b"content"), f"a damaged entry was used: {found!r}"

    _with_folder(read_again)


def _with_folder(use: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory(prefix="gravure-fuzz-") as folder:
        use(Path(folder))


def _read_checkpoint(data: bytes, random: Random) -> None:
    del random

    def read_again(folder: Path) -> None:
        (folder / "c.safetensors").write_bytes(data)
        for array in read(str(folder / "c")).values():
            array.sum()

    _with_folder(read_again)


def _read_note(data: bytes, random: Random) -> None:
    del random

    def read_again(folder: Path) -> None:
        (folder / NOTE).write_bytes(data)
        Note.read(folder / NOTE)

    _with_folder(read_again)


def _read_records(data: bytes, random: Random) -> None:
    del random

    def read_again(folder: Path) -> None:
        (folder / "r").write_bytes(data)
        Records.read(folder / "r", Target.parse("x86-64-v3"))

    _with_folder(read_again)


def _read_weights(data: bytes, random: Random) -> None:
    del random
    for array in read_safetensors(np.frombuffer(data, np.uint8), "w").values():
        array.sum()


def _read_library(data: bytes, random: Random) -> None:
    del random
    load(data)


def _read_gpu(data: bytes, random: Random) -> None:
    del random
    from_bytes(data)


HEAD = behind_length(json_changed)

SUBJECTS: Mapping[str, Subject] = {
    subject.name: subject
    for subject in (
        Subject("onnx", models, (records_changed, records_changed, bytes_changed), read_program,
                (".onnx",)),
        Subject("text", texts, (text_changed, text_changed, bytes_changed), read_program, (".gv",)),
        Subject("ir", listings, (text_changed, text_changed, bytes_changed), _read_ir, (".mlir",)),
        Subject("weights", weights, (HEAD, bytes_changed), _read_weights, (".safetensors",)),
        Subject("checkpoint", checkpoints, (HEAD, bytes_changed), _read_checkpoint),
        Subject("note", notes, (json_changed, bytes_changed), _read_note),
        Subject("records", records, (json_changed, bytes_changed), _read_records),
        Subject("library", libraries, (bytes_changed,), _read_library, (".so",)),
        Subject("gpu", gpu_models, (bytes_changed,), _read_gpu, (".gpu",)),
        Subject("cache", entries, (bytes_changed,), _read_entry),
    )
}  # fmt: skip
"""By name."""
