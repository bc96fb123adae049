"""How programs come in: Python, ONNX, text.

Imports everything but `tools`. onnx is imported in `frontend/onnx/` alone, lark in
`frontend/text/` alone.
"""
