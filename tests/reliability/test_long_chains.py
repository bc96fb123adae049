"""Long chains of equal layers: compiled as few, and the same bits as all."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.codegen.compiled import Options
from gravure.codegen.profile import profiled
from gravure.codegen.stages import lower
from gravure.errors import GraphError, GravureError, ParseError
from gravure.frontend.models.compiled import load_compiled
from gravure.frontend.programs.load import load_program
from gravure.ir import print_module
from gravure.runtime.artifact import Repeat, launches
from gravure.runtime.profile import profile

pytestmark = pytest.mark.sweep
WIDTH = 8
WHOLE = ("cut-layers",)
"""What is left out so that all layers go through all passes."""


class Builder:
    """Makes a model of layers."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: dict[str, Any] = {}
        self.random = np.random.default_rng(0)

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Append a node; return the name of its output."""
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def weight(self, name: str, *shape: int) -> str:
        """Store a weight."""
        array = self.random.standard_normal(shape) / np.sqrt(shape[0])
        self.weights[name] = array.astype(np.float32)
        return name

    def model(self, shape: tuple[Any, ...], last: str) -> bytes:
        """Return the model, from x to a value."""
        ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("x", last)]
        stored = [numpy_helper.from_array(array, name) for name, array in self.weights.items()]
        graph = helper.make_graph(self.nodes, "layers", ends[:1], ends[1:], stored)
        made: onnx.ModelProto = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
        )
        return made.SerializeToString()


def products(count: int, rows: Any = 2) -> bytes:
    """Return layers of a product; what one writes the next one reads."""
    make, value = Builder(), "x"
    for i in range(count):
        product = make.node("MatMul", value, make.weight(f"w{i}", WIDTH, WIDTH))
        value = make.node("Tanh", make.node("Add", product, make.weight(f"b{i}", WIDTH)))
    return make.model((rows, WIDTH), value)


def small(count: int) -> bytes:
    """Return layers of a product with so few numbers that they are constants."""
    make, value = Builder(), "x"
    for i in range(count):
        product = make.node("MatMul", value, make.weight(f"w{i}", 4, 4))
        value = make.node("Tanh", product)
    return make.model((2, 4), value)


def residual(count: int) -> bytes:
    """Return layers that add what goes in, of a mask that all share, between other layers."""
    make = Builder()
    mask = make.node("Sigmoid", "x")
    value = make.node("MatMul", "x", make.weight("first", WIDTH, WIDTH))
    for i in range(count):
        inner = make.node("Relu", make.node("MatMul", value, make.weight(f"a{i}", WIDTH, 16)))
        outer = make.node("MatMul", inner, make.weight(f"c{i}", 16, WIDTH))
        value = make.node("Mul", make.node("Add", outer, value), mask)
    return make.model((2, WIDTH), make.node("Softmax", value))


def convolutions(count: int) -> bytes:
    """Return layers of a convolution."""
    make, value = Builder(), "x"
    for i in range(count):
        weight = make.weight(f"w{i}", 4, 4, 3, 3)
        value = make.node("Relu", make.node("Conv", value, weight, pads=[1, 1, 1, 1]))
    return make.model((1, 4, 6, 6), value)


def attention(count: int) -> bytes:
    """Return layers of attention and normalisation."""
    make, value = Builder(), "x"
    for i in range(count):
        q, k, v = (make.node("MatMul", value, make.weight(f"{n}{i}", 36, 36)) for n in "qkv")
        scores = make.node("MatMul", q, make.node("Transpose", k, perm=[0, 2, 1]))
        mixed = make.node("Add", make.node("MatMul", make.node("Softmax", scores), v), value)
        scale, shift = make.weight(f"scale{i}", 36), make.weight(f"shift{i}", 36)
        value = make.node("LayerNormalization", mixed, scale, shift)
    return make.model((1, 5, 36), value)


def sharing(count: int, turns: int = 1, pieces: int = 1) -> bytes:
    """Return layers that take turns with weights, each of them in so many layers in a row."""
    make, value = Builder(), "x"
    for i in range(count):
        number = i % turns if pieces == 1 else i // pieces
        name = f"w{number}" if f"w{number}" in make.weights else make.weight(f"w{number}", 8, 8)
        value = make.node("Tanh", make.node("MatMul", value, name))
        if turns > 1:
            value = make.node("Add", value, make.weight(f"b{i}", WIDTH))
    return make.model((2, WIDTH), value)


def normalised(count: int) -> bytes:
    """Return layers of a convolution and a batch normalisation, whose numbers are constants."""
    make, value = Builder(), "x"
    for i in range(count):
        weight = make.weight(f"w{i}", 4, 4, 3, 3)
        names = [make.weight(f"{name}{i}", 4) for name in ("scale", "shift", "mean", "variance")]
        make.weights[names[-1]] = np.abs(make.weights[names[-1]]) + np.float32(1)
        value = make.node("Conv", value, weight, pads=[1, 1, 1, 1])
        value = make.node("Relu", make.node("BatchNormalization", value, *names))
    return make.model((1, 4, 6, 6), value)


def normalised_blocks(count: int) -> bytes:
    """Return residual blocks of two convolutions with biases, each with a batch normalisation."""
    make, value = Builder(), "x"
    for i in range(count):
        inner = value
        for part in "ab":
            weight, bias = make.weight(f"w{part}{i}", 4, 4, 3, 3), make.weight(f"bias{part}{i}", 4)
            kinds = ("scale", "shift", "mean", "variance")
            names = [make.weight(f"{name}{part}{i}", 4) for name in kinds]
            make.weights[names[-1]] = np.abs(make.weights[names[-1]]) + np.float32(1)
            inner = make.node("Conv", inner, weight, bias, pads=[1, 1, 1, 1])
            inner = make.node("BatchNormalization", inner, *names)
            inner = make.node("Relu", inner) if part == "a" else inner
        value = make.node("Relu", make.node("Add", inner, value))
    return make.model((1, 4, 6, 6), value)


def transformer(count: int, width: int = 16, heads: int = 2, length: int = 8) -> bytes:
    """Return layers of a transformer, with twelve weights each."""
    make, value = Builder(), "x"
    make.weights["heads"] = np.array([1, length, heads, width // heads], np.int64)
    make.weights["whole"] = np.array([1, length, width], np.int64)
    make.weights["scale"] = np.array((width // heads) ** -0.5, np.float32)

    def product(x: str, name: str, inner: int, outer: int, bias: str = "") -> str:
        made = make.node("MatMul", x, make.weight(name, inner, outer))
        return make.node("Add", made, make.weight(bias, outer)) if bias else made

    for i in range(count):
        names = [make.weight(f"{kind}{i}", width) for kind in ("g0_", "h0_", "g1_", "h1_")]
        x = make.node("LayerNormalization", value, *names[:2])
        rows = [make.node("Reshape", product(x, f"{n}{i}", width, width), "heads") for n in "qkv"]
        q, k, v = (make.node("Transpose", row, perm=[0, 2, 1, 3]) for row in rows)
        scores = make.node("MatMul", q, make.node("Transpose", k, perm=[0, 1, 3, 2]))
        mixed = make.node("MatMul", make.node("Softmax", make.node("Mul", scores, "scale")), v)
        mixed = make.node("Reshape", make.node("Transpose", mixed, perm=[0, 2, 1, 3]), "whole")
        value = make.node("Add", value, product(mixed, f"o{i}", width, width, f"ob{i}"))
        x = make.node("LayerNormalization", value, *names[2:])
        inner = make.node("Relu", product(x, f"u{i}", width, 4 * width, f"ub{i}"))
        value = make.node("Add", value, product(inner, f"d{i}", 4 * width, width))
    return make.model((1, length, width), value)


CASES: dict[str, tuple[bytes, dict[str, Any]]] = {
    "products": (products(30), {}),
    "an odd number of products": (products(31), {}),
    "an open number of rows": (products(27, "N"), {"dims": {"N": (1, 9)}}),
    "residual": (residual(30), {}),
    "convolutions": (convolutions(30), {}),
    "attention": (attention(26), {}),
    "transformer": (transformer(26), {}),
    "one weight for all": (sharing(40), {}),
    "two weights by turns": (sharing(60, turns=2), {}),
    "three weights by turns": (sharing(90, turns=3), {}),
    "a weight for two layers each": (sharing(60, pieces=2), {}),
}


def argument(data: bytes) -> Any:
    """Return a value of the shape of a model's input."""
    [value] = onnx.load_from_string(data).graph.input
    shape = [dim.dim_value or 7 for dim in value.type.tensor_type.shape.dim]
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def trips(model: Any) -> int:
    """Return the trips of the loop over layers; 0 without one."""
    return sum(s.count for s in model.compiled.description.steps if isinstance(s, Repeat))


