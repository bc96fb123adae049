"""The metrics of the first version by their names."""

from ..core.space import Space
from . import streaming, thresholds

metrics = Space("compat.v1.metrics", **streaming.BY_NAME, **thresholds.BY_NAME)
