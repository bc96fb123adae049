"""From a function's source to another function: trees of Python's, and nothing of graphs.

Read in this order:
- `sources`: the tree of a function. `private`: names as they are inside of a class.
- `jumps`: `break`, `continue`, `return` as flags. `names`, `liveness`: what is read and written.
- `rewrite`, `expressions`, `python_tests`, `loop_options`: the tree that is made.
- `convert`: the function of a tree.
"""
