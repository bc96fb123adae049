"""The rules of ONNX operators, one family a file; `../registry` finds them."""
