"""`gravure.onnx_backend`: the interface of `onnx.backend.base`, for suites written against it.

import gravure.onnx_backend as backend
backend.prepare(model).run([x])
"""

from .frontend.programs.onnx_backend import (
    GravureBackend,
    prepare,
    run_model,
    run_node,
    supports_device,
)

__all__ = ["GravureBackend", "prepare", "run_model", "run_node", "supports_device"]
