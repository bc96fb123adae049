"""The linker: what is in a library, what is refused, and that its bytes are always the same."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure.codegen.aot.hashes import gnu_hash, system_v_hash
from gravure.codegen.aot.library import Library, link
from gravure.codegen.aot.weights import Weights
from gravure.codegen.llvm.compile import assemble
from gravure.errors import CompileError
from gravure.target import Target

TARGET = Target.parse("x86-64-v2")
MANIFEST = '@m_manifest = constant [3 x i8] c"{}\\00"\n'
ROOT = Path(__file__).parents[2]


def library(*texts: str, **options: Any) -> Library:
    return link([assemble(text, TARGET) for text in (MANIFEST, *texts)], "m", **options)


def loaded(made: Library, path: Path) -> ctypes.CDLL:
    made.save(path)
    return ctypes.CDLL(str(path))


CALL = """
declare hidden i64 @inner(i64)
define i64 @m_outer(i64 %x) nounwind {
  %y = call i64 @inner(i64 %x)
  %z = add i64 %y, 1
  ret i64 %z
}
"""
INNER = "define i64 @inner(i64 %x) nounwind {\n  %y = mul i64 %x, 3\n  ret i64 %y\n}\n"

POINTERS = """
@words = private constant [2 x i64] [i64 5, i64 7]
@table = internal constant [2 x ptr] [ptr @words, ptr getelementptr (i64, ptr @words, i64 1)]
define i64 @m_word(i64 %n) nounwind {
  %entry = getelementptr ptr, ptr @table, i64 %n
  %word = load ptr, ptr %entry
  %value = load i64, ptr %word
  ret i64 %value
}
"""

WEIGHTS = """
@m.weights = external hidden global i8
define ptr @m_weights() nounwind {
  ret ptr @m.weights
}
"""

EXTERNAL = """
declare double @cos(double)
@through = external global i8
define double @m_cos(double %x) nounwind {
  %y = call double @cos(double %x)
  ret double %y
}
"""


def test_objects_call_each_other(tmp_path: Path) -> None:
    assert loaded(library(CALL, INNER), tmp_path / "m.so").m_outer(5) == 16


def test_pointers_in_constants_are_moved(tmp_path: Path) -> None:
    module = loaded(library(POINTERS), tmp_path / "m.so")
    assert [module.m_word(0), module.m_word(1)] == [5, 7]


def test_address_of_an_own_export_is_computed(tmp_path: Path) -> None:
    text = """
declare i64 @m_other()
define ptr @m_where() nounwind {
  ret ptr @m_other
}
"""
    other = "define i64 @m_other() nounwind {\n  ret i64 41\n}\n"
    module = loaded(library(text, other), tmp_path / "m.so")
    module.m_where.restype = ctypes.c_void_p
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(module.m_where())() == 41


def test_weights_begin_at_a_page_and_are_found(tmp_path: Path) -> None:
    weights = np.arange(100_000, dtype=np.uint32)
    module = loaded(library(WEIGHTS, weights=Weights.of(weights)), tmp_path / "m.so")
    module.m_weights.restype = ctypes.c_void_p
    where = module.m_weights()
    assert where % 4096 == 0
    found = np.ctypeslib.as_array(ctypes.cast(where, ctypes.POINTER(ctypes.c_uint32)), (100_000,))
    assert np.array_equal(found, weights)


def test_function_of_a_library_is_imported_when_allowed(tmp_path: Path) -> None:
    module = loaded(library(EXTERNAL, libraries=["libm.so.6"]), tmp_path / "m.so")
    module.m_cos.restype, module.m_cos.argtypes = ctypes.c_double, [ctypes.c_double]
    assert module.m_cos(0.0) == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (EXTERNAL, "functions that no object defines: cos"),
        (WEIGHTS, r"no object defines: m\.weights"),
        ("@m_x = global i32 1", r"section '\.data': a library has no data that is written"),
        ("@m_x = global i32 0", r"section '\.bss': a library has no data that is written"),
        ("@m_x = thread_local global i32 1", "runs no code when it is loaded"),
        (
            "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }]"
            " [{ i32, ptr, ptr } { i32 1, ptr @f, ptr null }]\n"
            "define internal void @f() {\n  ret void\n}",
            r"section '\.ctors.*a library has no data",
        ),
    ],
)
def test_what_a_library_cannot_have_is_refused(text: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        library(text)


def test_name_defined_twice_is_our_mistake() -> None:
    with pytest.raises(AssertionError, match="'inner' is defined twice"):
        library(INNER, INNER)


def test_other_machine_is_refused() -> None:
    data = assemble(MANIFEST, Target.parse("aarch64"))
    with pytest.raises(CompileError, match="no shared libraries for aarch64"):
        link([data], "m")


def test_weights_of_another_size_are_our_mistake() -> None:
    weights = Weights(5, lambda: [b"abcd"])
    with pytest.raises(AssertionError, match="another size than was said"):
        library(WEIGHTS, weights=weights).tobytes()


def test_equal_constants_are_stored_once() -> None:
    text = """
