"""Recurrent networks of TensorFlow's first version: `nn.rnn_cell`, `dynamic_rnn`, `static_rnn`.

`cells` says what one step does, `wrappers` changes cells, `unrolled` carries steps out.
"""
