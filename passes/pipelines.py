"""Every pipeline, as a tuple of passes in their order."""

from __future__ import annotations

from collections.abc import Sequence

from .base import Pass, PipelineError

GRAPH = (
    "canonicalize",
    "constant-fold",  # frontends leave arithmetic on shapes and masks
    "simplify-control",  # behind constant-fold: conditions may be known
    "cse",  # before recognize: it compares values by identity
    "keep-quantised",  # before integer-products, which wants u8
    "integer-products",  # before fold-scale, which would take scales apart
    "recognize",
    "fold-batch-norm",  # before choose-layout: it looks for the operation behind a convolution
    "fold-scale",
    "attention",  # behind fold-scale: a factor that is in a weight costs nothing
    "widen-products",  # before choose-layout: what halves are laid out as is what f32 is
    "split-pools",  # behind keep-quantised, which moves pools of words
    "choose-layout",  # before decompose: a softmax or a pool moves easier than its parts
    "cancel-transposes",  # before decompose: what is resized is read several times behind it
    "decompose",
    "cancel-transposes",
    "split-pads",  # behind choose-layout: a pad moves easier than its pieces
    "turn-sorts",  # behind cancel-transposes, which might move them elsewhere
    "simplify-arithmetic",  # behind decompose: a mean divides by a constant
    "canonicalize",
    "constant-fold",
    "simplify-control",
    "cse",
    "dce",
)
"""On the level `graph`, whatever the target."""

PORTABLE = (
    "canonicalize",
    "constant-fold",
    "cse",
    "recognize",
    "fold-batch-norm",
    "fold-scale",
    "simplify-arithmetic",
    "canonicalize",
    "constant-fold",
    "cse",
    "dce",
)
"""For a graph that another runtime will load: operations stay whole, layouts as they are."""

WEIGHTS = (
    "winograd",  # before pack-weights: what it leaves is packed directly
    "pack-recurrent",  # before pack-weights: it leaves products
    "block-weights",  # before pack-weights, which packs weights that do not share scales
    "sum-products",  # before pack-weights, which would make a panel of a vector
    "pack-weights",
    "turn-weights",  # the same for GPUs
    "split-reductions",
    "cse",  # before hoist-prepare: a weight of two users is packed once
    "hoist-prepare",  # behind packing: it is done once, not in every run
    "cse",
    "dce",
)
"""What is done to weights ahead of time."""

INLINE = "inline-functions"
"""What puts a text's own functions where they are called."""

NOTE = "note-requirements"
"""What has runs take note of what they require of values: nothing behind it has effects."""

SPLIT = "split-complex"
"""What takes complex tensors apart: all that follows has real ones only."""

CUT, REPEAT = "cut-layers", "repeat-layers"
"""What is taken out of long chains first, and put back last: in between all is short."""

KERNELS = "outline-kernels"
"""The pass that makes kernels functions."""

PLACE = (
    "schedule-memory",  # behind outlining: what a kernel hides inside takes no memory
    "bufferise",
    "plan-memory",
    REPEAT,
)
"""What is done behind it. It leaves the kernels as they are, so that they can be made meanwhile."""

LOWER = (
    *("forget-order", "fuse", "merge-maps", "merge-bottlenecks", "merge-recurrent"),
    *(KERNELS, *PLACE),
)
"""From the level `graph` to `planned`."""

LEVELS: dict[str, tuple[str, ...]] = {
    "O0": (INLINE, NOTE, SPLIT, "require-sizes", "decompose", "pack-recurrent", "dce", *LOWER),
    "O1": (
        *(INLINE, NOTE, SPLIT, CUT, "require-sizes"),
        *("canonicalize", "simplify-control", "cse", "widen-products", "decompose"),
        *("split-pads", "turn-sorts", "dce"),
        *(*WEIGHTS, *LOWER),
    ),
    "O2": (INLINE, NOTE, SPLIT, CUT, "require-sizes", *GRAPH, *WEIGHTS, *LOWER),
    "O3": (INLINE, NOTE, SPLIT, CUT, "require-sizes", *GRAPH, *WEIGHTS, *LOWER),
}
"""What is required is noted first, while operations are those of the model."""


