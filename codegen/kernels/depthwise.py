"""Depthwise convolution of channels-last images: each channel has its own small kernel.

    for unit in lo..hi                 parallel: image x output rows
      for v in channels step L         vectors of channels
        for taps                       acc = acc + x[.., v] * w[tap, v]

The loop nest is that of `reduce`, from the operation's iteration space.
"""

from __future__ import annotations

from .reduce import lower

__all__ = ["lower"]
