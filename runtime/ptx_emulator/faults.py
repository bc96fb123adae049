"""What the emulator finds wrong with a kernel."""

from __future__ import annotations

from ...errors import GravureError


class KernelFault(GravureError):  # noqa: N818
    """A GPU kernel did what it must not, found by running it on the emulator.

    It read or wrote outside of its memory, at an address that is not aligned, raced with itself
    for shared memory, waited for what never comes, or left threads behind at a barrier. The
    location is the line of the PTX text. On a GPU the same would be a crash or, worse, a wrong
    number now and then: it is a mistake of whoever made the kernel.
    """

    code = "GV5800"
    exit_status = 70


class UnsupportedPtx(GravureError):  # noqa: N818
    """PTX text that the emulator does not know how to execute.

    The location is the line. The text may be right: the emulator knows what gravure's own
    kernels are made of, and refuses the rest by name.
    """

    code = "GV5810"
    exit_status = 69
