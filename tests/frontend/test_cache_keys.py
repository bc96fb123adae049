"""Whatever a result depends on is seen by the cache of programs: no change is answered by it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure import extensions
from gravure.codegen import digests, keys
from gravure.codegen.cache import default_cache
from gravure.codegen.compiled import Options
from gravure.codegen.keys import key_of, stamp_of
from gravure.codegen.store import UNSEEN, program_key
from gravure.errors import GravureError
from gravure.frontend.files.weights import write_safetensors
from gravure.frontend.programs.load import load_program
from gravure.target import Target

SIZE = 600
"""More bytes than are read with the structure, and few enough to be folded."""
X = np.arange(SIZE, dtype=np.float32)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GRAVURE_CACHE", str(folder))
    return folder


def tensor(value: float, *, beside: str = "", offset: int = 0) -> TensorProto:
    """Return a tensor of one value, in the model or in a file beside it."""
    made = numpy_helper.from_array(np.full(SIZE, value, np.float32), "w")
    if beside:
        made.ClearField("raw_data")
        made.data_location = TensorProto.EXTERNAL
        for key, text in (("location", beside), ("offset", str(offset))):
            made.external_data.add(key=key, value=text)
        made.external_data.add(key="length", value=str(4 * SIZE))
    return made


def graph(nodes: list[Any], stored: list[TensorProto], name: str = "g") -> Any:
    info = helper.make_tensor_value_info
    inputs = [info("x", TensorProto.FLOAT, [SIZE])] if name == "g" else []
    return helper.make_graph(
        nodes, name, inputs, [info("y", TensorProto.FLOAT, [SIZE])], initializer=stored
    )


def save(folder: Path, nodes: list[Any], stored: list[TensorProto], **more: Any) -> Path:
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph(nodes, stored), opset_imports=opsets, ir_version=9, **more)
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path


ADD = helper.make_node("Add", ["x", "w"], ["y"])


def data_file(folder: Path, *values: float) -> None:
    """Write so many tensors of one value each, one after the other."""
    (folder / "d.bin").write_bytes(np.repeat(np.float32(values), SIZE).tobytes())


def inline(folder: Path, value: float) -> Path:
    return save(folder, [ADD], [tensor(value)])


def folded(folder: Path, value: float) -> Path:
    """The compiler computes with the bytes: the weight is squared before anything runs."""
    square = helper.make_node("Mul", ["w", "w"], ["s"])
    root = helper.make_node("Sqrt", ["s"], ["r"])
    return save(folder, [square, root, helper.make_node("Add", ["x", "r"], ["y"])], [tensor(value)])


def external(folder: Path, value: float) -> Path:
    data_file(folder, value)
    return save(folder, [ADD], [tensor(0, beside="d.bin")])


def external_offset(folder: Path, value: float) -> Path:
    data_file(folder, 1, 2, 3)
    return save(folder, [ADD], [tensor(0, beside="d.bin", offset=4 * SIZE * (int(value) - 1))])


def in_attribute(folder: Path, value: float) -> Path:
    data_file(folder, value)
    constant = helper.make_node("Constant", [], ["w"], value=tensor(0, beside="d.bin"))
    return save(folder, [constant, ADD], [])


def in_subgraph(folder: Path, value: float) -> Path:
    data_file(folder, value)
    taken = graph([helper.make_node("Add", ["x", "w"], ["y"])], [tensor(0, beside="d.bin")], "t")
    other = graph([helper.make_node("Neg", ["x"], ["y"])], [], "e")
    flag = numpy_helper.from_array(np.array(0.0, np.float32), "zero")
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["flag"]),
        helper.make_node("If", ["flag"], ["y"], then_branch=taken, else_branch=other),
    ]
    return save(folder, nodes, [flag])


def in_function(folder: Path, value: float) -> Path:
    data_file(folder, value)
    body = [helper.make_node("Constant", [], ["w"], value=tensor(0, beside="d.bin")), ADD]
    opsets = [helper.make_opsetid("", 20)]
    function = helper.make_function("own", "plus", ["x"], ["y"], body, opsets)
    call = helper.make_node("plus", ["x"], ["y"], domain="own")
    return save(folder, [call], [], functions=[function])


TEXT = 'model m(x: f32[600]) -> (y) {\n  weight w: f32[600] from "d.safetensors"\n  y = x + w\n}\n'


def beside_text(folder: Path, value: float) -> Path:
    write_safetensors(folder / "d.safetensors", {"w": np.full(SIZE, value, np.float32)})
    (folder / "m.gv").write_text(TEXT)
    return folder / "m.gv"


def in_text(folder: Path, value: float) -> Path:
    (folder / "m.gv").write_text(TEXT.replace('from "d.safetensors"', f"= {value}"))
    return folder / "m.gv"


def beside_ir(folder: Path, value: float) -> Path:
    from gravure.frontend.files.ir_text import save_ir  # noqa: PLC0415

    program = load_program(beside_text(folder, value))
    save_ir(program, folder / "m.mlir")
    return folder / "m.mlir"


WAYS = [
    inline, folded, external, external_offset, in_attribute, in_subgraph, in_function,
    beside_text, in_text, beside_ir,
]  # fmt: skip


@pytest.mark.parametrize("write", WAYS)
def test_another_byte_is_another_program(
    tmp_path: Path, write: Callable[[Path, float], Path]
) -> None:
    for value in (1.0, 2.0):
        for turn in range(2):
            path = write(tmp_path, value)
            model = gv.compile(path, target="x86-64-v2")
            np.testing.assert_array_equal(model(X), X + value)
            assert (model.compiled.program is None) == (turn == 1)  # kept, and found again
        model.save(tmp_path / "m.so")
        np.testing.assert_array_equal(gv.load(tmp_path / "m.so")(X), X + value)


@pytest.mark.parametrize("write", [inline, external, beside_text])
def test_times_that_are_set_back_hide_nothing(
    tmp_path: Path, write: Callable[[Path, float], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "SETTLED", -1.0)  # as if the files had been there for long
    found = []
    for value in (1.0, 2.0, 1.0):
        path = write(tmp_path, value)
        for file in (path, *tmp_path.glob("d.*")):
            os.utime(file, ns=(10**18, 10**18))
        found.append(gv.compile(path, target="x86-64-v2")(X) - X)
    np.testing.assert_array_equal([row[0] for row in found], [1.0, 2.0, 1.0])


def test_what_a_file_holds_is_remembered_only_when_its_times_tell(tmp_path: Path) -> None:
    path, kept = tmp_path / "file", default_cache()
    reads = []

    def known() -> str:
        before = digests.Stamp.of(path)
        make = lambda: reads.append(1) or digests.digest_of(path.read_bytes())  # noqa: E731
        return digests.remembered([before], lambda: [digests.Stamp.of(path)], make, kept)

    path.write_bytes(b"one")
    first = known()
    assert known() == first
    assert len(reads) == 2  # it was written just now: it is read each time
    settled, digests.SETTLED = digests.SETTLED, -1.0
    try:
        assert [known(), known()] == [first] * 2
        assert len(reads) == 3
        path.write_bytes(b"two")
        assert known() != first
    finally:
        digests.SETTLED = settled


def test_a_file_that_is_gone_is_missed(tmp_path: Path) -> None:
    path = external(tmp_path, 1.0)
    gv.compile(path)
    (tmp_path / "d.bin").unlink()
    with pytest.raises(GravureError, match=r"d\.bin.*no such file"):
        gv.compile(path)


def test_a_file_that_changes_while_it_is_compiled_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("gravure.frontend.programs.compile")
    path, lowered = external(tmp_path, 1.0), module.compile_if_whole

    def meddled(*arguments: Any) -> Any:
        data_file(tmp_path, 2.0)
        return lowered(*arguments)

    monkeypatch.setattr(module, "compile_if_whole", meddled)
    gv.compile(path)
    assert not [e for e in default_cache().entries() if e.label.startswith(("program", "files"))]


def test_every_option_counts() -> None:
    target = Target.parse("x86-64-v2")
    other = {
        "target": "x86-64-v3", "mattr": "+aes", "host": "x86-64-v3", "tag": "t", "level": "O0",
        "passes": "dce", "dtype": "bf16", "disable": ("cse",), "slots": 3, "embed": False,
        "checks": False, "settable": ("w",), "extras": {"a": 1}, "numerics": "exact",
        "use_lib": "cblas", "recompute": True, "swap": True, "whichever": True,
    }  # fmt: skip
    assert other.keys() | {*UNSEEN} == vars(Options()).keys()
    keys = {program_key("s", Options(**{name: value}), target) for name, value in other.items()}
    assert len(keys | {program_key("s", Options(), target)}) == len(other) + 1


@pytest.mark.parametrize("name", ["GRAVURE_DUMP", "GRAVURE_CHECK", "GRAVURE_TIME"])
def test_who_wants_to_see_the_passes_sees_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = inline(tmp_path, 1.0)
    gv.compile(path)
    assert gv.compile(path).compiled.program is None
    monkeypatch.setenv(name, str(tmp_path / "dump") if name == "GRAVURE_DUMP" else "1")
    assert gv.compile(path).compiled.program is not None
    assert name != "GRAVURE_DUMP" or list((tmp_path / "dump").iterdir())


PLUGIN = """
from gravure.ir import register
from gravure.ir.families import Unary
from . import numbers

