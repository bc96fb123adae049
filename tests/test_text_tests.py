"""The text tests' own rules: what passes, what fails and how, what --bless writes."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = (Path(__file__).parent / "conftest.py").read_text()
# The passes `double` and `silent` return twice what was returned: that is wrong.
PASSES = """
from gravure.ir.ops.elementwise import Add
from gravure.passes import Pass
from gravure.passes.analysis.targets import target_of


class Double(Pass):
    def apply(self, program):
        for op in list(program.module.walk()):
            if op.name == "func.return":
                (value,) = op.operands
                twice = Add.make(value, value)
                op.parent.insert_op_before(twice, op)
                op.operands = twice.results
                self.count("doubled")


class Silent(Double):
    def count(self, what, number=1):
        pass


class Aimed(Pass):
    def apply(self, program):
        assert target_of(program).name == "x86-64-v4"


PASSES = {"double": Double(), "silent": Silent(), "aimed": Aimed()}
run_passes = run


def run(pipeline, program, *, observers):
    made = [PASSES[pipeline]] if pipeline else ""
    return run_passes(made, program, observers=observers)
"""
SAME = """
func.func @same(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
"""
ADD = """
func.func @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""
TYPES = """
func.func @types(%x: tensor<2xf32>, %y: tensor<2xf64>) -> tensor<2xf32> {
  %0 = gv.add %x, %y : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>FIRST
  func.return %0 : tensor<2xf32>SECOND
}
"""
COMMENTED = "\n// ->\n" + "".join(f"// {line}\n" for line in SAME.strip().splitlines())
SYMBOLIC = ADD.replace("tensor<2xf32>", 'tensor<?xf32, #gv.dims<"N">>')


def types(first: str, second: str) -> str:
    """Return the wrong addition with comments behind its two lines."""
    return "// test:\n" + TYPES.replace("FIRST", first).replace("SECOND", second)


GOOD = {
    "same_text": f"// test:\n{SAME}{COMMENTED}",
    "symbolic_sizes_are_filled_in": f"// test:\n// count: gv.add 1\n{SYMBOLIC}",
    "other_meaning_with_a_reason": f"// test: double\n// count: gv.add 1\n// differs: why\n{SAME}",
    "error_on_its_line": types(" // error: types differ: f32 and f64", ""),
    "one_machine": f"// test: aimed\n// count: gv.add 1\n{ADD}",
    "two_cases": f"// test:\n{SAME}{COMMENTED}\n// -----\n// count: gv.add 1\n{ADD}",
}
BAD = {
    "other_text": (f"// test:\n{ADD}{COMMENTED}", "-// func.func @same*"),
    "other_meaning": (
        f"// test: double\n// count: gv.add 1\n{SAME}",
        "pass * changed result 'result0' of @same on random arguments*",
    ),
    "nothing_counted": (
        f"// test: silent\n// count: gv.add 1\n// differs: why\n{SAME}",
        "pass * counts nothing that it did*",
    ),
    "wrong_count": (f"// test:\n// count: gv.add 2\n{ADD}", "1 gv.add, expected 2"),
    "error_elsewhere": (
        types("", " // error: types differ"),
        "errors are on lines [[]4[]]*",
    ),
    "wrong_error": (types(" // error: other", ""), "line 4: gv.add: *"),
    "nothing_to_expect": (f"// test:\n{SAME}", "(pytest --bless writes the output)"),
}


def run(pytester: pytest.Pytester, *options: str, **texts: str) -> pytest.RunResult:
    """Run text tests with the pass above."""
    pytester.makeconftest(CONFTEST + PASSES)
    for name, text in texts.items():
        pytester.path.joinpath(f"{name}.mlir").write_text(text)
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)


def test_good_cases_pass_and_bad_ones_say_why(pytester: pytest.Pytester) -> None:
    bad = {name: text for name, (text, _) in BAD.items()}
    result = run(pytester, **GOOD, **bad)
    result.assert_outcomes(passed=len(GOOD) + 1, failed=len(BAD))
    for name, (_, line) in BAD.items():
        result.stdout.fnmatch_lines([f"FAILED {name}.mlir::*"])
        result.stdout.fnmatch_lines([line])


def test_bless_writes_one_result_and_keeps_the_rest(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--bless", case=f"// test:\n{ADD}\n// -----\n{SAME}{COMMENTED}")
    result.assert_outcomes(passed=2)
    blessed = pytester.path.joinpath("case.mlir").read_text()
    assert blessed.startswith(f"// test:\n{ADD}\n// ->\n// func.func @twice")
    assert blessed.endswith(f"\n\n// -----\n{SAME}{COMMENTED}")
    run(pytester, case=blessed).assert_outcomes(passed=2)


def test_file_without_its_first_line_is_an_error(pytester: pytest.Pytester) -> None:
    result = run(pytester, headless=SAME)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*is not `// test: PIPELINE`*"])
