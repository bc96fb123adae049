"""Graphs: what staged code is traced into, and what sessions run parts of.

The floor below functions and sessions. Read in this order: `graph` (operations, tensors, kinds),
`kinds` (what an operation of a graph is), `frame` and `execute` (running parts of one), `inference`
(what results are, as far as sizes are known), `func_graph` (functions and calls), `control_flow`,
`dataflow` (choices and loops out of raw nodes), `gradients`, `variables`, `queue_ops`,
`checkpoint_ops`, `py_function`, `placement`; `tolls` counts what plans cost.
"""

from . import dataflow, kinds

__all__ = ["dataflow", "kinds"]
