"""A whole program as one LLVM module, for those who want to read it or to assemble it themselves.

Each kernel is a module of its own on the usual way. Here they are joined with the entry; so that
the entry still runs on every processor (see Note [The wrong processor] in `entry`), the module is
for the plain architecture, and each function of a kernel says itself which features it may use.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import llvmlite.binding as llvm

from ...errors import ParseError
from ...target import Target
from .compile import assemble, assembly
from .cpu import target_machine
from .entry.functions import entry_target
from .uninterrupted import uninterrupted


@uninterrupted
def listing(entries: Iterable[str], kernels: Iterable[str], target: Target) -> str:
    """Return the text of one module with all that is in the given ones."""
    context = llvm.create_context()
    machine = target_machine(entry_target(target))
    whole: Any = None
    for text in (*entries, *(with_features(text, target) for text in kernels)):
        module = llvm.parse_assembly(text, context=context)
        module.triple, module.data_layout = target.triple, str(machine.target_data)
        if whole is None:
            whole, whole.name = module, "gravure"
        else:
            whole.link_in(module)
    assert whole is not None, "a program has an entry"
    return str(whole)


def with_features(text: str, target: Target) -> str:
    """Return a kernel's module whose functions name the features that they may use."""
    features = f'"target-features"="{target.llvm_features}" {{'
    return "\n".join(
        line[:-1] + features if line.startswith("define") and line.endswith("{") else line
        for line in text.split("\n")
    )


def listing_assembly(text: str, target: Target) -> str:
    """Return the assembly text of a module that `listing` returned."""
    return assembly(text, entry_target(target))


def listing_object(text: str, target: Target) -> bytes:
    """Return the object of a module that `listing` returned, or that somebody wrote."""
    return assemble(text, entry_target(target))


@uninterrupted
def read_listing(text: str, location: str) -> str:
    """Return the text of a module that LLVM accepts, or raise `ParseError`."""
    try:
        module = llvm.parse_assembly(text, context=llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise ParseError(f"LLVM refuses the text: {error}", location=location) from error
    return text
