"""Graphs as text that a person writes: a model in ten lines.

`graph.lark` is the language. Read in this order: `tree` (text to a syntax tree), `places`
(errors with the line and a caret), `expressions` (what an expression is worth), `reader`
(tree to program), `writer` (program to text).
"""
