"""What `gravure bench` does beyond timing one model.

- `statistics`: medians and their intervals, ratios of interleaved measurements.
- `layers`: what each launch takes, how near it comes to what the machine could do at most, and
  launches as a file that trace viewers show.
- `peers` and `peer_process`: other runtimes side by side, each in its own process.
- `tuning`: decisions that are measured, for `--tune`.
- `beside_tensorflow`, `eager_operations`, `session_steps`, `whole_programs`: programs of their own,
  which run beside TensorFlow.
"""
