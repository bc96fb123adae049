"""`tf.test.Benchmark`: classes whose methods measure how long something takes."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ...values import nest
from ..core.bridge import Fetching

Number: TypeAlias = int | float
Extras: TypeAlias = Mapping[str, Number | str]


class Benchmark:
    """A class whose methods measure something; what they find they report."""

    @classmethod
    def is_abstract(cls) -> bool:
        """Say whether there is nothing to run: neither this class nor one of its own has methods.

        These begin with `benchmark`.
        """
        return not any(name.startswith("benchmark") for name in dir(cls))

    def evaluate(self, tensors: object) -> object:
        """Return the values of tensors that have been computed, as arrays of numpy."""
        return nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, tensors)

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: Extras | None = None,
        name: str | None = None,
        metrics: Sequence[Mapping[str, object]] | None = None,
    ) -> None:
        """Print what was found as a line of JSON."""
        said = {
            "name": name or type(self).__name__,
            "iters": iters,
            "cpu_time": cpu_time,
            "wall_time": wall_time,
            "throughput": throughput,
            "extras": dict(extras or {}),
            "metrics": [dict(each) for each in metrics or ()],
        }
        kept = {key: value for key, value in said.items() if value not in (None, {}, [])}
        print(f"entry {json.dumps(kept)}", flush=True)

    def run_op_benchmark(
        self,
        sess: Fetching,
        op_or_tensor: object,
        feed_dict: Mapping[object, object] | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: Extras | None = None,
        mbs: float = 0,
    ) -> dict[str, object]:
        """Run something again and again, report how long that takes, and return it.

        `mbs`: how many megabytes a run moves. Traces and the use of memory are not stored:
        `tf.profiler` writes these.
        """
        if store_trace:
            raise NotImplementedError("run_op_benchmark: store_trace: use tf.profiler")
        del store_memory_usage
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict)
        times = []
        for _ in range(min_iters):
            begun = time.perf_counter()
            sess.run(op_or_tensor, feed_dict)
            times.append(time.perf_counter() - begun)
        median = statistics.median(times)
        said = {
            **(extras or {}),
            "wall_time_mean": statistics.fmean(times),
            "wall_time_stdev": statistics.pstdev(times),
        }
        label = name or type(self).__name__
        throughput = mbs / median if mbs and median else None
        self.report_benchmark(min_iters, None, median, throughput, said, label)
        return {
            "iters": min_iters,
            "wall_time": median,
            "extras": said,
            "name": label,
            "throughput": 0.0 if throughput is None else throughput,
        }
