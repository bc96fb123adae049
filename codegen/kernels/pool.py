"""Windows that are combined: pooling. The loop nest is that of `reduce`.

for unit in lo..hi                 parallel: image x output rows
  for v in channels step L         vectors of channels where they come last
    for taps                       masked or replaced outside of the image
      acc = combine(acc, x)
"""

from __future__ import annotations

from .reduce import lower

__all__ = ["lower"]
