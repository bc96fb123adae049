"""Rewrites of the IR: one pass a file, found by the file's name.

A pass reads and writes IR; it never names LLVM, a driver or a frontend. Imports `ir`.
"""
