"""The rules of `canonicalize` and `simplify-arithmetic`: functions whose docstring is the equation.

A rule refuses with None or returns the value that replaces the operation's result; see
`analysis/rewrite.py`. Each module ends in the table of its rules by operation.
"""
