"""Python's choices and loops that depend on tensors, in graphs: functions are converted.

    @function                                   @function
    def f(x):                                   def f(x):
        while x > 1:                =>              x = while_loop(lambda x: x > 1,
            x = x / 2                                              lambda x: x / 2, x)
        return x                                    return x

A function's source is read as Python's own tree; choices, loops, conditions and calls are handed
to `runtime`, which goes on as Python does wherever nothing is a tensor. Read in this order:

- `syntax/`: the tree of a function, and the function that is made of it.
- `calls`: which functions are converted. `settings`: what is said and asked for.
- `runtime`: what converted code calls. `state`: variables as tensors. `conditional`, `loops`,
  `iteration`, `rollback`: choices and loops of graphs. `lists`: lists that loops append to.
  `builtins`, `surface`: Python's functions.

The door: `to_trace`, `called`, `do_not_convert`, `Loopable`, `Staged`, `Surface`, `SURFACES`.
"""

from . import runtime as runtime
from .calls import called, code_of, do_not_convert, strictly_converted, to_trace
from .iteration import Loopable
from .settings import SETTINGS, AutographWarning
from .state import MadeOfTensors
from .surface import SURFACES, Surface

__all__ = [
    "SETTINGS",
    "SURFACES",
    "AutographWarning",
    "Loopable",
    "MadeOfTensors",
    "Surface",
    "called",
    "code_of",
    "do_not_convert",
    "runtime",
    "strictly_converted",
    "to_trace",
]
