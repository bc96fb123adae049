"""`compat.v1.saved_model`: graphs with their variables as folders, which say how they are called.

A folder holds `saved_model.pb`, graphs as data (`meta_graph`) with their tags and signatures, and
`variables/variables`, a checkpoint. A signature names tensors of the graph as inputs and outputs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Protocol, TypeAlias, TypedDict, cast

from ....runtime.files import replacing
from ...formats.messages import Proto, SignatureDef, SparseTensorInfo, TensorInfo, parsed, shown
from ...graph.graph import Graph, GraphTensor, Operation
from ...values.context import entered
from ..core.element_types import as_dtype
from ..core.names import name_scope
from ..core.shapes import TensorShape
from ..core.space import Space
from ..graph.sessions import Session
from ..graph.state import TfGraph, get_default_graph, placeholder
from ..nondense.sparse_tensor import SparseTensor
from ..train.checkpoint_state import LoadOptions, SaveOptions
from ..train.meta_graph import MetaGraphDef, MetaGraphFileError, export_meta_graph
from ..train.saved_model import contains_saved_model as contains_second
from ..train.saved_model import load as load_second
from ..train.saved_model import save as save_second
from ..train.saved_model import signatures_of, variables_of
from ..train.savers import Saver, import_meta_graph

Tensors: TypeAlias = Mapping[str, GraphTensor | SparseTensor]
FILE, FILE_OF_TEXT = "saved_model.pb", "saved_model.pbtxt"
VARIABLES = "variables/variables"
SERVING, DEFAULT = "serve", "serving_default"
METHODS = {kind: f"tensorflow/serving/{kind}" for kind in ("predict", "classify", "regress")}
SAVED = "gravure.SavedModel"


class Info(Protocol):
    """What is said of a tensor; of a sparse one by the names of its three parts."""

    name: str
    coo_sparse: Proto

    def WhichOneof(self, oneof_group: str) -> str | None:  # noqa: N802
        """Return which of the two it is."""


class CallForm(Protocol):
    """What is said of how a graph is called."""

    inputs: Mapping[str, Info]
    outputs: Mapping[str, Info]
    method_name: str


class SavedGraph(TypedDict):
    """A graph of a file."""

    tags: list[str]
    graph: dict[str, object]
    signatures: dict[str, str]
    begin: str | None


def build_tensor_info(tensor: GraphTensor | SparseTensor) -> Proto:
    """Return what says of a tensor of a graph its name, element type and shape."""
    if not isinstance(tensor, SparseTensor) and tensor.eager:
        raise RuntimeError("`build_tensor_info` is not supported for tensors that are no graph's")
    if isinstance(tensor, SparseTensor):
        kinds = ("values", "indices", "dense_shape")
        parts = {f"{kind}_tensor_name": getattr(tensor, kind).name for kind in kinds}
        made = TensorInfo(coo_sparse=SparseTensorInfo(**parts))
    else:
        made = TensorInfo(name=tensor.name)
    made.dtype = as_dtype(tensor.dtype).as_datatype_enum
    shape = TensorShape(tensor.shape)
    made.tensor_shape.unknown_rank = shape.rank is None
    for size in () if shape.rank is None else shape.as_list():
        made.tensor_shape.dim.add(size=-1 if size is None else size)
    return made


def get_tensor_from_tensor_info(
    tensor_info: Info, graph: TfGraph | None = None, import_scope: str | None = None
) -> object:
    """Return the tensor of a graph that is meant, of the default one if none is given."""
    owner = get_default_graph() if graph is None else graph

    def found(name: str) -> GraphTensor:
        return owner.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)

    if tensor_info.WhichOneof("encoding") == "name":
        return found(tensor_info.name)
    kinds = ("indices", "values", "dense_shape")
    names = (getattr(tensor_info.coo_sparse, f"{kind}_tensor_name") for kind in kinds)
    return SparseTensor(*map(found, names))


def build_signature_def(
    inputs: Mapping[str, Proto] | None = None,
    outputs: Mapping[str, Proto] | None = None,
    method_name: str | None = None,
) -> Proto:
    """Return a signature of descriptions of tensors."""
    made = SignatureDef(method_name=method_name or "")
    for mine, given in ((made.inputs, inputs), (made.outputs, outputs)):
        for name, info in (given or {}).items():
            mine[name].CopyFrom(info)
    return made


def predict_signature_def(inputs: Tensors, outputs: Tensors) -> Proto:
    """Return the signature of a function of any tensors."""
    if not inputs or not outputs:
        raise ValueError("Prediction `inputs` and `outputs` cannot be None or empty.")
    infos = [{k: build_tensor_info(x) for k, x in each.items()} for each in (inputs, outputs)]
    return build_signature_def(infos[0], infos[1], METHODS["predict"])


def regression_signature_def(examples: GraphTensor, predictions: GraphTensor) -> Proto:
    """Return the signature of what gives numbers for examples."""
    given = {"inputs": build_tensor_info(examples)}
    return build_signature_def(
        given, {"outputs": build_tensor_info(predictions)}, METHODS["regress"]
    )


def classification_signature_def(
    examples: GraphTensor, classes: GraphTensor | None, scores: GraphTensor | None
) -> Proto:
    """Return the signature of what gives classes, scores, or both, for examples."""
    if classes is None and scores is None:
        raise ValueError("Either classes or scores must be provided")
    found = {"classes": classes, "scores": scores}
    outputs = {name: build_tensor_info(x) for name, x in found.items() if x is not None}
    return build_signature_def(
        {"inputs": build_tensor_info(examples)}, outputs, METHODS["classify"]
    )


def is_valid_signature(signature_def: CallForm | None) -> bool:
    """Say whether a signature names a method that there is, and tensors on both sides."""
    if signature_def is None or signature_def.method_name not in METHODS.values():
        return False
    return bool(signature_def.inputs and signature_def.outputs)


class SavedModelBuilder:
    """Writes a folder: one graph with the variables of a session, and others without."""

    def __init__(self, export_dir: str) -> None:
        self._folder = Path(export_dir)
        if self._folder.is_dir() and any(self._folder.iterdir()):
            raise AssertionError(
                f"Export directory {export_dir} already exists, and isn't empty. Please choose a "
                "different export directory, or delete all the contents of the specified directory."
            )
        self._graphs: list[SavedGraph] = []

    def add_meta_graph_and_variables(
        self,
        sess: Session,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Proto] | None = None,
        assets_collection: Sequence[object] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
        **more: object,
    ) -> None:
        """Write the values of a session, and take its graph."""
        if self._graphs:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        _refuse_second(sess.graph, main_op or legacy_init_op)
        path = self._folder / VARIABLES
        path.parent.mkdir(parents=True, exist_ok=True)
        with entered(sess.graph):
            saver = saver or Saver(allow_empty=True)
            saver.save(sess, str(path), write_meta_graph=False, write_state=False)
        self._add(
            sess.graph, tags, signature_def_map, assets_collection, main_op or legacy_init_op,
            clear_devices, saver,
        )  # fmt: skip

    def add_meta_graph(
        self,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Proto] | None = None,
        assets_collection: Sequence[object] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
        **more: object,
    ) -> None:
        """Take the default graph, which has variables of the same names."""
        if not self._graphs:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        _refuse_second(get_default_graph(), main_op or legacy_init_op)
        self._add(
            get_default_graph(), tags, signature_def_map, assets_collection,
            main_op or legacy_init_op, clear_devices, saver or Saver(allow_empty=True),
        )  # fmt: skip

    def _add(
        self,
        graph: Graph,
        tags: Iterable[str],
        signatures: Mapping[str, Proto] | None,
        assets: Sequence[object] | None,
        begin: Operation | None,
        clear_devices: bool,
        saver: Saver,
    ) -> None:
        if assets:
            raise NotImplementedError("saved models with files beside them are not supported")
        meta = export_meta_graph(None, graph, saver.names(), clear_devices=clear_devices)
        self._graphs.append(
            {
                "tags": sorted(tags),
                "graph": meta.data(),
                "signatures": {k: shown(each) for k, each in (signatures or {}).items()},
                "begin": None if begin is None else begin.name,
            }
        )

    def save(self, as_text: bool = False) -> bytes:
        """Write the graphs; return the path of their file."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / FILE
        with replacing(path) as file:
            data = {"kind": SAVED, "graphs": self._graphs}
            file.write(json.dumps(data, sort_keys=True).encode())
        return str(path).encode()


