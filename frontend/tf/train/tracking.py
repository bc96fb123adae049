"""What objects lead to by names that are no attributes: parts of checkpoints."""

from __future__ import annotations

TRACKED = "_tracked"
"""The attribute that holds such parts, by name."""


class Trackable:
    """An object whose parts may be named by hand, as libraries do."""

    def _parts(self) -> dict[str, object]:
        """Return what the object leads to, by name."""
        raise NotImplementedError(f"{type(self).__name__} has no parts")

    def _track_trackable(self, trackable: object, name: str, overwrite: bool = False) -> object:
        """Make an object a part under a name, and return it."""
        if not hasattr(trackable, "__dict__") or isinstance(trackable, type):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type "
                f"Trackable. Got type {type(trackable)}."
            )
        known = self._parts().get(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with "
                "this name is already declared as a dependency. Names must be unique (or "
                "overwrite=True)."
            )
        object.__setattr__(self, TRACKED, {**vars(self).get(TRACKED, {}), name: trackable})
        return trackable

    def _lookup_dependency(self, name: str, cached_dependencies: object = None) -> object:
        """Return the part of a name, None if there is none."""
        return self._parts().get(name)

    def _trackable_children(self, save_type: str = "checkpoint", **_: object) -> dict[str, object]:
        """Return all parts by name."""
        return self._parts()

    def _no_dependency(self, value: object) -> object:
        """Return a value that need be no part; as an attribute it is found nevertheless."""
        return value
