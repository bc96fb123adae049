"""Interrupts of a command: it ends with 130 and one word, whatever Python is doing.

Where nothing was begun, while the command is being imported, and where all is done, it ends at
once. In between a `KeyboardInterrupt` is raised, as always, so that what was begun is cleared away.
Python may say that by another exception (one of `__set_name__` is a `RuntimeError`), or only print
it (one in `__del__`, or in a callback): so it is noted, and what was only printed is raised again.
"""

import os
import signal
import sys

STATUS = 130
SOON = 0.01
"""Seconds after which an interrupt that was lost is raised again."""
_NOTED: list[int] = []


def end_at_once() -> None:
    """Have an interrupt end the process from now on; one that is deaf to them stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def clear_away() -> None:
    """Have an interrupt raise a `KeyboardInterrupt` from now on, where it would end the process."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, _note)
        sys.unraisablehook = _raise_again


def end_at_once_again() -> None:
    """Have an interrupt end the process where it did before `clear_away`."""
    if signal.getsignal(signal.SIGINT) is _note:
        signal.signal(signal.SIGINT, _end)


def came() -> bool:
    """Say whether there was an interrupt since `clear_away`."""
    return bool(_NOTED)


def _end(number: int, frame: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(STATUS)


def _note(number: int, frame: object) -> None:
    _NOTED.append(number)
    signal.default_int_handler(number, None)


def _raise_again(unraisable: "sys.UnraisableHookArgs") -> None:
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        from threading import Timer, main_thread  # noqa: PLC0415  (not while it is imported)

        # Here it would be lost, too; one that is only noted would wait for a call that waits.
        again = Timer(SOON, signal.pthread_kill, [main_thread().ident, signal.SIGINT])
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)
