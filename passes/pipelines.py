"""Every pipeline, as a tuple of passes in their order."""

from __future__ import annotations

LOWER = (
    "fuse",
    "outline-kernels",
    "schedule-memory",  # behind outlining: what a kernel hides inside takes no memory
    "bufferise",
    "plan-memory",
)
"""From the level `graph` to `planned`."""

LEVELS: dict[str, tuple[str, ...]] = {
    "O0": ("decompose", "dce", *LOWER),
    "O2": (
        "decompose",
        "cse",
        "dce",
        "pack-weights",
        "hoist-prepare",  # behind packing: it is done once, not in every run
        "cse",
        "dce",
        *LOWER,
    ),
}


def pipeline_of(level: str) -> str:
    """Return the pipeline of an optimisation level as text."""
    return ",".join(LEVELS[level])
