"""What tests that read the sources of the house share."""

import ast


def called(call: ast.Call) -> str:
    """Return the last part of the name of what is called; nothing if it has none."""
    function = call.func
    return getattr(function, "attr", None) or getattr(function, "id", "")


def nodes(tree: ast.AST) -> list[ast.AST]:
    """Return a node and all below it, as `ast.walk` gives them, in a third of its time."""
    found = [tree]
    for node in found:  # which grows
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
    return found
