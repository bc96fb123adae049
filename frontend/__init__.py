"""How programs come in: model files, text, and Python.

Imports everything but `tools`. onnx is imported in `frontend/onnx/` alone, lark in
`frontend/text/` alone; both only when a program of that kind is read. Read in this order:

Files:
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
- `files`, `weights`: files that a model names, and only those beside it; mapped, not read.

Python:
- `tensor`, `context`: values, and who carries out an operation. `eager`: at once. `planned`:
  functions of eager tensors remember what they do to types that come again.
- `array/`: the array API. `nn`: networks. `tf/`: TensorFlow's names over all of this.
- `graph`, `kinds`: graphs, and what an operation of one is. `session`, `execute`: running any part
  of one. `control_flow`, `recover`: choices and loops, and the raw nodes that they are made of.
- `function`, `bound`, `concrete`, `func_graph`: Python that is traced into graphs, by what, and
  how a trace runs. `staged`, `staged_gradient`: such graphs compiled. `threads`: on how many.
- `tape`, `gradients`, `differentiate`, `custom_gradient`: going backward, at once and in graphs.
- `variable`, `variables`: values that change. `checkpoint_ops`, `queue_ops`: files and queues.
- `ahead`, `state_functions`: functions as libraries.
"""
