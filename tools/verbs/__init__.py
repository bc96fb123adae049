"""What the verbs of the command do, as functions of Python: `gravure.inspect`, `gravure.bench`, ...

Each function takes a source as `gravure.compile` does, and returns one result: a dataclass that
prints as the command prints it (`str`), and that `as_json` makes the data of `--json` of. A file of
`commands/` reads arguments, calls the function here, and shows its result; nothing is done twice.
"""
