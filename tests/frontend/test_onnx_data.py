"""Weights stay where they lie: in the mapped model, or in a file beside it that may be read."""

import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure.ir as ir
from gravure.errors import GravureError
from gravure.frontend.programs.load import load_program

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
VALUES = np.arange(512, dtype=np.float32).reshape(2, 256)


@pytest.fixture
def stored(model: Make, tmp_path: Path) -> Callable[..., Path]:
    """Write a model whose weight is in a file beside it."""

    def store(**entries: Any) -> Path:
        made = model([node("Add", ["x", "w"], ["y"])], {"x": ("f32", [2, 256])}, ["y"])
        tensor = made.graph.initializer.add()
        tensor.name, tensor.data_type = "w", TensorProto.FLOAT
        tensor.dims.extend([2, 256])
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": "w.bin", **entries}.items():
            tensor.external_data.add(key=key, value=str(value))
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        (folder / "w.bin").write_bytes(VALUES.tobytes())
        (folder / "m.onnx").write_bytes(made.SerializeToString())
        return folder / "m.onnx"

    return store


def is_mapped(array: np.ndarray) -> bool:
    """Tell whether an array's bytes are those of a mapped file."""
    base: Any = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    return type(base).__name__ in ("mmap", "memoryview") or not base.flags.owndata


def test_weight_in_a_model_file_is_not_copied(model: Make, tmp_path: Path) -> None:
    made = model([node("Add", ["x", "w"], ["y"])], {"x": ("f32", [2, 256])}, ["y"], {"w": VALUES})
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    weight = load_program(path).weights["w"]
    assert is_mapped(weight)
    assert not weight.flags.writeable
    np.testing.assert_array_equal(weight, VALUES)


def test_weight_in_a_file_beside_the_model(stored: Callable[..., Path]) -> None:
    program = load_program(stored(offset=0, length=2048, checksum="of no importance"))
    assert is_mapped(program.weights["w"])
    (found,) = ir.interpret(program, [np.ones((2, 256), np.float32)])
    np.testing.assert_array_equal(found, VALUES + 1)


def test_of_a_file_beside_the_model_as_much_is_read_as_is_needed(
    stored: Callable[..., Path],
) -> None:
    path = stored(offset=8)
    (path.parent / "w.bin").write_bytes(b"before: " + VALUES.tobytes() + b"behind")
    np.testing.assert_array_equal(load_program(path).weights["w"], VALUES)


def test_large_weights_take_no_memory(model: Make, tmp_path: Path) -> None:
    size = 1 << 30  # 4 GiB of f32, all holes of the file
    made = model([node("Gather", ["w", "x"], ["y"])], {"x": ("i64", [1])}, ["y"])
    tensor = made.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[size])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(4 * size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    program = load_program(tmp_path / "m.onnx")
    assert program.weights["w"].nbytes == 4 << 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"location": "../secret"}, "file '../secret' is not inside the model's folder"),
        ({"location": "a/../../secret"}, "file 'a/../../secret' is not inside the model's folder"),
        ({"location": "/etc/passwd"}, "file '/etc/passwd' is not inside the model's folder"),
        ({"location": ""}, "file name '' is empty or has a NUL"),
        ({"location": "a\0b"}, r"file name 'a\x00b' is empty or has a NUL"),
        ({"location": "."}, "file '.' is a folder"),
        ({"location": "none"}, "cannot open file 'none': there is no such file"),
        ({"location": "link"}, "cannot open file 'link': it is a link, or a part of its path is "
                               "none or a link"),
        ({"location": "folder_link/w.bin"}, "cannot open file 'folder_link/w.bin': it is a link, "
                                            "or a part of its path is none or a link"),
        ({"location": "hard"}, "file 'hard' has 2 names, expected one (hard links)"),
        ({"location": "folder"}, "'folder' is not a regular file"),
        ({"location": "pipe"}, "'pipe' is not a regular file"),
        ({"offset": -4}, "offset '-4' of external data is not a number"),
        ({"offset": "1e3"}, "offset '1e3' of external data is not a number"),
        ({"offset": 4096}, "bytes 4096 + 0 lie behind the 2048 of 'w.bin'"),
        ({"length": 1 << 62}, f"bytes 0 + {1 << 62} lie behind the 2048 of 'w.bin'"),
        ({"offset": 4}, "2044 bytes of data, f32[2, 256] has 2048"),
        ({"length": 2044}, "2044 bytes of data, f32[2, 256] has 2048"),
    ],
)  # fmt: skip
def test_file_that_may_not_be_read(
    stored: Callable[..., Path], entries: dict[str, Any], reason: str
) -> None:
    path = stored(**entries)
    folder = path.parent
    (folder.parent / "secret").write_bytes(VALUES.tobytes())
    (folder / "link").symlink_to(folder.parent / "secret")
    (folder / "folder_link").symlink_to(folder.parent)
    os.link(folder.parent / "secret", folder / "hard")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    with pytest.raises(GravureError) as caught:
        load_program(path)
    assert str(caught.value) == f"m.onnx: tensor 'w': {reason}"


