"""Small parts of the IR that larger tests came by without looking: values, sizes, indices."""

import inspect
import math
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import MemRefType, i32

from gravure.errors import ParseError, RuntimeInputError
from gravure.ir import Interpreter, parse
from gravure.ir.compose.functions import pad_index
from gravure.ir.interpret.loop_values import _extend_signed
from gravure.ir.interpret.loops import bind
from gravure.ir.iteration import Affine, dim
from gravure.ir.op import REGISTRY, Call, EagerEmit
from gravure.ir.ops.attention import Attention, AttentionParts
from gravure.ir.ops.convert import _is_part
from gravure.ir.ops.elementwise import _power
from gravure.ir.ops.host.late import ReadSizes, ResizeBy
from gravure.ir.ops.host.texts import CountGrams
from gravure.ir.ops.layout import Pad, _padding
from gravure.ir.ops.matrix import _batch_index
from gravure.ir.ops.pool import _are_apart
from gravure.ir.ops.resize import Resize, _repeats
from gravure.ir.ops.rnn import gru_cell
from gravure.ir.ops.selecting import _numbered_close, numbered
from gravure.ir.ops.sort import first_of, order_of
from gravure.ir.types.dims import floor_divide, symbol
from gravure.ir.types.dtypes import DTYPES, f32, i64
from gravure.ir.types.indices import NeedSplit, Token, _below, _request_split, merged, of
from gravure.ir.types.tensor import TensorSpec, spec_of_array
from gravure.ir.windows import Windows


def test_a_symbol_belongs_to_who_bound_it_first() -> None:
    machine, one, other = Interpreter(None, {}, {}), object(), object()
    assert machine.bind_size(symbol("n"), 3, one)
    assert not machine.bind_size(symbol("n"), 4, other)
    assert machine.bind_size(symbol("n"), 3, other)
    assert machine.bind_size(symbol("n"), 5, one)
    assert not machine.bind_size(symbol("n") * 2, 9, one)
    assert machine.symbols == {"n": 5}


@pytest.mark.parametrize(
    ("name", "x", "slope"),
    [
        ("gv.log10", 2.5, 1 / (2.5 * math.log(10))),
        ("gv.erf", 0.5, 2 / math.sqrt(math.pi) * math.exp(-0.25)),
        ("gv.acosh", 2.0, 1 / math.sqrt(3)),
    ],
)
def test_slopes(name: str, x: float, slope: float) -> None:
    op, given = REGISTRY[name], np.float64([x])
    (made,) = op.evaluate(given)
    call = Call(op, (given,), (made,), {}, (spec_of_array(given),), EagerEmit())
    (found,) = op.gradient(call, np.float64([1]))
    np.testing.assert_allclose(found, [slope], rtol=1e-12)


def test_parts_of_attention_have_a_row_for_each_query() -> None:
    q, k = np.ones((2, 3, 5, 4), np.float32), np.ones((2, 3, 6, 4), np.float32)
    (made,) = AttentionParts.evaluate(
        q, k, k, scale=1.0, softcap=0.0, causal=False, hiding=False, step=4
    )
    assert made.shape == (2, 2, 3, 5, 6)
    np.testing.assert_array_equal(made[..., -1], [[[[4.0] * 5] * 3] * 2, [[[2.0] * 5] * 3] * 2])


def test_sizes_that_are_read_must_be_those_that_are_known() -> None:
    read = ReadSizes.make(_argument(2), sizes=(symbol("n"), symbol("m")), most=())
    machine = Interpreter(None, {}, {})
    read.interpret(machine, [np.int64([3, 4])], {})
    assert machine.symbols == {"n": 3, "m": 4}
    other = ReadSizes.make(_argument(2), sizes=(symbol("n"), symbol("m")), most=())
    with pytest.raises(RuntimeInputError, match="found size 5, expected m"):
        other.interpret(machine, [np.int64([3, 5])], {})


def _argument(count: int) -> Any:
    function: Any = parse(f"func.func @main(%x: tensor<{count}xi64>) {{ func.return }}").body.block
    return function.first_op.body.block.args[0]


def test_no_words_to_be_counted_are_no_columns() -> None:
    rules: dict[str, Any] = {"counts": (0,), "places": (), "lengths": (1, 1), "skips": 0}
    rules |= {"pool": np.int64([]), "mode": "TF", "weights": np.float32([])}
    assert CountGrams.infer(TensorSpec(i64, (2, 3)), **rules)[0].dims == (2, 0)
    assert CountGrams.infer(TensorSpec(i64, (3,)), **rules)[0].dims == (0,)
    assert CountGrams.evaluate(np.zeros((2, 3), np.int64), **rules)[0].shape == (2, 0)


