"""`tf.raw_ops`: operations by their own names, with keywords only.

An operation is here under its type if its public function takes the same arguments, or the same
by other names (`RENAMED`); what only ever has one value here is taken if it has that (`FIXED`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.calls import PUBLIC
from ..core.space import Space
from ..graph import flow as _fl
from ..graph import queues as _q
from ..train import raw_checkpoints as _rc

SAME = (
    *("Abs", "Acos", "Acosh", "AddV2", "AsString", "Asin", "Asinh", "Atan", "Atan2", "Atanh"),
    *("AvgPool3D", "BiasAdd", "Bitcast", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BroadcastTo"),
    *("Ceil", "CheckNumerics", "Cholesky", "ClipByValue", "Conj", "Cos", "Cosh", "Cumprod"),
    *("Cumsum", "DepthToSpace", "Diag", "DiagPart", "Digamma", "DivNoNan", "Elu", "Erf", "Erfc"),
    *("Erfinv", "Exp", "ExpandDims", "Expm1", "Fill", "Floor", "FloorDiv", "FloorMod"),
    *("GatherV2", "Greater", "GreaterEqual", "Igamma", "Igammac", "InTopK", "Invert"),
    *("InvertPermutation", "IsFinite", "IsInf", "IsNan", "L2Loss", "LRN", "LeakyRelu"),
    *("LeftShift", "Less", "LessEqual", "Lgamma", "Log", "LogSoftmax", "LogicalAnd"),
    *("LogicalNot", "LogicalOr", "MatrixDeterminant", "MatrixInverse", "MatrixSolve"),
    *("MaxPool3D", "Maximum", "Minimum", "Mul", "MulNoNan", "Neg", "NextAfter", "Polygamma"),
    *("Pow", "Rank", "RealDiv", "Reciprocal", "RegexFullMatch", "RegexReplace", "Relu", "Relu6"),
    *("Reshape", "ReverseV2", "RightShift", "Roll", "Round", "Rsqrt", "SegmentMax"),
    *("SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum", "Selu", "Sigmoid", "Sign"),
    *("Sin", "Sinh", "Size", "Softmax", "Softsign", "SpaceToDepth", "Sqrt", "Square"),
    *("SquaredDifference", "Squeeze", "StringStrip", "Sub", "Tan", "Tanh", "Tile", "TruncateDiv"),
    *("TruncateMod", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"),
    *("UnsortedSegmentSum", "Xdivy", "Xlog1py", "Xlogy", "Zeta"),
    *("DepthwiseConv2dNative", "Equal", "NotEqual", "GatherNd", "MatMul", "MaxPool", "ScatterNd"),
    *("StringLength", "StringLower", "StringUpper", "Substr", "TopKV2"),
)
"""Operations whose public functions take the arguments by the same names."""
NONE: dict[str, str] = {}
REDUCTION = {"input": "input_tensor", "keep_dims": "keepdims"}
RENAMED: dict[str, dict[str, str]] = {
    **dict.fromkeys(("All", "Any", "Max", "Mean", "Min", "Prod", "Sum"), REDUCTION),
    "EuclideanNorm": REDUCTION,
    "ArgMax": {"dimension": "axis"},
    "ArgMin": {"dimension": "axis"},
    "AvgPool": {"value": "input"},
    "Conv2D": {"filter": "filters"},
    "Conv3D": {"filter": "filters"},
    "Identity": {"input": "x"},
    "Pad": {"input": "tensor"},
    "ReverseSequence": {"seq_dim": "seq_axis", "batch_dim": "batch_axis"},
    "Slice": {"input": "input_"},
    "Softplus": {"features": "x"},
    "StringToNumber": {"string_tensor": "input"},
    "Transpose": {"x": "a"},
}
"""By operation: its arguments' names -> those of the public function, where they differ."""
FIXED: dict[str, object] = {
    "incompatible_shape_error": True,
    "bad_indices_policy": "",
    "explicit_paddings": [],
    "use_cudnn_on_gpu": True,
    "grad_a": False,
    "grad_b": False,
    "index_type": "int32",
}
"""Arguments that have one value here."""
DEFAULTS: dict[str, dict[str, object]] = {"GatherV2": {"batch_dims": 0}}
"""Arguments that the operation need not be given, although the public function must."""


def raw(
    type_: str, function: Callable[..., object], renamed: Mapping[str, str]
) -> Callable[..., object]:
    """Return the function of an operation that is given all by keyword."""

    def call(*, name: str | None = None, **arguments: object) -> object:
        given = dict(DEFAULTS.get(type_, {}))
        for key, value in arguments.items():
            if key not in FIXED:
                given[renamed.get(key, key)] = value
            elif value != FIXED[key]:
                raise NotImplementedError(
                    f"tf.raw_ops.{type_}: {key} is {value!r}, expected {FIXED[key]!r}"
                )
        return function(**given, name=name)

    call.__name__ = call.__qualname__ = type_
    call.__doc__ = function.__doc__
    return call


def raw_space() -> Space:
    """Return the operations that are known by their own names."""
    renamed = {**dict.fromkeys(SAME, NONE), **RENAMED}
    return Space(
        "raw_ops",
        **{type_: raw(type_, PUBLIC[type_], names) for type_, names in renamed.items()},
        Switch=_fl.switch,
        Merge=_fl.merge,
        Enter=_fl.enter,
        Exit=_fl.leave,
        NextIteration=_fl.next_iteration,
        LoopCond=_fl.loop_condition,
        SaveV2=_rc.save_v2,
        RestoreV2=_rc.restore_v2,
        Mutex=_q.Mutex,
        MutexAcquire=lambda mutex, name=None: mutex.acquire(name),
        MutexRelease=lambda mutex, name=None: mutex.release(name),
    )
