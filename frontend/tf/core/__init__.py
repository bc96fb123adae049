"""What all names of TensorFlow's stand on: tensors with its rules, values, calls, shapes.

`bridge` has the tensors, `values` makes tensors of Python values without promoting types, `calls`
makes operations of functions, `shapes` and `specs` are shapes and types of which parts are open,
`shape_rules` and `sizes` what is known of sizes that are computed, `required` what is checked in
the run. `host_ops` makes operations that the host carries out, `structures` says what elements with
parts are like, `sparse` is `SparseTensor`.
"""
