"""A library of others computes products of matrices: its kernel is held to what ours are (H8)."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import gravure as gv
from gravure.codegen.aot.vendors import vendor_of
from gravure.errors import CompileError
from gravure.ir.ops.matrix import Matmul
from gravure.ir.samples import Sample
from gravure.passes.base import PipelineError
from gravure.runtime.elf import soname_of

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel

MODELS = Path(__file__).parents[1] / "models"
SAMPLES = [s for s in Matmul.SAMPLES if s.dtypes[0].name == "f32"]
PRODUCT = b"model m(x: f32[M, K], w: f32[K, N]) -> (y) { z = matmul(x, w)\n y = relu(z) }"
DIMS = {"M": (1, 300), "K": (0, 300), "N": (1, 300)}

COUNTED = r"""
#include <stddef.h>
int products;
static void row_major(int ta, int tb, int m, int n, int k, const float *a, int lda,
                      const float *b, int ldb, float *c, int ldc) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += a[ta == 112 ? l * lda + i : i * lda + l]
                     * b[tb == 112 ? j * ldb + l : l * ldb + j];
            c[i * ldc + j] = sum;
        }
}
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc) {
    products++;
    if (order == 101 && alpha == 1 && beta == 0) row_major(ta, tb, m, n, k, a, lda, b, ldb, c, ldc);
}
void cblas_dgemm(void) {}
"""
"""A library of its own that counts in 32 bits, and counts its calls."""


@pytest.fixture(scope="module")
def named() -> None:
    """Let kernels that LLVM links in this process call the library that is here."""
    found = vendor_of("cblas")
    library = ctypes.CDLL(found.path)
    for name, function in (("cblas_sgemm", found.sgemm), ("cblas_dgemm", found.dgemm)):
        address = ctypes.cast(library[function], ctypes.c_void_p).value
        assert address is not None
        llvm.add_symbol(name, address)


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: str(s.shapes))
def test_a_librarys_kernel_is_held_to_what_ours_are(sample: Sample, dtype: str) -> None:
    flags = {"transpose_lhs": False, "transpose_rhs": False, **sample.attributes}
    a, b = ("x".join([*map(str, shape), dtype]) for shape in sample.shapes)
    left, right = (np.zeros(shape, np.float32) for shape in sample.shapes)
    (made,) = Matmul.evaluate(left, right, **flags)
    c = "x".join([*map(str, made.shape), dtype])
    function = "cblas_sgemm" if dtype == "f32" else "cblas_dgemm"
    choices = ", ".join(f"{name} = {str(on).lower()}" for name, on in flags.items())
    check_kernel(
        f"func.func @k(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{c}>"
        f' attributes {{gv.kind = "library"}} {{\n  %r = gv.matmul_library %a, %b'
        f' {{function = "{function}", {choices}}} : (tensor<{a}>, tensor<{b}>) -> tensor<{c}>\n'
        f"  func.return %r : tensor<{c}>\n}}"
    )


@pytest.mark.parametrize("shape", [(7, 33, 5), (1, 1, 1), (300, 300, 300), (4, 0, 9), (1, 300, 1)])
def test_h8_products_of_any_size_are_calls(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    model = gv.compile(PRODUCT, dims=DIMS, use_lib="cblas")
    assert any(name.startswith("library_") for name in model.compiled.description.kernels)
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
    np.testing.assert_allclose(model(x, w), np.maximum(x @ w, 0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
def test_h8_it_is_off_unless_said_and_at_every_level(level: str) -> None:
    ours = gv.compile(PRODUCT, dims=DIMS, level=level)
    theirs = gv.compile(PRODUCT, dims=DIMS, level=level, use_lib="cblas")
    assert not ours.compiled.description.libraries
    assert [*theirs.compiled.description.libraries] == [vendor_of("cblas").needed]


def test_h8_every_access_of_a_call_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVURE_CHECK", "bounds")
    model = gv.compile(PRODUCT, dims=DIMS, use_lib="cblas", cache=False)
    x, w = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32)
    np.testing.assert_array_equal(model(x, w), np.full((3, 5), 4, np.float32))


def test_h8_a_batch_is_shared_by_threads_and_a_transpose_is_part_of_the_call() -> None:
    turned = b"matmul(x, transpose(w, order=[0, 2, 1]))"
    text = b"model m(x: f64[6, 9, 8], w: f64[6, 7, 8]) -> (y) { y = %b }" % turned
    model = gv.compile(text, use_lib="cblas", threads=2)
    assert [name.partition("_")[0] for name in model.compiled.description.kernels] == ["library"]
    x, w = np.random.default_rng(0).random((2, 6, 9, 8))
    np.testing.assert_allclose(model(x, w[:, :7]), x @ w[:, :7].transpose(0, 2, 1), rtol=1e-12)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) here")
def test_h8_a_library_that_is_named_is_the_one_that_is_called(tmp_path: Path) -> None:
    source, path = tmp_path / "counted.c", tmp_path / "libcounted.so.1"
    source.write_text(COUNTED)
    command = ["cc", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcounted.so", "-o", path, source]
    subprocess.run(command, check=True)
    assert soname_of(str(path)) == "libcounted.so"
    model = gv.compile(MODELS / "mlp.onnx", use_lib=f"cblas:{path}")
    products = ctypes.c_int.in_dll(ctypes.CDLL(str(path)), "products")
    x = np.linspace(-1, 1, 8, dtype=np.float32)[None]
    wanted = gv.compile(MODELS / "mlp.onnx")(x)
    np.testing.assert_allclose(model(x), wanted, rtol=1e-5)
    assert products.value == 2

    model.save(tmp_path / "mlp.so")  # and a library names it as the loader does
    path.rename(tmp_path / "libcounted.so")
    program = f"import sys, gravure as gv, numpy as np; print(gv.load({str(tmp_path / 'mlp.so')!r})"
    program += "(np.linspace(-1, 1, 8, dtype=np.float32)[None]).tolist())"
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env={"LD_LIBRARY_PATH": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(json.loads(done.stdout), wanted, rtol=1e-5)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "libcounted.so: cannot open shared object file" in done.stderr


def test_h8_manifest_and_header_say_what_is_needed(tmp_path: Path) -> None:
    found = vendor_of("cblas")
    gv.compile(MODELS / "mlp.onnx", use_lib="cblas").save(tmp_path / "mlp.so")
    manifest = gv.inspect(str(tmp_path / "mlp.so")).as_json()
    assert json.dumps({found.needed: [found.sgemm]}) in json.dumps(manifest)
    gv.compile(MODELS / "mlp.onnx", use_lib="cblas").save(tmp_path / "mlp.h")
    assert f"Needs {found.needed} where the loader finds it" in (tmp_path / "mlp.h").read_text()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"use_lib": "mkl"}, CompileError, "'mkl' is unknown, expected cblas or cblas:FILE"),
        ({"use_lib": "cblas:/no/lib.so"}, CompileError, "/no/lib.so: no such file"),
        ({"use_lib": f"cblas:{__file__}"}, CompileError, "invalid ELF header"),
        ({"use_lib": "cblas", "target": "cuda:sm_90a"}, CompileError, "its code runs on a GPU"),
        ({"use_lib": "cblas", "target": "aarch64"}, CompileError, "cannot call cblas"),
        ({"use_lib": "cblas", "dtype": "bf16"}, PipelineError, "weights of bf16"),
        ({"use_lib": "cblas", "passes": "dce"}, PipelineError, "a pipeline of its own"),
    ],
)
def test_h8_what_cannot_be_is_refused_by_name(
    options: gv.codegen.compiled.OptionFields, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        gv.emit(MODELS / "mlp.onnx", kinds=("manifest",), **options)


def test_h8_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="do not name the libraries that they need"):
        gv.compile(MODELS / "mlp.onnx", use_lib="cblas").save(tmp_path / "mlp.a")
