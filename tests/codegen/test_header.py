"""Headers, and programs in C that use them: compiled, linked and run."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gravure.codegen.aot.header import header
from gravure.codegen.aot.library import link
from gravure.codegen.aot.manifest import manifest
from gravure.codegen.aot.static import archive, merge
from gravure.codegen.aot.weights import Weights
from gravure.codegen.llvm.compile import assemble
from gravure.codegen.llvm.entry.functions import entry_objects
from gravure.runtime.artifact import Description, DimInfo, Launch, Pointer, Scalar, TensorInfo
from gravure.target import Target

TARGET = Target.parse("x86-64-v3")
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler")
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]

# y[i] = x[i] * w[i % 3]
SCALE = """
define void @scale(ptr %ctx, i64 %lo, i64 %hi, i64 %slot) nounwind {
entry:
  %s1 = getelementptr i64, ptr %ctx, i64 1
  %s2 = getelementptr i64, ptr %ctx, i64 2
  %x = load ptr, ptr %ctx
  %w = load ptr, ptr %s1
  %y = load ptr, ptr %s2
  br label %test
test:
  %i = phi i64 [ %lo, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %hi
  br i1 %more, label %body, label %end
body:
  %xi = getelementptr float, ptr %x, i64 %i
  %xv = load float, ptr %xi
  %r = urem i64 %i, 3
  %wi = getelementptr float, ptr %w, i64 %r
  %wv = load float, ptr %wi
  %yv = fmul float %xv, %wv
  %yi = getelementptr float, ptr %y, i64 %i
  store float %yv, ptr %yi
  %next = add i64 %i, 1
  br label %test
end:
  ret void
}
"""


def model(tag: str) -> Description:
    pointers = (Pointer("input", 0), Pointer("weights"), Pointer("output", 0))
    return Description(
        tag,
        (TensorInfo("x */ /* \x1b[31m", "f32", ("N", 3)), TensorInfo("c", "c64", ())),
        (TensorInfo("y", "f32", ("N", 3)),),
        (Launch("scale", (*pointers, Scalar("N")), count="N*3"),),
        dims=(DimInfo("N", 1, 64),),
        weights=64,
        slots=4,
        workspace=128,
        features=TARGET.features,
        target=TARGET.name,
        extras={"numerics": "exact", "pipeline": "hand"},
    )


def objects(tag: str) -> list[bytes]:
    kernel = assemble(SCALE, TARGET)
    text = manifest(model(tag), [kernel])
    return [kernel, *entry_objects(model(tag), text, TARGET, embedded=True)]


def weights(scale: float) -> Weights:
    values = np.zeros(16, np.float32)
    values[:3] = np.array([1, 2, 3], np.float32) * np.float32(scale)
    return Weights.of(values)


PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "one.h"
#include "two.h"

static void *work(void *pool) {
    one_pool_worker(pool);
    return NULL;
}

int main(void) {
    float x[ONE_N_MAX * 3], y[ONE_N_MAX * 3], complex_number[2] = {0, 0};
    const int64_t shape[] = {ONE_N_MAX, 3};
    const gravure_tensor inputs[] = {{x, shape, 2, GRAVURE_F32},
                                     {complex_number, NULL, 0, GRAVURE_C64}};
    const gravure_tensor outputs[] = {{y, shape, 2, GRAVURE_F32}};
    void *workspace = aligned_alloc(64, ONE_WORKSPACE_BYTES);
    for (size_t i = 0; i < ONE_N_MAX * 3; i++) x[i] = (float)i;

    if (one_check_cpu() != 0 || one_workspace_bytes() != ONE_WORKSPACE_BYTES) return 1;
    if (one_run(inputs, outputs, workspace, NULL) != 0 || y[5] != 15) return 2;
    if (two_run(inputs, outputs, workspace, NULL) != 0 || y[5] != 150) return 3;
    if (strstr(one_manifest, "\"tag\":\"one\"") == NULL) return 4;
    if (strstr(two_manifest, "\"tag\":\"two\"") == NULL) return 5;

    enum { THREADS = 3 };
    void *pool = aligned_alloc(64, (size_t)one_pool_bytes(THREADS));
    pthread_t threads[THREADS - 1];
    one_pool_init(pool, THREADS);
    for (int i = 0; i < THREADS - 1; i++) pthread_create(&threads[i], NULL, work, pool);
    const gravure_context context = {
        one_pool_parallel_for, pool, NULL, one_pool_scope, THREADS, GRAVURE_CPU_CHECKED};
    for (int round = 0; round < 1000; round++) {
        memset(y, 0, sizeof y);
        if (two_run(inputs, outputs, workspace, &context) != 0) return 6;
        for (size_t i = 0; i < ONE_N_MAX * 3; i++)
            if (y[i] != (float)(i * (i % 3 + 1)) * 10) return 7;
    }
    one_pool_stop(pool);
    for (int i = 0; i < THREADS - 1; i++) pthread_join(threads[i], NULL);

    const gravure_tensor wrong[] = {{x, shape, 1, GRAVURE_F32}, inputs[1]};
    int32_t status = one_run(wrong, outputs, workspace, NULL);
    printf("%d %s\n", status, one_status(status));
    return 0;
}
"""


@needs_gcc
@pytest.mark.parametrize("form", ["o", "a", "so"])
def test_two_models_in_one_program(tmp_path: Path, form: str) -> None:
    names = []
    for tag, scale in (("one", 1), ("two", 10)):
        (tmp_path / f"{tag}.h").write_text(header(model(tag)))
        path = tmp_path / f"{tag}.{form}"
        names.append(path.name)
        if form == "so":
            link(objects(tag), tag, weights=weights(scale)).save(path)
        else:
            data = merge(objects(tag), tag, weights(scale))
            path.write_bytes(data if form == "o" else archive(f"{tag}.o", data))
    (tmp_path / "main.c").write_text(PROGRAM)
    command = ["gcc", *STRICT, "-pthread", "main.c", *names, "-o", "main", "-Wl,-rpath,."]
    subprocess.run([*command, "-Wl,--fatal-warnings"], cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("3 input 'x */ /* \\x1b[31m': another rank")


@needs_gcc
@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_header_is_plain_c_and_plain_cpp(tmp_path: Path, compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    suffix, standard = ("c", "-std=c99") if compiler == "gcc" else ("cpp", "-std=c++11")
    (tmp_path / "one.h").write_text(header(model("one")))
    source = tmp_path / f"main.{suffix}"
    source.write_text('#include "one.h"\n#include "one.h"\nint main(void) { return 0; }\n')
    command = [compiler, standard, *STRICT[1:], "-fsyntax-only", source.name]
    subprocess.run(command, cwd=tmp_path, check=True)


@needs_gcc
def test_example_in_the_header_compiles(tmp_path: Path) -> None:
    text = header(model("one"))
    (tmp_path / "one.h").write_text(text)
    example = text.partition("Example:")[2].partition(" */")[0]
    lines = "\n".join(re.sub(r"^ \*", "", line) for line in example.splitlines())
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n"
        f'#include "one.h"\nint main(void) {{{lines}\nreturn status;\n}}\n'
    )
    data = merge(objects("one"), "one", weights(1))
    (tmp_path / "one.o").write_bytes(data)
    command = ["gcc", *STRICT, "main.c", "one.o", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run(["./main"], cwd=tmp_path, check=True)


def test_header_says_what_the_model_is() -> None:
    text = header(model("one"))
    assert "/* The compiled model `one`.\n *\n *     inputs[0]" in text
    assert "inputs[0]  f32[N, 3]  'x * / / * \\x1b[31m'" in text
    assert "Dimensions: N = 1 to 64." in text
    assert "Numerics `exact`: element-wise operations round as each does alone" in text
    assert "#define ONE_INPUT0_BYTES 768u" in text
    assert "The weights are not in here" not in text
    assert "The weights are not in here" in header(model("one"), embedded=False)


def test_header_for_other_machines_has_no_pool() -> None:
    other = replace(model("one"), triple="aarch64-unknown-linux-gnu")
    assert "one_pool_init" not in header(other)


@pytest.mark.parametrize("name", ["aarch64", "neoverse-v2", "riscv64", "riscv64-v"])
def test_other_machines_get_objects(name: str) -> None:
    target = Target.parse(name)
    described = replace(
        model("m"), triple=target.triple, features=target.features, target=target.name
    )
    kernel = assemble(SCALE, target)
    entry = entry_objects(described, manifest(described, [kernel]), target, embedded=True)
    data = merge([kernel, *entry], "m", weights(1))
    assert b"m_run" in archive("m.o", data)
    assert b"m_pool_init" not in data


def test_manifest_has_no_time_and_no_path() -> None:
    found = json.loads(manifest(model("one"), [assemble(SCALE, TARGET)]))
    assert found["peak_bytes"] == 128 + 64 + 2 * 768 + 8
    assert found["versions"].keys() == {"gravure", "llvmlite", "xdsl"}
    assert found["sections"][".text"] > 0
    assert found["pipeline"] == "hand"
    assert found["dims"] == [{"name": "N", "low": 1, "high": 64}]
    assert not re.search(r"20\d\d-|/tmp|/home", json.dumps(found))
