"""`gravure.tf`: TensorFlow's names (see `frontend/tf`)."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module(".frontend.tf", __package__)