def _refuse_second(graph: Graph, begin: Operation | None) -> None:
    """Raise where a graph is to begin with an operation, and has one already in its lists."""
    found = next((key for key in BEGINNING if graph.collections.get(key)), None)
    if begin is not None and found is not None:
        raise ValueError(
            f"Graph already contains one or more main ops under the collection {found}."
        )


BEGINNING = ("saved_model_main_op", "legacy_init_op")
"""The lists of graphs with what they begin with."""


def simple_save(
    session: Session,
    export_dir: str,
    inputs: Tensors,
    outputs: Tensors,
    legacy_init_op: Operation | None = None,
) -> None:
    """Write a session's graph and variables, which is called with some tensors for others."""
    builder = SavedModelBuilder(export_dir)
    signatures = {DEFAULT: predict_signature_def(inputs, outputs)}
    builder.add_meta_graph_and_variables(session, [SERVING], signatures, main_op=legacy_init_op)
    builder.save()


def maybe_saved_model_directory(export_dir: str) -> bool:
    """Say whether a folder is one that was saved, by either version."""
    return (Path(export_dir) / FILE).is_file() or contains_second(export_dir)


def all_graphs(export_dir: str) -> list[SavedGraph]:
    """Return the data of all graphs of a folder."""
    path = Path(export_dir) / FILE
    text = Path(export_dir) / FILE_OF_TEXT
    if text.is_file() and not path.is_file():
        raise MetaGraphFileError(f"Cannot parse file {text}: it is no {SAVED}")
    if not path.is_file():
        raise OSError(
            f"SavedModel file does not exist at: {export_dir}/{{saved_model.pbtxt|saved_model.pb}}"
        )
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise MetaGraphFileError(f"Cannot parse file {path}: it is no {SAVED}: {error}") from None
    if not isinstance(data, dict) or data.get("kind") != SAVED:
        raise MetaGraphFileError(f"Cannot parse file {path}: it is no {SAVED}")
    return cast("list[SavedGraph]", data["graphs"])


