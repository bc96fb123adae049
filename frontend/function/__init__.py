"""Python functions that become graphs, and graphs that become programs.

`function` finds or makes the trace for arguments (`arguments`), `traces` runs, differentiates and
saves one. `lowering` appends a graph to a program, `regions` its choices and loops, `host_steps`
are what is left to Python; `staged` compiles it, `lowering_gradient` does
both ways, `recorded_rules` where a run is recorded. `session` runs parts of a graph.
`variable` is what users hold of a variable; `custom_gradient`, `names` (graphs by gravure's names)
and `on_device` (tensors on GPUs) stand beside. `libraries` and `state_libraries` write libraries,
`graph_data` and `graph_text` files of graphs.
"""
