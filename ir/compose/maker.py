"""`Maker`: operations by their names, as methods.

The names are those that functions here and in the frontends are written with. An operation that
nothing is made of needs no name here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ..families import spec_of_value
from ..op import REGISTRY
from ..types import dtypes
from ..types.dims import Dim, DimExpr
from ..types.dtypes import DType

Emit: TypeAlias = Callable[..., Any]


class Named:
    """The method of a `Maker` that carries out the operation of its name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"gv.{name}"

    def __get__(self, maker: Maker, owner: type) -> Callable[..., Any]:
        return partial(maker.emit, REGISTRY[self.name])


@dataclass(frozen=True)
class Maker:
    """Carries out operations by their names: `make.mul(a, b)` is `gv.mul`."""

    emit: Emit

    abs = Named()
    acos = Named()
    acosh = Named()
    add = Named()
    all = Named()
    any = Named()
    argmax = Named()
    argmin = Named()
    argsort = Named()
    asin = Named()
    asinh = Named()
    atan = Named()
    atan2 = Named()
    atanh = Named()
    attention = Named()
    attention_parts = Named()
    avg_pool = Named()
    batch_norm = Named()
    bitcast = Named()
    bitwise_and = Named()
    bitwise_not = Named()
    bitwise_or = Named()
    bitwise_xor = Named()
    broadcast_to = Named()
    cast = Named()
    ceil = Named()
    celu = Named()
    check_numerics = Named()
    cholesky = Named()
    clip = Named()
    complex = Named()
    concat = Named()
    conj = Named()
    constant = Named()
    conv = Named()
    conv_transpose = Named()
    cos = Named()
    cosh = Named()
    count_grams = Named()
    cumprod = Named()
    cumsum = Named()
    decode_image = Named()
    determinant = Named()
    div = Named()
    einsum = Named()
    elu = Named()
    empty_sequence = Named()
    equal = Named()
    erf = Named()
    exp = Named()
    exp2 = Named()
    expand_to = Named()
    expm1 = Named()
    extent = Named()
    fitted = Named()
    floor = Named()
    floor_divide = Named()
    fmod = Named()
    fourier = Named()
    gather = Named()
    gather_elements = Named()
    gather_nd = Named()
    gelu = Named()
    get_element = Named()
    greater = Named()
    greater_equal = Named()
    group_norm = Named()
    gru = Named()
    gru_packed = Named()
    hard_sigmoid = Named()
    hard_swish = Named()
    has_element = Named()
    identity = Named()
    imag = Named()
    instance_norm = Named()
    inverse = Named()
    iota = Named()
    isfinite = Named()
    isinf = Named()
    isnan = Named()
    layer_norm = Named()
    leading = Named()
    leaky_relu = Named()
    less = Named()
    less_equal = Named()
    log = Named()
    log10 = Named()
    log1p = Named()
    log2 = Named()
    log_determinant = Named()
    log_softmax = Named()
    logical_and = Named()
    logical_not = Named()
    logical_or = Named()
    logical_xor = Named()
    logsumexp = Named()
    lookup = Named()
    lrn = Named()
    lstm = Named()
    lstm_packed = Named()
    lu = Named()
    matmul = Named()
    matmul_wide = Named()
    max = Named()
    max_pool = Named()
    maximum = Named()
    mean = Named()
    mel_weights = Named()
    min = Named()
    minimum = Named()
    mish = Named()
    mod = Named()
    mul = Named()
    neg = Named()
    non_max_suppression = Named()
    non_zero = Named()
    none = Named()
    not_equal = Named()
    numbers_of_text = Named()
    of_pairs = Named()
    of_words = Named()
    one_hot = Named()
    pad = Named()
    pad_along = Named()
    pad_by = Named()
    pairs = Named()
    pow = Named()
    prod = Named()
    py_function = Named()
    random_bits = Named()
    range_of = Named()
    read_sizes = Named()
    real = Named()
    reciprocal = Named()
    reduce_along = Named()
    relu = Named()
    require = Named()
    reshape = Named()
    reshape_to = Named()
    resize = Named()
    resize_by = Named()
    resize_to = Named()
    rms_norm = Named()
    rnn = Named()
    rnn_packed = Named()
    round = Named()
    rsqrt = Named()
    scatter_elements = Named()
    scatter_nd = Named()
    select = Named()
    selu = Named()
    sequence = Named()
    sequence_at = Named()
    sequence_concat = Named()
    sequence_erase = Named()
    sequence_insert = Named()
    sequence_length = Named()
    shift_left = Named()
    shift_right = Named()
    sigmoid = Named()
    sign = Named()
    silu = Named()
    sin = Named()
    sinh = Named()
    slice = Named()
    slice_along = Named()
    slice_by = Named()
    softmax = Named()
    softplus = Named()
    softsign = Named()
    solve = Named()
    sort = Named()
    split_to_sequence = Named()
    sqrt = Named()
    squeeze_along = Named()
    stop_gradient = Named()
    sub = Named()
    sum = Named()
    sum_pool = Named()
    tan = Named()
    tanh = Named()
    text_concat = Named()
    text_match = Named()
    text_normalize = Named()
    text_of_numbers = Named()
    text_split = Named()
    text_words = Named()
    thresholded_relu = Named()
    top_k = Named()
    transform_rows = Named()
    transpose = Named()
    triangular_solve = Named()
    trunc = Named()
    unique = Named()
    unsqueeze_along = Named()
    weight = Named()
    words = Named()

    def number(self, value: float, dtype: DType) -> Any:
        """Make a constant without axes."""
        return self.constant(value=np.array(value).astype(dtype.numpy))

    def extent_of(self, dim: Dim, dtype: DType = dtypes.i64) -> Any:
        """Make a dimension's value as a tensor without axes."""
        if not isinstance(dim, DimExpr):
            return self.number(dim, dtype)
        return self.reshape(self.to(self.extent(values=(dim,)), dtype), shape=())

    def filled(self, value: float, dtype: DType, shape: Sequence[Dim]) -> Any:
        """Make a tensor of one number."""
        return self.broadcast_to(self.number(value, dtype), shape=tuple(shape))

    def to(self, value: Any, dtype: DType) -> Any:
        """Convert the elements, unless they have the type."""
        return value if spec_of_value(value).dtype == dtype else self.cast(value, dtype=dtype)
