"""Graphs, variables, control flow and queues by TensorFlow's names.

`state` (graphs, variables, functions) is what the others stand on; `flow`, `loops` and
`tensor_array` are control flow, `graph_def` and `importing` graphs as data.
"""
