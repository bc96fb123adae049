"""Architectures beside those of the first lists: decoders with what they kept, two sides, series,
codecs, tasks on images, and more families of timm and torchvision."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import torch
from architectures import OPEN, Axes, Case, First, config_of, image, torchvision_case
from torch import nn

# -- decoders that are given what they kept of the words before ---------------------------

CACHED = """
Llama Mistral Qwen2 Qwen3 Gemma Gemma2 Phi Phi3 GPT2 GPTNeoX OPT Olmo2 StableLm Cohere Granite
Falcon GPTJ CodeGen
"""


class WithCache(nn.Module):
    """A decoder as a step of it is called: new words, and keys and values of those before."""

    def __init__(self, model: nn.Module, layers: int) -> None:
        super().__init__()
        self.model, self.layers = model, layers

    def forward(self, words: torch.Tensor, mask: torch.Tensor, *kept: torch.Tensor) -> Any:
        cache = importlib.import_module("transformers").DynamicCache()
        for layer in range(self.layers):
            cache.update(kept[2 * layer], kept[2 * layer + 1], layer)
        made = self.model(
            input_ids=words, attention_mask=mask, past_key_values=cache, use_cache=True
        )
        rows = [each for layer in cache.layers for each in (layer.keys, layer.values)]
        return (made[0], *rows)


def cached(name: str) -> Case:
    """Return a decoder with an open batch, an open length and an open past."""
    hub = importlib.import_module("transformers")
    config = config_of(name)
    config.use_cache = True
    model = getattr(hub, f"{name}ForCausalLM")(config).eval()
    cache = hub.DynamicCache()
    with torch.no_grad():
        model(input_ids=torch.zeros(1, 2).long(), past_key_values=cache, use_cache=True)
    (_, heads, _, width), layers = cache.layers[0].keys.shape, len(cache.layers)
    names = [f"{kind}{layer}" for layer in range(layers) for kind in ("key", "value")]

    def given(batch: int, new: int, past: int) -> dict[str, torch.Tensor]:
        mask = torch.ones(batch, past + new).long()
        mask[-1, : past // 3] = 0
        words = {"words": torch.randint(3, 90, (batch, new)), "mask": mask}
        return words | {n: torch.randn(batch, heads, past, width) for n in names}

    axes: Axes = {"words": {0: "batch", 1: "length"}, "mask": {0: "batch", 1: "whole"}}
    axes |= {n: {0: "batch", 2: "past"} for n in names}
    every = [given(1, 1, 6), given(2, 3, 9), given(2, 1, 1), given(1, 1, 0)]
    return Case(WithCache(model, layers), every[:2], axes, every[2:])


# -- an encoder and a decoder -------------------------------------------------------------

PAIRS = """
T5 MT5 UMT5 Bart MBart Marian Pegasus PegasusX BlenderbotSmall Blenderbot LED M2M100 NllbMoe
SwitchTransformers Whisper Speech2Text Moonshine
"""


def pair(name: str) -> Case:
    """Return a network that reads words, or sounds, and words that were written already."""
    hub = importlib.import_module("transformers")
    config = config_of(name)
    config.use_cache = False
    key = {"Whisper": "input_features", "Speech2Text": "input_features"}.get(name, "input_ids")
    key = "input_values" if name == "Moonshine" else key
    if name == "Whisper":
        config.max_source_positions = 50
    model = getattr(hub, f"{name}Model")(config)
    every = []
    for n, length, written in ((1, 12, 5), (2, 16, 7), (1, 8, 1)):
        if name == "Whisper":
            source = torch.randn(n, config.num_mel_bins, 100)
        elif name == "Speech2Text":
            source = torch.randn(n, 4 * length, config.input_feat_per_channel)
        elif name == "Moonshine":
            source = torch.randn(n, 800 * length)
        else:
            source = torch.randint(3, 90, (n, length))
        every.append({key: source, "decoder_input_ids": torch.randint(3, 90, (n, written))})
    axes: Axes = {key: {0: "batch"}, "decoder_input_ids": {0: "batch", 1: "written"}}
    if name != "Whisper":
        axes[key][1] = "length"
    return Case(First(model, list(every[0]), most=1), every[:2], axes, every[2:])


# -- series of numbers, and codecs of sounds ----------------------------------------------

SERIES = (
    "PatchTST PatchTSMixer PatchTSTForPrediction PatchTSMixerForPrediction PatchTSTForRegression"
)
CODECS = "Encodec Dac Mimi SpeechT5HifiGan UnivNet FastSpeech2ConformerHifiGan"


def series(name: str) -> Case:
    """Return a network of series with an open batch."""
    hub = importlib.import_module("transformers")
    stem = name.partition("For")[0]
    made = getattr(hub, f"{stem}Config")(
        context_length=32, patch_length=8, patch_stride=8, num_input_channels=3, d_model=16,
        num_hidden_layers=2, num_attention_heads=4, ffn_dim=32, prediction_length=8, num_targets=2,
    )  # fmt: skip
    kind = getattr(hub, name if "For" in name else f"{name}Model")
    every = [{"past_values": torch.randn(n, 32, 3)} for n in (1, 2, 5)]
    axes: Axes = {"past_values": {0: "batch"}}
    return Case(First(kind(made), ["past_values"], most=1), every[:2], axes, every[2:])


def codec(name: str) -> Case:
    """Return a codec of sounds, or what makes sounds of a spectrogram, of open length."""
    hub = importlib.import_module("transformers")
    if name.endswith(("HifiGan", "UnivNet")):
        config = getattr(hub, f"{name}Config")()
        model = getattr(hub, f"{name}Model" if name == "UnivNet" else name)(config)
        width = getattr(config, "model_in_dim", None) or config.num_mel_channels
        key = "input_features" if name == "UnivNet" else "spectrogram"
        every = [{key: torch.randn(n, length, width)} for n, length in ((1, 10), (2, 14))]
    else:
        small: dict[str, Any] = {
            "Encodec": {"num_filters": 8, "hidden_size": 16, "codebook_size": 32},
            "Dac": {"encoder_hidden_size": 8, "decoder_hidden_size": 64, "codebook_size": 32},
            "Mimi": {"num_filters": 8, "hidden_size": 32, "num_hidden_layers": 2, "head_dim": 8,
                     "num_attention_heads": 4, "num_key_value_heads": 4, "codebook_size": 32,
                     "intermediate_size": 64, "vector_quantization_hidden_dimension": 16},
        }  # fmt: skip
        config = getattr(hub, f"{name}Config")(**small[name])
        config._attn_implementation = "eager"
        model = getattr(hub, f"{name}Model")(config)
        key = "input_values"
        every = [{key: torch.randn(n, 1, length)} for n, length in ((1, 3840), (2, 5760))]
    axes: Axes = {
        key: {0: "batch", every[0][key].ndim - 1 if key == "input_values" else 1: "length"}
    }
    return Case(First(model, [key], most=1), every[:2], axes)


# -- tasks on images, and on images and words ---------------------------------------------

TASKS = """
SegformerForSemanticSegmentation UperNetForSemanticSegmentation DPTForDepthEstimation
YolosForObjectDetection DetrForObjectDetection ConditionalDetrForObjectDetection
TableTransformerForObjectDetection RTDetrForObjectDetection DFineForObjectDetection
DeformableDetrForObjectDetection MaskFormerForInstanceSegmentation
Mask2FormerForUniversalSegmentation DepthAnythingForDepthEstimation Swin2SRForImageSuperResolution
VitMatteForImageMatting SuperPointForKeypointDetection PvtForImageClassification
CLIPModel SiglipModel AltCLIPModel ChineseCLIPModel GroupViTModel ViltModel BlipModel
LayoutLMModel LayoutLMv3Model VisualBertModel Data2VecVisionModel TimesformerModel VivitModel
VideoMAEModel Dinov2WithRegistersModel IJepaModel CvtModel EfficientFormerModel
"""


def task(name: str) -> Case:
    """Return a network of images, some of them beside words."""
    hub = importlib.import_module("transformers")
    stem = name.partition("For")[0].removesuffix("Model")
    config = config_of(stem)
    for part in ("text_config", "vision_config"):
        inner = getattr(config, part, None)
        if inner is not None:
            small = config_of(f"{stem}{part.partition('_')[0].title()}")
            setattr(config, part, small)
    kind = getattr(hub, name, None) or getattr(hub, stem)
    model = kind(config).eval()
    inner = getattr(config, "vision_config", config)
    side = getattr(inner, "image_size", OPEN) or OPEN
    side = int(side if isinstance(side, int) else side[0])
    images = lambda n: torch.randn(n, 3, side, side)  # noqa: E731
    words = lambda n: torch.randint(3, 90, (n, 9))  # noqa: E731
    accepted = inspect.signature(kind.forward).parameters
    named: dict[str, Callable[[int], torch.Tensor]] = {}
    if "input_ids" in accepted:
        named["input_ids"] = words
    if stem in ("Timesformer", "Vivit", "VideoMAE"):
        frames = getattr(config, "num_frames", 8)
        named["pixel_values"] = lambda n: torch.randn(n, frames, 3, side, side)
    elif "pixel_values" in accepted:
        named["pixel_values"] = images
    if name == "VitMatteForImageMatting":
        named["pixel_values"] = lambda n: torch.randn(n, 4, side, side)
    if stem.startswith("LayoutLM"):
        named["bbox"] = lambda n: torch.randint(0, 60, (n, 9, 4)).sort().values
    if stem == "Vilt":
        named["token_type_ids"] = lambda n: torch.zeros(n, 9).long()
    every = [{key: make(n) for key, make in named.items()} for n in (1, 2, 3)]
    axes: Axes = {key: {0: "batch"} for key in named}
    return Case(First(model, list(named), most=2), every[:2], axes, every[2:])


# -- more families ------------------------------------------------------------------------

TIMM = """
shvit_s1 starnet_s050 mambaout_femto fasternet_t0 lowformer_b0 cpubone_b0 efficientvim_m1 csatv2
rdnet_tiny nextvit_small:224 iformer_t:224 inception_next_atto cs3darknet_focus_s cspnext_s
darknet17 densenetblur121d eca_botnext26ts_256:256 ecaresnet26t gcresnet33ts gcvit_xxtiny:224
gmixer_12_224:224 cait_xxs24_224:224 beitv2_base_patch16_224:224 caformer_s18 convformer_s18
coatnext_nano_rw_224:224 hiera_tiny_224:224 hieradet_small:256 lcnetv2_base legacy_seresnet18
maxvit_rmlp_pico_rw_256:256 mobilenet_edgetpu_100 mobilenetv1_100 mobilenetv3_small_050
mobilenetv4_hybrid_medium nf_regnet_b0 nfnet_l0 poolformerv2_s12 regnetv_040 resnetaa50
resnetblur50 resnetrs50 seresnext26d_32x4d sedarknet21 spnasnet_100 swin_tiny_patch4_window7_224:224
tf_efficientnetv2_b0 tf_mixnet_s tinynet_a vitamin_small_224:224 flexivit_small:240
vit_small_r26_s32_224:224 vit_relpos_small_patch16_224:224 test_byobnet test_convnext test_vit
efficientnet_lite0 efficientnet_es ghostnetv3_100 haloregnetz_b:224 fastvit_sa12 tresnet_m
"""


def timm_case(name: str) -> Case:
    """Return a network of timm."""
    timm = importlib.import_module("timm")
    name, _, side = name.partition(":")
    make = lambda: timm.create_model(name, pretrained=False)  # noqa: E731
    return image(make, int(side or OPEN))


WIDER: dict[str, tuple[str, Callable[[str], Case]]] = {
    "cached": (CACHED, cached),
    "pairs": (PAIRS, pair),
    "series": (SERIES, series),
    "codecs": (CODECS, codec),
    "tasks": (TASKS, task),
    "timm2": (TIMM, timm_case),
    "torchvision2": ("efficientnet_b1 regnet_y_800mf shufflenet_v2_x1_0 mnasnet1_0 vgg13_bn "
                     "densenet169 resnext101_32x8d convnext_small", torchvision_case),
}  # fmt: skip
