"""Runs one model in one runtime, in a process of its own; `peers.py` talks to it.

    PYTHON peer_process.py RUNTIME MODEL INPUTS.npz OUTPUTS.npz THREADS

It needs numpy and the runtime only, not gravure. When the model is ready it writes the results
of a first call and one line of JSON. Then it reads numbers of calls from its input, line by line,
and answers each with a line of nanoseconds, one for each call, and the processor's time for all.
A file RUNTIME that ends in `.py` defines `prepare(model, inputs, threads)`, which returns a call
without arguments that gives a list of arrays, and the runtime's version.
"""

import json
import os
import runpy
import sys
import time
from collections.abc import Collection, Iterable
from importlib import import_module
from typing import Any

import numpy as np


def onnxruntime(model: str, inputs: Any, threads: int) -> Any:
    """Return a call of onnxruntime on the CPU, and its version."""
    runtime = import_module("onnxruntime")

    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs), runtime.__version__


def openvino(model: str, inputs: Any, threads: int) -> Any:
    """Return a call of OpenVINO in f32 on the CPU, and its version."""
    runtime = import_module("openvino")

    hints = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = runtime.Core().compile_model(model, "CPU", hints)
    request = compiled.create_infer_request()
    names = [input_of(port.get_names(), inputs) for port in compiled.inputs]
    named = {name: inputs[name] for name in names}

    def call() -> Any:
        request.infer(named, share_inputs=True, share_outputs=True)
        return [request.get_output_tensor(i).data for i in range(len(compiled.outputs))]

    return call, runtime.__version__


def input_of(aliases: Iterable[str], inputs: Collection[str]) -> str:
    """Return the input among the names of a port: its first may be that of a tensor behind it."""
    found = sorted(name for name in aliases if name in inputs)
    if not found:
        raise KeyError(f"a port has the names {sorted(aliases)}, the inputs are {sorted(inputs)}")
    return found[0]


def gravure(model: str, inputs: Any, threads: int) -> Any:
    """Return a call of a library that gravure compiled."""
    runtime = import_module("gravure")

    loaded = runtime.load(model, threads=threads)
    return loaded.bind(inputs), runtime.__version__


KNOWN = {"gravure": gravure, "onnxruntime": onnxruntime, "openvino": openvino}


def prepare(name: str, model: str, inputs: Any, threads: int) -> Any:
    """Return the call of a runtime by its name, or by the file that says how."""
    if not name.endswith(".py"):
        return KNOWN[name](model, inputs, threads)
    found = runpy.run_path(name)
    return found["prepare"](model, inputs, threads)


def peak_bytes() -> int:
    """Return the most memory that this process held so far."""
    with open("/proc/self/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["VmHWM"].split()[0]) * 1024


def say(out: Any, data: Any) -> None:
    """Write one line to who started this."""
    out.write(json.dumps(data) + "\n")
    out.flush()


def main(out: Any) -> None:
    """Prepare, say so, and answer until the input ends."""
    name, model, given, results, threads = sys.argv[1:]
    with np.load(given) as file:
        inputs = {key: file[key] for key in file.files}
    start = time.perf_counter()
    try:
        call, version = prepare(name, model, inputs, int(threads))
        ready = time.perf_counter() - start
        first = call()
        arrays = [np.array(each) for each in first]
        named: dict[str, Any] = {f"o{i}": each for i, each in enumerate(arrays)}
        np.savez(results, **named)
    except ImportError as error:
        say(out, {"missing": str(error)})
        return
    except Exception as error:  # whatever a runtime raises is the answer
        say(out, {"failed": f"{type(error).__name__}: {error}"[:400]})
        return
    python = sys.version.split()[0]
    say(out, {"version": version, "seconds": ready, "python": python, "peak": peak_bytes()})
    clock = time.perf_counter_ns
    for line in sys.stdin:
        times = []
        processor = time.process_time_ns()
        for _ in range(int(line)):
            begin = clock()
            call()
            times.append(clock() - begin)
        say(out, {"times": times, "processor": time.process_time_ns() - processor})


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a runtime prints is no answer
    main(answers)
