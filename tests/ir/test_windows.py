"""Windows: how many there are, and what they refuse."""

from typing import Any

import numpy as np
import pytest

from gravure.ir import REGISTRY, Call, EagerEmit, spec, spec_of_array
from gravure.ir.types import dims, dtypes
from gravure.ir.windows import Windows

N = dims.symbol("N")
PLAIN = {"strides": (1, 1), "pads": ((0, 0), (0, 0)), "dilations": (1, 1)}


def infer(name: str, *shapes: tuple[dims.Dim, ...], **attributes: Any) -> tuple[dims.Dim, ...]:
    op = REGISTRY[f"gv.{name}"]
    (made,) = op.infer(*(spec(dtypes.f32, *s) for s in shapes), **{**PLAIN, **attributes})
    return made.dims


def test_counts_of_symbols() -> None:
    windows = Windows((3, 3), (1, 2), ((1, 1), (1, 1)), (1, 1))
    assert windows.counts((N, N * 2)) == (N, N)
    assert windows.leftovers((N, N * 2)) == (0, 1)


def test_symbols_of_images_pass_through() -> None:
    made = infer("conv", (N, 3, N + 2, 8), (16, 3, 3, 3), channels_last=False)
    assert made == (N, 16, N, 6)
    assert infer("max_pool", (N, 8, 8, 3), window=(2, 2), channels_last=True) == (N, 7, 7, 3)


