"""Modules as text: what is written is read back, and what cannot be read is placed."""

import time
from contextlib import suppress
from io import StringIO

import numpy as np
import pytest
from xdsl.dialects.builtin import FloatAttr, ModuleOp, StringAttr
from xdsl.dialects.builtin import f32 as xdsl_f32
from xdsl.printer import Printer

from gravure.errors import ParseError, VerifyError
from gravure.ir import GraphEmit, Symbol, canonical_hash, parse, print_module, spec
from gravure.ir.ops.elementwise import Add, Neg
from gravure.ir.ops.reduce import Sum
from gravure.ir.ops.structure import Constant, Weight
from gravure.ir.program import finish, new_function
from gravure.ir.text import MAX_DEPTH
from gravure.ir.types import dims
from gravure.ir.types.dtypes import f32, i64
from gravure.ir.verify import place

ADD = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = gv.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""


def module_of_everything() -> ModuleOp:
    """Return a module with symbols, weights, constants and unusual names."""
    n = dims.symbol("N")
    function = new_function("main", [("in put/0", spec(f32, n, 3)), ("größe", spec(i64))])
    emit = GraphEmit.at_end(function.body.block, source='model.onnx: node "a/b"')
    x = function.body.block.args[0]
    weight = emit(Weight, weight=Symbol("layer.0/w"), dtype=f32, shape=(n, 3))
    constant = emit(Constant, value=np.array([1.0, np.nan, -np.inf], np.float32))
    total = emit(Add, emit(Add, x, weight), constant)
    finish(function, [total, emit(Sum, total, axes=(-1,))], ["y", "sum"])
    return ModuleOp([function])


def test_everything_is_read_back() -> None:
    module = module_of_everything()
    text = print_module(module)
    again = parse(text)
    assert print_module(again) == text
    assert again.is_structurally_equivalent(module)


def test_attribute_with_its_default_is_left_out() -> None:
    text = print_module(module_of_everything())
    assert "gv.sum" in text
    assert "keepdims" not in text


def test_hash_ignores_names_places_and_sources() -> None:
    text = print_module(module_of_everything())
    renamed = text.replace("%in", "%other").replace("node", "n o d e")
    assert canonical_hash(parse(text)) == canonical_hash(module_of_everything())
    assert canonical_hash(parse("\n\n" + ADD)) == canonical_hash(parse(ADD.replace("%y", "%z")))
    assert canonical_hash(parse(renamed)) == canonical_hash(parse(text))


def test_hash_sees_operations_types_and_attributes() -> None:
    hashes = {
        canonical_hash(parse(text))
        for text in (
            ADD,
            ADD.replace("gv.add", "gv.mul"),
            ADD.replace("f32", "f64"),
            ADD.replace("2x", "3x"),
            ADD.replace("@main", "@other"),
        )
    }
    assert len(hashes) == 5


def test_hash_leaves_the_module_as_it_was() -> None:
    module = module_of_everything()
    text = print_module(module)
    canonical_hash(module)
    assert print_module(module) == text


def test_operations_know_their_place() -> None:
    module = parse("\n" + ADD, "file.mlir")
    places = [place(op) for op in module.walk() if op.name.startswith(("gv.", "func."))]
    assert places == ["file.mlir:2:1", "file.mlir:3:3", "file.mlir:4:3"]


