"""Compiled models that C and C++ load by their path (I27): what they say, runs, and refusals."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import gravure as gv
from gravure.runtime.artifact import DTYPES

HERE = Path(__file__).parent
MODELS, EXAMPLE = HERE / "models", HERE / "examples" / "c" / "load_models.c"
INCLUDE = HERE.parent / "runtime" / "include"
STRICT = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) here")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that loads models, which says of itself what it does wrong in memory."""
    out = tmp_path_factory.mktemp("program") / "load_models"
    looks = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    command = ["cc", "-std=c11", *STRICT, f"-I{INCLUDE}", str(EXAMPLE), "-o", str(out)]
    ends = ["-lpthread", "-ldl"]
    done = subprocess.run([*command, *looks, *ends], capture_output=True, check=False)
    if done.returncode != 0:  # a compiler without its sanitizers
        subprocess.run([*command, *ends], check=True)
    return out


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with compiled models, one with its weights beside it."""
    folder = tmp_path_factory.mktemp("libraries")
    model = gv.compile(MODELS / "mlp_batch.onnx", dims={"batch": (1, 64)}, threads=4)
    model.save(folder / "batch.so")
    gv.emit(MODELS / "mlp.onnx", folder / "apart.so", ("library", "weights"), embed=False)
    return folder


def run(program: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60
    )


def results(text: str) -> list[NDArray[np.float32]]:
    found = re.findall(r"^result([ \d]*):(.*)$", text, re.MULTILINE)
    return [
        np.array(values.split(), np.float32).reshape([int(d) for d in shape.split()])
        for shape, values in found
    ]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_i27_instances_run_a_model_of_open_sizes(
    program: Path, libraries: Path, threads: int
) -> None:
    done = run(program, threads, 5, libraries / "batch.so")
    assert done.returncode == 0, done.stderr
    wanted = gv.load(libraries / "batch.so")(np.ones((5, 8), np.float32))
    assert len(results(done.stdout)) == 2
    for found in results(done.stdout):
        np.testing.assert_array_equal(found, wanted)
    said = done.stdout.splitlines()[:4]
    assert said == [
        "model mlp_batch, 4 threads", "input x f32 batch 8", "output y f32 batch 4",
        "range batch 1 64",
    ]  # fmt: skip


def test_i27_weights_lie_in_a_file_of_their_own(program: Path, libraries: Path) -> None:
    library, weights = libraries / "apart.so", libraries / "apart.weights"
    done = run(program, 1, 1, library, weights)
    assert done.returncode == 0, done.stderr
    wanted = gv.load(library, weights=weights)(np.ones((1, 8), np.float32))
    np.testing.assert_array_equal(results(done.stdout)[0], wanted)
    assert "its weights are in a file of their own" in run(program, 1, 1, library).stderr
    assert "not a file of weights" in run(program, 1, 1, library, library).stderr
    other = run(program, 1, 1, libraries / "batch.so", weights)
    assert "no weights of a file belong to it" in other.stderr


def test_i27_wrong_numbers_are_a_status_with_words(program: Path, libraries: Path) -> None:
    library = libraries / "batch.so"
    for arguments, status, message in (
        ((1, 99, library), 5, "a dimension of f32[batch, 8] is out of range"),
        ((1, 0, library), 5, "expected batch = 1 to 64"),
        ((9, 1, library), 132, "9 threads, expected 1 to 4"),
        ((0, 1, library), 132, "0 threads, expected 1 to 4"),
        ((1, 1, "nowhere.so"), 128, "nowhere.so: cannot be read"),
        ((1, 1, libraries), 128, "cannot be read"),
        ((1, 1, EXAMPLE), 129, "not a compiled model"),
    ):
        done = run(program, *arguments)
        assert (done.returncode, message in done.stderr) == (status, True), done.stderr


def test_i27_a_damaged_file_is_refused_before_any_of_it_runs(
    program: Path, libraries: Path, tmp_path: Path
) -> None:
    data = (libraries / "batch.so").read_bytes()
    random, path = np.random.default_rng(0), tmp_path / "damaged.so"
    places = [0, 4, 16, 18, 32, 56, 64, 100, *random.integers(0, len(data), 40).tolist()]
    for place in places:
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        done = run(program, 1, 2, path)
        assert done.returncode in (129, 130), (place, done.stdout, done.stderr)
    for size in (0, 1, 63, 64, 500, 4096, len(data) - 1):
        path.write_bytes(data[:size])
        assert run(program, 1, 2, path).returncode in (129, 130), size
    path.write_bytes(data + b"\0")
    assert "the file is not whole" in run(program, 1, 2, path).stderr
    weights = bytearray((libraries / "apart.weights").read_bytes())
    weights[5000] ^= 1
    path.write_bytes(weights)
    done = run(program, 1, 1, libraries / "apart.so", path)
    assert "the weights were changed: their digest does not match" in done.stderr


def test_i27_the_header_is_one_file_for_c_and_cpp(libraries: Path, tmp_path: Path) -> None:
    gv.emit(MODELS / "mlp.onnx", tmp_path / "mlp.so", ("library", "session"))
    (tmp_path / "mlp.session.h").rename(tmp_path / "gravure_session.h")
    for command in (["cc", "-std=c11"], ["c++", "-std=c++17", "-xc++"]):
        if shutil.which(command[0]) is None:
            continue
        out = tmp_path / "one_file"
        rest = [f"-I{tmp_path}", str(EXAMPLE), "-o", str(out), "-lpthread", "-ldl"]
        subprocess.run([*command, *STRICT, *rest], check=True)
        done = run(out, 2, 1, tmp_path / "mlp.so")
        wanted = gv.load(tmp_path / "mlp.so")(np.ones((1, 8), np.float32))
        np.testing.assert_array_equal(results(done.stdout)[0], wanted)


def test_i27_the_header_knows_all_element_types() -> None:
    text = (INCLUDE / "gravure_session.h").read_text()
    found = re.findall(r'\{"(\w+)", (\d+)\}', text)
    assert [(name, int(size)) for name, size in found] == [*DTYPES.items()]


NOTHING = r"""
#define GRAVURE_SESSION_IMPLEMENTATION
#include "gravure_session.h"

#include <stdio.h>

int main(void) {
    gravure_error error;
    float x = 0;
    const int64_t shape[] = {1};
    gravure_session *session = gravure_session_create(
        gravure_model_load(NULL, NULL, &error), 1, &error);
    puts(session == NULL ? error.message : "a session");
    gravure_model_load(NULL, NULL, &error);
    puts(error.message);
    printf("%d ", gravure_session_set_input(session, 0, &x, shape, 1, GRAVURE_F32, &error));
    puts(error.message);
    printf("%d ", gravure_session_run(session, &error));
    puts(error.message);
    puts(gravure_session_output(session, 0) == NULL ? "no output" : "an output");
    gravure_session_free(session);
    return 0;
}
"""


def test_i27_what_is_null_is_a_status_with_words(tmp_path: Path) -> None:
    """As where nobody looked whether the model could be loaded."""
    (tmp_path / "main.c").write_text(NOTHING)
    command = ["cc", "-std=c11", *STRICT, f"-I{INCLUDE}", "main.c", "-o", "main"]
    subprocess.run([*command, "-lpthread", "-ldl"], cwd=tmp_path, check=True)
    done = run(tmp_path / "main")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "there is no model", "there is no path", "132 there is no session",
        "132 there is no session", "no output",
    ]  # fmt: skip
