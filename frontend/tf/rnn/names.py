"""The names of `tf.nn` for recurrent networks."""

from __future__ import annotations

from types import SimpleNamespace

from . import cells as _c
from . import wrappers as _w
from .unrolled import (
    bidirectional_dynamic_rnn,
    dynamic_rnn,
    raw_rnn,
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
)

rnn_cell = SimpleNamespace(
    RNNCell=_c.RNNCell,
    BasicRNNCell=_c.BasicRNNCell,
    GRUCell=_c.GRUCell,
    BasicLSTMCell=_c.BasicLSTMCell,
    LSTMCell=_c.LSTMCell,
    LSTMStateTuple=_c.LSTMStateTuple,
    MultiRNNCell=_w.MultiRNNCell,
    DropoutWrapper=_w.DropoutWrapper,
    ResidualWrapper=_w.ResidualWrapper,
    DeviceWrapper=_w.DeviceWrapper,
)
NN = {
    "rnn_cell": rnn_cell,
    "dynamic_rnn": dynamic_rnn,
    "raw_rnn": raw_rnn,
    "static_rnn": static_rnn,
    "static_state_saving_rnn": static_state_saving_rnn,
    "bidirectional_dynamic_rnn": bidirectional_dynamic_rnn,
    "static_bidirectional_rnn": static_bidirectional_rnn,
}