@pytest.mark.parametrize("case", CASES)
def test_a_long_chain_is_one_loop_and_gives_the_same_bits(case: str) -> None:
    data, options = CASES[case]
    x = argument(data)
    model = gv.compile(data, cache=False, **options)
    whole = gv.compile(data, cache=False, disable=WHOLE, **options)
    assert trips(model) >= 12
    assert not trips(whole)
    expected = whole.run([x])[0]
    assert np.isfinite(expected).all()
    assert np.array_equal(model.run([x])[0], expected)
    shared = gv.compile(data, cache=False, threads=2, **options)
    assert np.array_equal(shared.run([x])[0], expected)
    assert model.compiled.peak == whole.compiled.peak
    assert model.compiled.description.weights == whole.compiled.description.weights


@pytest.mark.parametrize("count", [30, 600])
def test_layers_may_have_constants_alone_that_are_prepared(count: int, tmp_path: Path) -> None:
    """No weight is given then, and the library has a function that prepares them all the same."""
    data = small(count)
    x = argument(data)
    model = gv.compile(data, cache=False)
    assert trips(model) >= 12
    assert model.compiled.description.prepare
    assert not model.compiled.description.raw
    expected = gv.compile(data, cache=False, disable=WHOLE).run([x])[0]
    assert np.array_equal(model.run([x])[0], expected)
    model.save(tmp_path / "m.so")
    assert np.array_equal(gv.load(tmp_path / "m.so").run([x])[0], expected)


