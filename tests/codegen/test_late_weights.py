"""Shared libraries that lay their weights out when they are loaded, where the file would grow."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import gravure as gv
from gravure.codegen.compiled import Compiled, Options
from gravure.codegen.prepare import grows, raw_places
from gravure.errors import ArtifactError
from gravure.frontend.programs.compile import compile_source
from gravure.runtime.model import Model

RANDOM = np.random.default_rng(3)
STRICT = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def convolutions(channels: int) -> bytes:
    """Return a model of two 3x3 convolutions, with a constant that is no weight."""
    weights = {
        name: RANDOM.standard_normal((channels, channels, 3, 3)).astype(np.float32) / 20
        for name in ("v", "w")
    }
    weights["b"] = RANDOM.standard_normal(channels).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "v", "b"], ["a"], pads=[1] * 4),
        helper.make_node("Conv", ["a", "w"], ["y"], pads=[1] * 4),
    ]
    shape = [1, channels, 16, 16]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_source(convolutions(64), Options(tag="m"))


@pytest.fixture(scope="module")
def path(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("late") / "m.so"
    compiled.library().save(found)
    return found


def test_a_library_is_about_as_large_as_its_weights(compiled: Compiled, path: Path) -> None:
    given = 2 * 4 * 9 * 64**2 + 4 * 64
    assert compiled.description.weights > 3 * given
    assert path.stat().st_size < 1.2 * given
    assert compiled.library().tobytes() == path.read_bytes()
    model = gv.load(path)
    assert model.manifest["stored_bytes"] == given
    model.check_weights()


def test_it_computes_what_one_does_that_has_them_laid_out(compiled: Compiled, path: Path) -> None:
    outside = replace(compiled, options=replace(compiled.options, embed=False))
    model, other = gv.load(path), Model.load(outside.library().tobytes(), weights=compiled.blob)
    x = RANDOM.standard_normal((1, 64, 16, 16)).astype(np.float32)
    np.testing.assert_array_equal(model(x), other(x))
    model.set_weights({name: 2 * compiled.weights[name] for name in ("v", "w", "b")})
    assert not np.array_equal(model(x), other(x))
    np.testing.assert_array_equal(gv.load(path)(x), other(x))


def test_weights_that_were_changed_are_found(path: Path, tmp_path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    (tmp_path / "m.so").write_bytes(data)
    with pytest.raises(ArtifactError, match="weights"):
        gv.load(tmp_path / "m.so").check_weights()


def test_its_rows_are_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(convolutions(64))
    found = gv.size(tmp_path / "m.onnx")
    assert sum(row.whole for row in found.rows) == found.whole
    assert all(row.whole >= 0 for row in found.rows)
    gv.compile(tmp_path / "m.onnx").save(tmp_path / "m.so")
    rows = {row.kind: row for row in gv.size(tmp_path / "m.so").rows}
    assert 0 < rows["other"].whole < 1 << 15


def test_weights_that_hardly_grow_stay_laid_out(compiled: Compiled) -> None:
    size = raw_places(compiled.description)[1]
    for weights, late in ((size, False), (size * 5 // 4, False), (size * 2, True)):
        assert grows(replace(compiled.description, weights=weights)) == late
    assert not grows(replace(compiled.description, weights=1 << 30))
    assert not grows(replace(compiled.description, prepare=()))


MAIN = r"""
#include <stdio.h>
#include "m.h"

static float x[64 * 16 * 16], y[64 * 16 * 16];
static _Alignas(64) unsigned char workspace[M_WORKSPACE_BYTES + 64];

int main(void) {
    for (int i = 0; i < 64 * 16 * 16; i++) x[i] = (float)(i % 7);
    const int64_t shape[] = {1, 64, 16, 16};
    const gravure_tensor in = {x, shape, 4, GRAVURE_F32}, out = {y, shape, 4, GRAVURE_F32};
    int32_t status = m_run(&in, &out, workspace, NULL);
    if (status != 0) return puts(m_status(status));
    printf("%.9g %.9g", (double)y[0], (double)y[64 * 16 * 16 - 1]);
    return 0;
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler")
def test_c_calls_it_as_every_library(path: Path) -> None:
    folder = path.parent
    compile_model = gv.compile(convolutions(64), tag="m")
    compile_model.save(folder / "m.h")
    (folder / "main.c").write_text(MAIN)
    command = ["gcc", *STRICT, "main.c", "m.so", "-o", "main", "-Wl,-rpath,."]
    subprocess.run(command, check=True, cwd=folder)
    done = subprocess.run(["./main"], check=True, cwd=folder, capture_output=True, text=True)
    x = (np.arange(64 * 16 * 16) % 7).astype(np.float32).reshape(1, 64, 16, 16)
    y = gv.load(path)(x).ravel()
    assert [np.float32(text) for text in done.stdout.split()] == [y[0], y[-1]]
