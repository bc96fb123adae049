"""The first tries of numbers that are drawn until they fit, as compiled code for any of them.

Each function is given the key and the parameters of all elements (f64) and returns what `sampling`
gives for them, with NaN where none of the first tries fits: those few are drawn there. Few elements
are drawn by the same steps at once, until that was done often: compiling them takes a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache, partial

import numpy as np

from ....codegen import single
from ....ir.families import EmitMath
from ....ir.op import Array, Op
from ....ir.ops.random import STRIDE, Draw, further
from ....ir.scalar_math import Term
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim, parse
from ....ir.types.tensor import TensorSpec
from ...eager.kernels import evaluate
from ...eager.tensor import Tensor
from ...values.context import Emitter

AT_ONCE = 1 << 15
"""So many elements stay in a processor's cache between the steps of a try."""
FEW = 1 << 12
"""With fewer elements than these, steps at once take some milliseconds, ..."""
OFTEN = 25
"""... which is less than compiling takes for so many draws."""
DRAWN: Counter[str] = Counter()
"""How often few elements were drawn of a distribution."""
WAITS = ((1.0, 4), (2.5, 6), (5.0, 10), (10.0, 16))
"""How many blocks of uniform numbers nearly all need whose rates are up to a bound."""


class DrawnWords:
    """The blocks of words of all elements, each one's own."""

    def __init__(self, emit: Emitter, key: object, count: Dim) -> None:
        self.draw, self.key, self.count = Draw(emit), key, count
        self.math = EmitMath(emit)

    def block(self, number: int) -> list[object]:
        """Return the four words of the block of a number."""
        key = self.draw.tried(self.key, number)
        made = self.draw("random_bits", key, shape=(self.count,), per=1, stride=STRIDE)
        return list(made)

    def units(self, number: int) -> tuple[Term, Term]:
        """Return the two uniform numbers of a block in the order in which they are taken."""
        words = self.block(number)
        made = [self.draw.unit(words[at : at + 2], rows.f64) for at in (2, 0)]
        return Term(self.math, made[0]), Term(self.math, made[1])

    def normals(self, number: int) -> tuple[Term, Term]:
        """Return the two normal numbers of a block in the order in which they are taken."""
        made = self.draw.normals(self.block(number), rows.f64)
        return Term(self.math, made[1]), Term(self.math, made[0])


Build = Callable[[DrawnWords, Term], Term]


def _poisson(blocks: int) -> Build:
    """Return what counts how many waiting times fit (Knuth), among those of so many blocks."""

    def build(words: DrawnWords, rate: Term) -> Term:
        end, product = (-rate).apply("exp"), rate.like(1.0)
        found, open_ = rate.like(np.nan), (rate >= 0.0) & (rate < 10.0)
        for number in range(blocks):
            for at, unit in enumerate(words.units(number)):
                product = product * unit
                fits = open_ & (product <= end)
                found = fits.where(float(2 * number + at), found)
                open_ = open_ & (product > end)
        return found

    return build


def _gamma(words: DrawnWords, alpha: Term) -> Term:
    """Return numbers by Marsaglia and Tsang, of two tries."""
    d = alpha + (alpha < 1.0).where(alpha.like(2.0 / 3), -1.0 / 3)
    c = 1.0 / 3 / d.apply("sqrt")
    units, normals = words.units(1), words.normals(0)
    (first, fits, good) = _tried(d, c, normals[0], units[0])
    (second, fits_then, _) = _tried(d, c, normals[1], good.where(units[1], units[0]))
    small, exponent = alpha < 1.0, 1.0 / alpha
    first = small.where(first * units[1].apply("pow", exponent), first)
    second = small.where(second * units[1].apply("pow", exponent), second)
    fits_then = fits_then & ~(small & good)  # it would need another block
    found = fits.where(first, fits_then.where(second, np.nan))
    known = (alpha > 0.0) & (alpha < np.inf) & alpha.differs(1.0)
    return known.where(found, np.nan)


def _tried(d: Term, c: Term, x: Term, u: Term) -> tuple[Term, Term, Term]:
    """Return what a try gives, whether it fits, and whether it took a uniform number."""
    v = 1.0 + c * x
    good = v > 0.0
    v = v * v * v
    surely = u < 1.0 - 0.0331 * (x * x) * (x * x)
    perhaps = u.apply("log") < 0.5 * x * x + d * (1.0 - v + v.apply("log"))
    return d * v, good & (surely | perhaps), good


def _built(build: Build, count: Dim, emit: Emitter, key: object, parameter: object) -> object:
    """Return what a function builds for a key and so many parameters."""
    words = DrawnWords(emit, key, count)
    return build(words, Term(words.math, parameter)).value


@cache
def _kernel(name: str, blocks: int = 0) -> Callable[..., Array]:
    """Return the compiled function of a key and parameters."""
    built = partial(_built, _steps(name, blocks), parse("N"))
    specs = TensorSpec(rows.u32, (6,)), TensorSpec(rows.f64, (parse("N"),))
    return single.in_a_row(built, specs, AT_ONCE)


def _steps(name: str, blocks: int) -> Build:
    """Return what makes the numbers of a distribution."""
    return _poisson(blocks) if name == "poisson" else _gamma


def gamma(key: Array, alpha: Array) -> Array:
    """Return numbers of the gamma distribution."""
    return _drawn("gamma", 0, key, alpha)


def poisson(key: Array, rate: Array) -> Array:
    """Return numbers of the Poisson distribution of rates below 10."""
    most = float(np.max(rate, initial=0.0))
    blocks = next((count for bound, count in WAITS if most <= bound), WAITS[-1][1])
    return _drawn("poisson", blocks, key, rate)


def _drawn(name: str, blocks: int, key: Array, parameters: Array) -> Array:
    """Return the numbers: by compiled code where there are many, or where it was asked often."""
    if 0 < len(parameters) < FEW and DRAWN[name] < OFTEN:
        DRAWN[name] += 1
        made = _built(
            _steps(name, blocks), len(parameters), _at_once, Tensor(key), Tensor(parameters)
        )
        assert isinstance(made, Tensor), "steps at once make a tensor"
        return np.array(made._array)
    return _in_parts(_kernel(name, blocks), key, parameters)


def _at_once(op: type[Op], *operands: object, **attributes: object) -> object:
    """Carry an operation out, whatever is traced or watched."""
    given = [x._array for x in operands if isinstance(x, Tensor)]
    made = tuple(map(Tensor, evaluate(op, given, attributes)))
    return made[0] if len(made) == 1 else made


def _in_parts(kernel: Callable[..., Array], key: Array, parameters: Array) -> Array:
    """Return what a kernel gives for any number of elements."""
    if 0 < len(parameters) <= AT_ONCE:
        return kernel(key, parameters)
    made = np.empty(len(parameters))
    for start in range(0, len(made), AT_ONCE):
        at = slice(start, start + AT_ONCE)
        made[at] = kernel(further(key, start * STRIDE), parameters[at])
    return made
