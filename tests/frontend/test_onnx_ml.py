"""Operators of `ai.onnx.ml`, beside onnxruntime."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import gravure as gv
from gravure.errors import GravureError, UnsupportedOp
from gravure.frontend.programs.load import load_program
from gravure.ir import spec_of

RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((5, 4)).astype(np.float32)
HOLES = np.where(RANDOM.random((5, 4)) < 0.3, np.nan, X).astype(np.float32)

# Two trees: a stump, and one with a node behind its root; missing values go to the left in one.
TREES = {
    "n_targets": 2,
    "nodes_treeids": [0, 0, 0, 1, 1, 1, 1, 1],
    "nodes_nodeids": [0, 1, 2, 0, 1, 2, 3, 4],
    "nodes_featureids": [1, 0, 0, 2, 3, 0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "BRANCH_LT", "LEAF", "LEAF", "LEAF"],
    "nodes_values": [0.1, 0.0, 0.0, -0.2, 0.4, 0.0, 0.0, 0.0],
    "nodes_truenodeids": [1, 0, 0, 1, 2, 0, 0, 0],
    "nodes_falsenodeids": [2, 0, 0, 4, 3, 0, 0, 0],
    "nodes_missing_value_tracks_true": [1, 0, 0, 0, 1, 0, 0, 0],
    "nodes_hitrates": [1.0] * 8,
    "target_treeids": [0, 0, 1, 1, 1, 1],
    "target_nodeids": [1, 2, 2, 3, 4, 4],
    "target_ids": [0, 1, 1, 0, 0, 1],
    "target_weights": [1.5, -2.0, 0.5, 3.0, 1.0, -0.25],
}

CLASSES = {key.replace("target_", "class_"): value for key, value in TREES.items()}
CLASSES |= {"classlabels_int64s": [4, 9, 2], "class_ids": [0, 1, 1, 2, 0, 1]}
del CLASSES["n_targets"]
TWO = {**CLASSES, "classlabels_int64s": [4, 9], "class_ids": [0] * 6}
SHARES = {"class_weights": [0.1, 0.4, 0.3, 0.0, 0.5, 0.05]}
BOTH = {**TWO, "classlabels_int64s": [0, 1],  # of others onnxruntime gives the places
        "class_treeids": [0] * 4 + [1] * 6, "class_nodeids": [1, 1, 2, 2, 2, 2, 3, 3, 4, 4],
        "class_ids": [0, 1] * 5,
        "class_weights": [1.5, -1.5, -2.0, 2.0, 0.5, -0.5, -1.0, 1.0, 0.25, -0.25]}  # fmt: skip
SECOND = {**TWO, "class_treeids": [0, 0, 1, 1, 1], "class_nodeids": [1, 2, 2, 3, 4],
          "class_ids": [1] * 5}  # fmt: skip

VECTORS = RANDOM.standard_normal((6, 4)).astype(np.float32)
MACHINE = {
    "kernel_type": "RBF",
    "kernel_params": [0.3, 0.5, 3.0],
    "support_vectors": VECTORS.ravel().tolist(),
    "vectors_per_class": [2, 1, 3],
    "classlabels_ints": [5, 2, 9],
    "coefficients": RANDOM.standard_normal(12).tolist(),
    "rho": [0.1, -0.2, 0.3],
}
LIKELY = {"prob_a": [-1.5, -0.8, -2.0], "prob_b": [0.1, 0.0, -0.3]}
DUEL = {**MACHINE, "vectors_per_class": [2, 4], "classlabels_ints": [5, 2], "rho": [0.1],
        "coefficients": RANDOM.standard_normal(6).tolist()}  # fmt: skip
NEAR = {
    **{name: MACHINE[name] for name in ("kernel_type", "kernel_params", "support_vectors")},
    "n_supports": 6, "coefficients": RANDOM.standard_normal(6).tolist(), "rho": [0.25],
}  # fmt: skip
POSTS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")

CASES: list[tuple[str, int, list[np.ndarray], dict[str, Any]]] = [
    ("TreeEnsembleRegressor", 1, [X], TREES),
    ("TreeEnsembleRegressor", 3, [HOLES], {**TREES, "base_values": [0.5, 1.0]}),
    ("TreeEnsembleRegressor", 1, [X], {**TREES, "aggregate_function": "AVERAGE"}),
    ("TreeEnsembleRegressor", 1, [X], {**TREES, "aggregate_function": "MAX", "n_targets": 2}),
    ("TreeEnsembleRegressor", 1, [X], {**TREES, "post_transform": "SOFTMAX"}),
    ("TreeEnsembleClassifier", 1, [X], {**CLASSES, "post_transform": "SOFTMAX"}),
    ("TreeEnsembleClassifier", 3, [X.astype(np.float64)],
     {**CLASSES, "base_values": [0.5, 1.0, 0.0]}),
    *(("TreeEnsembleClassifier", 1, [X], {**TWO, **weights, "post_transform": post})
      for weights in ({}, SHARES) for post in POSTS),
    *(("TreeEnsembleClassifier", 1, [X], {**BOTH, "post_transform": post})
      for post in ("NONE", "LOGISTIC", "SOFTMAX")),
    *(("TreeEnsembleClassifier", 1, [X], {**SECOND, "class_weights": weights})
      for weights in ([0.1, 0.4, 0.3, 0.2, 0.0], [0.1, -0.4, 0.3, -0.2, 0.5])),
    ("TreeEnsembleClassifier", 1, [X], {**BOTH, "class_weights": [0.3, 0.7] * 5}),
    ("LinearClassifier", 1, [X], {"classlabels_ints": [3, 1, 8], "post_transform": "SOFTMAX",
                                  "coefficients": RANDOM.standard_normal(12).tolist(),
                                  "intercepts": [0.1, -0.2, 0.3]}),
    *(("LinearClassifier", 1, [X], {"classlabels_ints": [3, 8], "post_transform": post,
                                    "coefficients": [0.1, 0.5, -0.3, 0.2], "intercepts": [0.1]})
      for post in POSTS),
    *(("LinearClassifier", 1, [X], {"classlabels_ints": [3, 8, 5][:n], "post_transform": post,
                                    "coefficients": [0.1] * 4 * n, "intercepts": [0.4] * n})
      for n in (2, 3) for post in ("PROBIT", "SOFTMAX_ZERO")),
    ("LinearRegressor", 1, [X / 9], {"coefficients": [0.1, 0.2, 0.1, -0.1], "intercepts": [0.5],
                                     "post_transform": "PROBIT"}),
    ("LinearRegressor", 1, [X - X[:, :1]], {
        "targets": 3, "coefficients": [1.0, *[0.0] * 3, *([0.5] * 8)],
        "intercepts": [0.0, 1.0, 0.0], "post_transform": "SOFTMAX_ZERO"}),
    ("Scaler", 1, [X], {"offset": [0.5, 0.0, 1.0, -1.0], "scale": [1.0, 2.0, 3.0, 4.0]}),
    ("Normalizer", 1, [X], {"norm": "L1"}),
    ("Normalizer", 1, [X], {"norm": "L2"}),
    ("Normalizer", 1, [np.float32([[1, -5, 3], [-1, -2, -4], [-1, 0, -2]])], {"norm": "MAX"}),
    ("Imputer", 1, [HOLES], {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0],
                             "replaced_value_float": float("nan")}),
    ("LinearRegressor", 1, [X], {"targets": 2, "coefficients": [*map(float, range(8))],
                                 "intercepts": [0.5, -0.5]}),
    ("OneHotEncoder", 1, [np.array([3, 5, 9], np.int64)], {"cats_int64s": [5, 7, 3]}),
    ("FeatureVectorizer", 1, [X, X[:, :2].copy()], {"inputdimensions": [4, 2]}),
    ("ArrayFeatureExtractor", 1, [X, np.array([2, 0], np.int64)], {}),
    ("Binarizer", 1, [X], {"threshold": 0.25}),
    ("LabelEncoder", 2, [np.array([[4, 2], [1, 4]], np.int64)],
     {"keys_int64s": [1, 4], "values_floats": [0.5, 1.5], "default_float": -3.0}),
    ("LabelEncoder", 2, [np.array([0.5, 2.0], np.float32)],
     {"keys_floats": [2.0, 0.5], "values_int64s": [7, 8]}),
    *(("SVMClassifier", 1, [X], {**MACHINE, "kernel_type": kind})
      for kind in ("LINEAR", "POLY", "SIGMOID", "RBF")),
    ("SVMClassifier", 1, [X], {**MACHINE, **LIKELY}),
    ("SVMClassifier", 1, [X], {**MACHINE, **LIKELY, "post_transform": "SOFTMAX"}),
    *(("SVMClassifier", 1, [X], {**DUEL, "post_transform": post}) for post in POSTS),
    *(("SVMClassifier", 1, [X], {**DUEL, "prob_a": [-1.5], "prob_b": [0.1], "post_transform": post})
      for post in (*POSTS, "PROBIT")),
    ("SVMClassifier", 1, [X], {**MACHINE, **LIKELY, "prob_b": [2.0, 0.0, -1.0],
                                 "post_transform": "PROBIT"}),
    *(("SVMClassifier", 1, [X], {**DUEL, "coefficients": [0.1, 0.4, 0.2, 0.9, 0.3, 0.0],
                                 "rho": [rho]}) for rho in (0.1, -0.7, -3.0)),
    ("SVMRegressor", 1, [X], NEAR),
    ("SVMRegressor", 1, [X], {**NEAR, "one_class": 1}),
    ("SVMRegressor", 1, [X],
     {"coefficients": [0.5, -1.0, 2.0, 0.25], "rho": [0.5], "kernel_type": "LINEAR",
      "kernel_params": [0.0, 0.0, 0.0]}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{'-'.join(case[3])[-40:]}")
def test_an_operator_is_what_onnxruntime_says(
    case: tuple[str, int, list[np.ndarray], dict[str, Any]],
    model: Callable[..., Any],
    same_as_onnxruntime: Callable[..., None],
) -> None:
    operator, version, operands, attributes = case
    names = [f"x{i}" for i in range(len(operands))]
    kinds = {"float32": "f32", "float64": "f64", "int64": "i64"}
    outputs = ["y", "scores"] if operator.endswith("Classifier") else ["y"]
    inputs = {n: (kinds[x.dtype.name], x.shape) for n, x in zip(names, operands, strict=True)}
    node = helper.make_node(operator, names, outputs, domain="ai.onnx.ml", **attributes)
    made = model([node], inputs, outputs)
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", version))
    same_as_onnxruntime(made, *operands)


def chains(depths: list[int]) -> dict[str, Any]:
    """Return trees of a node below each node: one gives the number of steps to its leaf."""
    rows = [(tree, 2 * k + leaf, k, leaf) for tree, depth in enumerate(depths)
            for k in range(depth + 1) for leaf in (0, 1) if k < depth or not leaf]  # fmt: skip
    ends = [bool(leaf) or k == depths[tree] for tree, _, k, leaf in rows]
    leaves = [row for row, end in zip(rows, ends, strict=True) if end]
    return {
        "n_targets": 1,
        "nodes_treeids": [tree for tree, _, _, _ in rows],
        "nodes_nodeids": [number for _, number, _, _ in rows],
        "nodes_featureids": [k % 4 for _, _, k, _ in rows],
        "nodes_modes": ["LEAF" if end else "BRANCH_LEQ" for end in ends],
        "nodes_values": [0.8 - k / 20 for _, _, k, _ in rows],
        "nodes_truenodeids": [
            0 if end else 2 * row[2] + 2 for row, end in zip(rows, ends, strict=True)
        ],
        "nodes_falsenodeids": [
            0 if end else 2 * row[2] + 1 for row, end in zip(rows, ends, strict=True)
        ],
        "target_treeids": [tree for tree, _, _, _ in leaves],
        "target_nodeids": [number for _, number, _, _ in leaves],
        "target_ids": [0] * len(leaves),
        "target_weights": [float(k) for _, _, k, _ in leaves],
    }


def trees(model: Callable[..., Any], depths: list[int]) -> Any:
    """Return a model of such trees."""
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **chains(depths)
    )
    made = model([node], {"x": ("f32", ["N", 4])}, ["y"])
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return made


@pytest.mark.parametrize("depths", [[28], [3, 28, 1, 9]])
def test_deep_trees_are_no_layers(
    model: Callable[..., Any], same_as_onnxruntime: Callable[..., None], depths: list[int]
) -> None:
    made = trees(model, depths)
    same_as_onnxruntime(made, X)
    compiled = gv.compile(made.SerializeToString(), dims={"N": (1, 9)}, cache=False)
    found = [int(np.argmax([*(x[k % 4] > np.float32(0.8 - k / 20) for k in range(most)), True]))
             for x in X for most in depths]  # fmt: skip
    wanted = np.float32(found).reshape(len(X), len(depths)).sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(compiled(X), wanted)


def test_trees_of_few_steps_do_not_go_as_far_as_the_deepest(model: Callable[..., Any]) -> None:
    program = load_program(trees(model, [16, *[1] * 31]).SerializeToString(), shapes={"x": (5, 4)})
    looked = [op for op in program.module.walk() if op.name == "gv.gather_elements"]
    assert sum(np.prod(spec_of(op.results[0].type).shape) for op in looked) == 5 * 15


ASKS = {
    "BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal,
    "BRANCH_GT": np.greater, "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal,
}  # fmt: skip


def grown(seed: int, modes: list[str]) -> dict[str, Any]:
    """Return seven trees that were drawn: each node asks by a mode, leaves weigh some classes."""
    draw = np.random.default_rng(seed)
    rows: list[tuple[int, int, str, int, int]] = []
    for tree in range(7):
        waiting, number = [(0, 0)], 0
        while waiting:
            own, depth = waiting.pop()
            ends = depth == 4 or (depth > 0 and draw.random() < 0.3)
            yes, no = (0, 0) if ends else (number + 1, number + 2)
            rows.append((tree, own, "LEAF" if ends else str(draw.choice(modes)), yes, no))
            if not ends:
                waiting += [(yes, depth + 1), (no, depth + 1)]
                number += 2
    leaves = [(tree, own) for tree, own, mode, _, _ in rows if mode == "LEAF"]
    named = [(*leaf, c) for leaf in leaves for c in range(3) if draw.random() < 0.6]
    return {
        "nodes_treeids": [row[0] for row in rows],
        "nodes_nodeids": [row[1] for row in rows],
        "nodes_modes": [row[2] for row in rows],
        "nodes_truenodeids": [row[3] for row in rows],
        "nodes_falsenodeids": [row[4] for row in rows],
        "nodes_featureids": draw.integers(0, 4, len(rows)).tolist(),
        "nodes_values": draw.integers(-2, 3, len(rows)).astype(float).tolist(),
        "nodes_missing_value_tracks_true": draw.integers(0, 2, len(rows)).tolist(),
        "class_treeids": [row[0] for row in named],
        "class_nodeids": [row[1] for row in named],
        "class_ids": [row[2] for row in named],
        "class_weights": np.round(draw.standard_normal(len(named)), 2).tolist(),
        "classlabels_int64s": [4, 9, 2],
    }


def walked(trees: dict[str, Any], row: Any) -> Any:
    """Return the sums of weights of a row, by going from node to node."""
    ids = [*zip(trees["nodes_treeids"], trees["nodes_nodeids"], strict=True)]
    total = np.zeros(3)
    for tree in sorted({*trees["nodes_treeids"]}):
        at = ids.index((tree, 0))
        while (mode := trees["nodes_modes"][at]) != "LEAF":
            value = row[trees["nodes_featureids"][at]]
            tracked = np.isnan(value) and trees["nodes_missing_value_tracks_true"][at]
            holds = tracked or ASKS[mode](value, trees["nodes_values"][at])
            number = trees["nodes_truenodeids" if holds else "nodes_falsenodeids"][at]
            at = ids.index((tree, number))
        leaf = ids[at]
        for weight, *where, column in zip(
            trees["class_weights"], trees["class_treeids"], trees["class_nodeids"],
            trees["class_ids"], strict=True,
        ):  # fmt: skip
            total[column] += weight * ((*where,) == leaf)
    return total


@pytest.mark.parametrize("modes", [*([mode] for mode in ASKS), [*ASKS]], ids="-".join)
def test_trees_go_where_their_nodes_lead(model: Callable[..., Any], modes: list[str]) -> None:
    drawn = grown(len(modes) + len(modes[0]), modes)
    node = helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["y", "scores"], domain="ai.onnx.ml", **drawn
    )
    made = model([node], {"x": ("f32", ["N", 4])}, ["y", "scores"])
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    draw = np.random.default_rng(5)
    x = draw.integers(-3, 4, (40, 4)).astype(np.float32)
    x[draw.random(x.shape) < 0.2] = np.nan
    x[0] = [np.inf, -np.inf, np.inf, np.nan]
    compiled = gv.compile(made.SerializeToString(), dims={"N": (1, 40)}, cache=False)
    wanted = np.stack([walked(drawn, row) for row in x])
    np.testing.assert_allclose(compiled.run([x])[1], wanted, rtol=1e-5, atol=1e-5)


def test_trees_are_gone_through_once_for_what_classes_are_named(model: Callable[..., Any]) -> None:
    drawn = grown(3, ["BRANCH_LEQ"])
    node = helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["y", "scores"], domain="ai.onnx.ml", **drawn
    )
    made = model([node], {"x": ("f32", ["N", 4])}, ["y", "scores"])
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    program = load_program(made.SerializeToString())
    looked = [op for op in program.module.walk() if op.name == "gv.gather_elements"]
    assert len(looked) == 3  # (the first step takes columns)


def test_trees_may_have_leaves_in_common(model: Callable[..., Any]) -> None:
    node = helper.make_node(
        "TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, tree_roots=[0],
        nodes_featureids=[0, 1], nodes_truenodeids=[1, 0], nodes_trueleafs=[0, 1],
        nodes_falsenodeids=[1, 1], nodes_falseleafs=[1, 1], leaf_targetids=[0, 0],
        nodes_modes=helper.make_tensor("modes", TensorProto.UINT8, [2], [0, 5]),
        nodes_splits=helper.make_tensor("splits", TensorProto.FLOAT, [2], [0.0, 1.0]),
        leaf_weights=helper.make_tensor("weights", TensorProto.FLOAT, [2], [3.0, 5.0]),
    )  # fmt: skip
    made = model([node], {"x": ("f32", ["N", 2])}, ["y"])
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 5))
    x = np.float32([[-1, 1], [-1, 2], [1, 1], [np.nan, 2], [0, np.nan]])
    found = gv.compile(made.SerializeToString(), dims={"N": (1, 9)}, cache=False)(x)
    np.testing.assert_array_equal(found, [[5], [3], [5], [5], [3]])


@pytest.mark.parametrize("of_texts", [False, True])
def test_maps_of_classes_are_columns(model: Callable[..., Any], of_texts: bool) -> None:
    labels = {"classlabels_strings": ["a", "b"]} if of_texts else {"classlabels_int64s": [7, 3]}
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **labels)
    made = model([node], {"x": ("f32", ["N", 2])}, ["y"])
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    x = X[:, :2].copy()
    np.testing.assert_array_equal(
        gv.compile(made.SerializeToString(), dims={"N": (1, 9)}).run([x])[0], x
    )


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [("TreeEnsembleClassifier", CLASSES), ("TreeEnsembleClassifier", TWO),
     ("TreeEnsembleClassifier", {**TWO, **SHARES}), ("SVMClassifier", MACHINE),
     ("SVMClassifier", DUEL),
     ("LinearClassifier", {"coefficients": RANDOM.standard_normal(12).tolist(),
                           "classlabels_ints": [3, 1, 8], "intercepts": [0.1, -0.2, 0.3]})],
)  # fmt: skip
def test_classes_whose_labels_are_texts_were_refused(
    model: Callable[..., Any], operator: str, attributes: dict[str, Any]
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    labels = [key for key in attributes if key.startswith("classlabels")]
    texts = [f"class {n}" for n in attributes[labels[0]]]
    given = {k: v for k, v in attributes.items() if k not in labels}
    node = helper.make_node(
        operator, ["x"], ["y", "scores"], domain="ai.onnx.ml", classlabels_strings=texts, **given
    )
    made = model([node], {"x": ("f32", ["N", 4])}, ["y", "scores"])
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    data = made.SerializeToString()
    label, scores = gv.compile(data, dims={"N": (1, 9)}).run([X])
    wanted = onnxruntime.InferenceSession(data).run(None, {"x": X})
    assert label.tolist() == wanted[0].tolist()
    np.testing.assert_allclose(scores, wanted[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel_type": "COSINE"}, "expected LINEAR, POLY, RBF or SIGMOID"),
        ({"vectors_per_class": [6]}, "1 counts of support vectors for 3 classes"),
        ({"classlabels_ints": None}, "neither classlabels_ints nor classlabels_strings"),
    ],
)
def test_machines_of_other_forms_are_refused(
    model: Callable[..., Any], change: dict[str, Any], message: str
) -> None:
    attributes = {k: v for k, v in {**MACHINE, **change}.items() if v is not None}
    node = helper.make_node(
        "SVMClassifier", ["x"], ["y", "scores"], domain="ai.onnx.ml", **attributes
    )
    made = model([node], {"x": ("f32", X.shape)}, ["y", "scores"])
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    with pytest.raises(GravureError, match=message):
        gv.compile(made.SerializeToString())


def texts_into(
    model: Callable[..., Any], operator: str, domain: str, rows: Any, **rules: Any
) -> tuple[Any, Any]:
    """Return a model of one operator on texts, and what gravure and onnxruntime make of rows."""
    onnxruntime = pytest.importorskip("onnxruntime")
    made = model([helper.make_node(operator, ["x"], ["y"], domain=domain, **rules)], {}, ["y"])
    made.graph.input.append(
        helper.make_tensor_value_info("x", TensorProto.STRING, [None] * np.ndim(rows))
    )
    made.opset_import.append(helper.make_opsetid(domain, 1))
    data, feed = made.SerializeToString(), np.array(rows, object)
    names = [each.name for each in onnxruntime.InferenceSession(data).get_inputs()]
    [wanted] = onnxruntime.InferenceSession(data).run(None, {names[0]: feed})
    dims = {f"x_d{axis}": (1, 9) for axis in range(np.ndim(rows))}
    [found] = gv.compile(data, dims=dims).run([feed])
    return found, wanted


@pytest.mark.parametrize("mark", [0, 1])
@pytest.mark.parametrize("rows", [["a dog, cat_1", "", "z\nz"], [["one two"], ["three"]]])
@pytest.mark.parametrize(("pattern", "least"), [("[a-zA-Z0-9_]+", 1), ("[a-z]+", 2), (".", 1)])
def test_words_of_texts_are_those_of_onnxruntime(
    model: Callable[..., Any], rows: Any, pattern: str, least: int, mark: int
) -> None:
    """As pipelines of texts are exported from scikit-learn."""
    rules = {"tokenexp": pattern, "mincharnum": least, "mark": mark, "pad_value": "#"}
    found, wanted = texts_into(model, "Tokenizer", "com.microsoft", rows, **rules)
    assert found.tolist() == wanted.tolist()
    assert found.shape == wanted.shape


def test_categories_that_are_texts(model: Callable[..., Any]) -> None:
    rows = [["red"], ["blue"], ["none of them"], ["green"]]
    cats = ["blue", "green", "red"]
    found, wanted = texts_into(model, "OneHotEncoder", "ai.onnx.ml", rows, cats_strings=cats)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_words_between_separators_are_refused_by_name(model: Callable[..., Any]) -> None:
    rules = {"separators": [" "], "mincharnum": 1, "mark": 0, "pad_value": ""}
    with pytest.raises(UnsupportedOp, match=r"Tokenizer.*words between separators"):
        texts_into(model, "Tokenizer", "com.microsoft", ["a b"], **rules)


@pytest.mark.parametrize("exact", [0, 1])
@pytest.mark.parametrize("case", ["UPPER", "LOWER", "NONE"])
def test_texts_in_one_case_are_not_taken_apart(
    model: Callable[..., Any], case: str, exact: int
) -> None:
    """Accents were taken away, empty texts left out, and words inside of texts looked at."""
    more = {"case_change_action": case, "is_case_sensitive": exact, "locale": "C"}
    node = helper.make_node("StringNormalizer", ["x"], ["y"], stopwords=["the", "Un"], **more)
    made = model([node], {"x": ("string", ["n"])}, ["y"])
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = gv.compile(data, dims={"n": (1, 9)})
    accents = "Café" if case == "NONE" else "Cafe"  # of other letters its locale knows none
    for texts in (["The", "", "the end", "un", accents], ["the", "Un"], ["  a  "]):
        x = np.array(texts, object)
        np.testing.assert_array_equal(found(x), peer.run(None, {"x": x})[0])