@register
class Moved(Unary):
    "A number more than each element."
    name = "own.moved"

    @classmethod
    def formula(cls, x):
        return x + {number}
"""
USE = """
import numpy as np, plugin.moved, gravure as gv
from gravure import tf
from gravure.frontend.eager.tensor import apply
f = tf.function(lambda x: apply(plugin.moved.Moved, x))
f.save("f.so", tf.TensorSpec([2]), frozen=True)
print(gv.load("f.so")(np.zeros(2, np.float32)).tolist())
"""


@pytest.mark.slow
def test_a_plugin_is_part_of_the_compiler(tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    folder.mkdir()
    for file in ("__init__.py", "numbers.py"):
        (folder / file).touch()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    for number in (1.0, 2.0):
        (folder / "moved.py").write_text(PLUGIN.format(number=number))
        done = subprocess.run(
            [sys.executable, "-c", USE], cwd=tmp_path, env=environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == str([number] * 2)


def test_what_is_registered_changes_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target.parse("x86-64-v2")
    monkeypatch.setattr(extensions, "REGISTERED", [])
    plain = key_of("source", target)
    extensions.note("operation", "own", load_program, lambda: None)  # gravure's own
    assert key_of("source", target) == plain
    extensions.note("operation", "other", save, lambda: None)
    assert key_of("source", target) != plain
    assert key_of("source", target) == key_of("source", target)


def test_what_is_kept_under_a_file_counts_what_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = inline(tmp_path, 1.0)
    gv.compile(path)
    assert gv.compile(path).compiled.program is None
    module = import_module("gravure.frontend.programs.compile")
    monkeypatch.setattr(module, "reader_stamp", lambda: "another reader")
    assert gv.compile(path).compiled.program is not None


def test_every_file_of_code_counts_for_the_compiler_or_for_the_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[str] = []
    monkeypatch.setattr(keys, "stamp_of", lambda files: found.extend(files) or "")
    keys.compiler_stamp.__wrapped__()
    keys.reader_stamp.__wrapped__()
    root = Path(keys.ROOT)
    folders = ("codegen", "frontend", "ir", "passes", "runtime")
    wanted = [*root.glob("*.py"), *(p for name in folders for p in (root / name).rglob("*.py"))]
    assert {f"/{path.relative_to(root)}" for path in wanted} <= {*found}
    assert len(found) == len({*found})


def test_code_that_changed_after_it_was_loaded_is_trusted_by_nobody(tmp_path: Path) -> None:
    old, new = tmp_path / "old.py", tmp_path / "new.py"
    for path in (old, new):
        path.write_text("")
    files = {"old.py": str(old), "new.py": str(new)}
    started, extensions.STARTED = extensions.STARTED, new.stat().st_mtime + 10
    try:
        assert stamp_of(files) == stamp_of(files)
        extensions.STARTED = started
        assert stamp_of(files) != stamp_of(files)
    finally:
        extensions.STARTED = started


def test_an_external_file_is_read_once_for_several_tensors(tmp_path: Path) -> None:
    data_file(tmp_path, 1.0, 2.0)
    first, second = (tensor(0, beside="d.bin", offset=4 * SIZE * n) for n in range(2))
    second.name = "v"
    nodes = [helper.make_node("Add", ["x", "w"], ["a"]), helper.make_node("Add", ["a", "v"], ["y"])]
    path = save(tmp_path, nodes, [first, second])
    assert not onnx.load(path, load_external_data=False).graph.initializer[0].raw_data
    for _ in range(2):
        np.testing.assert_array_equal(gv.compile(path)(X), X + 3)
