"""Functions of networks, as Keras names them."""

from .activations import *  # noqa: F403
from .convolutions import *  # noqa: F403
from .losses import *  # noqa: F403
