"""A compiled program whose runs say how long each launch takes, or when it began and ended.

    model = load_compiled(profiled(compiled), threads=1)
    profile(model, inputs).launches          # see runtime/profile.py; runtime/traces for `recorded`

Code and order are those of the program itself; only the entry is another, and the workspace has
room for the times at its end.
"""

from __future__ import annotations

from dataclasses import replace

from ..runtime.artifact import launches, round_up
from ..runtime.profile import KEY
from ..runtime.traces.recorder import CAPACITY, EVENT, EVENTS, RECORD
from .compiled import Compiled
from .llvm.entry.profile import HEAD


def profiled(compiled: Compiled) -> Compiled:
    """Return the program with an entry that measures."""
    model = compiled.description
    offset = max(model.workspace_bytes, model.prepare_bytes)
    count, others = (sum(1 for _ in launches(steps)) for steps in (model.steps, model.prepare))
    size = round_up(HEAD + 8 * (count + others), 64)
    extras = {**model.extras, KEY: {"offset": offset, "launches": count}}
    end = offset + size
    made = replace(model, workspace=end, prepare_workspace=end, extras=extras)
    return replace(compiled, description=made)


def recorded(compiled: Compiled) -> Compiled:
    """Return the program with an entry that notes when each launch began and ended, and where."""
    model = compiled.description
    offset = max(model.workspace_bytes, model.prepare_bytes)
    extras = {**model.extras, RECORD: {"offset": offset, "capacity": CAPACITY}}
    made = replace(model, workspace=offset + EVENTS + EVENT * CAPACITY, extras=extras)
    return replace(compiled, description=made)
