"""Layers of which each row goes through a few, beside onnxruntime: fixed and open, and saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import helper, numpy_helper

import gravure as gv
from gravure.errors import UnsupportedOp

Make = Callable[..., Any]
RANDOM = np.random.default_rng(0)


def draw(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def model_of(kind: str, weights: Mapping[str, Any], names: Any, rank: int, **rules: Any) -> Any:
    experts = next(iter(weights.values())).shape[0]
    rows = ["n", 3] if rank == 3 else ["n"]
    flat = "m" if rank == 3 else "n"
    inputs = [("x", [*rows, 32]), ("p", [flat, experts])]
    graph = helper.make_graph(
        [helper.make_node(kind, ["x", "p", *names], ["y"], domain="com.microsoft", **rules)], "g",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def check(made: Any, rank: int, experts: int, folder: Path, tolerance: float = 1e-5) -> None:
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    dims = {"n": (1, 8), **({"m": (1, 24)} if rank == 3 else {})}
    compiled: Any = gv.compile(data, dims=dims)
    compiled.save(folder / "model.so")
    for count in (1, 5, 8):
        rows = (count, 3) if rank == 3 else (count,)
        feeds = {"x": draw(*rows, 32), "p": draw(int(np.prod(rows)), experts)}
        wanted = peer.run(None, feeds)[0]
        for way in (compiled.run, lambda x: compiled.bind(x)(), gv.load(folder / "model.so").run):
            (found,) = way(feeds)
            scale = np.abs(wanted).max()
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * scale)


FORMS: Mapping[str, Any] = {
    "one": {}, "two": {"k": 2}, "parts of those": {"k": 2, "normalize_routing_weights": 1},
    "all": {"k": 3}, "gelu": {"activation_type": "gelu"}, "silu": {"activation_type": "silu"},
    "identity": {"activation_type": "identity"}, "of rank 3": {"k": 2},
    "without biases": {"k": 2}, "gated": {"activation_type": "swiglu", "swiglu_fusion": 1},
    "gated to a limit": {"activation_type": "swiglu", "swiglu_fusion": 1, "k": 2,
                         "activation_alpha": 1.5, "activation_beta": 1.0, "swiglu_limit": 0.5},
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_rows_go_through_the_layers_with_the_highest_scores(form: str, tmp_path: Path) -> None:
    rules, rank = FORMS[form], 3 if form == "of rank 3" else 2
    wide = 12 if "gated" in form else 6
    weights = {"a": draw(3, wide, 32), "b": draw(3, wide), "c": draw(3, 32, 6), "d": draw(3, 32)}
    names = ["a", "", "c"] if form == "without biases" else ["a", "b", "c", "d"]
    check(model_of("MoE", weights, names, rank, **rules), rank, 3, tmp_path)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("block", [0, 16])
@pytest.mark.parametrize("zeros", [False, True])
def test_layers_of_few_bits(bits: int, block: int, zeros: bool, tmp_path: Path) -> None:
    """Of eight bits in blocks onnxruntime rounds what is multiplied, too."""
    shapes, weights = {"a": (3, 32, 32), "c": (3, 32, 32)}, {}
    for name, (experts, rows, inner) in shapes.items():
        weights[name] = RANDOM.integers(0, 256, (experts, rows, inner * bits // 8)).astype(np.uint8)
        scales = (experts, rows, *([inner // block] if block else []))
        weights[f"{name}s"] = np.abs(draw(*scales)) / 64
        packed = (*scales[:-1], scales[-1] * bits // 8)
        weights[f"{name}z"] = RANDOM.integers(0, 256, packed).astype(np.uint8)
        weights[f"{name}b"] = draw(experts, rows)
    names = ["a", "as", "ab", "c", "cs", "cb", "", "", "", *(["az", "cz"] if zeros else [])]
    rules: Any = {"k": 2, "expert_weight_bits": bits, "activation_type": "silu"}
    rules |= {"block_size": block} if block else {}
    rounded = bits == 8 and block > 0
    check(model_of("QMoE", weights, names, 2, **rules), 2, 3, tmp_path, 2e-2 if rounded else 1e-4)


def test_what_onnxruntime_has_no_code_for_is_refused_by_name() -> None:
    weights = {"a": draw(3, 12, 32), "c": draw(3, 32, 6), "e": draw(3, 6, 32)}
    for names, rules, told in (
        (["a", "", "c", "", "e"], {}, "a third product"),
        (["a", "", "c"], {"activation_type": "swiglu"}, "swiglu_fusion 0"),
        (["a", "", "c"], {"activation_type": "tanh"}, "activation_type 'tanh'"),
        (["a", "", "c"], {"k": 4}, "4 of 3 layers"),
        (["a", "", "c"], {"use_sparse_mixer": 1}, "use_sparse_mixer 1"),
    ):
        made = model_of("MoE", weights, names, 2, **rules)
        with pytest.raises(UnsupportedOp, match=told):
            gv.compile(made.SerializeToString(), dims={"n": (1, 8)})
