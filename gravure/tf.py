"""`gravure.tf`: TensorFlow's names (see `frontend/tf`).

Namespaces can be imported too: `import gravure.tf.compat.v1 as tf`. `gravure.tf.keras` is Keras,
where it is installed (see `frontend/keras`).
"""

import sys
from importlib import import_module
from types import SimpleNamespace

from .collection import kept

with kept():
    from .frontend.keras.hook import provide
    from .frontend.tf.names.keras_names import WITHOUT

    tf = import_module(".frontend.tf", __package__)
sys.modules[__name__] = tf
_SPACES = {name: value for name, value in vars(tf).items() if isinstance(value, SimpleNamespace)}
_SPACES |= {"compat.v1": tf.compat.v1, "errors": tf.errors, "io.gfile": tf.io.gfile}
_SPACES |= {"experimental.numpy": tf.experimental.numpy}
_SPACES |= {} if provide() else WITHOUT
sys.modules.update({f"{__name__}.{name}": space for name, space in _SPACES.items()})  # type: ignore[misc]
