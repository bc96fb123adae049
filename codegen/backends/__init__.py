"""Back ends: what makes code of programs, one row for each kind of machine.

`backend` says what a row can do, `processors` and `cuda` are gravure's own, `table` finds the row
of a target and takes rows from outside.
"""
