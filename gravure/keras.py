"""`gravure.keras`: Keras 3, on gravure (see `frontend/keras`).

    import gravure.keras as keras

    model = keras.Sequential([keras.layers.Dense(10)])

Import it before `keras`: Keras has one backend in a process.
"""

import sys

from .frontend.keras.hook import load

sys.modules[__name__] = load()
