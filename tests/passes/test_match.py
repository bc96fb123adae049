"""Expressions as polynomials: what is shared is read once."""

import pytest

from gravure.ir import GraphEmit, TensorSpec
from gravure.ir.compose.maker import Maker
from gravure.ir.program import new_function
from gravure.ir.types.dtypes import f32
from gravure.passes.patterns import match


@pytest.mark.parametrize("is_one", [True, False])
def test_a_value_that_is_used_twice_by_each_step_is_read_once(
    is_one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten steps that double: a thousand ways lead to the argument, and one value is on them."""
    main = new_function("main", [(name, TensorSpec(f32, (2,))) for name in "xy"])
    x, y = main.body.block.args
    make = Maker(GraphEmit.at_end(main.body.block))
    value = x if is_one else y
    for _ in range(match.DEEPEST):
        value = make.add(value, value)
    asked = []

    def counted(found: object, scalar_of: object = match.scalar_of) -> object:
        asked.append(found)
        return scalar_of(found)  # type: ignore[operator]

    monkeypatch.setattr(match, "scalar_of", counted)
    found = match.polynomial(value, x)
    assert found == ({(1, 0): 1024.0} if is_one else None)
    assert len(asked) <= match.DEEPEST + 1
