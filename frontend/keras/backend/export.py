"""What Keras's `Model.export` writes: refused by name, with what there is instead."""

from __future__ import annotations

from typing import NoReturn

from ..hook import KerasError


class ExportArchive:
    """Keras's archives are SavedModels of TensorFlow; gravure compiles libraries instead."""

    def track(self, resource: object) -> None:
        """Do nothing: what a function uses is found when it is compiled."""

    def track_and_add_endpoint(
        self, name: str, resource: object, input_signature: object = None, **kwargs: object
    ) -> NoReturn:
        """Refuse."""
        self.add_endpoint(name, resource)

    def add_endpoint(
        self, name: str, fn: object, input_signature: object = None, **kwargs: object
    ) -> NoReturn:
        """Refuse."""
        raise KerasError(
            f"the endpoint {name!r} cannot be exported as a SavedModel of TensorFlow",
            hint="save the model as .keras, or compile gravure.function(model) to a library by "
            "its `save`",
        )
