"""Programs out as ONNX: every operation, symbols, control flow, weights, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from xdsl.dialects.builtin import ModuleOp

import gravure as gv
from gravure.errors import GraphError, UnsupportedOp
from gravure.frontend.onnx.export.model import save_onnx, to_model
from gravure.frontend.onnx.file.surgery import Surgery
from gravure.frontend.programs.load import load_program
from gravure.ir import (
    REGISTRY,
    Array,
    DType,
    GraphEmit,
    Program,
    Sample,
    TensorSpec,
    interpret,
    parse,
    spec_of_array,
)
from gravure.ir.program import finish, new_function, optional_function
from gravure.ir.types import dims
from gravure.ir.types.dtypes import f32
from gravure.passes.manager import parse_pipeline, run

MODELS = Path(__file__).parents[1] / "models"
CASES = [
    (op, number, dtype)
    for _, op in sorted(REGISTRY.items())
    for number, sample in enumerate(op.SAMPLES)
    for dtype in sample.dtypes[: 2 if number == 0 else 1]
]
REFUSED_TYPES = {("gv.conv", "i32"), ("gv.sum_pool", "i64")}
"""Types that ONNX's operators do not take, where no wider one is exact."""
OUTSIDE = {
    "gv.gather", "gv.gather_elements", "gv.gather_nd", "gv.scatter_elements", "gv.scatter_nd",
}  # fmt: skip
"""Operations whose samples have indices outside of the axis, which ONNX forbids."""
NAMES = (
    "abs acos add all any argmax argsort asin atan atan2 avg_pool batch_norm bitwise_and "
    "broadcast_to cast ceil celu cholesky clip concat conv conv_groups_packed conv_packed "
    "cos cosh cumprod cumsum depthwise_packed determinant div einsum elu equal erf exp exp2 "
    "expm1 floor floor_divide fmod gather gather_elements gather_nd gelu group_norm gru "
    "hard_sigmoid identity instance_norm inverse iota isfinite isinf isnan layer_norm "
    "leaky_relu less log log10 log1p log2 log_softmax logical_and logsumexp lrn lstm matmul "
    "matmul_packed max max_pool max_pool_gradient maximum mean min minimum mish mod mul neg "
    "not_equal one_hot pad pow prod random_bits reciprocal relu reshape resize rms_norm rnn "
    "round rsqrt scatter_elements scatter_nd select shift_left shift_right sigmoid sign silu "
    "sin slice softmax softplus solve sort sqrt stop_gradient sub sum sum_pool tan tanh "
    "top_k transpose trunc"
)
WRITTEN = {f"gv.{name}" for name in NAMES.split()}
"""Operations that have to be written; others may be refused, by their names."""
SATURATES = ("gv.cast",)
"""ONNX leaves open what a number becomes that the new type has not."""


def drawn(op: Any, sample: Sample, dtype: Any) -> list[Array]:
    random = np.random.default_rng(7)
    arrays = []
    for index, shape in enumerate(sample.shapes):
        given = sample.operand_dtypes[index] if index < len(sample.operand_dtypes) else None
        kind = given or dtype
        ranges = dict(enumerate(sample.ranges))
        low, high = ranges.get(index) or (sample.low, sample.high)
        if kind.kind == "b":
            arrays.append(np.asarray(random.random(shape) < 0.5))
            continue
        if given is not None and op.name in OUTSIDE:
            low, high = 0, 1
        values = random.uniform(low, high, shape)
        if kind.is_integer:
            values = np.clip(np.round(values), kind.minimum, kind.maximum)
        with np.errstate(invalid="ignore"):  # some numbers are outside of few bits
            arrays.append(np.asarray(values).astype(kind.numpy))
    return arrays


def module_of(op: Any, sample: Sample, arrays: list[Array]) -> ModuleOp:
    inputs = [(f"x{i}", spec_of_array(array)) for i, array in enumerate(arrays)]
    function = new_function("main", inputs)
    emit = GraphEmit.at_end(function.body.block)
    made = emit(op, *function.body.block.args, **sample.attributes)
    values = made if isinstance(made, tuple) else (made,)
    finish(function, values, [f"y{i}" for i in range(len(values))])
    return ModuleOp([function])


