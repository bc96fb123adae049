"""Datasets of elements of several datasets, chosen by numbers or by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data.nested import Directed
from ..core.bridge import TfTensor, row_of
from ..core.structures import Pipeline, joined_spec
from ..core.values import convert
from ..ops.array_ops import expand_dims, reshape, stack, where
from ..ops.creation import one_hot
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast
from ..ops.random_ops import stateless_categorical, uniform
from .handles import staged


def directed(selector: Pipeline, datasets: Sequence[Pipeline], stop: bool) -> Pipeline:
    """Return a dataset of elements of several, of which a dataset of numbers chooses."""
    spec = datasets[0].element_spec
    for number, each in enumerate(datasets[1:], 1):
        try:
            spec = joined_spec(spec, each.element_spec)
        except TypeError as error:
            raise TypeError(
                f"Invalid `datasets`. `datasets` must have compatible element specs: "
                f"`datasets[{number}]`: {error}"
            ) from None
    return selector.made(staged(Directed, [selector, *datasets], {"stop": stop}), spec)


def choose_from_datasets(
    datasets: Sequence[Pipeline], choice_dataset: Pipeline, stop_on_empty_dataset: bool = True
) -> Any:
    """Return a dataset of elements of several, of which a dataset of numbers chooses."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if not isinstance(choice_dataset, Pipeline):
        raise TypeError(
            f"Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is "
            f"{choice_dataset!r}."
        )
    found = choice_dataset.element_spec
    if getattr(found, "dtype", None) is None or found.dtype.name != "int64" or found.shape.rank:
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` "
            f"tensors but are {found}."
        )
    return directed(choice_dataset, list(datasets), stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Sequence[Pipeline],
    weights: object = None,
    seed: int | None = None,
    stop_on_empty_dataset: bool = False,
    rerandomize_each_iteration: bool | None = None,
) -> Any:
    """Return a dataset of elements of several, chosen by chance: TensorFlow's for its seeds."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    kept = list(datasets)
    if isinstance(weights, Pipeline):
        logits = weights.map(lambda *p: FUNCTIONS["log"](p[0] if len(p) == 1 else stack(list(p))))
    else:
        kept, fixed = _weighted(kept, weights)
    if len(kept) == 1:
        return kept[0]
    seeds = kept[0].random(seed, rerandomize_each_iteration).batch(2, drop_remainder=True)

    def select(row: object, pair: object) -> TfTensor:
        return reshape(stateless_categorical(row, 1, pair), [])

    if isinstance(weights, Pipeline):
        numbers = seeds.zip((logits, seeds)).map(lambda p, s: select(expand_dims(p, 0), s))
    else:
        numbers = seeds.map(lambda s: select(fixed, s))
    return directed(numbers, kept, stop_on_empty_dataset)


def _weighted(datasets: list[Pipeline], weights: Any) -> tuple[list[Pipeline], TfTensor]:
    """Return the datasets that can be chosen, and the logarithms of their chances."""
    if weights is None:
        return datasets, convert([[1.0] * len(datasets)])
    if not hasattr(weights, "spec"):
        if len(weights) != len(datasets):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"`len(weights)={len(weights)}` vs. `len(datasets)={len(datasets)}`."
            )
        pairs = [(d, w) for d, w in zip(datasets, weights, strict=True) if w > 0]
        if not pairs:
            return [datasets[0].take(0)], convert([[1.0]])
        datasets, weights = [d for d, _ in pairs], [w for _, w in pairs]
    chances = convert(weights)
    if chances.dtype.name not in ("float32", "float64"):
        raise TypeError(
            "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
            f"{chances.dtype.name}."
        )
    return datasets, expand_dims(FUNCTIONS["log"](chances), 0)


def resampled(
    dataset: Pipeline,
    class_func: Any,
    target_dist: object,
    initial_dist: object = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return a dataset of classes and elements, in which classes come as often as is wanted.

    Elements of classes that come too often are left out by chance, those that come too seldom
    are taken from a second pass through the dataset.
    """
    target = cast(convert(target_dist), "float32")
    count = target.shape.known()[0]
    numbered = dataset.map(lambda *e: (_class(class_func(*e)), e if len(e) > 1 else e[0]))
    if initial_dist is not None:
        start = cast(convert(initial_dist), "float32")
        with_chances: Any = numbered.map(lambda c, e: (c, e, start))
    else:
        with_chances = numbered.scan(_counts(count), lambda seen, pair: _counted(seen, pair, count))

    def kept(c: object, e: object, dist: object) -> Any:
        chance = _acceptance(dist, target)[c]
        return uniform([], seed=seed) < chance

    chosen: Pipeline = with_chances.filter(kept).map(lambda c, e, dist: (c, e))
    return chosen


def _class(value: object) -> TfTensor:
    found = convert(value)
    if row_of(found.dtype) is None or found.dtype.name not in ("int32", "int64"):
        raise TypeError(f"`class_func` must return a scalar integer, got {found.dtype.name}")
    return found


def _counts(count: int) -> TfTensor:
    return convert(np.ones(count, np.int64))


def _counted(seen: Any, pair: Any, count: int) -> Any:
    """Return how often classes came, and an element with the shares so far."""
    number, element = pair
    now = seen + cast(one_hot(number, count), "int64")
    shares = cast(now, "float32") / cast(REDUCTIONS["reduce_sum"](now), "float32")
    return now, (number, element, shares)


def _acceptance(initial: Any, target: Any) -> Any:
    """Return the chance to keep an element of each class."""
    tiny = float(np.finfo(np.float32).tiny)
    ratios = target / where(initial > 0, initial, tiny)
    return ratios / REDUCTIONS["reduce_max"](ratios)
