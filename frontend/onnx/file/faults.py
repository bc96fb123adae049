"""What is wrong with a model, collected over all its nodes and raised once."""

from __future__ import annotations

from dataclasses import dataclass, field

from ....errors import DecidingSize, GraphError, GravureError, UnsupportedOp


@dataclass(frozen=True)
class Fault:
    """What is wrong with one node or one name."""

    message: str
    hint: str = ""
    supported: bool = True
    """False where the model may be right but cannot be read."""
    size: DecidingSize | None = None
    """A size of arguments whose number would mend it."""


@dataclass
class Faults:
    """The faults of one model, in the order they were found."""

    name: str
    found: list[Fault] = field(default_factory=list)

    def add(
        self, message: str, *, hint: str = "", supported: bool = True,
        size: DecidingSize | None = None,
    ) -> None:  # fmt: skip
        """Note one fault."""
        self.found.append(Fault(message, hint, supported, size))

    def raise_if_any(self) -> None:
        """Raise one error with every fault, if there is one."""
        if not self.found:
            return
        kind: type[GravureError] = (
            GraphError if all(f.supported for f in self.found) else UnsupportedOp
        )
        if len(self.found) == 1:
            raise self._made(kind, self.found[0].message, self.found[0].hint)
        lines = [f"{len(self.found)} faults"]
        for fault in self.found:
            lines.append(f"  {fault.message}")
            lines += [f"    help: {fault.hint}"] if fault.hint else []
        raise self._made(kind, "\n".join(lines))

    def _made(self, kind: type[GravureError], message: str, hint: str = "") -> GravureError:
        """Return the error; a size would mend it where one would mend every fault."""
        error, sizes = kind(message, location=self.name, hint=hint), {f.size for f in self.found}
        if isinstance(error, UnsupportedOp) and None not in sizes:
            error.about(self.found[0].size)
        return error
