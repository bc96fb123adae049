"""Depthwise convolution of channels-last images: each channel has its own kernel."""

from __future__ import annotations

from .sliding_rows import lower

__all__ = ["lower"]
