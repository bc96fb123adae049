"""Gradients: one walk back for all that has gradients, and what it goes through here.

Read in this order: `walk` (the way back through nodes that are anything), `tape` (what an `emit`
carries out, as such nodes), `program` (operations that stand in a block). Uses that recorders saw
(`frontend/eager/backward.py`) and operations of graphs (`frontend/graph/gradients.py`) are other
nodes of the same walk; choices and loops are rules of their own (`ir/ops/control/backward.py`).
"""
