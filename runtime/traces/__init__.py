"""Traces: what happened when, as it is noted (`../tracing.py`), looked at, and written.

- `recorder`: launches inside of compiled code, by the code's own notes, on the trace's clock.
- `timeline`: all that a trace knows as slices in lanes, launches and their limits included.
- `chain`: the chain of slices whose lengths sum to the whole time.
- `chrome`: the file that Perfetto and chrome://tracing open.
"""
