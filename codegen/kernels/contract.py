"""Contractions that only GPUs have a form of: on processors any iteration space will do."""

from __future__ import annotations

from .reduce import lower

__all__ = ["lower"]
