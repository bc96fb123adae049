"""Features that are made of several of an example: a sparse one of its indices and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TypeAlias

from ..core.bridge import TfTensor
from ..nondense.sparse_first import sparse_merge
from ..nondense.sparse_tensor import SparseTensor
from .features import SparseFeature, VarLenFeature

Feature: TypeAlias = TfTensor | SparseTensor
Parse: TypeAlias = Callable[..., dict[str, Feature]]


def keys_of(feature: SparseFeature) -> list[str]:
    """Return the names of the features that have the indices of a sparse one."""
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


def taken_apart(features: Mapping[str, object]) -> dict[str, object]:
    """Return features with those that sparse ones are made of in their place."""
    found = {n: each for n, each in features.items() if not isinstance(each, SparseFeature)}
    for name, each in features.items():
        if not isinstance(each, SparseFeature):
            continue
        parts = {key: VarLenFeature("int64") for key in keys_of(each)}
        for key, part in {**parts, each.value_key: VarLenFeature(each.dtype)}.items():
            known = found.setdefault(key, part)
            if not isinstance(known, VarLenFeature) or known.dtype != part.dtype:
                raise ValueError(f"feature {name!r} takes {key!r} as {part}, but that is {known}")
    return found


def put_together(found: Mapping[str, Feature], feature: SparseFeature) -> SparseTensor:
    """Return a sparse feature of those that it is made of."""
    sizes = [feature.size] if isinstance(feature.size, int) else list(feature.size)
    indices = [found[key] for key in keys_of(feature)]
    values = found[feature.value_key]
    return sparse_merge(indices, values, sizes, already_sorted=feature.already_sorted)


def with_sparse_features(parse: Parse) -> Parse:
    """Let what parses examples give sparse features too."""

    @wraps(parse)
    def run(
        serialized: object,
        features: Mapping[str, object],
        example_names: object = None,
        name: str | None = None,
    ) -> dict[str, Feature]:
        found = parse(serialized, taken_apart(features), example_names, name)
        return {
            key: put_together(found, each) if isinstance(each, SparseFeature) else found[key]
            for key, each in features.items()
        }

    return run
