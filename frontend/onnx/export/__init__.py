"""Programs of the graph level out, as ONNX models that other runtimes load.

Read in this order: `writer` (values, nodes, element types), `extents` (dimensions that are
symbols), `rules` (how a rule is found), the families of rules (`arithmetic`, `bias`, `layout`,
`index`, `products`, `windows`, `reduce`, `recurrent`, `control`, `packed`), `model` (the whole
model, and its file).

Every operation has a rule, or the ONNX operator that its class names, or is written as what it
decomposes into; what remains is refused by name.
"""
