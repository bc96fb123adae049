"""Quantises one model with onnxruntime's own quantiser; `measure_quantised.py` calls it.

    PYTHON quantise.py FORM MODEL.onnx INPUTS.npz OUTPUT.onnx

It needs onnxruntime and onnx, not gravure. FORM is one of `FORMS`. What static forms are
calibrated with are the inputs, and twice as many random ones.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

FORMS = {
    "dynamic": ("", "", False),
    "qdq-u8": ("QDQ", "QUInt8", True),
    "qdq-i8": ("QDQ", "QInt8", False),
    "operators": ("QOperator", "QUInt8", True),
}
"""Format, type of activations, and whether each channel of a weight has its own scale."""


class Calibration:
    """Gives inputs one after the other, as the quantiser asks for them."""

    def __init__(self, inputs: dict[str, Any]) -> None:
        random = np.random.default_rng(0)
        more = [
            {k: random.standard_normal(v.shape).astype(v.dtype) for k, v in inputs.items()}
            for _ in range(2)
        ]
        self.rest: Iterator[dict[str, Any]] = iter([inputs, *more])

    def get_next(self) -> dict[str, Any] | None:
        """Return the next inputs, None behind the last."""
        return next(self.rest, None)


def quantise(form: str, model: str, inputs: dict[str, Any], output: str) -> None:
    """Write the quantised model."""
    tools = import_module("onnxruntime.quantization")
    if form == "dynamic":
        tools.quantize_dynamic(model, output, weight_type=tools.QuantType.QInt8)
        return
    shapes = import_module("onnxruntime.quantization.shape_inference")
    kind, activation, per_channel = FORMS[form]
    ready = str(Path(output).with_suffix(".ready.onnx"))
    shapes.quant_pre_process(model, ready, skip_symbolic_shape=True)
    tools.quantize_static(
        ready, output, Calibration(inputs),
        quant_format=tools.QuantFormat[kind], activation_type=tools.QuantType[activation],
        weight_type=tools.QuantType.QInt8, per_channel=per_channel,
    )  # fmt: skip


if __name__ == "__main__":
    with np.load(sys.argv[3]) as stored:
        quantise(sys.argv[1], sys.argv[2], {n: stored[n] for n in stored.files}, sys.argv[4])
