"""More architectures: detectors, diffusers, control flow, torch's quantised; files of estimators.

A detector's weights are spread, so that its scores are: tied ones are suppressed in any order.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from architectures import Axes, Case, First
from estimators import NAMES, write
from farther import FARTHER
from rarer import RARER
from torch import nn
from wider import WIDER

Feed = dict[str, Any]

# -- detectors ----------------------------------------------------------------------------

DETECTION = """
ssdlite320_mobilenet_v3_large ssd300_vgg16 retinanet_resnet50_fpn retinanet_resnet50_fpn_v2
fcos_resnet50_fpn fasterrcnn_mobilenet_v3_large_320_fpn fasterrcnn_mobilenet_v3_large_fpn
fasterrcnn_resnet50_fpn fasterrcnn_resnet50_fpn_v2 maskrcnn_resnet50_fpn maskrcnn_resnet50_fpn_v2
keypointrcnn_resnet50_fpn
"""


class OneImage(nn.Module):
    """A detector of one image, and its results as tensors."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, image: torch.Tensor) -> Any:
        return tuple(self.model([image])[0].values())


def spread(model: nn.Module) -> None:
    """Have weights keep the spread of what goes through them."""
    for name, each in model.named_modules():
        if isinstance(each, nn.Conv2d | nn.Linear | nn.ConvTranspose2d):
            nn.init.kaiming_normal_(each.weight)
            if "bbox" in name or "regression" in name:
                each.weight.data *= 0.2  # boxes stay near to where they are looked for
            if each.bias is not None:
                nn.init.normal_(each.bias, std=0.1)


def detector(name: str) -> Case:
    models = importlib.import_module("torchvision.models")
    make = models.get_model_builder(name)
    sizes = {} if name.startswith("ssd") else {"min_size": 128, "max_size": 160}
    model = make(weights=None, weights_backbone=None, num_classes=4, **sizes)
    spread(model)
    every = [{"image": torch.rand(3, h, w)} for h, w in ((128, 128), (128, 160), (97, 75))]
    axes: Axes = {"image": {1: "height", 2: "width"}}
    return Case(OneImage(model), every[:2], axes, every[2:])


# -- diffusers ----------------------------------------------------------------------------

DIFFUSERS = """
UNet2DModel UNet2DConditionModel AutoencoderKL VQModel Transformer2DModel DiTTransformer2DModel
PixArtTransformer2DModel AutoencoderTiny UNet1DModel PriorTransformer
"""
CHANNELS: dict[str, Any] = {
    "block_out_channels": (16, 32), "layers_per_block": 1, "norm_num_groups": 8, "sample_size": 16,
    "attention_head_dim": 8,
}  # fmt: skip
BLOCKS = {
    "UNet2DModel": {
        "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
        "up_block_types": ("AttnUpBlock2D", "UpBlock2D"),
    },
    "UNet2DConditionModel": {
        "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
        "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
        "cross_attention_dim": 32,
    },
    "AutoencoderKL": {
        "down_block_types": ("DownEncoderBlock2D",) * 2,
        "up_block_types": ("UpDecoderBlock2D",) * 2,
    },
    "VQModel": {
        "down_block_types": ("DownEncoderBlock2D",) * 2,
        "up_block_types": ("UpDecoderBlock2D",) * 2,
    },
    "Transformer2DModel": {"in_channels": 32, "num_attention_heads": 4},
    "DiTTransformer2DModel": {"num_attention_heads": 4, "num_layers": 2, "num_embeds_ada_norm": 9},
    "PixArtTransformer2DModel": {
        "num_attention_heads": 4, "num_layers": 2, "cross_attention_dim": 32,
        "caption_channels": 24, "attention_head_dim": 8, "use_additional_conditions": False,
    },
    "AutoencoderTiny": {
        "encoder_block_out_channels": (16, 16, 16), "decoder_block_out_channels": (16, 16, 16),
        "num_encoder_blocks": (1, 1, 1), "num_decoder_blocks": (1, 1, 1),
    },
    "UNet1DModel": {"block_out_channels": (32, 32, 64)},
    "PriorTransformer": {
        "num_attention_heads": 4, "num_layers": 2, "embedding_dim": 32, "num_embeddings": 7,
    },
}  # fmt: skip


