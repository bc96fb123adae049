"""The `gravure` command: one verb a file in `commands/`.

May import everything; nothing imports it.
"""
