"""A model in C++ and Rust, by pkg-config and CMake (the guide docs/compile.md shows the rest)."""

import shutil
import subprocess
from pathlib import Path

import pytest

import gravure as gv
from gravure.codegen.aot.cpp import RESERVED
from gravure.codegen.aot.members import members
from gravure.errors import GravureError
from gravure.runtime.artifact import Description, TensorInfo

ODD = b"""model odd(run: f32[N, 3], delete: i32[N], a_b: bool[N], half: f16[N, 3])
    -> (context, less, data, flags) {
    context = mul(run, run)
    less = neg(delete)
    data = add(half, half)
    flags = logical_not(a_b)
}"""
CPP = """
#include "odd.hpp"
#include <cstdio>
int main() {
    odd model;
    const long long most = model.run_2().shape[0];
    model.run_2().resize({2, 3});
    model.delete_2().resize({2});
    model.a_b().resize({2});
    model.half().resize({2, 3});
    model.run_2().data = {1, 2, 3, 4, 5, 6};
    model.delete_2().data = {7, -8};
    model.a_b().data = {1, 0};
    model.run();
    std::printf("%lld %g %d %d %d\\n", most, model.context_2().data[5], model.less().data[1],
                model.flags().data[0], model.flags().data[1]);
    model.delete_2().resize({3});
    try {
        model.run();
    } catch (const gravure::error &error) {
        std::printf("%s\\n", error.what());
    }
}
"""
RUST = """
mod odd;
fn main() -> Result<(), odd::Error> {
    let mut model = odd::Model::new()?;
    let most = model.run_2.shape[0];
    model.run_2.resize(&[2, 3]);
    model.delete.resize(&[2]);
    model.a_b.resize(&[2]);
    model.half.resize(&[2, 3]);
    model.run_2.data = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    model.delete.data = vec![7, -8];
    model.a_b.data = vec![1, 0];
    model.run()?;
    let (y, n, f) = (&model.context.data, &model.less.data, &model.flags.data);
    println!("{} {} {} {} {}", most, y[5], n[1], f[0], f[1]);
    model.delete.resize(&[3]);
    println!("{}", model.run().unwrap_err());
    Ok(())
}
"""
WANTED = ["5 36 8 0 1", "input 'delete': another shape than i32[N]"]


def described(*names: str) -> Description:
    tensors = tuple(TensorInfo(name, "f32", (2,)) for name in names)
    return Description(tag="m", target="native", inputs=tensors, outputs=tensors, steps=())


def printed(*command: str | Path, folder: Path) -> list[str]:
    if shutil.which(str(command[0])) is None and not (folder / command[0]).exists():
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    kinds = "library,header,cpp,rust,pkgconfig,cmake"
    gv.emit(ODD, folder / "odd.so", kinds, tag="odd", dims={"N": (1, 5)})
    return folder


def test_names_of_arguments_are_distinct_identifiers() -> None:
    found = members(described("x", "x", "x y", "x.y", "9", "class", "", "ünd"), RESERVED)
    assert found[0] == ["x", "x_2", "x_y", "x_y_2", "input_9", "class_2", "input6", "nd"]
    assert found[1][:2] == ["x_3", "x_4"]
    assert len({*found[0], *found[1]}) == 16


@pytest.mark.slow
def test_a_class_of_cpp(odd: Path) -> None:
    (odd / "main.cpp").write_text(CPP)
    strict = ("-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror")
    flags = printed("pkg-config", "--cflags", "--libs", "./odd.pc", folder=odd)[0].split()
    printed("g++", *strict, "main.cpp", *flags, "-o", "main", folder=odd)
    assert printed("./main", folder=odd) == WANTED


@pytest.mark.slow
def test_a_module_of_rust(odd: Path) -> None:
    (odd / "main.rs").write_text(RUST)
    links = ("-C", "link-arg=./odd.so", "-C", "link-arg=-Wl,-rpath,.")
    printed("rustc", "-D", "warnings", "main.rs", *links, "-o", "rusty", folder=odd)
    assert printed("./rusty", folder=odd) == WANTED


@pytest.mark.slow
def test_cmake_finds_the_library_and_the_headers(odd: Path) -> None:
    (odd / "main.cpp").write_text(CPP)
    (odd / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.15)\nproject(P CXX)\nset(CMAKE_CXX_STANDARD 17)\n"
        "include(odd.cmake)\nadd_executable(p main.cpp)\n"
        "target_link_libraries(p PRIVATE gravure::odd)\n"
    )
    printed("cmake", "-S", ".", "-B", "built", folder=odd)
    printed("cmake", "--build", "built", folder=odd)
    assert printed("built/p", folder=odd) == WANTED


def test_what_stands_beside_a_library_has_its_name(tmp_path: Path) -> None:
    text = b"model m(x: f32[2]) -> (y) { y = exp(x) }"
    gv.emit(text, tmp_path / "other.so", "library,pkgconfig,cmake", tag="m")
    assert "/other.so" in (tmp_path / "other.pc").read_text()
    assert "/other.so" in (tmp_path / "other.cmake").read_text()
    assert "gravure::m" in (tmp_path / "other.cmake").read_text()


def test_a_module_of_rust_needs_the_weights_in_the_library(tmp_path: Path) -> None:
    with pytest.raises(GravureError, match="'rust' of a model whose weights lie in another file"):
        gv.emit(b"model m(x: f32[2]) -> (y) { y = exp(x) }", tmp_path / "m.rs", "rust",
                embed=False)  # fmt: skip
    with pytest.raises(GravureError, match="'rust' of a model for a GPU"):
        gv.emit(b"model m(x: f32[2]) -> (y) { y = exp(x) }", tmp_path / "m.rs", "rust",
                target="cuda:sm_80")  # fmt: skip
