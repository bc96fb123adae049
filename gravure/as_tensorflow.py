"""`gravure.as_tensorflow`: `import tensorflow` is `gravure.tf` in this process (`frontend/keras`).

    python -m gravure.as_tensorflow train.py --epochs 3    # a program as it is

or, in a notebook, before anything imports TensorFlow or Keras:

    import gravure.as_tensorflow
"""

import sys

from .frontend.keras.as_tensorflow import install, main

if __name__ == "__main__":
    main(sys.argv[1:])
else:
    install()
