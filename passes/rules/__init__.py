"""Rules of passes: functions whose docstring is the equation.

`arithmetic` and `shape` hold those of `canonicalize` (see `analysis/rewrite.py`): a rule refuses
with None or returns the value that replaces the operation's result; each file ends in the table
of its rules by operation. `layouts` holds those of `choose-layout` and `cancel-transposes`.
"""
