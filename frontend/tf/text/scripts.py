"""The scripts of characters: Latin, Greek, Han and so on, by the numbers that ICU gives them.

`scripts.txt` goes over all characters in order: how many follow that are of one script, and which
(a number alone is one character).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ...values.run_errors import InvalidArgumentError
from ..core.host_ops import host, like_input
from ..ragged.tensor import Ragged, RaggedTensor, ragged_or_tensor, same_graph


@cache
def _starts() -> tuple[Array, Array]:
    """Return where scripts begin, and which; no script (-1) is before and behind all."""
    words = Path(__file__).with_name("scripts.txt").read_text().split()
    pairs = [word.split(":") if ":" in word else ("1", word) for word in words]
    counts, numbers = np.array(pairs, np.int64).T
    starts = np.concatenate([[0], np.cumsum(counts)])
    return starts, np.concatenate([[-1], numbers, [-1]]).astype(np.int32)


def _scripts(characters: Array) -> Sequence[Array]:
    """Return the script of each character."""
    starts, numbers = _starts()
    return (numbers[np.searchsorted(starts, characters, "right")],)


def unicode_script(input: object, name: str | None = None) -> Ragged:
    """Return the number of each character's script, -1 of what is no character."""
    with same_graph(input):
        x = ragged_or_tensor(input)
        if x.dtype.name != "int32":
            raise InvalidArgumentError(
                f"cannot compute UnicodeScript as input #0(zero-based) was expected to be a int32 "
                f"tensor but is a {x.dtype.name} tensor [Op:UnicodeScript]"
            )
        flat = x.flat_values if isinstance(x, RaggedTensor) else x
        [made] = host("UnicodeScript", _scripts, [flat], like_input(kinds.i32), name=name)
        return x.with_flat_values(made) if isinstance(x, RaggedTensor) else made
