"""The verbs of the `gravure` command, one module each; `tools/cli.py` finds them here.

A module has `NAME` (the verb), a docstring (its first line is the help in the list, all of it
the help of the verb), `configure(parser)`, which adds arguments to an `argparse` parser, and
`run(args) -> int`, which does the work and returns the exit status. It imports nothing heavy
before `run`.
"""
