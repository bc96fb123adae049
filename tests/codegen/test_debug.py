"""What debuggers and profilers are told of kernels (row X9): nodes, and lines of Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gravure as gv
from gravure.codegen.aot.debug import KernelNote, with_shared

MODEL = Path(__file__).parents[1] / "models" / "digits.onnx"

FUNCTION = """
import gravure as gv


@gv.function
def forward(x):
    hidden = gv.tanh(x * 2.0)
    return gv.exp(gv.matmul(hidden, hidden))
"""

PROGRAM = """
#include "digits.h"

int main(void) {
    static float x[64], y[10];
    const int64_t xs[] = {1, 1, 8, 8}, ys[] = {1, 10};
    const gravure_tensor in = {x, xs, 4, GRAVURE_F32}, out = {y, ys, 2, GRAVURE_F32};
    static _Alignas(64) char workspace[1 << 16];
    return digits_run(&in, &out, workspace, 0);
}
"""


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    gv.compile(MODEL).save(tmp_path / "digits.so")
    gv.compile(MODEL).save(tmp_path / "digits.h")
    return tmp_path / "digits.so"


@pytest.fixture
def forward(tmp_path: Path) -> Path:
    (tmp_path / "forward.py").write_text(FUNCTION)
    source = f"{tmp_path / 'forward.py'}:forward"
    gv.compile(source, shapes={"x": (64, 64)}).save(tmp_path / "forward.so")
    return tmp_path / "forward.so"


def test_names_of_a_kernel() -> None:
    note = KernelNote(("MatMul at a/b.py:7", "Exp at a/b.py:8"))
    assert note.label == "MatMul at a/b.py:7, Exp at a/b.py:8"
    assert note.suffix == "MatMul_at_a/b.py:7,Exp_at_a/b.py:8"
    assert note.place == ("a/b.py", 7)
    many = KernelNote(("conv1", "m.gv:3", "c", "d", "e", "f"))
    assert (many.label, many.suffix) == ("conv1, m.gv:3, c, d, 2 more", "conv1,m.gv:3,c,d,+2")
    assert many.place == ("m.gv", 3)
    assert KernelNote(("layer:0",)).place is None


def test_what_kernels_share_is_of_all_that_call_it() -> None:
    notes = {"a": KernelNote(("x",)), "b": KernelNote(("y", "x"))}
    found = with_shared(notes, [("a", "loop"), ("b", "loop"), ("a", "b")])
    assert found["loop"].sources == ("x", "y")
    assert found["b"] == notes["b"]


@needs("nm")
def test_symbols_name_nodes(digits: Path) -> None:
    names = [line.split()[-1] for line in said("nm", digits).splitlines()]
    assert any(re.fullmatch(r"conv_\w+:BatchNormalization_n2,Relu_x2", name) for name in names)
    assert any(re.fullmatch(r"gv_gemm_\w+:.*Gemm_logits.*", name) for name in names)


@needs("addr2line", "nm")
def test_addresses_lead_to_lines_of_python(forward: Path) -> None:
    rows = [line.split() for line in said("nm", forward).splitlines()]
    kernels = {name: address for address, _, name in rows if ":" in name}
    assert kernels
    for name, address in kernels.items():
        function, line = said("addr2line", "-f", "-e", forward, address).splitlines()
        assert function.replace(" ", "_").replace(",_", ",") == name.partition(":")[2]
        assert re.search(r"/forward\.py:[78]$", line)


@needs("readelf")
def test_the_sections_are_sound(digits: Path, forward: Path) -> None:
    for path in (digits, forward):
        command = ["readelf", "--debug-dump=info,line,abbrev", path]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert "DW_TAG_subprogram" in done.stdout


def test_libraries_are_the_same_each_time(digits: Path, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    gv.compile(MODEL).save(tmp_path / "again" / "digits.so")
    assert digits.read_bytes() == (tmp_path / "again" / "digits.so").read_bytes()


@pytest.mark.slow
@needs("gdb", "gcc", "nm")
def test_gdb_stops_in_a_node(digits: Path, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(PROGRAM)
    program = tmp_path / "main"
    said("gcc", tmp_path / "main.c", digits, "-o", program)
    places = {n: a for a, _, n in (row.split() for row in said("nm", digits).splitlines())}
    [kernel] = [a for n, a in places.items() if re.match(r"conv_\w+:BatchNormalization_n2", n)]
    commands = [
        "set confirm off", "break digits_run", "run",
        f"tbreak *((char*)digits_run - 0x{places['digits_run']} + 0x{kernel})",
        "continue", "frame",
    ]  # fmt: skip
    arguments = [word for each in commands for word in ("-ex", each)]
    done = subprocess.run(
        ["gdb", "-nx", "-batch", *arguments, str(program)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "ptrace" in done.stderr:
        pytest.skip("processes may not be traced here")
    assert "in BatchNormalization_n2, Relu_x2 ()" in done.stdout, done.stderr


def test_code_of_this_process_is_kept_where_profilers_find_it(tmp_path: Path) -> None:
    code = """if True:
        import gravure as gv
        model = gv.compile(b"model m(x: f32[4]) -> (y) { y = exp(x) }")
        print(float(model([0, 1, 2, 3])[0]), open("/proc/self/maps").read())
    """
    environment = {**os.environ, "GRAVURE_CODE": str(tmp_path / "code")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    [path] = (tmp_path / "code").glob("gravure-*.so")
    assert done.stdout.startswith("1.0 ")
    assert str(path) in done.stdout
    assert b"<bytes>:1" in path.read_bytes()


@pytest.mark.slow
@needs("perf")
def test_samples_of_perf_name_nodes(forward: Path, tmp_path: Path) -> None:
    code = f"""if True:
        import time
        import numpy as np
        import gravure as gv
        model = gv.load({str(forward)!r})
        x, end = np.ones((64, 64), np.float32), time.monotonic() + 1.0
        while time.monotonic() < end:
            model(x)
    """
    data = tmp_path / "perf.data"
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-o", str(data)]
    command += [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"perf cannot record here: {done.stderr.strip()[:100]}")
    report = said("perf", "report", "-i", data, "--stdio", "--sort", "sym")
    assert re.search(r"\[\.\] g\w+:MatMul_at_\S*/forward\.py:8", report)
