"""The verifier finds every fault of a module, in the order of the text, at its place."""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from gravure.errors import VerifyError
from gravure.ir import GraphEmit, InvalidModuleError, TensorSpec, parse, spec, verify
from gravure.ir.ops.elementwise import Add, Neg
from gravure.ir.ops.structure import Kernel, Yield
from gravure.ir.program import finish, new_function, set_level
from gravure.ir.types.dtypes import f32, i32
from gravure.ir.verify import find_faults


def negate_often(count: int) -> tuple[ModuleOp, list[Operation]]:
    """Return a module whose function negates so many times, and the operations that do."""
    function = new_function("main", [("x", spec(f32, 2))])
    emit = GraphEmit.at_end(function.body.block)
    value = function.body.block.args[0]
    for _ in range(count):
        value = emit(Neg, value)
    finish(function, [value], ["y"])
    return ModuleOp([function]), list(emit.made)


def messages(module: ModuleOp) -> list[str]:
    return [fault.message for fault in find_faults(module)]


def test_good_module_has_no_faults() -> None:
    module, _ = negate_often(3)
    assert find_faults(module) == []
    verify(module)


def test_use_before_definition_is_found() -> None:
    module, (first, second) = negate_often(2)
    first.operands = second.results
    assert messages(module) == ["operand 0 is used before its definition (later)"]


def test_use_of_its_own_result_is_found() -> None:
    module, (only,) = negate_often(1)
    only.operands = only.results
    assert messages(module) == ["operand 0 is used before its definition (later)"]


def test_use_of_another_functions_argument_is_found() -> None:
    module, (only,) = negate_often(1)
    other, _ = negate_often(0)
    function = other.body.block.first_op
    assert function is not None
    only.operands = [function.regions[0].block.args[0]]
    wanted = "operand 0 is used before its definition (an argument of another block)"
    assert messages(module)[-1] == wanted


def test_value_of_a_region_is_not_visible_behind_it() -> None:
    text = """func.func @main(%x: tensor<2xf32>, %n: index) -> tensor<2xf32> {
  %c = arith.constant 1 : index
  scf.for %i = %c to %n step %c {
    %y = gv.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  }
  func.return %x : tensor<2xf32>
}"""
    module = parse(text)
    (inner,) = (op for op in module.walk() if isinstance(op, Neg))
    last = next(op for op in module.walk() if op.name == "func.return")
    last.operands = inner.results
    assert "used before its definition" in messages(module)[0]


def test_all_faults_are_reported_in_order_with_places() -> None:
    text = """func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %0 = gv.add %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  %1 = gv.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.exp %x : (tensor<2xf32>) -> tensor<4xf32>
  func.return %1 : tensor<2xf32>
}"""
    with pytest.raises(InvalidModuleError) as raised:
        parse(text, "f.mlir")
    assert str(raised.value).splitlines() == [
        "f.mlir:2:3: error: gv.add: shapes (2,) and (3,) do not broadcast: 2 against 3",
        "f.mlir:4:3: error: gv.exp: result type is tensor<4xf32>, "
        "but the operands give tensor<2xf32>",
    ]
    assert isinstance(raised.value, VerifyError)
    assert [fault.op.name for fault in raised.value.faults] == ["gv.add", "gv.exp"]


def test_operation_made_unchecked_is_checked() -> None:
    module, (only,) = negate_often(1)
    wrong = Add.build_unchecked([only.results[0], only.results[0]], [spec(i32, 2).type], {})
    assert only.parent is not None
    only.parent.insert_op_after(wrong, only)
    assert messages(module) == ["result type is tensor<2xi32>, but the operands give tensor<2xf32>"]


def test_missing_operand_is_counted() -> None:
    module, (only,) = negate_often(1)
    wrong = Add.build_unchecked([only.results[0]], [spec(f32, 2).type], {})
    assert only.parent is not None
    only.parent.insert_op_after(wrong, only)
    assert messages(module) == ["1 operands, expected 2"]


def test_error_of_a_new_operation_names_it() -> None:
    module, (only,) = negate_often(1)
    with pytest.raises(TypeError, match=r"^gv\.neg: 2 operands, expected 1$"):
        Neg.make(only.results[0], only.results[0])
    with pytest.raises(TypeError, match=r"^gv\.neg: attribute size is unknown$"):
        Neg.make(only.results[0], size=1)
    verify(module)


def test_level_says_what_may_stand_in_a_module() -> None:
    function = new_function("main", [("x", spec(f32, 2))])
    x = function.body.block.args[0]
    inner = new_function("inner", [("x", spec(f32, 2))])
    body = inner.body.detach_block(0)
    body.add_op(Yield.make(body.args[0]))
    kernel = Kernel.make_from([x], body, "map")
    function.body.block.add_op(kernel)
    finish(function, kernel.results, ["y"])
    module = ModuleOp([function])
    set_level(module, "fused")
    assert messages(module) == []
    set_level(module, "graph")
    assert any("graph" in message for message in messages(module))


def test_deep_module_is_verified_without_recursion() -> None:
    module, made = negate_often(3000)
    made[-1].operands = [made[-1].results[0]]
    assert len(find_faults(module)) == 1


def test_unknown_rank_is_an_error_where_the_rank_matters() -> None:
    with pytest.raises(TypeError, match="the rank is unknown here"):
        Add.infer(TensorSpec(f32, None), spec(f32, 2))
    assert Neg.infer(TensorSpec(f32, None)) == (TensorSpec(f32, None),)