def diffuser(name: str) -> Case:
    """Return a small network of diffusers."""
    hub = importlib.import_module("diffusers")
    kind = getattr(hub, name)
    known = kind.__init__.__wrapped__.__code__.co_varnames
    given = {key: value for key, value in CHANNELS.items() if key in known} | BLOCKS[name]
    model = kind(**given)
    channels = int(getattr(model.config, "in_channels", 3) or 3)

    moves = not ("DiT" in name or "PixArt" in name or name == "PriorTransformer")
    other = 24 if moves else 16
    every = [
        given_to(name, channels, n, side) for n, side in ((1, 16), (2, other), (1, 2 * other - 16))
    ]
    axes: Axes = {key: {0: "batch"} for key in every[0]}
    if moves:
        key = next(iter(every[0]))
        axes[key] |= {axis: f"side{axis}" for axis in range(2, every[0][key].ndim)}
    names = list(every[0])
    forward = First(model, names, most=1)
    if name == "AutoencoderTiny":
        forward = First(Only(model), names, most=1)
    return Case(forward, every[:2], axes, every[2:])


def given_to(name: str, channels: int, n: int, side: int) -> dict[str, torch.Tensor]:
    """Return what a network of diffusers is given."""
    if name == "UNet1DModel":
        return {"sample": torch.randn(n, 2, 32 * side), "timestep": torch.tensor([7] * n)}
    if name == "PriorTransformer":
        return {
            "hidden_states": torch.randn(n, 32), "timestep": torch.tensor([7] * n),
            "proj_embedding": torch.randn(n, 32),
            "encoder_hidden_states": torch.randn(n, 7, 32),
        }  # fmt: skip
    first = "hidden_states" if "Transformer" in name else "sample"
    if name == "AutoencoderTiny":
        first = "x"
    found = {first: torch.randn(n, channels, side, side)}
    if "UNet" in name or "DiT" in name or "PixArt" in name:
        found["timestep"] = torch.tensor([7] * n)
    if name == "DiTTransformer2DModel":
        found["class_labels"] = torch.tensor([3] * n)
    if "Condition" in name:
        found["encoder_hidden_states"] = torch.randn(n, 5, 32)
    if "PixArt" in name:
        found["encoder_hidden_states"] = torch.randn(n, 5, 24)
    return found


class Only(nn.Module):
    """A module that is called by position."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> Any:
        return self.model(x)


# -- control flow, by the legacy exporter -------------------------------------------------


class Chosen(nn.Module):
    """A branch by a sum, in a loop of a given number of turns."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
        for i in range(int(turns)):
            if bool(x.sum() > 0):
                x = torch.tanh(self.first(x)) - i
            else:
                x = torch.relu(self.second(x)) + 0.5
        return x


class Halving(nn.Module):
    """A loop that ends by its data."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = torch.zeros_like(x)
        while bool(x.abs().max() > 0.1):
            state = self.cell(x, state)
            x = x * 0.5
        return state


class Collected(nn.Module):
    """A loop that collects its steps."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(x.size(1), 8)
        c = torch.zeros(x.size(1), 8)
        made: list[torch.Tensor] = []
        for i in range(x.size(0)):
            h, c = self.cell(x[i], (h, c))
            made.append(h)
        return torch.stack(made)


class Greedy(nn.Module):
    """Words, one behind another, until one ends them."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.mix = nn.Embedding(20, 8), nn.Linear(8, 20)

    def forward(self, start: torch.Tensor) -> torch.Tensor:
        found = start
        going = True
        for _ in range(12):
            if going:
                word = self.mix(self.words(found).mean(1)).argmax(-1, keepdim=True)
                found = torch.cat([found, word], 1)
                going = not bool((word == 3).all())
        return found


class Recurrent(nn.Module):
    """Recurrent layers of a kind, both ways, in batches."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer = getattr(nn, kind)(8, 6, num_layers=2, bidirectional=True, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)[0]  # type: ignore[no-any-return]


def control(name: str) -> Case:
    """Return a module that is written down with its loops and branches."""
    rows = [torch.randn(n, 8) for n in (2, 3)]
    steps = [torch.randn(n, m, 8) for n, m in ((4, 2), (7, 3), (1, 1))]
    turns = [torch.tensor(n) for n in (3, 5)]
    batch: Axes = {"x": {0: "batch"}}
    if name in ("LSTM", "GRU", "RNN"):
        every = [{"x": x} for x in steps]
        return Case(Recurrent(name), every[:2], {"x": {0: "batch", 1: "length"}}, every[2:])
    if name == "Chosen":
        made = [{"x": x, "turns": n} for x, n in zip(rows, turns, strict=True)]
        return Case(torch.jit.script(Chosen()), made, {**batch, "turns": {}})
    if name == "Halving":
        return Case(torch.jit.script(Halving()), [{"x": x} for x in rows], batch)
    if name == "Greedy":
        words = [{"start": torch.randint(0, 20, (n, m))} for n, m in ((1, 3), (2, 5))]
        axes: Axes = {"start": {0: "batch", 1: "length"}}
        return Case(torch.jit.script(Greedy()), words, axes)
    every = [{"x": x} for x in steps]
    opened: Axes = {"x": {0: "length", 1: "batch"}}
    return Case(torch.jit.script(Collected()), every[:2], opened, every[2:])


