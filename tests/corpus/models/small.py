"""Write a sample of each family into `small/`: a model, and what onnxruntime gives for it.

    python tests/corpus/models/small.py [grouped vit ...]

Blocks of torchvision, timm, transformers and diffusers at their smallest, and small estimators, a
few kilobytes each. Names of values are shortened and remarks left out: nothing else is changed of
what exporters write. Run by the Python that has all of them; `tests/models/test_others.py` reads
what is written.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from architectures import Axes, Case, First
from export import export
from forms import OPSET, cast, rewrite
from more import Chosen, spread
from torch import nn

HERE = Path(__file__).parent / "small"
IMAGE: Axes = {"x": {0: "batch", 2: "height", 3: "width"}}
WORDS: Axes = {"input_ids": {0: "batch", 1: "length"}, "attention_mask": {0: "batch", 1: "length"}}
TINY: dict[str, Any] = {
    "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12,
    "vocab_size": 20, "max_position_embeddings": 24, "num_key_value_heads": 1, "head_dim": 4,
    "d_model": 8, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 12,
    "d_ff": 12, "d_kv": 4, "num_layers": 1, "num_heads": 2, "image_size": 16, "patch_size": 8,
    "num_local_experts": 3, "pad_token_id": 0, "use_cache": False, "num_mel_bins": 6,
    "max_source_positions": 10, "relative_attention_num_buckets": 6, "conv_dim": (8, 8),
    "conv_stride": (4, 2), "conv_kernel": (8, 4), "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2,
}  # fmt: skip


def images(*sizes: tuple[int, ...]) -> list[dict[str, torch.Tensor]]:
    """Return inputs of some sizes."""
    return [{"x": torch.randn(size)} for size in sizes]


def words(*sizes: tuple[int, int]) -> list[dict[str, torch.Tensor]]:
    """Return words of some batches and lengths, the last ones of some of them masked."""
    found = []
    for size in sizes:
        mask = torch.ones(size).long()
        mask[-1, 4:6] = 0
        found.append({"input_ids": torch.randint(1, 20, size), "attention_mask": mask})
    return found


def hub(name: str, kind: str = "") -> nn.Module:
    """Return a model of transformers at its smallest."""
    library = importlib.import_module("transformers")
    make = getattr(library, f"{name}Config")
    known = make().to_dict()
    config = make(**{key: value for key, value in TINY.items() if key in known})
    config._attn_implementation = "eager"
    model: nn.Module = getattr(library, kind or f"{name}Model")(config)
    return model


def grouped() -> Case:
    """Return a network of images with grouped and depthwise convolutions."""
    ops = importlib.import_module("torchvision.ops.misc")
    mobile = importlib.import_module("torchvision.models.mobilenetv2")
    residual = importlib.import_module("torchvision.models.resnet")
    block = residual.Bottleneck(8, 2, groups=2, base_width=128)
    made = nn.Sequential(
        ops.Conv2dNormActivation(3, 8, stride=2), mobile.InvertedResidual(8, 8, 1, 2), block,
        ops.SqueezeExcitation(8, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5),
    )  # fmt: skip
    spread(made)
    return Case(First(made, ["x"]), images((1, 3, 16, 16), (2, 3, 20, 12), (1, 3, 9, 11)), IMAGE)


class Pyramid(nn.Module):
    """Features of three sizes, each added to what is larger."""

    def __init__(self) -> None:
        super().__init__()
        ops = importlib.import_module("torchvision.ops")
        self.steps = nn.ModuleList(
            nn.Conv2d(n, m, 3, stride=2, padding=1) for n, m in ((3, 4), (4, 6), (6, 8))
        )
        self.join = ops.FeaturePyramidNetwork([4, 6, 8], 4)

    def forward(self, x: torch.Tensor) -> Any:
        found = {}
        for number, step in enumerate(self.steps):
            x = found[str(number)] = torch.relu(step(x))
        return tuple(self.join(found).values())


def pyramid() -> Case:
    """Return a pyramid of features for images of any size."""
    sizes = (1, 3, 16, 16), (2, 3, 24, 8), (1, 3, 11, 17)
    return Case(First(Pyramid(), ["x"], most=3), images(*sizes), IMAGE)


def windows() -> Case:
    """Return a block of attention in windows that are shifted."""
    swin = importlib.import_module("timm.models.swin_transformer")
    block = swin.SwinTransformerBlock(8, (8, 8), num_heads=2, window_size=4, shift_size=2)
    return Case(First(block, ["x"]), images((1, 8, 8, 8), (3, 8, 8, 8)), {"x": {0: "batch"}})


def vit() -> Case:
    """Return a transformer of images."""
    inputs = [{"pixel_values": torch.randn(n, 3, 16, 16)} for n in (1, 3)]
    return Case(First(hub("ViT"), ["pixel_values"], most=1), inputs, {"pixel_values": {0: "batch"}})


def encoder(name: str) -> Case:
    """Return an encoder of texts."""
    kind = "T5EncoderModel" if name == "T5" else ""
    model = First(hub(name, kind), ["input_ids", "attention_mask"], most=1)
    return Case(model, words((1, 6), (2, 9), (3, 1)), WORDS)


class WithCache(nn.Module):
    """A decoder that is given what it has computed of earlier words."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.caches = importlib.import_module("transformers.cache_utils")

    def forward(self, ids: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> Any:
        cache = self.caches.DynamicCache([(keys, values)])
        made = self.model(input_ids=ids, past_key_values=cache, use_cache=True)
        layer = made.past_key_values.layers[0]
        return made.last_hidden_state, layer.keys, layer.values


def decoder() -> Case:
    """Return a decoder of one word after the other."""
    inputs = [
        {"ids": torch.randint(0, 20, (n, new)), "keys": torch.randn(n, 1, old, 4),
         "values": torch.randn(n, 1, old, 4)} for n, new, old in ((1, 1, 5), (2, 3, 4), (1, 1, 12))
    ]  # fmt: skip
    axes: Axes = {"ids": {0: "batch", 1: "new"}} | {
        key: {0: "batch", 2: "old"} for key in ("keys", "values")
    }
    return Case(WithCache(hub("Llama")), inputs, axes)


def sound() -> Case:
    """Return an encoder of sounds."""
    model = hub("Wav2Vec2")
    inputs = [{"x": torch.randn(n, length)} for n, length in ((1, 200), (2, 320))]
    return Case(First(model, ["x"], most=1), inputs, {"x": {0: "batch", 1: "length"}})


class Detector(nn.Module):
    """The head of a detector on the features of a small network."""

    def __init__(self) -> None:
        super().__init__()
        detection = importlib.import_module("torchvision.models.detection")
        anchors = importlib.import_module("torchvision.models.detection.anchor_utils")
        body = nn.Sequential(nn.Conv2d(3, 8, 3, stride=4, padding=1), nn.ReLU())
        body.out_channels = 8  # type: ignore[assignment]
        sizes = anchors.AnchorGenerator(sizes=((8,),), aspect_ratios=((1.0,),))
        self.model = detection.RetinaNet(
            body, num_classes=3, min_size=24, max_size=32, anchor_generator=sizes,
            head=detection.retinanet.RetinaNetHead(8, 1, 3, norm_layer=nn.Identity),
            topk_candidates=20,
        )  # fmt: skip
        spread(self.model)

    def forward(self, x: torch.Tensor) -> Any:
        return tuple(self.model([x])[0].values())


def detector() -> Case:
    """Return a detector of one image."""
    return Case(Detector(), images((3, 24, 24), (3, 20, 28)), {"x": {1: "height", 2: "width"}})


class Diffusion(nn.Module):
    """A block of a network that takes noise away, with attention to words."""

    def __init__(self) -> None:
        super().__init__()
        blocks = importlib.import_module("diffusers.models.unets.unet_2d_blocks")
        self.block = blocks.CrossAttnDownBlock2D(
            8, 8, 8, resnet_groups=4, num_attention_heads=2, cross_attention_dim=6
        )

    def forward(self, x: torch.Tensor, time: torch.Tensor, words: torch.Tensor) -> Any:
        return self.block(x, time, words)[0]


def diffusion() -> Case:
    """Return a block of diffusers."""
    inputs = [
        {"x": torch.randn(n, 8, h, w), "time": torch.randn(n, 8), "words": torch.randn(n, 3, 6)}
        for n, h, w in ((1, 8, 8), (2, 6, 10))
    ]
    axes: Axes = {"x": {0: "batch", 2: "height", 3: "width"}}
    return Case(Diffusion(), inputs, {**axes, "time": {0: "batch"}, "words": {0: "batch"}})


class Recurrent(nn.Module):
    """Two recurrent layers, of which one goes both ways."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.LSTM(4, 5, bidirectional=True, batch_first=True)
        self.second = nn.GRU(10, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> Any:
        return self.second(self.first(x)[0])


def recurrent() -> Case:
    """Return recurrent layers."""
    axes: Axes = {"x": {0: "batch", 1: "length"}}
    return Case(Recurrent(), images((1, 6, 4), (3, 9, 4), (2, 1, 4)), axes)


def control() -> Case:
    """Return a branch in a loop of a given number of turns."""
    inputs = [{"x": torch.randn(n, 8), "turns": torch.tensor(n + 1)} for n in (2, 3)]
    return Case(torch.jit.script(Chosen()), inputs, {"x": {0: "batch"}, "turns": {}})


CASES: dict[str, Callable[[], Case]] = {
    **{each.__name__: each for each in (grouped, pyramid, windows, vit, decoder, sound, detector,
                                        diffusion, recurrent, control)},
    "bert": lambda: encoder("Bert"), "t5": lambda: encoder("T5"),
}  # fmt: skip
"""Cases by name, which `run.py` tries in all forms."""
LEGACY, DYNAMO = "legacy", "dynamo"
TORCH: dict[str, tuple[Callable[[], Case], str, str]] = {
    "grouped": (grouped, LEGACY, "plain"),
    "grouped-dynamo": (grouped, DYNAMO, "plain"),
    "grouped-qdq": (grouped, LEGACY, "qdq"),
    "grouped-qoperator": (grouped, LEGACY, "qoperator"),
    "pyramid": (pyramid, LEGACY, "plain"),
    "pyramid-dynamo": (pyramid, DYNAMO, "plain"),
    "windows": (windows, LEGACY, "plain"),
    "vit": (vit, DYNAMO, "plain"),
    "vit-half": (vit, LEGACY, "half"),
    "bert": (lambda: encoder("Bert"), LEGACY, "plain"),
    "bert-extended": (lambda: encoder("Bert"), LEGACY, "extended"),
    "bert-dynamic8": (lambda: encoder("Bert"), LEGACY, "dynamic8"),
    "t5": (lambda: encoder("T5"), LEGACY, "plain"),
    "decoder": (decoder, LEGACY, "plain"),
    "sound": (sound, LEGACY, "plain"),
    "detector": (detector, LEGACY, "plain"),
    "diffusion": (diffusion, LEGACY, "plain"),
    "recurrent": (recurrent, LEGACY, "plain"),
    "control": (control, LEGACY, "plain"),
}
"""Models of torch by name: case, exporter and form."""


def estimators() -> Iterator[tuple[str, bytes, list[dict[str, Any]]]]:
    """Give pipelines of scikit-learn as files, with rows to try them on."""
    library = importlib.import_module("pipelines")
    for name in ("columns", "joined", "categories", "stacked", "named"):
        made, tables, targets = library.pipeline_of(name)
        table = tables
        if isinstance(tables, dict):
            pandas = importlib.import_module("pandas")
            table = pandas.DataFrame({key: column[:, 0] for key, column in tables.items()})
        made.fit(table, targets)
        whole = tables if isinstance(tables, dict) else {"X": tables}
        rows = [{key: column[:n] for key, column in whole.items()} for n in (1, 7)]
        yield name, library.convert(made, tables), rows


class Shortened:
    """Takes remarks out of a model, and calls its values by numbers."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.names: dict[str, str] = {}
        for value in (*model.graph.input, *model.graph.output):
            self.names[value.name] = value.name
        self.graph(model.graph)
        clear(model, "metadata_props", "doc_string")

    def short(self, name: str) -> str:
        """Return what a value is called now."""
        return self.names.setdefault(name, f"v{len(self.names)}") if name else ""

    def graph(self, graph: onnx.GraphProto) -> None:
        """Go through a graph."""
        for value in (*graph.input, *graph.output):
            value.name = self.short(value.name)
            clear(value, "metadata_props", "doc_string")
        for tensor in graph.initializer:
            tensor.name = self.short(tensor.name)
        clear(graph, "value_info", "metadata_props", "doc_string", "quantization_annotation")
        for node in graph.node:
            clear(node, "name", "doc_string", "metadata_props")
            node.input[:] = map(self.short, node.input)
            node.output[:] = map(self.short, node.output)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    self.graph(attribute.g)


def clear(message: Any, *names: str) -> None:
    """Leave out fields."""
    for name in names:
        message.ClearField(name)


def write(name: str, path: Path, inputs: Sequence[dict[str, Any]]) -> None:
    """Write a model and what onnxruntime gives for each set of inputs."""
    model = onnx.load(path)
    Shortened(model)
    data = model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(data, options, ["CPUExecutionProvider"])
    arrays: dict[str, Any] = {}
    for number, feed in enumerate(inputs):
        given = {each.name: feed[each.name] for each in session.get_inputs()}
        made = session.run(None, given)
        arrays |= {f"{number}.{key}": value for key, value in given.items()}
        for place, rows in enumerate(made):
            whole = rows if isinstance(rows, np.ndarray) else [[*row.values()] for row in rows]
            array = np.asarray(whole)
            arrays[f"{number}.={place}"] = array.astype(str) if array.dtype == object else array
    (HERE / f"{name}.onnx").write_bytes(data)
    np.savez_compressed(HERE / f"{name}.npz", **arrays)
    print(name, len(data), (HERE / f"{name}.npz").stat().st_size, len(model.graph.node))


def main(wanted: Sequence[str]) -> None:
    """Write those that are asked for, all if none are."""
    with tempfile.TemporaryDirectory() as folder:
        write_all(wanted, Path(folder, "model.onnx"))


def write_all(wanted: Sequence[str], path: Path) -> None:
    """Write them, by a file in between."""
    warnings.simplefilter("ignore")
    HERE.mkdir(exist_ok=True)
    for name, (make, exporter, form) in TORCH.items():
        if wanted and name not in wanted:
            continue
        torch.manual_seed(0)
        case = make()
        case.module.eval()
        case = cast(case, form)
        with torch.no_grad():
            export(case, path, exporter, "open", OPSET)
        inputs = [{key: value.numpy() for key, value in each.items()} for each in case.inputs]
        rewrite(path, form, inputs)
        write(name, path, inputs)
    for name, data, rows in estimators():
        if not wanted or name in wanted:
            path.write_bytes(data)
            write(name, path, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
