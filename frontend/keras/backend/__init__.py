"""What Keras asks of a backend, in Keras's names; each module is one that Keras imports by name.

`tensors` turns what Keras gives into tensors of the element types that Keras promotes to; `core`
has variables and control flow; `numpy` is put together from `numbers`, `reductions`, `making` and
`arrays`, `nn` from `activations`, `convolutions` and `losses`.
"""

from keras.src.backend.common.name_scope import name_scope as name_scope

from . import core as core
from . import image as image
from . import linalg as linalg
from . import math as math
from . import nn as nn
from . import numpy as numpy
from . import random as random
from .core import IS_THREAD_SAFE as IS_THREAD_SAFE
from .core import SUPPORTS_COMPLEX_DTYPES as SUPPORTS_COMPLEX_DTYPES
from .core import SUPPORTS_RAGGED_TENSORS as SUPPORTS_RAGGED_TENSORS
from .core import SUPPORTS_SPARSE_TENSORS as SUPPORTS_SPARSE_TENSORS
from .core import Variable as Variable
from .core import compute_output_spec as compute_output_spec
from .core import cond as cond
from .core import device_scope as device_scope
from .core import random_seed_dtype as random_seed_dtype
from .core import scatter as scatter
from .core import stop_gradient as stop_gradient
from .core import vectorized_map as vectorized_map
from .rnn import bidirectional_gru as bidirectional_gru
from .rnn import bidirectional_lstm as bidirectional_lstm
from .rnn import cudnn_ok as cudnn_ok
from .rnn import gru as gru
from .rnn import lstm as lstm
from .rnn import rnn as rnn
from .tensors import cast as cast
from .tensors import convert_to_numpy as convert_to_numpy
from .tensors import convert_to_tensor as convert_to_tensor
from .tensors import is_tensor as is_tensor
from .tensors import shape as shape

distribution_lib = None
"""Keras's own distribution is JAX's; several devices are `tf.distribute`'s here."""
