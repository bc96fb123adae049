"""What is asked for again with operands of the same kind is not worked out a second time."""

from collections.abc import Callable

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.tf.draws import sobol
from gravure.frontend.tf.linalg import bands


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("it was worked out again")


@pytest.mark.parametrize(("axes", "skip"), [(1, 0), (4, 5), (40, 1023), (3, 2**31 - 12)])
def test_points_of_sobols_sequence_are_sums_of_the_digits_of_their_codes(axes, skip) -> None:
    columns = sobol.directions(axes) << np.arange(sobol.DIGITS - 1, -1, -1)
    codes = [number ^ number >> 1 for number in range(skip + 1, skip + 11)]
    places = [[digit for digit in range(31) if code >> digit & 1] for code in codes]
    wanted = [np.bitwise_xor.reduce(columns[:, each], axis=1) * 2.0**-31 for each in places]
    for _ in range(4):
        found = tf.math.sobol_sample(axes, 10, skip, dtype="float64")
        assert np.array_equal(found, wanted)


CASES: dict[str, tuple[object, str, Callable[[tf.Tensor], tf.Tensor]]] = {
    "sobol_sample": (sobol, "_points", lambda _: tf.math.sobol_sample(4, 10)),
    "tridiagonal_solve": (bands, "three", lambda x: tf.linalg.tridiagonal_solve(x, x[1])),
    "tridiagonal_matmul": (bands, "three", lambda x: tf.linalg.tridiagonal_matmul(x, x)),
    "banded_triangular_solve": (
        bands, "_substituted", lambda x: tf.linalg.banded_triangular_solve(x, tf.transpose(x))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_was_often_asked_for_is_not_worked_out_again(name, monkeypatch) -> None:
    module, inner, call = CASES[name]
    x = tf.constant([[1.0, 2, 3], [9, 8, 7], [2, 4, 3]])
    before = [np.asarray(call(x)) for _ in range(4)]
    monkeypatch.setattr(module, inner, _refuse)
    assert all(np.array_equal(each, call(x)) for each in before)
