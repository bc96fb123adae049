"""Measure what tracing costs: ResNet-50 forwards and in training, with traces and without.

    python -m gravure.tools.measuring.measure_tracing
    python -m gravure.tools.measuring.measure_tracing --pixels 64 --rounds 20

Steps with and without a trace take turns in one run. The times are the least and the median of
the processor's, so that other work on the machine disturbs them little: `off` is behind a trace,
`never` was measured before there was one. Steps that follow one another are compared in pairs.
"""

from __future__ import annotations

import argparse
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ...runtime.tracing import Trace, listening

EXAMPLE = Path(__file__).resolve().parents[2] / "tests" / "examples" / "resnet50_staged.py"
Step = Callable[[], object]


def seconds(step: Step) -> float:
    """Return the processor's time of a step."""
    start = time.process_time()
    step()
    return time.process_time() - start


def traced(step: Step) -> tuple[float, int]:
    """Return the same with a trace, and how many spans and launches it has."""
    trace = Trace()
    start = time.process_time()
    with listening(trace):
        step()
    return time.process_time() - start, len(trace.spans)


def measured(step: Step, rounds: int) -> dict[str, list[float]]:
    """Return the times of steps: before any trace, and with and without one by turns."""
    for _ in range(3):
        step()
    never = [seconds(step) for _ in range(rounds)]
    off, on = [], []
    for _ in range(rounds):
        off.append(seconds(step))
        taken, spans = traced(step)
        on.append(taken)
        assert spans, "the trace heard of the step"
    return {"never": never, "off": off, "on": on}


def shown(name: str, times: dict[str, list[float]]) -> str:
    """Return a line: the least times, and by how much more the medians and the least are."""
    least = {key: min(values) for key, values in times.items()}
    middle = {key: sorted(values)[len(values) // 2] for key, values in times.items()}
    more = [
        f"{key} {least[key] * 1e3:.1f} ms ({least[key] / least['never'] - 1:+.2%} least, "
        f"{middle[key] / middle['never'] - 1:+.2%} median)"
        for key in ("off", "on")
    ]
    pairs = sorted(on / off for on, off in zip(times["on"], times["off"], strict=True))
    paired = f"a trace costs {pairs[len(pairs) // 2] - 1:+.2%} in the median of pairs"
    return f"{name}: never {least['never'] * 1e3:.1f} ms, {', '.join(more)}; {paired}"


def main() -> None:
    """Measure and write a line for each kind of step."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--pixels", type=int, default=224)
    parser.add_argument("--batch", type=int, default=1)
    args = parser.parse_args()
    example = runpy.run_path(str(EXAMPLE))
    model = example["ResNet"]()
    images, labels = example["batch"](args.batch, args.pixels)
    forwards, training = example["tf"].function(model), example["training"](model)
    steps: dict[str, Step] = {
        "forwards": lambda: forwards(images),
        "training": lambda: training(images, labels),
    }
    for name, step in steps.items():
        sys.stdout.write(f"{shown(name, measured(step, args.rounds))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
