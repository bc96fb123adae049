"""Rules of `com.microsoft` operators that choose the next word."""

from __future__ import annotations

from ....ir.compose import functions as c
from ....ir.types import dims as dim_rules
from ..node import Node, Value
from ..registry import rule
from ..within import require_within
from .microsoft import MICROSOFT


@rule("NGramRepeatBlock", domain=MICROSOFT)
def ban_repeats(node: Node, words: Value, scores: Value) -> Value:
    """Let no word have a chance that would end a run of words which is there already."""
    make, size = node.make, node.integer("ngram_size")
    if size < 1:
        node.fail(f"ngram_size is {size}, expected 1 or more")
    length, dtype = node.shape(words)[1], node.dtype(scores)
    count = dim_rules.maximum(length - size + 1, 0)
    if count == 0:
        return scores

    def seen(first: int) -> Value:
        return c.cut(node.emit, words, 1, first, first + count)

    last = length - size + 1
    banned = make.filled(-float("inf"), dtype, (*node.shape(words)[:1], count))
    for place in range(size - 1):
        end = c.cut(node.emit, words, 1, last + place, last + place + 1)
        allowed = make.number(float("inf"), dtype)
        banned = make.select(make.equal(seen(place), end), banned, allowed)
    require_within(node, words, 0, node.shape(scores)[1], "word")
    made: Value = make.scatter_elements(scores, seen(size - 1), banned, axis=1, reduction="min")
    return made
