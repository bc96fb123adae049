"""Libraries whose kernels run on a GPU: their workspaces hold what a run needs of the device."""

from __future__ import annotations

import weakref

from ..buffer import Array, address
from ..library import Library
from .driver import GpuError


def is_for_gpu(library: Library) -> bool:
    """Say whether a library's kernels run on a GPU."""
    return library.address("create") is not None


def create_on_gpu(library: Library, workspace: Array, context: int, device: int) -> None:
    """Make a workspace ready for runs on a device; what it took goes back when the array goes."""
    status = library.function("create", "ippi")(address(workspace), context, device)
    if status:
        raise GpuError(f"gpu:{device}: {library.status(status)}", location=library.location)
    destroy = library.function("destroy", "vp")
    weakref.finalize(workspace, destroy, address(workspace))
