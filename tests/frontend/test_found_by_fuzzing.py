"""What graphs that were grown by chance found, each as small as it became."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import gravure as gv
from gravure import tf
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret


@pytest.mark.parametrize("start", [-9, -3, -1, 0, 2, 5, 11])
@pytest.mark.parametrize("stop", [-9, -3, -1, 0, 2, 5, 11, -(2**31)])
def test_slices_backwards_of_an_open_axis(start: int, stop: int) -> None:
    text = f"""m (float[N, 2] x) => (float[M, 2] y)
    <int64[1] s = {{{start}}}, int64[1] e = {{{stop}}}, int64[1] a = {{0}}, int64[1] t = {{-1}}>
    {{ y = Slice(x, s, e, a, t) }}"""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 22]> {text}')
    made = gv.compile(model.SerializeToString(), dims={"N": (0, 12)}, level="O1")
    program = load_program(model.SerializeToString(), dims={"N": (0, 12)})
    for size in (0, 1, 2, 3, 6, 12):
        x = np.arange(2 * size, dtype=np.float32).reshape(size, 2)
        for found in (made.run([x])[0], interpret(program, [x])[0]):
            np.testing.assert_array_equal(found, x[max(start, -size) : stop : -1])


def test_parts_backwards_of_an_open_axis_are_pythons() -> None:
    ends = (-9, -3, -1, 0, 5, None)
    ways = [slice(a, b, step) for a in ends for b in ends for step in (-1, -2)]
    spec = tf.TensorSpec([None], tf.float32)
    made = tf.function(lambda x: [x[way] for way in ways], input_signature=[spec])
    for size in (0, 1, 2, 3, 6, 12):
        x = np.arange(size, dtype=np.float32)
        for found, way in zip(made(x), ways, strict=True):
            np.testing.assert_array_equal(found.numpy(), x[way], str(way))
