"""What is added to Keras's layers and models: checkpoints of `gravure.tf`, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from keras.src import tree
from keras.src.backend.common import KerasVariable
from keras.src.utils.io_utils import print_msg

from ...function.function import Function
from ...tf.core.specs import TensorSpec
from ...tf.graph.autograph import function
from ...tf.graph.state import Variable
from ...tf.train.checkpoint_state import SaveOptions
from ...tf.train.checkpoints import Checkpoint, settle
from ...tf.train.modules import Module
from ...tf.train.saved_model import DEFAULT_SIGNATURE, save
from ...tf.train.savers import PARTS

if TYPE_CHECKING:
    from keras.src.backend.common.keras_tensor import KerasTensor
    from keras.src.random.seed_generator import SeedGenerator


def states(variables: Iterable[KerasVariable]) -> list[object]:
    """Return what variables keep, of those that have something."""
    return [each.value for each in variables if each._value is not None]


BOOKS = {
    *("_tracker", "_trainable_variables", "_non_trainable_variables", "_layers", "_metrics"),
    *("_seed_generators", "_nodes", "_nodes_by_depth"),
    *("_operations_by_depth", "_layers_by_depth", "_inbound_nodes", "_outbound_nodes"),
    *("_losses", "_loss_ids", "_losses_override", "_inputs", "_outputs", "_inputs_struct"),
    *("_outputs_struct", "_compile_loss", "_compile_metrics", "_loss_tracker"),
}
"""Attributes in which Keras keeps account of the others."""


def kept(value: object) -> object:
    """Return what checkpoints keep of an attribute, None if that is nothing."""
    if isinstance(value, KerasVariable):
        return value.value if value._value is not None else None
    if isinstance(value, dict | list | tuple):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        found = {str(key): kept(each) for key, each in pairs}
        return {key: each for key, each in found.items() if each is not None} or None
    is_kept = isinstance(value, Variable | Module | Checkpoint) or hasattr(value, PARTS)
    return value if is_kept and not isinstance(value, type) else None


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
        """Return what checkpoints keep: attributes by their names, then what these do not reach.

        That is, as in TensorFlow, not only Keras's weights and layers: also variables and modules
        of `gravure.tf`, and lists and dictionaries of them. A layer of a `Sequential` or of a
        functional model has its place in `_operations`, as there, and others in `layers`.
        """
        every = {name: kept(each) for name, each in vars(self).items() if name not in BOOKS}
        named = {name: each for name, each in every.items() if each is not None}
        inside = getattr(self, "layers", None) or self._layers
        own = [*self._trainable_variables, *self._non_trainable_variables]
        return {
            **named,
            "layers": [] if named.keys() & {"_functional", "_operations"} else list(inside),
            "weights": states(own),
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

    def write_out(
        self, filepath: object, options: SaveOptions | None = None, verbose: bool = True
    ) -> None:
        """Write all endpoints, each of which is a signature; the first is the default one."""
        if not self.endpoints:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        first = next(iter(self.endpoints.values()))
        save(self.module, str(filepath), {DEFAULT_SIGNATURE: first, **self.endpoints}, options)
        if verbose:
            print_msg(f"Saved artifact at '{filepath}'.")
