"""Small models for other processors: objects are made, and run where they can be run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.codegen.compile import Options
from gravure.codegen.export import export
from gravure.codegen.prepare import runs_here
from gravure.frontend.programs.compile import compile_source
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret
from gravure.ir.program import argument_specs
from gravure.ir.types import dims
from gravure.target import Target

pytestmark = pytest.mark.sampled(2)

Array = np.ndarray[Any, Any]
SMALL = Path(__file__).parent.parent / "models" / "small"
NAMES = ("mlp", "mobilenet", "quantised", "transformer", "unet", "lstm", "gru", "chain", "heat")
MACHINES = {"aarch64": 183, "neoverse-v2": 183, "riscv64": 243, "x86-64-v2": 62}

RUNNER = """
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {{
    static float in[{inputs}], out[{outputs}];
    int64_t in_shape[] = {{{in_shape}}}, out_shape[] = {{{out_shape}}};
    for (int i = 0; i < {inputs}; ++i) if (scanf("%f", &in[i]) != 1) return 2;
    gravure_tensor x = {{in, in_shape, {in_rank}, GRAVURE_F32}};
    gravure_tensor y = {{out, out_shape, {out_rank}, GRAVURE_F32}};
    void *space = aligned_alloc(64, net_workspace_bytes() + 64);
    int32_t status = {create};
    if (!status) status = net_run(&x, &y, space, 0);
    if (status) {{ fprintf(stderr, "%s\\n", net_status(status)); return 1; }}
    for (int i = 0; i < {outputs}; ++i) printf("%.9g\\n", out[i]);
    return 0;
}}
"""

DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOTHING(name) int name(void) { return 0; }
NOTHINGS
int cuPointerGetAttribute(void) { return 1; }
int cuMemAlloc_v2(void **out, size_t size) { *out = aligned_alloc(256, size); return !*out; }
int cuMemFree_v2(void *memory) { free(memory); return 0; }
int cuMemcpyHtoDAsync_v2(void *to, void *from, size_t size) { memcpy(to, from, size); return 0; }
int cuMemcpyDtoHAsync_v2(void *to, void *from, size_t size) { memset(to, 0, size); return 0; }
int cuLaunchKernel(void *kernel, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b,
                   unsigned c, unsigned shared, void *stream, void **parameters, void **extra) {
    fprintf(stderr, "%u %u %u %u %u %u %u\\n", x, y, z, a, b, c, shared);
    return 0;
}
"""


def arguments(name: str) -> list[Array]:
    random = np.random.default_rng(1)
    specs = argument_specs(load_program(SMALL / f"{name}.gv").main)
    shapes = [[dims.evaluate(d, {"N": 3}) for d in s.dims] for s in specs]
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def runner(given: Array, wanted: Array, create: str = "0") -> str:
    """Return a C program that runs a model."""
    return RUNNER.format(
        inputs=given.size, outputs=wanted.size, create=create,
        in_shape=", ".join(map(str, given.shape)), out_shape=", ".join(map(str, wanted.shape)),
        in_rank=given.ndim, out_rank=wanted.ndim,
    )  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("target", MACHINES)
@pytest.mark.parametrize("name", NAMES)
def test_objects_are_made_for_other_machines(name: str, target: str, tmp_path: Path) -> None:
    options = Options(target=target, tag="net")
    export(compile_source(SMALL / f"{name}.gv", options), tmp_path / "model.o")
    data = (tmp_path / "model.o").read_bytes()
    assert data[:4] == b"\x7fELF"
    assert int.from_bytes(data[18:20], "little") == MACHINES[target]


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", NAMES)
def test_older_processors_compute_the_same(name: str, target: str) -> None:
    if not runs_here(Target.parse(target)):
        pytest.skip(f"this machine does not run code for {target}")
    inputs = arguments(name)
    wanted = interpret(load_program(SMALL / f"{name}.gv"), inputs)
    found = gv.compile(SMALL / f"{name}.gv", target=target).run(inputs)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * float(np.abs(want).max()))


ON_ARM = pytest.mark.skipif(
    not shutil.which("qemu-aarch64") or not shutil.which("aarch64-linux-gnu-gcc"),
    reason="needs qemu-aarch64 and aarch64-linux-gnu-gcc",
)


@ON_ARM
@pytest.mark.parametrize(
    "name", ["mlp", "mobilenet", "quantised", "transformer", "unet", "chain", "heat"]
)
def test_code_for_aarch64_runs_under_qemu(name: str, tmp_path: Path) -> None:
    (given,) = arguments(name)
    program = load_program(SMALL / f"{name}.gv")
    (wanted,) = interpret(program, [given])
    compiled = compile_source(SMALL / f"{name}.gv", Options(target="aarch64", tag="net"))
    for suffix in ("o", "h"):
        export(compiled, tmp_path / f"model.{suffix}")
    (tmp_path / "main.c").write_text(runner(given, wanted))
    build = ["aarch64-linux-gnu-gcc", "-static", "-O1", "main.c", "model.o", "-o", "main"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(
        ["qemu-aarch64", "./main"], cwd=tmp_path, text=True, capture_output=True, check=False,
        input="\n".join(f"{v:.9g}" for v in given.ravel()), timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = np.array(done.stdout.split(), np.float32).reshape(wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * float(np.abs(wanted).max()))


@ON_ARM
def test_the_host_of_a_gpu_may_be_another_machine(tmp_path: Path) -> None:
    """A driver that does nothing says what code for aarch64 told it."""
    options = Options(target="cuda:sm_90a", tag="net", host="aarch64")
    compiled = compile_source(SMALL / "mlp.gv", options)
    assert compiled.plan is not None
    for suffix in ("o", "h"):
        export(compiled, tmp_path / f"model.{suffix}")
    (given,) = arguments("mlp")
    (wanted,) = interpret(load_program(SMALL / "mlp.gv"), [given])
    (tmp_path / "main.c").write_text(runner(given, wanted, "net_create(space, 0, 0)"))
    text = (tmp_path / "model.o").read_bytes()
    names = {name.decode() for name in re.findall(rb"cu[A-Z]\w+", text)}
    nothing = [name for name in sorted(names) if f" {name}(" not in DRIVER]
    driver = DRIVER.replace("NOTHINGS", "\n".join(f"NOTHING({name})" for name in nothing))
    (tmp_path / "driver.c").write_text(driver)
    gcc = "aarch64-linux-gnu-gcc"
    for build in (
        [gcc, "main.c", "model.o", "-ldl", "-o", "main"],
        [gcc, "-w", "-shared", "-fPIC", "driver.c", "-o", "libcuda.so.1"],
    ):
        subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    run = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", "LD_LIBRARY_PATH=.", "./main"]
    values = "\n".join(f"{v:.9g}" for v in given.ravel())

    def done(command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=tmp_path, text=True, capture_output=True, check=False, input=values
        )

    found = done(run)
    assert found.returncode == 0, found.stderr
    kernels = {kernel.name: kernel for kernel in compiled.plan.kernels}
    told = [[int(word) for word in line.split()] for line in found.stderr.splitlines()]
    assert told == [
        [*one.grid_for({"N": 3}), *kernels[one.kernel].block, kernels[one.kernel].shared]
        for one in compiled.plan.launches
    ]
    alone = done([*run[:3], "./main"])
    assert (alone.returncode, "there is no libcuda.so.1" in alone.stderr) == (1, True)
