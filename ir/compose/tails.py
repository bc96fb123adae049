"""What the error function leaves to 1, as a formula that keeps its digits, however small it is.

erfc(x) exp(x^2) (x + k) is nearly a polynomial in 1 - 2 k / (x + k), from 0 to where erfc is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..scalar_math import Term
from ..types import dtypes


@dataclass(frozen=True)
class Tail:
    """How it is computed in a type."""

    k: float
    end: float
    """From here on erfc is 0."""
    terms: tuple[float, ...]
    """Those of the polynomial, the lowest first, interpolated at Chebyshev's points."""


TAILS = {
    dtypes.f32: Tail(2.0, 10.5, (
        1.0215827226638794, -0.6871609687805176, 0.2794725298881531, -0.0364350825548172,
        -0.021512243896722794, 0.006428935099393129, 0.0030709586571902037,
        -0.0007062478689476848, -0.0005555357201956213, -6.820995622547343e-05,
    )),
    dtypes.f64: Tail(2.5, 28.0, (
        1.054031820305718, -0.8046518494391488, 0.45391411664809717, -0.17125114524604962,
        0.028361550131932946, 0.008393044302594462, -0.004818785521927669,
        -0.00043920826867360546, 0.0007026937098365121, 5.8307803227233176e-05,
        -0.0001126047411904937, -1.953205338074798e-05, 1.824398776805642e-05,
        6.753156200475455e-06, -2.3311978114595743e-06, -1.9588060463623055e-06,
        -8.026498973083247e-09, 4.403217773897164e-07, 1.4050901462025907e-07,
        -6.032668980012408e-08, -5.44584663004825e-08, -2.318840523735697e-09,
        1.158254956680467e-08, 3.1480115804686542e-09, -1.1548882150337657e-09,
        -4.988479419026309e-10,
    )),
}  # fmt: skip


def erfc(x: Term) -> Term:
    """Return 1 - erf(x); far from 0 it is as near as the square of x is to that of the number."""
    tail = TAILS[dtypes.f64 if x.dtype is dtypes.f64 else dtypes.f32]
    size = x.apply("abs")
    size = (size > tail.end).where(tail.end, size)
    inverse = 1.0 / (size + tail.k)
    at = 1.0 - inverse * (2.0 * tail.k)
    total = at.like(tail.terms[-1])
    for term in reversed(tail.terms[:-1]):
        total = total * at + term
    found = (-(size * size)).apply("exp") * (total * inverse)
    return (x < 0.0).where(2.0 - found, found)
