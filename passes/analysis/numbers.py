"""Small numbers for attributes: equal ones have one, and hashing each is done once."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Attribute


@dataclass
class Numbers:
    """Numbers attributes; hashing one is slow, and most are the same objects."""

    by_value: dict[Attribute, int] = field(default_factory=dict)
    by_id: dict[int, tuple[int, Attribute]] = field(default_factory=dict)

    def __call__(self, attribute: Attribute) -> int:
        """Return the number that equal attributes share."""
        known = self.by_id.get(id(attribute))
        if known is not None:
            return known[0]
        number = self.by_value.setdefault(attribute, len(self.by_value))
        self.by_id[id(attribute)] = (number, attribute)  # held, so that the id stays its own
        return number
