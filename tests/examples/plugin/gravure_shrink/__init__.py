"""Soft thresholds for gravure: an operation, a pass, an ONNX rule, and a back end.

Importing this registers all of them; gravure does that when it is asked for one of their names.
"""

GRAVURE_API = 1

from . import merge_soft, onnx_rules, operation, walked  # noqa: E402, F401
from .operation import soft_threshold as soft_threshold  # noqa: E402
