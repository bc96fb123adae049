"""`saved_model.load` of folders of the first version: their signatures as functions.

The graph is wrapped: its variables are made once, and get their values from the checkpoint that
lies beside it. A signature is the part of the graph between its inputs and its outputs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from ...formats.messages import SignatureDef, parsed
from ...function.variable import Variable
from ...graph.graph import GraphTensor
from ..core.bridge import dressed
from ..core.specs import TensorSpec
from ..graph.state import TfGraph
from ..train.checkpoint_state import LoadOptions
from ..train.meta_graph import MetaGraphDef
from ..train.saved_model import contains_saved_model as contains_second
from ..train.saved_model import load as load_second
from ..train.savers import Saver, import_meta_graph
from ..variables.wrapping import WrappedFunction, wrap_function
from .saved_graphs import FILE, VARIABLES, CallForm, Info, all_graphs, graph_of_tags

Given = Mapping[str, GraphTensor]


def contains_either(export_dir: str) -> bool:
    """Say whether a folder is one that was saved, by either version."""
    return contains_second(export_dir) or (Path(export_dir) / FILE).is_file()


def load_either(
    export_dir: str, tags: Iterable[str] | None = None, options: LoadOptions | None = None
) -> object:
    """Return the module of a folder; of one of the first version, its signatures."""
    is_first = not contains_second(export_dir) and (Path(export_dir) / FILE).is_file()
    if not is_first or not isinstance(options, LoadOptions | None):
        return load_second(export_dir, tags, options)
    if tags is None:
        known = [each["tags"] for each in all_graphs(export_dir)]
        if len(known) != 1:
            raise ValueError(
                "Importing a SavedModel requires a 'tags=' argument if there is more than one "
                f"MetaGraph, with the tags: {known}"
            )
        tags = known[0]
    return FirstModel(export_dir, [tags] if isinstance(tags, str) else list(tags))


class FirstModel:
    """The graph of a folder of the first version, by its signatures."""

    def __init__(self, export_dir: str, tags: list[str]) -> None:
        data = graph_of_tags(export_dir, tags)
        meta = MetaGraphDef.FromString(json.dumps(data["graph"]).encode())
        savers: list[Saver | None] = []

        def add() -> tuple[()]:
            savers.append(import_meta_graph(meta))
            if savers[0] is not None:
                savers[0].build()
            return ()

        self._whole = cast("WrappedFunction", wrap_function(add, []))
        if savers[0] is not None:
            named = savers[0].saver_def
            restore = self.prune([named.filename_tensor_name], named.restore_op_name)
            restore(str(Path(export_dir) / VARIABLES))
        if data["begin"] is not None:
            self.prune([], data["begin"])()
        for each in self._whole.variables:
            if isinstance(each, Variable):
                each.graph = None  # there is no session: it is read and assigned at once
        self.signatures = {
            name: FirstSignature(self, name, cast("CallForm", parsed(text, SignatureDef)))
            for name, text in data["signatures"].items()
        }

    @property
    def graph(self) -> TfGraph:
        """Return the graph."""
        return self._whole.graph

    @property
    def variables(self) -> tuple[object, ...]:
        """Return the variables of the graph."""
        return self._whole.variables

    def prune(self, feeds: object, fetches: object) -> WrappedFunction:
        """Return the function of some tensors of the graph that gives others."""
        return self._whole.prune(feeds, fetches)


class FirstSignature:
    """A part of a graph, which takes its arguments by name and gives its results by name."""

    def __init__(self, model: FirstModel, name: str, form: CallForm) -> None:
        self.name, graph = name, model.graph

        def found(infos: Mapping[str, Info]) -> Given:
            if any(info.WhichOneof("encoding") != "name" for info in infos.values()):
                raise NotImplementedError(f"signature {name!r}: sparse tensors are not supported")
            return {k: graph.get_tensor_by_name(infos[k].name) for k in sorted(infos)}

        self.given, made = found(form.inputs), found(form.outputs)
        self._function = model.prune([*self.given.values()], dict(made))
        self.structured_outputs = specs_of(made)
        self.structured_input_signature = (), specs_of(self.given)
        self.inputs, self.outputs = [*self.given.values()], [*made.values()]
        self.variables = model.variables

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Return the results for arguments; one alone may be given by its place."""
        if args:
            if len(args) > 1 or len(self.given) > 1 or kwargs:
                raise TypeError(f"signature {self.name!r} takes its arguments by name")
            kwargs = dict(zip(self.given, args, strict=True))
        if kwargs.keys() != self.given.keys():
            raise TypeError(
                f"signature {self.name!r} takes {sorted(self.given)}, found {sorted(kwargs)}"
            )
        return self._function(*(kwargs[name] for name in self.given))


def specs_of(tensors: Given) -> dict[str, TensorSpec]:
    """Return what tensors are like, by name."""
    found = {name: dressed(each) for name, each in tensors.items()}
    return {name: TensorSpec(each.shape, each.dtype, name) for name, each in found.items()}


__all__ = ["contains_either", "load_either"]