@pytest.mark.parametrize("build", [normalised, normalised_blocks])
def test_constants_of_layers_that_are_prepared_are_in_tables(build: Any, tmp_path: Path) -> None:
    data = build(30)
    x = argument(data)
    model = gv.compile(data, cache=False)
    whole = gv.compile(data, cache=False, disable=WHOLE)
    assert trips(model) >= 12
    expected = whole.run([x])[0]
    assert np.allclose(model.run([x])[0], expected, rtol=1e-5)
    weights = {each.name: numpy_helper.to_array(each)
               for each in onnx.load_from_string(data).graph.initializer}  # fmt: skip
    given = {name: array * 2 for name, array in weights.items() if name.startswith("w")}
    raw = model.compiled.description.raw_names
    assert sorted(raw) == sorted(given) == sorted(whole.compiled.description.raw_names)
    model.save(tmp_path / "model.so")
    loaded = gv.load(tmp_path / "model.so")
    assert np.array_equal(loaded.run([x])[0], model.run([x])[0])
    for each in (model, loaded, whole):
        each.set_weights(given)
    assert np.allclose(model.run([x])[0], whole.run([x])[0], rtol=1e-5)
    assert np.array_equal(loaded.run([x])[0], model.run([x])[0])
    assert not np.allclose(model.run([x])[0], expected, rtol=1e-2)


