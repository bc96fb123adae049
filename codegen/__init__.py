"""From planned IR to native code: kernel templates, emitters, libraries.

Imports `ir`, `passes` and `runtime`. llvmlite is imported in `codegen/llvm/` alone.
"""
