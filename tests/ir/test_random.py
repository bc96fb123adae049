"""Random numbers of many elements: each block is encrypted once, and the bits stay."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure.ir import EagerEmit
from gravure.ir.ops import random
from gravure.ir.types.dtypes import DType, f16, f32, f64, i32, i64

KEY = np.array([7, 8, 1, 2, 3, 4], np.uint32)
Drawing = Callable[[Any, Any, tuple[int, ...], DType], Any]


def integers(emit: Any, key: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    limits = (np.array(3, dtype.numpy), np.array(1000, dtype.numpy))
    return random.integers(emit, key, shape, dtype, limits)


class Counting(EagerEmit):
    """Carries out, and notes how many blocks are encrypted."""

    def __init__(self) -> None:
        self.blocks = 0

    def __call__(self, op: Any, *operands: Any, **attributes: Any) -> Any:
        if op.name == "gv.random_bits":
            self.blocks += int(np.prod(attributes["shape"]))
        return super().__call__(op, *operands, **attributes)


@pytest.mark.parametrize("shape", [(4096,), (1025,), (3, 7, 129)])
@pytest.mark.parametrize(
    ("draw", "dtype"),
    [
        *((draw, dtype) for draw in (random.uniform, random.normal) for dtype in (f16, f32, f64)),
        (random.truncated, f32), (integers, i32), (integers, i64),
    ],
)  # fmt: skip
def test_many_are_those_of_single_ones(
    draw: Drawing, dtype: DType, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    emit = Counting()
    found = draw(emit, KEY, shape, dtype)
    tries = random.TRIES if draw is random.truncated else 1
    per = 2 if dtype.size == 8 else 4
    assert emit.blocks == tries * -(-int(np.prod(shape)) // per)
    monkeypatch.setattr(random, "MANY", 1 << 40)
    wanted = draw(EagerEmit(), KEY, shape, dtype)
    assert (found.shape, found.dtype) == (shape, dtype.numpy)
    assert found.tobytes() == wanted.tobytes()


def test_of_an_open_size_whole_blocks_are_drawn() -> None:
    from gravure import tf  # noqa: PLC0415  (what it draws at each size)

    spec = [tf.TensorSpec([None, 8]), tf.TensorSpec([2], tf.int32)]
    drawn = tf.function(
        lambda x, seed: tf.random.stateless_normal(tf.shape(x), seed), input_signature=spec
    )
    for rows in (0, 1, 3, 200, 3):
        found = drawn(tf.zeros([rows, 8]), [4, 5]).numpy()
        assert found.tobytes() == tf.random.stateless_normal([rows, 8], [4, 5]).numpy().tobytes()
