"""Steps of the host that come often are compiled, with the bits of their operations."""

from typing import Any

import numpy as np
import pytest

from gravure.frontend.eager import kernels
from gravure.frontend.models import loops
from gravure.ir.ops.host.late import ResizeBy
from gravure.ir.ops.selecting import Unique

RANDOM = np.random.default_rng(3)
RULES: dict[str, Any] = {"coordinate": "half_pixel", "nearest": "floor", "cubic": -0.75,
                         "exclude_outside": False, "axes": (0, 1, 2)}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "u1"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_images_by_scales_that_come_often(monkeypatch: Any, mode: str, dtype: str) -> None:
    """Each time numpy took all elements by index along each axis, which takes thrice as long."""
    if mode != "nearest" and dtype in ("i4", "u1"):
        return
    monkeypatch.setattr(loops, "OFTEN", 2)
    compiled: list[object] = []
    whole = kernels.Runner.compiled
    monkeypatch.setattr(
        kernels.Runner, "compiled", lambda *given: compiled.append(given) or whole(*given)
    )
    loops._resizing.cache_clear()
    x = (RANDOM.standard_normal((3, 5, 4)) * 9).astype(dtype)
    if dtype == "f4":
        x[1, 2, 1:3] = np.inf, np.nan
    for scales in (np.float32([1, 2, 1.7]), np.float32([2, 0.4, 1])):
        with np.errstate(all="ignore"):
            (wanted,) = ResizeBy.evaluate(x, scales, mode=mode, **RULES)
        for _ in range(4):
            (made,) = loops.LOOPS[ResizeBy](x, scales, mode=mode, **RULES)
            assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)
            assert made.tobytes() == wanted.tobytes()
    assert len(compiled) == 2


def test_an_image_of_which_nothing_is_left(monkeypatch: Any) -> None:
    monkeypatch.setattr(loops, "OFTEN", 1)
    for _ in range(3):
        (made,) = loops.resized(
            np.ones((2, 4, 2), "f4"), np.float32([1, 0.1, 1]), mode="nearest", **RULES
        )
        assert made.shape == (2, 0, 2)


def test_scales_that_are_none_are_refused_there_too() -> None:
    with pytest.raises(ValueError, match=r"scale 0\.0, expected a number above 0"):
        loops.resized(np.zeros((2, 2, 2), "f4"), np.float32([1, 0, 1]), mode="linear", **RULES)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "u8", "i4", "u1", "?"])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_few_distinct_numbers(monkeypatch: Any, is_sorted: bool, dtype: str) -> None:
    """A hundred of them took numpy a dozen steps, and onnxruntime a third of the time."""
    for count, values in ((0, 1), (1, 1), (100, 7), (100, 90), (600, 12), (900, 800)):
        x = (RANDOM.integers(-values, values, count) / 2).astype(dtype)
        if dtype.startswith("f") and count > 50:
            x[RANDOM.random(count) < 0.1] = np.nan
            x[RANDOM.random(count) < 0.1] = -0.0
        wanted = Unique.evaluate(x, sorted=is_sorted)
        with monkeypatch.context() as patch:
            if values < 50 and dtype != "u8":
                patch.setattr(Unique, "evaluate", None)
            made = loops.LOOPS[Unique](x, sorted=is_sorted)
        for one, other in zip(made, wanted, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            assert one.tobytes() == other.tobytes()
