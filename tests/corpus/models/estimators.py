"""Estimators of scikit-learn beside those of the first list, with their options and files.

`kind.Name-option` is converted with an option of skl2onnx, or with other arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

NAMES = """
linear_model.ElasticNet linear_model.Lars linear_model.LassoLars linear_model.LassoCV
linear_model.RidgeCV linear_model.HuberRegressor linear_model.RANSACRegressor
linear_model.TheilSenRegressor linear_model.ARDRegression linear_model.GammaRegressor
linear_model.TweedieRegressor linear_model.QuantileRegressor linear_model.LogisticRegressionCV
linear_model.PassiveAggressiveClassifier linear_model.PassiveAggressiveRegressor
linear_model.SGDRegressor linear_model.SGDOneClassSVM linear_model.OrthogonalMatchingPursuit
linear_model.MultiTaskLasso linear_model.LogisticRegression-raw linear_model.SGDClassifier-log
svm.SVC-probability svm.SVC-poly svm.SVC-sigmoid svm.SVC-linear svm.SVC-two svm.NuSVC-probability
svm.SVR-poly svm.SVC-raw
tree.ExtraTreeRegressor tree.DecisionTreeClassifier-path tree.DecisionTreeClassifier-leaf
tree.DecisionTreeRegressor-outputs tree.DecisionTreeClassifier-words
ensemble.ExtraTreesRegressor ensemble.BaggingRegressor ensemble.RandomTreesEmbedding
ensemble.RandomForestClassifier-path ensemble.RandomForestRegressor-outputs
ensemble.GradientBoostingClassifier-two ensemble.HistGradientBoostingClassifier-missing
ensemble.HistGradientBoostingRegressor-poisson ensemble.AdaBoostClassifier-two
ensemble.RandomForestClassifier-two ensemble.RandomForestClassifier-columns
neighbors.RadiusNeighborsClassifier neighbors.RadiusNeighborsRegressor neighbors.NearestNeighbors
neighbors.NeighborhoodComponentsAnalysis neighbors.LocalOutlierFactor
neighbors.KNeighborsTransformer neighbors.KNeighborsRegressor-distance
neighbors.KNeighborsClassifier-manhattan
neighbors.KNeighborsClassifier-cosine neighbors.NearestCentroid
naive_bayes.MultinomialNB naive_bayes.ComplementNB naive_bayes.CategoricalNB
cluster.MiniBatchKMeans cluster.BisectingKMeans
decomposition.IncrementalPCA decomposition.KernelPCA decomposition.KernelPCA-rbf
decomposition.PCA-whiten
preprocessing.MaxAbsScaler preprocessing.Binarizer preprocessing.PowerTransformer
preprocessing.PowerTransformer-boxcox preprocessing.QuantileTransformer
preprocessing.FunctionTransformer preprocessing.OneHotEncoder-int preprocessing.OrdinalEncoder-int
preprocessing.SplineTransformer preprocessing.KBinsDiscretizer-onehot preprocessing.Normalizer-max
preprocessing.Normalizer-l1 preprocessing.PolynomialFeatures-interaction
impute.SimpleImputer-median impute.SimpleImputer-constant impute.KNNImputer
gaussian_process.GaussianProcessClassifier gaussian_process.GaussianProcessRegressor-std
gaussian_process.GaussianProcessRegressor-rbf gaussian_process.GaussianProcessRegressor-matern
gaussian_process.GaussianProcessRegressor-periodic
gaussian_process.GaussianProcessRegressor-quadratic gaussian_process.GaussianProcessRegressor-dot
mixture.BayesianGaussianMixture mixture.GaussianMixture-diag mixture.GaussianMixture-tied
mixture.GaussianMixture-spherical
cross_decomposition.PLSRegression feature_selection.VarianceThreshold
feature_selection.SelectPercentile feature_selection.GenericUnivariateSelect
feature_selection.SelectFpr random_projection.GaussianRandomProjection
multiclass.OneVsOneClassifier multiclass.OutputCodeClassifier multioutput.ClassifierChain
multioutput.MultiOutputClassifier multioutput.RegressorChain covariance.EllipticEnvelope
neural_network.MLPClassifier-tanh neural_network.MLPClassifier-logistic
neural_network.MLPRegressor-outputs discriminant_analysis.LinearDiscriminantAnalysis-two
"""

Arguments = dict[str, Any]


def kernels(name: str) -> Any:
    """Return a kernel of Gaussian processes."""
    found = import_module("sklearn.gaussian_process.kernels")
    made: dict[str, Callable[[], Any]] = {
        "rbf": lambda: found.ConstantKernel(2.0) * found.RBF([1.0] * 5) + found.WhiteKernel(0.1),
        "matern": lambda: found.Matern(nu=1.5) + found.WhiteKernel(0.1),
        "periodic": lambda: found.ExpSineSquared() + found.WhiteKernel(0.1),
        "quadratic": lambda: found.RationalQuadratic() + found.WhiteKernel(0.1),
        "dot": lambda: found.DotProduct() + found.WhiteKernel(0.1),
        "std": lambda: found.RBF() + found.WhiteKernel(0.1),
    }
    return made[name]()


WITH: dict[str, Arguments] = {
    "SGDClassifier-log": {"loss": "log_loss"}, "SVC-probability": {"probability": True},
    "SVC-poly": {"kernel": "poly"}, "SVC-sigmoid": {"kernel": "sigmoid"},
    "SVC-linear": {"kernel": "linear"}, "NuSVC-probability": {"probability": True, "nu": 0.1},
    "SVR-poly": {"kernel": "poly", "degree": 2},
    "HistGradientBoostingRegressor-poisson": {"loss": "poisson"},
    "KNeighborsRegressor-distance": {"weights": "distance"},
    "KNeighborsClassifier-manhattan": {"metric": "manhattan"},
    "KNeighborsClassifier-cosine": {"metric": "cosine"},
    "RadiusNeighborsClassifier": {"radius": 9.0}, "RadiusNeighborsRegressor": {"radius": 9.0},
    "LocalOutlierFactor": {"novelty": True}, "KernelPCA-rbf": {"kernel": "rbf"},
    "PCA-whiten": {"whiten": True, "n_components": 3},
    "PowerTransformer-boxcox": {"method": "box-cox"}, "QuantileTransformer": {"n_quantiles": 9},
    "OneHotEncoder-int": {"sparse_output": False, "handle_unknown": "ignore"},
    "KBinsDiscretizer-onehot": {"encode": "onehot-dense"}, "Normalizer-max": {"norm": "max"},
    "Normalizer-l1": {"norm": "l1"}, "PolynomialFeatures-interaction": {"interaction_only": True},
    "SimpleImputer-median": {"strategy": "median"},
    "SimpleImputer-constant": {"strategy": "constant", "fill_value": -1.0},
    "GaussianMixture-diag": {"covariance_type": "diag", "n_components": 3},
    "GaussianMixture-tied": {"covariance_type": "tied", "n_components": 3},
    "GaussianMixture-spherical": {"covariance_type": "spherical", "n_components": 3},
    "GaussianRandomProjection": {"n_components": 3},
    "MLPClassifier-tanh": {"activation": "tanh"},
    "MLPClassifier-logistic": {"activation": "logistic"},
}  # fmt: skip
OPTIONS: dict[str, Arguments] = {
    "LogisticRegression-raw": {"raw_scores": True}, "SVC-raw": {"raw_scores": True},
    "DecisionTreeClassifier-path": {"decision_path": True},
    "DecisionTreeClassifier-leaf": {"decision_leaf": True},
    "RandomForestClassifier-path": {"decision_path": True},
    "RandomForestClassifier-columns": {"zipmap": "columns"},
    "GaussianProcessRegressor-std": {"return_std": True},
}  # fmt: skip
INNER = ("OneVsOneClassifier", "OutputCodeClassifier", "ClassifierChain", "MultiOutputClassifier",
         "RegressorChain")  # fmt: skip
CLASSES = ("SVC", "NB", "Analysis", "Perceptron", "CV", "Percentile", "Select", "Fpr", "Chain",
           "Centroid")  # fmt: skip


def arguments_of(kind: str, option: str, name: str) -> Arguments:
    """Return what an estimator is made with."""
    given = WITH.get(name, {})
    if kind == "GaussianProcessRegressor":
        given = {"kernel": kernels(option)}
    if kind in INNER:
        linear = import_module("sklearn.linear_model")
        made = linear.Ridge if "Regressor" in kind else linear.LogisticRegression
        given = {"estimator": made()}
    if kind.startswith(("RandomForest", "ExtraTrees", "GradientBoost", "AdaBoost", "Bagging")):
        given = {"n_estimators": 5}
    return given


def fitted(name: str) -> tuple[Any, np.ndarray[Any, Any]]:
    """Return a fitted estimator and rows to try it on."""
    folder, _, name = name.rpartition(".")
    kind, _, option = name.partition("-")
    make = getattr(import_module(f"sklearn.{folder}"), kind)
    random = np.random.default_rng(0)
    rows = random.standard_normal((60, 5)).astype(np.float32)
    labels = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0).astype(int) + (rows[:, 3] > 0.4)
    targets: Any = np.abs(rows[:, 0] * 2 + rows[:, 1] ** 2) + 0.1
    if kind in ("MultinomialNB", "ComplementNB") or option == "boxcox":
        rows = np.abs(rows) + np.float32(0.01)
    if kind == "CategoricalNB" or option == "int":
        rows = random.integers(0, 3, (60, 5)).astype(np.int64)
    if option == "missing" or folder == "impute":
        rows[::7, 2] = np.nan
    if option == "two" or kind == "GaussianProcessClassifier":
        labels = labels % 2
    if option == "words":
        labels = np.array(["red", "green", "blue"])[labels]
    if "Class" in kind or kind.endswith(CLASSES) or kind == "LogisticRegression":
        targets = labels
    if kind in ("LassoCV", "RidgeCV"):
        targets = rows[:, 0] * 2.0 + rows[:, 3]
    several = kind.startswith("Multi") and folder != "naive_bayes"
    if several or option == "outputs" or "Chain" in kind:
        targets = np.stack([labels % 2, labels // 2], 1) if "Class" in kind else rows[:, :2] * 2
    return make(**arguments_of(kind, option, name)).fit(rows, targets), rows


def write(name: str, path: Path) -> tuple[list[Arguments], list[Arguments]]:
    """Write an estimator; return rows to try it on, and none at all."""
    from skl2onnx import to_onnx  # noqa: PLC0415  (only for these)

    made, rows = fitted(name)
    options = OPTIONS.get(name.rpartition(".")[2])
    opsets = {"": 18, "ai.onnx.ml": 3}
    more = {"options": {id(made): options}} if options else {}
    path.write_bytes(to_onnx(made, rows[:1], target_opset=opsets, **more).SerializeToString())
    return [{"X": rows[:1]}, {"X": rows[:23]}], [{"X": rows[:0]}]
