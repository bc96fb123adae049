"""Forms of an exported model: halves, quantised by onnxruntime, other operator sets, what
optimisers make of it, weights beside the file.

`plain` is none of them; `opset12` is exported so, `converted12` by ONNX's own converter. Run by the
Python that has torch and onnxruntime.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
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
Inputs = Sequence[dict[str, Any]]


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

    def __init__(self, inputs: Inputs) -> None:
        self.rows: Iterator[dict[str, Any]] = iter(inputs)

    def get_next(self) -> Any:
        return next(self.rows, None)


# -- quantised ----------------------------------------------------------------------------

QDQ, OPERATOR = QuantFormat.QDQ, QuantFormat.QOperator
S8, U8, S16 = QuantType.QInt8, QuantType.QUInt8, QuantType.QInt16
STATIC: dict[str, tuple[Any, Any, Any, bool, dict[str, Any]]] = {
    "qdq": (QDQ, U8, S8, True, {}),
    "qdqtensor": (QDQ, U8, U8, False, {}),
    "qdqsigned": (QDQ, S8, S8, True, {"ActivationSymmetric": True, "WeightSymmetric": True}),
    "qdqwide": (QDQ, S16, S8, True, {}),
    "qdqpairs": (QDQ, U8, S8, False, {"DedicatedQDQPair": True, "QuantizeBias": False}),
    "qoperator": (OPERATOR, U8, S8, False, {}),
    "qoperatorchannel": (OPERATOR, U8, S8, True, {}),
    "qoperatorunsigned": (OPERATOR, U8, U8, False, {"ActivationSymmetric": False}),
    "qoperatorsigned": (OPERATOR, S8, S8, False, {}),
}
"""Format, types of activations and weights, whether a channel has a scale, and options."""
DYNAMIC: dict[str, tuple[Any, bool, dict[str, Any]]] = {
    "dynamic8": (S8, False, {}),
    "dynamic8unsigned": (U8, False, {}),
    "dynamic8channel": (S8, True, {"MatMulConstBOnly": False}),
}
"""Type of weights, whether a channel has a scale, and options."""


def quantise(path: Path, form: str, inputs: Inputs) -> None:
    """Write a file again with 8-bit layers."""
    plain = path.with_name("plain.onnx")
    try:
        quant_pre_process(str(path), str(plain))
    except Exception:
        plain.write_bytes(path.read_bytes())
    if form in DYNAMIC:
        weights, channels, more = DYNAMIC[form]
        quantize_dynamic(
            str(plain), str(path), weight_type=weights, per_channel=channels, extra_options=more
        )
        return
    kind, values, weights, channels, more = STATIC[form]
    quantize_static(
        str(plain), str(path), Rows(inputs), quant_format=kind, activation_type=values,
        weight_type=weights, per_channel=channels, extra_options=more,
    )  # fmt: skip


# -- rewritten by others ------------------------------------------------------------------


def half(path: Path, block: Sequence[str] | None = None) -> None:
    """Have all but inputs and results be halves, by onnxconverter-common."""
    tool = importlib.import_module("onnxconverter_common.float16")
    made = tool.convert_float_to_float16(
        onnx.load(path), keep_io_types=True, disable_shape_infer=False, op_block_list=block
    )
    onnx.save(made, path)


def converted(path: Path, version: int) -> None:
    """Write a file again in another version of the operator set, by ONNX's converter."""
    onnx.save(onnx.version_converter.convert_version(onnx.load(path), version), path)


def simplified(path: Path) -> None:
    """Write a file again as onnxsim makes it."""
    made, _ = importlib.import_module("onnxsim").simplify(onnx.load(path))
    onnx.save(made, path)


def optimised(path: Path) -> None:
    """Write a file again as onnxoptimizer makes it."""
    tool = importlib.import_module("onnxoptimizer")
    chosen = tool.get_fuse_and_elimination_passes()
    onnx.save(tool.optimize(onnx.load(path), chosen), path)


def dumped(path: Path, level: str) -> None:
    """Write a file again as onnxruntime has it before it runs it."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(
        onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level.upper()}"
    )
    options.log_severity_level = 4
    after = path.with_name("after.onnx")
    options.optimized_model_filepath = str(after)
    onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    after.replace(path)


def external(path: Path) -> None:
    """Write a file again with its weights beside it."""
    onnx.save_model(onnx.load(path), str(path), save_as_external_data=True, size_threshold=0)


def fused(path: Path, kind: str) -> None:
    """Write a file again as onnxruntime's optimiser of transformers makes it, without halves."""
    tool = importlib.import_module("onnxruntime.transformers.optimizer")
    tool.optimize_model(str(path), model_type=kind, opt_level=0).save_model_to_file(str(path))


def half_fused(path: Path) -> None:
    """Have all but inputs and results be halves, by onnxruntime's own converter."""
    tool = importlib.import_module("onnxruntime.transformers.float16")
    onnx.save(tool.convert_float_to_float16(onnx.load(path), keep_io_types=True), path)


def blockwise(path: Path, bits: int, *, symmetric: bool, operator: bool = True) -> None:
    """Have products by stored matrices be of few bits, a scale for 16 of them."""
    tool = importlib.import_module("onnxruntime.quantization.matmul_nbits_quantizer")
    kind = QuantFormat.QOperator if operator else QuantFormat.QDQ
    settings = tool.DefaultWeightOnlyQuantConfig(
        block_size=16, is_symmetric=symmetric, bits=bits, quant_format=kind,
        op_types_to_quantize=("MatMul", "Gather") if operator else ("MatMul",),
    )  # fmt: skip
    made = tool.MatMulNBitsQuantizer(onnx.load(path), algo_config=settings)
    made.process()
    onnx.save(made.model.model, path)


REWRITTEN: dict[str, Callable[[Path], None]] = {
    "external": external, "simplified": simplified, "optimised": optimised,
    "basic": lambda path: dumped(path, "basic"), "extended": lambda path: dumped(path, "extended"),
    "halved": half, "halffused": half_fused, "all": lambda path: dumped(path, "all"),
    "bert": lambda path: fused(path, "bert"), "gpt2": lambda path: fused(path, "gpt2"),
    "vit": lambda path: fused(path, "vit"), "unet": lambda path: fused(path, "unet"),
    "nbits4": lambda path: blockwise(path, 4, symmetric=True),
    "nbits4zero": lambda path: blockwise(path, 4, symmetric=False),
    "nbits4qdq": lambda path: blockwise(path, 4, symmetric=False, operator=False),
    "nbits8": lambda path: blockwise(path, 8, symmetric=True),
}  # fmt: skip


def rewrite(path: Path, form: str, inputs: Inputs) -> None:
    """Write an exported file again in a form; `+` is between several."""
    for each in form.split("+"):
        if each in STATIC or each in DYNAMIC:
            quantise(path, each, inputs)
        elif each in REWRITTEN:
            REWRITTEN[each](path)
        elif each.startswith("converted"):
            converted(path, int(each.removeprefix("converted")))
