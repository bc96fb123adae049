"""What compiling may take: `--budget`."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure import budget
from gravure.budget import Budget, BudgetError
from gravure.counting import counted, tell
from gravure.errors import CompileError
from gravure.tools.cli import main

MLP = Path(__file__).parent.parent / "models" / "mlp.onnx"


@pytest.mark.parametrize(
    ("text", "seconds", "memory"),
    [
        ("10s", 10, float("inf")),
        ("1GB", float("inf"), 1e9),
        ("1.5m/64KiB", 90, 65536),
        ("2G/500ms", 0.5, 1 << 31),
        ("", float("inf"), float("inf")),
    ],
)
def test_budgets_are_read(text: str, seconds: float, memory: float) -> None:
    assert Budget.parse(text) == Budget(seconds, memory)


@pytest.mark.parametrize("text", ["10", "s", "10s/5s", "1GB/2MB", "-1s", "10 parsecs", "10s 1GB"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(CompileError, match="expected one like 10s, 1GB or 10s/1GB"):
        Budget.parse(text)
    with pytest.raises(CompileError, match="budget"):
        gv.compile(str(MLP), budget=text, cache=False)


def test_time_is_named_where_it_was_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(budget, "perf_counter", lambda: next(clock))
    heard: list[int] = []

    def work() -> None:
        with Budget(seconds=2.5).kept():
            for i in range(1, 40):
                tell("pass", i, 40)

    with (
        counted(lambda _, done, __: heard.append(done)),
        pytest.raises(BudgetError, match=r"took 3 s at pass 3 of 40, the budget is 2.5 s"),
    ):
        work()
    assert heard == [1, 2]


def test_memory_is_what_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter([10**9, 10**9 + 4 * 10**6, 10**9 + 6 * 10**6])
    monkeypatch.setattr(budget, "resident", lambda: next(sizes))

    def work() -> None:
        with Budget.parse("5MB").kept():
            tell("kernel", 1)
            tell("kernel", 2)

    with pytest.raises(BudgetError, match=r"took 6 MB of memory at kernel 2, the budget is 5 MB"):
        work()


def test_resident_memory_is_measured() -> None:
    before = budget.resident()
    more = np.ones(1 << 25)
    assert budget.resident() - before > more.nbytes // 2


def test_weights_are_refused_before_work_begins() -> None:
    info = helper.make_tensor_value_info
    weight = numpy_helper.from_array(np.ones((512, 600), np.float32), "w")
    ends = [info("x", TensorProto.FLOAT, (1, 512)), info("y", TensorProto.FLOAT, (1, 600))]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", ends[:1], ends[1:], [weight]
    )
    source = helper.make_model(graph, ir_version=9).SerializeToString()
    with pytest.raises(BudgetError, match=r"the weights alone are 1.229 MB, the budget is 1 MB"):
        gv.compile(source, budget="1MB", cache=False)


def test_a_model_within_its_budget_is_the_same() -> None:
    plain, limited = (gv.compile(str(MLP), budget=b, cache=False) for b in ("", "600s/8GB"))
    shape = tuple(1 if isinstance(d, str) else d for d in plain.inputs[0].shape)
    x = np.ones(shape, np.float32)
    np.testing.assert_array_equal(plain(x), limited(x))


@pytest.mark.parametrize("more", [["-o", "m.so"], ["--to", "planned", "-o", "m.mlir"]])
def test_the_command_ends_by_a_status(
    more: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["compile", str(MLP), "--budget", "0.01ms", "--no-cache", *more]) == 69
    assert "the budget is 1e-05 s" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]
