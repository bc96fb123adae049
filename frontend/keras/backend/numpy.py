"""Numpy's functions, as Keras names them."""

from .arrays import *  # noqa: F403
from .making import *  # noqa: F403
from .numbers import *  # noqa: F403
from .products import *  # noqa: F403
from .reductions import *  # noqa: F403