def test_operation_made_in_python_names_its_source() -> None:
    module = module_of_everything()
    add = next(op for op in module.walk() if isinstance(op, Add))
    assert place(add) == 'model.onnx: node "a/b"'
    assert place(Neg.make(add.results[0])) == "<unknown>"


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("func.func @f() {\n  func.return %x : f32\n}", ":3:", "not defined: [%x]"),
        ('"a', ":1:1", "unterminated string"),
        ('"a\\"', ":1:1", "unterminated string"),
        (f'"{"-" * 300}\\-"', ":1:1", "'\\\\-' is not allowed in a string"),
        (f'"{"-" * 300}\f"', ":1:1", "is not allowed in a string"),
        ("\n  \x00", ":2:3", "character '\\x00' is not allowed"),
        ("\ud800", ":1:1", "is not allowed"),
        ("gv.nothing", ":1:1", "gv.nothing"),
        ("[" * (MAX_DEPTH + 1), f":1:{MAX_DEPTH + 1}", f"nesting deeper than {MAX_DEPTH}"),
        (ADD.replace("f32", "f33"), ":1:", "Expected shape type"),
        (ADD.replace("%x, %x", "%x %x"), ":2:", ""),
        (ADD.replace("<2xf32>", '<?xf32, #gv.dims<"N +">>'), "", "is not an integer expression"),
        (ADD.replace("%x, %x", "%x, %x {a = #gv.dtype<f9>}"), ":2:", "element type f9 is unknown"),
        (ADD.replace("%x, %x", '%x, %x {a = "\\FF"}'), "", "utf-8"),
    ],
)
def test_text_that_cannot_be_read_is_an_error_at_its_place(
    text: str, where: str, message: str
) -> None:
    with pytest.raises(ParseError) as raised:
        parse(text, "f.mlir")
    assert raised.value.location.startswith("f.mlir" + where)
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('i8, "1", [300]', "300 is not a value of i8"),
        ('u8, "1", [-1]', "-1 is not a value of u8"),
        ('i32, "1", [1.5]', "1.5 is not a value of i32"),
        ('f32, "2", [1.0]', "expected 2 elements, found 1"),
        ('f32, "N", [1.0]', "the shape of a constant must be numbers"),
        ('f32, "-1", [1.0]', "the shape of a constant must be numbers"),
        ('f32, "2", "AAAA"', ""),
        ('f32, "1", "%%%"', ""),
        ('f32, "1", [true]', "true is not a value of f32"),
        ('bool, "1", [2]', "2 is not a value of bool"),
        ('f32, "1", ["abc"]', "abc"),
    ],
)
def test_constant_that_is_none_is_refused(value: str, message: str) -> None:
    text = f"%0 = gv.constant {{value = #gv.array<{value}>}} : () -> tensor<1xf32>"
    with pytest.raises((ParseError, VerifyError)) as raised:
        parse(text, "f.mlir")
    assert message in str(raised.value)


def seconds_to_refuse(text: str) -> float:
    """Return how long it takes to find that a text is not a module."""
    start = time.process_time()
    with pytest.raises((ParseError, VerifyError)):
        parse(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    "text",
    [
        '"' + "a" * 40,
        '"' + "\\\\" * 5000,
        "(" * 100000,
        "a" * 1000000,
        "//" * 100000 + '\n"',
        "%" * 10000,
        '%0 = gv.constant {value = #gv.array<f32, "1099511627775, 1099511627775", splat 1.0>} : ()'
        " -> tensor<1xf32>",
        '%0 = gv.constant {value = #gv.array<f32, "99999999999999999999", splat 1.0>} : ()'
        " -> tensor<1xf32>",
    ],
    ids=[
        "string", "escapes", "parentheses", "word", "comments", "percents", "splat", "huge",
    ],
)  # fmt: skip
def test_bad_text_is_refused_soon(text: str) -> None:
    assert seconds_to_refuse(text) < 2.0


def test_every_prefix_of_a_module_is_read_or_refused() -> None:
    for end in range(len(ADD)):
        with suppress(ParseError, VerifyError):
            parse(ADD[:end])


def test_huge_constant_takes_no_memory() -> None:
    text = (
        "func.func @f() -> tensor<1048576x1048576xf32> {\n"
        '  %0 = gv.constant {value = #gv.array<f32, "1048576, 1048576", splat 2.0>}'
        " : () -> tensor<1048576x1048576xf32>\n"
        "  func.return %0 : tensor<1048576x1048576xf32>\n}"
    )
    module = parse(text)
    assert "splat 2.0" in print_module(module)
    (value,) = (
        next(op for op in module.walk() if isinstance(op, Constant)).plain_attributes().values()
    )
    assert value.strides == (0, 0)


def test_what_is_written_at_once_is_what_xdsl_writes():
    module = module_of_everything()
    for i, value in enumerate((0.0, -0.0, 0.0)):  # equal ones, which are written differently
        module.attributes[f"zero{i}"] = FloatAttr(value, xdsl_f32)
    module.attributes["text"] = StringAttr('quote " slash \\ line \n größe')
    stream = StringIO()
    Printer(stream=stream).print_op(module)
    assert print_module(module) == stream.getvalue() + "\n"
