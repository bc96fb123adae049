"""Compiled models in C programs: the examples build without a warning and give the same numbers."""

import ctypes
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from numpy.typing import NDArray

import gravure as gv
import gravure.tf as tf
from gravure.runtime.arguments import numpy_dtype
from gravure.runtime.buffer import aligned_array

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


def first_weights() -> NDArray[np.float32]:
    """Return the matrix that the white paper's model begins with."""
    numbers, s = [], 12345
    for _ in range(78400):
        s = (1103515245 * s + 12345) % 2**31
        numbers.append(s / 2**30 - 1)
    return np.array(numbers, np.float32).reshape(784, 100)


def save_white_paper(folder: Path) -> list[tf.Variable]:
    """Write the white paper's model as functions over its variables."""
    w = tf.Variable(first_weights(), name="W")
    b = tf.Variable(np.zeros(100, np.float32), name="b")
    signature = [tf.TensorSpec([100, 1], tf.float32)]

    @tf.function(input_signature=signature)
    def infer(x: Any) -> Any:
        return tf.nn.relu(tf.matmul(w, x) + b)

    @tf.function(input_signature=signature)
    def grad(x: Any) -> Any:
        with tf.GradientTape() as tape:
            cost = tf.reduce_mean(tf.square(infer(x)))
        return tape.gradient(cost, [w, b])

    @tf.function(input_signature=signature)
    def train_step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            cost = tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(w, x) + b)))
        for variable, gradient in zip((w, b), tape.gradient(cost, [w, b]), strict=True):
            variable.assign_sub(0.5 * gradient)
        return cost

    functions = {"infer": infer, "grad": grad, "train_step": train_step}
    made = gv.save_functions(folder / "paper.so", functions)
    for suffix in ("o", "a", "h"):
        made.save(folder / f"paper.{suffix}")
    return [w, b]


TABLE_B = [3.761257318, 4.186824707, 3.480053154, 3.756278390, 3.656016207]
TABLE_B += [3.964894461, 9.643298740, 3.177955710, 3.563504346, 2.933792551]


def after_ten_steps(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return relu(W x + b) of the trained model, and how large the gradient of W is, in numpy."""
    w, b = first_weights().astype(np.float64), np.zeros(100)
    for step in range(11):
        now = np.array([(j * (step + 1) % 7 - 3) / 4 for j in range(100)]) if step < 10 else x
        hidden = np.maximum((w @ now)[:, None] + b, 0)
        grad = hidden * 2 / hidden.size
        slope = np.outer(grad.sum(axis=1), now)
        if step < 10:
            w, b = w - 0.5 * slope, b - 0.5 * grad.sum(axis=0)
    return hidden, float(np.linalg.norm(slope))


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """Return a folder with the functions of the white paper's model, and what they are made of."""
    folder = tmp_path_factory.mktemp("paper")
    return folder, save_white_paper(folder)


@pytest.mark.parametrize("kind", ["o", "a", "so"])
def test_x11_the_white_papers_model_is_trained_in_c(paper: tuple[Path, Any], kind: str) -> None:
    program = build(paper[0], "white_paper", str(paper[0] / f"paper.{kind}"), "-lm")
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    rows = [line.split() for line in lines[:10]]
    np.testing.assert_allclose([float(cost) for _, cost in rows], TABLE_B, rtol=1e-5)
    assert [step for step, _ in rows] == [str(step) for step in range(10)]
    x = np.array([(j * 10 % 7 - 3) / 4 for j in range(100)])
    hidden, slope = after_ten_steps(x)
    assert float(lines[10].split()[1]) == pytest.approx(np.mean(hidden**2), rel=1e-5)
    assert float(lines[11].split()[1]) == pytest.approx(slope, rel=1e-5)
    assert lines[12] == "apart 0"
    assert lines[13:] == [
        "the data: not what was saved of such a state",
        "the state: null or not aligned to 64 bytes",
        "input 'x0': another rank than that of f32[100, 1]",
    ]


def test_x11_c_saves_and_loads_what_python_does(paper: tuple[Path, Any]) -> None:
    folder, (w, b) = paper
    library = ctypes.CDLL(str(folder / "paper.so"))
    state = aligned_array((78464 + 64,), np.dtype(np.float32))
    where = ctypes.c_void_p(state.ctypes.data)
    assert library.paper_init(where) == 0
    np.testing.assert_array_equal(state[:78400].reshape(784, 100), w.numpy())
    saved = np.zeros(78500 * 4 + 4096, np.uint8)
    library.paper_save.restype = None
    library.paper_save(where, ctypes.c_void_p(saved.ctypes.data))
    size = 8 + int.from_bytes(saved[:8].tobytes(), "little") + 4 * 78500
    found = safetensors.numpy.load(saved[:size].tobytes())
    np.testing.assert_array_equal(found["W"], w.numpy())
    np.testing.assert_array_equal(found["b"], b.numpy())
    found["b"] += 1
    other = np.frombuffer(safetensors.numpy.save(found), np.uint8)
    assert library.paper_load(where, ctypes.c_void_p(other.ctypes.data), ctypes.c_size_t(size)) == 0
    np.testing.assert_array_equal(state[78400:78500], np.ones(100))


def test_x11_functions_of_no_state_and_random_ones_are_refused(tmp_path: Path) -> None:
    v, draw = tf.Variable(1.0), lambda: tf.random.normal([])
    plain = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([2], tf.float32)])
    draws = tf.function(lambda: v.assign_add(tf.random.normal([])), input_signature=[])
    with pytest.raises(gv.GravureError, match="the functions use no variables"):
        gv.save_functions(tmp_path / "f.so", {"f": plain})
    with pytest.raises(gv.GravureError, match="draws random numbers"):
        gv.save_functions(tmp_path / "f.so", {"f": draws})
    loop = tf.function(
        lambda: tf.while_loop(lambda i: i < 3, lambda i: [i + 1 + 0 * v.assign(draw())], [v * 0]),
        input_signature=[],
    )
    with pytest.raises(gv.GravureError, match="draws"):
        gv.save_functions(tmp_path / "f.so", {"f": loop})
    with pytest.raises(gv.GravureError, match="cannot be called 'init' in C"):
        gv.save_functions(tmp_path / "f.so", {"init": plain})
    with pytest.raises(gv.GravureError, match="has no input_signature"):
        gv.save_functions(tmp_path / "f.so", {"f": tf.function(lambda x: x)})
