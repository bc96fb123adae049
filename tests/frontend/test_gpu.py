"""Models compiled for GPUs: run on the emulated device, written to files, and read again."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import gravure
from gravure.codegen.export import export, ptx_of
from gravure.errors import ArtifactError, CompileError
from gravure.frontend.models.gpu import DeviceModel
from gravure.frontend.programs.compile import compile_source
from gravure.runtime.arguments import numpy_dtype
from gravure.runtime.devices import gpu_names, open_driver
from gravure.runtime.gpu.driver import GpuError, Tiles
from gravure.runtime.gpu.emulated import EmulatedDriver
from gravure.runtime.gpu.file import from_bytes, to_bytes
from gravure.runtime.gpu.model import GpuModel

MODEL = Path(__file__).parent.parent / "models" / "small" / "mlp.gv"
X = np.random.default_rng(0).standard_normal((7, 20)).astype(np.float32)


@pytest.fixture(scope="module")
def model() -> DeviceModel:
    found = gravure.compile(MODEL, target="cuda:sm_80", device="emulated")
    assert isinstance(found, DeviceModel)
    return found


def test_a_model_has_the_same_face_on_a_gpu(model: DeviceModel) -> None:
    [y] = model.run({"x": X})
    np.testing.assert_allclose(y, gravure.compile(MODEL)(X), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(model(X), y)
    assert model.threads == 1
    assert model.manifest["device"] == "emulated GPU"
    assert repr(model).startswith("<GpuModel mlp(x: f32[N, 20]) -> (logits: f32[N, 10])")
    again = model.bind([X])
    np.testing.assert_array_equal(again()[0], y)


@pytest.mark.parametrize("seed", [1, 2])
def test_no_order_of_warps_and_launches_changes_a_bit(model: DeviceModel, seed: int) -> None:
    driver = EmulatedDriver(seed=seed, races=True)
    with GpuModel(model.plan, model.weights, driver) as other:
        np.testing.assert_array_equal(other.run([X])[0], model.run([X])[0])


def test_tensor_maps_are_made_once_for_each_size() -> None:
    class Counting(EmulatedDriver):
        maps = 0

        def tensor_map(self, tiles: Tiles) -> bytes:
            self.maps += 1
            return super().tensor_map(tiles)

    text = b"""model halves(x: f16[128, 64], y: f16[128, 64]) -> (z) {
      z = x @ transpose(y, order=[1, 0])
    }"""
    driver, ones = Counting(), np.ones((128, 64), np.float16)
    found = gravure.compile(text, target="cuda:sm_90a", device=driver)
    for _ in range(2):
        assert (found.run([ones, ones])[0] == 64).all()
    assert driver.maps == 3  # of both operands, and of the result


def test_a_file_has_all_that_a_model_needs(model: DeviceModel, tmp_path: Path) -> None:
    path = tmp_path / "mlp.gpu"
    model.save(path)
    read = gravure.load(path, device="emulated")
    np.testing.assert_array_equal(read(X), model(X))
    exported = tmp_path / "other.gpu"
    export(model.compiled, exported)
    assert exported.read_bytes() == path.read_bytes()
    assert from_bytes(path.read_bytes())[0] == model.compiled.assembled
    with pytest.raises(GpuError, match="emulated"):
        gravure.load(path.read_bytes(), device="tpu:0")


def test_a_damaged_file_is_refused(model: DeviceModel) -> None:
    data = to_bytes(model.plan, model.weights)
    for place in (60, len(data) // 2, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(ArtifactError, match="digest"):
            from_bytes(bytes(damaged))
    with pytest.raises(ArtifactError, match="digest"):
        from_bytes(data[:-64])
    with pytest.raises(ArtifactError, match="not a model for GPUs"):
        from_bytes(b"GV")


def test_kernels_can_be_written_as_text(model: DeviceModel) -> None:
    text = ptx_of(model.compiled).decode()
    assert text.count(".entry") == len(model.plan.kernels)


def test_ptx_of_a_processor_is_refused(model: DeviceModel) -> None:
    with pytest.raises(CompileError, match="is a processor, expected a GPU"):
        ptx_of(compile_source(MODEL, model.compiled.options.__class__()))


def test_weights_can_be_changed(model: DeviceModel) -> None:
    assert model.weights is not None
    before = model(X)
    kept = model.weights
    model.set_weights(np.zeros_like(kept))
    assert not np.array_equal(model(X), before)
    model.set_weights(kept)
    np.testing.assert_array_equal(model(X), before)
    with pytest.raises(ArtifactError, match="weights of 3 bytes"):
        model.set_weights(b"abc")


def test_what_has_no_elements_has_an_address_too() -> None:
    """Found by `gravure fuzz graphs --device emulated`: the only weight has no bytes."""

    text = '<ir_version: 10, opset_import: ["": 22]> m (float[3] x) => (float[3] y)'
    nothing = onnx.parser.parse_model(
        f"{text} <float[0] no = {{}}> {{ y = Concat<axis=0>(no, x) }}"
    )
    made = gravure.compile(nothing, target="cuda:sm_80", device="emulated", level="O0")
    np.testing.assert_array_equal(made(np.arange(3, dtype=np.float32)), [0, 1, 2])


def test_devices_are_found_by_name() -> None:
    assert isinstance(open_driver("emulated"), EmulatedDriver)
    with pytest.raises(GpuError, match="device 'gpu:x' is unknown"):
        open_driver("gpu:x")
    assert all(name.startswith("gpu:") for name in gpu_names())


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["mlp", "transformer", "decoder", "resnet", "unet", "gru", "lstm"])
def test_small_models_on_a_gpu_give_what_the_processor_gives(name: str) -> None:
    if not gpu_names():
        pytest.skip("there is no CUDA device, or no pycuda")
    path = MODEL.with_name(f"{name}.gv")
    architecture = open_driver("gpu:0").architecture
    there, here = gravure.compile(path, target=f"cuda:{architecture}"), gravure.compile(path)
    sizes = {dim.name: dim.high for dim in here.dims}
    random = np.random.default_rng(1)
    arrays = [
        (3 * random.random(info.shape_for(sizes))).astype(numpy_dtype(info.dtype))
        for info in here.inputs
    ]
    for found, wanted in zip(there.run(arrays), here.run(arrays), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
