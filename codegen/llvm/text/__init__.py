"""LLVM IR as text: values, constants, a growing list of lines, and a few functions in it.

`build` is what everything above writes with; `transpose`, `narrow_floats` and `remainder` are
functions that many kernels call; `multiples` says how indices are aligned.
"""