# -- torch's quantised models -------------------------------------------------------------

QUANTISED = "resnet18 mobilenet_v2 googlenet shufflenet_v2_x0_5 mobilenet_v3_large"


def quantised(name: str) -> Case:
    """Return a network of 8-bit layers, with ranges of one image."""
    models = importlib.import_module("torchvision.models.quantization")
    torch.backends.quantized.engine = "qnnpack"
    model = getattr(models, name)(weights=None, quantize=False)
    model.eval()
    model.fuse_model()
    ao = importlib.import_module("torch.ao.quantization")
    model.qconfig = ao.get_default_qconfig("qnnpack")
    ao.prepare(model, inplace=True)
    every = [{"x": torch.randn(n, 3, 64, 64)} for n in (1, 2)]
    model(every[0]["x"])
    ao.convert(model, inplace=True)
    return Case(First(model, ["x"], most=1), every, {"x": {0: "batch"}})


TORCH: dict[str, tuple[str, Callable[[str], Case]]] = {
    "detection": (DETECTION, detector),
    "diffusers": (DIFFUSERS, diffuser),
    "control": ("Chosen Halving Collected Greedy LSTM GRU RNN", control),
    "quantised": (QUANTISED, quantised),
    **WIDER,
    **FARTHER,
    **RARER,
}

# -- files --------------------------------------------------------------------------------

BOOSTED = """
lightgbm.LGBMClassifier lightgbm.LGBMRegressor lightgbm.LGBMRanker
xgboost.XGBClassifier xgboost.XGBRegressor xgboost.XGBRFRegressor
"""


def boosted(name: str, path: Path) -> tuple[list[Feed], list[Feed]]:
    """Write an ensemble of boosted trees."""
    folder, _, kind = name.rpartition(".")
    random = np.random.default_rng(0)
    rows = random.standard_normal((80, 5)).astype(np.float32)
    labels = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0).astype(int) + (rows[:, 3] > 0.4)
    target = labels if kind != "LGBMRegressor" and "XGB" not in kind else rows[:, 0] * 2
    target = labels if "Classifier" in kind else target
    made = getattr(importlib.import_module(folder), kind)(n_estimators=8)
    made.fit(rows, target, **({"group": [40, 40]} if kind == "LGBMRanker" else {}))
    tools = importlib.import_module("onnxmltools")
    types = importlib.import_module("onnxmltools.convert.common.data_types")
    convert = getattr(tools, f"convert_{folder}")
    typed = [("X", types.FloatTensorType([None, 5]))]
    more = {"zipmap": False} if folder == "lightgbm" else {}
    path.write_bytes(convert(made, None, typed, **more).SerializeToString())
    return [{"X": rows[:1]}, {"X": rows[:7]}], [{"X": rows[:0]}]


PIPELINES = """
scaled chosen joined columns texts counted hashed_words categories ordinal missing voted stacked
calibrated searched chained several_outputs one_vs_rest nearest binned spline named text_and_numbers
"""


def pipeline(name: str, path: Path) -> tuple[list[Feed], list[Feed]]:
    """Write a pipeline of estimators."""
    from pipelines import convert, pipeline_of  # noqa: PLC0415  (only for these)

    made, tables, targets = pipeline_of(name)
    made.fit(tables if not isinstance(tables, dict) else frame(tables), targets)
    path.write_bytes(convert(made, tables))
    if not isinstance(tables, dict):
        key = "X"
        return [{key: tables[:1]}, {key: tables[:7]}], []
    several = [{key: column[:n] for key, column in tables.items()} for n in (1, 7)]
    return several, []


def frame(tables: dict[str, Any]) -> Any:
    """Return columns as a table of pandas."""
    pandas = importlib.import_module("pandas")
    return pandas.DataFrame({key: column[:, 0] for key, column in tables.items()})


FILES: dict[str, tuple[str, Callable[[str, Path], tuple[list[Feed], list[Feed]]]]] = {
    "boosted": (BOOSTED, boosted),
    "pipelines": (PIPELINES, pipeline),
    "sklearn2": (NAMES, write),
}


def more_names() -> Sequence[str]:
    """Return the names of all cases here, with their family in front."""
    families = {**{k: v[0] for k, v in TORCH.items()}, **{k: v[0] for k, v in FILES.items()}}
    return [f"{family}/{name}" for family, text in families.items() for name in text.split()]
