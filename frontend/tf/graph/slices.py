"""Where a variable lies in a larger one that was cut."""

from __future__ import annotations

from collections.abc import Sequence


class SliceInfo:
    """The name and shape of the whole, and where in it a part lies."""

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int | None] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int | None] | None = None,
        save_slice_info_def: object = None,
        import_scope: str | None = None,
    ) -> None:
        if save_slice_info_def is not None:
            raise ValueError("a `save_slice_info_def` is not supported: expected a name and shapes")
        del import_scope
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """Return how files name the part: sizes of the whole, then a begin and a size an axis."""
        sizes = " ".join(f"{n}" for n in self.full_shape or ())
        places = zip(self.var_offset or (), self.var_shape or (), strict=True)
        return f"{sizes} {':'.join(f'{start},{size}' for start, size in places)}"


SliceInfo.__name__ = SliceInfo.__qualname__ = "SaveSliceInfo"


class Sliced:
    """A variable that may be a part of another."""

    SaveSliceInfo = SliceInfo
    _slice_info: SliceInfo | None = None

    def _get_save_slice_info(self) -> SliceInfo | None:
        """Return where it lies in a larger one, None if it is whole."""
        return self._slice_info

    def _set_save_slice_info(self, save_slice_info: SliceInfo | None) -> None:
        """Say where it lies in a larger one."""
        self._slice_info = save_slice_info
