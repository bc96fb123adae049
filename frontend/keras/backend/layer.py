"""What is added to Keras's layers and models: checkpoints of `gravure.tf`, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from keras.src import tree
from keras.src.backend.common import KerasVariable
from keras.src.utils.io_utils import print_msg

from ...function.function import Function
from ...tf.core.specs import TensorSpec
from ...tf.graph.state import function
from ...tf.train.checkpoints import settle
from ...tf.train.modules import Module
from ...tf.train.saved_model import DEFAULT_SIGNATURE, save

if TYPE_CHECKING:
    from keras.src.backend.common.keras_tensor import KerasTensor
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


def _spec(like: KerasTensor) -> TensorSpec:
    """Return what an argument is like; Keras says so in several ways."""
    return TensorSpec(like.shape, like.dtype, getattr(like, "name", None))


class ExportArchive:
    """Endpoints of layers and models as a module, which `tf.saved_model` writes and loads.

    The folder is in the format of `gravure.tf.saved_model`, not in TensorFlow's.
    """

    def __init__(self) -> None:
        self.module = Module("export")
        self.endpoints: dict[str, Function] = {}

    def track(self, resource: object) -> None:
        """Do nothing: what a function uses is found when it is written."""

    def track_and_add_endpoint(
        self, name: str, resource: Callable[..., object], input_signature: object, **_: object
    ) -> None:
        """Add the call of a layer or model."""
        self.add_endpoint(name, resource, input_signature)

    def add_endpoint(
        self,
        name: str,
        fn: Callable[..., object],
        input_signature: object = None,
        **_: object,
    ) -> Function:
        """Add a function of arguments that are as a signature says; return it staged."""
        if name in self.endpoints:
            raise ValueError(f"Endpoint name '{name}' is already taken.")
        made = fn
        if not isinstance(fn, Function):
            if input_signature is None:
                raise ValueError("If `input_signature` is not provided, `fn` must be a tf.function")
            specs = tree.map_structure(_spec, input_signature)
            made = function(fn, input_signature=specs, autograph=False)
        assert isinstance(made, Function)
        self.endpoints[name] = made
        setattr(self.module, name, made)
        return made

    def add_variable_collection(self, name: str, variables: Iterable[KerasVariable]) -> None:
        """Keep variables under a name."""
        setattr(self.module, name, states(variables))

    def write_out(self, filepath: object, options: object = None, verbose: bool = True) -> None:
        """Write all endpoints, each of which is a signature; the first is the default one."""
        if not self.endpoints:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        first = next(iter(self.endpoints.values()))
        save(self.module, str(filepath), {DEFAULT_SIGNATURE: first, **self.endpoints}, options)
        if verbose:
            print_msg(f"Saved artifact at '{filepath}'.")
