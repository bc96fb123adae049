"""Forms of an exported model: halves, quantised by onnxruntime, opsets, weights beside the file.

`plain` is none of them. Run by the Python that has torch and onnxruntime.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import torch
from architectures import Case
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

OPSET = 18
HALVES = {"half": torch.float16, "bfloat": torch.bfloat16}


def opset_of(form: str) -> int:
    """Return the version of the operators that a form is exported with."""
    return int(form.removeprefix("opset")) if form.startswith("opset") else OPSET


def cast(case: Case, form: str) -> Case:
    """Return a case whose module computes in halves, between single precision."""
    if form not in HALVES:
        return case
    return replace(case, module=InHalves(case.module, HALVES[form]))


class InHalves(torch.nn.Module):
    """A module in a narrower type, between casts."""

    def __init__(self, module: torch.nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.module, self.dtype = module.to(dtype), dtype

    def forward(self, *values: torch.Tensor) -> Any:
        given = [x.to(self.dtype) if x.is_floating_point() else x for x in values]
        made = self.module(*given)
        several = made if isinstance(made, tuple) else (made,)
        return tuple(x.float() if x.is_floating_point() else x for x in several)


class Rows(CalibrationDataReader):
    """Gives the inputs by which ranges are found."""

    def __init__(self, inputs: Sequence[dict[str, Any]]) -> None:
        self.rows: Iterator[dict[str, Any]] = iter(inputs)

    def get_next(self) -> Any:
        return next(self.rows, None)


def rewrite(path: Path, form: str, inputs: Sequence[dict[str, Any]]) -> None:
    """Write an exported file again in a form."""
    if form == "external":
        model = onnx.load(path)
        onnx.save_model(model, str(path), save_as_external_data=True, size_threshold=0)
    if form not in ("dynamic8", "qdq", "qoperator"):
        return
    plain = path.with_name("plain.onnx")
    try:
        quant_pre_process(str(path), str(plain))
    except Exception:
        plain.write_bytes(path.read_bytes())
    if form == "dynamic8":
        quantize_dynamic(str(plain), str(path))
        return
    kind = QuantFormat.QDQ if form == "qdq" else QuantFormat.QOperator
    quantize_static(
        str(plain), str(path), Rows(inputs), quant_format=kind, activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8, per_channel=form == "qdq",
    )  # fmt: skip
