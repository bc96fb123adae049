"""Objects and archives for other linkers."""

import ctypes
import io
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gravure.codegen.aot.elf import Object
from gravure.codegen.aot.static import archive, merge
from gravure.codegen.aot.weights import Weights
from gravure.codegen.llvm.compile import assemble
from gravure.errors import CompileError
from gravure.target import Target

TEXTS = (
    """
declare hidden float @inner(float)
@m.weights = external hidden global float
define float @m_outer(float %x) nounwind {
  %y = call float @inner(float %x)
  %w = load float, ptr @m.weights
  %z = fadd float %y, %w
  ret float %z
}
""",
    """
@kept = internal constant [4 x float] [float 1.0, float 2.0, float 3.0, float 4.0]
define hidden float @inner(float %x) nounwind {
  %n = fptosi float %x to i64
  %p = getelementptr float, ptr @kept, i64 %n
  %v = load float, ptr %p
  %y = fmul float %v, 0.5
  ret float %y
}
""",
)


def merged(target: str, weights: bool = True) -> bytes:
    objects = [assemble(text, Target.parse(target)) for text in TEXTS]
    blob = Weights.of(np.array([10.0], np.float32)) if weights else None
    return merge(objects, "m", blob)


@pytest.mark.parametrize("target", ["x86-64-v3", "aarch64", "riscv64"])
def test_only_the_api_is_global(target: str) -> None:
    found = Object.read(merged(target))
    assert [each.name for each in found.symbols if each.is_global] == ["m_outer"]
    assert [each.name for each in found.symbols if each.is_wanted] == []
    relocations = sum(len(each) for each in found.relocations.values())
    assert relocations >= 3


def test_what_is_not_defined_stays_wanted() -> None:
    found = Object.read(merged("x86-64-v3", weights=False))
    assert [each.name for each in found.symbols if each.is_wanted] == ["m.weights"]


def test_same_bytes_each_time() -> None:
    assert archive("m.o", merged("aarch64")) == archive("m.o", merged("aarch64"))


def test_large_weights_are_refused() -> None:
    with pytest.raises(CompileError, match="at most in an object"):
        merge([assemble(TEXTS[1], Target.parse("x86-64-v3"))], "m", Weights(2 << 30, tuple))


def test_archive_has_an_index_and_one_member() -> None:
    data = merged("riscv64")
    file = io.BytesIO(archive("m.o", data))
    assert file.read(8) == b"!<arch>\n"
    index = file.read(60)
    assert index[:16] == b"/               "
    size = int(index[48:58])
    body = file.read(size)
    assert body[:4] == (1).to_bytes(4, "big")
    assert body[8:].rstrip(b"\0") == b"m_outer"
    assert int.from_bytes(body[4:8], "big") == file.tell()
    member = file.read(60)
    assert member[:16] == b"m.o/            "
    assert file.read(int(member[48:58])) == data


@pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler")
@pytest.mark.parametrize("form", ["o", "a"])
def test_other_linker_takes_it(tmp_path: Path, form: str) -> None:
    data = merged("x86-64-v3")
    path = tmp_path / f"m.{form}"
    path.write_bytes(data if form == "o" else archive("m.o", data))
    caller = tmp_path / "caller.c"
    caller.write_text("float m_outer(float); float call(float x) { return m_outer(x); }\n")
    shared = tmp_path / "caller.so"
    command = ["gcc", "-shared", "-fPIC", "-Wl,-z,text", "-Wl,--fatal-warnings", "-o", str(shared)]
    subprocess.run([*command, str(caller), str(path)], check=True)
    call = ctypes.CDLL(str(shared)).call
    call.restype, call.argtypes = ctypes.c_float, [ctypes.c_float]
    assert call(2.0) == 11.5


@pytest.mark.skipif(not shutil.which("readelf"), reason="no binutils")
@pytest.mark.parametrize("target", ["x86-64-v3", "aarch64", "riscv64"])
def test_other_tools_read_it(tmp_path: Path, target: str) -> None:
    path = tmp_path / "m.a"
    path.write_bytes(archive("m.o", merged(target)))
    done = subprocess.run(["readelf", "-aW", str(path)], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert ".note.GNU-stack" in done.stdout
    assert (
        "m_outer"
        in subprocess.run(
            ["nm", "-s", str(path)], capture_output=True, text=True, check=True
        ).stdout
    )
