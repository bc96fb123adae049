"""The metrics of the first version by their names."""

from ..core.space import Space
from . import among_best, streaming, thresholds

metrics = Space(
    "compat.v1.metrics", **streaming.BY_NAME, **thresholds.BY_NAME, **among_best.BY_NAME
)
