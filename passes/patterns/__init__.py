"""What `recognize` looks for: the forms that exporters write functions in, one family a file.

A pattern is a function of the operation that gives it away (its trigger); it returns a `Match`,
or None. Each file ends in the table of its patterns by trigger.
"""