def graph_of_tags(export_dir: str, tags: Iterable[str]) -> SavedGraph:
    """Return the data of the graph that has these tags."""
    graphs = all_graphs(export_dir)
    for each in graphs:
        if each["tags"] == sorted(tags):
            return each
    known = [each["tags"] for each in graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {', '.join(map(repr, tags))} could not be found in "
        f"SavedModel, with available tags '{known}'."
    )


def load(
    sess: Session,
    tags: Iterable[str],
    export_dir: str,
    import_scope: str | None = None,
    **saver_kwargs: object,
) -> MetaGraphDef:
    """Add the graph of a folder to a session's, with the values of its variables."""
    tags = [tags] if isinstance(tags, str) else list(tags)
    if contains_second(export_dir) and not (Path(export_dir) / FILE).is_file():
        return _load_module(sess, tags, export_dir, import_scope)
    data = graph_of_tags(export_dir, tags)
    meta = MetaGraphDef.FromString(json.dumps(data["graph"]).encode())
    meta.meta_info_def.tags = data["tags"]
    meta.signature_def = {k: parsed(v, SignatureDef) for k, v in data["signatures"].items()}
    with entered(sess.graph):
        saver = import_meta_graph(meta, import_scope=import_scope)
        if saver is not None:
            saver.restore(sess, str(Path(export_dir) / VARIABLES))
    if data["begin"] is not None:
        scope = f"{import_scope}/" if import_scope else ""
        sess.run(sess.graph.get_operation_by_name(f"{scope}{data['begin']}"))
    return meta


