"""What tests that read the sources of the house share."""

import ast


def called(call: ast.Call) -> str:
    """Return the last part of the name of what is called; nothing if it has none."""
    function = call.func
    return getattr(function, "attr", None) or getattr(function, "id", "")