@pytest.mark.parametrize(
    ("op", "number", "dtype"), CASES, ids=[f"{op.name[3:]}-{n}-{d}" for op, n, d in CASES]
)
def test_an_operation_means_the_same_when_it_is_read_back(op: Any, number: int, dtype: Any) -> None:
    sample = op.SAMPLES[number]
    arrays = drawn(op, sample, dtype)
    module = module_of(op, sample, arrays)
    try:
        model = to_model(Program(module))
    except UnsupportedOp as error:
        refusal = str(error)
    else:
        refusal = ""
    kinds = {dtype.kind, *(a.dtype.kind for a in arrays)}
    kinds |= {value.kind for value in sample.attributes.values() if isinstance(value, DType)}
    if refusal:
        assert op.name in refusal or "ONNX has no tensors" in refusal
        known = op.name not in WRITTEN or (op.name, str(dtype)) in REFUSED_TYPES
        assert known or "c" in kinds, refusal
        return
    if op.name in SATURATES:
        return
    with np.errstate(all="ignore"):
        wanted = op.evaluate(*arrays, **op.complete(sample.attributes))
    found = interpret(load_program(model.SerializeToString(), format="onnx"), arrays)
    for a, b in zip(found, wanted, strict=True):
        assert spec_of_array(a) == spec_of_array(b)
        wide = (a.astype(np.float64), np.asarray(b).astype(np.float64))
        finite = np.abs(wide[1][np.isfinite(wide[1])])
        scale = float(finite.max()) if finite.size else 0.0
        tolerance = {"f16": 4e-3, "bf16": 3e-2, "f32": 2e-5, "f64": 2e-6}.get(dtype.name, 0)
        np.testing.assert_allclose(*wide, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("name", ["digits", "conv_norm", "attention", "mlp_batch", "embedding"])
def test_a_model_is_written_and_means_the_same(name: str, tmp_path: Path) -> None:
    path, out = MODELS / f"{name}.onnx", tmp_path / "m.onnx"
    program = load_program(path)
    assert save_onnx(program, out) == [out]
    again = load_program(out)
    names = [value.name for value in onnx.load(path).graph.output]
    assert [value.name for value in onnx.load(out).graph.output] == names
    sizes = dict.fromkeys(program.ranges, 3)
    one, two = (gv.compile(each, dims=sizes) for each in (path, out))
    random = np.random.default_rng(0)
    arrays = [
        random.integers(0, 4, info.shape_for({})).astype(np.int64)
        if info.dtype == "i64"
        else random.standard_normal(info.shape_for({})).astype(np.float32)
        for info in one.inputs
    ]
    for a, b in zip(one.run(arrays), two.run(arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert again.ranges.keys() == program.ranges.keys()


def symbolic() -> Program:
    """Return [N, M] -> its elements twice, as 2 * M rows of N, N times."""
    n, m = dims.symbol("N"), dims.symbol("M")
    function = new_function("main", [("x", TensorSpec(f32, (n, m)))])
    emit = GraphEmit.at_end(function.body.block)
    (x,) = function.body.block.args
    flat = emit(REGISTRY["gv.reshape"], x, shape=(n * m,))
    twice = emit(REGISTRY["gv.concat"], flat, flat, axis=0)
    rows = emit(REGISTRY["gv.reshape"], twice, shape=(m * 2, n))
    wide = emit(REGISTRY["gv.broadcast_to"], rows, shape=(n, m * 2, n))
    finish(function, [wide, x], ["y", "same"])
    return Program(ModuleOp([function]))


def test_dimensions_are_computed_from_the_inputs() -> None:
    model = to_model(symbolic())
    again = load_program(model.SerializeToString(), format="onnx")
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    y, same = interpret(again, [x])
    rows = np.concatenate([x.ravel(), x.ravel()]).reshape(8, 3)
    np.testing.assert_array_equal(y, np.broadcast_to(rows, (3, 8, 3)))
    np.testing.assert_array_equal(same, x)
    shape = model.graph.output[0].type.tensor_type.shape
    assert [dim.dim_param for dim in shape.dim] == ["N", "2*M", "N"]


def test_control_flow_becomes_graphs_inside_of_nodes() -> None:
    program = Program(
        parse(
            """
func.func @main(%n: tensor<i64>, %x: tensor<3xf32>) -> (tensor<i64>, tensor<3xf32>) {
  %0 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
  %1:2 = gv.while %0, %x, %n ({
  ^bb0(%i: tensor<i64>, %a: tensor<3xf32>, %m: tensor<i64>):
    %p = gv.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    gv.yield %p : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %a: tensor<3xf32>, %m: tensor<i64>):
    %one = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
    %j = gv.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %b = gv.add %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    gv.yield %j, %b : (tensor<i64>, tensor<3xf32>) -> ()
  }) {carried = 2 : i64} : (tensor<i64>, tensor<3xf32>, tensor<i64>) -> (tensor<i64>, tensor<3xf32>)
  func.return %1#0, %1#1 : tensor<i64>, tensor<3xf32>
}
"""
        )
    )
    model = to_model(program)
    assert [node.op_type for node in model.graph.node].count("Loop") == 1
    again = load_program(model.SerializeToString(), format="onnx")
    x = np.float32([1, 2, 3])
    for trips in (0, 1, 5):
        count, y = interpret(again, [np.array(trips), x])
        assert int(count) == trips
        np.testing.assert_array_equal(y, x * 2**trips)


def test_large_weights_lie_beside_the_model(tmp_path: Path) -> None:
    program = load_program(MODELS / "digits.onnx")
    files = save_onnx(program, tmp_path / "m.onnx", external=True)
    assert [f.name for f in files] == ["m.onnx", "m.onnx.data"]
    again = load_program(tmp_path / "m.onnx")
    image = np.ones((1, 1, 8, 8), np.float32)
    wanted, found = (interpret(each, [image])[0] for each in (program, again))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_what_depends_on_weights_only_is_computed() -> None:
    program = load_program(MODELS / "mlp.onnx")
    run(parse_pipeline("pack-weights,hoist-prepare"), program)
    assert optional_function(program.module, "prepare") is not None
    model = to_model(program)
    assert "Gemm" in {node.op_type for node in model.graph.node}
    x = np.ones((1, 8), np.float32)
    again = load_program(model.SerializeToString(), format="onnx")
    wanted = interpret(load_program(MODELS / "mlp.onnx"), [x])[0]
    np.testing.assert_allclose(interpret(again, [x])[0], wanted, rtol=1e-5)


def test_all_that_cannot_be_written_is_named_at_once() -> None:
    text = """
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = gv.read {variable = @v, dtype = #gv.dtype<f32>, shape = array<i64: 2>} : () -> tensor<2xf32>
  %1 = gv.check_numerics %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
"""
    with pytest.raises(UnsupportedOp, match=r"(?s)gv\.read.*gv\.check_numerics"):
        to_model(Program(parse(text)))


def test_only_graphs_are_written() -> None:
    program = load_program(MODELS / "mlp.onnx")
    run(parse_pipeline("decompose,fuse"), program)
    with pytest.raises(GraphError, match="on level fused"):
        to_model(program)


def test_another_version_is_made_by_the_standards_own_library() -> None:
    program = load_program(MODELS / "mlp.onnx")
    model = to_model(program, opset=18)
    assert [each.version for each in model.opset_import] == [18]
    with pytest.raises(UnsupportedOp, match="opset 3"):
        to_model(program, opset=3)


def test_a_part_gives_what_it_gave_in_the_whole() -> None:
    whole = Surgery.of(str(MODELS / "digits.onnx"))
    whole.extract([], ["x1"])
    front = load_program(whole.proto.SerializeToString(), format="onnx")
    rest = Surgery.of(str(MODELS / "digits.onnx"))
    rest.extract(["x1"], [])
    back = load_program(rest.proto.SerializeToString(), format="onnx")
    image = np.random.default_rng(3).random((1, 1, 8, 8), np.float32)
    (wanted,) = interpret(load_program(MODELS / "digits.onnx"), [image])
    (found,) = interpret(back, interpret(front, [image]))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert len(front.weights) + len(back.weights) >= 3


def test_a_name_that_is_taken_or_unknown_is_refused() -> None:
    surgery = Surgery.of(str(MODELS / "digits.onnx"))
    with pytest.raises(GraphError, match="'c1' is taken"):
        surgery.rename({"image": "c1"})
    with pytest.raises(GraphError, match="no value 'imag'"):
        surgery.rename({"imag": "x"})
    assert surgery.rename({"image": "x", "logits": "y"}) >= 4


def test_new_shapes_lead_to_those_of_the_outputs() -> None:
    source = str(MODELS / "digits.onnx")
    surgery = Surgery.of(source)
    shapes = {"image": ("N", 1, 8, 8)}
    assert surgery.reshape(load_program(source, shapes=shapes), shapes) == {"logits": "f32[N,10]"}
    again = load_program(surgery.proto.SerializeToString(), format="onnx")
    assert "N" in again.ranges
