"""`tf.logging`: messages by their weight, through Python's logger "tensorflow"."""

from __future__ import annotations

import logging as _python
import sys
from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50
LOGGER = _python.getLogger("tensorflow")
_COUNTS: dict[object, count[int]] = {}


def logger() -> _python.Logger:
    """Return the logger; the first time, with a place where messages go to."""
    if not LOGGER.handlers and not _python.getLogger().handlers:
        handler = _python.StreamHandler(sys.stderr)
        handler.setFormatter(_python.Formatter(_python.BASIC_FORMAT))
        LOGGER.addHandler(handler)
    if LOGGER.level == _python.NOTSET:
        LOGGER.setLevel(WARN)
    return LOGGER


def _at(level: int) -> Callable[..., None]:
    """Return the function that writes messages of a weight."""

    def write(msg: str | None, *args: object, **options: Any) -> None:
        """Write a message."""
        logger().log(level, msg, *args, **options)

    return write


def log(level: int, msg: object, *args: object, **options: Any) -> None:
    """Write a message of a weight."""
    logger().log(level, msg, *args, **options)


def log_if(level: int, msg: object, condition: bool, *args: object) -> None:
    """Write a message if a condition holds."""
    if condition:
        log(level, msg, *args)


def _passed(msg: object) -> int:
    """Return how often the line of the caller has written this before."""
    frame = sys._getframe(2)
    where = frame.f_code.co_filename, frame.f_lineno, msg
    return next(_COUNTS.setdefault(where, count()))


def log_first_n(level: int, msg: object, n: int, *args: object) -> None:
    """Write a message the first n times."""
    log_if(level, msg, _passed(msg) < n, *args)


def log_every_n(level: int, msg: object, n: int, *args: object) -> None:
    """Write a message every n times."""
    log_if(level, msg, not _passed(msg) % n, *args)


def vlog(level: int, msg: object, *args: object) -> None:
    """Write a message of a detail: the higher the level, the less it weighs."""
    log(max(1, DEBUG - level), msg, *args)


def set_verbosity(v: int | str) -> None:
    """Write messages of this weight and more."""
    logger().setLevel(v)


def get_verbosity() -> int:
    """Return the weight from which on messages are written."""
    return logger().getEffectiveLevel()


def flush() -> None:
    """Write what was kept back."""
    for handler in LOGGER.handlers:
        handler.flush()


logging = SimpleNamespace(
    DEBUG=DEBUG,
    INFO=INFO,
    WARN=WARN,
    ERROR=ERROR,
    FATAL=FATAL,
    debug=_at(DEBUG),
    info=_at(INFO),
    warn=_at(WARN),
    warning=_at(WARN),
    error=_at(ERROR),
    fatal=_at(FATAL),
    log=log,
    log_if=log_if,
    log_first_n=log_first_n,
    log_every_n=log_every_n,
    vlog=vlog,
    set_verbosity=set_verbosity,
    get_verbosity=get_verbosity,
    flush=flush,
    TaskLevelStatusMessage=_at(ERROR),
)