def test_edges_are_mirrored_more_than_once() -> None:
    x = np.arange(5.0)
    (made,) = Pad.evaluate(x, pads=((11, 9),), mode="reflect", value=0.0)
    np.testing.assert_array_equal(made, np.pad(x, (11, 9), mode="reflect"))


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_only_what_is_around_a_tensor_is_copied_from_it_again(mode: Any) -> None:
    """All of it was taken by index along each axis, which takes three times as long."""
    x = np.arange(24.0).reshape(2, 3, 4)
    for pads in (((0, 0), (2, 1), (1, 3)), ((1, 0), (0, 0), (0, 0)), ((5, 4), (7, 1), (0, 9))):
        (made,) = Pad.evaluate(x, pads=pads, mode=mode, value=0.0)
        np.testing.assert_array_equal(made, np.pad(x, pads, mode=mode))
        assert not np.shares_memory(x, made)
    edges = _padding((9, 90), ((2, 1), (10, 3)), mode).edges
    rows, columns = [*map(slice, (0, 11, 0), (2, 12, 10))], [100, 101, 102]
    assert [edge[-1] for edge, _ in edges] == [*rows, *columns]
    assert all(isinstance(each, slice) for _, inside in edges[:3] for each in inside)


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_few_elements_are_padded_at_once_and_short_rows_by_columns(mode: Any) -> None:
    """Each edge was copied by itself: of 8 by 8 numbers that took ten times as long."""
    few, much = np.arange(12.0).reshape(3, 4), np.arange(9000.0).reshape(3, 60, 50)
    assert _padding((3, 4), ((2, 1), (1, 3)), mode).places is not None
    for x in (few, much, much[:, ::2, ::-1]):
        for ends in (((1, 2), (3, 0)), ((0, 0), (8, 9)), ((2, 0), (1, 1))):
            pads = (*((1, 0),) * (x.ndim - 2), *ends)
            (made,) = Pad.evaluate(x, pads=pads, mode=mode, value=0.0)
            np.testing.assert_array_equal(made, np.pad(x, pads, mode=mode))
            assert not np.shares_memory(x, made)
    (number,) = Pad.evaluate(np.float32(3), pads=(), mode=mode, value=0.0)
    assert isinstance(number, np.ndarray)
    assert number.shape == ()


def test_batches_of_one_are_read_again() -> None:
    assert _batch_index((2, 1), (1, 2, 4)) == (dim(1), Affine(()))
    assert _batch_index((2, 1), (2, 1)) == (dim(0), dim(1))


def test_windows_that_are_apart() -> None:
    def apart(kernel: int, stride: int, size: int, count: int) -> bool:
        windows = Windows((kernel,), (stride,), ((0, 0),), (1,))
        x, y = (TensorSpec(f32, (1, 1, n)) for n in (size, count))
        return _are_apart(windows, x, y, channels_last=False)

    assert apart(2, 2, 6, 3)
    assert not apart(2, 1, 6, 3)
    assert not apart(2, 2, 7, 3)


def test_a_line_stays_one_where_it_is_resized() -> None:
    x = np.arange(8, dtype=np.float32)
    rules = {"coordinate": "half_pixel", "nearest": "floor", "scales": (), "mode": "cubic"}
    more = {"cubic": -0.5, "exclude_outside": False, "shape": (16,)}
    found = Resize.evaluate(x, **_filled(Resize, {**rules, **more}))[0]
    np.testing.assert_allclose(found[6:10], [2.75, 3.25, 3.75, 4.25], rtol=1e-6)


def _filled(op: Any, given: dict[str, Any]) -> dict[str, Any]:
    known = inspect.signature(op.infer).parameters.values()
    return {p.name: p.default for p in known if p.kind is p.KEYWORD_ONLY} | given


@pytest.mark.parametrize(
    ("coordinate", "nearest", "found"),
    [
        ("asymmetric", "floor", (1, 2)), ("half_pixel", "round_prefer_ceil", (1, 2)),
        ("asymmetric", "ceil", None), ("half_pixel", "floor", None),
    ],
)  # fmt: skip
def test_resizing_that_repeats(coordinate: str, nearest: str, found: Any) -> None:
    rules = {"coordinate": coordinate, "nearest": nearest, "scales": (), "mode": "nearest"}
    assert _repeats((3, 2), {**rules, "shape": (3, 4)}) == found


