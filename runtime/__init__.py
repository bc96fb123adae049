"""What a compiled program needs to run, without the compiler.

Imports numpy and the standard library, and nothing of gravure but its errors.
"""