@pytest.mark.parametrize(
    ("name", "shapes", "attributes", "message"),
    [
        ("conv", [(1, 3, 5, 5), (4, 2, 3, 3)], {}, "3 channels, expected 1 x 2 as the weights"),
        ("conv", [(1, 4, 5, 5), (3, 2, 3, 3)], {"groups": 2}, "3 filters, expected a multiple of"),
        ("conv", [(1, 4, 5, 5), (4, 4, 3, 3)], {"groups": 0}, "groups 0, expected at least 1"),
        ("conv", [(1, 4, 5), (4, 4, 3, 3)], {}, "ranks 3 and 4, expected two equal ones"),
        ("conv", [(1, 4, 5, 5), (4, 4, 6, 3)], {}, "a window over 6 elements does not fit in 5"),
        ("conv", [(1, 4, 5, 5), (4, 4, 3, 3)], {"strides": (1,)}, "strides of 1 axes, expected 2"),
        ("conv", [(1, 4, 5, 5), (4, 4, 3, 3)], {"dilations": (0, 1)}, "dilations .*at least 1"),
        ("conv", [(1, 4, 5, 5), (4, 4, 0, 3)], {}, "window .*at least 1 element an axis"),
        ("conv", [(1, 4, 5, 5), (4, 4, 3, 3)], {"pads": ((0, -1), (0, 0))}, "at least 0"),
        ("conv_transpose", [(1, 3, 5, 5), (4, 2, 3, 3)], {"output_pads": (0, 0)}, "3 channels"),
        ("conv_transpose", [(1, 4, 5, 5), (4, 2, 3, 3)], {"output_pads": (0,)}, "output_pads of 1"),
        (
            "conv_transpose", [(1, 4, 1, 1), (4, 2, 1, 1)],
            {"output_pads": (0, 0), "pads": ((2, 0), (0, 0))}, "take more than there is",
        ),
        ("max_pool", [(1, 4, 5, 5)], {"window": (2,)}, "window of 1 axes, expected 2"),
        ("max_pool", [(1, 4)], {"window": (2,)}, "an image of rank 2, expected at least 3"),
        ("max_pool_gradient", [(1, 4, 5, 5), (1, 4, 5, 5)], {"window": (2, 2)}, "expected f32"),
    ],
)  # fmt: skip
def test_refused(
    name: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        infer(name, *shapes, **attributes)


def test_windows_that_see_only_padding() -> None:
    x = np.ones((1, 1, 1), np.float32)
    attributes = {
        "window": (1,), "strides": (1,), "pads": ((1, 0),), "dilations": (1,),
        "channels_last": False,
    }  # fmt: skip
    (largest,) = REGISTRY["gv.max_pool"].evaluate(x, **attributes)
    np.testing.assert_array_equal(largest, [[[-np.inf, 1]]])
    (mean,) = REGISTRY["gv.avg_pool"].evaluate(x, **attributes, count_padding=False)
    np.testing.assert_array_equal(mean, [[[np.nan, 1]]])


@pytest.mark.parametrize("low", [0, 1])
def test_gradient_of_a_pool_goes_to_the_first_largest_element_and_to_a_nan(low: int) -> None:
    x = np.array([[[2, 2, 1, np.nan, 3, -np.inf]]], np.float32)
    pool, gradient = REGISTRY["gv.max_pool"], REGISTRY["gv.max_pool_gradient"]
    attributes = {
        "window": (2,), "strides": (2,), "pads": ((low, low),), "dilations": (1,),
        "channels_last": False,
    }  # fmt: skip
    (pooled,) = pool.evaluate(x, **attributes)
    grad = np.arange(1, pooled.size + 1, dtype=np.float32).reshape(pooled.shape)
    with np.errstate(invalid="ignore"):
        (found,) = gradient.evaluate(x, grad, **attributes)
    wanted = [[[1, 2, 0, 3, 0, 4]]] if low else [[[1, 0, 0, 2, 3, 0]]]
    np.testing.assert_array_equal(found, wanted)


def test_the_first_of_the_largest_is_the_same_in_each_way() -> None:
    """Windows that are apart are looked at by places, those that overlap one by one."""
    x = np.array([[[[1, 7, 0, 2], [7, 7, 2, 2], [3, 3, 5, 4], [3, 3, 4, 5]]]], np.float32)
    pool = REGISTRY["gv.max_pool"]
    attributes = {
        "window": (2, 2), "strides": (2, 2), "pads": ((0, 0), (0, 0)), "dilations": (1, 1),
        "channels_last": False,
    }  # fmt: skip
    grad = np.array([[[[1, 2], [4, 8]]]], np.float32)
    call = Call(
        pool, (x,), pool.evaluate(x, **attributes), attributes, [spec_of_array(x)], EagerEmit(),
        (spec_of_array(grad),),
    )  # fmt: skip
    (found,) = pool.gradient(call, grad)
    wanted = [[[[0, 1, 0, 2], [0, 0, 0, 0], [4, 0, 8, 0], [0, 0, 0, 0]]]]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("extent", [0, 1, 2])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", ["conv", "max_pool", "avg_pool"])
def test_evaluations_refuse_a_window_that_does_not_fit(kind: str, last: bool, extent: int) -> None:
    """What compiled code refuses of open sizes gave a result without elements."""
    shape = (1, 4, extent, 2) if last else (1, 2, 4, extent)
    rest = {"channels_last": last, **PLAIN}
    x = np.ones(shape, np.float32)
    operands = (x, np.ones((3, 2, 3, 3), np.float32)) if kind == "conv" else (x,)
    more: dict[str, Any] = {
        "conv": {"groups": 1}, "max_pool": {"window": (3, 3)},
        "avg_pool": {"window": (3, 3), "count_padding": False},
    }[kind]  # fmt: skip
    with pytest.raises(TypeError, match=f"3 elements does not fit in {extent} elements"):
        REGISTRY[f"gv.{kind}"].evaluate(*operands, **rest, **more)


WINDOWS = [  # windows, strides, dilations
    ((2, 2), (2, 2), (1, 1)),
    ((3, 2), (3, 2), (1, 1)),
    ((2, 3), (1, 1), (1, 1)),
    ((2, 3), (1, 1), (2, 1)),
    ((3, 3), (2, 2), (1, 1)),
    ((2, 2), (2, 2), (1, 2)),
    ((5, 4), (3, 2), (1, 1)),
    ((3, 2), (2, 3), (2, 3)),
    ((1, 3), (3, 2), (1, 1)),
]


@pytest.mark.parametrize("pads", [((0, 0), (0, 0)), ((1, 0), (1, 1))])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("window", "strides", "dilations"), WINDOWS)
def test_the_way_back_through_windows_is_no_convolution(
    window: tuple[int, int], strides: tuple[int, int], dilations: tuple[int, int],
    last: bool, pads: tuple[tuple[int, int], ...],
) -> None:  # fmt: skip
    pool, made, random = REGISTRY["gv.sum_pool"], list[str](), np.random.default_rng(0)
    x = random.random((2, 7, 8, 3) if last else (2, 3, 7, 8))
    attributes = {
        "window": window, "strides": strides, "pads": pads, "dilations": dilations,
        "channels_last": last,
    }  # fmt: skip

    class Emit(EagerEmit):
        def __call__(self, op: Any, *operands: Any, **given: Any) -> Any:
            made.append(op.name)
            return super().__call__(op, *operands, **given)

    results = pool.evaluate(x, **attributes)
    grad = random.random(results[0].shape)
    specs = [spec_of_array(x)], (spec_of_array(grad),)
    (found,) = pool.gradient(
        Call(pool, (x,), results, attributes, specs[0], Emit(), specs[1]), grad
    )
    assert "gv.conv_transpose" not in made
    one = np.eye(x.size).reshape(x.size, *x.shape)
    seen = [(pool.evaluate(each, **attributes)[0] * grad).sum() for each in one]
    np.testing.assert_allclose(found, np.reshape(seen, x.shape), rtol=1e-12)


def test_what_windows_see_is_counted_along_each_axis() -> None:
    """So no image of counts is kept, but a row for each axis."""
    pool, sizes = REGISTRY["gv.avg_pool"], list[int]()
    x = np.random.default_rng(0).random((1, 40, 30, 2), np.float32)
    attributes = {
        "window": (3, 3), "strides": (1, 2), "pads": ((1, 1), (1, 0)), "dilations": (1, 1),
        "channels_last": True, "count_padding": False,
    }  # fmt: skip

    class Emit(EagerEmit):
        def __call__(self, op: Any, *operands: Any, **given: Any) -> Any:
            if op.name == "gv.sum_pool":
                sizes.append(operands[0].size)
            return super().__call__(op, *operands, **given)

    results = pool.evaluate(x, **attributes)
    specs = (spec_of_array(x),), (spec_of_array(results[0]),)
    found = pool.decompose(Call(pool, (x,), results, attributes, specs[0], Emit(), specs[1]))
    assert sorted(sizes) == [30, 40, x.size]
    np.testing.assert_allclose(found, results[0], rtol=1e-6)
