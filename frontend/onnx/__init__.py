"""ONNX models in: any operator set from 1 on, and the only place that imports `onnx`.

Read in this order: `file/` (the file as it is: weights stay where they lie), `order` (names and
cycles), `shapes` (what is known of integer tensors while reading), `node` (what a rule sees),
`registry` (how rules are found), `rules/` (one family a file; `windows`, `recurrent_steps`,
`attention`, `trees` and `grams` are what some of them are made of), `functions`
and `regions` (nodes that hold others), `graph` (graph to program). `coverage` writes the table of
operators, `export/` models. `../dims/assume` says what is assumed of symbols, and why.
"""
