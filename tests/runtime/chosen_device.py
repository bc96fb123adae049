"""The device that tests run models on: the emulator, or a GPU that the environment names.

GRAVURE_TEST_DEVICE=gpu:0 pytest tests/codegen/test_gpu_kernels.py
"""

from __future__ import annotations

import os

from gravure.runtime.devices import open_driver
from gravure.runtime.gpu.driver import Driver
from gravure.runtime.gpu.emulated import EmulatedDriver

NAME = os.environ.get("GRAVURE_TEST_DEVICE", "emulated")


def chosen_driver(architecture: str = "sm_90a", *, seed: int | None = None) -> Driver:
    """Return the emulator of an architecture, which looks for races, or a GPU."""
    if NAME == "emulated":
        return EmulatedDriver(architecture, seed=seed, races=True)
    return open_driver(NAME)
