"""Compiled models in C programs: the examples build without a warning and give the same numbers."""

import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gravure as gv
import gravure.tf as tf
from gravure.runtime.arguments import numpy_dtype

HERE = Path(__file__).parent
MODELS, EXAMPLES = HERE / "models", HERE / "examples" / "c"
STRICT = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) here")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the headers and libraries of `mlp` and `digits`."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("mlp", "digits"):
        model = gv.compile(MODELS / f"{name}.onnx", threads=4)
        for suffix in ("so", "o", "a", "h"):
            model.save(folder / f"{name}.{suffix}")
    return folder


@pytest.fixture(scope="module")
def numbers() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return an input of `mlp` and an image of `digits`."""
    image = np.load(MODELS / "digits_test.npz")["images"][0]
    return np.linspace(-1, 1, 8, dtype=np.float32), image.astype(np.float32)


def build(folder: Path, program: str, *rest: str) -> Path:
    """Compile and link an example."""
    out = folder / program
    command = ["cc", *STRICT, f"-I{folder}", str(EXAMPLES / f"{program}.c"), *rest, "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def output(command: list[str], given: NDArray[np.float32]) -> list[tuple[str, str]]:
    """Run a program on numbers; return its lines, cut at the first blank."""
    text = "\n".join(map(str, given.ravel()))
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [tuple(line.split(" ", 1)) for line in done.stdout.splitlines()]  # type: ignore[misc]


def values(lines: list[tuple[str, str]], name: str) -> NDArray[np.float32]:
    """Return the numbers of the lines that begin with a name."""
    return np.array([rest for head, rest in lines if head == name], np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["so", "o", "a"])
def test_two_models_live_in_one_program(libraries: Path, numbers, kind: str) -> None:
    files = [str(libraries / f"{name}.{kind}") for name in ("mlp", "digits")]
    program = build(libraries, "two_models", *files)
    lines = output([str(program)], np.concatenate([given.ravel() for given in numbers]))
    for name, given in zip(("mlp", "digits"), numbers, strict=True):
        model = gv.load(libraries / f"{name}.so")
        wanted = model(given.reshape(model.inputs[0].shape)).ravel()
        np.testing.assert_array_equal(values(lines, name), wanted)
    assert lines[-1] == ("refused", "input 'x': another rank than that of f32[1, 8]")


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_threads_are_the_callers_and_change_no_bit(libraries: Path, numbers, threads: str) -> None:
    program = build(libraries, "threads", str(libraries / "digits.a"), "-lpthread")
    lines = output([str(program), threads], numbers[1])
    wanted = gv.load(libraries / "digits.so")(numbers[1].reshape(1, 1, 8, 8)).ravel()
    np.testing.assert_array_equal(values(lines, "digits"), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits", "conv_norm", "embedding", "elementwise"])
def test_model_run_on_files_of_numbers_gives_the_same_bits(tmp_path: Path, name: str) -> None:
    run_in_c = runpy.run_path(str(HERE / "examples" / "check_c.py"))["run_in_c"]
    model = gv.compile(MODELS / f"{name}.onnx")
    random = np.random.default_rng(5)
    inputs = {
        info.name: random.integers(0, 9, info.shape).astype(numpy_dtype(info.dtype))
        for info in model.inputs
    }
    for found, wanted in zip(run_in_c(model, inputs, tmp_path), model.run(inputs), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
def test_program_says_what_is_wrong_with_its_arguments(libraries: Path, tmp_path: Path) -> None:
    model = ("-DMODEL=mlp", "-include", str(libraries / "mlp.h"), str(libraries / "mlp.so"))
    program = build(libraries, "run_model", *model)
    (tmp_path / "x").write_bytes(b"12")
    for arguments, message in (
        ((f"f32:1x8:{tmp_path / 'x'}", "--", f"f32:1x4:{tmp_path / 'y'}"), "another size"),
        ((f"f32:1x8:{tmp_path / 'z'}", "--", f"f32:1x4:{tmp_path / 'y'}"), "cannot be opened"),
        (("f31:1x8:x", "--"), "not a type"),
        ((f"f32:1x8:{tmp_path / 'x'}",), "expected inputs, --, outputs"),
        (("--", f"f32:1x4:{tmp_path / 'y'}"), "input 'x'"),
    ):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert message in done.stderr


def white_paper_step(folder: Path) -> None:
    """Write a step of training of the white paper's model as an object and its header."""
    w, b = tf.Variable(np.zeros((784, 100), np.float32)), tf.Variable(np.zeros(100, np.float32))

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            cost = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(w, x) + b)))
        for variable, gradient in zip((w, b), tape.gradient(cost, [w, b]), strict=True):
            variable.assign_sub(0.5 * gradient)
        return cost

    concrete = tf.function(step).get_concrete_function(tf.TensorSpec([100, 1], tf.float32))
    for suffix in ("o", "h"):
        concrete.save(folder / f"paper.{suffix}")


def test_the_white_papers_model_is_trained_in_c(tmp_path: Path) -> None:
    white_paper_step(tmp_path)
    program = build(tmp_path, "white_paper", str(tmp_path / "paper.o"))
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    table_b = [3.761257318, 4.186824707, 3.480053154, 3.756278390, 3.656016207]
    table_b += [3.964894461, 9.643298740, 3.177955710, 3.563504346, 2.933792551]
    np.testing.assert_allclose(np.array(lines[1::2], float), table_b, rtol=1e-5)
    assert lines[::2] == [str(step) for step in range(10)]