DESCENTS: dict[str, str] = {"fuse": "fused", "bufferise": "planned"}
"""The passes that take a program to another level, and which."""


def remaining(passes: Sequence[Pass], level: str) -> tuple[Pass, ...]:
    """Return the passes that a program which is on `level` already has still before it."""
    first = 0
    for index, each in enumerate(passes, 1):
        if DESCENTS.get(each.name) == level:
            first = index
    return () if level == "loops" else tuple(passes[first:])


PACKS = "winograd"
"""The pass from which on weights are laid out: before it they can be stored in another type."""


def calling(pipeline: str, sgemm: str, dgemm: str) -> str:
    """Return a pipeline in which functions of a library compute products of matrices.

    They are chosen before weights are laid out for ours, or where nothing is laid out before
    kernels are formed.
    """
    passes = pipeline.split(",")
    place = passes.index(PACKS if PACKS in passes else LOWER[0])
    passes.insert(place, f"use-library{{sgemm={sgemm} dgemm={dgemm}}}")
    return ",".join(passes)


def recomputing(pipeline: str) -> str:
    """Return a pipeline in which whole layers are computed again where they are used late."""
    passes = pipeline.split(",")
    passes.insert(passes.index("fuse"), "rematerialise{layers}")
    return ",".join(passes)


def swapping(pipeline: str) -> str:
    """Return a pipeline in which what rests for long lies in the memory of a GPU's host."""
    passes = pipeline.split(",")
    passes.insert(passes.index("plan-memory"), "swap")
    return ",".join(passes)


NUMERICS = ("exact", "ulp:N", "fast")
"""What results may differ in."""

ROUNDING = ("constant-fold", "recognize", "simplify-arithmetic")
"""The passes that write element-wise operations in forms that round otherwise, if they may."""


def pipeline_of(level: str, dtype: str = "") -> str:
    """Return the pipeline of an optimisation level as text.

    `dtype` (`bf16`, `i8`, `i4`) is what weights of products are stored in, where it is given.
    Raises `PipelineError` for a level that there is not, or that does not lay out weights.
    """
    if level not in LEVELS:
        raise PipelineError(f"level {level!r} is unknown, expected one of {', '.join(LEVELS)}")
    passes = list(LEVELS[level])
    if dtype and PACKS not in passes:
        raise PipelineError(f"level {level} keeps weights as they are, expected O1 for {dtype}")
    if dtype:
        passes.insert(passes.index(PACKS), f"narrow-weights{{dtype={dtype}}}")
    return ",".join(passes)


def ulps_allowed(numerics: str) -> int | None:
    """Return how many representable numbers off an element-wise operation may be; None: any.

    Raises `PipelineError` for numerics that there are not.

    >>> ulps_allowed("exact"), ulps_allowed("ulp:2"), ulps_allowed("fast")
    (0, 2, None)
    """
    name, _, number = numerics.partition(":")
    if name == "ulp" and number.isascii() and number.isdecimal() and 0 < int(number) < 1 << 20:
        return int(number)
    if numerics not in ("exact", "fast"):
        known = ", ".join(NUMERICS[:-1])
        raise PipelineError(
            f"numerics {numerics!r} are unknown, expected {known} or {NUMERICS[-1]}"
        )
    return 0 if numerics == "exact" else None


def with_numerics(pipeline: str, numerics: str) -> str:
    """Return a pipeline whose passes keep to what results may differ in.

    With `exact` numerics, element-wise operations give the bits that each gives alone; with `ulp:N`
    each is at most N representable numbers from that, and cheaper where that is enough. Floats of
    16 bits are rounded between operations, too, before these are taken apart.
    Raises `PipelineError` for numerics that there are not.
    """
    ulps = ulps_allowed(numerics)
    if ulps is None:
        return pipeline
    options = dict.fromkeys(ROUNDING, "{exact}")
    if ulps:
        options["simplify-arithmetic"] = f"{{exact ulps={ulps}}}"
    made = [f"{x}{options.get(x, '')}" for x in pipeline.split(",")]
    if "decompose" in made:
        made.insert(made.index("decompose"), "round-between")
    return ",".join(made)
