"""`tf.raw_ops`: operations by their own names, with keywords only.

An operation is here under its type if its public function takes the same arguments, or the same
by other names (`RENAMED`); what only ever has one value here is taken if it has that (`FIXED`).
`core/raw_ops.txt` lists those that are functions by other names.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from types import ModuleType

from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.calls import PUBLIC
from ..core.listing import lines
from ..core.space import Space
from ..core.values import InGraph, convert, graph_of
from ..draws import fractional as _fractional
from ..draws.index_shuffle import random_index_shuffle as _random_index_shuffle
from ..draws.reparametrised import random_gamma_grad as _random_gamma_grad
from ..graph import flow as _fl
from ..graph import queues as _q
from ..image.projected import image_projective_transform as _projected
from ..ops import array_ops as _a
from ..ops import creation as _c
from ..ops import math_ops as _m
from ..ops import nn_ops as _n
from ..ops import sorting as _s
from ..train import raw_checkpoints as _rc
from ..variables import handles as _hd
from . import raw_counts as _counts
from . import raw_layers as _nn
from . import raw_norms as _norms
from .raw_axes import broadcast_gradient_args as _broadcast_gradient_args

SAME = (
    *("Abs", "Acos", "Acosh", "AddV2", "AsString", "Asin", "Asinh", "Atan", "Atan2", "Atanh"),
    *("AvgPool3D", "BiasAdd", "Bitcast", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BroadcastTo"),
    *("Ceil", "CheckNumerics", "Cholesky", "ClipByValue", "Conj", "Cos", "Cosh", "Cumprod"),
    *("Cumsum", "DepthToSpace", "Digamma", "DivNoNan", "Elu", "Erf", "Erfc"),
    *("Erfinv", "Exp", "ExpandDims", "Expm1", "Fill", "Floor", "FloorDiv", "FloorMod"),
    *(
        "GatherV2",
        "Greater",
        "GreaterEqual",
        "Igamma",
        "IgammaGradA",
        "Igammac",
        "InTopK",
        "Invert",
    ),
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
    *("Identity", "Softplus"),
    *("StringLength", "StringLower", "StringUpper", "Substr", "TopKV2"),
)
"""Operations whose public functions take the arguments by the same names."""
F, sigmoid = _m.FUNCTIONS, _m.FUNCTIONS["sigmoid"]
LAMBDA, ALPHA = 1.0507009873554805, 1.6732632423543772
"""The constants of `Selu` (Klambauer et al., 2017)."""


def _where(condition: TfTensor, x: object) -> TfTensor:
    """Return a tensor where a condition holds, else zeros."""
    made = convert(x)
    return _a.where(condition, made, _c.zeros_like(made))


GRADIENTS: dict[str, Callable[..., TfTensor]] = {
    "EluGrad": lambda gradients, outputs: _a.where(
        outputs < 0.0, gradients * (outputs + 1.0), gradients
    ),
    "InvGrad": lambda y, dy: -dy * y * y,
    "LeakyReluGrad": lambda gradients, features, alpha=0.2: _a.where(
        features > 0.0, gradients, gradients * alpha
    ),
    "ReciprocalGrad": lambda y, dy: -dy * y * y,
    "Relu6Grad": lambda gradients, features: _where(
        F["logical_and"](features > 0.0, features < 6.0), gradients
    ),
    "ReluGrad": lambda gradients, features: _where(features > 0.0, gradients),
    "RsqrtGrad": lambda y, dy: -0.5 * dy * y * y * y,
    "SeluGrad": lambda gradients, outputs: _a.where(
        outputs < 0.0, gradients * (outputs + LAMBDA * ALPHA), gradients * LAMBDA
    ),
    "SigmoidGrad": lambda y, dy: dy * y * (1.0 - y),
    "SoftplusGrad": lambda gradients, features: gradients * sigmoid(features),
    "SoftsignGrad": lambda gradients, features: gradients / (1.0 + F["abs"](features)) ** 2.0,
    "SqrtGrad": lambda y, dy: 0.5 * dy / y,
    "TanhGrad": lambda y, dy: dy * (1.0 - y * y),
}
"""The gradients of functions of single elements, given what the function took or gave."""


def gradient_op(function: Callable[..., TfTensor]) -> Callable[..., TfTensor]:
    """Return the operation of a gradient, which is given all by keyword."""

    def call(*, name: str | None = None, **arguments: object) -> TfTensor:
        with InGraph(graph_of(list(arguments.values()))):
            given = {
                k: v if isinstance(v, float) and k == "alpha" else convert(v)
                for k, v in arguments.items()
            }
            return _m.identity(function(**given), name=name)

    return call


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
    "Pad": {"input": "tensor"},
    "ReverseSequence": {"seq_dim": "seq_axis", "batch_dim": "batch_axis"},
    "Slice": {"input": "input_"},
    "StringToNumber": {"string_tensor": "input"},
    "Transpose": {"x": "a"},
}
"""By operation: its arguments' names -> those of the public function, where they differ."""
FIXED: dict[str, object] = {
    "incompatible_shape_error": True,
    "bad_indices_policy": "",
    "use_cudnn_on_gpu": True,
    "grad_a": False,
    "grad_b": False,
    "index_type": "int32",
}
"""Arguments that have one value here."""
DEFAULTS: dict[str, dict[str, object]] = {"GatherV2": {"batch_dims": 0}}
"""Arguments that the operation need not be given, although the public function must."""