def _load_module(
    sess: Session, tags: list[str], export_dir: str, import_scope: str | None
) -> MetaGraphDef:
    """Add a module's signatures to a session's graph, as calls that take what is fed."""
    if tags != [SERVING]:
        raise RuntimeError(
            f"MetaGraphDef associated with tags {', '.join(map(repr, tags))} could not be found in "
            f"SavedModel, with available tags '{[[SERVING]]}'."
        )
    meta = MetaGraphDef()
    meta.meta_info_def.tags = tags
    scope = name_scope(f"{import_scope}/") if import_scope else nullcontext()
    with entered(sess.graph), scope:
        module = load_second(export_dir)
        for each in variables_of(module):
            sess.run(each.initializer)
        for name, function in signatures_of(module).items():
            specs = function.structured_input_signature[1].items()
            plain = re.sub(r"[^\w.\-/]", "_", name)
            given = {k: placeholder(x.dtype, x.shape, f"{plain}_{x.name}") for k, x in specs}
            made = {k: x for k, x in function(**given).items() if isinstance(x, GraphTensor)}
            meta.signature_def[name] = build_signature_def(
                {k: build_tensor_info(x) for k, x in given.items()},
                {k: build_tensor_info(x) for k, x in made.items()},
                METHODS["predict"],
            )
    return meta


TAGS = Space(
    "compat.v1.saved_model.tag_constants", SERVING=SERVING, TRAINING="train", GPU="gpu", TPU="tpu"
)
NAMES = Space(
    "compat.v1.saved_model.signature_constants",
    DEFAULT_SERVING_SIGNATURE_DEF_KEY=DEFAULT,
    **{f"{kind.upper()}_METHOD_NAME": name for kind, name in METHODS.items()},
    **{f"{kind.upper()}_INPUTS": "inputs" for kind in METHODS},
    PREDICT_OUTPUTS="outputs",
    REGRESS_OUTPUTS="outputs",
    CLASSIFY_OUTPUT_CLASSES="classes",
    CLASSIFY_OUTPUT_SCORES="scores",
)
CONSTANTS = Space(
    "compat.v1.saved_model.constants",
    SAVED_MODEL_FILENAME_PB=FILE,
    SAVED_MODEL_FILENAME_PBTXT=FILE_OF_TEXT,
    VARIABLES_DIRECTORY="variables",
    VARIABLES_FILENAME="variables",
    ASSETS_DIRECTORY="assets",
)
SIGNATURES = {
    "build_signature_def": build_signature_def,
    "predict_signature_def": predict_signature_def,
    "regression_signature_def": regression_signature_def,
    "classification_signature_def": classification_signature_def,
    "is_valid_signature": is_valid_signature,
}
INFOS = {
    "build_tensor_info": build_tensor_info,
    "get_tensor_from_tensor_info": get_tensor_from_tensor_info,
}
LOADING = {
    "load": load,
    "maybe_saved_model_directory": maybe_saved_model_directory,
}
first_saved_model = Space(
    "compat.v1.saved_model",
    **SIGNATURES,
    **INFOS,
    **LOADING,
    Builder=SavedModelBuilder,
    simple_save=simple_save,
    save=save_second,
    load_v2=load_second,
    SaveOptions=SaveOptions,
    LoadOptions=LoadOptions,
    contains_saved_model=maybe_saved_model_directory,
    tag_constants=TAGS,
    signature_constants=NAMES,
    constants=CONSTANTS,
    builder=Space("compat.v1.saved_model.builder", SavedModelBuilder=SavedModelBuilder),
    loader=Space("compat.v1.saved_model.loader", **LOADING),
    signature_def_utils=Space("compat.v1.saved_model.signature_def_utils", **SIGNATURES),
    utils=Space("compat.v1.saved_model.utils", **INFOS),
)

__all__ = ["first_saved_model"]
