"""What `gravure bench` does beyond timing one model.

- `statistics`: medians and their intervals, ratios of interleaved measurements.
- `limits`: what the machine could do at most, and how near a launch comes to it.
- `trace`: launches as a file that trace viewers show.
- `peers` and `peer_process`: other runtimes side by side, each in its own process.
- `tuning`: decisions that are measured, for `--tune`.
"""
