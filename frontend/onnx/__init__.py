"""ONNX models in: any operator set from 1 on, and the only place that imports `onnx`.

Read in this order: `wire` (weights stay in the file), `model` (header, domains), `data`
(tensors), `order` (names and cycles), `checks` (names and operands), `shapes` (what is known of
integer tensors while reading), `node` (what a rule sees), `rules` (how rules are found),
`ops_*` (the rules, one family a file; `windows`, `resize_matrix`, `recurrent_steps`,
`attention`, `trees` and `grams` are what some of them are made of), `functions` and `regions`
(nodes that hold others), `graph` (graph to program). `backend` and `cases` are for the
standard's own tests, `coverage` writes the table of operators. `../assume` says what is assumed
of symbols, and why.
"""
