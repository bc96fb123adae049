"""What a program is: operations, levels, text, verifier, reference interpreter.

Imports xdsl and numpy, and nothing of gravure but its errors.
"""
