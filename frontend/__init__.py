"""How programs come in: model files and text.

Imports everything but `tools`. onnx is imported in `frontend/onnx/` alone, lark in
`frontend/text/` alone; both only when a program of that kind is read. Read in this order:

- `compile`: `gravure.compile` and `gravure.load`, the whole way from a file to a model that runs.
- `records`: decisions that were measured, in a file.
- `load`: what a file is, and which reader it goes to.
- `onnx/`: ONNX models. `text/`: graphs as people write them.
- `symbols`: dimensions that the user names, fixes or bounds. `slices`: bounds of slices.
- `stepped`: models with host steps, or on several devices. `constraints`: what a program demands
  of its dimensions.
- `device`, `placement`: names of devices, and which of them an operation runs on. `on_device`:
  tensors on GPUs. `gpu`: models that run there.
- `emit`: a model into files of any kind. `ir_files`: IR text with its weights beside it.
- `inspection`, `difference`, `reduce`: what is in a model, what differs, what makes it fail.
- `planned`: functions of eager tensors remember what they do to types that come again.
- `files`, `weights`: files that a model names, and only those beside it; mapped, not read.
"""
