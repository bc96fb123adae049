"""Texts that are no program: every fault is named, before anything is compiled."""

from pathlib import Path

import pytest

import gravure as gv
from gravure.codegen.compile import Options, compile_program
from gravure.frontend.programs.load import load_program
from gravure.ir import print_module

MLP = Path(__file__).parent.parent / "models" / "small" / "mlp.gv"
NEG = """func.func @main(%x: tensor<4xf32> {gv.name = "x"}) -> (tensor<4xf32> {gv.name = "y"}) {
  %0 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def planned() -> str:
    """Return the text of a planned program."""
    program = load_program(MLP)
    compile_program(program, Options(cache=False))
    return print_module(program.module)


def fault(text: str) -> str:
    """Return what is said about a text."""
    with pytest.raises(gv.GravureError) as caught:
        gv.compile(text.encode())
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@main", "@other", "there is no function @main"),
        ("  func.return %0 : tensor<4xf32>\n", "", "is not a terminator"),
        ("gv.neg %x", "gv.transpose %x", "gv.transpose: attribute order is missing"),
        ("4xf32", f"{2**63}xf32", f"f32[{2**63}] has more than {2**62} bytes"),
        ("gv.neg %x", "gv.neg %x {a = 3840 : i4}", "out of range"),
    ],
)
def test_graph_that_is_no_program(old: str, new: str, message: str) -> None:
    assert message in fault(NEG.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kernel = @", "kernel = @no_", "there is no kernel @no_"),
        ('gv.role = "workspace"', 'gv.role = "attic"', "expected one of host, input, output"),
        ('gv.role = "workspace"', "unit", "argument 2 has the gv.role None"),
        ("offset = 0 : i64, ", "", "gv.buffer: attribute offset is missing"),
        ("shape = ", "form = ", "gv.buffer: attribute shape is missing"),
        ('gv.symbols = ["N"]', "gv.symbols = []", "dimension N of @"),
        ('gv.kind = "gemm"', 'gv.kind = "loops"', "of the unknown kind 'loops'"),
        ('gv.kind = "gemm"', 'gv.kind = "os.path"', "of the unknown kind 'os.path'"),
    ],
)
def test_plan_that_is_no_program(planned: str, old: str, new: str, message: str) -> None:
    assert old in planned
    assert message in fault(planned.replace(old, new))
