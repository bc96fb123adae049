"""Numpy's rules for the operators and names of tensors, once a program asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..core.bridge import COMPARISONS, OF_NUMPY, OPERATORS, Common, TfTensor
from ..ops.math_ops import cast
from . import promoting
from .elementwise import around, clip
from .indexing import getitem
from .promoting import Together, promoted
from .reducing import REDUCED, matmul
from .shaping import flatten, ravel, reshape, transpose

PROMOTED = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"),
    *("less", "less_equal", "greater", "greater_equal"),
)
MODES = ("off", "legacy", "safe", "all")
PLAIN = {**OPERATORS}, {**COMPARISONS}
"""The functions of the operators by TensorFlow's own rules."""


def _reshaped(x: Common, *sizes: object, order: str = "C") -> TfTensor:
    """Return the elements in another shape, which is one argument or several."""
    return reshape(x, sizes[0] if len(sizes) == 1 else sizes, order)


def _turned(x: Common, *axes: Sequence[int] | int | None) -> TfTensor:
    """Exchange axes, which are one argument as in TensorFlow, or several as in numpy."""
    if len(axes) == 1 and not isinstance(axes[0], int):
        return transpose(x, axes[0])
    return transpose(x, [int(axis) for axis in axes] or None)  # type: ignore[arg-type]


def _size(x: Common) -> int | None:
    return x.shape.num_elements()


METHODS: dict[str, Callable[..., object]] = {
    "astype": cast,
    "clip": clip,
    "flatten": flatten,
    "max": REDUCED["max"],
    "mean": REDUCED["mean"],
    "min": REDUCED["min"],
    "ravel": ravel,
    "reshape": _reshaped,
    "round": around,
    "tolist": lambda x: x.numpy().tolist(),
    "transpose": _turned,
}
PROPERTIES: dict[str, Callable[[Common], object]] = {
    "T": transpose,
    "data": lambda x: x,
    "size": _size,
}


def _promoting(function: Callable[..., TfTensor]) -> Callable[..., TfTensor]:
    """Return the function of an operator that casts both operands by numpy's rule first."""

    def run(a: object, b: object) -> TfTensor:
        with Together(a, b):
            return function(*promoted(a, b))

    return run


def _comparing(
    function: Callable[..., TfTensor | bool],
) -> Callable[..., TfTensor | bool]:
    """Return the function of `==` or `!=` that casts what both are tensors of."""

    def run(a: object, b: object) -> TfTensor | bool:
        try:
            with Together(a, b):
                pair = promoted(a, b)
        except (TypeError, ValueError):  # types that no type has room for: they are compared as is
            return function(a, b)
        with Together(a, b):
            return function(*pair)

    return run


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Let operators cast as numpy does, brackets take indices, and tensors have numpy's methods.

    It holds for the rest of the program.
    """
    if dtype_conversion_mode not in MODES:
        raise ValueError(
            f"The provided promotion mode {dtype_conversion_mode} does not exist. Make sure the "
            "provided dtype conversion mode is one of the followings: 'off', 'legacy', 'safe' or "
            "'all'."
        )
    if dtype_conversion_mode in ("safe", "all"):
        raise NotImplementedError(
            f"dtype_conversion_mode {dtype_conversion_mode!r} is not supported: element types are "
            "cast by numpy's rule, 'legacy', or not at all, 'off'"
        )
    by_name, compared = PLAIN
    if dtype_conversion_mode == "legacy":
        OPERATORS.update({name: _promoting(by_name[name]) for name in PROMOTED})
        OPERATORS["matmul"] = matmul  # (a row or a column is one axis)
        COMPARISONS.update({name: _comparing(f) for name, f in compared.items()})
    OPERATORS["getitem"] = getitem
    OF_NUMPY.update(PROPERTIES)
    OF_NUMPY.update({name: partial(partial, method) for name, method in METHODS.items()})
    promoting.PREFERRED["float32"] = bool(prefer_float32)
