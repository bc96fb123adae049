"""Pipelines of scikit-learn on numbers, on words and on both."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn import (
    calibration,
    compose,
    ensemble,
    feature_extraction,
    feature_selection,
    impute,
    linear_model,
    model_selection,
    multiclass,
    multioutput,
    neighbors,
    preprocessing,
    tree,
)
from sklearn.decomposition import PCA
from sklearn.pipeline import FeatureUnion, make_pipeline

WORDS = np.array(
    ["the cat sat", "a dog ran off", "the dog sat down", "two cats and a dog", "no one sat", "run"]
    * 10
)
OPSETS = {"": 18, "ai.onnx.ml": 3}


def pipeline_of(name: str) -> tuple[Any, Any, Any]:
    """Return a pipeline, what it is fitted to and the targets."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((60, 5)).astype(np.float32)
    labels = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0).astype(int) + (rows[:, 3] > 0.4)
    kinds = np.array(["red", "green", "blue"])[labels].reshape(-1, 1)
    classify = linear_model.LogisticRegression(max_iter=500)
    text = feature_extraction.text
    numbers = {
        "scaled": make_pipeline(preprocessing.StandardScaler(), classify),
        "chosen": make_pipeline(
            feature_selection.SelectKBest(k=3), preprocessing.MinMaxScaler(), classify
        ),
        "joined": make_pipeline(
            FeatureUnion([("a", PCA(2)), ("b", preprocessing.StandardScaler())]), classify
        ),
        "columns": make_pipeline(
            compose.ColumnTransformer(
                [
                    ("a", preprocessing.StandardScaler(), [0, 1]),
                    ("b", preprocessing.MinMaxScaler(), [2, 3]),
                ],
                remainder="passthrough",
            ),
            tree.DecisionTreeClassifier(max_depth=4),
        ),
        "missing": make_pipeline(impute.SimpleImputer(), classify),
        "voted": ensemble.VotingClassifier(
            [("a", classify), ("b", tree.DecisionTreeClassifier(max_depth=3))], voting="soft"
        ),
        "stacked": ensemble.StackingClassifier(
            [("a", classify), ("b", tree.DecisionTreeClassifier(max_depth=3))]
        ),
        "calibrated": calibration.CalibratedClassifierCV(classify, cv=3),
        "searched": model_selection.GridSearchCV(classify, {"C": [0.1, 1.0]}),
        "chained": make_pipeline(
            preprocessing.PolynomialFeatures(2), preprocessing.Normalizer(), classify
        ),
        "several_outputs": multioutput.MultiOutputRegressor(linear_model.Ridge()),
        "one_vs_rest": multiclass.OneVsRestClassifier(classify),
        "nearest": make_pipeline(preprocessing.StandardScaler(), neighbors.KNeighborsClassifier(3)),
        "binned": make_pipeline(preprocessing.KBinsDiscretizer(4, encode="onehot-dense"), classify),
        "named": make_pipeline(
            preprocessing.StandardScaler(), tree.DecisionTreeClassifier(max_depth=3)
        ),
        "spline": make_pipeline(preprocessing.PowerTransformer(), classify),
    }
    if name == "missing":
        rows[::7, 2] = np.nan
    if name == "named":
        return numbers[name], rows, kinds[:, 0]
    if name in numbers:
        return numbers[name], rows, rows[:, :2] if name == "several_outputs" else labels
    words = {
        "texts": make_pipeline(text.TfidfVectorizer(), classify),
        "counted": make_pipeline(text.CountVectorizer(ngram_range=(1, 2)), classify),
        "hashed_words": make_pipeline(
            text.CountVectorizer(analyzer="char", ngram_range=(2, 3)), classify
        ),
    }
    if name in words:
        return words[name], WORDS, labels
    coded = {
        "categories": preprocessing.OneHotEncoder(handle_unknown="ignore"),
        "ordinal": preprocessing.OrdinalEncoder(),
    }
    if name in coded:
        return make_pipeline(coded[name], classify), kinds, labels
    table = {"number": rows[:, :1], "kind": kinds, "words": WORDS.reshape(-1, 1)}
    columns = compose.ColumnTransformer(
        [
            ("n", preprocessing.StandardScaler(), ["number"]),
            ("k", preprocessing.OneHotEncoder(), ["kind"]),
            ("w", text.TfidfVectorizer(), "words"),
        ]
    )
    return make_pipeline(columns, classify), table, labels


def convert(made: Any, tables: Any) -> bytes:
    """Return a fitted pipeline as a file."""
    if isinstance(tables, dict):
        types = [
            (key, FloatTensorType([None, 1]) if column.dtype.kind == "f" else
             StringTensorType([None, 1])) for key, column in tables.items()
        ]  # fmt: skip
    elif tables.dtype.kind == "U":
        types = [("X", StringTensorType([None, *tables.shape[1:]]))]
    else:
        types = [("X", FloatTensorType([None, tables.shape[1]]))]
    return to_onnx(made, initial_types=types, target_opset=OPSETS).SerializeToString()  # type: ignore[no-any-return]
