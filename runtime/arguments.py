"""What a compiled model is called with: found by name, checked, and brought into its layout.

Arrays in another layout or byte order are copied, and lists of numbers become arrays. An array of
another element type is an error, for a conversion nobody asked for can lose what matters.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from ..errors import RuntimeInputError
from .artifact import DimInfo, SizeDemand, TensorInfo, bindings
from .buffer import LARGEST_KEPT, Array, aligned_array, is_plain
from .expression import evaluate, symbols

Inputs: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""Arguments by name, or in their order."""

NUMPY_NAMES: Mapping[str, str] = {
    **{"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2"},
    **{"u32": "u4", "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8"},
    "c128": "c16",
}
ML_NAMES: Mapping[str, str] = {
    **{"bf16": "bfloat16", "i4": "int4", "u4": "uint4", "i2": "int2", "u2": "uint2"},
    **{"f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2": "float8_e5m2"},
    **{"f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0": "float8_e8m0fnu", "f6e2m3": "float6_e2m3fn"},
    **{"f6e3m2": "float6_e3m2fn", "f4e2m1": "float4_e2m1fn"},
}
"""Types that numpy does not have, by their names in `ml_dtypes`."""
MAX_THREADS = 1024
"""The most threads that share a run."""
_KINDS = {"b": "bool", "i": "i", "u": "u", "f": "f", "c": "c"}


def are_mapped(outputs: Sequence[TensorInfo]) -> bool:
    """Say whether an output is known to be so large that its pages are mapped anew in each call."""
    known = [info for info in outputs if info.is_static]
    sizes = (math.prod(o.shape_for({})) * numpy_dtype(o.dtype).itemsize for o in known)
    return max(sizes, default=0) >= LARGEST_KEPT


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return numpy's type for the elements of a tensor."""
    if name in ML_NAMES:
        found: np.dtype[Any] = np.dtype(getattr(import_module("ml_dtypes"), ML_NAMES[name]))
        return found  # imported here as it is of use to few models
    return np.dtype(NUMPY_NAMES[name])


def describe(value: Any) -> str:
    """Return type and shape of what an argument is, in the words of `TensorInfo`."""
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        return type(value).__name__
    dtype = value.dtype
    name = next((ours for ours, theirs in ML_NAMES.items() if theirs == dtype.name), str(dtype))
    if dtype.kind in _KINDS and name not in ML_NAMES:
        name = "bool" if dtype.kind == "b" else f"{_KINDS[dtype.kind]}{8 * dtype.itemsize}"
    order = "" if dtype.isnative else " in foreign byte order"
    return f"{name}[{', '.join(map(str, value.shape))}]{order}"


def check_threads(threads: int) -> None:
    """Refuse numbers of threads that cannot be meant."""
    if not isinstance(threads, int) or not 1 <= threads <= MAX_THREADS:
        raise RuntimeInputError(f"{threads!r} threads: expected 1 to {MAX_THREADS}")


def in_order(inputs: Inputs, infos: Sequence[TensorInfo], kind: str = "argument") -> list[Any]:
    """Return one value for each of `infos`, from values by name or in order."""
    if type(inputs) is list and len(inputs) == len(infos):  # asked first: it takes the least time
        return list(inputs)
    if isinstance(inputs, Mapping):
        return _by_name(inputs, [info.name for info in infos], kind)
    if isinstance(inputs, str | bytes) or not isinstance(inputs, Iterable):
        raise RuntimeInputError(
            f"{kind}s: expected a dictionary or a sequence, found {type(inputs).__name__}"
        )
    values = list(inputs)
    if len(values) != len(infos):
        names = ", ".join(repr(info.name) for info in infos)
        raise RuntimeInputError(
            f"{len(values)} {kind}s: expected {len(infos)}{f' ({names})' if names else ''}"
        )
    return values


def _by_name(inputs: Mapping[str, Any], names: Sequence[str], kind: str) -> list[Any]:
    missing = [name for name in names if name not in inputs]
    known = dict.fromkeys(names)
    unknown = [name for name in inputs if name not in known]
    if unknown:
        close = difflib.get_close_matches(str(unknown[0]), names, n=1)
        raise RuntimeInputError(
            f"unknown {kind} {unknown[0]!r}: expected {', '.join(map(repr, names)) or 'none'}",
            hint=f"did you mean {close[0]!r}?" if close else "",
        )
    if missing:
        raise RuntimeInputError(f"missing {kind} {', '.join(map(repr, missing))}")
    return [inputs[name] for name in names]


