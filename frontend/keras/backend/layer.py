"""What is added to Keras's layers and models: checkpoints of `gravure.tf`, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from keras.src.backend.common import KerasVariable

from ...tf.train.checkpoints import settle
from ..hook import KerasError

if TYPE_CHECKING:
    from keras.src.random.seed_generator import SeedGenerator


def states(variables: Iterable[KerasVariable]) -> list[object]:
    """Return what variables keep, of those that have something."""
    return [each.value for each in variables if each._value is not None]


class BackendLayer:
    """The base of Keras's layers on gravure."""

    _layers: list[BackendLayer]
    _trainable_variables: list[KerasVariable]
    _non_trainable_variables: list[KerasVariable]
    _seed_generators: list[SeedGenerator]
    weights: list[KerasVariable]

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; values of a checkpoint that wait for it are given to it."""
        super().__setattr__(name, value)
        settle()

    def checkpoint_parts(self) -> dict[str, object]:
        """Return what checkpoints keep: the weights, and the layers inside in their order."""
        inside = getattr(self, "layers", None) or self._layers
        own = [*self._trainable_variables, *self._non_trainable_variables]
        return {
            "weights": states(own),
            "layers": [each for each in inside if each.weights],
            "seeds": states(each.state for each in self._seed_generators),
        }


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
