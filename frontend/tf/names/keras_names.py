"""`tf.keras`: the installed Keras, and the few names that are here without it.

Keras itself stands above this wing (`frontend/keras`), and takes a second to import: its hook says
here how its modules are found, and they are when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.space import Space
from ..ops import initial_values as _i
from ..train import loss_ops as _l
from ..train import optimiser_ops as _o
from ..train import rates as _ra

initializers = Space(
    "initializers",
    **{
        new: getattr(_i, name)
        for name, new in (
            *(("Zeros", "zeros"), ("Ones", "ones"), ("Constant", "constant")),
            *(("Identity", "identity"), ("RandomUniform", "random_uniform")),
            *(("RandomNormal", "random_normal"), ("TruncatedNormal", "truncated_normal")),
            *(("GlorotUniform", "glorot_uniform"), ("GlorotNormal", "glorot_normal")),
            *(("HeUniform", "he_uniform"), ("HeNormal", "he_normal")),
            *(("LecunUniform", "lecun_uniform"), ("LecunNormal", "lecun_normal")),
            *(("VarianceScaling", "variance_scaling"), ("Orthogonal", "orthogonal")),
        )
        for new in (name, new)
    },
)
keras = Space(
    "keras",
    optimizers=Space(
        "optimizers",
        SGD=_o.KerasSGD,
        Adam=_o.KerasAdam,
        AdamW=_o.KerasAdamW,
        Adagrad=_o.KerasAdagrad,
        RMSprop=_o.KerasRMSprop,
        Adadelta=_o.KerasAdadelta,
        Adamax=_o.KerasAdamax,
        schedules=_ra.SCHEDULES,
    ),
    losses=_l.KERAS,
    initializers=initializers,
)
WITHOUT = {
    "keras": keras,
    "initializers": initializers,
    "losses": keras.losses,
    "optimizers": keras.optimizers,
    "metrics": Space("metrics"),
}
"""The namespaces where Keras is not installed."""
INSTALLED: dict[str, Callable[[], object]] = {}
"""What gives the modules of the Keras that is installed, by TensorFlow's names for them."""


def keras_space(name: str) -> object | None:
    """Return the namespace of Keras under a name of TensorFlow's; None if it is none of these."""
    find = INSTALLED.get(name)
    return WITHOUT.get(name) if find is None else find()
