"""What the generic tests cannot show of operations that move elements: errors and symbols."""

from typing import Any

import numpy as np
import pytest

from gravure.ir import REGISTRY, spec
from gravure.ir.types import dims, dtypes

N, M = dims.symbol("N"), dims.symbol("M")


def infer(name: str, *shapes: tuple[dims.Dim, ...], **attributes: Any) -> tuple[dims.Dim, ...]:
    op = REGISTRY[f"gv.{name}"]
    (made,) = op.infer(*(spec(dtypes.f32, *s) for s in shapes), **op.complete(attributes))
    return made.dims


def sliced(extent: dims.Dim, start: dims.Dim, stop: dims.Dim, step: int) -> dims.Dim:
    (count,) = infer("slice", (extent,), starts=(start,), stops=(stop,), steps=(step,))
    return count


def test_symbols_pass_through() -> None:
    assert infer("reshape", (N, 4, 6), shape=(N * 4, 6)) == (N * 4, 6)
    assert infer("transpose", (N, M, 2), order=(2, 0, 1)) == (2, N, M)
    assert infer("broadcast_to", (1, M), shape=(N, M)) == (N, M)
    assert infer("concat", (N, 2), (M, 2), (3, 2), axis=0) == (N + M + 3, 2)
    assert infer("pad", (N, 2), pads=((1, M), (0, 0))) == (N + M + 1, 2)


def test_slices_of_symbols() -> None:
    assert sliced(N, 0, N, 1) == N
    assert sliced(N, N - 1, -1 - N, -1) == N
    assert sliced(N * 2, 0, N * 2, 2) == N
    assert sliced(N, 1, N, 1) == N - 1
    assert sliced(10, 0, 9, 4) == 3
    assert sliced(10, 9, 1, -4) == 2


def test_reshape_believes_quotients_but_not_plain_sizes() -> None:
    assert infer("reshape", (N, 3), shape=(N * 3 // 4, 4)) == (N * 3 // 4, 4)
    with pytest.raises(TypeError, match=r"shape \(N, 4\) of 4\*N elements, expected 3\*N"):
        infer("reshape", (N, 3), shape=(N, 4))


@pytest.mark.parametrize(
    ("name", "shapes", "attributes", "message"),
    [
        ("reshape", [(2, 3)], {"shape": (5,)}, r"5 elements, expected 6 as in \(2, 3\)"),
        ("reshape", [(2, 3)], {"shape": (-1, 6)}, "negative dimension"),
        ("transpose", [(2, 3)], {"order": (0, 0)}, "expected each of 2 axes once"),
        ("transpose", [(2, 3)], {"order": (0,)}, "expected each of 2 axes once"),
        ("broadcast_to", [(2, 3)], {"shape": (4, 3)}, r"\(2, 3\) does not broadcast to \(4, 3\)"),
        ("broadcast_to", [(2, 3)], {"shape": (3,)}, "does not broadcast"),
        ("broadcast_to", [(N,)], {"shape": (M,)}, "does not broadcast"),
        ("concat", [], {"axis": 0}, "no operands, expected at least one"),
        ("concat", [(2, 3), (2, 4)], {"axis": 0}, "differ beside axis 0"),
        ("concat", [(2, 3), (2,)], {"axis": 0}, "differ beside axis 0"),
        ("concat", [(2, 3)], {"axis": 2}, "axis 2, expected 0 to 1"),
        ("concat", [(2, 3)], {"axis": -1}, "axis -1, expected 0 to 1"),
        ("slice", [(4,)], {"starts": (0,), "stops": (5,), "steps": (1,)}, "stop 5, expected 0"),
        ("slice", [(4,)], {"starts": (-1,), "stops": (4,), "steps": (1,)}, "start -1, expected 0"),
        ("slice", [(4,)], {"starts": (4,), "stops": (0,), "steps": (-1,)}, "start 4, expected 0"),
        ("slice", [(4,)], {"starts": (3,), "stops": (-3,), "steps": (-1,)}, "stop -3, expected"),
        ("slice", [(4,)], {"starts": (0,), "stops": (4,), "steps": (0,)}, "step 0"),
        ("slice", [(4,)], {"starts": (), "stops": (4,), "steps": (1,)}, "0 starts, 1 stops"),
        ("pad", [(4,)], {"pads": ((0, -5),)}, "take more than the 4 of axis 0"),
        ("pad", [(4,)], {"pads": ()}, "pads of 0 axes, expected 1"),
        ("pad", [(4,)], {"pads": ((0, 1),), "mode": "mirror"}, "mode 'mirror', expected one of"),
        ("pad", [(0,)], {"pads": ((0, 1),), "mode": "edge"}, "axis 0 is empty"),
        ("iota", [], {"shape": (3,), "axis": 1, "dtype": dtypes.i64}, "axis 1, expected 0 to 0"),
        ("iota", [], {"shape": (3,), "axis": 0, "dtype": dtypes.bool_}, "element type bool"),
    ],
)  # fmt: skip
def test_refused(
    name: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        infer(name, *shapes, **attributes)


def test_concat_refuses_unlike_elements() -> None:
    with pytest.raises(TypeError, match="element types differ: f32 and i64"):
        REGISTRY["gv.concat"].infer(spec(dtypes.f32, 2), spec(dtypes.i64, 2), axis=0)


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_pads_are_those_of_numpy(mode: Any) -> None:
    x = np.arange(12).reshape(3, 4)
    pads = ((2, 5), (0, 9))
    (found,) = REGISTRY["gv.pad"].evaluate(x, pads=pads, mode=mode, value=0.0)
    np.testing.assert_array_equal(found, np.pad(x, pads, mode=mode))
