"""Keras 3 on gravure: the functions that Keras asks of a backend, and how Keras finds them.

`hook.load()` imports the installed Keras so that its backend is the package `backend` here: Keras
has no registry of backends, it chooses by name in a few of its modules, and in these `numpy`
becomes `gravure` while they are read. All else is Keras's own code: layers, models, losses,
metrics, optimisers, callbacks and saving.

- `backend`: the tensors, variables and functions; `trainer` has `fit`, `evaluate`, `predict`.
- `replicated`: steps on several replicas, each with its rows of every batch.
- `shuffled`: in which order `fit` takes the rows of arrays.
- A step of training is one function: forward, backward and update are compiled together.
"""