def test_numbers_that_a_type_has_not() -> None:
    text = (
        'func.func @main() {{ %0 = gv.constant {{value = #gv.array<i8, "", [{}]>}}'
        " : () -> tensor<i8> func.return }}"
    )
    parse(text.format(-128))
    for number in ("128", "1.5"):
        with pytest.raises(ParseError, match="not a value of i8"):
            parse(text.format(number))


def test_sizes_are_calculated_with() -> None:
    n = symbol("n")
    assert -n == 0 - n
    assert str(-n) == "-n"
    assert floor_divide(n, 1) == n
    assert floor_divide(0, n) == 0


def test_axes_that_stay_alone_are_not_merged() -> None:
    tokens = [Token(2), Token(3)]
    flat = of(tokens[0]) * 3 + of(tokens[1])
    assert merged(tokens, [flat]) == [tokens]
    assert merged(tokens, [flat], alone={tokens[0]}) == [[tokens[0]], [tokens[1]]]
    assert merged(tokens, [flat], alone={tokens[1]}) == [[tokens[0]], [tokens[1]]]


def test_elements_of_less_than_a_byte_are_parts() -> None:
    assert _is_part(DTYPES["i4"])
    for name in ("bool", "i8", "f8e4m3fn", "f32"):
        assert not _is_part(DTYPES[name])


def test_powers_of_integers_with_negative_exponents() -> None:
    a = np.int32([1, -1, -1, 2, -3, 0, 2])
    b = np.int32([-3, -3, -2, -1, -1, 2, 5])
    np.testing.assert_array_equal(_power(a, b), [1, -1, 1, 0, 0, 0, 32])


def test_heads_have_a_known_number_of_elements() -> None:
    q, k = TensorSpec(f32, (2, 5, 4)), TensorSpec(f32, (2, 6, 4))
    (made,) = Attention.infer(q, k, TensorSpec(f32, (2, 6, 3)))
    assert made.dims == (2, 5, 3)
    with pytest.raises(TypeError, match="heads of n elements, expected a number"):
        Attention.infer(q, k, TensorSpec(f32, (2, 6, symbol("n"))))


@pytest.mark.parametrize("linear", [False, True])
def test_a_step_of_gated_units(linear: bool) -> None:
    random = np.random.default_rng(0)
    gates, h = random.standard_normal((2, 9)), random.standard_normal((2, 3))
    gated, hidden = random.standard_normal((3, 6)), random.standard_normal((3, 3))
    bias = random.standard_normal(3)
    z, r = (1 / (1 + np.exp(-(gates[:, n : n + 3] + h @ gated[:, n : n + 3]))) for n in (0, 3))
    inner = r * (h @ hidden + bias) if linear else (r * h) @ hidden + bias
    wanted = (1 - z) * np.tanh(gates[:, 6:] + inner) + z * h
    found = gru_cell(gates, h, gated, hidden, bias, linear_before_reset=linear)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_what_is_below_is_less_and_not_equal() -> None:
    assert _below(2, 3)
    assert not _below(3, 3)
    n = symbol("n")
    assert _below(n, n + 1)
    assert not _below(n, n)
    assert not _below(None, n)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_axis_is_split_where_a_stride_falls_into_it(sign: int) -> None:
    token = Token(6)
    with pytest.raises(NeedSplit) as raised:
        _request_split(of(token) * (2 * sign), 4)
    assert (raised.value.token, raised.value.inner) == (token, 2)
    _request_split(of(token) * (2 * sign), 5)
    _request_split(of(token) * (4 * sign), 4)


def test_arguments_of_kernels_have_the_type_that_they_are_declared_with() -> None:
    kind = MemRefType(i32, [2])
    assert bind(kind, np.uint32([1, 2])).dtype == np.int32
    for wrong in (np.float32([1, 2]), np.int64([1, 2]), np.uint8([1, 2])):
        with pytest.raises(AssertionError, match="found an array of"):
            bind(kind, wrong)