def _check_fixed(type_: str, key: str, value: object) -> None:
    """Raise unless an argument that has one value here has that."""
    if value != FIXED[key]:
        raise NotImplementedError(
            f"tf.raw_ops.{type_}: {key} is {value!r}, expected {FIXED[key]!r}"
        )


def _explicit(type_: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return arguments with paddings that are given apart as pairs, or raise."""
    made = dict(arguments)
    ends = made.pop("explicit_paddings", None) or ()
    assert isinstance(ends, list | tuple), "paddings are a list"
    if bool(ends) != (made.get("padding") == "EXPLICIT"):
        raise InvalidArgumentError(
            f"tf.raw_ops.{type_}: explicit_paddings is {[*ends]} with padding "
            f"{made.get('padding')!r}"
        )
    if ends:
        made["padding"] = [*zip(ends[::2], ends[1::2], strict=True)]
    return made


def raw(
    type_: str, function: Callable[..., object], renamed: Mapping[str, str]
) -> Callable[..., object]:
    """Return the function of an operation that is given all by keyword."""

    def call(*, name: str | None = None, **arguments: object) -> object:
        given = dict(DEFAULTS.get(type_, {}))
        for key, value in _explicit(type_, arguments).items():
            if key not in FIXED:
                given[renamed.get(key, key)] = value
            else:
                _check_fixed(type_, key, value)
        return function(**given, name=name)

    call.__name__ = call.__qualname__ = type_
    call.__doc__ = function.__doc__
    theirs = {ours: key for key, ours in renamed.items()}
    own = [theirs.get(key, key) for key in inspect.signature(function).parameters if key != "name"]
    call.__signature__ = _by_keyword(own)  # type: ignore[attr-defined]
    return call


def _by_keyword(names: Iterable[str]) -> inspect.Signature:
    """Return the signature of an operation: its arguments by keyword, and a name."""
    kind = inspect.Parameter.KEYWORD_ONLY
    own = [inspect.Parameter(key, kind) for key in names]
    return inspect.Signature([*own, inspect.Parameter("name", kind, default=None)])


def tabled(line: str, top: ModuleType) -> tuple[str, Callable[[], object]]:
    """Return the type that a line of `raw_ops.txt` is of, and what makes its function."""
    type_, _, rest = line.partition(": ")
    call, _, results = rest.partition(" -> ")
    path, *arguments = call.split()
    told = dict(each[1:].split("=") for each in arguments if each.startswith(":"))
    pairs = (each.partition("=") for each in arguments if not each.startswith(":"))
    names = {theirs: ours or theirs for theirs, _, ours in pairs}
    fields = namedtuple(type_, results.split()) if results else None

    def made() -> Callable[..., object]:
        function: Callable[..., object] = attrgetter(path)(top)

        def run(*, name: str | None = None, **given: object) -> object:
            for key in given.keys() - names.keys():
                raise TypeError(
                    f"tf.raw_ops.{type_}: found argument {key!r}, expected {', '.join(names)}"
                )
            ours: dict[str, object] = told | {names[key]: value for key, value in given.items()}
            found = function(**ours) if name is None else function(**ours, name=name)
            if fields and not isinstance(found, list | tuple):  # the others were not asked for
                value = convert(found)
                found = (value, *[_c.zeros([], value.dtype)] * (len(results.split()) - 1))
            return fields(*found) if fields and isinstance(found, list | tuple) else found

        run.__name__ = run.__qualname__ = type_
        run.__doc__ = function.__doc__
        run.__signature__ = _by_keyword(names)  # type: ignore[attr-defined]
        return run

    return type_, made


def raw_space(top: ModuleType) -> Space:
    """Return the operations that are known by their own names; `top` is `gravure.tf`."""
    renamed = {**dict.fromkeys(SAME, NONE), **RENAMED}
    table = dict(tabled(line, top) for line in lines("raw_ops.txt"))
    return Space(
        "raw_ops",
        table,
        **{t: raw(t, PUBLIC[t], names) for t, names in renamed.items() if t not in table},
        **{type_: gradient_op(found) for type_, found in GRADIENTS.items()},
        **_counts.COUNTS,
        **_rc.REMAPPING,
        **_nn.OPERATIONS,
        **_norms.NORMS,
        **_fractional.RAW,
        **_hd.RAW,
        BroadcastGradientArgs=_broadcast_gradient_args,
        RandomGammaGrad=_random_gamma_grad,
        RandomIndexShuffle=_random_index_shuffle,
        UniqueV2=_s.unique_v2,
        UniqueWithCountsV2=_s.unique_with_counts_v2,
        Einsum=lambda inputs, equation, name=None: _n.products(equation, *inputs, name=name),
        Switch=_fl.switch,
        Merge=_fl.merge,
        Enter=_fl.enter,
        Exit=_fl.leave,
        NextIteration=_fl.next_iteration,
        LoopCond=_fl.loop_condition,
        SaveV2=_rc.save_v2,
        RestoreV2=_rc.restore_v2,
        ImageProjectiveTransformV2=_projected,
        ImageProjectiveTransformV3=_projected,
        Mutex=_q.Mutex,
        MutexAcquire=lambda mutex, name=None: mutex.acquire(name),
        MutexRelease=lambda mutex, name=None: mutex.release(name),
    )
