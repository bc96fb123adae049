"""Run a model through pycuda on the fake library: `python cuda_session.py LIBRARY`.

Prints what the calls were and what came out, as JSON. Its folder and the checkout must be on
Python's path.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from fake_cuda import FakeCuda
from test_gpu_model import BODIES, CHAIN, plan_of

from gravure.errors import GravureError
from gravure.runtime.gpu.cuda import CHUNK, CudaDriver, device_count
from gravure.runtime.gpu.device_array import DeviceArray
from gravure.runtime.gpu.driver import Tiles
from gravure.runtime.gpu.model import GpuModel
from gravure.runtime.gpu.plan import GpuModule


def message(function: Any) -> str:
    try:
        function()
    except GravureError as error:
        return str(error)
    return "nothing was wrong"


def failing(model: GpuModel) -> None:
    with model:
        model.run([np.zeros(4, np.float32)])


def main(library: str) -> dict[str, Any]:
    fake = FakeCuda(Path(library))
    found: dict[str, Any] = {"devices": device_count()}
    driver = CudaDriver()
    found |= {"name": driver.name, "sm": driver.architecture, "version": driver.version}
    plan = plan_of(BODIES, CHAIN)
    with GpuModel(plan, None, driver) as model:
        found["results"] = [
            bool((model.run([np.arange(n, dtype=np.float32)])[0] == 2 * np.arange(n) + 1).all())
            for n in (3, 200, 3)
        ]
        found["edges"] = fake.edges[:2]
        found["graphs"] = fake.calls.count("cuGraphInstantiateWithFlags")
        found["launches"] = fake.calls.count("cuGraphLaunch")
        x = DeviceArray.of(driver, np.ones(5, np.float32))
        again = model.bind([x])
        fake.calls.clear()
        [y] = again()
        found["calls of a bound run"] = [*fake.calls]
        assert isinstance(y, DeviceArray)
        found["bound"] = y.numpy().tolist()
        fake.calls.clear()
        next_batch = DeviceArray.of(driver, np.ones(5, np.float32))
        found["calls of a copy to new memory"] = [*fake.calls]
        fake.calls.clear()
        again()
        next_batch.write(np.zeros(5, np.float32))
        found["calls of a copy to old memory"] = [*fake.calls]
        next_batch.close()
    with GpuModel(plan, None, CudaDriver(1)) as second:
        found["second"] = second.run([np.ones(2, np.float32)])[0].tolist()
        found["second context"] = fake.current
    large = np.random.default_rng(0).integers(0, 255, 2 * CHUNK + 5, np.uint8)
    copied = DeviceArray.of(driver, large)
    found["large copy"] = bool((copied.numpy() == large).all())
    found["seconds"] = driver.seconds(lambda: None)
    box = Tiles(copied.address, "bf16", (64, 64), (128,), (64, 8), 128)
    found["map"] = len(driver.tensor_map(box))
    found["bad map"] = message(lambda: driver.tensor_map(replace(box, dtype="f64", strides=(0,))))
    found["no memory"] = message(lambda: driver.allocate(1 << 40))
    found["no device"] = message(lambda: CudaDriver(3))
    text = plan.modules[0]
    image = replace(text, architecture="sm_90a", cubin=b"\x7fELF of a newer assembler")
    driver.load([image]).close()
    bad = GpuModule("broken", ".version 8.0\n.target sm_80\n.func f() {}", "sm_80", (8, 0))
    found["bad module"] = message(lambda: driver.load([bad]))
    wrong = plan_of({**BODIES, "twice": "mov.b64 %d2, 64; ld.global.f32 %r1, [%d2];"}, CHAIN)
    for check in (False, True):
        with GpuModel(wrong, None, driver, check=check) as model:
            key = "checked" if check else "plain"
            found[key] = message(lambda: model.run([np.zeros(4, np.float32)]))
            found[f"{key} again"] = message(lambda: model.run([np.zeros(4, np.float32)]))
            found[f"{key} in a block"] = message(lambda: failing(model))
            fake.lost = 0  # as in a new process
    with patch("os.getpid", lambda: -1):
        found["forked"] = message(driver.wait)
        driver.free(x.address)
    copied.close()
    x.close()
    y.close()
    driver.close()
    found["left"] = len(fake.heap.starts)
    found["contexts left"] = len(fake.stack)
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
