"""A process whose changes of a folder fail or end it, one after the other: see test_faults.py.

    python fault_session.py SCENARIO FOLDER

Each turn is a child that saves several times while the n-th change fails or kills it; then what is
there must be the newest state that was saved whole. Prints how many turns there were.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import gravure as gv
from gravure import tf
from gravure.codegen.cache import Cache
from gravure.frontend.files.ir_text import save_ir
from gravure.frontend.programs.load import load_program
from gravure.runtime.files import ASIDE

STEPS = 3
LIBRARY = ctypes.CDLL(None)
WIDTH = 3


class Scenario(Protocol):
    """Something that is saved, and read again by who knows nothing of it."""

    def save(self, step: int) -> None:
        """Save the state of a step."""

    def read(self) -> int | None:
        """Return the step of the state that is there."""


class Saved:
    """Variables of a session, by a `Saver` that keeps two."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.step = tf.Variable(0, name="step")
            self.rows = tf.Variable(np.zeros(WIDTH), name="rows")
            self.saver = tf.compat.v1.train.Saver(max_to_keep=2)
            self.session = tf.compat.v1.Session()
            self.session.run(tf.compat.v1.global_variables_initializer())

    def save(self, step: int) -> None:
        self.step.load(step, self.session)
        self.rows.load(np.full(WIDTH, float(step)), self.session)
        self.saver.save(self.session, str(self.folder / "model"), global_step=step)

    def read(self) -> int | None:
        path = tf.train.latest_checkpoint(str(self.folder))
        if path is None:
            return None
        self.saver.restore(self.session, path)
        step, rows = self.session.run([self.step, self.rows])
        assert rows.tolist() == [float(step)] * WIDTH
        return int(step)


class Managed:
    """Objects, by a `CheckpointManager` that keeps two."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.step, self.rows = tf.Variable(0), tf.Variable(np.zeros(WIDTH))
        saved = tf.train.Checkpoint(step=self.step, rows=self.rows)
        self.manager = tf.train.CheckpointManager(saved, str(folder), max_to_keep=2)

    def save(self, step: int) -> None:
        self.step.assign(step)
        self.rows.assign(np.full(WIDTH, float(step)))
        self.manager.save(checkpoint_number=step)

    def read(self) -> int | None:
        other = Managed(self.folder)
        if other.manager.restore_or_initialize() is None:
            return None
        assert other.rows.numpy().tolist() == [float(other.step.numpy())] * WIDTH
        return int(other.step.numpy())


class Module:
    """A module with a function, as a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.module = tf.Module()
        self.module.step = tf.Variable(0)
        self.module.rows = tf.Variable(np.zeros(WIDTH))

    def save(self, step: int) -> None:
        self.module.step.assign(step)
        self.module.rows.assign(np.full(WIDTH, float(step)))
        tf.saved_model.save(self.module, str(self.folder))

    def read(self) -> int | None:
        made = tf.saved_model.load(str(self.folder))
        assert made.rows.numpy().tolist() == [float(made.step.numpy())] * WIDTH
        return int(made.step.numpy())


TEXT = "model m(x: f32[40]) -> (y) {{\n  weight w: f32[40] = {}\n  y = x + w\n}}\n"


@cache
def models() -> list[Any]:
    """Return a compiled model for each step."""
    return [gv.compile(TEXT.format(float(step)).encode()) for step in range(STEPS + 1)]


class Artefact:
    """A compiled model, in one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.models = models()

    def save(self, step: int) -> None:
        self.models[step].save(self.folder / "m.so")

    def read(self) -> int | None:
        return int(gv.load(self.folder / "m.so")(np.zeros(40, np.float32))[7])


class Listing:
    """IR text and its weights, in two files: a pair of two times is refused."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        texts = [TEXT.format(float(step)).encode() for step in range(STEPS + 1)]
        self.programs = [load_program(text) for text in texts]

    def save(self, step: int) -> None:
        save_ir(self.programs[step], self.folder / "m.mlir")

    def read(self) -> int | None:
        try:
            program = load_program(self.folder / "m.mlir")
        except gv.GravureError as error:
            if "was written with another text" not in str(error):
                raise
            return None
        return int(program.weights["w"].reshape(-1)[-1])


class Cached:
    """An entry of the cache: what was kept, or nothing, and never half of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = Cache(folder / "cache", limit=100_000)

    def save(self, step: int) -> None:
        self.cache.folder = self.folder / "cache"  # it is off after the first fault
        self.cache.put("key", bytes([step]) * 5000)
        if self.cache.folder is None:
            raise OSError("it was turned off")

    def read(self) -> int | None:
        found = Cache(self.folder / "cache").get("key")
        assert found is None or (len(set(found)) == 1 and len(found) == 5000)
        return found[0] if found else None


SCENARIOS: dict[str, Callable[[Path], Scenario]] = {
    "saver": Saved, "manager": Managed, "module": Module, "artefact": Artefact,
    "listing": Listing, "cache": Cached,
}  # fmt: skip
MAY_BE_NONE = ("cache", "listing")
"""Where losing a state is right, as long as it is said or made again."""


def child(scenario: Scenario, folder: Path, number: int, kills: bool, told: int) -> None:
    """Save several times, and tell which steps were saved; never return."""
    warnings.simplefilter("ignore")
    LIBRARY.faults_arm(str(folder).encode(), number, int(kills))
    for step in range(1, STEPS + 1):
        try:
            scenario.save(step)
            os.write(told, bytes([step]))
        except OSError:  # which is what the fault is; anything else ends the child
            continue
    os.write(told, bytes([255 if LIBRARY.faults_count() < number else 254]))
    os._exit(0)


def turn(scenario: Any, name: str, folder: Path, number: int, kills: bool) -> bool:
    """Do one turn; return whether there was a change of that number."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    made: Scenario = scenario(folder)
    made.save(0)
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        child(made, folder, number, kills, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(process, 0)
    assert kills or status == 0, status
    done = max([0, *(step for step in told if step <= STEPS)])
    found = made.read()
    if found is None:
        assert name in MAY_BE_NONE, f"change {number}: nothing is there"
    else:
        assert done <= found <= min(done + 1, STEPS), f"change {number}: {found}, saved {done}"
    again: Scenario = scenario(folder)  # the next start
    again.save(STEPS)
    assert again.read() == STEPS
    left = [path for path in folder.rglob("*") if path.name.endswith(ASIDE)]
    assert not left, f"change {number}: {left} is left"
    kept = list(folder.glob("*.safetensors"))
    # what fails between the values and the note leaves values that nobody knows of
    assert len(kept) <= 3 or name == "saver", f"change {number}: {kept} are kept"
    return told[-1:] != b"\xff"


def main(name: str, folder: Path) -> None:
    """Do all turns."""
    turns = 0
    for kills in (False, True):
        number = 1
        while turn(SCENARIOS[name], name, folder, number, kills):
            number += 1
        turns += number
    print(turns)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
