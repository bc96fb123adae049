"""Ctrl-C while LLVM is called leaves it as it is between two calls."""

import subprocess
import sys
import threading

import pytest

from gravure.codegen.llvm.compile import assemble
from gravure.codegen.llvm.listing import read_listing
from gravure.errors import ParseError
from gravure.target import Target

PROGRAM = """
import os, random, signal, threading, time
from gravure.codegen.llvm.compile import assemble
from gravure.codegen.llvm.listing import read_listing
from gravure.target import Target

TEXT = "define void @f() {\\n  ret void\\n}\\n"
PRESSES = 600
native = Target.parse("native")
wanted = assemble(TEXT, native)
armed = False

def handle(*_):
    if armed:
        raise KeyboardInterrupt

def press():
    chance = random.Random(1)
    for _ in range(PRESSES):
        time.sleep(chance.uniform(0.0, 0.002))
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, handle)
presses = threading.Thread(target=press)
presses.start()
interrupted = 0
while presses.is_alive():
    try:
        try:
            armed = True
            for _ in range(50):
                assemble(TEXT, native), read_listing(TEXT, "here")
        finally:
            armed = False
    except KeyboardInterrupt:
        interrupted += 1
presses.join()
made = []
other = threading.Thread(target=lambda: made.append(assemble(TEXT, native)), daemon=True)
other.start()
other.join(30)
print(made == [wanted], interrupted)
"""


def test_interrupted_calls_of_llvm_free_its_lock_and_each_text_once() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert not done.returncode, done.stderr
    good, interrupted = done.stdout.split()
    assert good == "True"
    assert int(interrupted) > 0


def test_llvm_is_called_where_no_thread_can_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of a process of Python 3.12.1."""
    text, native = "define void @f() {\n  ret void\n}\n", Target.parse("native")
    wanted = assemble(text, native)

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert assemble(text, native) == wanted
    with pytest.raises(ParseError, match="LLVM refuses the text"):
        read_listing("define", "here")
