"""Control flow, variables and random numbers in the reference interpreter."""

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from gravure import ir
from gravure.ir.compose.maker import Maker
from gravure.ir.op import evaluate_decomposition
from gravure.ir.ops.control.control import If, While
from gravure.ir.ops.random import RandomBits, normal, philox, truncated, uniform
from gravure.ir.ops.structure import Yield
from gravure.ir.program import finish, new_function
from gravure.ir.types.dtypes import f32, i32


def block(specs, body):
    made = Block(arg_types=[s.type for s in specs])
    emit = ir.GraphEmit.at_end(made)
    made.add_op(Yield.make(*body(Maker(emit), *made.args)))
    return made


def test_a_loop_and_a_choice_run_and_keep_their_text():
    number, count = ir.spec(f32), ir.spec(i32)
    function = new_function("main", [("i", count), ("x", number)])
    i, x = function.body.block.args
    loop = While.make_from(
        [i, x],
        [],
        block([count, number], lambda m, i, x: [m.greater(i, m.number(0, i32))]),
        block([count, number], lambda m, i, x: [m.sub(i, m.number(1, i32)), m.mul(x, x)]),
    )
    big = Maker(ir.GraphEmit.at_end(function.body.block))
    function.body.block.add_op(loop)
    test = big.greater(loop.results[1], big.number(100.0, f32))
    choice = If.make_from(
        test,
        [loop.results[1]],
        block([number], lambda m, x: [m.neg(x)]),
        block([number], lambda m, x: [x]),
    )
    function.body.block.add_op(choice)
    finish(function, choice.results, ["y"])
    module = ModuleOp([function])
    ir.verify(module)
    again = ir.parse(ir.print_module(module))
    for trips, expected in ((0, 2.0), (1, 4.0), (3, -256.0)):
        for each in (module, again):
            [y] = ir.interpret(each, [np.int32(trips), np.float32(2.0)])
            assert y == expected


def test_philox_gives_the_published_numbers():
    found = philox(np.zeros(6, np.uint32), np.zeros(1, np.uint64))
    assert [int(x[0]) for x in found] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    found = philox(np.full(6, 0xFFFFFFFF, np.uint32), np.zeros(1, np.uint64))
    assert [int(x[0]) for x in found] == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    key, blocks = np.array([3, 4, 2**32 - 5, 2**32 - 1, 5, 6], np.uint32), np.arange(20)
    many = philox(key, blocks.astype(np.uint64))
    few = np.concatenate(
        [philox(key, blocks[i : i + 4].astype(np.uint64)) for i in range(0, 20, 4)], 1
    )
    assert np.array_equal(many, few)


def test_random_bits_decompose_to_the_same_numbers():
    key = np.array([3, 4, 2**32 - 2, 2**32 - 1, 5, 6], np.uint32)  # the counter runs over
    attributes = {"shape": (3, 5), "per": 4, "stride": 1}
    made = evaluate_decomposition(RandomBits, [key], attributes)
    for a, b in zip(made, RandomBits.evaluate(key, **attributes), strict=True):
        assert np.array_equal(a, b)


def test_distributions_have_their_moments():
    emit, key = ir.EagerEmit(), np.array([1, 2, 0, 0, 0, 0], np.uint32)
    u, n = uniform(emit, key, (20000,), f32), normal(emit, key, (20000,), f32)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert abs(u.mean() - 0.5) < 0.01
    assert abs(n.mean()) < 0.02
    assert abs(n.std() - 1.0) < 0.02
    t = truncated(emit, key, (20000,), f32)
    assert np.abs(t).max() < 2.0
    assert len(np.unique(t)) > 19900
    assert abs(t.std() - 0.88) < 0.02