def to_array(value: Any, info: TensorInfo, kind: str = "argument") -> Array:
    """Return `value` as an array that compiled code can use; itself if it is one."""
    dtype = numpy_dtype(info.dtype)
    if type(value) is np.ndarray and value.dtype == dtype and is_plain(value):
        return value
    found = _as_array(value, info, kind)
    if found.dtype.newbyteorder("=") != dtype:
        found = _from_numbers(value, found, info, kind)
    if is_plain(found) and found.dtype == dtype:
        return found
    copy = aligned_array(found.shape, dtype)
    copy[...] = found
    return copy


def _as_array(value: Any, info: TensorInfo, kind: str) -> Array:
    """Return anything numpy can see as an array."""
    if isinstance(value, np.ma.MaskedArray):
        raise RuntimeInputError(
            f"{kind} {info.name!r}: a masked array, expected {info}",
            hint="give the data with what is masked filled in: array.filled(value)",
        )
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise RuntimeInputError(
            f"{kind} {info.name!r}: expected {info}, found {type(value).__name__}: {error}"
        ) from error


def _from_numbers(value: Any, found: Array, info: TensorInfo, kind: str) -> Array:
    """Return Python's numbers as the wanted type, if they fit; an array of another is an error."""
    dtype = numpy_dtype(info.dtype)
    wanted = "f" if info.dtype in ML_NAMES else dtype.kind
    if isinstance(value, list | tuple | int | float | complex) and found.dtype.kind in "biufc":
        is_less = "biufc".index(found.dtype.kind) <= "biufc".index(wanted)
        if wanted in "fc" and is_less:
            return found.astype(dtype)
        if wanted in "iu" and found.dtype.kind in "iu" and (found.astype(dtype) == found).all():
            return found.astype(dtype)
        if found.size == 0:
            return found.astype(dtype)
    raise mismatch(describe(found), info, kind)


def mismatch(found: str, info: TensorInfo, kind: str = "argument", dims: str = "") -> Exception:
    """Return the error of an argument of another type or shape."""
    return RuntimeInputError(
        f"{kind} {info.name!r} compiled with {info}{dims} and called with {found}"
    )


def bind_dims(
    arrays: Sequence[Array], infos: Sequence[TensorInfo], dims: Sequence[DimInfo]
) -> dict[str, int]:
    """Return the value of every symbolic dimension, after a check of all shapes."""
    for array, info in zip(arrays, infos, strict=True):
        if array.ndim != len(info.shape):
            raise mismatch(describe(array), info)
    places, values = bindings(infos, dims), {}
    for dim in dims:
        place = places[dim.name]
        array, info = arrays[place.input], infos[place.input]
        value = (array.shape[place.axis] - place.offset) // place.factor
        if not dim.low <= value <= dim.high:
            limits = f" with {dim.name} from {dim.low} to {dim.high}"
            raise mismatch(describe(array), info, dims=limits)
        values[dim.name] = value
    for array, info in zip(arrays, infos, strict=True):
        if array.shape != info.shape_for(values):
            known = {
                name: values[name]
                for size in info.shape
                for name in symbols(size)
                if infos[places[name].input] is not info
            }
            raise mismatch(describe(array), info, dims=f" with {_spell(known)}" if known else "")
    return values


def check_demands(demands: Sequence[SizeDemand], values: Mapping[str, int]) -> None:
    """Raise `RuntimeInputError` for the first demand that these dimensions do not meet."""
    for demand in demands:
        if evaluate(demand.small, values) > evaluate(demand.large, values):
            used = {n: values[n] for x in (demand.small, demand.large) for n in symbols(x)}
            raise RuntimeInputError(f"{demand.text}, with {_spell(used)}")


def result_shape(info: TensorInfo, values: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of a result, after a check that there is one for these sizes."""
    shape = info.shape_for(values)
    if min(shape, default=0) < 0:
        known = {name: values[name] for size in info.shape for name in symbols(size)}
        raise RuntimeInputError(
            f"result {info.name!r} compiled with {info} has no shape with {_spell(known)}: "
            f"{list(shape)}"
        )
    return shape


def _spell(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