def test_a_long_chain_is_kept_saved_and_given_other_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path / "cache"))
    data = residual(30)
    x = argument(data)
    model = gv.compile(data)
    expected = model.run([x])[0]
    assert np.array_equal(gv.compile(data).run([x])[0], expected)
    model.save(tmp_path / "model.so")
    loaded = gv.load(tmp_path / "model.so")
    assert np.array_equal(loaded.run([x])[0], expected)
    given = onnx.load_from_string(data).graph.initializer
    weights = {each.name: numpy_helper.to_array(each) for each in given}
    for layer in (0, 14, 29):
        changed = weights | {f"a{layer}": weights[f"a{layer}"] + np.float32(0.5)}
        model.set_weights(changed)
        found = model.run([x])[0]
        assert not np.array_equal(found, expected)
        other = onnx.load_from_string(data)
        [tensor] = [each for each in other.graph.initializer if each.name == f"a{layer}"]
        tensor.CopyFrom(numpy_helper.from_array(changed[tensor.name], tensor.name))
        again = gv.compile(other.SerializeToString(), cache=False, disable=WHOLE)
        assert np.array_equal(found, again.run([x])[0])


def test_a_profile_of_a_long_chain_names_its_nodes_and_counts_its_trips() -> None:
    data = residual(30)
    model = gv.compile(data, cache=False)
    found = profile(load_compiled(profiled(model.compiled), 1), [argument(data)], seconds=0.01)
    works = [step.work for step in launches(model.compiled.description.steps)]
    assert len(found.launches) == len(works)
    assert 0.2 * found.inside < sum(found.launches) < 1.01 * found.inside
    sources = [source for work in works if work is not None for source in work.sources]
    assert any("matmul" in each and " ... " in each for each in sources), sources
    whole = gv.compile(data, cache=False, disable=WHOLE).compiled.description.steps
    done = [sum(s.work.numbers[0] for s in launches(steps) if s.work is not None)
            for steps in (model.compiled.description.steps, whole)]  # fmt: skip
    assert done[0] == done[1], "multiplications of all trips count"


def test_stages_have_all_layers_and_go_on_from_there(tmp_path: Path) -> None:
    data = products(30)
    x = argument(data)
    expected = gv.compile(data, cache=False).run([x])[0]
    for stage, count in (("graph", 60), ("fused", 60), ("planned", 0)):
        program = load_program(data)
        lower(program, Options(cache=False), stage)
        text = print_module(program.module)
        assert text.count("gv.weight {") == count
        assert ("gv.repeat" in text) == (stage == "planned")
    path = tmp_path / "model.mlir"
    gv.emit(data, path, "ir@planned")
    assert np.array_equal(gv.compile(path, cache=False).run([x])[0], expected)


def test_layers_that_do_not_become_alike_are_compiled_as_a_whole() -> None:
    make, value = Builder(), "x"
    for i in range(40):
        value = make.node("Tanh", make.node("Add", value, make.weight(f"b{i}", 64)))
    data = make.model((3, 64), value)
    model = gv.compile(data, cache=False)
    assert not trips(model)
    whole = gv.compile(data, cache=False, disable=WHOLE)
    assert np.array_equal(model.run([argument(data)])[0], whole.run([argument(data)])[0])


def test_check_compares_a_long_chain_with_what_it_was() -> None:
    found = gv.check(residual(26))
    assert not found.findings


@pytest.mark.parametrize("build", [products, sharing, normalised, normalised_blocks, transformer])
def test_x7_a_hundred_times_as_many_layers_do_not_take_much_longer(build: Any) -> None:
    """Counted in functions called: what a machine does besides has no part in it."""
    from cProfile import Profile  # noqa: PLC0415

    def calls(count: int) -> int:
        data, watch = build(count), Profile()
        watch.runcall(gv.compile, data, cache=False)
        return sum(entry.callcount for entry in watch.getstats())

    calls(30)  # what is done once for all is done
    few, many = calls(10), calls(1000)
    assert many < 3 * few, (few, many)


