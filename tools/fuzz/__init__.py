"""Inputs that nobody writes: files that are changed a little, read by whoever reads such files.

- `mutate`: changes of bytes, of texts, of JSON, of protobuf's records; each from a generator of
  random numbers, so that a seed is a case.
- `subjects`: the kinds of files: examples, how they are changed, who reads them.
- `workers`: cases in processes of their own, which may crash, hang or take all memory.
- `files`: `gravure fuzz files`.
- `making`: models that are grown by chance; `ways`: how each is computed, and compared.
- `tally`: cases are done, counted and reported.
- `graphs`, `programs`, `pipelines`: `gravure fuzz graphs`, and so on.

A kind of fuzzing is a module with `NAME`, `configure(parser)` and `run(args)`, listed in
`commands/fuzz.py`.
"""
