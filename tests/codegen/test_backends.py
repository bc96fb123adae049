"""The table of back ends: gravure's own rows, and one that is registered from outside."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

import gravure as gv
from gravure import extensions
from gravure.capabilities import Capabilities
from gravure.codegen import kernels
from gravure.codegen.backends.backend import Code, Job, lower_by, refuse_stage
from gravure.codegen.backends.table import BACKENDS, BackendError, backend_of, register_backend
from gravure.codegen.compiled import Compiled, Options
from gravure.codegen.describe import describe
from gravure.codegen.stages import text_of
from gravure.errors import GravureError
from gravure.extensions import NameTakenError
from gravure.frontend.programs.compile import compile_source
from gravure.ir import Program
from gravure.ir.interpret.graph import Interpreter
from gravure.ir.interpret.planned import interpret_planned, weight_blob
from gravure.ir.types.tensor import Array
from gravure.passes.pipelines import pipeline_of
from gravure.target import ARCHITECTURES, PROCESSORS, Architecture, Processor, Target, TargetError

MODELS = Path(__file__).parent.parent / "models"
ROW = Architecture(
    "walked",
    "",
    "walked-none-none",
    {},
    Capabilities(convolve_integers=False, step_out=False, stream=False, run_anywhere=True),
    "walked",
    lanes=8,
    registers=16,
)
WALKED = Processor("walked", ROW, "", (), (1 << 15, 1 << 18, 1 << 20), "loops, by interpreter")


@dataclass
class Walk:
    """A program of loops, with its weights prepared."""

    program: Program
    weights: Array

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        return interpret_planned(self.program, inputs, self.weights)


class Walked:
    """Runs the loops of kernels by the reference interpreter."""

    name = "walked"
    processors: Sequence[Processor] = (WALKED,)

    def check(self, target: Target) -> None:
        assert target.cpu == ""

    def pipeline(self, level: str, dtype: str) -> str:
        return pipeline_of(level, dtype)

    def lower(self, kernel: FuncOp, target: Target) -> FuncOp:
        return kernels.lower(kernel, target)

    def compile(self, job: Job) -> Code:
        job.descend()
        lower_by(self, job.program, job.target)
        weights = weight_blob(job.program, Interpreter(job.program.module, job.program.weights))
        return Code(describe(job.program, job.names), executable=Walk(job.program, weights))

    def text(self, compiled: Compiled, stage: str) -> str:
        raise refuse_stage(self, compiled.target, stage)


@pytest.fixture
def walked() -> Iterator[None]:
    before = len(extensions.REGISTERED)
    register_backend(Walked())
    yield
    extensions.forget_behind(before)
    assert "walked" not in {*BACKENDS, *PROCESSORS, *ARCHITECTURES}


SMALL = ["black_scholes", "decoder", "gru", "heat", "lstm_row", "mlp", "quantised", "unet"]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("level", [pytest.param("O0", marks=pytest.mark.sweep), "O2"])
@pytest.mark.usefixtures("walked")
def test_a_back_end_from_outside_runs_models(name: str, level: str) -> None:
    found = gv.run(MODELS / f"small/{name}.gv", "random:7", target="walked", level=level,
                   against=["interp"])  # fmt: skip
    assert found.compared
    assert found.is_close, str(found)


@pytest.mark.usefixtures("walked")
def test_its_models_have_the_face_of_all_models() -> None:
    text = b"""model m(x: f32[N, 3], N in 1..4) -> (y) {
      w = transpose(x, order=[1, 0])
      y = matmul(x, w)
    }"""
    model = gv.compile(text, target="walked")
    program = model.compiled.program
    assert program is not None
    assert program.level == "loops"
    assert not model.compiled.objects
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(model(x), x @ x.T)
    assert model.manifest["target"] == "walked"
    assert "walked" in repr(model)
    y = np.empty((2, 2), np.float32)
    again = model.bind([x], [y])
    x[:] = 1
    assert again()[0] is y
    np.testing.assert_array_equal(y, np.full((2, 2), 3))
    with pytest.raises(GravureError, match=r"compiled with .*3.* called with"):
        model(np.zeros((2, 4), np.float32))
    with pytest.raises(GravureError, match="from 1 to 4"):
        model(np.zeros((5, 3), np.float32))
    with pytest.raises(GravureError, match="output 'y' compiled with"):
        model.bind([x], [np.empty((3, 2), np.float32)])
    with pytest.raises(GravureError, match="2 threads: target walked runs on one"):
        gv.compile(text, target="walked", threads=2)
    with pytest.raises(GravureError, match="runs programs in this process, and makes no files"):
        model.compiled.library()
    with pytest.raises(GravureError, match="back end 'walked' has no stage 'asm'"):
        text_of(model.compiled, "asm")


@pytest.mark.usefixtures("walked")
def test_what_a_back_end_gives_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    model = gv.compile(b"model m(x: f32[3]) -> (y) { y = relu(x) }", target="walked")
    for given, said in (
        ([], "gave 0 results, expected 1"),
        ([np.zeros(4, np.float32)], r"gave f32\[4\] for result 'y', expected f32\[3\]"),
        ([np.zeros(3)], r"gave f64\[3\] for result 'y'"),
    ):
        monkeypatch.setattr(Walk, "run", lambda *_, given=given: given)
        with pytest.raises(GravureError, match=said):
            model(np.zeros(3, np.float32))


@pytest.mark.usefixtures("walked")
def test_its_targets_are_in_the_list() -> None:
    [row] = gv.list_targets(["walked"])
    assert (row.what, row.lanes, row.registers, row.runs_here) == (WALKED.description, 8, 16, True)
    assert "walked" in [row.name for row in gv.list_targets()]
    assert backend_of(Target.parse("walked")).name == "walked"


@pytest.mark.usefixtures("walked")
def test_passes_ask_what_its_kernels_can_do() -> None:
    plain = compile_source(MODELS / "small/quantised.gv", Options(target="walked"))
    assert plain.report is not None
    counts = {step.name: step.rewrite.counts for step in plain.report.steps}
    native = compile_source(MODELS / "small/quantised.gv", Options(cache=False))
    assert native.report is not None
    others = {step.name: step.rewrite.counts for step in native.report.steps}
    assert others["integer-products"] != counts["integer-products"]


def test_host_steps_are_refused_where_they_cannot_stand(walked: None) -> None:
    text = b"model m(x: f32[3]) -> (y) { y = non_zero(x) }"
    del walked
    with pytest.raises(GravureError, match="non_zero"):
        gv.compile(text, target="walked")


def test_names_that_are_taken_are_refused(walked: None) -> None:
    del walked
    with pytest.raises(NameTakenError, match=r"'walked' is defined twice: module .* has it"):
        register_backend(Walked())

    class Other(Walked):
        name = "other"
        processors = (replace(WALKED, name="znver4", architecture=replace(ROW, backend="other")),)

    with pytest.raises(TargetError, match="target 'znver4' is defined twice"):
        register_backend(Other())
    Other.processors = (replace(WALKED, name="other", architecture=replace(ROW, backend="other")),)
    with pytest.raises(TargetError, match="architecture 'walked' is defined twice"):
        register_backend(Other())
    Other.processors = (WALKED,)
    with pytest.raises(BackendError, match="architecture 'walked', whose back end is 'walked'"):
        register_backend(Other())
    Other.name = "an other"
    with pytest.raises(BackendError, match="no identifier"):
        register_backend(Other())
    assert "other" not in BACKENDS


def test_no_pass_asks_which_machine_it_is() -> None:
    root = Path(gv.__file__).parent.parent
    asked = {"is_gpu", "architecture", "backend", "triple"}
    asking = [
        f"{path}:{node.lineno}"
        for folder in ("passes", "codegen/kernels")
        for path in (root / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in asked
    ]
    assert not asking
