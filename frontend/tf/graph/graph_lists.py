"""The lists that a graph keeps by name: its variables, losses, and what a program puts there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...graph.graph import Operation
from .state import GLOBAL, TRAINABLE, get_default_graph, variables_initializer

LOCAL = "local_variables"
AVERAGED = "moving_average_variables"


class GraphKeys:
    """The names of the lists that TensorFlow's programs know."""

    GLOBAL_VARIABLES = GLOBAL
    TRAINABLE_VARIABLES = TRAINABLE
    LOCAL_VARIABLES = LOCAL
    MODEL_VARIABLES = "model_variables"
    MOVING_AVERAGE_VARIABLES = AVERAGED
    GLOBAL_STEP = "global_step"
    LOSSES = "losses"
    REGULARIZATION_LOSSES = "regularization_losses"
    SUMMARIES = "summaries"
    UPDATE_OPS = "update_ops"
    TRAIN_OP = "train_op"
    INIT_OP = "init_op"
    QUEUE_RUNNERS = "queue_runners"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    SAVERS = "savers"
    SAVEABLE_OBJECTS = "saveable_objects"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    ACTIVATIONS = "activations"
    WEIGHTS = "weights"
    BIASES = "biases"
    CONCATENATED_VARIABLES = "concatenated_variables"
    METRIC_VARIABLES = "metric_variables"
    EVAL_STEP = "eval_step"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


def add_to_collection(name: str, value: object) -> None:
    """Put a value into a list of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Sequence[str] | str, value: object) -> None:
    """Put a value into several lists of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: str, scope: Any = None) -> list[object]:
    """Return a list of the default graph; of those with names that begin with the scope."""
    found = get_default_graph().get_collection(key)
    if scope is None:
        return found
    return [x for x in found if re.match(scope, getattr(x, "name", ""))]


def get_collection_ref(key: str) -> list[object]:
    """Return a list of the default graph itself: what is put there stays there."""
    return get_default_graph().get_collection_ref(key)


def global_variables(scope: object = None) -> list[Any]:
    """Return the variables of the default graph."""
    return get_collection(GLOBAL, scope)


def saveable_variables(scope: object = None) -> list[Any]:
    """Return what a saver saves: the variables, and what else is in the list for it."""
    return [*global_variables(scope), *get_collection(GraphKeys.SAVEABLE_OBJECTS, scope)]


def model_variables(scope: object = None) -> list[Any]:
    """Return the variables of the default graph that belong to a model."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: object = None) -> list[Any]:
    """Return the trainable variables of the default graph."""
    return get_collection(TRAINABLE, scope)


def local_variables(scope: object = None) -> list[object]:
    """Return the variables of the default graph that are not shared or saved."""
    return get_collection(LOCAL, scope)


def moving_average_variables(scope: object = None) -> list[object]:
    """Return the variables of the default graph whose averages are kept."""
    return get_collection(AVERAGED, scope)


def global_variables_initializer() -> Operation:
    """Return an operation that gives all variables their initial value."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """Return an operation that gives local variables their initial value."""
    return variables_initializer(local_variables(), "init_locals")
