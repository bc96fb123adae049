"""How programs come in: model files and text.

Imports everything but `tools`. onnx is imported in `frontend/onnx/` alone, lark in
`frontend/text/` alone; both only when a program of that kind is read. Read in this order:

- `compile`: `gravure.compile` and `gravure.load`, the whole way from a file to a model that runs.
- `load`: what a file is, and which reader it goes to.
- `onnx/`: ONNX models. `text/`: graphs as people write them.
- `symbols`: dimensions that the user names, fixes or bounds. `slices`: bounds of slices.
- `files`, `weights`: files that a model names, and only those beside it; mapped, not read.
"""
