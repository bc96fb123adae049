"""Small parts of the IR that larger tests came by without looking: values, sizes, indices."""

import inspect
import math
from typing import Any

import numpy as np
import pytest

from gravure.errors import ParseError, RuntimeInputError
from gravure.ir import Interpreter, parse
from gravure.ir.iteration import Affine, dim
from gravure.ir.op import REGISTRY, Call, EagerEmit
from gravure.ir.ops.attention import AttentionParts
from gravure.ir.ops.host.late import AxesLast, ReadSizes
from gravure.ir.ops.host.texts import CountGrams
from gravure.ir.ops.layout import Pad
from gravure.ir.ops.matrix import _batch_index
from gravure.ir.ops.pool import _are_apart
from gravure.ir.ops.resize import Resize, _repeats
from gravure.ir.types.dims import floor_divide, symbol
from gravure.ir.types.dtypes import f32, i64
from gravure.ir.types.indices import Token, merged, of
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


def test_axes_that_are_moved_last_stay_as_one_or_go() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    for keep, shape in ((True, [2, 1, 4]), (False, [2, 4])):
        matrix, rest = AxesLast.evaluate(x, np.int64([1]), keep=keep)
        assert rest.tolist() == shape
        assert matrix.tolist() == x.transpose(0, 2, 1).reshape(8, 3).tolist()


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
