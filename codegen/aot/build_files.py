"""What other people's builds read: a file for pkg-config, and one for CMake.

Both stand beside the library and the header, and say where these are by their own place, so that
the folder can be moved.
"""

from __future__ import annotations

from ...runtime.artifact import Description

VERSION = "1"
"""A model has no version of its own; pkg-config asks for one."""


def pkg_config(model: Description, stem: str) -> str:
    """Return the file for pkg-config of the library `stem.so`."""
    return f"""\
Name: {stem}
Description: the compiled model {model.tag}
Version: {VERSION}
Cflags: -I${{pcfiledir}}
Libs: ${{pcfiledir}}/{stem}.so -Wl,-rpath,${{pcfiledir}}
"""


def cmake(model: Description, stem: str) -> str:
    """Return the file for CMake's `include`, which makes the target `gravure::TAG`."""
    target = f"gravure::{model.tag}"
    return f"""\
# include() this file, then: target_link_libraries(PROGRAM PRIVATE {target})
if(NOT TARGET {target})
  add_library({target} SHARED IMPORTED)
  set_target_properties({target} PROPERTIES
    IMPORTED_LOCATION "${{CMAKE_CURRENT_LIST_DIR}}/{stem}.so"
    INTERFACE_INCLUDE_DIRECTORIES "${{CMAKE_CURRENT_LIST_DIR}}")
endif()
"""