def test_gradients_by_few_elements() -> None:
    """Slopes of functions whose gradients have formulas of their own, by small differences."""
    for name, point, attributes in (
        ("gv.gelu", 0.7, {"approximate": "tanh"}), ("gv.gelu", -0.4, {"approximate": "none"}),
        ("gv.celu", -0.6, {"alpha": 0.7}), ("gv.elu", -0.6, {"alpha": 0.7}),
        ("gv.tan", 0.3, {}), ("gv.atan", 1.7, {}), ("gv.asinh", 0.8, {}), ("gv.cosh", 0.8, {}),
        ("gv.softsign", 0.8, {}), ("gv.tanh", 0.8, {}), ("gv.mish", 0.8, {}), ("gv.acos", 0.3, {}),
        ("gv.asin", 0.3, {}), ("gv.leaky_relu", -0.4, {"alpha": 0.3}), ("gv.atanh", 0.3, {}),
    ):  # fmt: skip
        op, given = REGISTRY[name], np.float64([point])
        near = [op.evaluate(given + d, **attributes)[0][0] for d in (1e-6, -1e-6)]
        (made,) = op.evaluate(given, **attributes)
        spec = (spec_of_array(given),)
        call = Call(op, (given,), (made,), attributes, spec, EagerEmit())
        (found,) = op.gradient(call, np.float64([1]))
        np.testing.assert_allclose(found, [(near[0] - near[1]) / 2e-6], rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_few_of_many_are_the_first_in_order(k: int, largest: bool) -> None:
    x = np.random.default_rng(k).permutation(60).reshape(2, 30)
    found = first_of(x, k, 1, largest=largest)
    np.testing.assert_array_equal(found, order_of(x, 1, descending=largest)[:, :k])


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 5, 32])
@pytest.mark.parametrize("count", [4096, 4127, 10_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
def test_few_of_long_rows_are_the_first_in_order(
    dtype: type[np.generic], count: int, k: int, largest: bool
) -> None:
    random = np.random.default_rng(k)
    for spread in (0, 3, 1e6):  # all are equal, many are, few are
        x = (np.abs(random.standard_normal((3, count))) * spread).astype(dtype)
        if np.issubdtype(dtype, np.floating):
            x[0, 7], x[1, -1], x[2, 3:5], x[2, 9:11] = np.nan, np.nan, np.inf, -0.0
        for rows, axis in ((x, 1), (np.ascontiguousarray(x.T), 0), (x[:, ::-1], 1)):
            found = first_of(rows, k, axis, largest=largest)
            wanted = order_of(rows, axis, descending=largest).take(range(k), axis)
            np.testing.assert_array_equal(found, wanted)
    assert first_of(np.zeros((0, count)), k, 1, largest=largest).shape == (0, k)


def test_bits_and_numbers_are_made_wider_with_their_signs() -> None:
    for source, x, wanted in (("i1", True, -1), ("i1", False, 0), ("i8", -3, -3), ("i8", 3, 3)):
        text = f"""func.func @main(%x: {source}) -> i32 {{
          %0 = arith.extsi %x : {source} to i32
          func.return %0 : i32
        }}"""
        op: Any = parse(text).body.block.first_op
        value = np.array(x, np.bool_ if source == "i1" else np.int8)
        assert _extend_signed(op.body.block.first_op, value) == wanted


def test_scales_are_one_for_each_axis() -> None:
    x, scales = TensorSpec(f32, (2, 3, 4)), TensorSpec(f32, (2,))
    (made,) = ResizeBy.infer(x, scales, axes=(0, 2), sizes=(5, 7))
    assert made.dims == (5, 3, 7)
    for wrong in (TensorSpec(f32, (3,)), TensorSpec(f32, (1, 2))):
        with pytest.raises(TypeError, match="scales"):
            ResizeBy.infer(x, wrong, axes=(0, 2), sizes=(5, 7))
    with pytest.raises(TypeError, match="scales"):
        ResizeBy.infer(x, scales, axes=(0, 2), sizes=(5,))


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_places_of_what_is_padded(mode: Any) -> None:
    found = np.asarray(pad_index(EagerEmit(), 5, (2, 1), mode))
    np.testing.assert_array_equal(found, np.pad(np.arange(5), (2, 1), mode))


@pytest.mark.parametrize("low", [-(1 << 63), -7, 0, (1 << 63) - 60, (1 << 64) - 60])
def test_whole_numbers_that_are_close_are_counted(low: int) -> None:
    drawn = np.random.default_rng(0).integers(0, 60, 400)
    dtype = np.uint64 if low > 1 << 62 else np.int64
    x = np.array([low + int(number) for number in drawn], dtype)
    for given in (x, x[:3], np.append(x, x[:1] ^ dtype(1 << 40))):  # the last one is far away
        _, *wanted = np.unique(given, return_index=True, return_inverse=True, return_counts=True)
        found = numbered(given)
        assert [each.tolist() for each in found] == [each.tolist() for each in wanted]
        assert (_numbered_close(given) is None) == (len(given) != 400)