def test_bytes_have_no_files_beside_them(stored: Callable[..., Path]) -> None:
    with pytest.raises(GravureError, match="beside a model that is not a file"):
        load_program(stored().read_bytes())


@pytest.mark.parametrize("as_raw", [True, False])
@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
     "float32", "float64", "complex64", "complex128", ml_dtypes.bfloat16],
)  # fmt: skip
def test_element_types(model: Make, dtype: Any, as_raw: bool) -> None:
    values = np.array([0, 1, 3, 100], np.float64).astype(dtype)
    tensor = numpy_helper.from_array(values, "w")
    if not as_raw:
        tensor = helper.make_tensor("w", tensor.data_type, [4], values.tolist())
        assert not tensor.raw_data
    made = model([node("Identity", ["w"], ["y"])], {}, ["y"])
    made.graph.initializer.append(tensor)
    (found,) = ir.interpret(load_program(made.SerializeToString()), [])
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values)


def test_small_tensors_stand_in_the_text_and_large_ones_do_not(model: Make) -> None:
    constants = {"small": np.ones(32, np.float32), "large": np.ones(33, np.float32)}
    made = model(
        [node("Concat", ["small", "large"], ["w"], axis=0), node("Add", ["x", "w"], ["y"])],
        {"x": ("f32", [65])},
        ["y"],
        constants,
    )
    program = load_program(made.SerializeToString())
    assert [*program.weights] == ["large"]
    names = [op.name for op in program.main.body.block.ops]
    assert names == ["gv.constant", "gv.weight", "gv.concat", "gv.add", "func.return"]


LATER = ~np.tri(7, 9, 2, dtype=bool)


@pytest.mark.parametrize(
    ("mask", "is_kept"),
    [
        (np.where(LATER, np.float32(-np.inf), np.float32(0)), False),
        (np.where(LATER, np.float32(-3e38), np.float32(0))[None, None], False),
        (np.full((7, 9), -np.inf, np.float32), False),
        (np.where(LATER, np.float32(-1e4), np.float32(0)), True),
        (np.zeros((7, 9), np.float32), True),
        (np.where(LATER.T, np.float32(-np.inf), np.float32(0)), True),
        (~LATER, False),
        (LATER, True),
    ],
)
def test_masks_are_known_by_their_meaning(model: Make, mask: np.ndarray, is_kept: bool) -> None:
    if mask.dtype == bool:
        nodes = [node("Where", ["m", "x", "z"], ["y"])]
    else:
        nodes = [node("Add", ["x", "m"], ["y"])]
    constants = {"m": mask, "z": np.float32(3)}
    data = model(nodes, {"x": ("f32", mask.shape)}, ["y"], constants).SerializeToString()
    program = load_program(data)
    assert bool(program.weights) == is_kept
    x = np.random.default_rng(0).standard_normal(mask.shape).astype(np.float32)
    (found,) = ir.interpret(program, [x])
    np.testing.assert_array_equal(found, np.where(mask, x, 3) if mask.dtype == bool else x + mask)
