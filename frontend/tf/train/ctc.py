"""Connectionist temporal classification (Graves et al., 2006): labels without their places."""

from __future__ import annotations

from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.values import InGraph, convert, graph_of, static
from ..graph.loops import scan
from ..ops.array_ops import concat, expand_dims, pad, reshape, shape, stack, transpose, where
from ..ops.creation import constant, fill, range_, zeros_like
from ..ops.gathering import gather
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast
from ..ops.nn_ops import log_softmax

NEVER = -1e9
"""The logarithm of what does not happen: finite, so that slopes are."""


def _moved(alpha: TfTensor, steps: int, first: object = NEVER) -> TfTensor:
    """Return states that are so many places further, of which there may be fewer than these."""
    return pad(alpha, [[0, 0], [steps, 0]], constant_values=first)[:, : shape(alpha)[1]]


def _added(*logs: TfTensor) -> TfTensor:
    return REDUCTIONS["reduce_logsumexp"](stack(list(logs), 0), axis=0)


def _between(labels: TfTensor, blank: object) -> TfTensor:
    """Return labels with a blank before and behind each: [batch, 2 n + 1]."""
    blanks = zeros_like(labels) + blank
    pairs = reshape(stack([blanks, labels], 2), [shape(labels)[0], shape(labels)[1] * 2])
    return concat([pairs, blanks[:, :1]], 1)


def _blank(index: int | None, labels: TfTensor, scores: TfTensor) -> object:
    """Return the number of the blank, which is counted from behind if it is below zero."""
    number = 0 if index is None else int(static(index))
    if number >= 0:
        return number
    classes = scores.shape.as_list()[2] if scores.shape.rank else None
    if classes is not None:
        return number % classes
    return cast(shape(scores)[2], labels.dtype) + number


def ctc_loss(
    labels: object,
    logits: object,
    label_length: object,
    logit_length: object,
    logits_time_major: bool = True,
    unique: object = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> TfTensor:
    """Return minus the logarithm of how likely logits [time, batch, classes] say the labels.

    `labels` are [batch, most labels], of which `label_length` count.
    """
    with InGraph(graph_of([labels, logits, label_length, logit_length])):
        words, scores = (
            convert(labels, "int32" if not hasattr(labels, "spec") else None),
            convert(logits),
        )
        scores = scores if logits_time_major else transpose(scores, [1, 0, 2])
        if scores.shape.rank is not None and scores.shape.as_list()[1] == 0:
            raise InvalidArgumentError("batch_size must not be 0")
        blank = _blank(blank_index, words, scores)
        lengths, times = cast(convert(label_length), "int32"), cast(convert(logit_length), "int32")
        inside = range_(shape(scores)[0])[:, None] < times[None, :]
        scores = where(
            inside[:, :, None], scores, zeros_like(scores)
        )  # (what is behind may be NaN)
        states = _between(words, blank)
        chances = gather(log_softmax(scores), _every_time(states, scores), batch_dims=2)
        found = _last(_forward(chances, states, blank, times), lengths)
        return FUNCTIONS["negative"](found, name=name)


def _every_time(states: TfTensor, scores: TfTensor) -> TfTensor:
    """Return the states once for each time: [time, batch, states]."""
    return expand_dims(states, 0) + cast(zeros_like(scores[:, :, :1]), "int32")


def _forward(chances: TfTensor, states: TfTensor, blank: object, times: TfTensor) -> TfTensor:
    """Return the logarithms of all ways to each state at the end of each sequence."""
    none = zeros_like(chances[0]) + NEVER
    first = where((range_(shape(states)[1]) < 2)[None], chances[0], none)
    differs = FUNCTIONS["not_equal"]
    label, other = differs(states, blank), differs(states, _moved(states, 2, blank))
    may = FUNCTIONS["logical_and"](label, other)  # (what lies before the first state is no way)

    def step(alpha: TfTensor, at: tuple[TfTensor, TfTensor]) -> TfTensor:
        time, chance = at
        ways = [alpha, _moved(alpha, 1), where(may, _moved(alpha, 2), none)]
        return where((time < times)[:, None], _added(*ways) + chance, alpha)

    places = range_(1, shape(chances)[0])
    every: TfTensor = scan(step, (places, chances[1:]), initializer=first)
    return concat([first[None], every], 0)[-1]


def _last(alpha: TfTensor, lengths: TfTensor) -> TfTensor:
    """Return the ways that end in the last label or in the blank behind it."""
    end = gather(alpha, 2 * lengths[:, None], batch_dims=1)[:, 0]
    before = gather(alpha, FUNCTIONS["maximum"](2 * lengths - 1, 0)[:, None], batch_dims=1)[:, 0]
    none = fill(shape(end), constant(NEVER, end.dtype))
    return _added(end, where(lengths > 0, before, none))