define <4 x float> @m_{n}(<4 x float> %x) nounwind {{
  %y = fmul <4 x float> %x, <float 0.125, float 7.5, float 3.5, float 9.25>
  ret <4 x float> %y
}}
"""
    data = library(text.format(n=1), text.format(n=2)).tobytes()
    assert data.count(np.array([0.125, 7.5, 3.5, 9.25], np.float32).tobytes()) == 1


BUILD_TWICE = """
import hashlib, os, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from gravure.codegen.aot.library import link
from gravure.codegen.aot.weights import Weights
from gravure.codegen.llvm.entry.functions import entry_objects
from gravure.target import Target
from gravure.runtime.artifact import Description, DimInfo, TensorInfo

os.environ["GRAVURE_CACHE"] = "off"
target = Target.parse("x86-64-v3")
model = Description("m", (TensorInfo("x", "f32", ("N", "M")),), (), (),
                    dims=(DimInfo("N", 1, 9), DimInfo("M", 1, 9)), features=target.features)
objects = entry_objects(model, "{}", target)
made = link(objects, "m", weights=Weights.of(np.arange(5000)))
made.save("m.so")
print(hashlib.sha256(open("m.so", "rb").read()).hexdigest())
"""


def test_bytes_depend_on_nothing_but_the_input(tmp_path: Path) -> None:
    digests = set()
    for number, seed in enumerate(("0", "1", "12345")):
        folder = tmp_path / f"folder{number}" / ("x" * number)
        folder.mkdir(parents=True)
        done = subprocess.run(
            [sys.executable, "-c", BUILD_TWICE, str(ROOT)],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed, "PATH": "", "USER": f"user{number}"},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "m.so"
    path.write_bytes(b"old")

    def fail() -> Any:
        yield bytes(10)
        raise OSError("no space left")

    made = library(WEIGHTS, weights=Weights(20, fail))
    with pytest.raises(OSError, match="no space left"):
        made.save(path)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["m.so"]


def test_large_weights_pass_through_in_pieces(tmp_path: Path) -> None:
    size, piece = 3 << 30, bytes(1 << 24)

    class Sparse:
        """A file that remembers only what is not zero."""

        def __init__(self) -> None:
            self.at = self.end = 0
            self.kept = bytearray()

        def seek(self, place: int) -> int:
            self.at = place
            return place

        def tell(self) -> int:
            return self.at

        def write(self, data: Any) -> int:
            if self.at < 1 << 16:
                self.kept[self.at : self.at + len(data)] = bytes(data)
            self.at += len(data)
            self.end = max(self.end, self.at)
            return len(data)

    file: Any = Sparse()
    count = 0

    def chunks() -> Any:
        nonlocal count
        for _ in range(size // len(piece)):
            count += 1
            yield piece

    made = library(WEIGHTS, weights=Weights(size, chunks))
    made.write(file)
    assert file.end == made.seal.file_size > size
    assert count == size // len(piece)


needs_binutils = pytest.mark.skipif(not shutil.which("readelf"), reason="no binutils")


def tool(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@needs_binutils
def test_only_names_with_the_tag_are_exported(tmp_path: Path) -> None:
    path = tmp_path / "m.so"
    library(CALL, INNER, POINTERS).save(path)
    names = [line.split()[-1] for line in tool("nm", "-D", str(path)).splitlines()]
    assert sorted(names) == ["m_manifest", "m_outer", "m_word"]
    assert tool("nm", "-D", "--undefined-only", str(path)) == ""
    assert " t inner" in tool("nm", str(path))


@needs_binutils
def test_other_tools_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.so"
    library(CALL, INNER, POINTERS, WEIGHTS, weights=Weights.of(bytes(5000))).save(path)
    segments = tool("readelf", "-lW", str(path))
    assert " RWE " not in segments
    assert "GNU_RELRO" in segments
    stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
    assert " RW " in stack
    assert ".weights" in tool("readelf", "-SW", str(path))
    assert "R_X86_64_RELATIVE" in tool("readelf", "-rW", str(path))
    assert "NEEDED" not in tool("readelf", "-dW", str(path))
    assert "Build ID" in tool("readelf", "-nW", str(path))
    assert "<m_outer>:" in tool("objdump", "-d", str(path))


def test_hashes_are_those_of_the_standards() -> None:
    assert system_v_hash("printf") == 0x077905A6
    assert gnu_hash("printf") == 0x156B2BB8


def test_many_names_are_found(tmp_path: Path) -> None:
    text = "".join(f"define i64 @m_f{n}() nounwind {{\n  ret i64 {n}\n}}\n" for n in range(300))
    module = loaded(library(text), tmp_path / "m.so")
    assert [getattr(module, f"m_f{n}")() for n in range(300)] == list(range(300))
    assert not hasattr(module, "m_f300")
