"""What is wrong with a model, collected over all its nodes and raised once."""

from __future__ import annotations

from dataclasses import dataclass, field

from ....errors import GraphError, GravureError, UnsupportedOp


@dataclass(frozen=True)
class Fault:
    """What is wrong with one node or one name."""

    message: str
    hint: str = ""
    supported: bool = True
    """False where the model may be right but cannot be read."""


@dataclass
class Faults:
    """The faults of one model, in the order they were found."""

    name: str
    found: list[Fault] = field(default_factory=list)

    def add(self, message: str, *, hint: str = "", supported: bool = True) -> None:
        """Note one fault."""
        self.found.append(Fault(message, hint, supported))

    def raise_if_any(self) -> None:
        """Raise one error with every fault, if there is one."""
        if not self.found:
            return
        kind: type[GravureError] = (
            GraphError if all(f.supported for f in self.found) else UnsupportedOp
        )
        if len(self.found) == 1:
            raise kind(self.found[0].message, location=self.name, hint=self.found[0].hint)
        lines = [f"{len(self.found)} faults"]
        for fault in self.found:
            lines.append(f"  {fault.message}")
            lines += [f"    help: {fault.hint}"] if fault.hint else []
        raise kind("\n".join(lines), location=self.name)