def numbers(tensor: Any) -> None:
    """Write the elements of a tensor as a list of numbers."""
    array = numpy_helper.to_array(tensor)
    tensor.CopyFrom(helper.make_tensor(tensor.name, tensor.data_type, array.shape, array.ravel()))


def noted(tensor: Any) -> None:
    """Give a tensor a text for readers."""
    tensor.doc_string = f"of {tensor.name}"


def odd_extents(data: bytes) -> bytes:
    """Return a model whose tensors have their extents in one field, as some writers have it."""
    made = onnx.load_from_string(data)
    for tensor in made.graph.initializer:
        row = bytes(tensor.dims)
        tensor.ClearField("dims")
        tensor.MergeFromString(b"\x0a" + bytes([len(row)]) + row)
    return made.SerializeToString()


@pytest.mark.parametrize("write", [numbers, noted])
def test_a_chain_is_read_as_few_layers_however_weights_are_written(write: Any) -> None:
    data = residual(30)
    made = onnx.load_from_string(data)
    for tensor in made.graph.initializer:
        write(tensor)
    model = gv.compile(made.SerializeToString(), cache=False)
    assert trips(model) >= 12
    assert np.array_equal(model.run([argument(data)])[0], gv.compile(data).run([argument(data)])[0])


def test_a_chain_has_its_weights_beside_the_file(tmp_path: Path) -> None:
    data = residual(30)
    path = tmp_path / "model.onnx"
    made = onnx.load_from_string(data)
    onnx.save(made, path, save_as_external_data=True, size_threshold=0)
    model = gv.compile(path, cache=False)
    assert trips(model) >= 12
    expected = gv.compile(data, cache=False).run([argument(data)])[0]
    assert np.array_equal(model.run([argument(data)])[0], expected)
    old = onnx.load_from_string(data)
    old.ir_version = 3  # all that is stored is declared as an input, too
    old.graph.input.extend(
        helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in old.graph.initializer
    )
    declared = gv.compile(old.SerializeToString(), cache=False)
    assert [each.name for each in declared.inputs] == ["x"]
    assert np.array_equal(declared.run([argument(data)])[0], expected)


def test_a_layer_that_is_left_out_is_looked_at_as_others_are(tmp_path: Path) -> None:
    data = residual(30)
    wrong = [
        (data.replace(b"a14", b"a\xff4"), ParseError, "is not UTF-8"),
        (data.replace(b"matmul42", b"matmul\xff2"), ParseError, "is not UTF-8"),
    ]
    cut, twice, lost = (onnx.load_from_string(data) for _ in range(3))
    [tensor] = [each for each in cut.graph.initializer if each.name == "a14"]
    tensor.raw_data = tensor.raw_data[:-4]
    wrong.append((cut.SerializeToString(), ParseError, "tensor 'a14': 508 bytes of data"))
    [tensor] = [each for each in twice.graph.initializer if each.name == "a14"]
    twice.graph.initializer.append(tensor)
    wrong.append((twice.SerializeToString(), ParseError, "'a14' is given twice"))
    [node] = [each for each in lost.graph.node if "a14" in each.input]
    node.input[1] = "nowhere"
    wrong.append((lost.SerializeToString(), GraphError, "'nowhere' is made by nothing"))
    for model, kind, text in wrong:
        with pytest.raises(kind, match=text):
            gv.compile(model, cache=False)
    with pytest.raises(GravureError, match="no stored tensor 'a77'"):
        gv.compile(data, cache=False, settable=["a14", "a77"])


def test_extents_in_one_field_are_read_as_others_are() -> None:
    data = products(30)
    expected = gv.compile(data, cache=False).run([argument(data)])[0]
    found = gv.compile(odd_extents(data), cache=False).run([argument(data)])[0]
    assert np.array_equal(found, expected)
