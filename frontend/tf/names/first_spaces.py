"""Namespaces that only `compat.v1` has: they gather what stands elsewhere under other names."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from ..core.bridge import TfTensor
from ..core.space import Space
from ..graph.graph_lists import global_variables_initializer, local_variables_initializer
from ..graph.state import group
from ..image.resizing import padded_in_proportion
from ..image.sizes import Size, batched
from ..lookup.tables import tables_initializer
from .trivia import SAVED
from .v1_ops import CHECKS, resize_images

MANIPULATED = ("batch_to_space_nd", "gather_nd", "reshape", "reverse", "roll", "scatter_nd",
               "space_to_batch_nd", "tile")  # fmt: skip
TRANSFORMS = ("dct", "fft", "fft2d", "fft3d", "idct", "ifft", "ifft2d", "ifft3d", "irfft",
              "irfft2d", "irfft3d", "rfft", "rfft2d", "rfft3d")  # fmt: skip
TESTED = ("is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_strictly_increasing")
QUANTISED = tuple(
    f"fake_quant_with_min_max_{kind}" for kind in ("args", "vars", "vars_per_channel")
)
DRAWN = ("get_seed", "multinomial", "set_random_seed")
RUNNERS = ("QueueRunner", "add_queue_runner", "start_queue_runners")
QUEUES = ("PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue")


@batched
def resize_image_with_pad(
    image: TfTensor,
    target_height: Size,
    target_width: Size,
    method: object = 0,
    align_corners: bool = False,
) -> TfTensor:
    """Resize in proportion by a method of the first version, and put zeros around evenly."""
    resized = partial(resize_images, method=method, align_corners=align_corners)
    return padded_in_proportion(image, target_height, target_width, resized)


def _folder_of_caller() -> Path:
    """Return the folder of the file that calls a function of this module."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return Path(frame.f_code.co_filename if frame is not None else os.curdir).resolve().parent


def get_data_files_path() -> str:
    """Return the folder of the file that calls this."""
    return str(_folder_of_caller())


def get_path_to_datafile(path: str | os.PathLike[str]) -> str:
    """Return the path of a file that lies beside the file that calls this."""
    return str(_folder_of_caller() / path)


def load_resource(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file that lies beside the file that calls this."""
    return (_folder_of_caller() / path).read_bytes()


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """Return a path as it is: files are not read ahead."""
    return path


def main_op() -> object:
    """Return what gives all variables and tables their first values."""
    return group(
        global_variables_initializer(), local_variables_initializer(), tables_initializer()
    )


def _initialised(here: Mapping[str, object]) -> dict[str, object]:
    """Return what gives state its first values, by its names among the initializers."""
    names = {name: f"{name}_initializer" for name in ("global_variables", "local_variables")}
    names |= {"variables": "variables_initializer", "tables_initializer": "tables_initializer"}
    return {short: here[name] for short, name in names.items()}


def _among(space: Space, names: Iterable[str]) -> dict[str, object]:
    return {name: getattr(space, name) for name in names}


def _public(space: Space) -> dict[str, object]:
    return {name: value for name, value in vars(space).items() if not name.startswith("_")}


def made(top: Mapping[str, object], first: Mapping[str, object]) -> dict[str, object]:
    """Return what to add: `top` is the second version, `first` the first one as it is so far."""
    second = {name: space for name, space in top.items() if isinstance(space, Space)}
    older = {name: space for name, space in first.items() if isinstance(space, Space)}
    here = {**top, **first}
    saved = older["saved_model"]
    keys = {"MAIN_OP_KEY": "saved_model_main_op", "LEGACY_INIT_OP_KEY": "legacy_init_op"}
    constants = Space(
        "compat.v1.saved_model.constants", **keys, **_public(saved.constants),
        ASSETS_KEY=SAVED["ASSETS_KEY"],
    )  # fmt: skip
    return {
        "manip": Space("compat.v1.manip", **{name: here[name] for name in MANIPULATED}),
        "spectral": Space("compat.v1.spectral", **_among(second["signal"], TRANSFORMS)),
        "debugging": Space(
            "compat.v1.debugging",
            **{**_public(second["debugging"]), **_among(second["math"], TESTED), **CHECKS,
               "assert_all_finite": here["verify_tensor_all_finite"]},
        ),
        "image": Space(
            "compat.v1.image",
            **_public(older["image"]),
            resize_image_with_crop_or_pad=second["image"].resize_with_crop_or_pad,
            resize_image_with_pad=resize_image_with_pad,
        ),
        "saved_model": Space(
            "compat.v1.saved_model",
            **{**SAVED, **keys, **_public(constants), **_public(saved), "constants": constants},
            Asset=second["saved_model"].Asset,
            main_op=Space("compat.v1.saved_model.main_op", main_op=main_op),
            experimental=Space(
                "compat.v1.saved_model.experimental", save=second["saved_model"].save
            ),
        ),
        "resource_loader": Space(
            "compat.v1.resource_loader",
            get_data_files_path=get_data_files_path,
            get_path_to_datafile=get_path_to_datafile,
            load_resource=load_resource,
            readahead_file_path=readahead_file_path,
        ),
        "io": Space("compat.v1.io", **_public(older["io"]), **_among(second["queue"], QUEUES)),
        "dtypes": Space("compat.v1.dtypes", **_public(second["dtypes"]),
                        as_string=here["as_string"]),
        "random": Space("compat.v1.random", **_public(second["random"]),
                        **{name: here[name] for name in DRAWN}),
        "initializers": Space(
            "compat.v1.initializers", **_public(older["initializers"]), **_initialised(here)
        ),
        "sparse": Space("compat.v1.sparse", **_public(older["sparse"]),
                        SparseConditionalAccumulator=here["SparseConditionalAccumulator"]),
        "linalg": Space("compat.v1.linalg", **_public(second["linalg"]),
                        transpose=second["linalg"].matrix_transpose),
        "nn": Space("compat.v1.nn", **_public(older["nn"]), avg_pool_v2=second["nn"].avg_pool),
        "train": Space(
            "compat.v1.train",
            **_public(second["train"]),
            queue_runner=Space("compat.v1.train.queue_runner", **_among(second["train"], RUNNERS)),
        ),
        **_among(second["quantization"], QUANTISED),
        "decode_compressed": second["io"].decode_compressed,
        "op_scope": first["name_scope"],
        "variable_op_scope": first["variable_scope"],
    }  # fmt: skip
